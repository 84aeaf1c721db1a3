"""The command that compiles ahead."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import pytest

from nainjaune_agents.cli import compile as module
from nainjaune_agents.cli.main import main
from nainjaune_agents.precompile import PARTS, CompilePlan
from nainjaune_agents.trainers import ppo_checks
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.errors import MissingLibraryError
from nainjaune_env.registry import game_names
from tests.agents.cli.command import status_of

CONFIG = "mixture: [{preset: classic, players: [3, 5]}, {preset: djeco, players: 4}]\ntables: 64\nstart: {pots: [0, 20]}\n"


def planned(*words: str) -> CompilePlan:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return module.planned(parser.parse_args(words))


def tables_of(plan: CompilePlan) -> list[tuple[str, str, int]]:
    return [(setup.game.name, setup.preset, setup.players) for setup in plan.setups]


def test_the_parts_are_those_of_the_module() -> None:
    assert tuple(PARTS) == module.PARTS
    assert module.__doc__ is not None
    assert all(f"{part} (" in " ".join(module.__doc__.split()) for part in PARTS)


def test_setups_are_those_of_all_games_of_the_arguments_or_of_a_configuration(tmp_path: Path) -> None:
    assert [game for game, _, _ in tables_of(planned())] == list(game_names())
    plan = planned("--preset", "classic", "--players", "6", "--parts", "search", "tables")
    assert tables_of(plan) == [("nain_jaune", "classic", 6)]
    assert (plan.parts, plan.device, plan.start) == (("tables", "search"), "cpu", "fresh")
    (tmp_path / "config.yaml").write_text(CONFIG)
    plan = planned(str(tmp_path / "config.yaml"))
    assert tables_of(plan) == [("nain_jaune", "classic", 3), ("nain_jaune", "classic", 5), ("nain_jaune", "djeco", 4)]
    assert (plan.parts, plan.device, plan.start) == (tuple(PARTS), "cpu", {"pots": [0, 20]})


def test_the_device_is_that_of_the_configuration_unless_one_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ppo_checks, "check_device", str)
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG + "device: cuda\n")
    plan = planned(str(config))
    assert (plan.device, plan.parts) == ("cuda", tuple(part for part in PARTS if PARTS[part].on_gpu))
    monkeypatch.undo()  # there need be no GPU
    assert planned(str(config), "--device", "cpu").device == "cpu"


def test_without_torch_training_is_left_out(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "training" not in planned().parts
    assert capfd.readouterr().err == "The part 'training' is left out: torch is not installed.\n"
    with pytest.raises(MissingLibraryError, match="The part 'training' needs the package 'torch'"):
        planned("--parts", "training", "tables")


@pytest.mark.slow
@pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")
def test_parts_are_listed_with_their_seconds(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--game", "signal_lamps", "--workers", "1", "--parts", "inspection", "tables"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split(":")[0].split() for line in lines[:2]] == [["tables", "signal_lamps"], ["inspection", "signal_lamps"]]
    assert lines[2].startswith("Compiled for device=cpu, in ")


def test_errors_are_sentences(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG)
    both = f"names tables, and so does '{config}': give one of them. The device is --device."
    for words, sentence in (
        ((str(config), "--preset", "classic"), f"--preset {both}"),
        ((str(config), "--set", "device=cuda"), f"--set {both}"),
        (("--parts", "everything"), "Argument --parts: invalid choice: 'everything'"),
        (("--device", "cuda", "--parts", "tables", "search"), "There is nothing to compile for a GPU in the part 'search'."),
        (("--workers", "0"), "expected a whole number from 1 to"),
        (("--game", "poker"), "Unknown game 'poker'."),
        (("--game", ""), "Unknown game ''."),
    ):
        assert status_of(["compile", *words]) == 2
        assert sentence in " ".join(capfd.readouterr().err.split())


@pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")
def test_code_that_would_not_be_kept_is_not_compiled(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "file"))
    assert status_of(["compile"]) == 2
    out, err = capfd.readouterr()
    assert not out
    assert err.startswith("nainjaune compile: Nothing would be kept of what is compiled. ")
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "mine"))
    monkeypatch.setattr("nainjaune_env.compiler.jit.JIT_ENABLED", False)
    assert status_of(["compile"]) == 2
    assert "NUMBA_DISABLE_JIT switches the compiler off." in capfd.readouterr().err
