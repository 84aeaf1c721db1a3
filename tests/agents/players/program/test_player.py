"""A program as an agent: it plays like the heuristic that it copies, and its faults cost what the settings say."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.players.loading import load_agent, named_agents
from nainjaune_agents.players.program.faults import MAX_FAULTS
from nainjaune_agents.players.program.player import SEEDS, DistributionBot, files, seeds_of
from nainjaune_agents.players.program.settings import FORFEIT, BotSettings
from nainjaune_agents.players.search import SearchAgent, searching
from nainjaune_env import make_setup
from nainjaune_env.agent import DecisionBatch, RecurrentStates
from nainjaune_env.core.bits import lowest as lowest_bit
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.prng import RowStreams, advance, mix, streams
from nainjaune_env.engine.batch import Batch
from tests.agents.players.program.programs import SETUP, faulty, loaded, lowest, script

ALL = ["features", "observation", "moves", "text", "plies"]
LOWEST = named_agents("nain_jaune")["lowest"]


def decisions_of(tables: int = 6, seed: int = 1) -> DecisionBatch:
    return DecisionBatch(Batch(SETUP, tables, seed=seed), np.arange(tables))


def numbers(agent: Any, **options: Any) -> Any:
    """The result of a tournament against `closer`, without the agent's name, and without faults."""
    played = cross_table(SETUP, [agent, load_agent("closer", SETUP)], deals=20, seed=3, **options)
    for counts in played.bots.by_agent.values():
        assert counts.forfeited == 0
        assert counts.decisions > 400
    result = played.to_dict()
    for key in ("milliseconds_a_decision", "bots"):  # times, and how bots fared
        result.pop(key, None)
    return json.loads(json.dumps(result).replace(json.dumps(agent.name)[1:-1], "the agent"))


@pytest.mark.parametrize(
    "bot",
    [
        lowest(),
        lowest(wants=ALL, batch=7),
        lowest(deterministic=True, wants=ALL),
        lowest(deterministic=True),
        lowest(answer="probabilities"),
    ],
)
def test_a_program_that_plays_like_a_heuristic_has_its_results(bot: str) -> None:
    with loaded(bot) as agent:
        assert numbers(agent) == numbers(LOWEST)


def test_rollouts_of_a_search_are_played_by_it() -> None:
    """There decisions come without state, and of tables in the middle of a round."""
    seat, results = np.array([[0, 1, 1]] * 2), []
    with loaded(lowest(deterministic=True, wants=["features"])) as bot:
        for agent in (bot, LOWEST):
            agents = [searching(agent, 2, setup=SETUP, search=SearchAgent), LOWEST]
            rngs = [np.random.default_rng(k) for k in range(2)]
            results.append(play_out(Batch(SETUP, 2, seed=4, autoreset=False), agents, seat, rngs).tolist())
        assert bot.questions > 100
    assert results[0] == results[1]


def test_draws_follow_the_probabilities_and_the_generator() -> None:
    code = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello": print(json.dumps({"type": "ready", "protocol": 1, "id": 0, "name": "x", "batch": 999}), flush=True)
    if m["type"] == "turn":
        rows = [[0.25, 0.75] + [0] * (len(row["legal"]) - 2) for row in m["decisions"]]
        print(json.dumps({"type": "probabilities", "id": m["id"], "probabilities": rows}), flush=True)
"""
    with loaded("exec:" + script(code)) as bot:
        decisions = decisions_of(600)
        taken = bot.act(decisions, np.random.default_rng(5))
        first = np.array([lowest_bit(int(bits)) for bits in decisions.legal])
        assert 110 < (taken == first).sum() < 190  # 150 of 600, within four standard deviations
        assert (taken == bot.act(decisions, np.random.default_rng(5))).all()
        assert (taken != bot.act(decisions, np.random.default_rng(6))).any()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_seeds_come_from_the_generator_and_are_not_sent_where_they_are_not_needed(tmp_path: Path) -> None:
    seeds = seeds_of(np.random.default_rng(9).random(6)).tolist()
    assert len({*seeds}) == 6
    for deterministic in (False, True):
        path = tmp_path / str(deterministic)
        with loaded(lowest(path=path, deterministic=deterministic, distribution=True, batch=4)) as bot:
            assert isinstance(bot, DistributionBot)
            bot.act(decisions_of(), np.random.default_rng(9))
            bot.probabilities(decisions_of())
        turns = [message for message in lines(path) if message["type"] == "turn"]
        assert [turn["answer"] for turn in turns] == ["actions"] * 2 + ["probabilities"] * 2
        sent = [row.get("seed") for turn in turns for row in turn["decisions"]]
        assert sent == ([None] * 12 if deterministic else seeds + [None] * 6)


def _unmixed(word: int) -> int:
    """The inverse of ``prng.mix``."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        inverse = word
        for _ in range(3):
            inverse = word ^ (inverse >> shift)
        word = inverse * pow(factor, -1, 1 << 64) % (1 << 64)
    return word


