"""The solved game against fractions, position by position, and the agent that plays it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from nainjaune_agents.players.exact.batasaurus import ExactAgent, Solution, losses, patterns, solve, solved
from nainjaune_env.agent import DecisionBatch, StochasticPolicy
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup

from . import fractions_only as slow


def word(cards: tuple[int, ...]) -> int:
    return sum(1 << card - 1 for card in cards)


@pytest.mark.parametrize("dinosaurs", range(1, 6))
def test_every_position_against_fractions(dinosaurs: int) -> None:
    """Most positions would be met in few games; each is held against the recursion that knows no patterns."""
    solution = solve(dinosaurs)
    values = range(1, dinosaurs + 1)
    for size in range(dinosaurs + 1):
        for mine in combinations(values, size):
            for theirs in combinations(values, size):
                assert solution.lead(word(mine), word(theirs)) == pytest.approx(float(slow.lead(mine, theirs)), abs=1e-12)
                for lying in range(2, 2 * (dinosaurs - size) + 1, 2):
                    exact = float(slow.battle(mine, theirs, lying))
                    assert solution.battle(word(mine), word(theirs), lying) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    ("dinosaurs", "value"), [(1, 0), (2, 0), (3, 0), (4, 0), (5, -62 / 655), (6, 0), (7, -0.5204323270665661)]
)
def test_the_value_of_a_game(dinosaurs: int, value: float) -> None:
    """From the fractions, which take long over the last. By hand for two dinosaurs: whatever is played, it nets 0."""
    assert solve(dinosaurs).value == pytest.approx(value, abs=1e-12)
    assert solve(dinosaurs).error < 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: solve(13), "A set has 1 to 12 dinosaurs, not 13."),
        (lambda s: s.lead(0b11, 0b1), "Both seats hold equally many of the values 1 to 4, which sets 0b11 and 0b1 are not."),
        (lambda s: s.lead(1 << 4, 1), "Both seats hold equally many"),
        (lambda s: s.battle(0b11, 0b11, 6), "The stake of a battle is an even number of the cards played, from 2 to 4, not 6."),
        (lambda s: s.battle(0b11, 0b11, 3), "not 3."),
    ],
)
def test_what_cannot_be_asked(call: Callable[[Solution], object], message: str) -> None:
    with pytest.raises(RulesError) as caught:
        call(solve(4))
    assert message in str(caught.value)


def positions(dinosaurs: int, plies: int, tables: int = 200) -> Batch:
    batch = Batch(make_setup("batasaurus", players=2, memory="perfect", dinosaurs=dinosaurs), tables, seed=1)
    rng = streams(2, tables)
    for _ in range(plies):
        batch.step(batch.sample(rng))
    return batch


@pytest.mark.parametrize("plies", [0, 1, 3, 9])
def test_the_agent_plays_what_its_probabilities_say(plies: int) -> None:
    batch = positions(5, plies)
    decisions = DecisionBatch(batch, np.arange(batch.num_tables))
    agent = ExactAgent()
    assert isinstance(agent, StochasticPolicy)
    probabilities = agent.probabilities(decisions)
    assert probabilities.shape == decisions.mask.shape
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(len(decisions.index)))
    assert (probabilities[~decisions.mask] == 0).all()
    actions = agent.act(decisions, np.random.default_rng(0))
    assert (probabilities[np.arange(len(actions)), actions] > 0).all()


def test_commits_are_drawn_in_proportion() -> None:
    """The battle of five dinosaurs after 3 and 3: its mix has more than one card."""
    setup = make_setup("batasaurus", players=2, memory="perfect", dinosaurs=5)
    batch = Batch(setup, 20_000, seed=1)
    batch.set_tables(np.arange(batch.num_tables), batch.tables[0])
    for _ in range(2):
        batch.step(np.full(batch.num_tables, 2))
    decisions = DecisionBatch(batch, np.arange(batch.num_tables))
    expected = ExactAgent().probabilities(decisions)[0]
    assert (expected > 0).sum() > 1
    drawn = np.bincount(ExactAgent().act(decisions, np.random.default_rng(3)), minlength=len(expected)) / batch.num_tables
    assert drawn == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("knobs", [{"players": 3, "memory": "perfect"}, {"players": 2, "memory": "glimpse"}])
def test_it_refuses_other_tables(knobs: dict[str, object]) -> None:
    batch = Batch(make_setup("batasaurus", **knobs), 1)  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="plays with 2 players and memory = perfect, not with"):
        ExactAgent().act(DecisionBatch(batch, np.arange(1)), np.random.default_rng(0))


@pytest.mark.parametrize(("dinosaurs", "first"), [(2, "1 2"), (5, "1"), (6, "3 4"), (12, "8")])
def test_what_is_said_of_a_solved_game(dinosaurs: int, first: str) -> None:
    solution = solved(make_setup("batasaurus", players=2, memory="perfect", dinosaurs=dinosaurs))
    assert solution is not None
    assert solution.value == solve(dinosaurs).value / 2
    assert (" ".join(solution.first), solution.positions) == (first, len(patterns(dinosaurs)[1]))


@pytest.mark.parametrize("dinosaurs", [2, 6])
def test_what_a_first_lead_loses(dinosaurs: int) -> None:
    setup = make_setup("batasaurus", players=2, memory="perfect", dinosaurs=dinosaurs)
    tables, solution, full = Batch(setup, dinosaurs).tables, solve(dinosaurs), (1 << dinosaurs) - 1

    def worth(lead: int, reply: int) -> float:
        mine, theirs = full ^ 1 << lead, full ^ 1 << reply
        if lead == reply:
            return solution.battle(mine, theirs, 2)
        return 2 + solution.lead(mine, theirs) if lead > reply else -2 - solution.lead(theirs, mine)

    least = [min(worth(lead, reply) for reply in range(dinosaurs)) for lead in range(dinosaurs)]
    lost = losses(setup, tables, np.arange(dinosaurs))
    assert lost == pytest.approx((max(least) - np.array(least)) / 2, abs=1e-8)
    assert min(lost) == 0


def test_other_tables_have_no_solution() -> None:
    other = make_setup("batasaurus", players=2)
    assert losses(other, Batch(other, 1).tables, np.zeros(1, np.int64)) is None
    assert solved(make_setup("batasaurus", players=3, memory="perfect")) is None
    assert solved(make_setup("batasaurus", players=2)) is None
