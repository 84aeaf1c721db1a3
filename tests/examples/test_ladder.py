"""The ladder of ``examples/ladder``: its kept results are of its entries as they are now, and small."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_agents.measure.ladder.results import Results
from tests.support.source import ROOT

FOLDER = ROOT / "examples" / "ladder"
MAX_BYTES = 1_200_000


def test_results_are_those_of_the_entries() -> None:
    """After a change to rules, heuristics, searches or networks: ``nainjaune ladder examples/ladder --build --deals 5000``."""
    results = Results(read_ladder(FOLDER))
    shown = json.loads((FOLDER / "site" / "ratings.json").read_text(encoding="utf-8"))
    of_pair = {(each["table"], each["a"], each["b"]): each["deals"] for each in shown["pairs"]}
    kept = {where: pairing.deals for where, pairing in results.pairings.items() if pairing.batches}
    assert kept == of_pair
    assert len((FOLDER / "results" / "batches.jsonl").read_text(encoding="utf-8").splitlines()) == 1 + sum(
        len(pairing.batches) for pairing in results.pairings.values()
    )
    assert all(0.02 < interaction < 0.5 for interaction in shown["interaction"].values())
    assert {each["entry"] for each in shown["entries"]} == set(results.ladder.entries)


def test_results_and_page_are_small_and_contain_no_path_of_a_machine() -> None:
    files = [path for name in ("results", "site") for path in (FOLDER / name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MAX_BYTES
    for path in files:
        assert str(Path.home()) not in path.read_text(encoding="utf-8")
        assert str(ROOT) not in path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_comes_out_the_same_on_other_processors(tmp_path: Path) -> None:
    """Linear algebra that OpenBLAS has for another one gives other last digits; no file shows them."""
    for name in ("ladder", "bots"):  # entries are built from programs beside them
        shutil.copytree(FOLDER.parent / name, tmp_path / name)
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", "ladder", str(tmp_path / "ladder"), "--deals", "0"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_CORETYPE": "Nehalem"})
    assert changed_files(FOLDER, tmp_path / "ladder") == []


def changed_files(one: Path, other: Path) -> list[str]:
    """The names of the files that are not in both folders with the same content."""
    content = [
        {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (one, other)
    ]
    return sorted(name for name in content[0].keys() | content[1].keys() if content[0].get(name) != content[1].get(name))
