"""Equilibria by CFR+ (Tammelin 2014; Bowling, Burch, Johanson and Tammelin 2015).

The seats are updated in turn. Each plays by regret matching on its counterfactual regrets, which are kept at 0 or above; the
result is the average of its policies, weighted linearly by iteration. With two seats the average converges to an equilibrium;
with more there is no guarantee, and :func:`~.response.best_response_gains` measures the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.errors import AgentError

from .response import add_counterfactual_values, best_response_gains, realization_plan
from .tree import Tree

ROUNDING = 1e-12
"""Regrets below this are set to 0, so that rounding errors do not decide between actions that are equally good."""


@jit
def match_regrets(infosets: Any, regret: Any, seat: Any, policy: Any) -> None:
    """Writes the policy of ``seat``: in proportion to its regrets, uniform where all are 0."""
    for infoset in range(infosets.seat.size):
        if infosets.seat[infoset] == seat:
            begin, end = infosets.start[infoset], infosets.start[infoset + 1]
            total = 0.0
            for sequence in range(begin, end):
                total += regret[sequence]
            for sequence in range(begin, end):
                policy[sequence] = regret[sequence] / total if total > 0.0 else 1.0 / (end - begin)


@jit
def add_regrets(infosets: Any, seat: Any, policy: Any, cf_values: Any, regret: Any) -> None:
    """Adds the counterfactual regret of each action of ``seat``; ``cf_values (S,)`` is from ``add_counterfactual_values``.

    Backward induction: the seat's last information sets come first, and the policy's value at each is added to the sequence
    before it.
    """
    for infoset in range(infosets.seat.size - 1, -1, -1):
        if infosets.seat[infoset] == seat:
            begin, end = infosets.start[infoset], infosets.start[infoset + 1]
            value = 0.0
            for sequence in range(begin, end):
                value += policy[sequence] * cf_values[sequence]
            for sequence in range(begin, end):
                regret[sequence] += cf_values[sequence] - value
                if regret[sequence] < ROUNDING:  # the + of CFR+
                    regret[sequence] = 0.0
            if infosets.previous[infoset] >= 0:
                cf_values[infosets.previous[infoset]] += value


@jit
def add_policy(infosets: Any, seat: Any, weight: Any, plan: Any, total: Any) -> None:
    """Adds the realization plan of ``seat``, times ``weight``, to ``total (S,)``."""
    for sequence in range(plan.size):
        if infosets.seat[infosets.of[sequence]] == seat:
            total[sequence] += weight * plan[sequence]


@dataclass(frozen=True)
class Equilibrium:
    """The result of :func:`cfr_plus`."""

    policy: NDArray[np.float64]
    """``(S,)`` the average policy."""
    iterations: NDArray[np.int64]
    """``(C,)`` the iterations at which the average policy was evaluated."""
    nash_conv: NDArray[np.float64]
    """``(C,)`` its NashConv there."""
    values: NDArray[np.float64]
    """``(n,)`` each seat's value."""


def average(tree: Tree, total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns summed plans ``(S,)`` as a policy; uniform at information sets that the seat never plays to."""
    sums = np.add.reduceat(total, tree.infosets.start[:-1])[tree.infosets.of]
    return np.where(sums > 0, total / np.where(sums > 0, sums, 1), tree.uniform())


def cfr_plus(
    tree: Tree,
    iterations: int,
    *,
    every: int = 100,
    progress: Callable[[int, float], object] | None = None,
) -> Equilibrium:
    """Returns the average policy after ``iterations``, or earlier if its NashConv is 0.

    It is evaluated after each ``every`` iterations and at the end; ``progress`` is called with the iteration and NashConv.
    """
    if iterations < 1 or every < 1:
        raise AgentError(f"The numbers of iterations and between evaluations are at least 1, not {iterations!r} and {every!r}.")
    if not tree.num_infosets:
        raise AgentError("The tree has no decisions, so there is nothing to learn.")
    infosets, weighted_payoff = tree.infosets, tree.weighted_payoff
    policy, regret, total = tree.uniform(), np.zeros(tree.num_sequences), np.zeros(tree.num_sequences)
    plan, cf_values = np.zeros(tree.num_sequences), np.zeros(tree.num_sequences)
    realization_plan(infosets, policy, plan)
    evaluated: list[int] = []
    nash_conv: list[float] = []
    done = 0
    while True:
        for t in range(done + 1, min(done + every, iterations) + 1):
            for seat in range(tree.setup.players):
                add_policy(infosets, seat, float(t), plan, total)
                cf_values[:] = 0
                add_counterfactual_values(tree.leaves, weighted_payoff, plan, seat, cf_values)
                add_regrets(infosets, seat, policy, cf_values, regret)
                match_regrets(infosets, regret, seat, policy)
                realization_plan(infosets, policy, plan)
            done = t
        mean = average(tree, total)
        gains = best_response_gains(tree, mean)
        evaluated.append(done)
        nash_conv.append(gains.nash_conv)
        if progress is not None:
            progress(done, gains.nash_conv)
        if done == iterations or gains.nash_conv <= 0:
            return Equilibrium(mean, np.array(evaluated), np.array(nash_conv), gains.values)
