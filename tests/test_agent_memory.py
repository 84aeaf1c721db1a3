"""What agents remember: a row for every table, seat and agent, zeros when a round begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_env.agent import Agent, DecisionBatch, RecurrentStates
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.edges import edge_of
from tests.support.positions import small

DIARY = np.dtype([("deal", np.int64), ("seat", np.int64), ("table", np.int64), ("decisions", np.int64), ("last", np.int64)])


class Diarist:
    """Writes down what it is asked, and holds it against what a witness who forgets nothing knows.

    It looks at the whole batch, which agents must not, as a test may.
    """

    def __init__(self, name: str = "diarist") -> None:
        self.name = name
        self.past: dict[tuple[int, int, int], list[int]] = {}
        """The actions of each table, deal and seat."""
        self.longest = 0

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        return DIARY

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        drawn = rng.random(len(decisions.index))
        actions = np.array([_drawn(int(word), share) for word, share in zip(decisions.legal, drawn, strict=True)], np.int64)
        for k, (table, seat) in enumerate(zip(decisions.index.tolist(), decisions.seat.tolist(), strict=True)):
            deal = int(decisions._batch.deals[table])
            past = self.past.setdefault((table, deal, seat), [])
            kept = tuple(int(value) for value in decisions.state[k])
            assert kept == ((deal, seat, table, len(past), past[-1]) if past else (0, 0, 0, 0, 0))
            past.append(int(actions[k]))
            decisions.state[k] = (deal, seat, table, len(past), past[-1])
            self.longest = max(self.longest, len(past))
        return actions


class Sized(Diarist):
    """Asks for memory of a kind, and looks at nothing."""

    def __init__(self, kind: Any) -> None:
        super().__init__("sized")
        self.kind = np.dtype(kind)

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        return self.kind

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        drawn = rng.random(len(decisions.index))
        return np.array([_drawn(int(word), share) for word, share in zip(decisions.legal, drawn, strict=True)], np.int64)


class Forgotten:
    """Remembers nothing."""

    name = "forgotten"

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        with pytest.raises(AgentError):
            _ = decisions.state
        drawn = rng.random(len(decisions.index))
        return np.array([_drawn(int(word), share) for word, share in zip(decisions.legal, drawn, strict=True)], np.int64)


def _drawn(word: int, share: float) -> int:
    legal = [action for action in range(63) if word >> action & 1]
    return legal[int(share * len(legal))]


def rngs(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(k) for k in range(count)]


def play(batch: Batch, memories: RecurrentStates, agents: list[Agent], steps: int, seed: int = 0) -> None:
    """All agents are asked at every table, as if each sat in all seats; the play goes as the first wants."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        chosen = []
        for number, agent in enumerate(agents):
            decisions = memories.decision_batch(number, np.arange(batch.num_tables))
            chosen.append(agent.act(decisions, rng))
            memories.keep(number, decisions)
        batch.step(chosen[0])
        memories.stepped()


SETUPS = [
    pytest.param(make_setup("batasaurus", None, 2), id="batasaurus-2"),
    pytest.param(make_setup("batasaurus", None, 3), id="batasaurus-3"),
    pytest.param(small(4), id="nain_jaune-4"),
    pytest.param(make_setup("signal_lamps"), id="signal_lamps"),
]


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("seats", ["one agent in all", "two agents mixed"])
def test_played_out_each_seat_has_its_own_history(setup: Setup, seats: str) -> None:
    """The diarist checks that what it wrote is there at the seat's next decision, and zeros at the round's first."""
    diarists = [Diarist("one"), Diarist("two")]
    batch = Batch(setup, 12, seed=1, autoreset=False)
    seating = np.zeros((12, setup.players), np.int64)
    if seats == "two agents mixed":
        seating = np.arange(12 * setup.players).reshape(12, setup.players) // 3 % 2
    play_out(batch, diarists, seating, rngs(2))
    asked = [{(table, seat) for table, _, seat in diarist.past} for diarist in diarists]
    if seats == "two agents mixed":
        assert asked[0]
        assert asked[1]
        assert not asked[0] & asked[1]
    else:
        assert len(asked[0]) > 12
        assert not asked[1]
    assert diarists[0].longest >= 2


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("options", [{}, {"start": "carried"}, {"skip_forced": False}, {"episode": "match"}], ids=str)
def test_rounds_without_end(setup: Setup, options: Any) -> None:
    """Every new round begins with zeros, whichever way it was dealt."""
    diarist = Diarist()
    batch = Batch(setup, 5, seed=2, **options)
    memories = RecurrentStates(batch, [diarist])
    play(batch, memories, [diarist], 300)
    assert len({deal for _, deal, _ in diarist.past}) >= 3
    assert diarist.longest >= 2


