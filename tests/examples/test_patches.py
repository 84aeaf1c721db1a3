"""The patches for other projects: whole, and games that follow the package's own rules."""

from __future__ import annotations

import importlib
import random
import re
import subprocess
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from open_spiel.python import games

from nainjaune_env.envs.open_spiel import load_game
from nainjaune_env.games.nain_jaune.rules import POT_NUMBERS
from tests.envs import playthroughs
from tests.support.source import ROOT

FOLDER = ROOT / "examples" / "patches"
GAMES = "open_spiel/python/games"


@pytest.fixture(scope="module")
def build() -> Iterator[ModuleType]:
    """``examples/patches/build.py``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield importlib.import_module("build")
        sys.modules.pop("build")


@pytest.fixture(scope="module")
def unpacked(build: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the new files of every patch, in a folder for each host, as ``git apply`` writes them."""
    folder = tmp_path_factory.mktemp("hosts")
    for name in build.hosts():
        clone = folder / name
        clone.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=clone, check=True)
        edited = re.findall(r"^--- a/(.*)$", build.patch(name), re.MULTILINE)
        command = ["git", "apply", *(f"--exclude={path}" for path in edited)]
        if build.new_files(name):
            subprocess.run(command, cwd=clone, check=True, input=build.patch(name), text=True, encoding="utf-8")
    return folder


@pytest.fixture
def open_spiel_game(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder of the game for OpenSpiel, whose modules can be imported where OpenSpiel has its games."""
    folder = unpacked / "open_spiel" / GAMES
    monkeypatch.setattr(games, "__path__", [*games.__path__, str(folder)])
    return "python_nain_jaune_djeco"


def test_every_patch_has_its_files_as_they_are_here(build: ModuleType, unpacked: Path) -> None:
    for name in build.hosts():
        written = {path.relative_to(unpacked / name).as_posix() for path in (unpacked / name).rglob("*") if path.is_file()}
        expected = build.new_files(name)
        assert {path for path in written if not path.startswith(".git/")} == expected.keys()
        for path, text in expected.items():
            assert (unpacked / name / path).read_text(encoding="utf-8") == text
            if path.endswith(".py"):
                compile(text, path, "exec")
        assert not re.search(r"[ \t]$", "".join(re.findall(r"^\+.*\n", build.patch(name), re.MULTILINE)), re.MULTILINE)


def test_patches_have_only_our_lines(build: ModuleType) -> None:
    for name in build.hosts():
        edits = (FOLDER / name / "edits.diff").read_text(encoding="utf-8")
        assert re.fullmatch(r"((diff --git|index|---|\+\+\+) .*\n|@@ -\d+,0 \+\d+(,\d+)? @@\n|\+.*\n)*", edits)


def test_the_page_names_every_host_and_its_commit(build: ModuleType) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for host in build.hosts().values():
        assert f"(https://github.com/{host['repository']}) | `{host['commit'][:12]}`," in page


def test_a_clone_at_another_commit_is_refused(build: ModuleType, tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "build.py", "--into", tmp_path / "out", "--check", tmp_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"must be a clone of Kaggle/kaggle-environments at {build.hosts()['kaggle']['commit']}, and is at none" in done.stderr
    assert len(list((tmp_path / "out").iterdir())) == len(build.hosts())


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_round_is_that_of_the_package(open_spiel_game: str, players: int) -> None:
    """Seat 0 leads in the patch: seats are counted from the package's leader."""
    rules = importlib.import_module("open_spiel.python.games.nain_jaune_rules")
    game = load_game(f"python_nain_jaune(preset=djeco,players={players},skip_forced=False)")
    rng = random.Random(players)
    for seed in range(60):
        state = game.seeded_state(seed)
        now, leader = rules.Round(hands_of(state, players, rules)), state.current_player()
        while not state.is_terminal():
            assert (now.player + leader) % players == state.current_player()
            legal = state.legal_actions()
            assert now.legal_actions() == legal
            action = rng.choice(legal)
            state.apply_action(action)
            now.play(action)
        assert now.legal_actions() == []
        assert [now.chips[(seat - leader) % players] for seat in range(players)] == state.returns()
        assert len(now.history) <= rules.longest_round(players)


def hands_of(state: Any, players: int, rules: Any) -> list[list[int]]:
    """The hands of a dealt state of the package's game, from the leader on: how many cards of each kind."""
    table, leader = state.table, state.current_player()
    hands = []
    for k in range(players):
        hand = [0] * rules.PASS
        for card in range(52):
            if int(table["hand"][(leader + k) % players]) >> card & 1:
                hand[13 + POT_NUMBERS.index(card) if card in POT_NUMBERS else card % 13] += 1
        hands.append(hand)
    return hands


def test_the_game_passes_its_tests_in_open_spiel(open_spiel_game: str) -> None:
    module = importlib.import_module("open_spiel.python.games.nain_jaune_test")
    result = unittest.TestResult()
    unittest.TestLoader().loadTestsFromModule(module).run(result)
    assert result.testsRun == 11
    assert result.errors == result.failures == []


def test_the_playthrough_is_what_open_spiel_plays(open_spiel_game: str, unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module("open_spiel.python.games.nain_jaune")
    monkeypatch.setattr(playthroughs, "FOLDER", unpacked / "open_spiel/open_spiel/integration_tests/playthroughs")
    expected, actual = playthroughs.replay(open_spiel_game)
    assert actual == expected
