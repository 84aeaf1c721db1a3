"""Named tuples of integers as one array, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nainjaune_env import game_names, get_game
from nainjaune_env.compiler.packed import lengths, pack, packer, unpacker


class Inner(NamedTuple):
    a: int
    b: tuple[int, ...]


class Outer(NamedTuple):
    inner: Inner
    c: int
    d: tuple[int, ...]


def test_what_is_unpacked_is_what_was_packed() -> None:
    values = Outer(Inner(1, (2, 3)), -4, (1 << 62,)), Inner(5, ())
    numbers = pack(*values)
    assert numbers.dtype == np.int64
    assert numbers.tolist() == [1, 2, 3, -4, 1 << 62, 5]
    outer, inner = unpacker(*values)(numbers)
    assert (outer, inner) == values
    assert (type(outer), type(outer.inner), type(inner)) == (Outer, Inner, Inner)
    assert unpacker(*values)(numbers[::-1].copy())[0].c == 3  # an unpacker is for all values of these lengths


def test_lengths_tell_apart_what_needs_another_unpacker() -> None:
    assert lengths(Inner(1, (2, 3))) == lengths(Inner(4, (5, 6))) != lengths(Inner(1, (2, 3, 4)))


def test_the_rules_of_every_game_are_integers() -> None:
    for game in map(get_game, game_names()):
        rules = game.setup().kernel_rules
        assert unpacker(rules)(pack(rules)) == (rules,)


def test_a_packer_writes_what_pack_does() -> None:
    rules = get_game().setup().kernel_rules
    numbers = np.full(len(pack(rules)) + 1, -7, np.int64)
    packer(rules)(rules, numbers)
    assert numbers.tolist() == [*pack(rules), -7]
