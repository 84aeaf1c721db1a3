"""Named observation slots: the one place where an offset into an observation is worked out.

A game declares its slots in order, once; its encoder writes them in that order; views by name, the table
in the docs, the scale that networks divide by, and the fingerprint that checkpoints carry all derive
from the declaration.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Feature:
    """One named stretch of an observation."""

    name: str
    """Name, unique in its layout."""
    shape: tuple[int, ...]
    """Shape of the view; its bytes are written in C order."""
    meaning: str
    """What the numbers say, and how they are coded, in a sentence."""
    high: int = 1
    """Largest value (``uint8``) that is ever written."""
    scale: float = 1.0
    """A network sees ``(value - zero) / scale``."""
    zero: int = 0
    """The value that stands for nothing (128 where signed numbers are coded)."""
    private: bool = False
    """Whether only the observer may know this."""
    fingerprint_name: str | None = None
    """An older name that stays in the fingerprint, so that a renamed feature keeps its checkpoints; None: ``name``."""

    @property
    def size(self) -> int:
        """Number of bytes."""
        return int(np.prod(self.shape, dtype=np.int64))


class Layout:
    """The slots of an observation, a ``uint8`` vector of ``size`` bytes."""

    def __init__(self, slots: tuple[Feature, ...]) -> None:
        self.slots = slots
        self._range: dict[str, slice] = {}
        at = 0
        for slot in slots:
            if slot.name in self._range:
                raise ValueError(f"slot {slot.name!r} is declared twice")
            self._range[slot.name] = slice(at, at + slot.size)
            at += slot.size
        self.size: int = at
        """Length of an observation in bytes."""

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.slots)

    def __getitem__(self, name: str) -> Feature:
        for slot in self.slots:
            if slot.name == name:
                return slot
        raise KeyError(f"no slot {name!r}; there are {', '.join(self._range)}")

    def where(self, name: str) -> slice:
        """The bytes of slot ``name``."""
        self[name]
        return self._range[name]

    def view(self, observation: NDArray[Any], name: str) -> NDArray[Any]:
        """Slot ``name`` of ``observation`` (shape ``(..., size)``) as a view of shape ``(..., *slot.shape)``."""
        part = observation[..., self.where(name)]
        return part.reshape(*observation.shape[:-1], *self[name].shape)

    def views(self, observation: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """All slots by name, as :meth:`view` gives them."""
        return {slot.name: self.view(observation, slot.name) for slot in self.slots}

    @cached_property
    def private(self) -> NDArray[np.int64]:
        """Indices of the bytes that only the observer may know, ascending."""
        spans = [self._range[slot.name] for slot in self.slots if slot.private]
        return np.concatenate([np.arange(0), *(np.arange(span.start, span.stop) for span in spans)]).astype(np.int64)

    def omniscient(self, players: int) -> Layout:
        """The slots of an observation with the private slots of all other seats after them, relative seats 1, 2, …"""
        others = [
            dataclasses.replace(slot, name=f"{slot.name}_of_{rel}", meaning=f"{slot.meaning}: relative seat {rel}'s")
            for rel in range(1, players)
            for slot in self.slots
            if slot.private
        ]
        return Layout((*self.slots, *others))

    @cached_property
    def high(self) -> NDArray[np.uint8]:
        """Largest value of each byte, shape ``(size,)``."""
        return np.concatenate([np.full(slot.size, slot.high, np.uint8) for slot in self.slots])

    @cached_property
    def zero(self) -> NDArray[np.float32]:
        """What a network subtracts from each byte, shape ``(size,)``."""
        return np.concatenate([np.full(slot.size, slot.zero, np.float32) for slot in self.slots])

    @cached_property
    def scale(self) -> NDArray[np.float32]:
        """What a network divides each byte by after that, shape ``(size,)``."""
        return np.concatenate([np.full(slot.size, slot.scale, np.float32) for slot in self.slots])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names, shapes and codings, in order: equal only where observations mean the same."""
        text = ";".join(f"{s.fingerprint_name or s.name}:{s.shape}:{s.high}:{s.zero}:{s.scale}" for s in self.slots)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def markdown(self) -> str:
        """The table for the docs."""
        lines = ["| bytes | slot | shape | 0 .. | meaning |", "|---|---|---|---|---|"]
        for slot in self.slots:
            span = self._range[slot.name]
            shape = "×".join(map(str, slot.shape))
            lines.append(f"| {span.start}–{span.stop - 1} | `{slot.name}` | {shape} | {slot.high} | {slot.meaning} |")
        return "\n".join(lines) + "\n"
