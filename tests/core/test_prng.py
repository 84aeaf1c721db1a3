"""The random generator: known vectors, uniformity, streams."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import RowStreams, below, entropy, mix, next_word, streams
from tests.support.chi_square import surprising

# `rng` stands second: numba would take a record that begins as a game's does for that game's table, and warn
STATE = np.dtype((np.record, [("stage", np.int64), ("rng", np.uint64)]))

SPLITMIX64_FROM_0 = (
    0xE220A8397B1DCDAF,
    0x6E789E6AA1B965F4,
    0x06C45D188009454F,
    0xF88BB8A8724C81EC,
    0x1B39896A51A8749B,
)
"""The first outputs from the state 0, as published with the generator."""


def words(state: int, count: int) -> list[int]:
    """`count` outputs, worked out in unbounded integers."""
    cut, result = (1 << 64) - 1, []
    for _ in range(count):
        state = state + 0x9E3779B97F4A7C15 & cut
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & cut
        z = (z ^ z >> 27) * 0x94D049BB133111EB & cut
        result.append(z ^ z >> 31)
    return result


def generator(state: int) -> np.ndarray:
    table = np.zeros(1, STATE)
    table["rng"] = np.uint64(state)
    return table


@jit
def draw(tables: np.ndarray, bound: int, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = below(tables[0], bound)


def drawn(state: int, bound: int, count: int) -> np.ndarray:
    out = np.zeros(count, np.int64)
    draw(generator(state), bound, out)
    return out


def test_known_vectors() -> None:
    table = generator(0)
    assert tuple(int(next_word(table[0])) for _ in range(5)) == SPLITMIX64_FROM_0
    assert words(0, 5) == list(SPLITMIX64_FROM_0)


@pytest.mark.parametrize("state", [1, 1234567, 2**63, 2**64 - 1])
def test_any_state_wraps_as_unbounded_integers_do(state: int) -> None:
    table = generator(state)
    assert [int(next_word(table[0])) for _ in range(20)] == words(state, 20)


def test_mix_of_0_is_0_and_it_is_a_bijection_on_a_sample() -> None:
    assert mix(np.uint64(0)) == 0
    sample = [int(mix(np.uint64(i))) for i in range(2000)]
    assert len(set(sample)) == 2000


def is_uniform(numbers: Any, size: int) -> bool:
    return not surprising(Counter(np.asarray(numbers).tolist()), dict.fromkeys(range(size), 1.0))


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 8, 13, 52, 1000])
def test_draws_are_uniform_and_so_are_pairs_of_them(bound: int) -> None:
    draws = drawn(bound, bound, 200 * max(bound, 50))
    assert is_uniform(draws, bound)
    assert bound > 13 or is_uniform(draws[::2] * bound + draws[1::2], bound**2)


def test_first_draws_of_neighbouring_streams_are_uniform() -> None:
    assert is_uniform([drawn(int(state), 52, 1)[0] for state in streams(0, 5200)], 52)


def test_below_rejects_exactly() -> None:
    """Against Lemire's method in unbounded integers, at a bound where nearly half of the words are rejected."""
    bound = (1 << 31) + 1
    least = (1 << 32) % bound
    expected = []
    for word in words(9, 400):
        product = (word >> 32) * bound
        if product & 0xFFFFFFFF >= least:
            expected.append(product >> 32)
    assert len(expected) < 300
    assert drawn(9, bound, len(expected)).tolist() == expected


def test_streams_depend_on_seed_stream_and_place_alone() -> None:
    assert streams(5, 3).dtype == np.uint64
    assert np.array_equal(streams(5, 100)[:3], streams(5, 3))
    assert np.array_equal(streams(5, 3, stream=0), streams(5, 3))
    assert streams(5, 0).shape == (0,)


def test_streams_differ() -> None:
    many = np.concatenate([streams(seed, 500, stream) for seed in range(20) for stream in range(20)])
    assert np.unique(many).size == many.size
    # one stream's next state is not its neighbour's, as bare steps of the gamma would be
    with np.errstate(over="ignore"):
        after = streams(0, 1000) + np.uint64(0x9E3779B97F4A7C15)
    assert not np.isin(after, streams(0, 1000)).any()


@pytest.mark.parametrize("seed", [-1, 2**64, pytest.param(10**5000, id="huge"), 1.0, float("nan"), "1", None, True])
def test_what_is_no_seed_is_refused_in_a_sentence(seed: Any) -> None:
    with pytest.raises(DealError, match=rf"^A seed is a whole number from 0 to {2**64 - 1}, not .{{1,200}}\.$"):
        streams(seed, 4)


@pytest.mark.parametrize("kind", [int, np.uint64])
def test_every_state_is_a_seed(kind: Any) -> None:
    assert len({int(streams(kind(seed), 1)[0]) for seed in (0, 1, 2**63, 2**64 - 1)}) == 4


def test_entropy_is_another_seed_every_time() -> None:
    assert len({int(streams(entropy(), 1)[0]) for _ in range(3)}) == 3


def test_rows_are_drawn_from_their_own_generators() -> None:
    """In whatever shape, and whoever draws beside."""
    states = streams(5, 4)
    chosen = np.array([2, 0])
    rows = RowStreams(states, chosen)
    drawn = np.concatenate([rows.random(2)[:, None], rows.random((2, 3)), rows.random((2, 1, 2)).reshape(2, 2)], axis=1)
    assert states[[1, 3]].tolist() == streams(5, 4)[[1, 3]].tolist()
    for row, table in zip(drawn, chosen, strict=True):
        expected = [word >> 11 for word in words(int(streams(5, 4)[table]), 6)]
        assert (row * 2**53).tolist() == expected
    assert rows.random((2, 0)).shape == (2, 0)
    with pytest.raises(ValueError, match=r"a draw of 2 rows, one for each generator, not of 3"):
        rows.random(3)


@pytest.mark.parametrize("arguments", [(1, 1.5), (1, -1), (1, True), (1, 1, 0.5), (1.0, 1), (-1, 1)])
def test_numbers_that_are_not_whole_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(DealError, match=r"whole number|at least 0"):
        streams(*arguments)
    with pytest.raises(DealError, match=r"The first generator is at least 0, not -1\."):
        streams(1, 1, first=-1)
