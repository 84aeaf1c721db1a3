"""Headers for C and C++: they compile without a warning, and only where layouts are those of the library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from nainjaune_agents.players import wasm
from nainjaune_env.build import library_parts
from nainjaune_env.build.c_header import c_header
from nainjaune_env.build.library import functions_of, parts_of
from nainjaune_env.build.library_parts import Parts, parts
from nainjaune_env.build.wasm import session_dtype
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.registry import game_names, get_game

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only")
COMPILERS = {
    "c": ("gcc", "-std=c99", *WARNINGS),
    "cpp": ("g++", "-std=c++11", *WARNINGS),
}


def parts_for(game: GameSpec) -> Parts:
    return parts_of(game, functions_of(game, [wasm]), [wasm])


def compiled(suffix: str, text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compiles ``text``; skips without the compiler."""
    command = COMPILERS[suffix]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    source = folder / f"all.{suffix}"
    source.write_text(text, encoding="utf-8")
    return subprocess.run([*command, source.name], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("suffix", COMPILERS)
def test_headers_of_all_games_compile_together(suffix: str, tmp_path: Path) -> None:
    result = compiled(suffix, "".join(c_header(parts_for(get_game(name))) for name in game_names()), tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("suffix", COMPILERS)
def test_another_layout_does_not_compile(suffix: str, tmp_path: Path) -> None:
    made = parts_for(get_game("signal_lamps"))
    table = made.structures[0]
    fields = [table.fields[0], table.fields[2], table.fields[1], *table.fields[3:]]
    other = made._replace(structures=[table._replace(fields=fields), *made.structures[1:]])
    assert compiled(suffix, c_header(other), tmp_path).returncode != 0


def test_every_field_and_function_is_there() -> None:
    game = get_game("nain_jaune")
    text = c_header(parts_for(game))
    names = [f"{name}_" if name in library_parts.RESERVED else name for name in game.table.names or ()]
    assert [name for name in (*names, *(session_dtype(game, [wasm]).names or ())) if f" {name}" not in text] == []
    assert "nain_jaune_step_tables(nain_jaune_batch *batch, int32_t *actions);" in text
    assert "NAIN_JAUNE_KNOB_PAYMENT = 3, /* 0: cards, 1: points; " in text
    assert [sentence for sentence in game.refusals if sentence not in text] == []


def test_the_fingerprint_is_that_of_all_else() -> None:
    game = get_game("signal_lamps")
    made = parts_for(game)
    assert made.fingerprint == parts_for(game).fingerprint
    assert 0 <= made.fingerprint < 1 << 31
    assert made.fingerprint != made._replace(version="0").fingerprint
    assert made.fingerprint != made._replace(functions=made.functions[1:]).fingerprint


def test_names_that_are_none_get_numbers() -> None:
    description = {
        "game": "x", "title": "X", "version": "1", "actions": ["-", "a b", "a-b", "♠"], "knobs": [], "presets": {"p": {"2": []}},
        "refusals": [], "rules": [], "options": {}, "start_values": {}, "plies": 1, "worlds": 1, "observation": {},
        "session": {"size": 8, "fields": {}},
        "table": {"size": 8, "fields": {"void": {"offset": 0, "dtype": "int64", "shape": [1]}}},
    }  # fmt: skip
    made = parts(description, {"p": []}, {}, {}, {})
    actions = next(group for about, group in made.constants if about == "actions")
    assert [name for name, _, _ in actions] == ["ACTION_0", "ACTION_A_B", "ACTION_2", "ACTION_3"]
    assert made.structures[0].fields[0].name == "void_"
