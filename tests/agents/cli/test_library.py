"""``nainjaune library``: sentences for what is unknown. ``tests/build/test_library.py`` builds and tests libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main


def test_an_unknown_game_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["library", str(tmp_path / "x"), "--game", "whist"]) == 2
    assert "whist" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_an_unknown_platform_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang")
    assert main(["library", str(tmp_path / "x"), "--game", "signal_lamps", "--platform", "linux-riscv64"]) == 2
    error = capsys.readouterr().err
    assert "linux-riscv64" in error
    assert "linux-aarch64" in error
    assert not (tmp_path / "x").exists()
