"""Every game's RULES.md: its tables are the code's, and every article and reading is where it should be.

python -m tests.games.test_rules_pages     writes the tables anew
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from nainjaune_env.core.rules_docs import knob_table, preset_table
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.registry import game_names, get_game

ROOT = Path(__file__).resolve().parents[2]

every_game = pytest.mark.parametrize("game", [get_game(name) for name in game_names()], ids=lambda game: game.name)


def page(game: GameSpec) -> Path:
    folder = importlib.import_module(game.package).__file__
    assert folder is not None
    return Path(folder).with_name("RULES.md")


def text_of(game: GameSpec) -> str:
    return page(game).read_text(encoding="utf-8")


def tables(game: GameSpec) -> dict[str, str]:
    return {"knobs": knob_table(type(game.presets[game.default_preset].rules)), "presets": preset_table(game.presets)}


def with_tables(game: GameSpec) -> str:
    """The page with its tables made anew."""
    text = text_of(game)
    for name, table in tables(game).items():
        text, result = re.subn(
            rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)",
            lambda match, table=table: f"{match[1]}\n{table}\n{match[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
        assert result == 1, f"{page(game)} has {result} places for its table of {name}"
    return text


def articles(text: str) -> dict[str, list[str]]:
    """By chapter (N1): its articles (N1.1), in order."""
    result: dict[str, list[str]] = {}
    for chapter, article in re.findall(r"^(?:## ([A-Z]\d) |- \*\*([A-Z]\d\.\d+)\*\*)", text, flags=re.MULTILINE):
        if chapter:
            assert chapter not in result
            result[chapter] = []
        else:
            assert list(result)[-1] == article.split(".")[0]
            result[article.split(".")[0]].append(article)
    return result


def letter(game: GameSpec) -> str:
    """What the game's articles begin with."""
    (first, *others) = {chapter[0] for chapter in articles(text_of(game))}
    assert not others
    return first


@every_game
def test_the_tables_have_not_drifted(game: GameSpec) -> None:
    assert with_tables(game) == text_of(game), "run: python -m tests.games.test_rules_pages"


@every_game
def test_chapters_and_articles_are_numbered_without_a_gap(game: GameSpec) -> None:
    result = articles(text_of(game))
    assert list(result) == [f"{letter(game)}{number}" for number in range(1, len(result) + 1)]
    for chapter, inside in result.items():
        assert inside == [f"{chapter}.{number}" for number in range(1, len(inside) + 1)]
    lines = text_of(game).splitlines()
    assert len(result) == sum(line.startswith("## ") for line in lines) - 1  # all but the readings
    assert sum(map(len, result.values())) == sum(line.startswith(f"- **{letter(game)}") for line in lines) > 0


@every_game
def test_every_article_that_is_cited_exists(game: GameSpec) -> None:
    result = articles(text_of(game))
    known = {*result, *(article for inside in result.values() for article in inside)}
    tests = [*(ROOT / "tests" / "games" / game.name).rglob("*.py"), *(ROOT / "tests" / "twin").glob(f"*{game.name}*.py")]
    sources = [page(game), *page(game).parent.rglob("*.py"), *(ROOT / "agents" / "players").glob(f"*/{game.name}.py"), *tests]
    cited = {
        (source.name, article)
        for source in sources
        for article in re.findall(rf"(?<!\w){letter(game)}\d(?:\.\d+)?\b", source.read_text(encoding="utf-8"))
    }
    assert {(name, article) for name, article in cited if article not in known} == set()
    assert {article for _, article in cited} == known, "an article that nothing cites"
    for source in tests:
        for major, minor in re.findall(rf"def test_{letter(game).lower()}(\d)_(\d+)_", source.read_text(encoding="utf-8")):
            assert f"{letter(game)}{major}.{minor}" in known, source.name


@every_game
def test_every_article_has_a_test(game: GameSpec) -> None:
    """One that is named after it, in the game's own tests or the twin's."""
    tests = " ".join(
        path.read_text(encoding="utf-8")
        for folder in (ROOT / "tests" / "games" / game.name, ROOT / "tests" / "twin")
        for path in folder.rglob("test_*.py")
    )
    named = {f"{letter(game)}{a}.{b}" for a, b in re.findall(rf"(?:test|and)_{letter(game).lower()}(\d)_(\d+)_", tests)}
    missing = [article for inside in articles(text_of(game)).values() for article in inside if article not in named]
    assert missing == []


@every_game
def test_every_reading_is_given_and_pointed_to(game: GameSpec) -> None:
    body, _, readings = text_of(game).partition("## Readings")
    given = re.findall(r"^- \*\*\[(R\d+)\]\*\*", readings, flags=re.MULTILINE)
    assert given == [f"R{number}" for number in range(1, len(given) + 1)]
    assert set(re.findall(r"\[(R\d+)\]", body)) == set(given)


if __name__ == "__main__":
    for name in game_names():
        page(get_game(name)).write_text(with_tables(get_game(name)), encoding="utf-8")
