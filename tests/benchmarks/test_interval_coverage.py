"""The benchmark of intervals says what it measured, for samples that have an interval."""

from __future__ import annotations

import numpy as np

from nainjaune_agents.stats.intervals import Moments
from tests.benchmarks.commands import command, module


def test_it_prints_a_row_for_each_size() -> None:
    words = ["--preset", "djeco", "--players", "2", "--population", "60", "--samples", "5", "--sizes", "20", "50"]
    lines = command("interval_coverage", *words).stdout.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert rows[0] == ["", "pots", "hero, field", "skewness", "deals", "an interval", "Student's t", "printed", "Hall's", "rough"]
    assert [row[4] for row in rows[2:]] == ["20", "50"]
    for row in rows[2:]:
        assert row[5] == "–" or 0 <= float(row[5].removesuffix(" %")) <= 100
        assert row[-1] in ("100.0 %", "–")  # fewer than 300 deals


def test_halls_interval_is_students_without_skewness_and_wider_with_it() -> None:
    halls, rng = module("interval_coverage").halls, np.random.default_rng(3)
    values = rng.normal(0, 1, 200)
    even = np.concatenate([values, -values])
    assert np.isclose(halls(even), Moments.of(even).half_width, rtol=1e-3)
    skewed = np.append(values, 20.0)
    assert halls(skewed) > 1.2 * Moments.of(skewed).half_width
    assert halls(np.ones(5)) == 0
