"""The observation, each named slot worked out again in plain Python from the twin's state."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.batasaurus import SPEC
from nainjaune_env.games.batasaurus.records.replay import setup_table
from tests.twin.batasaurus import MEMORISE, Knobs, TwinGame

PHASES = ("memorise", "trick", "battle")
CELLS = list(itertools.product(("glimpse", "perfect"), (2, 3, 4), (2, 3, 5, 12)))


def one_hot(size: int, at: int | None) -> list[int]:
    return [int(i == at) for i in range(size)]


def chosen(values: list[int]) -> list[int]:
    return [int(value in values) for value in range(1, 13)]


def expected(g: TwinGame, seat: int, memory: str) -> dict[str, Any]:
    """What `seat` observes, slot by slot (B4)."""
    n = g.players
    around = [(seat + k) % n for k in range(n)]
    slots = g.slots[seat] + [None] * (12 - len(g.slots[seat]))
    sees = memory == "perfect" or (g.phase() == "memorise" and g.seat() == seat)
    return {
        "layout": [one_hot(12, value - 1 if sees and value is not None else None) for value in slots],
        "slots": [int(value is not None) for value in slots],
        "held": [chosen(g.unshown(s)) for s in around],
        "shown": [chosen(g.shown(s)[-1:]) for s in around],
        "phase": one_hot(3, PHASES.index(g.phase())),
        "at_turn": one_hot(n, around.index(g.seat())),
        "leader": one_hot(n, around.index(g.leader)),
        "battling": [int(s in g.battling) for s in around],
        "committed": [int(g.committed(s)) for s in around],
        "cards": [g.cards_left(s) for s in around],
        "pile": [g.piles[s] for s in around],
        "at_stake": [g.at_stake()],
    }


def tying(g: TwinGame, moves: list[int], rng: random.Random) -> int:
    """Ties with the last round where it can, as often as not: battles are rare at random."""
    if moves == [MEMORISE] or rng.random() < 0.4:
        return rng.choice(moves)
    laid = list(g.trick.rounds[-1].values())
    like = [slot for slot in moves if laid and g.slots[g.seat()][slot] == max(laid)]
    return rng.choice(like or moves)


@pytest.mark.parametrize(("memory", "players", "dinosaurs"), CELLS)
def test_every_slot_of_every_seat_is_what_the_twin_says(memory: str, players: int, dinosaurs: int) -> None:
    setup = SPEC.setup("batasaurus", players, memory=memory, dinosaurs=dinosaurs)
    rng = random.Random(f"{memory} {players} {dinosaurs}")
    batch = Batch(setup, 1, skip_forced=False, autoreset=False)
    met = set()
    for _ in range(12):
        values = list(range(1, dinosaurs + 1))
        layouts = [values if memory == "perfect" else rng.sample(values, dinosaurs) for _ in range(players)]
        leader = rng.randrange(players)
        batch.set_tables(0, np.array([setup_table(setup, layouts, leader=leader)], SPEC.table))
        g = TwinGame(Knobs(memory=memory, dinosaurs=dinosaurs), layouts, leader)
        while not g.over:
            for seat in range(players):
                views = setup.layout.views(batch.observe(seat)[0])
                assert {name: view.tolist() for name, view in views.items()} == expected(g, seat, memory)
            met |= {g.phase()} | {f"committed {sum(map(g.committed, range(players)))}"}
            action = tying(g, g.legal(), rng)
            g.play(action)
            batch.step([action])
        assert batch.done[0]
    # the comparison is worth only what it meets
    assert met >= {"trick", "battle", "committed 1"} | ({"memorise"} if memory == "glimpse" else set())
    assert players == 2 or "committed 2" in met or dinosaurs == 2


@pytest.mark.parametrize("memory", ["glimpse", "perfect"])
def test_b4_at_the_end_nothing_more_is_seen(memory: str) -> None:
    """Nobody turns up the cards that are left over."""
    batch = Batch(SPEC.setup("batasaurus", 4, memory=memory), 40, seed=1, autoreset=False)
    rng = np.random.default_rng(2)
    while not batch.done.all():
        batch.step([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in batch.mask])
    left = batch.tables["cards"][:, 0] > 0
    assert left.sum() > 5
    views = batch.setup.layout.views(batch.observe(0))
    assert views["layout"].any(axis=(1, 2)).tolist() == (left if memory == "perfect" else left & False).tolist()
    assert np.array_equal(views["cards"], batch.tables["cards"])
