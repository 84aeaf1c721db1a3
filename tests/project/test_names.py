"""No code outside a game's own files names it: a game is one folder, and there is no `if game ==` anywhere."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_names
from tests.support.source import ROOT, sources

OWN_NAMES = r"NainJauneError"
"""The package is called after a game."""


def pattern(game: str) -> re.Pattern[str]:
    """A game's folder name in all its spellings: nain_jaune, nain-jaune, Nain Jaune, NAIN_JAUNE, NainJaune."""
    words = game.split("_")
    if len(words) == 1:
        return re.compile(re.escape(game), re.IGNORECASE)
    apart = "[-_ ]".join(map(re.escape, words))
    return re.compile(f"(?i:{apart})|{''.join(word.title() for word in words)}")


def own_files(game: str) -> tuple[Path, ...]:
    """The folder and files that may name it."""
    agents = (ROOT / "agents" / "players" / package / f"{game}.py" for package in ("heuristics", "exact"))
    return (ROOT / "nainjaune_env" / "games" / game, *agents)


def words_of(text: str) -> list[tuple[int, str]]:
    """Identifiers and texts of a file with their lines; comments and documentation are left out."""
    docs = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docs |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    kinds = {tokenize.NAME, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type in kinds and token.start[0] not in docs]


def mentions(text: str, game: str) -> list[tuple[int, str]]:
    return [(line, word) for line, word in words_of(text) if pattern(game).search(re.sub(OWN_NAMES, "", word))]


def spelled(text: str, game: str) -> bool:
    """Whether the name is anywhere in a file, in comments too: most files need no closer look."""
    return pattern(game).search(re.sub(OWN_NAMES, "", text)) is not None


ABOUT_GAMES = {ROOT / "docs" / "results.py", ROOT / "docs" / "generate.py"}
"""What writes the README's results and quotes a game's files."""
CODE = sorted({source.path for source in sources().values()} | set(ROOT.glob("docs/**/*.py")) - ABOUT_GAMES)


@pytest.mark.parametrize("game", game_names())
def test_no_code_outside_its_own_files_names_a_game(game: str) -> None:
    result = {}
    for path in CODE:
        text = path.read_text(encoding="utf-8")
        if not any(path.is_relative_to(own) for own in own_files(game)) and spelled(text, game):
            result[path.relative_to(ROOT).as_posix()] = [word.strip("\"'") for _, word in mentions(text, game)]
    named = {path: words for path, words in result.items() if words}
    assert named == ({"nainjaune_env/games/__init__.py": [DEFAULT_GAME]} if game == DEFAULT_GAME else {})
