"""RULES.md: its tables are the code's, and every article and reading is where it should be.

python -m tests.games.nain_jaune.test_rules_page     writes the tables anew
"""

from __future__ import annotations

import re
from pathlib import Path

import nainjaune_env.games.nain_jaune as game
from nainjaune_env.games.nain_jaune.rules import PRESETS, NainJauneRules
from nainjaune_env.tables import knob_table, preset_table

PAGE = Path(game.__file__).with_name("RULES.md")
TESTS = Path(__file__).parent


def with_tables(text: str) -> str:
    """The page with its tables made anew."""
    for name, table in (("knobs", knob_table(NainJauneRules)), ("presets", preset_table(PRESETS))):
        text, found = re.subn(
            rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)",
            lambda match, table=table: f"{match[1]}\n{table}\n{match[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
        assert found == 1, f"{PAGE.name} has {found} places for its table of {name}"
    return text


def test_the_tables_have_not_drifted() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run: python -m tests.games.nain_jaune.test_rules_page"


def test_the_tables_tell_every_knob_and_preset() -> None:
    knobs, presets = knob_table(NainJauneRules), preset_table(PRESETS)
    for name, default in NainJauneRules().to_dict().items():
        assert knobs.count(f"| `{name}` |") == presets.count(f"| `{name}` |") == 1
        row = next(line for line in presets.splitlines() if line.startswith(f"| `{name}` |"))
        assert row.split(" | ")[1] == f"`{default}`"  # the defaults are djeco's, the first column
        assert row.split(" | ")[1:4] == [f"`{PRESETS[p].rules.to_dict()[name]}`" for p in ("djeco", "classic", "skip")]
    assert "| players | 2–4 | 3–8 | 2–8 | 3–8 |" in presets
    assert "| `starting_stack` | a whole number from 1, or `None` | " in knobs
    assert "| `stake` | a whole number from 1 | " in knobs
    assert "| `end_on_default` | `True`, `False` | " in knobs


def test_every_article_that_is_cited_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    articles = set(re.findall(r"^- \*\*(N\d\.\d)\*\*", text, flags=re.MULTILINE))
    chapters = set(re.findall(r"^## (N\d) ", text, flags=re.MULTILINE))
    assert chapters == {"N1", "N2", "N3", "N4", "N5", "N6"}
    assert len(articles) == 6 + 9 + 4 + 7
    sources = " ".join(path.read_text(encoding="utf-8") for path in PAGE.parent.glob("*.py"))
    cited = set(re.findall(r"\bN\d(?:\.\d)?\b", sources + text))
    assert cited <= articles | chapters
    for path in TESTS.glob("test_*.py"):
        for major, minor in re.findall(r"def test_n(\d)_(\d)_", path.read_text(encoding="utf-8")):
            assert f"N{major}.{minor}" in articles, path.name


def test_every_reading_is_given_and_pointed_to() -> None:
    text = PAGE.read_text(encoding="utf-8")
    body, _, readings = text.partition("## Readings")
    given = re.findall(r"^- \*\*\[(R\d+)\]\*\*", readings, flags=re.MULTILINE)
    assert given == [f"R{number}" for number in range(1, len(given) + 1)]
    assert set(re.findall(r"\[(R\d+)\]", body)) == set(given)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
