"""The first use of the package, from several threads of a new process at once."""

from __future__ import annotations

import random

from tests.support import first_use

from .oracle import Fault, Fuzzer


class Threads(Fuzzer):
    """Threads that import, compile or load code, and play: each plays what it would alone."""

    name = "threads"
    short = 0  # tests/core/test_jit.py has a case
    long = 40

    def case(self, rng: random.Random) -> None:
        seed = rng.randrange(2**32)
        for use, game, result in first_use.results_of_a_process(rng.randint(2, 8), seed):
            expected = first_use.digest(use, game)
            if result != expected:
                raise Fault(f"{use} of {game} in a thread, seed {seed}: {result}, and alone {expected}")
