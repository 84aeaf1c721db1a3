"""Opponents in the compiled loop play the games that the same agents play through ``act``, byte for byte."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.networks.inference.mlp import MLPInference
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import Agent, CompiledAgent, DecisionBatch, RecurrentAgent, Rng, SeatAssignment
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Episode
from nainjaune_env.engine.learner_arrays import ACTIONS
from nainjaune_env.engine.log import Plies
from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
from nainjaune_env.envs.learner_tables import FIRST_STREAM, LearnerTables
from nainjaune_env.envs.opponents import Pool
from nainjaune_env.records.recorder import log_of
from tests.support.networks import mlp
from tests.support.positions import stirred

TABLES = 12


class InPython:
    """An agent of which compiled loops know nothing: it sees redacted tables, and draws from the generator it is given."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.name = agent.name

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        return self.agent.state_dtype(setup) if isinstance(self.agent, RecurrentAgent) else np.dtype((np.uint8, (0,)))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        return self.agent.act(decisions, rng)


NAIN_JAUNE = [*heuristics("nain_jaune")]
BATASAURUS = [*heuristics("batasaurus")]
CASES: dict[str, tuple[dict[str, Any], list[str], dict[str, Any]]] = {
    "all of them": ({"preset": "djeco", "players": 4}, NAIN_JAUNE, {"seat": "random"}),
    "matches": ({"preset": "skip", "players": 4, "max_rounds": 3}, ["patient", "random"], {"episode": "match"}),
    "carried": ({"preset": "classic", "players": 3}, ["closer"], {"start": "carried"}),
    "every ply": ({"preset": "tableau", "players": 4}, ["tally", "random"], {"skip_forced": False}),
    "short deals": ({"preset": "djeco", "players": 4, "hand": 2}, ["lowest"], {"start": {"pots": [4, 0, 0, 0, 9]}}),
    "with memory": ({"preset": "batasaurus", "players": 3, "memory": "glimpse"}, BATASAURUS, {}),
    "without memory": ({"preset": "batasaurus", "players": 3, "memory": "perfect"}, BATASAURUS, {}),
}


def play(tables: LearnerTables) -> str:
    """A hash of all that a learner is given in some games, and of the tables."""
    which, digest, rng = np.arange(TABLES), hashlib.sha256(), np.random.default_rng(3)
    tables.reset(which, list(range(TABLES)))
    for step in range(60):
        mask = tables.batch.mask[which]
        begin = ~mask.any(axis=1)
        gained = tables.step((mask * (1 + rng.random(mask.shape))).argmax(axis=1), which, begin)
        shown = (
            tables.batch.observation[which],
            mask,
            gained,
            tables.batch.done,
            tables.learner,
            tables.batch.tables,
            tables.redealt,
        )
        for array in shown:
            digest.update(array.tobytes())
        if step == 30:
            tables.reset(which[:5], [9, 8, 7, 6, 5])
    return digest.hexdigest()


@pytest.mark.parametrize("case", CASES)
def test_the_loop_plays_the_games_of_act(case: str) -> None:
    rules, names, settings = CASES[case]
    setup = make_setup(None, **rules)
    agents = [heuristics(setup.game.name)[name] for name in names]
    assert all(isinstance(agent, CompiledAgent) for agent in agents)
    compiled = LearnerTables(setup, TABLES, Pool(agents, range(1, len(agents) + 1)), record=True, **settings)
    outside = LearnerTables(setup, TABLES, Pool([InPython(one) for one in agents], range(1, len(agents) + 1)), **settings)
    mixed = [agent if k % 2 else InPython(agent) for k, agent in enumerate(agents)]
    some = LearnerTables(setup, TABLES, Pool(mixed, range(1, len(agents) + 1)), **settings)
    one = play(compiled)
    assert one == play(outside)
    assert one == play(some)


class PlainTable:
    """One table by itself, as its seed and the learner's actions alone determine it: an agent acts once, then the table steps."""

    def __init__(self, setup: Setup, agents: list[Agent], settings: dict[str, Any]) -> None:
        self.batch = Batch(setup, 1, autoreset=False, deal=False, **settings)
        self._stream = np.zeros(1, np.uint64)
        n = setup.players
        self._learner, self._gained = 1, 0
        self._seats = np.array([[(seat - self._learner - 1) % n for seat in range(n)]])
        self._seats[0, self._learner] = -1
        self._all = np.arange(1)
        self._seating = SeatAssignment(self.batch, agents, self._seats, lambda _, index: RowStreams(self._stream, index))

    def reset(self, seed: int | None) -> None:
        """Until an episode in which the learner has a decision."""
        if seed is not None:
            self._stream[:] = streams(seed, 1, FIRST_STREAM + ACTIONS)
        self.batch.reset(seeds=None if seed is None else streams(seed, 1))
        self._play_on(0)
        while self.batch.done[0]:
            self.batch.reset()
            self._play_on(0)

    def step(self, action: int) -> int:
        """What the learner has gained since its last action."""
        self.batch.step([action])
        self._play_on(self._gained + int(self.batch.reward[0, self._learner]))
        gained, self._gained = self._gained, 0
        return gained

    def _play_on(self, gained: int) -> None:
        while True:
            self._seating.stepped()
            if self.batch.done[0] or self.batch.seat[0] == self._learner:
                self._gained = gained
                return
            self.batch.step(self._seating.actions(self._all))
            gained += int(self.batch.reward[0, self._learner])


def network(setup: Setup, recurrent: int, sampled: bool, seed: int) -> NetAgent:
    net = stirred(mlp(setup, (40, 70), recurrent=recurrent), seed)
    weights = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    inference = MLPInference(MLPInference.Arguments([40, 70], recurrent), weights, setup.layout, len(setup.game.actions))
    return NetAgent(f"net {seed}", inference, stochastic=sampled)


