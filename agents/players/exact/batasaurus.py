"""Batasaurus with two seats that always know their cards (``memory = perfect``), solved by backward induction.

At the start of a trick nothing is hidden: a seat holds the values that it has not shown (B4), and both hold equally many. The
piles only add up, so the value of the rest of the game depends on the two sets alone. Let ``V(a, b)`` be the net cards (its own
less the other's) that the leader secures, holding ``a`` against ``b``. If the leader plays ``v`` and the other seat ``w``, then

==========  ==============================  ===========================================================
``v > w``   ``2 + V(a - v, b - w)``         the leader takes both and leads again (B2.2)
``v < w``   ``-2 - V(b - w, a - v)``        the other seat takes both and leads
``v = w``   ``B(a - v, b - w, 2)``          a battle for the 2 cards that lie there (B2.3)
==========  ==============================  ===========================================================

and ``V`` is the maximum over ``v`` of the minimum over ``w``, as ``w`` is chosen with ``v`` face up. ``B(a, b, stake)`` is the
value of a matrix game with the same entries and ``stake + 2`` for ``2``, as both commit before either card is shown. A battle
without cards is worth 0, split or void (B2.4). Under ``void``, where cards can go to nobody, net cards are solved for as well.

Only the order of the cards matters, so a pair of sets is stored as its *pattern*: who holds each value, from the highest down,
without the values that neither holds. With up to 12 values there are 113,257 patterns of equally many cards, and 2,704,156
pairs of sets.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import count, nth_lowest
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.rules import Memory, rules_of
from nainjaune_env.games.batasaurus.state import ONE, SLOTS, Phase

from . import ExactPlayer, Solved
from .matrix import solve_game

TIE = 1e-9
"""Choices within this many net cards count as equally good. Values are far more precise (``Solution.error``)."""


class Values(NamedTuple):
    """The values of every pattern, for compiled code; P patterns, N values."""

    place: NDArray[np.int32]
    """``(2 * 3**N,)`` the index of a pattern (by :func:`code`) in the arrays below; -1 where the seats hold unequal numbers."""
    lead: NDArray[np.float64]
    """``(P,)`` net cards to the leader at the start of a trick, ``V``."""
    battle: NDArray[np.float64]
    """``(P, N)`` net cards to the leader where both commit next, with ``2 * (column + 1)`` cards at stake, ``B``."""


class Workspace(NamedTuple):
    """The arrays that solving a matrix game overwrites."""

    game: NDArray[np.float64]
    """``(N, N)``."""
    tableau: NDArray[np.float64]
    """``(N+1, N+1)``."""
    labels: NDArray[np.int64]
    """``(2N,)``."""
    rows: NDArray[np.float64]
    """``(N,)`` mixed strategy of the leader, by its cards from the lowest up."""
    columns: NDArray[np.float64]
    """``(N,)`` mixed strategy of the other seat."""


def workspace(dinosaurs: int) -> Workspace:
    """Returns a workspace for sets of ``dinosaurs`` values."""
    n = dinosaurs
    return Workspace(np.zeros((n, n)), np.zeros((n + 1, n + 1)), np.zeros(2 * n, np.int64), np.zeros(n), np.zeros(n))


@jit
def code(mine: Any, theirs: Any) -> Any:
    """Returns the code of a pattern: the digit 1, then a digit to base 3 for each value held, from the highest down.

    0 = only mine, 1 = only theirs, 2 = both. ``mine`` and ``theirs`` are sets, bit v-1 = value v.
    """
    number = ONE
    for bit in range(SLOTS - 1, -1, -1):
        mine_too, theirs_too = mine >> bit & 1, theirs >> bit & 1
        if mine_too | theirs_too:
            number = number * 3 + (2 if mine_too & theirs_too else theirs_too)
    return number


def patterns(dinosaurs: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Returns all patterns of up to ``dinosaurs`` values, fewest cards first: ``Values.place`` and each seat's sets ``(P,)``."""
    place = np.full(2 * 3**dinosaurs, -1, np.int32)
    mine, theirs = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    codes = [np.ones(1, np.int64)]
    for _ in range(dinosaurs):  # a lower value is added
        mine.append((mine[-1][:, None] << 1 | np.array([1, 0, 1])).ravel())
        theirs.append((theirs[-1][:, None] << 1 | np.array([0, 1, 1])).ravel())
        codes.append((codes[-1][:, None] * 3 + np.arange(3)).ravel())
    a, b, numbers = np.concatenate(mine), np.concatenate(theirs), np.concatenate(codes)
    equal = np.bitwise_count(a) == np.bitwise_count(b)
    a, b, numbers = a[equal], b[equal], numbers[equal]
    order = np.argsort(np.bitwise_count(a), kind="stable")
    place[numbers[order]] = np.arange(order.size)
    return place, a[order], b[order]


