"""No two uses of one seed share a stream."""

from __future__ import annotations

import itertools

from nainjaune_agents.seeds import Stream, generator


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