def test_seeds_do_not_give_away_the_generator_and_with_it_the_deals(tmp_path: Path) -> None:
    """The state of a generator of rows, as studies and environments hand to agents, follows from two of its numbers."""
    states = streams(12345, 1)
    with loaded(lowest(path=tmp_path / "read")) as bot:
        for _ in range(2):
            bot.act(decisions_of(1), RowStreams(states, np.array([0])))
    turns = [message for message in lines(tmp_path / "read") if message["type"] == "turn"]
    sent = [turn["decisions"][0]["seed"] for turn in turns]
    drawn = [int(number * SEEDS) for number in (RowStreams(streams(12345, 1), np.array([0])).random((1, 2)))[0]]

    def found(first: int, second: int) -> list[int]:
        words = (_unmixed(first << 11 | low) for low in range(1 << 11))
        return [word for word in words if int(mix(np.uint64(advance(np.uint64(word))))) >> 11 == second]

    (state,) = found(*drawn)
    assert advance(np.uint64(state)) == states[0]
    assert found(*sent) == []


def test_equal_decisions_of_a_deterministic_bot_are_asked_once() -> None:
    """Of a batch; what a process has played before decides no question, and so no forfeit."""
    with loaded(lowest(deterministic=True, wants=["features"])) as bot:
        decisions = decisions_of()
        twice = DecisionBatch(decisions._batch, np.repeat(np.arange(6), 2))
        chosen = bot.act(twice, np.random.default_rng(0))
        assert bot.questions == 6
        assert bot.comments == [SETUP.game.actions[action] for action in chosen]
        assert (chosen == bot.act(twice, np.random.default_rng(0))).all()
        assert (bot.questions, bot.faults.decisions) == (12, 24)


FORKS = f"""
import os
import numpy as np
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import DecisionBatch
setup = make_setup(players=3)
bot = load_agent({lowest()!r}, setup)
decisions = DecisionBatch(Batch(setup, 6, seed=1), np.arange(6))
child = os.fork()
answers = [bot.act(decisions, np.random.default_rng(0)).tolist() for _ in range(20)]
bot.close()
if child == 0:
    os._exit(0 if answers == answers[:1] * 20 else 1)
print(os.waitpid(child, 0)[1], answers == answers[:1] * 20)
"""


