"""The kernel equals the slow twin, ply by ply: every preset at every number of seats, and random knobs.

8,000 rounds here; `python -m tests.prove --rounds 1000000` for more.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from nainjaune_env.compiler.packed import pack
from nainjaune_env.games.nain_jaune import SPEC
from tests import prove
from tests.twin.cells import Cell, all_cells, compare
from tests.twin.compare import ACTION, Comparer, Mismatch, random_knobs
from tests.twin.nain_jaune import DECK, PASS, POT_CARDS

PRESET_ROUNDS = 250
RANDOM_ROUNDS = 360


@pytest.mark.slow
@pytest.mark.parametrize("cell", all_cells(), ids=str)
def test_kernel_equals_twin(cell: Cell) -> None:
    rounds = PRESET_ROUNDS if cell.preset else RANDOM_ROUNDS
    seen = compare(cell, "suite", rounds)
    assert seen["rounds"] >= rounds
    # the comparison is worth only what it meets
    expected = {"grand opéra", "blocked", "matches to the end", "last card is a pot card", "last card is a King"}
    if cell.preset is None:
        expected |= {"silent", "default"}
    elif SPEC.presets[cell.preset].rules.to_dict()["starting_stack"] is not None:
        expected |= {"default"}
    assert {event for event in expected if not seen[event]} == set()


SHORT = [(2, 5, 2, 4), (2, 6, 2, 5), (2, 5, 3, 5), (2, 4, 1, 2), (3, 11, 4, 9), (4, 13, 3, 9), (8, 9, 2, 2), (5, 2, 4, 1)]
"""Players, ranks, suits, hand (N1.7)."""


@pytest.mark.parametrize(("players", "ranks", "suits", "hand"), SHORT)
def test_n1_7_kernel_equals_twin_with_short_decks(players: int, ranks: int, suits: int, hand: int) -> None:
    rng = random.Random(f"{players} {ranks} {suits} {hand}")
    seen: Counter[str] = Counter()
    while seen["rounds"] < 150:
        knobs = {**random_knobs(rng), "ranks": ranks, "suits": suits, "hand": hand}
        comparer = Comparer(SPEC.setup("skip", players, **knobs))
        comparer.job(rng, f"short deck, {seen['rounds']} rounds on")
        seen += comparer.seen
    assert seen["grand opéra"]
    assert seen["matches to the end"]
    assert seen["blocked"] or hand == 1  # the first card ends the round


def test_n1_1_every_card_and_n1_2_pot_card_is_one_action() -> None:
    assert sorted(ACTION[card] for card in DECK) == sorted(
        [rank for rank in range(13) for _ in range(3 if rank in (6, 9, 10, 11, 12) else 4)] + list(range(13, 18))
    )
    assert [ACTION[card] for card in POT_CARDS] == [13, 14, 15, 16, 17]
    assert [ACTION[f"{card}~"] for card in POT_CARDS] == [19, 20, 21, 22, 23]
    assert ACTION[PASS] == 18


OTHERWISE: dict[str, Any] = {
    "decline": "always",
    "blocked": "restart",
    "payment": "cards",
    "stranded": "twice_ante",
    "grand_opera": "no_rival_card",
    "announce": "explicit",
    "stake": 2,
    "end_on_default": False,
    "max_rounds": 1,
    "starting_stack": None,
}


@pytest.mark.parametrize("knob", [*OTHERWISE, "unannounced"])
def test_a_kernel_under_other_rules_is_found_out(knob: str) -> None:
    """Each knob is turned on the kernel's side alone."""
    # without silent plays a default leaves nothing to ante with: the match ends whatever `end_on_default` says
    loud = {"announce": "explicit", "unannounced": 2} if knob in ("unannounced", "end_on_default") else {}
    setup = SPEC.setup("skip", 4, **loud)
    comparer = Comparer(setup)
    other = setup.rules.replace(**{knob: OTHERWISE.get(knob, 3)})
    comparer.rules = SPEC.kernel_rules(other, 4)
    comparer.telling = replace(setup, rules=other)
    comparer.batch.numbers = pack(comparer.rules, comparer.batch.options)
    rng = random.Random(knob)

    def play() -> None:
        for _ in range(300):
            comparer.match(rng, "me")
            comparer.rigged(rng, "me")

    with pytest.raises(Mismatch, match=r"twin (.|\n)*kernel (.|\n)*preset='skip' players=4 from me(.|\n)*moves="):
        play()


def test_prove_tells_a_mismatch_so_that_it_can_be_replayed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ACTION, "2s", ACTION["3s"])
    assert prove.main(["--rounds", "60"]) == 1
    output = capsys.readouterr().out
    for part in ("preset='djeco'", "knobs={", "seed 0.0, job", "hands=[", "stacks=", "moves="):
        assert part in output
