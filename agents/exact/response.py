"""What a policy is worth on a tree, and what the best answers to it are worth: exactly.

A policy is ``(S,) float64``, a probability for each slot of the tree's information sets. Values are per seat, in the game's unit
a round (cards, chips), less the mean over the seats: so the seats' values sum to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.errors import AgentError
from nainjaune_env.jit import jit

from .tree import Tree


@jit
def reach_without(nodes: Any, weight: Any, policy: Any, seat: Any, reach: Any) -> None:
    """How likely chance and all but ``seat`` play to each node, where ``seat`` plays to it, into ``reach (M,)``; -1: all play."""
    for node in range(nodes.parent.size):
        parent = nodes.parent[node]
        if parent < 0:
            reach[node] = weight[node]
        else:
            reach[node] = reach[parent] * (1.0 if nodes.seat[parent] == seat else policy[nodes.slot[node]])


@jit
def decisions_above(nodes: Any, seat: Any, group: Any) -> None:
    """How many decisions of ``seat`` lie above each node, into ``group (M,)``."""
    for node in range(nodes.parent.size):
        parent = nodes.parent[node]
        group[node] = group[parent] + (nodes.seat[parent] == seat) if parent >= 0 else 0


@jit
def answer(nodes: Any, infosets: Any, order: Any, group: Any, seat: Any, reach: Any, value: Any, worth: Any, choice: Any) -> None:
    """The best choice of ``seat`` at each of its information sets, as a slot, into ``choice (I,)``, which begins at -1.

    ``order (M,)`` are the nodes by their ``group (M,)``, how many decisions of ``seat`` lie above. Its last decisions are settled
    first, each from all nodes of its information set, wherever in the tree they stand. ``reach (M,)`` is that of the others;
    ``value (M,)`` becomes what each node, and ``worth (S,)`` what each slot is worth to ``seat``, weighed by it.
    """
    for node in range(nodes.parent.size):
        value[node] = reach[node] * nodes.net[node, seat]
    for slot in range(worth.size):
        worth[slot] = 0.0
    end = order.size
    while end > 0:
        begin = end
        while begin > 0 and group[order[begin - 1]] == group[order[end - 1]]:
            begin -= 1
        for k in range(end - 1, begin - 1, -1):  # from the deepest up: all below a node is settled
            node = order[k]
            parent = nodes.parent[node]
            if parent >= 0 and nodes.seat[parent] == seat:
                worth[nodes.slot[node]] += value[node]
            elif parent >= 0:
                value[parent] += value[node]
        for k in range(begin, end):  # and now the decisions that lead into this group
            node = order[k]
            parent = nodes.parent[node]
            if parent >= 0 and nodes.seat[parent] == seat:
                infoset = nodes.infoset[parent]
                if choice[infoset] < 0:
                    choice[infoset] = best_slot(infosets, worth, infoset)
                if nodes.slot[node] == choice[infoset]:
                    value[parent] = value[node]
        end = begin


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
    check_policy(tree, policy)
    reach = np.zeros(tree.size)
    reach_without(tree.nodes, tree.weight, policy, -1, reach)
    return reach @ tree.nodes.net


def value_to_first(tree: Tree, policy: NDArray[np.float64]) -> float:
    """What the seat that is asked first makes where all follow ``policy``, over all openings."""
    check_policy(tree, policy)
    nodes = tree.nodes
    root = np.where(nodes.parent < 0, np.arange(tree.size), nodes.parent)
    while (root != root[root]).any():  # twice as far up each time
        root = root[root]
    first = nodes.seat[root]
    reach = np.zeros(tree.size)
    reach_without(nodes, tree.weight, policy, -1, reach)
    asked = first >= 0  # or it was over when it began
    return float(reach[asked] @ nodes.net[asked, first[asked]])


def best_response(tree: Tree, policy: NDArray[np.float64], seat: int) -> Response:
    """The most that ``seat`` can make where the others follow ``policy``."""
    check_policy(tree, policy)
    size = tree.size
    reach, value, worth = np.zeros(size), np.zeros(size), np.zeros(tree.num_slots)
    group, choice = np.zeros(size, np.int64), np.full(tree.num_infosets, -1, np.int64)
    reach_without(tree.nodes, tree.weight, policy, seat, reach)
    decisions_above(tree.nodes, seat, group)
    order = np.argsort(group, kind="stable")
    answer(tree.nodes, tree.infosets, order, group, seat, reach, value, worth, choice)
    return Response(float(value[: len(tree.weight)].sum()), choice[tree.infosets.seat == seat])


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
