"""``nainjaune wasm``: files for each game, and what is missing or unknown in a sentence. Modules are tested in ``tests/wasm``."""

import json
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main


def test_a_module_and_its_description_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang")
    assert main(["wasm", str(tmp_path / "games"), "--game", "signal_lamps"]) == 0
    assert "signal_lamps.wasm: " in capsys.readouterr().out
    module = tmp_path / "games" / "signal_lamps.wasm"
    assert module.read_bytes()[:4] == b"\0asm"
    assert json.loads(module.with_suffix(".json").read_text())["title"] == "Signal Lamps"


def test_an_unknown_game_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wasm", str(tmp_path / "games"), "--game", "whist"]) == 2
    assert "whist" in capsys.readouterr().err
    assert not (tmp_path / "games").exists()