def test_gone_after_a_reset_of_some_tables() -> None:
    setup = make_setup("batasaurus")
    batch = Batch(setup, 4, seed=4, autoreset=False)
    diarist = Diarist()
    memories = RecurrentStates(batch, [diarist])
    play(batch, memories, [diarist], 6)
    batch.reset([1, 3])
    memories.stepped()
    for table, zeros in enumerate([False, True, False, True]):
        kept = memories.decision_batch(0, np.array([table])).state[0]
        assert (kept == np.zeros((), DIARY)) == zeros
    play(batch, memories, [diarist], 8)
    assert {deal for table, deal, _ in diarist.past if table == 1} == {1, 2}
    assert {deal for table, deal, _ in diarist.past if table == 0} == {1}


def test_finished_tables_keep_what_was_remembered() -> None:
    """It is gone when the next round begins and not before."""
    batch = Batch(make_setup("signal_lamps"), 3, seed=5, autoreset=False)
    diarist = Diarist()
    memories = RecurrentStates(batch, [diarist])
    while not batch.done.all():
        going = np.flatnonzero(~batch.done)
        decisions = memories.decision_batch(0, going)
        actions = np.zeros(3, np.int64)
        actions[going] = diarist.act(decisions, np.random.default_rng(0))
        memories.keep(0, decisions)
        batch.step(actions)
        memories.stepped()
    assert (memories.decision_batch(0, np.arange(3)).state["decisions"] >= 2).all()
    batch.reset()
    memories.stepped()
    assert not memories.decision_batch(0, np.arange(3)).state["decisions"].any()


def test_what_is_written_counts_once_it_is_kept() -> None:
    """A turn's memory is the agent's own copy: looking ahead without keeping leaves no trace."""
    batch = Batch(make_setup("batasaurus"), 2, seed=7)
    memories = RecurrentStates(batch, [Sized(np.int64)])
    decisions = memories.decision_batch(0, np.array([1, 0]))
    decisions.state[:] = [10, 20]
    assert memories.decision_batch(0, np.array([0, 1])).state.tolist() == [0, 0]
    memories.keep(0, decisions)
    assert memories.decision_batch(0, np.array([0, 1])).state.tolist() == [20, 10]
    batch.step(batch.sample(streams(0, 2)))  # the other seat's turn
    memories.stepped()
    assert memories.decision_batch(0, np.array([0, 1])).state.tolist() == [0, 0]
    memories.keep(0, memories.decision_batch(0, np.array([0, 1])))
    batch.step(batch.sample(streams(0, 2)))  # both have looked, so that the first is to act again
    memories.stepped()
    assert memories.decision_batch(0, np.array([0, 1])).state.tolist() == [20, 10]


def test_seen_otherwise_a_turn_has_the_same_memory() -> None:
    batch = Batch(make_setup("batasaurus"), 2, seed=8)
    memories = RecurrentStates(batch, [Sized(np.int64)])
    decisions = memories.decision_batch(0, np.array([0, 1]))
    blind = decisions.seen_as(np.zeros_like(decisions.observation), decisions.tables[::-1])
    assert not blind.observation.any()
    assert decisions.observation.any()
    assert blind.tables.tobytes() == decisions.tables[::-1].tobytes()
    assert blind.legal.tolist() == decisions.legal.tolist()
    blind.state[:] = [1, 2]
    assert decisions.state.tolist() == [1, 2]


def test_a_turn_without_a_memory_says_so() -> None:
    batch = Batch(small(), 2)
    sentence = r"These decisions come without a recurrent state: get them from RecurrentStates\.decision_batch\."
    with pytest.raises(AgentError, match=sentence):
        _ = DecisionBatch(batch, np.arange(2)).state
    with pytest.raises(AgentError, match=sentence):
        _ = RecurrentStates(batch, [Forgotten()]).decision_batch(0, np.arange(2)).state


@pytest.mark.parametrize("kind", [(np.float32, (0,)), "V0"], ids=["no floats", "nothing"])
def test_memory_of_no_size_is_none(kind: Any) -> None:
    """As a net without recurrent units has it: it is asked without a memory, and plays as ever."""
    agent = Sized(kind)
    batch = Batch(small(), 3, seed=9, autoreset=False)
    decisions = RecurrentStates(batch, [agent]).decision_batch(0, np.arange(3))
    with pytest.raises(AgentError):
        _ = decisions.state
    payoff = play_out(batch, [agent], np.zeros((3, 3), np.int64), rngs(1))
    other = Batch(small(), 3, seed=9, autoreset=False)
    assert payoff.tolist() == play_out(other, [Forgotten()], np.zeros((3, 3), np.int64), rngs(1)).tolist()


def test_duplicate_play_carries_memories_too() -> None:
    """Every table of a block, with the same agent in several of its seats."""
    diarist = Diarist()
    edge_of(make_setup("batasaurus"), [diarist, Forgotten()], 6, seed=1)
    assert 12 <= diarist.longest <= 13  # it looks, and plays each card but a last one without a choice
