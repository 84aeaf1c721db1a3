"""Sets of bits."""

from __future__ import annotations

import numpy as np

from nainjaune_env.core.bits import are_legal, count, lowest, nth_lowest, random_bit
from tests.support.chi_square import surprising

WORD = np.int64(1 << 62 | 1 << 40 | 0b1011)


def test_bits_are_counted_and_found_from_the_lowest() -> None:
    assert count(WORD) == 5
    assert lowest(WORD) == 0
    assert [int(nth_lowest(WORD, n)) for n in range(5)] == [0, 1, 3, 40, 62]


def test_a_random_bit_is_any_of_them_alike() -> None:
    table = np.zeros(1, np.dtype((np.record, [("stage", np.int64), ("rng", np.uint64)])))[0]
    result = [int(random_bit(table, WORD)) for _ in range(5000)]
    assert not surprising({bit: result.count(bit) for bit in set(result)}, dict.fromkeys((0, 1, 3, 40, 62), 1.0))


def test_an_action_is_legal_in_its_own_set_whatever_integer_it_is() -> None:
    legal = np.array([0b1011, 0b1011, WORD, 1, -1, 1], np.int64)
    assert are_legal(legal, np.array([1, 2, 62, 0, 63, -1])).tolist() == [True, False, True, True, False, False]
    assert are_legal(legal, np.array([1, 64, 2**63, 2**64 - 64, 2**64 - 1, 0], np.uint64)).tolist() == [True, *[False] * 4, True]
    assert are_legal(legal[::2], np.array([2, 2, 2], np.int8)).tolist() == [False, False, True]
