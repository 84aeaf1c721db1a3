"""Chains of decisions: every one is in one minibatch, whole, and packed as torch packs sequences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.trainers.ppo import minibatches
from nainjaune_agents.trainers.sequences import Chains

SOME = np.array([7, 2, 7, 9, 2, 7, 2, 7])
"""Three chains: number 2 at rows 1, 4, 6; number 7 at 0, 2, 5, 7; number 9 at 3."""

some_chains = settings(max_examples=150, deadline=None, derandomize=True, database=None)
numbers = st.lists(st.integers(0, 12), min_size=1, max_size=60).map(np.array)


def rows_of(chain: np.ndarray) -> list[list[int]]:
    """The rows of each chain in order of time, by ascending number: what a place in ``Chains`` stands for."""
    return [np.flatnonzero(chain == number).tolist() for number in sorted(set(chain.tolist()))]


def test_lengths() -> None:
    chains = Chains(SOME)
    assert chains.count == 3
    assert chains.lengths.tolist() == [3, 4, 1]


def test_packed_by_hand() -> None:
    rows, batch_sizes = Chains(SOME).packed(np.array([0, 1, 2]))
    assert rows.tolist() == [0, 1, 3, 2, 4, 5, 6, 7]  # all first decisions, the longest chain's first, then all second ones …
    assert batch_sizes.tolist() == [3, 2, 2, 1]
    rows, batch_sizes = Chains(SOME).packed(np.array([2, 0]))
    assert rows.tolist() == [1, 3, 4, 6]
    assert batch_sizes.tolist() == [2, 1, 1]
    rows, batch_sizes = Chains(SOME).packed(np.array([2]))
    assert (rows.tolist(), batch_sizes.tolist()) == ([3], [1])


@some_chains
@given(numbers, st.integers(0, 1000))
def test_packed_as_torch_packs_lists(chain: np.ndarray, seed: int) -> None:
    chains, expected = Chains(chain), rows_of(chain)
    some = np.random.default_rng(seed).permutation(chains.count)[: 1 + chains.count // 2]
    rows, batch_sizes = chains.packed(some)
    in_order = sorted(some.tolist(), key=lambda place: -len(expected[place]))
    packed = torch.nn.utils.rnn.pack_sequence([torch.tensor(expected[place]) for place in in_order])
    assert rows.tolist() == packed.data.tolist()
    assert batch_sizes.tolist() == packed.batch_sizes.tolist()
    assert torch.from_numpy(batch_sizes).dtype == packed.batch_sizes.dtype


@some_chains
@given(numbers, st.integers(1, 80), st.integers(0, 3))
def test_every_decision_is_in_one_minibatch_with_all_of_its_chain(chain: np.ndarray, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rows.tolist() for rows, _ in minibatches(len(chain), Chains(chain), size, rng)]
    assert sorted(row for part in parts for row in part) == list(range(len(chain)))
    for part in parts:
        assert part
        assert all(set(rows) <= set(part) or not set(rows) & set(part) for rows in rows_of(chain))


@some_chains
@given(numbers, st.integers(1, 80), st.integers(0, 3))
def test_minibatches_are_about_as_large_as_asked(chain: np.ndarray, size: int, seed: int) -> None:
    """They share the decisions equally but for what a chain more or less makes, which is never cut in two."""
    chains = Chains(chain)
    parts = list(chains.shuffled(size, np.random.default_rng(seed)))
    assert sorted(np.concatenate(parts).tolist()) == list(range(chains.count))
    wanted = max(1, round(len(chain) / size))
    assert len(parts) <= wanted
    sizes = [int(chains.lengths[part].sum()) for part in parts]
    longest = int(chains.lengths.max())
    assert max(sizes) < len(chain) / wanted + longest
    if longest <= len(chain) / wanted / 2:
        assert len(parts) == wanted
        assert min(sizes) > len(chain) / wanted - longest


@pytest.mark.parametrize(("size", "count"), [(1, 1000), (50, 100), (100, 50), (4096, 1), (100_000, 1)])
def test_how_many_minibatches(size: int, count: int) -> None:
    """A thousand chains of five decisions; a chain is the least there is."""
    chains = Chains(np.tile(np.arange(1000), 5))
    parts = list(chains.shuffled(size, np.random.default_rng(0)))
    assert len(parts) == count
    assert {len(part) for part in parts} == {1000 // count}


def test_the_order_comes_from_the_generator() -> None:
    chains = Chains(np.repeat(np.arange(50), 3))

    def order(seed: int) -> list[list[int]]:
        return [part.tolist() for part in chains.shuffled(15, np.random.default_rng(seed))]

    assert order(1) == order(1) != order(2)
    rng = np.random.default_rng(1)
    assert [part.tolist() for part in chains.shuffled(15, rng)] != [part.tolist() for part in chains.shuffled(15, rng)]


def test_without_chains_every_decision_goes_by_itself() -> None:
    parts = list(minibatches(25, None, 10, np.random.default_rng(0)))
    assert [len(rows) for rows, _ in parts] == [10, 10, 5]
    assert all(batch_sizes is None for _, batch_sizes in parts)
    rows = torch.cat([rows for rows, _ in parts]).tolist()
    assert sorted(rows) == list(range(25)) != rows
