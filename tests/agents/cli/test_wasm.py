"""``nainjaune wasm``, ``network`` and ``library``: files, and sentences for what is unknown. ``tests/wasm`` tests modules."""

import itertools
import json
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_env import make_setup
from tests.agents.cli.command import Capture, refused


def test_a_module_and_its_description_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang")
    assert main(["wasm", str(tmp_path / "games"), "--game", "signal_lamps"]) == 0
    assert "signal_lamps.wasm: " in capsys.readouterr().out
    module = tmp_path / "games" / "signal_lamps.wasm"
    assert module.read_bytes()[:4] == b"\0asm"
    assert json.loads(module.with_suffix(".json").read_text())["title"] == "Signal Lamps"


@pytest.mark.parametrize(
    ("words", "says"),
    [("wasm x --game whist", "whist"), ("library x --game signal_lamps --platform linux-riscv64", "linux-aarch64")],
)
def test_an_unknown_game_or_platform_is_refused(words: str, says: str, capfd: Capture) -> None:
    pytest.importorskip("ziglang")
    refused(capfd, words, says)


def test_a_network_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "strong.bin"
    assert main(["network", str(path), "--game", "batasaurus", "--set", "memory=perfect"]) == 0
    assert f"{path}: {path.stat().st_size:,} bytes" in capsys.readouterr().out
    line, _, weights = path.read_bytes().partition(b"\n")
    header = json.loads(line)
    setup = make_setup("batasaurus", memory="perfect")
    assert {key: header[key] for key in setup.to_dict()} == setup.to_dict()
    assert (header["name"], header["layout"]) == ("zoo:strong", setup.layout.fingerprint)
    sizes = header["sizes"]
    assert (sizes[0], sizes[-1]) == (setup.layout.size, len(setup.game.actions) + 1)
    assert len(weights) == 4 * sum((inputs + 1) * outputs for inputs, outputs in itertools.pairwise(sizes))
    assert (len(line) + 1) % 64 == 0


def test_a_player_that_is_no_plain_network_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--player", "lowest"], ["--game", "batasaurus"]):  # the latter remembers
        assert main(["network", str(tmp_path / "x.bin"), *words]) == 2
        assert "Expected a player that is a plain MLP without memory, not " in capsys.readouterr().err
    assert not (tmp_path / "x.bin").exists()
