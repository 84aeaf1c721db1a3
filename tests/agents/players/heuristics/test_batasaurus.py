"""The heuristics against their definitions in plain words, and forgetting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.heuristics import heuristics, modifiers
from nainjaune_agents.players.heuristics.batasaurus import NAMES, Forgetful
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_env.agent import Agent, DecisionBatch, RecurrentStates
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.batasaurus import SPEC
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.state import Phase
from tests.support.networks import mlp
from tests.support.positions import asked, stirred

GAME = "batasaurus"
RULES = list(NAMES)

# ---------------------------------------------------------------- definitions


def defined(name: str, setup: Setup, table: Any, word: int, known: dict[int, int]) -> int:
    """What a heuristic plays, in plain words, where it knows the values ``known`` of some slots."""
    slots = legal_actions(word)
    if slots == [MEMORISE]:
        return MEMORISE
    seat, hands = int(table.seat), [{v for v in range(1, 13) if int(row) >> v - 1 & 1} for row in table.held]
    values = {slot: known[slot] for slot in slots if slot in known}
    if len(values) == len(slots) - 1:
        (rest,) = hands[seat] - set(values.values())
        values |= {slot: rest for slot in slots if slot not in values}
    if not values:
        return slots[0]
    of = {value: slot for slot, value in values.items()}
    if name == "highest" or (name == "cheapest" and table.phase == Phase.BATTLE):
        return of[max(of)]
    if name == "cheapest":
        enough = [value for value in of if value > table.shown.max()]
        return of[min(enough or of)]
    others = [cards for other, cards in enumerate(hands[: setup.players]) if other != seat]
    return of[max(of, key=lambda value: (sum(value not in cards for cards in others), value))]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("knobs", [{}, {"memory": "perfect"}, {"dinosaurs": 4}, {"memory": "perfect", "dinosaurs": 7}], ids=str)
@pytest.mark.parametrize("remembers", [1.0, 0.6])
def test_each_plays_by_its_definition(players: int, knobs: dict[str, Any], remembers: float) -> None:
    """On random play, with all that was to be seen and with a part of it."""
    setup = SPEC.setup(None, players, **knobs)
    agents: list[Agent] = [heuristics(GAME)[name] for name in NAMES]
    always = setup.rules.memory == "perfect"  # type: ignore[attr-defined]
    rng, checked, gaps = np.random.default_rng(1), 0, 0
    for turns_of in asked(setup, agents, seed=3, tables=10, steps=40):
        for agent, decisions in zip(agents, turns_of, strict=True):
            looking = decisions.legal == 1 << MEMORISE
            rows = decisions._batch.tables
            before = None if always else decisions.state.copy()
            actions = agent.act(decisions, rng)
            for i, row in enumerate(rows):
                mine = row.layout[row.seat] if before is None or looking[i] else before[i]
                known = {slot: int(mine[slot]) for slot in legal_actions(int(decisions.legal[i])) if slot < 12 and mine[slot]}
                assert actions[i] == defined(agent.name, setup, row, int(decisions.legal[i]), known)
                checked += not looking[i]
                gaps += 0 < len(known) < int(decisions.legal[i]).bit_count() and not looking[i]
            if not always:  # some of what they have just seen is forgotten
                decisions.state[looking[:, None] & (rng.random((10, 12)) >= remembers)] = 0
    assert checked > 500
    assert (gaps > 50) == (remembers < 1 and not always)


def test_every_rule_of_thumb_is_there_by_name() -> None:
    assert list(heuristics(GAME)) == ["random", "highest", "cheapest", "mirror"]
    assert list(modifiers(GAME)) == ["remember"]
    assert modifiers("patience") == {}


# ---------------------------------------------------------------- forgetting


class Seer:
    """Remembers what it is shown of its cards, in the observation and in its tables, and writes it down; plays the first card."""

    name = "seer"

    def __init__(self) -> None:
        self.seen: list[tuple[list[int], list[int]]] = []
        """Where it looked: the values in the observation, and those in the tables."""
        self.later = 0

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        return np.dtype(np.int64)

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        shown = decisions.setup.layout.view(decisions.observation, "layout") @ np.arange(1, 13)
        for k in range(len(decisions.index)):
            if decisions.legal[k] == 1 << MEMORISE:
                self.seen.append((shown[k].tolist(), decisions.tables[k].layout[decisions.seat[k]].tolist()))
                truth = decisions._batch.tables[decisions.index[k]].layout[decisions.seat[k]]
                assert all(value in (0, true) for value, true in zip(shown[k], truth, strict=True))
            else:
                self.later += 1
                assert decisions.observation[k].tobytes() == decisions._batch.observation[decisions.index[k]].tobytes()
                assert decisions.tables[k].tobytes() == decisions._batch.redacted(decisions.index[k : k + 1])[0].tobytes()
            decisions.state[k] += 1
        return np.array([legal_actions(int(word))[0] for word in decisions.legal], np.int64)


def played_by(agent: Agent, players: int = 2, tables: int = 50, **knobs: Any) -> NDArray[np.int64]:
    """What every table comes to with ``agent`` in the first seat and another heuristic in the rest."""
    batch = Batch(SPEC.setup(None, players, **knobs), tables, seed=4, autoreset=False)
    seating = np.ones((tables, players), np.int64)
    seating[:, 0] = 0
    return play_out(batch, [agent, heuristics(GAME)["cheapest"]], seating, [np.random.default_rng(k) for k in range(2)])


@pytest.mark.parametrize("name", RULES)
def test_who_forgets_nothing_plays_as_ever(name: str) -> None:
    agent = heuristics(GAME)[name]
    assert played_by(Forgetful(agent, 1.0)).tolist() == played_by(agent).tolist()
    assert played_by(Forgetful(agent, 0.5)).tolist() != played_by(agent).tolist()


@pytest.mark.slow
def test_what_is_forgotten_is_neither_observed_nor_in_the_tables() -> None:
    """And a slot is taken in with the probability that was asked for, each by itself; ±4.5 standard deviations."""
    for remembers in (0.0, 0.3, 0.7, 1.0):
        seer = Seer()
        played_by(Forgetful(seer, remembers), tables=2000)
        assert len(seer.seen) == 2000
        assert all(observed == hand for observed, hand in seer.seen)
        taken = np.array([observed for observed, _ in seer.seen]) > 0
        sigma = (remembers * (1 - remembers)) ** 0.5
        assert abs(taken.mean() - remembers) <= 4.5 * sigma / 24_000**0.5
        assert (np.abs(taken.mean(axis=0) - remembers) <= 4.5 * sigma / 2000**0.5).all()
        # by itself: how many of twelve has the spread of a binomial
        assert abs(taken.sum(axis=1).var() - 12 * sigma**2) <= 4.5 * 12 * sigma**2 * (2 / 2000) ** 0.5
        assert seer.later > 10_000


def test_nothing_but_its_own_view_is_touched() -> None:
    batch = Batch(SPEC.setup(), 20, seed=5)
    agent = Forgetful(heuristics(GAME)["highest"], 0.0)
    memories = RecurrentStates(batch, [agent])
    decisions = memories.decision_batch(0, np.arange(20))
    before, seen, tables = batch.save(), decisions.observation.copy(), decisions.tables.copy()
    agent.act(decisions, np.random.default_rng(0))
    assert all(np.array_equal(array, batch.save()[name]) for name, array in before.items())
    assert np.array_equal(decisions.observation, seen)
    assert decisions.tables.tobytes() == tables.tobytes()
    assert not decisions.state.any()


def net_agent(setup: Setup, recurrent: int) -> NetAgent:
    return NetAgent("net", stirred(mlp(setup, recurrent=recurrent, seed=2)))


def test_who_remembers_nothing_cannot_forget() -> None:
    with pytest.raises(AgentError, match=r"The agent 'random' has no memory, so it cannot forget\."):
        Forgetful(heuristics(GAME)["random"], 0.5)
    setup = SPEC.setup()
    with pytest.raises(AgentError, match=r"The agent 'net' has no memory, so it cannot forget\."):
        RecurrentStates(Batch(setup, 1), [Forgetful(net_agent(setup, 0), 0.5)])


def test_where_all_is_seen_there_is_nothing_to_forget() -> None:
    agent = Forgetful(heuristics(GAME)["highest"], 0.5)
    sentence = r"highest@remember=0\.5: under these rules a seat always sees its cards, so there is nothing to forget\."
    with pytest.raises(AgentError, match=sentence):
        played_by(agent, memory="perfect")
