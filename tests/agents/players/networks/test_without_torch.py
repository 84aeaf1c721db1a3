"""Trained players act, are rated, searched over, advised by and seated where torch cannot be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source import ROOT

USES = """
import asyncio
import random
import sys
from pathlib import Path

from nainjaune_agents.cli.main import main
from nainjaune_agents.tables.server.server import TableServer
from tests.agents.tables.server.pages import FREE, Page, made, new_table, opened
from tests.agents.tables.server.test_server import play_on

for command in (
    "evaluate --agents zoo:strong@sample closer --preset djeco --players 3 --deals 4 --seed 1 --workers 2 --out results",
    "evaluate --one-way --agents zoo:strong@search=2,inference=policy zoo:strong --preset djeco --deals 2",
    "evaluate --until-decided --agents zoo:strong random --preset batasaurus --deals 8",
    "export zoo:strong --onnx strong.onnx --preset batasaurus",
    "evaluate --agents onnx:strong.onnx zoo:strong --preset batasaurus --deals 8",
    "advise --preset djeco --players 4 --model zoo:strong --error 5 --hand A 2 3 3 5 7 8 9 10 10 V D",
):
    assert main(command.split()) == 0, command


async def play_round():
    with opened(Path("t.sqlite")) as store:
        server = TableServer(store, limits=FREE)
        seats = [{"person": "P"}, *[{"agent": "zoo:strong"}] * 3]
        page = Page(server, (await made(server, new_table("nain_jaune", players=4, seats=seats)))[0])
        await page.hello()
        view = await play_on(page, random.Random(1))
        await server.close()
        return view["records"]


assert asyncio.run(play_round()) == 1
print("torch" in sys.modules)
"""
"""Zoo players are rated, searched over, with memory too, as ONNX files, advised by, and seated at a table."""


def without_torch(tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Runs ``code`` in a process, and in its children, where ``import torch`` fails."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n", encoding="utf-8"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.slow
def test_zoo_players_are_rated_searched_over_advised_by_and_seated(tmp_path: Path) -> None:
    done = without_torch(tmp_path, USES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "False"
