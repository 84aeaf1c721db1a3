"""Random generators from one seed and a key for their purpose, so that no two uses share a stream."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """The purpose of a generator, the first part of its key."""

    MATCHES = 1
    TRAINING = 2
    PERSON = 3
    FILM = 4
    MIXED = 6
    ADVICE = 8
    SERVE = 10
    PUZZLES = 11
    LADDER = 12
    RULES = 13
    TEXT_TASKS = 14
    TEXT_FIELD = 15
    CHOOSING = 16


def derived_seed(seed: int, *key: int) -> int:
    """Returns a seed, below 2**63, that depends on ``seed`` and the numbers of ``key``, all 0 or more."""
    return int(np.random.SeedSequence([seed, *key]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def generator(seed: int, purpose: Stream, *key: int) -> np.random.Generator:
    """Returns a generator that depends on ``seed >= 0``, the purpose and the key alone.

    The numbers of the key must be below 2**32: NumPy splits larger ones, so that keys could collide. Agents are handed such
    generators, so it does not keep ``seed``: its draws come from the sequence of seed and key, but its ``seed_seq``, from
    which ``spawn`` makes other generators, is a new one made of these draws.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(purpose, *key))
    state = np.random.PCG64(sequence).state
    bits = np.random.PCG64(np.random.SeedSequence([int(word) for word in sequence.generate_state(8)]))
    bits.state = state
    return np.random.Generator(bits)