def test_a_process_that_was_forked_has_its_own_bot() -> None:
    """Two would read each other's answers from the same pipes."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, capture_output=True, text=True, timeout=100)
    assert done.stdout == "0 True\n"


@pytest.mark.parametrize(
    ("deed", "kind", "said"),
    [
        ("hang", "timeout", "No answer came within 0.6 seconds."),
        ("exit", "exit", "The program ended with status 3."),
        ("kill", "exit", "The program ended by signal 9."),
        ("raise", "exit", "status 1. The end of its log:\na complaint\nTraceback"),
        ("fork", "exit", "status 4"),
        ("close", "exit", "closed its standard output"),
        ("line", "flood", "or 16 MiB, came after one question"),
        ("lines", "flood", "More than 1000 messages"),
        ("log", "timeout", "The end of its log:\n"),
        ("half", "exit", "The program ended with status 5."),
        ("half and stay", "timeout", "No answer came within 0.6 seconds."),
        ("surrogate", "invalid", "Expected a line of JSON, not '{"),
        ("words", "invalid", "Expected a line of JSON, not 'hello world'."),
        ("nested", "invalid", "no valid message: Expected `object`, got `array`: '[[["),
        ("bytes", "invalid", "Expected a line of JSON, not '\ufffd"),
        ("no type", "invalid", "no valid message: Object missing required field `type`: '{\"id\": 0}'."),
        ("no actions", "invalid", "no valid 'actions': Object missing required field `actions`: "),
        ("too few", "invalid", "Expected 'actions' to be a list of 6 items, one for each decision, not ["),
        ("texts", "invalid", "no valid 'actions': Expected `int`, got `str` - at `$.actions[0]`: "),
        ("flags", "invalid", "Expected `int`, got `bool` - at `$.actions[0]`"),
        ("floats", "invalid", "Expected `int`, got `float` - at `$.actions[0]`"),
        ("huge", "illegal", "Action 1000000000000000000000000000000 (actions are 0 to 23) is not legal at table 0"),
        ("negative", "illegal", "Action -1 (actions are 0 to 23) is not legal at table 0"),
        ("illegal", "illegal", "Action 0 (A) is not legal at table 0, seat 1; legal: 1 (2), 2 (3),"),
        ("long comment", "invalid", "Expected `str` of length <= 500 - at `$.comments[0]`"),
        ("wrong id", "timeout", "The last message had the 'id' 3, not 2."),
    ],
)
def test_every_fault_stops_with_a_sentence_or_costs_its_decisions(deed: str, kind: str, said: str) -> None:
    decisions = decisions_of()
    first = [lowest_bit(int(bits)) for bits in decisions.legal]
    with loaded(faulty(deed, 2), on_fault=FORFEIT, decision_seconds=0.1) as bot:
        right = bot.act(decisions, np.random.default_rng(0)).tolist()
        assert right == [int(bits).bit_length() - 1 for bits in decisions.legal]
        assert bot.act(decisions, np.random.default_rng(0)).tolist() == first
        assert (dict(bot.faults.faults), bot.faults.decisions, bot.faults.forfeited) == ({kind: 1}, 12, 6)
        assert bot.last_fault is not None
        assert said in bot.last_fault
        assert f"at table 0, seat {decisions.seat[0]} and 5 more: {kind}. " in bot.last_fault
        assert bot.act(decisions, np.random.default_rng(0)).tolist() == right  # it was started again


def test_a_fault_that_stops_names_the_bot_and_the_table() -> None:
    with loaded(faulty("illegal", 1)) as bot:
        only = DecisionBatch(decisions_of()._batch, np.array([4]))
        with pytest.raises(
            AgentError, match=r"The bot .exec:.*asked for actions at table 4, seat 2: illegal\. Action 2 \(3\) is"
        ):
            bot.act(only, np.random.default_rng(0))


def test_after_ten_faults_it_is_not_asked_any_more() -> None:
    with loaded(faulty("exit", 1, batch=1), on_fault=FORFEIT) as bot:
        decisions = decisions_of(MAX_FAULTS + 5)
        first = [lowest_bit(int(bits)) for bits in decisions.legal]
        assert bot.act(decisions, np.random.default_rng(0)).tolist() == first
        counts = bot.faults.taken()
        assert (dict(counts.faults), counts.forfeited, bot.questions) == ({"exit": MAX_FAULTS}, MAX_FAULTS + 5, MAX_FAULTS)
        assert bot.act(decisions, np.random.default_rng(0)).tolist() == first
        assert (dict(bot.faults.faults), bot.faults.forfeited, bot.questions) == ({}, MAX_FAULTS + 5, MAX_FAULTS)


def test_a_bot_started_again_in_a_round_is_sent_all_plies(tmp_path: Path) -> None:
    """In each decision, the first after the start too; what was sent equals the log of the table."""
    path = tmp_path / "read"
    with loaded(lowest(path=path, wants=["plies"])) as bot:
        batch = Batch(SETUP, 1, seed=1, autoreset=False, log=True)
        states, told = RecurrentStates(batch, [bot]), []
        while not batch.done.all():
            if len(told) % 3 == 2:
                bot.close()
            assert batch.log is not None
            plies = batch.log.round(0)
            told.append([[int(seat), int(action)] for seat, action in zip(plies.seats, plies.actions, strict=True)])
            batch.step(bot.act(states.decision_batch(0, np.array([0])), np.random.default_rng(0)))
    messages = lines(path)
    assert [message["decisions"][0]["plies"] for message in messages if message["type"] == "turn"] == told
    assert sum(message["type"] == "hello" for message in messages) > 2
    assert max(map(len, told)) > 10


@pytest.mark.parametrize(
    ("bot", "said"),
    [
        (
            "exec:no-such-program --level 3",
            "The bot 'exec:no-such-program --level 3' cannot be started. There is no program 'no-such",
        ),
        (faulty("hang", 0), "cannot play Nain Jaune. No answer came within 0.3 seconds."),
        (faulty("raise", 0), "The program ended with status 1. The end of its log:\na complaint"),
        (lowest(wants=["cards"]), "Expected 'wants' to be a list of features, observation, moves, text, plies, not ['cards']."),
        (lowest(protocol=2), "Expected 'protocol' to be 1, not 2."),
        (lowest(deterministic=1), "Expected `bool`, got `int` - at `$.deterministic`"),
        (lowest(type="refuse", reason="I play four seats only."), "It refuses: I play four seats only."),
        (lowest(type="actions"), "the type 'ready' or 'refuse', not 'actions'."),
    ],
)
def test_a_bot_that_cannot_play_is_refused_when_it_is_named(bot: str, said: str) -> None:
    with pytest.raises(AgentError) as error, loaded(bot, on_fault=FORFEIT, start_seconds=0.3 if "hang" in bot else 10):
        pass
    assert said in str(error.value)


def test_a_bot_that_wants_what_the_game_has_not_is_refused() -> None:
    with pytest.raises(AgentError, match=r"cannot play Signal Lamps\. Not every seat"):
        load_agent(lowest(wants=["plies"]), make_setup("signal_lamps"))


def test_many_decisions_have_as_many_times_the_clock() -> None:
    with loaded(lowest(seconds=0.3), decision_seconds=0.1, on_fault=FORFEIT) as bot:
        bot.act(decisions_of(12), np.random.default_rng(0))
        assert dict(bot.faults.faults) == {}
        bot.act(decisions_of(1), np.random.default_rng(0))
        assert dict(bot.faults.faults) == {"timeout": 1}


def test_what_a_bot_is_told_of_the_time_is_what_it_has(tmp_path: Path) -> None:
    with loaded(lowest(path=tmp_path, batch=4), decision_seconds=2.0, start_seconds=9.0) as bot:
        bot.act(decisions_of(), np.random.default_rng(0))
    with loaded(lowest(path=tmp_path), decision_seconds=None) as bot:
        bot.act(decisions_of(), np.random.default_rng(0))
    messages = lines(tmp_path / "read")
    assert [message["seconds"] for message in messages if message["type"] == "turn"] == [8.0, 4.0, None]
    assert messages[0]["seconds"] == {"start": 9.0, "decision": 2.0}


def test_an_agent_is_one_object_for_many_threads() -> None:
    with loaded(lowest()) as bot, ThreadPoolExecutor(4) as pool:
        batches = [decisions_of(seed=seed) for seed in range(12)]

        def act(decisions: DecisionBatch) -> tuple[list[int], list[str | None]]:
            return bot.act(decisions, np.random.default_rng(0)).tolist(), bot.comments

        for decisions, (actions, comments) in zip(batches, pool.map(act, batches), strict=True):
            assert actions == LOWEST.act(decisions, np.random.default_rng(0)).tolist()
            assert comments == [SETUP.game.actions[action] for action in actions]


def test_the_files_of_a_command_are_those_that_it_names(tmp_path: Path) -> None:
    program, weights, data = (tmp_path / name for name in ("a bot.py", "weights", "data"))
    for path in (program, weights, data):
        path.write_text("x")
    command = f"exec:python3 '{program}' --weights={weights} --level 3 {data} {data} {tmp_path}"
    assert files(command) == [program, weights, data]
    assert files(f"exec:{weights} 3") == [weights]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"on_fault": "go on"}, "Unknown on_fault 'go on'"),
        ({"start_seconds": 0}, "expected 'start_seconds' to be a finite number, above 0 and at most 10000000, or null, not 0."),
        ({"decision_seconds": float("inf")}, "expected 'decision_seconds' to be a finite number, not inf"),
    ],
)
def test_settings_out_of_their_bounds_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        BotSettings(**settings)
