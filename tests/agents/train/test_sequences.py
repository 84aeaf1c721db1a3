"""Sequences of decisions: every one is in one minibatch, whole, and packed as torch packs sequences."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.train.sequences import Sequences, packed_minibatches

some_sequences = settings(max_examples=150, deadline=None, derandomize=True, database=None)
numbers = st.lists(st.integers(0, 12), min_size=1, max_size=60).map(np.array)


def rows_of(sequence: np.ndarray) -> list[list[int]]:
    """The rows of each sequence in order of time, by ascending number: what an index in ``Sequences`` means."""
    return [np.flatnonzero(sequence == number).tolist() for number in sorted(set(sequence.tolist()))]


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


def test_the_order_comes_from_the_generator() -> None:
    sequences = Sequences(np.repeat(np.arange(50), 3))

    def order(seed: int) -> list[list[int]]:
        return [part.tolist() for part in sequences.shuffled(15, np.random.default_rng(seed))]

    assert order(1) == order(1) != order(2)
    rng = np.random.default_rng(1)
    assert [part.tolist() for part in sequences.shuffled(15, rng)] != [part.tolist() for part in sequences.shuffled(15, rng)]