SETUPS = [
    make_setup(None, "djeco", 4, max_rounds=2),
    make_setup(None, "djeco", 2, max_rounds=3, hand=2),
    make_setup(None, "classic", 3, max_rounds=2),
    make_setup("batasaurus", "batasaurus", 3),
]


@settings(max_examples=25, deadline=None)
@given(data=st.data(), setup=st.sampled_from(SETUPS), skip_forced=st.booleans(), episode=st.sampled_from(["round", "match"]))
def test_networks_play_the_games_of_a_plain_loop(data: st.DataObject, setup: Setup, skip_forced: bool, episode: Episode) -> None:
    """Whatever other tables do, and where episodes begin in the middle of others; heuristics in compiled code are among them."""
    named = heuristics(setup.game.name)
    kinds = [(recurrent, sampled) for recurrent in (0, 3) for sampled in (False, True)]
    one_of = st.sampled_from([*kinds, *named])
    made = [data.draw(one_of) for _ in range(setup.players - 1)]
    agents = [named[one] if isinstance(one, str) else network(setup, one[0], one[1], k) for k, one in enumerate(made)]
    options: dict[str, Any] = {"skip_forced": skip_forced, "episode": episode}
    count = data.draw(st.integers(1, 9))
    tables = LearnerTables(setup, count, agents, seat=1, record=data.draw(st.booleans()), **options)
    plain = [PlainTable(setup, agents, options) for _ in range(count)]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    tables.reset(np.arange(count), list(range(count)))
    for number, table in enumerate(plain):
        table.reset(number)
    for _ in range(40):
        which = np.flatnonzero(~tables.batch.done & (rng.random(count) < 0.8))
        mask = tables.batch.mask[which]
        actions = (mask * (1 + rng.random(mask.shape))).argmax(axis=1)
        gained = [plain[i].step(int(action)) for i, action in zip(which, actions, strict=True)]
        assert tables.step(actions, which).tolist() == gained
        anew = np.flatnonzero(tables.batch.done | (rng.random(count) < 0.05))
        seeds = [int(seed) if seed % 2 else None for seed in rng.integers(0, 1000, anew.size)]
        if anew.size:
            tables.reset(anew, seeds)
        for i, seed in zip(anew, seeds, strict=True):
            plain[i].reset(seed)
        for name in ("tables", "observation", "mask", "done"):
            assert getattr(tables.batch, name).tobytes() == b"".join(getattr(one.batch, name).tobytes() for one in plain), name


def test_a_compiled_opponent_is_never_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError

    for agent in heuristics("nain_jaune").values():
        monkeypatch.setattr(type(agent), "act", refuse)
    envs = SeatVectorEnv(4, "djeco", 4, opponents=["tally", "random", "closer"])
    envs.reset(seed=1)
    for _ in range(30):
        envs.step(envs.action_space.sample())


def test_an_agent_in_several_seats_is_called_once_for_all_of_them() -> None:
    calls = []

    class Counting(InPython):
        def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
            calls.append(len(np.unique(decisions.seat)))
            return super().act(decisions, rng)

    agent = Counting(heuristics("nain_jaune")["lowest"])
    tables = LearnerTables(make_setup(None, "djeco", 4), 32, [agent] * 3)
    tables.reset(np.arange(32), [*range(32)])
    assert max(calls) > 1
    assert [one.name for one in tables.opponents] == ["lowest"] * 3


@pytest.mark.parametrize("opponents", ["highest", "random", "self"])
@pytest.mark.parametrize("rules", [{"preset": "djeco", "players": 4}, {"preset": "batasaurus", "players": 3}], ids=str)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_the_log_holds_all_plies_whatever_its_space(
    rules: dict[str, Any], episode: Any, opponents: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the learner, of opponents in compiled code and in Python, and forced ones lead from the deal to the table."""
    setup = make_setup(None, **rules)

    def logs(who: Any) -> list[Plies]:
        tables = LearnerTables(setup, 3, who, episode=episode, record=True)
        tables.reset(np.arange(3), [1, 2, 3])
        result = []
        while not tables.batch.done.all():
            running = np.flatnonzero(~tables.batch.done)
            tables.step(tables.batch.mask[running].argmax(axis=1), running)
        for i in range(3):
            result.append(log_of(tables.batch).episode(i))
            opening, seats, actions = result[-1]
            plain = Batch(setup, 1, episode=episode, skip_forced=False, autoreset=False, deal=False)
            plain.set_tables(0, opening)
            for seat, action in zip(seats.tolist(), actions, strict=True):
                assert plain.seat[0] == seat
                plain.step([action])
            assert plain.tables[0].tobytes() == tables.batch.tables[i].tobytes()
            assert plain.done[0]
        return result

    expected = logs(opponents)
    assert min(len(result.actions) for result in expected) > 5
    agent = heuristics(setup.game.name)[opponents] if opponents != "self" else "self"
    for space in (1, 2, 7):
        monkeypatch.setattr("nainjaune_env.engine.log.SPACE", space)
        for who in (agent, agent if opponents == "self" else InPython(agent)):
            for one, other in zip(logs(who), expected, strict=True):
                assert all(np.array_equal(here, there) for here, there in zip(one, other, strict=True))


def test_without_records_there_is_no_log() -> None:
    tables = LearnerTables(make_setup(None, "djeco", 4), 3, "lowest")
    assert tables.batch.log is None
    tables.reset(np.arange(3), [1, 2, 3])
    while not tables.batch.done[0]:
        tables.step(tables.batch.mask[np.arange(1)].argmax(axis=1), np.arange(1))
    with pytest.raises(RecordError, match=r"make it with log=True\.$"):
        tables.record(0, "learner", 1)
