"""The coverage of intervals over training seeds: what deals all seeds share is in one way of three alone not left out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.commands import command, module

seed_coverage = module("seed_coverage")


def test_luck_that_all_seeds_share_is_left_out_by_students_t_alone() -> None:
    """Players that are all alike: the deals are all that differs."""
    deals = np.random.default_rng(0).normal(size=4000)
    cells = seed_coverage.row(np.tile(deals, (8, 1)), 5, 50, 600, np.random.default_rng(1))
    own, student, both = (float(cell.split()[0]) for cell in cells[2:])
    assert 92 <= own <= 98
    assert student == 0  # all edges are equal, and the interval has no width
    assert 92 <= both <= 98


@pytest.mark.slow
def test_the_table() -> None:
    done = command("seed_coverage", "--population", "60", "--networks", "2", "--deals", "20", "--seeds", "2", "--samples", "20")
    assert done.returncode == 0, done.stderr
    assert [line.split("|")[1].split(",")[0].strip() for line in done.stdout.splitlines()[2:]] == [*seed_coverage.SLIPS]
    assert "--population, --deals and --seeds are 2 or more" in command("seed_coverage", "--seeds", "1").stderr
    assert "seed_coverage.py: Unknown preset" in command("seed_coverage", "--preset", "djecco").stderr
