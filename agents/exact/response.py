"""What a policy is worth on a tree, and what the best answers to it are worth: exactly.

A policy is ``(S,) float64``, a probability for each slot of the tree's information sets. Values are per seat, in the game's unit
a round (cards, chips), less the mean over the seats: so the seats' values sum to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.jit import jit

from .tree import Tree


@jit
def follow_through(infosets: Any, policy: Any, plan: Any) -> None:
    """How likely each seat's own choices come to take each slot, where nothing else stops it, into ``plan (S,)``."""
    for slot in range(plan.size):
        before = infosets.previous[infosets.of[slot]]
        plan[slot] = policy[slot] * plan[before] if before >= 0 else policy[slot]


@jit
def reach_leaves(leaves: Any, plan: Any, reach: Any) -> None:
    """How likely all seats together play to each end, chance aside, into ``reach (L,)``."""
    for leaf in range(reach.size):
        reach[leaf] = 1.0
        for slot in leaves.last[leaf]:
            if slot >= 0:
                reach[leaf] *= plan[slot]


@jit
def add_worth(leaves: Any, paid: Any, plan: Any, seat: Any, worth: Any) -> Any:
    """Bring what the ends pay ``seat``, by how likely chance and the others play there, to the slot that it took last before.

    Adds to ``worth (S,)``; gives what is paid where the seat is never asked. ``paid (L, n)`` as in :class:`~.tree.Tree`.
    """
    unasked = 0.0
    for leaf in range(paid.shape[0]):
        value = paid[leaf, seat]
        for other in range(paid.shape[1]):
            if other != seat and leaves.last[leaf, other] >= 0:
                value *= plan[leaves.last[leaf, other]]
        if leaves.last[leaf, seat] >= 0:
            worth[leaves.last[leaf, seat]] += value
        else:
            unasked += value
    return unasked


@jit
def answer(infosets: Any, seat: Any, worth: Any, choice: Any) -> Any:
    """The best choice of ``seat`` at each of its information sets, as a slot, into ``choice (I,)``; gives what they all make.

    ``worth (S,)`` holds what :func:`add_worth` brought. Its last decisions are settled first, and what they are worth is brought
    on to the slot before.
    """
    total = 0.0
    for infoset in range(infosets.seat.size - 1, -1, -1):
        if infosets.seat[infoset] == seat:
            choice[infoset] = best_slot(infosets, worth, infoset)
            value = worth[choice[infoset]]
            if infosets.previous[infoset] >= 0:
                worth[infosets.previous[infoset]] += value
            else:
                total += value
    return total


@jit
def best_slot(infosets: Any, worth: Any, infoset: Any) -> Any:
    """The slot of ``infoset`` that is worth most, the first of equal ones."""
    best = infosets.start[infoset]
    for slot in range(best + 1, infosets.start[infoset + 1]):
        if worth[slot] > worth[best]:
            best = slot
    return best


@dataclass(frozen=True)
class Response:
    """A best answer of one seat to a policy of the others."""

    value: float
    """What the seat makes by it."""
    slots: NDArray[np.int64]
    """``(J,)`` the slot it takes at each of the seat's information sets, ascending."""


def check_policy(tree: Tree, policy: NDArray[np.float64]) -> None:
    """Raises :class:`AgentError` unless ``policy`` holds probabilities for the slots of ``tree``."""
    if policy.shape != (tree.num_slots,) or policy.dtype != np.float64:
        raise AgentError(f"A policy on this tree is ({tree.num_slots},) float64, not {policy.shape} {policy.dtype}.")
    total = np.add.reduceat(policy, tree.infosets.start[:-1]) if policy.size else policy
    if not (policy >= 0).all() or not (np.abs(total - 1) < SLACK).all():
        raise AgentError("A policy holds probabilities, which sum to 1 in each information set; these do not.")


SLACK = 1e-6
"""How far from 1 the probabilities at an information set may sum: networks give them in 32 bits."""


def values(tree: Tree, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each seat makes where all follow ``policy``, ``(n,)``."""
    return _reach(tree, policy) @ tree.paid


def value_to_first(tree: Tree, policy: NDArray[np.float64]) -> float:
    """What the seat that is asked first makes where all follow ``policy``, over all openings."""
    reach = _reach(tree, policy)
    first = tree.first[tree.leaves.opening]
    asked = np.flatnonzero(first >= 0)  # or it was over when it began
    return float(reach[asked] @ tree.paid[asked, first[asked]])


def _reach(tree: Tree, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely all play to each end by ``policy``, ``(L,)``, chance aside."""
    check_policy(tree, policy)
    plan, reach = np.zeros(tree.num_slots), np.zeros(len(tree.paid))
    follow_through(tree.infosets, policy, plan)
    reach_leaves(tree.leaves, plan, reach)
    return reach


def best_response(tree: Tree, policy: NDArray[np.float64], seat: int) -> Response:
    """The most that ``seat`` can make where the others follow ``policy``."""
    check_policy(tree, policy)
    plan, worth = np.zeros(tree.num_slots), np.zeros(tree.num_slots)
    choice = np.full(tree.num_infosets, -1, np.int64)
    follow_through(tree.infosets, policy, plan)
    unasked = add_worth(tree.leaves, tree.paid, plan, seat, worth)
    value = unasked + answer(tree.infosets, seat, worth, choice)
    return Response(float(value), choice[tree.infosets.seat == seat])


def follow(tree: Tree, policy: NDArray[np.float64], seat: int, response: Response) -> NDArray[np.float64]:
    """``policy`` with ``response`` at the information sets of ``seat``."""
    mixed = policy.copy()
    mixed[tree.infosets.seat[tree.infosets.of] == seat] = 0
    mixed[response.slots] = 1
    return mixed


@dataclass(frozen=True)
class Exploitability:
    """How far a policy is from an equilibrium, in the game's unit a round."""

    values: NDArray[np.float64]
    """``(n,)`` what each seat makes where all follow the policy."""
    responses: NDArray[np.float64]
    """``(n,)`` what each seat can make where the others follow it."""

    @property
    def gains(self) -> NDArray[np.float64]:
        """``(n,)`` what each seat gains by leaving the policy."""
        return self.responses - self.values

    @property
    def nash_conv(self) -> float:
        """All seats' gains together: 0 in an equilibrium and nowhere else."""
        return float(self.gains.sum())

    @property
    def mean(self) -> float:
        """A seat's mean gain, NashConv / n. With two seats: what a best opponent makes of the policy over the game's value."""
        return self.nash_conv / len(self.values)


def exploitability(tree: Tree, policy: NDArray[np.float64]) -> Exploitability:
    """How far ``policy`` is from an equilibrium."""
    responses = [best_response(tree, policy, seat).value for seat in range(tree.setup.players)]
    return Exploitability(values(tree, policy), np.array(responses))
