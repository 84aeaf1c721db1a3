"""The pages of the static site compute no rule: they read what the module tells, and of the knobs hardly any."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from nainjaune_env.registry import game_names, get_game

GAMES = Path(__file__).parents[2] / "agents" / "tables" / "site" / "static" / "offline" / "games"
KNOBS = {f.name for name in game_names() for f in fields(get_game(name).setup().rules)}
ALLOWED = {
    "direction": "on which side of a seat the next one sits",
    "announce": "whether a text reminds of announcing",
    "unannounced": "whether the summary of the rules names it",
    "dinosaurs": "how many slots are drawn, and the summary of the rules",
    "memory": "which cards their owner sees, and the summary of the rules",
    "exhausted": "the summary of the rules",
}
"""By knob: what a page needs it for."""
READ = re.compile(r"\bknobs\??\.(\w+)|\bknobs\[\s*[\"'`](\w+)|\{([^{}]*)\}\s*=\s*[\w.]*\bknobs\b|\bknobs:\s*\{([^{}]*)\}")
"""``knobs.hand``, ``knobs["hand"]``, ``const { hand, suits } = rules.knobs``, and ``const { knobs: { hand } } = rules``."""


def knobs_read(source: str) -> set[str]:
    """Returns the words of a JavaScript ``source`` that are read from something called knobs."""
    return {word for groups in READ.findall(source) for given in groups for word in re.findall(r"\w+", given)}


@pytest.mark.parametrize("path", sorted(GAMES.glob("*.js")), ids=lambda path: path.stem)
def test_pages_read_no_knob_that_changes_play(path: Path) -> None:
    assert knobs_read(path.read_text(encoding="utf-8")) & KNOBS <= {*ALLOWED}


def test_every_exception_is_needed() -> None:
    read = {word for path in GAMES.glob("*.js") for word in knobs_read(path.read_text(encoding="utf-8"))}
    assert {*ALLOWED} <= read & KNOBS


@pytest.mark.parametrize(
    "source",
    [
        "this.rules.knobs.payment",
        "knobs['payment']",
        "const { stake, payment } = this.rules.knobs;",
        "const { knobs: { payment } } = rules;",
    ],
)
def test_reading_is_noticed(source: str) -> None:
    assert "payment" in knobs_read(source)
    assert "payment" in KNOBS - {*ALLOWED}
