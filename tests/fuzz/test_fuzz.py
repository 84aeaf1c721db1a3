"""The first cases of every fuzzer."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.config import apply_settings, build

from .commands import TINY, tiny_run
from .fuzzers import FUZZERS

SEED = 0


@pytest.mark.parametrize("algorithm", TINY)
def test_the_runs_that_are_killed_have_keys_of_today(algorithm: str) -> None:
    values = apply_settings({}, [word.removeprefix("--set=") for word in tiny_run(algorithm, 2)])
    build(get_trainer(algorithm).Config, values)


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
