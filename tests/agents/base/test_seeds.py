"""No two uses of one seed share a stream."""

from __future__ import annotations

import itertools

import numpy as np

from nainjaune_agents.base.seeds import Stream, generator


def draws(seed: int, purpose: Stream, *key: int) -> tuple[int, ...]:
    return tuple(int(x) for x in generator(seed, purpose, *key).integers(0, 1 << 62, 2))


def test_the_same_key_gives_the_same_stream() -> None:
    assert draws(5, Stream.MATCHES, 1, 2) == draws(5, Stream.MATCHES, 1, 2)


def test_other_seeds_purposes_and_keys_give_others() -> None:
    """Large seeds, and keys that end in zeros, are where plain lists of entropy run into each other."""
    seeds = (0, 1, 1 << 32, (1 << 32) + 1, 1 << 62)
    keys = ((), (0,), (0, 0), (1,), (0, 1), (1, 0), ((1 << 32) - 1,), (0, 1, 0, 0))
    seen = [draws(seed, purpose, *key) for seed, purpose, key in itertools.product(seeds, Stream, keys)]
    assert len(set(seen)) == len(seen) == len(seeds) * len(Stream) * len(keys)


def test_an_agent_is_not_handed_the_seed() -> None:
    """Neither the sequence that its generator was made from nor its children hold it; the draws are those of seed and key."""
    seed, key = 987_654_321_012_345, (2, 3)
    rng = generator(seed, Stream.MATCHES, *key)
    plain = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(Stream.MATCHES, *key)))
    assert rng.bit_generator.state == plain.bit_generator.state
    child = rng.spawn(1)[0]
    for each in (rng, child):
        assert str(seed) not in repr(each.bit_generator.seed_seq)
    assert str(seed) in repr(plain.bit_generator.seed_seq)
    assert rng.bytes(64) == plain.bytes(64)


def test_children_of_different_generators_differ() -> None:
    children = [generator(5, Stream.MATCHES, key).spawn(2) for key in range(20)]
    assert len({child.bytes(16) for pair in children for child in pair}) == 40
