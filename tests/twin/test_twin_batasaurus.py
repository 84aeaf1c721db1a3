"""The twin by itself; its articles are in ``tests/games/batasaurus/test_rules.py``, whose scripts it plays beside the kernel."""

from __future__ import annotations

import random

import pytest

from .batasaurus import Knobs, TwinGame


def begin(players: int, dinosaurs: int = 12) -> TwinGame:
    """A game with sorted layouts and nothing to memorise."""
    return TwinGame(Knobs(memory="perfect", dinosaurs=dinosaurs), [range(1, dinosaurs + 1)] * players, 0)


def play_out(g: TwinGame, rng: random.Random) -> TwinGame:
    while not g.over:
        g.play(rng.choice(g.legal()))
    return g


def test_b3_2_equal_piles_share_the_win() -> None:
    g = begin(2, 2)
    for action in (0, 1, 0, 1):  # 2 beats 1, twice
        g.play(action)
    assert (g.over, g.piles, g.winners()) == (True, [2, 2], [0, 1])


@pytest.mark.parametrize(("players", "battles", "exhausted"), [(2, 1.01, 0.087), (3, 1.41, 0.056), (4, 1.82, 0.050)])
def test_battles_are_as_often_as_was_counted_elsewhere(players: int, battles: float, exhausted: float) -> None:
    """A count that shares nothing with this one, of games at random; each tie at the highest is a battle there."""
    rng = random.Random(0)
    games = [play_out(begin(players), rng) for _ in range(2000)]
    laid = [list(one.values()) for g in games for trick in g.done_tricks for one in trick.rounds]
    assert sum(values.count(max(values)) > 1 for values in laid) / len(games) == pytest.approx(battles, abs=0.07)
    assert sum(bool(g.done_tricks[-1].exhausted) for g in games) / len(games) == pytest.approx(exhausted, abs=0.02)
