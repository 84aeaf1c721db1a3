"""``nainjaune export``: the file plays as its player does, what ``--help`` shows runs, and mistakes are sentences."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from nainjaune_agents.cli import export
from nainjaune_agents.cli.main import main
from tests.agents.cli.command import status_of

WRITE = ["export", "zoo:strong", "--onnx", "strong.onnx", "--preset", "djeco", "--players", "4"]


@pytest.mark.slow
def test_the_copy_is_rated_as_its_player_is(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over processes too, and as a name with suffixes."""
    assert main(WRITE) == 0
    size = (elsewhere / "strong.onnx").stat().st_size
    assert capsys.readouterr().out == f"strong.onnx: {size:,} bytes\n"
    players = ["onnx:strong.onnx", "zoo:strong", "onnx:strong.onnx@sample", "onnx:strong.onnx@search=2"]
    rate = ["evaluate", "--preset", "djeco", "--deals", "8", "--workers", "2", "--agents", *players]
    assert main([*rate, "--players", "4"]) == 0
    out = capsys.readouterr().out
    assert out.count("+0.000 (0 of 8 deals differ)") == 2
    assert main([*rate, "--players", "3"]) == 2
    assert "'onnx:strong.onnx' was trained with 4 players, and here there are 3." in capsys.readouterr().err


@pytest.mark.slow
def test_the_lines_of_the_help_run_without_this_package(elsewhere: Path) -> None:
    assert main(WRITE) == 0
    lines = re.search(r"\n\n((?:  .*\n)*  import json.*\n(?:  .*\n)+)", str(export.__doc__))
    assert lines is not None
    code = textwrap.dedent(lines[1])
    assert len(code.splitlines()) == 9
    code = f"import sys\nsys.modules.update(nainjaune_env=None, nainjaune_agents=None)\n{code}\n"
    code += "print(about['game'], logits.shape, value.shape, len(about['actions']))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=elsewhere)
    assert done.stdout == "nain_jaune (1, 24) (1,) 24\n"


def test_mistakes_are_sentences_and_write_nothing(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "there.onnx").write_bytes(b"mine")
    for words, says in (
        (["zoo:strong", "--onnx", "there.onnx"], "'there.onnx' exists, and is not overwritten: choose another --onnx."),
        (["closer", "--onnx", "x.onnx"], "Expected a trained player, whose network is of the arch mlp or residual,"),
        (["zoo:strong@search=5", "--onnx", "x.onnx"], "not 'zoo:strong@search=5'."),
        (["zoo:strong"], "The following arguments are required: --onnx"),
    ):
        assert status_of(["export", *words]) == 2
        assert says in capsys.readouterr().err
    assert [path.name for path in elsewhere.glob("*onnx*")] == ["there.onnx"]
    assert (elsewhere / "there.onnx").read_bytes() == b"mine"
