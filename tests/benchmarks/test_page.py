"""Pages tell the figures that were taken last, all of them and no others."""

from __future__ import annotations

import pytest

from tests.benchmarks.commands import module

figures = module("figures")


def written(name: str) -> str:
    """What the command of that name writes of the figures that it took last."""
    made = module(name)
    if name == "scale_simulation":
        payload = figures.read(made.TIMES)
        return made.report(made.simulate(made.Times(payload["times"]), 0), payload, 0).strip()
    payload = figures.read(figures.TAKEN / f"{name}.json")
    more = [made.LEVELS] if name == "training" else []
    return made.report(payload, *more).strip()


@pytest.mark.parametrize(
    ("name", "page"),
    [
        *((name, "speed") for name in ("speed", "adaptors", "growth", "training", "installs")),
        *((name, "scale") for name in ("scale", "scale_simulation")),
        ("any_game", "../any_game"),
    ],
)
def test_the_page_tells_the_figures_that_were_taken_last(name: str, page: str) -> None:
    text = (figures.PAGE.parent / f"{page}.md").read_text(encoding="utf-8")
    place = name if f"<!-- {name} -->" in text else name.replace("_", " ")
    assert text.split(f"<!-- {place} -->")[1].split(f"<!-- /{place} -->")[0].strip() == written(name)
