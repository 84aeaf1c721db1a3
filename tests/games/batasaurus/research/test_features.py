"""What a study holds of this game, worked out again in plain Python."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nainjaune_env.analysis.feature_hook import Column
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.research.features import POSITION
from nainjaune_env.games.batasaurus.state import SLOTS
from nainjaune_env.registry import make_setup
from tests.analysis.test_feature_hook import chosen, position_row
from tests.support.contract import advance, single

SETUPS = [make_setup("batasaurus", players=players, memory=memory) for players in (2, 4) for memory in ("glimpse", "perfect")]


def values(bits: Any) -> list[int]:
    return [value for value in range(1, SLOTS + 1) if int(bits) >> value - 1 & 1]


@pytest.mark.parametrize("setup", SETUPS)
def test_positions_and_actions(setup: Setup) -> None:
    n, phases = setup.players, set()
    (names,) = (column.names for column in POSITION if isinstance(column, Column) and column.name == "phase")
    batch, rng = single(setup, seed=2), random.Random(5)
    for _ in range(60):
        table = batch.tables[0]
        for seat in range(n):
            row, others = position_row(setup, table, seat), [(seat + k) % n for k in range(1, n)]
            lying = {slot: int(table.layout[seat, slot]) for slot in range(SLOTS) if int(table.slots[seat]) >> slot & 1}
            assert values(row.hand_bits) == values(table.held[seat])
            assert row.slot.tolist() == [lying.get(slot, 0) for slot in range(SLOTS)]
            assert row.slots == sum(1 << slot for slot in lying)
            assert (row.cards, row.piles, row.shown) == (len(lying), table.pile[seat], table.shown[seat])
            assert [values(bits) for bits in row.hand_bits_of[: n - 1]] == [values(table.held[other]) for other in others]
            assert row.cards_of[: n - 1].tolist() == table.cards[others].tolist()
            assert row.piles_of[: n - 1].tolist() == table.pile[others].tolist()
            assert row.shown_of[: n - 1].tolist() == table.shown[others].tolist()
            assert row.highest == max(table.shown[:n])
            assert row.leader == (int(table.leader) - seat) % n
            assert (row.trick, row.at_stake, bool(row.leads)) == (table.tricks, table.at_stake, table.at_stake == 0)
            assert row.phase == table.phase
            if seat == table.seat:
                phases.add(names[row.phase])
                for number in legal_actions(int(batch.legal[0])):
                    value = 0 if number == MEMORISE else lying[number]
                    below, above = (sum(v < value for v in lying.values()), sum(v > value for v in lying.values()))
                    assert chosen(setup, table, number).tolist() == ((0, 0, 0) if value == 0 else (value, below, above))
        advance(batch, 1, rng)
        if batch.done[0]:
            batch.reset()
    assert phases == set(names) - ({"memorising"} if setup.rules.memory == "perfect" else set())  # type: ignore[attr-defined]
