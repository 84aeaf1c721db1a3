"""Sets of bits."""

from __future__ import annotations

import numpy as np

from nainjaune_env.core.bits import count, lowest, nth_lowest, random_bit
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
