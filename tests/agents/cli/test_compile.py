"""The command that compiles ahead."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from nainjaune_agents.cli import compile as module
from nainjaune_agents.cli.main import main
from nainjaune_agents.precompile import PARTS
from nainjaune_env.core.jit import JIT_ENABLED
from nainjaune_env.registry import game_names
from tests.agents.cli.command import status_of

CONFIG = "mixture: [{preset: classic, players: [3, 5]}, {preset: djeco, players: 4}]\ntables: 64\n"


def meant(*words: str) -> tuple[list[tuple[str, str, int]], str]:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    setups, device = module.meant(parser.parse_args(words))
    return [(setup.game.name, setup.preset, setup.players) for setup in setups], device


def test_the_parts_are_those_of_the_module() -> None:
    assert tuple(PARTS) == module.PARTS
    assert module.__doc__ is not None
    assert all(f"{part} (" in " ".join(module.__doc__.split()) for part in PARTS)


def test_setups_are_those_of_all_games_of_the_arguments_or_of_a_configuration(tmp_path: Path) -> None:
    assert [game for game, _, _ in meant()[0]] == list(game_names())
    assert meant("--preset", "classic", "--players", "6") == ([("nain_jaune", "classic", 6)], "cpu")
    (tmp_path / "config.yaml").write_text(CONFIG)
    tables = [("nain_jaune", "classic", 3), ("nain_jaune", "classic", 5), ("nain_jaune", "djeco", 4)]
    assert meant(str(tmp_path / "config.yaml")) == (tables, "cpu")


@pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")
def test_parts_are_listed_with_their_seconds(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--game", "signal_lamps", "--workers", "1", "--parts", "inspection", "tables"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split(":")[0].split() for line in lines[:2]] == [["tables", "signal_lamps"], ["inspection", "signal_lamps"]]
    assert lines[2].startswith("Compiled for the cpu, in ")


def test_errors_are_sentences(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG)
    for words, sentence in (
        ((str(config), "--preset", "classic"), f"--preset names tables, and so does '{config}': give one of them."),
        (("--parts", "everything"), "Argument --parts: invalid choice: 'everything'"),
        (("--workers", "0"), "expected a whole number from 1 to"),
        (("--game", "poker"), "poker"),
    ):
        assert status_of(["compile", *words]) == 2
        assert sentence in " ".join(capfd.readouterr().err.split())
