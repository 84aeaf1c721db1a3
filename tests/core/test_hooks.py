"""The optional modules of a game's package: found when they are asked for, and told from modules that fail."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_env.core.errors import GameError
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.registry import get_game


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty package, with a name of its own for each case."""
    folder = tmp_path / tmp_path.name
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def game_of(package: Path) -> GameSpec:
    return replace(get_game("signal_lamps"), package=package.name)


def write(path: Path, code: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(code, encoding="utf-8")


def test_a_hook_is_imported_when_it_is_first_asked_for(package: Path) -> None:
    write(package / "view" / "text.py", "def render_text(*args, **words): return 'a table'")
    game, module = game_of(package), f"{package.name}.view.text"
    assert module not in sys.modules
    assert game.render_text is not None
    assert game.render_text() == "a table"
    assert game.render_text is sys.modules[module].render_text


def test_a_game_need_not_have_a_module_nor_a_package_for_it(package: Path) -> None:
    write(package / "view" / "text.py", "")
    write(package / "research.py", "")
    game = game_of(package)
    assert game.pictures is game.chance is game.measures is None


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'."),
        ("from nainjaune_env.core.spec import NoSuchName", "ImportError: cannot import name 'NoSuchName'"),
        ("1 / 0", "ZeroDivisionError: division by zero."),
    ],
)
def test_a_module_that_cannot_be_imported_is_not_taken_for_absent(package: Path, code: str, says: str) -> None:
    write(package / "chance.py", code)
    with pytest.raises(GameError) as refused:
        game_of(package).chance  # noqa: B018
    assert str(refused.value).startswith(f"chance of the game {package.name!r} in {str(package)!r} cannot be imported: {says}")


def test_a_module_that_lacks_names_is_refused(package: Path) -> None:
    write(package / "records" / "write.py", "BODY = ()\ndef verify(setup, body): ...")
    write(package / "view" / "text.py", "")
    with pytest.raises(GameError, match=r"^records\.write of the game .* in .* lacks transcribe, show\.$"):
        game_of(package).transcriber  # noqa: B018
    with pytest.raises(GameError, match=r"^view\.text of the game .* lacks render_text\.$"):
        game_of(package).render_text  # noqa: B018
