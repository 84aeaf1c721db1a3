"""The named features of an observation; no other module computes an offset into one.

A game declares its features once, in order, and its encoder writes them in that order. Views by name, the table in the docs, the
scaling for networks and the fingerprint in checkpoints all derive from the declaration.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Feature:
    """A named part of an observation: contiguous bytes."""

    name: str
    """Name, unique in its layout."""
    shape: tuple[int, ...]
    """Shape of the view; its bytes are written in C order."""
    meaning: str
    """What the numbers mean and how they are coded, in a sentence."""
    high: int = 1
    """Largest value that is written, ``uint8``."""
    scale: float = 1.0
    """The input of a network is ``(value - zero) / scale``."""
    zero: int = 0
    """The value that codes zero (128 for signed numbers)."""
    private: bool = False
    """Whether only the observer may know this."""
    fingerprint_name: str | None = None
    """An older name used in the fingerprint, so that checkpoints from before a renaming still load; None: ``name``."""

    @property
    def size(self) -> int:
        """Number of bytes."""
        return int(np.prod(self.shape, dtype=np.int64))


class Layout:
    """The features of an observation, a ``uint8`` vector of ``size`` bytes."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self.features = features
        self._range: dict[str, slice] = {}
        at = 0
        for feature in features:
            if feature.name in self._range:
                raise ValueError(f"feature {feature.name!r} is declared twice")
            self._range[feature.name] = slice(at, at + feature.size)
            at += feature.size
        self.size: int = at
        """Length of an observation in bytes."""

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, name: str) -> Feature:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise KeyError(f"no feature {name!r}; there are {', '.join(self._range)}")

    def where(self, name: str) -> slice:
        """Returns the range of bytes of the feature ``name``; raises ``KeyError`` for an unknown name."""
        self[name]
        return self._range[name]

    def view(self, observation: NDArray[Any], name: str) -> NDArray[Any]:
        """Returns the feature ``name`` of ``observation (..., size)`` as a view of shape ``(..., *feature.shape)``."""
        part = observation[..., self.where(name)]
        return part.reshape(*observation.shape[:-1], *self[name].shape)

    def views(self, observation: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Returns views of all features by name."""
        return {feature.name: self.view(observation, feature.name) for feature in self.features}

    def _by_byte(self, name: str, dtype: type[T]) -> NDArray[T]:
        """Returns the attribute ``name`` of the feature of each byte, ``(size,)``."""
        values = np.array([getattr(feature, name) for feature in self.features], dtype)
        return np.repeat(values, np.array([feature.size for feature in self.features], np.int64))

    @cached_property
    def private(self) -> NDArray[np.int64]:
        """Indices of the bytes that only the observer may know, ascending, ``(P,)``."""
        return np.flatnonzero(self._by_byte("private", np.bool_))

    def omniscient(self, players: int) -> Layout:
        """Returns these features followed by the private features of all other seats, relative seats 1, 2, …"""
        others = [
            dataclasses.replace(feature, name=f"{feature.name}_of_{rel}", meaning=f"{feature.meaning}: relative seat {rel}'s")
            for rel in range(1, players)
            for feature in self.features
            if feature.private
        ]
        return Layout((*self.features, *others))

    @cached_property
    def high(self) -> NDArray[np.uint8]:
        """Largest value of each byte, ``(size,)``."""
        return self._by_byte("high", np.uint8)

    @cached_property
    def zero(self) -> NDArray[np.float32]:
        """``Feature.zero`` of each byte, ``(size,)``."""
        return self._by_byte("zero", np.float32)

    @cached_property
    def scale(self) -> NDArray[np.float32]:
        """``Feature.scale`` of each byte, ``(size,)``."""
        return self._by_byte("scale", np.float32)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names, shapes and codings in order: layouts with equal fingerprints have observations of the same meaning."""
        text = ";".join(f"{s.fingerprint_name or s.name}:{s.shape}:{s.high}:{s.zero}:{s.scale}" for s in self.features)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def markdown(self) -> str:
        """Returns the features as a Markdown table, for the docs."""
        lines = ["| bytes | feature | shape | largest value | meaning |", "|---|---|---|---|---|"]
        for feature in self.features:
            span = self._range[feature.name]
            shape = "×".join(map(str, feature.shape))
            lines.append(f"| {span.start}–{span.stop - 1} | `{feature.name}` | {shape} | {feature.high} | {feature.meaning} |")
        return "\n".join(lines) + "\n"
