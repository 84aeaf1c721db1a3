"""Figures are told as they are, and never as more."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.commands import module

figures = module("figures")


@given(st.floats(0.01, 1e6))
def test_a_ratio_is_never_told_as_more(value: float) -> None:
    told = float(figures.in_times(value).replace(",", ""))
    assert told <= value
    assert value - told < max(0.01, value / 10)


def test_a_table_takes_its_place_in_the_page_and_nothing_else_moves(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Head\n\n<!-- speed -->\nold\n<!-- /speed -->\n\ntail\n", encoding="utf-8")
    for text in ("new", "newer\n"):
        figures.put_between(page, "speed", text)
    assert page.read_text(encoding="utf-8") == "# Head\n\n<!-- speed -->\n\nnewer\n\n<!-- /speed -->\n\ntail\n"


@pytest.mark.parametrize("text", ["", "<!-- speed -->", "<!-- /speed --> <!-- speed -->", "<!-- speed --><!-- /speed -->" * 2])
def test_a_page_without_the_place_stays_as_it_is(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="around what 'speed' tells"):
        figures.put_between(page, "speed", "new")
    assert page.read_text(encoding="utf-8") == text


def test_where_and_when_says_what_a_figure_means_nothing_without() -> None:
    about = figures.where_and_when()
    assert about["cores"] >= 1
    assert set(about["versions"]) == {"numpy", "numba"}
    said = figures.in_a_sentence(about)
    for part in (about["cpu"], about["python"], about["date"][:10], about["versions"]["numba"]):
        assert part in said