@jit
def fill(game: Any, values: Any, mine: Any, theirs: Any, stake: Any) -> None:
    """Writes the net cards to the leader by the cards that it (row) and the other seat (column) add to ``stake``, lowest up."""
    i, rest = 0, mine
    while rest:
        v = rest & -rest
        rest ^= v
        j, others = 0, theirs
        while others:
            w = others & -others
            others ^= w
            if v > w:
                game[i, j] = stake + 2 + values.lead[values.place[code(mine ^ v, theirs ^ w)]]
            elif v < w:
                game[i, j] = -(stake + 2) - values.lead[values.place[code(theirs ^ w, mine ^ v)]]
            else:
                game[i, j] = values.battle[values.place[code(mine ^ v, theirs ^ w)], stake >> 1]
            j += 1
        i += 1


@jit
def secured(game: Any, i: Any, cards: Any) -> Any:
    """Returns the minimum of row ``i``."""
    answer = np.inf
    for j in range(cards):
        answer = min(answer, game[i, j])
    return answer


@jit
def solve_patterns(values: Any, mine: Any, theirs: Any, dinosaurs: Any, work: Any) -> Any:
    """Writes ``values`` of the patterns of the sets ``mine`` and ``theirs``, fewest cards first.

    Returns the widest gap between the bounds on the value of a matrix game.
    """
    widest = 0.0
    for p in range(mine.size):
        cards = count(mine[p])
        if cards == 0:
            continue
        fill(work.game, values, mine[p], theirs[p], 0)
        best = -np.inf
        for i in range(cards):
            best = max(best, secured(work.game, i, cards))
        values.lead[p] = best
        for pairs in range(1, dinosaurs - cards + 1):
            fill(work.game, values, mine[p], theirs[p], 2 * pairs)
            lower, upper = solve_game(work.game, cards, cards, work.tableau, work.labels, work.rows, work.columns)
            values.battle[p, pairs - 1] = (lower + upper) / 2
            if not upper - lower <= widest:  # true for nan, too
                widest = upper - lower
    return widest


