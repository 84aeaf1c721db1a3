"""docs/lab/speed.md tells the figures that were taken last, all of them and no others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmarks.commands import module

figures = module("figures")


def written(name: str, payload: dict[str, Any]) -> str:
    """What the command of that name writes of its figures."""
    made = module(name)
    text: str = made.report(payload, made.LEVELS) if name == "training" else made.report(payload)
    return text.strip()


@pytest.mark.parametrize("name", ["speed", "adaptors", "growth", "training"])
def test_the_page_tells_the_figures_that_were_taken_last(name: str) -> None:
    payload = figures.read(figures.TAKEN / f"{name}.json")
    assert payload
    page = figures.PAGE.read_text(encoding="utf-8")
    between = page.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
    assert between.strip() == written(name, payload)
