"""The first cases of every fuzzer."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from .fuzzers import FUZZERS

SEED = 0


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZERS)
def test_a_few_cases(name: str, tmp_path: Path) -> None:
    with closing(FUZZERS[name](tmp_path)) as fuzzer:
        for number in range(fuzzer.short):
            try:
                fuzzer.run(SEED, number)
            except Exception as error:
                error.add_note(f"again: python -m tests.fuzz {name} --seed {SEED} --case {number}")
                raise
