"""Hidden hands drawn anew (N6), held against every deal there is: short decks (N1.7) have few enough."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.cards import card_set
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune import SPEC, chance, kernel
from nainjaune_env.games.nain_jaune.belief import resample
from nainjaune_env.games.nain_jaune.belief.deals import resample_many
from tests.support.chi_square import surprising

DRAWS = 1500


def short(players: int, **knobs: Any) -> Setup:
    return SPEC.setup("skip", players, **{"ranks": 4, "suits": 2, "blocked": "restart", **knobs})


class Deals:
    """Every opening by kinds with one dealer, played along with what is played at one table."""

    def __init__(self, setup: Setup, dealer: int) -> None:
        result = [(drawn, ways) for drawn, ways in chance.openings(setup) if drawn[0] == dealer]
        self.setup = setup
        self.ways = np.array([ways for _, ways in result])
        self.batch = Batch(setup, len(result), skip_forced=False, autoreset=False)
        self.batch.set_tables(np.arange(len(result)), np.array([chance.opening(setup, drawn) for drawn, _ in result]))
        self.left = np.arange(len(result))
        """Where all that was played could be played."""

    def step(self, action: int) -> None:
        self.left = self.left[(self.batch.legal[self.left] >> action & 1).astype(bool)]
        self.batch.step(np.full(len(self.left), action), self.left)

    def fitting(self, known: Any, seat: int) -> dict[tuple[int, ...], int]:
        """By hands: in how many deals ``seat`` knows just what it knows at the table ``known``."""
        rows = self.batch.tables[self.left]
        shown = rows.copy()
        for row in shown:
            kernel.redact(row, self.setup.kernel_rules, seat)
        seen = (seen_by_kinds(self.setup, shown) == seen_by_kinds(self.setup, np.array([known]))).all(axis=1)
        fits: Counter[tuple[int, ...]] = Counter()
        for counts, ways in zip(by_kinds(self.setup, rows[seen]).tolist(), self.ways[self.left[seen]], strict=True):
            fits[tuple(counts)] += int(ways)
        return fits


def redacted(setup: Setup, table: Any, seat: int) -> Any:
    rows = np.array([table])
    kernel.redact(rows[0], setup.kernel_rules, seat)
    return rows[0]


def by_kinds(setup: Setup, rows: NDArray[Any], field: str = "hand") -> NDArray[Any]:
    """How many cards of each kind each seat holds: all that the rules distinguish (N1.3), one row per table."""
    kinds = np.array([card_set(kind) for kind in chance.kinds(setup)])
    return np.bitwise_count(rows[field][:, : setup.players, None] & kinds).reshape(len(rows), -1)


def seen_by_kinds(setup: Setup, redacted: NDArray[Any]) -> NDArray[Any]:
    """All that redacted tables show except the suits that make no difference, one row of bytes per table."""
    rest = redacted.copy()
    rest["hand"] = rest["played"] = 0
    parts = [by_kinds(setup, redacted), by_kinds(setup, redacted, "played"), rest.view(np.uint8).reshape(len(rest), -1)]
    return np.concatenate(parts, axis=1)


def drawn(setup: Setup, known: Any, seat: int, seed: int, draws: int = DRAWS, memory: int = 1 << 16) -> NDArray[Any]:
    """Counted first, in so many numbers of ``memory``; with 0 one by one."""
    rows = np.repeat(np.array([known]), draws)
    rows["rng"] = streams(seed, draws)
    resample_many(rows, setup.kernel_rules, seat, np.full(memory, np.nan))
    return rows


def positions(setup: Setup, seed: int, plies: int) -> Iterator[tuple[Any, Deals]]:
    """A table in random play and all deals that go along with it, ply by ply."""
    rng = random.Random(seed)
    batch = Batch(setup, 1, seed=seed, skip_forced=False, autoreset=False)
    deals = Deals(setup, int(batch.tables["dealer"][0]))
    for _ in range(plies):
        yield batch.tables[0], deals
        action = rng.choice(legal_actions(int(batch.legal[0])))
        batch.step([action])
        deals.step(action)
        if batch.done[0]:
            return


SETUPS = {
    "two seats": short(2, hand=3),
    "three seats": short(3, hand=2),
    "a refusal proves nothing": short(2, hand=3, decline="always"),
    "or only when going on": short(3, hand=2, decline="entry"),
    "four of a kind": short(2, ranks=2, suits=4, hand=3),
    "no talon": short(3, ranks=3, hand=2),
    "four seats": short(4, ranks=3, suits=3, hand=2),
    "a blocked run skips": short(3, hand=2, blocked="skip"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETUPS)
def test_n6_every_deal_that_fits_is_drawn_as_often_as_any_other(name: str) -> None:
    setup = SETUPS[name]
    looked = 0
    for seed in range(2):
        for ply, (table, deals) in enumerate(positions(setup, seed, plies=9)):
            seat = int(table.seat) if ply % 2 else (int(table.seat) + 1) % setup.players
            known = redacted(setup, table, seat)
            expected = deals.fitting(known, seat)
            if ply % 2 == seed % 2 or len(expected) == 1:
                continue
            for memory in (0, 1 << 16):
                rows = drawn(setup, known, seat, seed, memory=memory)
                result = Counter(map(tuple, by_kinds(setup, rows).tolist()))
                assert not surprising(result, expected), (seed, ply, memory)
            looked += 1
    assert looked > 1


@pytest.mark.slow
@pytest.mark.parametrize("preset", SPEC.presets)
def test_n1_4_the_deck_is_one_that_these_hands_were_dealt_from(preset: str) -> None:
    for players in {SPEC.presets[preset].players[0], SPEC.presets[preset].players[-1]}:
        setup = SPEC.setup(preset, players)
        rules: Any = setup.kernel_rules
        batch, draws = Batch(setup, 20, seed=3), streams(3, 20)
        for _ in range(4):
            batch.step(batch.sample(draws))
        rows = batch.redacted()
        rows["rng"] = streams(4, 20)
        for number, row in enumerate(rows):
            if number % 2:
                resample.resample(row, rules, row.seat)
            else:
                resample_many(rows[number : number + 1], rules, row.seat, np.full(1 << 16, np.nan))
            assert sorted(row.deck) == list(range(52))
            for seat in range(players):
                dealt = int(row.hand[seat] | row.played[seat])
                assert card_set(row.deck[seat * rules.hand_size : (seat + 1) * rules.hand_size].tolist()) == dealt
                assert int(row.hand[seat]).bit_count() == row.cards[seat]


@pytest.mark.parametrize(("preset", "players"), [("djeco", 2), ("djeco", 4), ("classic", 5), ("skip", 7)])
def test_both_ways_of_drawing_agree_with_a_full_deck(preset: str, players: int) -> None:
    """Where there are too many deals to go through: how many cards of each rank each seat is drawn."""
    setup = SPEC.setup(preset, players)
    for seed in range(3):
        batch, draws = Batch(setup, 1, seed=seed), streams(seed, 1)
        for _ in range(3 + 2 * seed):
            batch.step(batch.sample(draws))
        known = batch.redacted()[0]
        counts = []
        for memory in (0, 1 << 19):
            hands = drawn(setup, known, int(known.seat), seed, memory=memory)["hand"][:, :players, None]
            counts.append(np.sum([hands >> (13 * suit) + np.arange(13) & 1 for suit in range(4)], axis=0))
        one, two = counts
        spread = np.sqrt((one.var(axis=0) + two.var(axis=0)) / DRAWS)
        apart = np.abs(one.mean(axis=0) - two.mean(axis=0))
        assert (apart[spread == 0] == 0).all()
        assert (apart <= 5 * spread + 1e-12).all()
        assert (spread > 0).sum() > 10


def test_most_left_bounds_what_is_left() -> None:
    """The bound that a deal is kept by: no draw leaves a seat more, or the least drawn deals would be too rare."""
    setup = SPEC.setup("classic", 6)
    rules: Any = setup.kernel_rules
    batch, draws = Batch(setup, 30, seed=5), streams(5, 30)
    reached = 0
    for _ in range(12):
        batch.step(batch.sample(draws))
        rows = batch.redacted()
        rows["rng"] = streams(6, 30)
        for row in rows:
            unseen = rules.deck & ~int(row.hand[row.seat])
            for seat in range(6):
                unseen &= ~int(row.played[seat])
            order = int(resample.tightest_first(row, rules, int(row.seat), np.int64(unseen)))
            seats = [order >> 4 * place & 15 for place in range(5)]
            assert sorted([*seats, int(row.seat)]) == list(range(6))
            assert resample.resample(row, rules, row.seat) is None
            rest = unseen
            for place, seat in enumerate(seats):
                allowed = int(resample.may_hold(row, seat, np.int64(rest))).bit_count()
                most = int(resample.most_left(row, np.int64(order), place, np.int64(unseen)))
                assert row.cards[seat] <= allowed <= most
                reached += allowed == most
                rest &= ~int(row.hand[seat])
    assert reached > 200
