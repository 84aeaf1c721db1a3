"""Random damage: to bytes, and to values as JSON has them."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 7, 2**31, -(2**31), 2**63, 2**64, 10**40, 0.5, 1e300, "", "As", "7d~", "-", "djeco", "é",
    "\x1b[2J", "../../evil", "x" * 5000, "x" * 4000, [], [0], [[]], ["As"], [0, 0, 0, 0, 0], [[0, "As"]], {}, {"dealer": 0},
    {"": None},
)  # fmt: skip
"""Values to stand where others stood."""


INSERTED = (b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b"{", b"[" * 3000)
"""Bytes that text files do not expect."""


def flip_bit(data: bytes, rng: random.Random, *, end: int | None = None) -> bytes:
    """Returns ``data`` with one bit flipped, before byte ``end`` (None: anywhere)."""
    place = rng.randrange(len(data) if end is None else min(end, len(data)))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """Returns ``data`` with a bit flipped, or a piece cut out, doubled, zeroed, swapped, overwritten, or cut off."""
    if not data:
        return rng.randbytes(rng.randint(1, 20))
    first, last = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    if rng.random() < 0.5:
        last = min(last, first + rng.choice((1, 2, 8, 64)))
    piece = data[first:last]
    return rng.choice(
        [
            lambda: flip_bit(data, rng),
            lambda: flip_bit(data, rng),
            lambda: data[:first] + data[last:],
            lambda: data[:last] + piece + data[last:],
            lambda: data[:first] + bytes(len(piece)) + data[last:],
            lambda: data[:first] + piece[::-1] + data[last:],
            lambda: data[:first] + rng.randbytes(len(piece)) + data[last:],
            lambda: data[:first] + rng.choice(INSERTED) + data[first:],
            lambda: data[:first],
            lambda: data[first:],
        ]
    )()  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yields every (container, key) within ``value``."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def damage_value(value: Any, rng: random.Random, other: Any = None) -> Any:
    """Returns a copy of ``value`` (objects and lists) with one entry replaced, removed, doubled, swapped, moved or counted on.

    A part of ``other`` may stand in for it.
    """
    value = copy.deepcopy(value)
    # an outer entry is as likely as one of the thousands within a list
    container, key = value, rng.choice([*(value if isinstance(value, dict) else range(len(value)))])
    while isinstance(container[key], dict | list) and container[key] and rng.random() < 0.75:
        container = container[key]
        key = rng.choice([*(container if isinstance(container, dict) else range(len(container)))])
    old = container[key]
    kind = rng.randrange(8)
    if kind <= 1 and type(old) is int:
        container[key] = old + rng.choice((-1, 1, -1, 1, 2**31, -(2**40)))
    elif kind == 2 and isinstance(old, list) and old:
        rng.shuffle(old)
    elif kind == 3:
        del container[key]
    elif kind == 4 and isinstance(container, list):
        container.insert(rng.randrange(len(container) + 1), copy.deepcopy(old))
    elif kind == 4:
        container[rng.choice(("", "x", f"{key}s", "rounds", "legal"))] = copy.deepcopy(old)
    elif kind == 5 and isinstance(container, list):
        swapped = rng.randrange(len(container))
        container[key], container[swapped] = container[swapped], old
    elif kind == 6:
        source, place = rng.choice([*places(value if other is None else other)])
        container[key] = copy.deepcopy(source[place])
    else:
        container[key] = copy.deepcopy(rng.choice(JUNK))
    return value
