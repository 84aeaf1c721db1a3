"""Which sources play for an agent: their code, and not what is written about it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nainjaune_agents.measure import player_sources
from nainjaune_agents.measure.player_id import player_id
from nainjaune_agents.measure.player_sources import AGENTS, ENV, SOURCES, code_of, sources, sources_digest
from nainjaune_env import make_setup

CODE = '''"""A module."""

SIZE = 3  # three
"""Of something."""


def double(x):
    """Returns twice ``x``."""
    # twice
    return 2 * x + len("""a
# b

""" f"""{x}
 c""")
'''
PLAYERS = {"heuristic": "closer", "search": "closer@search=4", "mixed": "mixed:closer+tally", "chat": "chat:x"}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with copies of our sources, which are read again for each identity."""
    for name, folder in (("ENV", ENV), ("AGENTS", AGENTS)):
        ignored = shutil.ignore_patterns("__pycache__", "games", "zoo", "*.c", "*.so", "cli", "train", "tables", "study")
        shutil.copytree(folder, tmp_path / name, ignore=ignored)
        monkeypatch.setattr(player_sources, name, tmp_path / name)
    yield tmp_path
    sources_digest.cache_clear()


def ids() -> dict[str, str]:
    sources_digest.cache_clear()
    return {kind: player_id(name, make_setup()) for kind, name in PLAYERS.items()}


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("AGENTS/players/heuristics/nain_jaune.py", {"heuristic", "search", "mixed"}),
        ("AGENTS/players/search/agent.py", {"search"}),
        ("AGENTS/players/mixed.py", {"mixed"}),
        ("AGENTS/players/chat/agent.py", {"chat"}),
        ("ENV/text/seat.py", {"chat"}),
        ("ENV/text/en.toml", {"chat"}),
        ("AGENTS/measure/player_id.py", set()),
    ],
)
def test_a_source_changes_those_that_it_plays_for(file: str, changed: set[str], copied: Path) -> None:
    before, path = ids(), copied / file
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        path.write_text(f"# only\n{text}\n# comments\n", encoding="utf-8")
        assert ids() == before
    path.write_text(f"{text}\nmore = 1\n", encoding="utf-8")
    after = ids()
    assert {kind for kind in PLAYERS if after[kind] != before[kind]} == changed


def test_the_rules_of_a_game_are_those_of_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    kernel = tmp_path / "some_game" / "kernel.py"
    kernel.parent.mkdir()
    (tmp_path / "some_game" / "__init__.py").write_text("")
    digests = []
    for code in ("x = 1\n", "x = 1  # one\n", "x = 2\n"):
        kernel.write_text(code)
        digests.append(sources_digest.__wrapped__("rules", "some_game"))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("pattern", sorted({pattern for patterns in SOURCES.values() for pattern in patterns}))
def test_every_pattern_has_files(pattern: str) -> None:
    assert any(sources(pattern, f"nainjaune_env.games.{game}") for game in ("nain_jaune", "batasaurus"))


def test_words_about_code_decide_nothing_and_texts_do(tmp_path: Path) -> None:
    path = tmp_path / "code.py"

    def code(old: str = "", new: str = "") -> str:
        path.write_text(CODE.replace(old, new), encoding="utf-8")
        text: str = code_of(path)
        return text

    same = 'SIZE = 3\ndef double(x):\n    return 2 * x + len("""a\n# b\n\n""" f"""{x}\n c""")'
    assert code() == same
    for old, new in (("Of something", "Of\nanother"), ("# twice", "# two\n\n"), ("  # three", ""), ("A module", 'A "module')):
        assert code(old, new) == same
    for old, new in (("2 *", "3 *"), ("# b", "# c"), ("a\n", "a \n"), ("b\n\n", "b\n"), ("{x}\n", "{x} \n"), (" c", "c")):
        assert code(old, new) != same
    path.write_text("x = 1; 'no docstring'\n'one'\n'two'.upper()\n", encoding="utf-8")
    assert code_of(path) == "x = 1; 'no docstring'\n'two'.upper()"
    path = tmp_path / "en.toml"  # no Python, and no comment
    path.write_text('rules-text = """\n# Rules\n"""\n', encoding="utf-8")
    assert code_of(path) == path.read_text(encoding="utf-8")
