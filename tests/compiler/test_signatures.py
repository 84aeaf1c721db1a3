"""The signatures of calls, and arguments as words."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pytest

from nainjaune_env.compiler.signatures import dtype_name, example_of, from_json, signature_of, type_of, words_of
from nainjaune_env.registry import game_names, get_game

RECORD = np.dtype([("rng", np.uint64), ("hand", np.int16, (3,))], align=True)


class Pair(NamedTuple):
    first: Any
    second: Any


VALUES = [
    None,
    True,
    -3,
    np.int64(7),
    np.uint64(2**63 + 1),
    2.5,
    np.zeros(4, np.int64),
    np.zeros((4, 4), np.uint8)[:, ::2],
    np.zeros((4, 4), np.float32, order="F"),
    np.zeros(4, RECORD),
    np.zeros(4, RECORD)[1],
    (1, (2.5, None)),
    Pair(np.zeros(4, np.bool_), Pair(1, None)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_an_example_of_a_signature_has_that_signature(value: Any) -> None:
    entry = type_of(value)
    assert from_json(json.loads(json.dumps(entry))) == entry
    assert type_of(example_of(entry, {dtype_name(RECORD): RECORD})) == entry


def test_what_numba_compiles_apart_has_another_signature() -> None:
    array = np.zeros((4, 4), np.int64)
    fixed = array.copy()
    fixed.flags.writeable = False
    others: list[Any] = [
        array[:, ::2],
        np.asfortranarray(array),
        array[0],
        array.astype(np.int32),
        fixed,
        1,
        1.0,
        True,
        None,
        (1,),
    ]
    others += [Pair(1, 1), (1, 1), np.uint64(1)]
    assert len({signature_of((value,)) for value in [array, *others]}) == 1 + len(others)


def test_an_array_is_its_address_shape_and_strides() -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    part = array[1:, ::2]
    assert [*words_of(part)] == [array.ctypes.data + 16, 2, 2, 16, 8]
    assert [*words_of(array)] == [array.ctypes.data, 3, 4, 16, 4]


def test_a_record_is_the_address_of_its_row() -> None:
    rows = np.zeros(3, RECORD)
    assert [*words_of(rows[2])] == [rows.ctypes.data + 2 * RECORD.itemsize]


def test_numbers_are_their_bits() -> None:
    words = [*words_of((1.0, np.uint64(2**64 - 1), -1, False, None))]
    assert words == [0x3FF0000000000000, -1, -1, 0]


def test_the_tables_of_games_have_names_of_their_own() -> None:
    names = {dtype_name(get_game(name).table) for name in game_names()}
    assert len(names) == len(game_names())