@dataclass(frozen=True)
class Solution:
    """The solved game for two seats."""

    dinosaurs: int
    """Number of values in each seat's set, N."""
    values: Values
    gap: float
    """Widest gap between the proven bounds on the value of a matrix game, in net cards."""

    @property
    def value(self) -> float:
        """Net cards to the first leader of a game."""
        full = (1 << self.dinosaurs) - 1
        return self.lead(full, full)

    @property
    def error(self) -> float:
        """A bound on the error of every value: a game's value changes by no more than its entries do."""
        return self.dinosaurs * self.gap

    def lead(self, mine: int, theirs: int) -> float:
        """Returns net cards to the leader at the start of a trick, holding ``mine`` (bit v-1 = value v) against ``theirs``."""
        return float(self.values.lead[self._place(mine, theirs)])

    def battle(self, mine: int, theirs: int, stake: int) -> float:
        """Returns net cards to the trick's leader where both commit a card, with ``stake`` cards in the trick."""
        place = self._place(mine, theirs)
        if stake % 2 or not 2 <= stake <= 2 * (self.dinosaurs - mine.bit_count()):
            most = 2 * (self.dinosaurs - mine.bit_count())
            raise RulesError(f"The stake of a battle is an even number of the cards played, from 2 to {most}, not {stake!r}.")
        return float(self.values.battle[place, stake // 2 - 1])

    def _place(self, mine: int, theirs: int) -> int:
        if not 0 <= min(mine, theirs) <= max(mine, theirs) < 1 << self.dinosaurs or mine.bit_count() != theirs.bit_count():
            raise RulesError(
                f"Both seats hold equally many of the values 1 to {self.dinosaurs}, which sets {mine:#b} and {theirs:#b} are not."
            )
        return int(self.values.place[code(np.int64(mine), np.int64(theirs))])


@functools.cache
def solve(dinosaurs: int = SLOTS) -> Solution:
    """Returns the solution of the game with the values 1 to ``dinosaurs``, computed once per process."""
    if not 1 <= dinosaurs <= SLOTS:
        raise RulesError(f"A set has 1 to {SLOTS} dinosaurs, not {dinosaurs!r}.")
    place, mine, theirs = patterns(dinosaurs)
    values = Values(place, np.zeros(mine.size), np.zeros((mine.size, dinosaurs)))
    gap = solve_patterns(values, mine, theirs, dinosaurs, workspace(dinosaurs))
    return Solution(dinosaurs, values, float(gap))


@jit
def best_row(game: Any, cards: Any) -> Any:
    """Returns the row with the greatest minimum, the lowest of equal ones."""
    best, most = 0, -np.inf
    for i in range(cards):
        answer = secured(game, i, cards)
        if answer > most + TIE:
            best, most = i, answer
    return best


@jit
def best_column(game: Any, i: Any, cards: Any) -> Any:
    """Returns the column of the minimum of row ``i``, the lowest of equal ones."""
    best, least = 0, np.inf
    for j in range(cards):
        if game[i, j] < least - TIE:
            best, least = j, game[i, j]
    return best


@jit
def write_policy(tables: Any, values: Any, work: Any, out: Any) -> None:
    """Writes the equilibrium's action probabilities at every table (redacted for its seat) into ``out (K, A)``.

    Slot s holds value s+1 (B4.1).
    """
    for k in range(tables.size):
        table = tables[k]
        seat, leader = table.seat, table.leader
        mine, theirs = np.int64(table.held[leader]), np.int64(table.held[1 - leader])
        for action in range(out.shape[1]):
            out[k, action] = 0.0
        if table.phase != Phase.BATTLE and seat != leader:  # the leader held the card shown
            led = ONE << table.shown[leader] >> 1
            fill(work.game, values, mine | led, theirs, 0)
            choice = best_column(work.game, count(mine & (led - 1)), count(theirs))
            out[k, nth_lowest(theirs, choice)] = 1.0
        elif table.phase != Phase.BATTLE:
            fill(work.game, values, mine, theirs, 0)
            out[k, nth_lowest(mine, best_row(work.game, count(mine)))] = 1.0
        else:
            cards = count(mine)
            stake = np.int64(table.at_stake) & ~ONE  # without a card committed already
            fill(work.game, values, mine, theirs, stake)
            solve_game(work.game, cards, cards, work.tableau, work.labels, work.rows, work.columns)
            for i in range(cards):
                if seat == leader:
                    out[k, nth_lowest(mine, i)] = work.rows[i]
                else:
                    out[k, nth_lowest(theirs, i)] = work.columns[i]


@jit
def write_losses(tables: Any, actions: Any, values: Any, work: Any, out: Any) -> None:
    """Writes the net cards that the action at each table loses against the best one into ``out (K,)``, at least 0.

    A card committed in a battle is valued against the cards that the other seat commits in the equilibrium.
    """
    for k in range(tables.size):
        table = tables[k]
        seat, leader = table.seat, table.leader
        mine, theirs = np.int64(table.held[leader]), np.int64(table.held[1 - leader])
        below = (ONE << actions[k]) - 1
        if table.phase != Phase.BATTLE and seat != leader:
            led = ONE << table.shown[leader] >> 1
            fill(work.game, values, mine | led, theirs, 0)
            row = count(mine & (led - 1))
            lost = work.game[row, count(theirs & below)] - secured(work.game, row, count(theirs))
        elif table.phase != Phase.BATTLE:
            cards = count(mine)
            fill(work.game, values, mine, theirs, 0)
            best = secured(work.game, best_row(work.game, cards), cards)
            lost = best - secured(work.game, count(mine & below), cards)
        else:
            cards = count(mine)
            stake = np.int64(table.at_stake) & ~ONE  # without a card committed already
            fill(work.game, values, mine, theirs, stake)
            solve_game(work.game, cards, cards, work.tableau, work.labels, work.rows, work.columns)
            chosen, best = 0.0, -np.inf
            for own in range(cards):
                value = 0.0
                for other in range(cards):
                    if seat == leader:
                        value += work.columns[other] * work.game[own, other]
                    else:
                        value -= work.rows[other] * work.game[other, own]
                best = max(best, value)
                if own == count((mine if seat == leader else theirs) & below):
                    chosen = value
            lost = best - chosen
        out[k] = lost if lost > TIE else 0.0


@jit
def draw(probabilities: Any, legal: Any, uniform: Any, actions: Any) -> None:
    """Writes an action drawn from each row of ``probabilities (K, A)``, with ``uniform (K,)`` in [0, 1), to ``actions (K,)``."""
    for k in range(actions.size):
        left = uniform[k]
        for action in range(probabilities.shape[1]):
            if probabilities[k, action] > 0.0 and legal[k] >> action & 1:
                actions[k] = action  # the last one if rounding leaves a rest
                left -= probabilities[k, action]
                if left < 0.0:
                    break


class ExactAgent:
    """Plays an equilibrium of the game with two seats that always know their cards: nobody wins against it on average.

    It leads and follows with the lowest of the best cards, and commits cards at random by the equilibrium's probabilities.
    """

    name = "exact"
    plays_at = "2 players, memory = perfect"

    def check(self, setup: Setup) -> None:
        """Raises :class:`AgentError` unless ``setup`` is solved here."""
        if not is_solved(setup):
            rules: Any = setup.rules
            raise AgentError(
                f"The agent {self.name!r} plays with 2 players and memory = perfect, "
                f"not with {setup.players} and memory = {rules.memory}."
            )

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns the action probabilities at each decision, ``(K, A)``; raises :class:`AgentError` for an unsolved setup."""
        self.check(decisions.setup)
        solution = solve(rules_of(decisions.setup).dinosaurs)
        out = np.zeros((len(decisions.index), decisions.num_actions))
        write_policy(decisions.tables, solution.values, workspace(solution.dinosaurs), out)
        return out

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns a legal action for each decision, shape ``(K,)``."""
        actions = np.zeros(len(decisions.index), np.int64)
        draw(self.probabilities(decisions), decisions.legal, rng.random(len(actions)), actions)
        return actions


AGENTS: Mapping[str, ExactPlayer] = {ExactAgent.name: ExactAgent()}


def is_solved(setup: Setup) -> bool:
    """Returns whether ``setup`` is solved here: two seats and ``memory = perfect``, with any other knobs."""
    return setup.players == 2 and rules_of(setup).memory == Memory.PERFECT


def solved(setup: Setup) -> Solved | None:
    """Returns the value of a game and the best first leads; None unless :func:`is_solved`."""
    if not is_solved(setup):
        return None
    solution = solve(rules_of(setup).dinosaurs)
    size = solution.dinosaurs
    full, game = np.int64((1 << size) - 1), workspace(size).game
    fill(game, solution.values, full, full, 0)
    minima = game.min(axis=1)
    best = tuple(str(card + 1) for card in np.flatnonzero(minima > minima.max() - TIE))
    # the first seat's cards less the mean of both seats are half of its net cards
    return Solved(solution.value / 2, solution.error / 2, best, len(solution.values.lead))


def losses(setup: Setup, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Returns what ``actions (K,)`` lose against the best ones, ``(K,)``; None unless :func:`is_solved`."""
    if not is_solved(setup):
        return None
    solution = solve(rules_of(setup).dinosaurs)
    out = np.zeros(len(tables))
    write_losses(tables, actions, solution.values, workspace(solution.dinosaurs), out)
    return out / 2  # a seat's cards less the mean of both seats are half of its net cards


def sizes(setup: Setup) -> Iterator[Mapping[str, Any]]:
    """Yields the sets of 2 dinosaurs and more."""
    return ({"dinosaurs": size} for size in range(2, SLOTS + 1))


def max_nodes(setup: Setup) -> int:
    """Returns a bound on the nodes of the tree: twice its lines of play, as each decision has two actions or more.

    At most every seat plays its cards in every order; with ``memory = glimpse`` they are dealt in every order, too.
    """
    rules = rules_of(setup)
    orders = factorial(rules.dinosaurs) ** setup.players
    return int(2 * setup.players * orders * (1 if rules.memory == Memory.PERFECT else orders))
