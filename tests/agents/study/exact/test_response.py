"""Values and best responses on trees, against plain recursion over lines of play."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players.exact.batasaurus import ExactAgent, solve
from nainjaune_agents.study.exact.policy import tabular
from nainjaune_agents.study.exact.response import best_response, best_response_gains, values, values_in_order
from nainjaune_agents.study.exact.tree import Openings, Tree, build_tree, collect_openings
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.cards import DECK, cards_in
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.registry import make_setup
from tests.agents.measure.arena.scripted import Last
from tests.support.games import without

from .lines import perfect

RNG = np.random.default_rng(0)

# ---------------------------------------------------------------- plain recursion over lines of play: a slow twin of the tree

Policy = Callable[[Batch], dict[int, float]]
"""Returns the probabilities of the actions at a batch of one table."""


def uniform(batch: Batch) -> dict[int, float]:
    actions = legal_actions(int(batch.legal[0]))
    return dict.fromkeys(actions, 1 / len(actions))


def lowest(batch: Batch) -> dict[int, float]:
    return {legal_actions(int(batch.legal[0]))[0]: 1.0}


def highest(batch: Batch) -> dict[int, float]:
    return {legal_actions(int(batch.legal[0]))[-1]: 1.0}


class Recursion:
    """One opening, ``table``, under one setup.

    A state is the list of actions since the opening, replayed on one table at a time. What a seat knows is the tuple of its own
    observations and actions. For a best response all lines that the seat cannot distinguish are followed together.
    """

    def __init__(self, setup: Setup, table: Any) -> None:
        self.setup = setup
        self.table = table

    def at(self, line: tuple[int, ...]) -> Batch:
        batch = Batch(self.setup, 1, autoreset=False)
        batch.set_tables(0, self.table)
        for action in line:
            batch.step([action])
        return batch

    def net(self, batch: Batch) -> list[float]:
        """Reads the piles as the game's own ``payoffs`` gives them."""
        paid = np.zeros(self.setup.players, np.int32)
        self.setup.game.kernel.payoffs(batch.tables[0], self.setup.kernel_rules, paid)
        return [float(x) for x in paid - paid.mean()]

    def values(self, policy: Policy, line: tuple[int, ...] = ()) -> np.ndarray:
        """Returns each seat's value where all follow ``policy``."""
        batch = self.at(line)
        if batch.done[0]:
            return np.array(self.net(batch))
        return sum(
            (p * self.values(policy, (*line, action)) for action, p in policy(batch).items()), np.zeros(self.setup.players)
        )

    def best(self, policy: Policy, seat: int) -> float:
        """Returns the value of a best response of ``seat`` where the others follow ``policy``."""
        return self._walk(policy, seat, [((), 1.0)])

    def _walk(self, policy: Policy, seat: int, lines: list[tuple[tuple[int, ...], float]]) -> float:
        """Returns the value from lines that ``seat`` cannot distinguish, each with the probability that the others play it."""
        total = 0.0
        decisions: dict[bytes, list[tuple[tuple[int, ...], float]]] = defaultdict(list)
        legal: dict[bytes, list[int]] = {}
        todo = list(lines)
        while todo:
            line, weight = todo.pop()
            batch = self.at(line)
            if batch.done[0]:
                total += weight * self.net(batch)[seat]
            elif batch.seat[0] == seat:
                seen = batch.observation[0].tobytes()
                decisions[seen].append((line, weight))
                legal[seen] = legal_actions(int(batch.legal[0]))
            else:
                todo += [((*line, action), weight * p) for action, p in policy(batch).items()]
        for seen, together in decisions.items():
            total += max(
                self._walk(policy, seat, [((*line, action), weight) for line, weight in together]) for action in legal[seen]
            )
        return total


# ---------------------------------------------------------------- the tree


def edge(tree: Tree) -> np.ndarray:
    """The first sequence of each information set."""
    policy = np.zeros(tree.num_sequences)
    policy[tree.infosets.start[:-1]] = 1
    return policy


