"""What a study holds of this game, worked out again in plain Python from cards as text."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.cards import DECK, RANKS, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.actions import ACTIONS
from nainjaune_env.games.nain_jaune.research.features import POSITION
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.registry import make_setup
from tests.analysis.test_feature_hook import chosen, position_row
from tests.support.contract import advance, single

SETUPS = [make_setup(preset=preset, players=players) for preset, players in (("djeco", 4), ("classic", 6), ("skip", 2))]
SETUPS += [make_setup(preset="tableau", players=3, announce="explicit", decline="always")]


def texts(bits: Any) -> list[str]:
    return [DECK[number] for number in cards_in(bits)]


def rank_of(card: str) -> int:
    return RANKS.index(card[0]) + 1


def run_at(ranks: set[int], rank: int) -> int:
    length = 0
    while rank + length in ranks:
        length += 1
    return length


def relative(setup: Setup, other: int, seat: int) -> int:
    return (other - seat) % setup.players


def tables(setup: Setup) -> Any:
    batch, rng = single(setup, seed=11), random.Random(2)
    for _ in range(60):
        yield batch.tables[0], legal_actions(int(batch.legal[0]))
        advance(batch, 5, rng, rng.choice(["uniform", "mostly highest"]))
        if batch.done[0]:
            batch.reset()


@pytest.mark.parametrize("setup", SETUPS)
def test_positions(setup: Setup) -> None:
    n = setup.players
    for table, _ in tables(setup):
        played = [card for other in range(n) for card in texts(table.played[other])]
        for seat in range(n):
            row, hand = position_row(setup, table, seat), texts(table.hand[seat])
            ranks = {rank_of(card) for card in hand}
            runs = {rank: run_at(ranks, rank) for rank in sorted(ranks)}
            assert texts(row.hand_bits) == hand
            assert row.cards == len(hand)
            assert row.cards_of.tolist()[: n - 1] == [table.cards[(seat + k) % n] for k in range(1, n)]
            assert row.ranks == sum(1 << rank - 1 for rank in ranks)
            assert (row.lowest, row.highest) == (min(ranks), max(ranks))
            assert row.gaps == len(set(range(min(ranks), max(ranks))) - ranks)
            assert row.runs == sum(rank - 1 not in ranks for rank in ranks)
            assert row.longest_run == max(runs.values())
            assert row.longest_from == min(rank for rank in ranks if runs[rank] == row.longest_run)
            assert row.points == sum(min(rank_of(card), 10) for card in hand)
            assert row.holds.tolist() == [card in hand for card in POT_CARDS]
            assert row.played.tolist() == [card in played for card in POT_CARDS]
            assert row.pot.tolist() == table.pot.tolist()
            owners = {card: relative(setup, other, seat) for other in range(n) for card in texts(table.hand[other])}
            assert row.holder.tolist() == [owners.get(card, -1) for card in POT_CARDS]
            assert row.required == table.required_rank
            assert row.last == relative(setup, int(table.last), seat)
            assert bool(row.untouched) == (len(texts(table.played[seat])) == 0)
            assert bool(row.turns_ended) == bool(int(table.turn_taken) >> seat & 1)
            assert row.gone.tolist() == [sum(card[0] == rank for card in played) for rank in RANKS]
            assert row.void_of.tolist()[: n - 1] == [table.void[(seat + k) % n] for k in range(1, n)]
            assert row.stack == table.stack[seat]
            assert row.stack_of.tolist()[: n - 1] == [table.stack[(seat + k) % n] for k in range(1, n)]


@pytest.mark.parametrize("setup", SETUPS)
def test_actions(setup: Setup) -> None:
    seen = set()
    for table, legal in tables(setup):
        hand = texts(table.hand[table.seat])
        ranks = {rank_of(card) for card in hand}
        chips = dict(zip(POT_CARDS, table.pot.tolist(), strict=True))
        for number in legal:
            row, name = chosen(setup, table, number), ACTIONS[number]
            card, silent = name.removesuffix("~"), name.endswith("~")
            if name == "-":
                assert (row.rank, row.run, row.pot_card, row.takes, row.run_takes) == (0, 0, -1, 0, 0)
                assert (row.below, row.above) == (-1, -1)
                assert bool(row.declined) == (table.required_rank in ranks)
                seen.add("declined" if row.declined else "pass")
                continue
            rank = rank_of(card)
            run = run_at(ranks, rank)
            further = [c for c in POT_CARDS if c in hand and rank < rank_of(c) < rank + run]
            takes = chips[card] if card in POT_CARDS and not silent else 0
            assert (row.rank, row.run) == (rank, run)
            assert row.pot_card == (POT_CARDS.index(card) if card in POT_CARDS else -1)
            assert (row.takes, row.run_takes) == (takes, takes + sum(chips[c] for c in further))
            assert (row.below, row.above) == (sum(r < rank for r in ranks), sum(r > rank for r in ranks))
            assert not row.declined
            seen.add("silent" if silent else "pot" if card in POT_CARDS else "plain")
    assert {"plain", "pot", "pass"} <= seen
    assert ("silent" in seen) == (setup.rules.announce == "explicit")  # type: ignore[attr-defined]
    assert "declined" in seen or setup.rules.decline == "never"  # type: ignore[attr-defined]


def test_a_hand_that_is_out_of_cards() -> None:
    setup = SETUPS[0]
    batch, rng = single(setup, seed=3), random.Random(1)
    while not batch.done[0]:
        advance(batch, 1, rng)
    table = batch.tables[0]
    row = position_row(setup, table, int(table.winner))
    assert (row.cards, row.lowest, row.highest, row.longest_run, row.longest_from, row.gaps, row.runs) == (0,) * 7


def test_hands_read_as_actions_are_named() -> None:
    (spelling,) = (column.names for column in POSITION if column.name == "hand")  # type: ignore[union-attr]
    assert {name for _, name in spelling} <= set(ACTIONS)
    assert sorted(bit for bit, _ in spelling) == list(range(52))
    batch = Batch(SETUPS[0], 1, seed=1)
    hand = int(batch.tables[0].hand[0])
    names = [name for bit, name in spelling if hand >> bit & 1]
    assert [RANKS.index(name[0]) for name in names] == sorted(RANKS.index(card[0]) for card in texts(hand))
