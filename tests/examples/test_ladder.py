"""The ladder of ``examples/ladder``: its kept results are of its entries as they are now, and small."""

from __future__ import annotations

import json
from pathlib import Path

from nainjaune_agents.ladder.entries import read_ladder
from nainjaune_agents.ladder.results import Results
from tests.support.source import ROOT

FOLDER = ROOT / "examples" / "ladder"
MAX_BYTES = 1_000_000


def test_results_are_those_of_the_entries() -> None:
    """After a change to rules, heuristics, searches or networks: ``nainjaune ladder examples/ladder --build --deals 5000``."""
    results = Results(read_ladder(FOLDER))
    shown = json.loads((FOLDER / "site" / "ratings.json").read_text(encoding="utf-8"))
    of_pair = {(each["table"], each["a"], each["b"]): each["deals"] for each in shown["pairs"]}
    kept = {where: pairing.deals for where, pairing in results.pairings.items() if pairing.batches}
    assert kept == of_pair
    assert all(0.02 < interaction < 0.5 for interaction in shown["interaction"].values())
    assert {each["entry"] for each in shown["entries"]} == set(results.ladder.entries)


def test_results_and_page_are_small_and_contain_no_path_of_a_machine() -> None:
    files = [path for name in ("results", "site") for path in (FOLDER / name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MAX_BYTES
    for path in files:
        assert str(Path.home()) not in path.read_text(encoding="utf-8")
        assert str(ROOT) not in path.read_text(encoding="utf-8")