@pytest.mark.parametrize(("dinosaurs", "players"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("slow", [uniform, lowest, highest])
def test_against_the_recursion(dinosaurs: int, players: int, slow: Policy) -> None:
    setup = perfect(dinosaurs, players)
    openings = collect_openings(setup)
    for table in openings.tables:
        tree = build_tree(setup, Openings(table.reshape(1), np.ones(1)))
        policy = {uniform: tree.uniform(), lowest: edge(tree), highest: tabular(tree, Last("last"), RNG)}[slow]
        gains = best_response_gains(tree, policy)
        twin = Recursion(setup, table)
        assert gains.values == pytest.approx(twin.values(slow), abs=1e-12)
        assert gains.responses == pytest.approx([twin.best(slow, seat) for seat in range(players)], abs=1e-12)
        assert gains.nash_conv == pytest.approx(sum(gains.responses))
        assert gains.mean_gain == pytest.approx(gains.nash_conv / players)
        assert gains.exploitability == (gains.mean_gain if players == 2 else None)


def test_exploitability_is_a_word_for_two_seats_with_a_constant_sum() -> None:
    """Chips that stay in the pots make the sum of own payoffs vary; less their mean they always sum to 0."""
    setup = make_setup("nain_jaune", "djeco", 2, ranks=3, suits=2, hand=2)
    own, less_mean = build_tree(setup, objective="own"), build_tree(setup)
    assert (own.constant_sum, less_mean.constant_sum) == (False, True)
    np.testing.assert_allclose(own.leaves.payoff - own.leaves.payoff.mean(axis=1, keepdims=True), less_mean.leaves.payoff)
    gains = [best_response_gains(tree, tree.uniform()) for tree in (own, less_mean)]
    assert gains[0].exploitability is None
    assert gains[1].exploitability == gains[1].nash_conv / 2 == gains[1].mean_gain
    assert gains[0].nash_conv != pytest.approx(gains[1].nash_conv, rel=0.01)


@pytest.mark.parametrize(("dinosaurs", "nash_conv"), [(2, 0), (3, 4 / 3), (4, 8 / 3), (5, 3.45)])
def test_random_play(dinosaurs: int, nash_conv: float) -> None:
    """As OpenSpiel 2.0.2 has it, on a game written for it from the rules."""
    tree = build_tree(perfect(dinosaurs))
    assert best_response_gains(tree, tree.uniform()).nash_conv == pytest.approx(nash_conv, abs=1e-12)


def test_a_best_response_has_the_value_that_it_reports() -> None:
    tree = build_tree(perfect(4))
    for policy in (tree.uniform(), edge(tree), tabular(tree, ExactAgent(), RNG)):
        for seat in range(2):
            value, sequences = best_response(tree, policy, seat)
            followed = np.where(tree.infosets.seat[tree.infosets.of] == seat, 0.0, policy)
            followed[sequences] = 1
            assert values(tree, followed)[seat] == pytest.approx(value, abs=1e-12)
            assert value >= values(tree, policy)[seat] - 1e-12


@pytest.mark.parametrize("dinosaurs", [2, 3, 4, 5])
def test_nobody_gains_against_the_solution(dinosaurs: int) -> None:
    """Backward induction over card sets, and best responses over information sets of the environment: two methods, one result."""
    setup = perfect(dinosaurs)
    openings = collect_openings(setup)
    for table in openings.tables:
        tree = build_tree(setup, Openings(table.reshape(1), np.ones(1)))
        gains = best_response_gains(tree, tabular(tree, ExactAgent(), RNG))
        assert gains.gains == pytest.approx(np.zeros(2), abs=1e-9)
        assert 2 * gains.values[table["leader"]] == pytest.approx(solve(dinosaurs).value, abs=1e-9)


def every_deal(setup: Setup) -> NDArray[Any]:
    """Every deal of real cards by every dealer: all are equally likely."""
    cards = [DECK[card] for card in cards_in(setup.kernel_rules.deck)]
    deals: list[list[tuple[str, ...]]] = [[]]
    for _ in range(setup.players):
        deals = [
            [*hands, hand]
            for hands in deals
            for hand in itertools.combinations([card for card in cards if all(card not in dealt for dealt in hands)], 2)
        ]
    return np.array([setup_table(setup, hands, dealer=dealer) for hands in deals for dealer in range(setup.players)])


@pytest.mark.parametrize(("players", "slow"), [(2, uniform), (2, highest), (3, lowest)])
def test_values_in_order_where_the_lead_is_forced_or_nothing_is_decided(players: int, slow: Policy) -> None:
    """Every deal of a tiny deck counts, whoever decides first, and if nobody ever does."""
    setup = make_setup("nain_jaune", "djeco", players, ranks=3, suits=2, hand=2)
    deals = every_deal(setup)
    begins = deals["seat"].astype(np.int64)
    batch = Batch(setup, len(deals), autoreset=False)
    batch.set_tables(None, deals)
    assert batch.done.any() == (players == 2)  # with three seats every one of these deals has a decision
    assert (batch.seat != begins)[~batch.done].any()
    each = [np.roll(Recursion(setup, table).values(slow), -first) for table, first in zip(deals, begins, strict=True)]
    for openings in (collect_openings(setup), collect_openings(without(setup, "chance"))):
        tree = build_tree(setup, openings)
        policy = {uniform: tree.uniform(), lowest: edge(tree), highest: tabular(tree, Last("last"), RNG)}[slow]
        assert values_in_order(tree, policy) == pytest.approx(np.mean(each, axis=0), abs=1e-12)


def test_remembering_everything_glimpse_is_no_other_game() -> None:
    """With perfect recall a seat knows its layout after the memorising step: shuffled slots, the same play."""
    glimpse = build_tree(make_setup("batasaurus", players=2, memory="glimpse", dinosaurs=3))
    sorted_slots = build_tree(perfect(3))
    gains, known = best_response_gains(glimpse, glimpse.uniform()), best_response_gains(sorted_slots, sorted_slots.uniform())
    assert gains.responses == pytest.approx(known.responses)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda tree: tree.uniform()[:-1], r"A policy on this tree is \(120,\) float64, not \(119,\) float64\."),
        (lambda tree: tree.uniform().astype(np.float32), "not .* float32"),
        (lambda tree: tree.uniform() * 0.9, "sum to 1 in each information set"),
        (lambda tree: tree.uniform() * np.nan, "A policy holds probabilities"),
    ],
)
def test_what_is_no_policy(policy: Callable[[Tree], NDArray[Any]], message: str) -> None:
    tree = build_tree(perfect(3))
    for ask in (values, best_response_gains, lambda t, p: best_response(t, p, 0)):
        with pytest.raises(AgentError, match=message):
            ask(tree, policy(tree))
