"""Sequences of decisions: every one is in one minibatch, whole, and packed as torch packs sequences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.trainers.sequences import Sequences, packed_minibatches

SOME = np.array([7, 2, 7, 9, 2, 7, 2, 7])
"""Three sequences: number 2 at rows 1, 4, 6; number 7 at 0, 2, 5, 7; number 9 at 3."""

some_sequences = settings(max_examples=150, deadline=None, derandomize=True, database=None)
numbers = st.lists(st.integers(0, 12), min_size=1, max_size=60).map(np.array)


def rows_of(sequence: np.ndarray) -> list[list[int]]:
    """The rows of each sequence in order of time, by ascending number: what an index in ``Sequences`` means."""
    return [np.flatnonzero(sequence == number).tolist() for number in sorted(set(sequence.tolist()))]


def test_lengths() -> None:
    sequences = Sequences(SOME)
    assert sequences.count == 3
    assert sequences.lengths.tolist() == [3, 4, 1]


def test_packed_by_hand() -> None:
    rows, batch_sizes = Sequences(SOME).packed(np.array([0, 1, 2]))
    assert rows.tolist() == [0, 1, 3, 2, 4, 5, 6, 7]  # all first decisions, the longest sequence's first, then all second ones …
    assert batch_sizes.tolist() == [3, 2, 2, 1]
    rows, batch_sizes = Sequences(SOME).packed(np.array([2, 0]))
    assert rows.tolist() == [1, 3, 4, 6]
    assert batch_sizes.tolist() == [2, 1, 1]
    rows, batch_sizes = Sequences(SOME).packed(np.array([2]))
    assert (rows.tolist(), batch_sizes.tolist()) == ([3], [1])


@some_sequences
@given(numbers, st.integers(0, 1000))
def test_packed_as_torch_packs_lists(sequence: np.ndarray, seed: int) -> None:
    sequences, expected = Sequences(sequence), rows_of(sequence)
    some = np.random.default_rng(seed).permutation(sequences.count)[: 1 + sequences.count // 2]
    rows, batch_sizes = sequences.packed(some)
    in_order = sorted(some.tolist(), key=lambda place: -len(expected[place]))
    packed = torch.nn.utils.rnn.pack_sequence([torch.tensor(expected[place]) for place in in_order])
    assert rows.tolist() == packed.data.tolist()
    assert batch_sizes.tolist() == packed.batch_sizes.tolist()
    assert torch.from_numpy(batch_sizes).dtype == packed.batch_sizes.dtype


@some_sequences
@given(numbers, st.integers(1, 80), st.integers(0, 3))
def test_every_decision_is_in_one_minibatch_with_all_of_its_sequence(sequence: np.ndarray, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rows.tolist() for rows, _ in packed_minibatches(sequence, size, rng)]
    assert sorted(row for part in parts for row in part) == list(range(len(sequence)))
    for part in parts:
        assert part
        assert all(set(rows) <= set(part) or not set(rows) & set(part) for rows in rows_of(sequence))


@some_sequences
@given(numbers, st.integers(1, 80), st.integers(0, 3))
def test_minibatches_are_about_as_large_as_asked(sequence: np.ndarray, size: int, seed: int) -> None:
    """They share the decisions equally up to one sequence, which is never cut in two."""
    sequences = Sequences(sequence)
    parts = list(sequences.shuffled(size, np.random.default_rng(seed)))
    assert sorted(np.concatenate(parts).tolist()) == list(range(sequences.count))
    wanted = max(1, round(len(sequence) / size))
    assert len(parts) <= wanted
    sizes = [int(sequences.lengths[part].sum()) for part in parts]
    longest = int(sequences.lengths.max())
    assert max(sizes) < len(sequence) / wanted + longest
    if longest <= len(sequence) / wanted / 2:
        assert len(parts) == wanted
        assert min(sizes) > len(sequence) / wanted - longest


@pytest.mark.parametrize(("size", "count"), [(1, 1000), (50, 100), (100, 50), (4096, 1), (100_000, 1)])
def test_how_many_minibatches(size: int, count: int) -> None:
    """A thousand sequences of five decisions; a sequence is the least there is."""
    sequences = Sequences(np.tile(np.arange(1000), 5))
    parts = list(sequences.shuffled(size, np.random.default_rng(0)))
    assert len(parts) == count
    assert {len(part) for part in parts} == {1000 // count}


def test_the_order_comes_from_the_generator() -> None:
    sequences = Sequences(np.repeat(np.arange(50), 3))

    def order(seed: int) -> list[list[int]]:
        return [part.tolist() for part in sequences.shuffled(15, np.random.default_rng(seed))]

    assert order(1) == order(1) != order(2)
    rng = np.random.default_rng(1)
    assert [part.tolist() for part in sequences.shuffled(15, rng)] != [part.tolist() for part in sequences.shuffled(15, rng)]
