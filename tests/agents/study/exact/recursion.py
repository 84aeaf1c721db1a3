"""The value of an agent's policy and of a best response to it, by plain recursion over lines of play: a slow twin of the tree.

A state is the list of actions since the opening, replayed on one table at a time. What a seat knows is the tuple of its own
observations and actions. For a best response all lines that the seat cannot distinguish are followed together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

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
    """One opening, ``table``, under one setup."""

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
