"""The observation, each named slot worked out again in plain Python from the twin's state."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from nainjaune_env.games.nain_jaune.encode import chip_code, signed_chip_code
from tests.twin.cells import Cell, all_cells, setup_of
from tests.twin.compare import Comparer, chooser, rigged_hands
from tests.twin.nain_jaune import POT_CARDS, TwinRound, rank_of


def code(chips: int, steps: int) -> int:
    """Which bucket of the log-linear code: the octave from the number's length in bits."""
    octave = max(0, chips.bit_length() - (2 * steps).bit_length() + 1)
    return octave * steps + (chips >> octave)


def one_hot(size: int, at: int) -> list[int]:
    return [int(i == at) for i in range(size)]


def by_rank(cards: list[str]) -> list[int]:
    count = Counter(rank_of(card) for card in cards if card not in POT_CARDS)
    return [count[rank] for rank in range(1, 14)]


def expected(r: TwinRound, seat: int, dealt: list[str], dealer: int, rounds: int) -> dict[str, Any]:
    """What `seat` observes, slot by slot."""
    n = r.players
    around = [(seat + k) % n for k in range(n)]
    kept = {card for hand in r.hands for card in hand}
    played = [card for card in dealt if card not in kept]
    begun = [r.turns_had[s] - (s == r.seat) for s in around]
    left = 0 if r.knobs.max_rounds is None else max(r.knobs.max_rounds - rounds, 0)
    return {
        "hand": by_rank(r.hands[seat]),
        "hand_pots": [int(card in r.hands[seat]) for card in POT_CARDS],
        "played": by_rank(played),
        "played_pots": [int(card in played) for card in POT_CARDS],
        "required": one_hot(14, r.required),
        "last": one_hot(n, around.index(r.last_player)),
        "at_turn": one_hot(n, around.index(r.seat)),
        "cards": [len(r.hands[s]) for s in around],
        "voids": [[int(rank in r.voids[s]) for rank in range(1, 14)] for s in around[1:]],
        "passed": [[int(rank in r.passed[s]) for rank in range(1, 14)] for s in around[1:]],
        "turn_taken": [int(turns > 0) for turns in begun],
        "hand_untouched": [int(r.cards_this_turn + len(r.hands[r.seat]) == r.dealt[r.seat])],
        "pots": [min(code(chips, 32), 255) for chips in r.pots],
        "stacks": [
            128 + (min(code(chips, 16), 127) if chips >= 0 else -min(code(-chips, 16), 127))
            for chips in (r.stacks[s] for s in around)
        ],
        "dealer": one_hot(n, around.index(dealer)),
        "rounds": [min(rounds, 255)],
        "rounds_left": [min(left, 255)],
    }


class Watcher:
    """Compares every seat's observation before each move."""

    def __init__(self, cell: Cell, seed: int) -> None:
        self.rng = random.Random(f"{cell} {seed}")
        self.comparer = Comparer(setup_of(cell, self.rng))
        self.layout = self.comparer.setup.layout
        self.compared = 0

    def round(self) -> None:
        rng, comparer = self.rng, self.comparer
        n, size = comparer.setup.players, comparer.rules.hand_size  # type: ignore[attr-defined]
        hands = rigged_hands(rng, n, size, comparer.knobs)
        dealer, rounds = rng.randrange(n), rng.choice((1, 2, 11, 12, 255, 256, 900))
        dealt = [card for hand in hands for card in hand]
        choose, limited = chooser(rng, n), comparer.knobs.starting_stack is not None
        antes = comparer.rules.round_antes  # type: ignore[attr-defined]
        stacks = [antes + int(10 ** rng.uniform(0, 5)) for _ in range(n)]
        if not limited:
            stacks = [rng.choice((-1, 1)) * stack for stack in stacks]

        def watch(r: TwinRound, moves: list[str]) -> str | None:
            for seat in range(n):
                views = self.layout.views(comparer.batch.observe(seat)[0])
                got = {name: view.tolist() for name, view in views.items()}
                assert got == expected(r, seat, dealt, dealer, rounds)
                self.compared += 1
            return choose(r, moves)

        pots = [int(10 ** rng.uniform(0, 6)) for _ in range(5)]
        comparer.play_from(hands, dealer, watch, stacks, pots, number=rounds)


@pytest.mark.parametrize("cell", all_cells(), ids=str)
def test_every_slot_of_every_seat_is_what_the_twin_says(cell: Cell) -> None:
    for seed in range(4 if cell.preset is None else 1):
        watcher = Watcher(cell, seed)
        for _ in range(3):
            watcher.round()
        assert watcher.compared > 60


# ---------------------------------------------------------------- chips as bytes

SAMPLES = sorted({*range(5000), *(1 << k for k in range(49)), *((1 << k) - 1 for k in range(49)), 10**9})


@pytest.mark.parametrize("steps", [16, 32])
def test_chip_code_is_exact_monotone_and_bounded_in_error(steps: int) -> None:
    codes = [int(chip_code(np.int64(chips), steps)) for chips in SAMPLES]
    assert codes == [code(chips, steps) for chips in SAMPLES]
    assert codes[: 2 * steps] == list(range(2 * steps))  # exact
    assert all(a <= b for a, b in itertools.pairwise(codes))  # monotone
    assert all(b - a <= 1 for a, b in itertools.pairwise(codes[:5000]))  # no code is left out
    least: dict[int, int] = {}
    for chips, number in zip(SAMPLES, codes, strict=True):
        least.setdefault(number, chips)
        assert chips - least[number] <= chips / steps  # relative error


def test_signed_chip_code_is_symmetric_and_cut_off() -> None:
    assert [int(signed_chip_code(np.int64(c))) for c in (-32, -1, 0, 1, 32)] == [96, 127, 128, 129, 160]
    for chips in SAMPLES:
        up, down = int(signed_chip_code(np.int64(chips))), int(signed_chip_code(np.int64(-chips)))
        assert up - 128 == 128 - down == min(code(chips, 16), 127)
    assert (signed_chip_code(np.int64(1983)), signed_chip_code(np.int64(1984))) == (254, 255)
    assert signed_chip_code(np.int64(-(1 << 48))) == 1
