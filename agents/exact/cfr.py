"""Equilibria by CFR+ (Tammelin 2014; Bowling, Burch, Johanson and Tammelin 2015).

The seats learn in turn. Each takes its actions in proportion to their regrets, which are never let fall below 0; the answer is
the average of its policies so far, that of iteration t weighed by t. With two seats it comes as near to an equilibrium as one
likes; with more nothing is promised, and :func:`~.response.exploitability` says what came of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.jit import jit

from .response import add_worth, exploitability, follow_through
from .tree import Tree

ROUNDING = 1e-12
"""Regrets below this are 0: where actions are equally good, play is uniform, and not wherever rounding has left something."""


@jit
def match_regrets(infosets: Any, regret: Any, seat: Any, policy: Any) -> None:
    """The policy of ``seat``: in proportion to its regrets, uniform where it has none."""
    for infoset in range(infosets.seat.size):
        if infosets.seat[infoset] == seat:
            begin, end = infosets.start[infoset], infosets.start[infoset + 1]
            total = 0.0
            for slot in range(begin, end):
                total += regret[slot]
            for slot in range(begin, end):
                policy[slot] = regret[slot] / total if total > 0.0 else 1.0 / (end - begin)


@jit
def add_regrets(infosets: Any, seat: Any, policy: Any, worth: Any, regret: Any) -> None:
    """Add what each action of ``seat`` would have made more than its policy; ``worth (S,)`` as ``response.add_worth`` brought it.

    The seat's last decisions come first, and what the policy makes of them is brought on to the slot before.
    """
    for infoset in range(infosets.seat.size - 1, -1, -1):
        if infosets.seat[infoset] == seat:
            begin, end = infosets.start[infoset], infosets.start[infoset + 1]
            value = 0.0
            for slot in range(begin, end):
                value += policy[slot] * worth[slot]
            for slot in range(begin, end):
                regret[slot] += worth[slot] - value
                if regret[slot] < ROUNDING:  # the + of CFR+
                    regret[slot] = 0.0
            if infosets.previous[infoset] >= 0:
                worth[infosets.previous[infoset]] += value


@jit
def add_policy(infosets: Any, seat: Any, weight: Any, plan: Any, total: Any) -> None:
    """Add the policy of ``seat``, by ``weight`` and by how likely it plays to each information set: by its ``plan``."""
    for slot in range(plan.size):
        if infosets.seat[infosets.of[slot]] == seat:
            total[slot] += weight * plan[slot]


@dataclass(frozen=True)
class Equilibrium:
    """What :func:`cfr_plus` gives."""

    policy: NDArray[np.float64]
    """``(S,)`` the average policy."""
    iterations: NDArray[np.int64]
    """``(C,)`` after how many iterations it was looked at."""
    exploitability: NDArray[np.float64]
    """``(C,)`` a seat's mean gain by leaving it (``Exploitability.mean``) then."""
    values: NDArray[np.float64]
    """``(n,)`` what each seat makes by it."""


def average(tree: Tree, total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of slots ``(S,)`` as a policy; uniform at information sets that its seat never plays to."""
    sums = np.add.reduceat(total, tree.infosets.start[:-1])[tree.infosets.of]
    return np.where(sums > 0, total / np.where(sums > 0, sums, 1), tree.uniform())


def cfr_plus(
    tree: Tree,
    iterations: int,
    *,
    every: int = 100,
    target: float = 0.0,
    progress: Callable[[int, float], object] | None = None,
) -> Equilibrium:
    """The average policy after so many iterations, or where its exploitability is at most ``target``.

    It is looked at ``every`` so many iterations and at the end, and ``progress`` is told the iteration and the exploitability.
    """
    if iterations < 1 or every < 1:
        raise AgentError(f"There is at least 1 iteration, and 1 between two looks; not {iterations!r} and {every!r}.")
    if not tree.num_infosets:
        raise AgentError("Nobody has a choice on this tree: there is nothing to learn.")
    infosets, paid = tree.infosets, tree.paid
    policy, regret, total = tree.uniform(), np.zeros(tree.num_slots), np.zeros(tree.num_slots)
    plan, worth = np.zeros(tree.num_slots), np.zeros(tree.num_slots)
    follow_through(infosets, policy, plan)
    looks: list[int] = []
    found: list[float] = []
    done = 0
    while True:
        for t in range(done + 1, min(done + every, iterations) + 1):
            for seat in range(tree.setup.players):
                add_policy(infosets, seat, float(t), plan, total)
                worth[:] = 0
                add_worth(tree.leaves, paid, plan, seat, worth)
                add_regrets(infosets, seat, policy, worth, regret)
                match_regrets(infosets, regret, seat, policy)
                follow_through(infosets, policy, plan)
            done = t
        mean = average(tree, total)
        gains = exploitability(tree, mean)
        looks.append(done)
        found.append(gains.mean)
        if progress is not None:
            progress(done, gains.mean)
        if done == iterations or gains.mean <= target:
            return Equilibrium(mean, np.array(looks), np.array(found), gains.values)
