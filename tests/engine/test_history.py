"""The plies of rounds: read from the log of a batch, and made again from another deal."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.agent import DecisionBatch, RecurrentStates, SeatAssignment
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.history import (
    PlayHistory,
    history_of,
    past_decisions,
)
from nainjaune_env.engine.replay import ActionLog, Replay
from nainjaune_env.records.recorder import log_of
from nainjaune_env.registry import make_setup
from tests.support.contract import all_setups, helper
from tests.support.games import games_with
from tests.support.ply_by_ply import PlyByPly
from tests.support.positions import small

DECLINING = small(4, decline="always", announce="explicit")


class Reads:
    """Plays at random, and keeps the history that it was given with each decision."""

    name, needs_history = "reads", True

    def __init__(self) -> None:
        self.given: list[tuple[DecisionBatch, PlayHistory]] = []

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        self.given.append((decisions, decisions.history))
        return np.array(
            [random.Random(int(word)).choice([a for a in range(63) if int(word) >> a & 1]) for word in decisions.legal]
        )


def plies_of(history: PlayHistory, k: int) -> list[tuple[int, int]]:
    count = int(history.count[k])
    return list(zip(history.seat[k, :count].tolist(), history.action[k, :count].tolist(), strict=True))


@pytest.mark.parametrize("setup", [small(3), DECLINING], ids=["classic", "declining"])
@pytest.mark.parametrize(
    "options", [{"autoreset": False}, {}, {"skip_forced": False}, {"start": "carried"}, {"episode": "match"}], ids=str
)
def test_plies_are_those_of_a_replay(setup: Setup, options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the round as it was dealt, with the actions taken since: forced plies are among them, and space grows with them."""
    monkeypatch.setattr("nainjaune_env.engine.log.SPACE", 2)
    played = PlyByPly(setup, 2, seed=4, **options)
    batch, draws = played.batch, streams(4, 2, stream=2)
    longest, steps = 0, 0
    while played.rounds < 4 and not (batch.done.all() and not batch.options.autoreset):
        playing = np.flatnonzero(batch.legal)
        result = history_of(batch, playing)
        steps += 1
        for k, i in enumerate(playing.tolist() if steps % 4 == 0 else []):
            now = played.episodes[i]
            seats, actions = now.seats[now.first :], now.actions[now.first :]
            assert plies_of(result, k) == list(zip(seats, actions, strict=True))
            replay = Replay(setup, np.frombuffer(now.dealt, setup.game.table)[0])
            assert plies_of(result, k) == [(ply.seat, ply.action) for ply in replay.plies(ActionLog(actions))]
            assert replay.table.tobytes() == batch.tables[i].tobytes()
            dealt = np.frombuffer(now.dealt, setup.game.table).copy()
            setup.game.kernel.redact(dealt[0], setup.kernel_rules, int(batch.seat[i]))
            assert result.opening[k].tobytes() == dealt.tobytes()
            longest = max(longest, len(actions))
        played.step(batch.sample(draws))
    assert longest > 15
    assert played.rounds >= 4 or not batch.options.autoreset


@pytest.mark.parametrize("setup", all_setups("rewind"))
def test_a_table_is_its_own_opening_just_before_any_ply(setup: Setup) -> None:
    assert setup.game.rewind is not None
    batch, draws = Batch(setup, 3, seed=5, skip_forced=False, autoreset=False), streams(5, 3)
    assert setup.game.rewind(batch.tables, batch.tables).tobytes() == batch.tables.tobytes()
    opening = batch.tables.copy()
    for _ in range(8):
        batch.step(batch.sample(draws))
        for i in range(3):
            now = batch.tables[i : i + 1]
            assert setup.game.rewind(now, now).tobytes() != now.tobytes()
            assert setup.game.rewind(opening[i : i + 1], now)["hand"].tobytes() == opening["hand"][i].tobytes()


@pytest.mark.parametrize(
    "setup", [small(4), DECLINING, make_setup("nain_jaune", "djeco", 4)], ids=["classic", "declining", "djeco"]
)
def test_what_is_hidden_is_in_no_history(setup: Setup) -> None:
    """The same plies from a deal with other hidden cards, where other plies were forced: the same history to the last byte."""
    assert setup.game.rewind is not None
    mixer, draws = random.Random(3), streams(6, 1, stream=1)
    otherwise = compared = 0
    for seed in range(5):
        batch = Batch(setup, 1, seed=seed, autoreset=False, log=True)
        states, opening, decisions = RecurrentStates(batch, [Reads()]), log_of(batch).dealt.copy(), 0
        for _ in range(10):
            batch.step(batch.sample(draws))
            states.stepped()
            decisions += 1
            if batch.done[0]:
                break
            index = np.arange(1)
            history = states.decision_batch(0, index).history
            seat = int(batch.seat[0])
            assert helper(setup).leaks(setup, history.opening[0], seat) == []
            mixed = np.array([helper(setup).reshuffle(setup, batch.tables[0], seat, mixer)])
            other = Batch(setup, 1, autoreset=False, log=True, deal=False)
            other.set_tables(index, setup.game.rewind(opening, mixed), trusted=True)
            taken = 0
            while (made := int(log_of(other).count[0])) < int(history.count[0]):
                other.step(history.action[:, made].astype(np.int64))
                taken += 1
            if int(log_of(other).count[0]) > int(history.count[0]):
                continue  # the seat's own choice, but for its cards: the other table has gone on
            assert other.redacted(index).tobytes() == batch.redacted(index).tobytes()
            same = history_of(other, index)
            assert plies_of(same, 0) == plies_of(history, 0)
            assert same.opening.tobytes() == history.opening.tobytes()
            otherwise, compared = otherwise + (taken != decisions), compared + 1
    assert compared > 25
    assert otherwise > 3


