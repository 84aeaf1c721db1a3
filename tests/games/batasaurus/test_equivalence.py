"""The kernel equals the slow twin, ply by ply: the preset and random knobs at every number of seats.

9,000 games here; `python -m tests.prove --game batasaurus --rounds 1000000` for more.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from nainjaune_env.compiler.packed import pack
from nainjaune_env.games.batasaurus import SPEC
from tests import prove
from tests.twin.cells import Cell, all_cells, compare
from tests.twin.compare_batasaurus import Comparer
from tests.twin.mismatch import Mismatch

PRESET_GAMES = 1000
RANDOM_GAMES = 2000

AT_ANY_TABLE = {"battle on a battle", "three battles and more in a trick", "shared win", "memory glimpse"}
AT_ANY_TABLE |= {"exhausted, split", "exhausted, 2 seats", "seat 0 leads first", "seat 1 leads first"}
WITH_THREE = {"exhausted, with a remainder", "exhausted, and not the leader's battle", "exhausted, 3 seats"}
WITH_THREE |= {"a seat dropped out", "won as the one seat left", "a battle went on without a seat"}
WITH_THREE |= {"cards left over", "tie below the highest", "seat 2 leads first"}
WITH_FOUR = {"exhausted, 4 seats", "exhausted after a seat dropped out", "seat 3 leads first"}
RANDOM_KNOBS = {"memory perfect", "exhausted, void", "fewer dinosaurs"}


@pytest.mark.slow
@pytest.mark.parametrize("cell", all_cells("batasaurus"), ids=str)
def test_kernel_equals_twin(cell: Cell) -> None:
    games = PRESET_GAMES if cell.preset else RANDOM_GAMES
    seen = compare(cell, "suite", games)
    assert seen["rounds"] >= games
    # the comparison is worth only what it meets
    expected = AT_ANY_TABLE | (WITH_THREE if cell.players > 2 else set()) | (WITH_FOUR if cell.players > 3 else set())
    if cell.preset is None:
        expected |= RANDOM_KNOBS
    assert {event for event in expected if not seen[event]} == set()


OTHERWISE: dict[str, Any] = {"memory": "perfect", "exhausted": "void", "dinosaurs": 11}


@pytest.mark.parametrize("knob", OTHERWISE)
def test_a_kernel_under_other_rules_is_found_out(knob: str) -> None:
    """Each knob is turned on the kernel's side alone."""
    setup = SPEC.setup("batasaurus", 4)
    comparer = Comparer(setup)
    other = SPEC.kernel_rules(setup.rules.replace(**{knob: OTHERWISE[knob]}), 4)
    comparer.batch.numbers = pack(other, comparer.batch.options)
    with pytest.raises(Mismatch, match=r"differ: (.|\n)*preset='batasaurus' players=4 from me(.|\n)*moves="):
        comparer.job(Random(knob), "me")


def test_prove_reports_what_it_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert prove.main(["--game", "batasaurus", "--rounds", "60", "--seed", "7"]) == 0
    output = capsys.readouterr().out
    for part in ("batasaurus x2", "random knobs x4", "no difference in"):
        assert part in output
