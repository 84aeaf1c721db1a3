"""Agents of which one knows what they were asked, for the tests of the arena."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch


class First:
    """The lowest-numbered legal action; remembers the hands that it saw."""

    def __init__(self, name: str = "first") -> None:
        self.name = name
        self.asked = 0
        self.hands: set[tuple[int, int]] = set()

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        self.asked += len(decisions.index)
        if "hand" in (decisions.tables.dtype.names or ()):  # a field of games with cards in hand
            self.hands |= {(int(row.seat), int(row.hand[row.seat])) for row in decisions.tables}
        word: NDArray[np.int64] = decisions.legal & -decisions.legal
        return np.round(np.log2(word.astype(np.float64))).astype(np.int64)


class Last(First):
    """The highest-numbered one."""

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        self.asked += len(decisions.index)
        return np.array([int(word).bit_length() - 1 for word in decisions.legal], np.int64)


class Chance(First):
    """Random, and remembers the first numbers that it was given."""

    def __init__(self, name: str = "chance") -> None:
        super().__init__(name)
        self.drawn: list[float] = []

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        numbers = rng.random(len(decisions.index))
        self.drawn.append(float(numbers[0]))
        choices = [[a for a in range(63) if int(word) >> a & 1] for word in decisions.legal]
        return np.array([c[int(x * len(c))] for c, x in zip(choices, numbers, strict=True)], np.int64)


class Answers:
    """Gives whatever it was told to give."""

    name = "answers"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> Any:
        return self.answer(decisions) if callable(self.answer) else self.answer
