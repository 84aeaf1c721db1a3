"""Exact values of a policy on a tree, and exact best responses to it.

A policy is ``(S,) float64``, the probability of each sequence of the tree at its information set. Values are per seat, in the
game's unit a round (cards, chips), of the payoff that the tree was built with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.errors import AgentError

from .tree import Tree


@jit
def realization_plan(infosets: Any, policy: Any, plan: Any) -> None:
    """Writes the realization plan of ``policy`` to ``plan (S,)``: the product of a seat's own probabilities along a sequence."""
    for sequence in range(plan.size):
        before = infosets.previous[infosets.of[sequence]]
        plan[sequence] = policy[sequence] * plan[before] if before >= 0 else policy[sequence]


@jit
def reach_leaves(leaves: Any, plan: Any, reach: Any) -> None:
    """Writes the probability that all seats together play to each leaf, chance aside, into ``reach (L,)``."""
    for leaf in range(reach.size):
        reach[leaf] = 1.0
        for sequence in leaves.last[leaf]:
            if sequence >= 0:
                reach[leaf] *= plan[sequence]


@jit
def add_counterfactual_values(leaves: Any, weighted_payoff: Any, plan: Any, seat: Any, cf_values: Any) -> Any:
    """Adds each leaf's payoff to ``seat``, times the reach probability of chance and the others, to its last sequence.

    Adds to ``cf_values (S,)``; returns the sum over leaves at which the seat had no decision. ``weighted_payoff (L, n)`` as in
    :class:`~.tree.Tree`.
    """
    without_decision = 0.0
    for leaf in range(weighted_payoff.shape[0]):
        value = weighted_payoff[leaf, seat]
        for other in range(weighted_payoff.shape[1]):
            if other != seat and leaves.last[leaf, other] >= 0:
                value *= plan[leaves.last[leaf, other]]
        if leaves.last[leaf, seat] >= 0:
            cf_values[leaves.last[leaf, seat]] += value
        else:
            without_decision += value
    return without_decision


@jit
def maximize(infosets: Any, seat: Any, cf_values: Any, choice: Any) -> Any:
    """Writes the best sequence at each information set of ``seat`` into ``choice (I,)``; returns the value of them all.

    ``cf_values (S,)`` holds what :func:`add_counterfactual_values` added. Backward induction: the last information sets come
    first, and the value of each is added to the sequence before it.
    """
    total = 0.0
    for infoset in range(infosets.seat.size - 1, -1, -1):
        if infosets.seat[infoset] == seat:
            choice[infoset] = best_sequence(infosets, cf_values, infoset)
            value = cf_values[choice[infoset]]
            if infosets.previous[infoset] >= 0:
                cf_values[infosets.previous[infoset]] += value
            else:
                total += value
    return total


@jit
def best_sequence(infosets: Any, cf_values: Any, infoset: Any) -> Any:
    """Returns the sequence of ``infoset`` with the greatest value, the first of equal ones."""
    best = infosets.start[infoset]
    for sequence in range(best + 1, infosets.start[infoset + 1]):
        if cf_values[sequence] > cf_values[best]:
            best = sequence
    return best


def check_policy(tree: Tree, policy: NDArray[np.float64]) -> None:
    """Raises :class:`AgentError` unless ``policy`` holds probabilities for the sequences of ``tree``."""
    if policy.shape != (tree.num_sequences,) or policy.dtype != np.float64:
        raise AgentError(f"A policy on this tree is ({tree.num_sequences},) float64, not {policy.shape} {policy.dtype}.")
    total = np.add.reduceat(policy, tree.infosets.start[:-1]) if policy.size else policy
    if not (policy >= 0).all() or not (np.abs(total - 1) < TOLERANCE).all():
        raise AgentError("A policy holds probabilities, which sum to 1 in each information set; these do not.")


TOLERANCE = 1e-6
"""How far from 1 the probabilities at an information set may sum: networks compute them in 32 bits."""


def values(tree: Tree, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns each seat's value where all follow ``policy``, ``(n,)``."""
    return _reach(tree, policy) @ tree.weighted_payoff


def values_in_order(tree: Tree, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the values ``(n,)`` of the seat that begins and of the seats after it, in order, where all follow ``policy``."""
    n = tree.setup.players
    seats = (tree.first[tree.leaves.opening, None] + np.arange(n)) % n
    ordered: NDArray[np.float64] = _reach(tree, policy) @ np.take_along_axis(tree.weighted_payoff, seats, axis=1)
    return ordered


def _reach(tree: Tree, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the probability that all play to each leaf by ``policy``, ``(L,)``, chance aside."""
    check_policy(tree, policy)
    plan, reach = np.zeros(tree.num_sequences), np.zeros(len(tree.weighted_payoff))
    realization_plan(tree.infosets, policy, plan)
    reach_leaves(tree.leaves, plan, reach)
    return reach


def best_response(tree: Tree, policy: NDArray[np.float64], seat: int) -> tuple[float, NDArray[np.int64]]:
    """Returns the value of ``seat`` by a best response, where the other seats follow ``policy``, and that response.

    The response ``(J,)`` is the sequence chosen at each of the seat's information sets, ascending.
    """
    check_policy(tree, policy)
    plan, cf_values = np.zeros(tree.num_sequences), np.zeros(tree.num_sequences)
    choice = np.full(tree.num_infosets, -1, np.int64)
    realization_plan(tree.infosets, policy, plan)
    without_decision = add_counterfactual_values(tree.leaves, tree.weighted_payoff, plan, seat, cf_values)
    value = without_decision + maximize(tree.infosets, seat, cf_values, choice)
    return float(value), choice[tree.infosets.seat == seat]


@dataclass(frozen=True)
class BestResponseGains:
    """How far a policy that all seats follow is from an equilibrium, in the game's unit a round."""

    values: NDArray[np.float64]
    """``(n,)`` each seat's value where all follow the policy."""
    responses: NDArray[np.float64]
    """``(n,)`` each seat's value by a best response where the others follow the policy."""
    constant_sum: bool
    """Whether the seats' payoffs always add up to the same number."""

    @property
    def gains(self) -> NDArray[np.float64]:
        """``(n,)`` each seat's best-response gain: what it gains by a best response."""
        return self.responses - self.values

    @property
    def nash_conv(self) -> float:
        """NashConv, the sum of all seats' gains (Lanctot et al. 2017): 0 exactly in an equilibrium."""
        return float(self.gains.sum())

    @property
    def mean_gain(self) -> float:
        """The mean over seats of the best-response gain, NashConv / n."""
        return self.nash_conv / len(self.values)

    @property
    def exploitability(self) -> float | None:
        """NashConv / 2 with two seats and a constant sum: what a best opponent wins beyond the game's value, over both seats.

        None in other games, where several opponents may do more together, or gain what nobody loses.
        """
        return self.mean_gain if len(self.values) == 2 and self.constant_sum else None


def best_response_gains(tree: Tree, policy: NDArray[np.float64]) -> BestResponseGains:
    """Returns what each seat gains by a best response where the others follow ``policy``."""
    responses = [best_response(tree, policy, seat)[0] for seat in range(tree.setup.players)]
    return BestResponseGains(values(tree, policy), np.array(responses), tree.constant_sum)
