"""The example in C: 10,000 rounds, byte for byte as ``Batch`` plays them, and sentences where they refuse."""

from __future__ import annotations

import shutil
import subprocess
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_env import Batch, get_game, make_setup
from tests.support.libraries import library_of
from tests.support.source import ROOT

TABLES, ROUNDS = 64, 10_000
GAME = get_game("nain_jaune")
SETUPS: dict[tuple[str, int], dict[str, Any]] = {
    ("djeco", 4): {},
    ("skip", 3): {"suits": 2, "hand": 5},
    ("classic", 5): {"stake": 2, "payment": "points", "announce": "explicit", "decline": "always"},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    library, folder = library_of("nain_jaune"), tmp_path_factory.mktemp("program")
    flags = ["-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{library.parent}", f"-L{library.parent}"]
    source = ROOT / "examples" / "c" / "play.c"
    subprocess.run(["gcc", *flags, source, "-lnainjaune", f"-Wl,-rpath,{library.parent}", "-o", folder / "play"], check=True)
    return folder / "play"


def words(preset: str, players: int, knobs: Mapping[str, Any]) -> list[str]:
    """Returns the arguments of a program for these rules, which are numbers."""
    base, rules = GAME.presets[preset].rules, make_setup("nain_jaune", preset, players, **knobs).rules
    changed = [
        f"{place}={new}" for place, (old, new) in enumerate(zip(base.numbers(), rules.numbers(), strict=True)) if new != old
    ]
    return [str([*GAME.presets].index(preset)), str(players), str(ROUNDS), *changed]


def expected(preset: str, players: int, knobs: Mapping[str, Any]) -> str:
    """Returns what a program prints, played by a batch."""
    batch = Batch(make_setup("nain_jaune", preset, players, **knobs), TABLES, deal=False)
    batch.reset(seeds=np.arange(TABLES, dtype=np.uint64))
    choices = np.arange(TABLES, dtype=np.uint64) << np.uint64(32)
    played = decisions = checksum = 0
    while played < ROUNDS:
        batch.step(batch.sample(choices))
        for array in (batch.observation, batch.reward, batch.tables):
            checksum = zlib.crc32(array, checksum)
        decisions += TABLES
        played += int(batch.done.sum())
    return f"{played} rounds, {decisions} decisions, checksum {checksum:08x}\n"


@pytest.mark.parametrize(("preset", "players"), SETUPS)
def test_rounds_are_equal(program: Path, preset: str, players: int) -> None:
    knobs = SETUPS[preset, players]
    result = subprocess.run([program, *words(preset, players, knobs)], capture_output=True, text=True, check=True)
    assert result.stdout == expected(preset, players, knobs)


def test_rules_that_do_not_go_together_are_refused(program: Path) -> None:
    for given, sentence in (
        (["0", "4", "1", "9=5"], "The knob 'starting_stack' must cover one round's antes"),
        (["0", "4", "1", "8=0"], "out of range"),
        (["0", "99", "1"], "out of range"),
    ):
        result = subprocess.run([program, *given], capture_output=True, text=True, check=False)
        assert result.returncode == 2
        assert sentence in result.stderr
