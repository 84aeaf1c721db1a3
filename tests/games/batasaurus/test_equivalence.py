"""The kernel equals the slow twin, ply by ply: the preset and random knobs at every number of seats.

9,000 games here; `python -m tests.prove --game batasaurus --rounds 1000000` for more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from nainjaune_env.compiler.packed import pack
from nainjaune_env.games.batasaurus import SPEC
from tests import prove
from tests.twin.batasaurus import MEMORISE
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


def test_there_are_9_000_games_over_every_cell() -> None:
    cells = all_cells("batasaurus")
    assert [str(cell) for cell in cells] == [f"{name} x{n}" for name in ("batasaurus", "random knobs") for n in (2, 3, 4)]
    assert sum(PRESET_GAMES if cell.preset else RANDOM_GAMES for cell in cells) >= 9_000


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


LAYOUTS = [[1, 2, 3], [3, 1, 2], [2, 3, 1]]
# seats 0 and 1 tie on 3 and battle; seat 0 has committed, hidden, when the moves end
MOVES = [MEMORISE, MEMORISE, MEMORISE, 2, 0, 0, 1]
FIELDS = ("slots", "held", "cards", "pile", "shown", "hidden", "at_stake", "battling")
FIELDS += ("phase", "tricks", "first", "leader", "seat", "stage", "layout")


class Tampered(Comparer):
    """One field of one table is changed by one after the seventh ply."""

    field = ""
    plies = 0

    def step(self, chosen: Sequence[int | None]) -> None:
        super().step(chosen)
        self.plies += 1
        if self.plies == len(MOVES):
            part = self.batch.tables[self.field]
            part[(1,) + (0,) * (part.ndim - 1)] ^= 1


@pytest.mark.parametrize("field", FIELDS)
def test_a_wrong_field_is_found_out(field: str) -> None:
    comparer = Tampered(SPEC.setup("batasaurus", 3, dinosaurs=3))
    comparer.field = field
    with pytest.raises(Mismatch, match="after 7 plies"):
        comparer.play_from(LAYOUTS, 0, MOVES)


@pytest.mark.parametrize("part", ["legal", "reward"])
def test_what_the_batch_tells_is_compared_too(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    comparer = Comparer(SPEC.setup("batasaurus", 3, dinosaurs=3))
    true = comparer.step

    def step(chosen: Sequence[int | None]) -> None:
        true(chosen)
        getattr(comparer.batch, part).flat[0] ^= 1

    monkeypatch.setattr(comparer, "step", step)
    with pytest.raises(Mismatch, match="after 1 plies"):
        comparer.play_from(LAYOUTS, 0, MOVES)


def test_a_game_from_given_layouts() -> None:
    comparer = Comparer(SPEC.setup("batasaurus", 3, dinosaurs=3))
    g = comparer.play_from(LAYOUTS, 0, MOVES)
    assert (g.phase(), g.seat(), g.battling, g.at_stake()) == ("battle", 1, [0, 1], 4)
    assert comparer.batch.tables[0].hidden.tolist() == [2, 0, 0, 0]
    g = comparer.play_from(LAYOUTS, 0, [*MOVES, 1, 0, 2, 1])  # 2 beats 1, then 1 loses to 2 and 3
    assert (g.over, g.piles, g.left_over) == (True, [5, 0, 3 + 1], [0, 0, 1])
    assert comparer.batch.tables[0].pile.tolist() == [5, 0, 4, 0]


def test_every_first_leader_and_layout_is_as_likely_as_another() -> None:
    """B1 and B3.2, on what the comparison starts from: each value in each slot, within five standard errors."""
    comparer = Comparer(SPEC.setup("batasaurus", 4))
    rng = Random(1)
    firsts: Counter[int] = Counter()
    value_in_slot = np.zeros((4, 12, 13), int)
    for _ in range(100):
        comparer.batch.reset(seeds=np.array([rng.getrandbits(64) for _ in range(comparer.batch.num_tables)], np.uint64))
        tables = comparer.batch.tables
        firsts.update(tables["first"].tolist())
        for table in tables:
            value_in_slot[np.arange(4)[:, None], np.arange(12), table.layout] += 1
    games = sum(firsts.values())
    assert sorted(firsts) == [0, 1, 2, 3]
    assert max(abs(count - games / 4) for count in firsts.values()) < 5 * (games * 3 / 16) ** 0.5
    assert np.abs(value_in_slot[:, :, 1:] - games / 12).max() < 5 * (games * 11 / 144) ** 0.5


def test_prove_reports_what_it_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert prove.main(["--game", "batasaurus", "--rounds", "60", "--seed", "7"]) == 0
    output = capsys.readouterr().out
    for part in ("batasaurus x2", "random knobs x4", "no difference in"):
        assert part in output


def test_prove_tells_a_mismatch_so_that_it_can_be_replayed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Comparer, "step", lambda self, chosen: None)  # the kernel stands still
    assert prove.main(["--game", "batasaurus", "--rounds", "60"]) == 1
    output = capsys.readouterr().out
    for part in ("preset='batasaurus'", "knobs={", "seed 0.0, job", "leader=", "layouts=[", "moves=[12]"):
        assert part in output
