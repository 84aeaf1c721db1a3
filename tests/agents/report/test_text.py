"""Plain-text tables."""

from __future__ import annotations

import pytest

from nainjaune_agents.report.text import align, short_names


def test_columns_are_right_aligned_unless_named() -> None:
    rows = [["a", "bcd", ""], ["efg", "h", "i"]]
    assert align(rows) == ["  a  bcd", "efg    h  i"]
    assert align(rows, left=(0, 1), ruled=True) == ["a    bcd", "───────────", "efg  h    i"]


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        align([["a", "b"], ["c"]])


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["runs/a", "lowest"], ["a", "lowest"]),
        (["x/a", "y/a"], ["x/a", "y/a"]),
        (["x/a", "a"], ["x/a", "a"]),
        (["runs/x/a", "runs/x/b"], ["a", "b"]),
        (["runs/a/", "b"], ["a", "b"]),
        (["ppo:runs/a", "b"], ["a", "b"]),
        (["runs/a\x1b[31m", "b\n"], ["a\\x1b[31m", "b\\n"]),
    ],
)
def test_short_names_stay_different(names: list[str], short: list[str]) -> None:
    assert short_names(names) == short