@pytest.mark.parametrize("setup", [small(4), DECLINING], ids=["classic", "declining"])
def test_past_decisions_in_the_true_deal_are_those_that_were_made(setup: Setup) -> None:
    batch, draws = Batch(setup, 5, seed=7, autoreset=False, log=True), streams(7, 5)
    made: list[list[tuple[int, bytes, int, int]]] = [[] for _ in range(5)]
    for _ in range(30):
        playing = np.flatnonzero(~batch.done)
        history, determinizations = history_of(batch, playing), batch.tables[playing]
        result = past_decisions(setup, history, np.repeat(determinizations, 2), np.repeat(np.arange(len(playing)), 2))
        expected = [
            (2 * k + copied, *decision[1:])
            for k, i in enumerate(playing.tolist())
            for copied in range(2)
            for decision in made[i]
            if decision[0] != int(batch.seat[i])
        ]
        rows = [row.tobytes() for row in result.observation]
        assert (
            list(zip(result.determinization.tolist(), rows, result.legal.tolist(), result.action.tolist(), strict=True))
            == expected
        )
        chosen = batch.sample(draws)
        for i in playing.tolist():
            made[i].append((int(batch.seat[i]), batch.observation[i].tobytes(), int(batch.legal[i]), int(chosen[i])))
        batch.step(chosen)
    assert max(map(len, made)) > 10


def test_every_determinization_is_reached_by_the_plies() -> None:
    setup = DECLINING
    batch, draws = Batch(setup, 8, seed=8, log=True), streams(8, 8)
    owner = np.repeat(np.arange(8), 20)
    for step in range(40):
        determinizations = DecisionBatch(batch, np.arange(8)).determinizations(20, np.random.default_rng(step)).reshape(-1)
        past_decisions(setup, history_of(batch, np.arange(8)), determinizations, owner)
        batch.step(batch.sample(draws))
    with pytest.raises(AgentError, match="cannot be reached by the plies of its round"):
        past_decisions(setup, history_of(batch, np.arange(8)), np.roll(determinizations, 20), owner)


def test_plies_before_a_table_that_was_set_in_the_middle_are_not_made_up() -> None:
    setup = small(4)
    batch, draws = Batch(setup, 3, seed=9, start="carried", autoreset=False, log=True), streams(9, 3)
    for _ in range(3):
        batch.step(batch.sample(draws))
    middle = batch.tables.copy()
    batch.set_tables(np.array([1]), middle[[1]], trusted=True)
    sentence = r"^The plies of the round at table 1 are not known: it was set in the middle\.$"
    for _ in range(2):
        with pytest.raises(AgentError, match=sentence):
            history_of(batch, np.arange(3))
        assert len(history_of(batch, np.array([0, 2]))) == 2
        batch.step(batch.sample(draws))
    batch.reset(np.array([0, 2]))
    assert history_of(batch, np.array([0, 2])).count.tolist() == [0, 0]
    while not batch.done[1]:
        batch.step(batch.sample(draws)[[1]], np.array([1]))
    batch.reset(np.array([1]), carry=True)  # the next round is known from its deal on
    assert history_of(batch, np.array([1])).count.tolist() == [0]


def test_a_batch_without_a_log_has_no_history() -> None:
    batch = Batch(small(4), 2, seed=1)
    sentence = r"^The plies before a decision are read from the log of a batch: make it with log=True\.$"
    with pytest.raises(AgentError, match=sentence):
        history_of(batch, np.arange(2))
    with pytest.raises(AgentError, match=sentence):
        RecurrentStates(batch, [Reads()])


def test_agents_that_do_not_ask_get_no_history() -> None:
    batch = Batch(small(3), 2, seed=1, log=True)
    lowest = heuristics("nain_jaune")["lowest"]
    states = RecurrentStates(batch, [lowest, Reads()])
    sentence = r"These decisions come without the plies before them: get them from RecurrentStates\.decision_batch"
    for decisions in (states.decision_batch(0, np.arange(2)), DecisionBatch(batch, np.arange(2))):
        with pytest.raises(AgentError, match=sentence):
            _ = decisions.history
    assert states.decision_batch(1, np.arange(2)).history.count.tolist() == [0, 0]


@pytest.mark.parametrize("game", [name for name in ("batasaurus", "signal_lamps") if name not in games_with("rewind")])
def test_a_game_whose_rounds_cannot_be_rewound_has_none(game: str) -> None:
    with pytest.raises(AgentError, match=r"has no history of play for agents: its rounds cannot be rewound"):
        RecurrentStates(Batch(make_setup(game), 1, log=True), [Reads()])


def test_agents_in_seats_get_the_plies_of_all() -> None:
    setup = small(3)
    played = PlyByPly(setup, 4, seed=2, autoreset=False)
    batch, reads = played.batch, Reads()
    seats = np.tile(np.array([0, 1, -1]), (4, 1))  # the last seat is played by somebody else
    seated = SeatAssignment(batch, [reads, heuristics("nain_jaune")["tally"]], seats, lambda *_: np.random.default_rng(0))
    draws = streams(3, 4)
    while not batch.done.all():
        playing = np.flatnonzero(batch.legal)
        actions = batch.sample(draws)
        mine = playing[seats[playing, batch.seat[playing]] >= 0]
        asked = len(reads.given)
        actions[mine] = seated.actions(mine)
        for decisions, history in reads.given[asked:]:
            for k, i in enumerate(decisions.index.tolist()):
                now = played.episodes[i]
                assert plies_of(history, k) == list(zip(now.seats, now.actions, strict=True))
        played.step(actions)
        seated.stepped()
    assert len(reads.given) > 3
