"""The checks of tables from outside that every game has; the games' own are tested beside them."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import game_names, get_game, make_setup


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("seat", -1, "a seat from 0 to 1; its field 'seat' is -1."),
        ("seat", 2, "a seat from 0 to 1; its field 'seat' is 2."),
        ("stage", -1, "a stage from 0 to 2; its field 'stage' is -1."),
        ("stage", 3, "a stage from 0 to 2; its field 'stage' is 3."),
    ],
)
def test_seat_and_stage_are_checked_in_every_game(game: str, field: str, value: int, expected: str) -> None:
    setup = make_setup(game, players=2)
    rows = Batch(setup, 3).tables.copy()
    setup.check_tables(rows)
    rows[field][1] = value
    with pytest.raises(DealError) as refused:
        setup.check_tables(rows)
    assert str(refused.value) == f"Table 1 of the 3 given cannot occur: expected {expected}"
    with pytest.raises(DealError) as refused:
        setup.check_tables(rows[1])
    assert str(refused.value) == f"This table cannot occur: expected {expected}"


@pytest.mark.parametrize(
    ("game", "preset", "players"),
    [
        (name, preset, players)
        for name in game_names()
        for preset, sheet in get_game(name).presets.items()
        for players in (sheet.players[0], sheet.players[-1])
    ],
)
@pytest.mark.parametrize("skip_forced", [True, False])
def test_every_table_that_play_reaches_can_occur(game: str, preset: str, players: int, skip_forced: bool) -> None:
    setup = make_setup(game, preset, players)
    draws, over = streams(1, 16), 0
    for start in ("fresh", "carried"):
        batch = Batch(setup, 16, seed=2, start=start, skip_forced=skip_forced, autoreset=start == "carried")
        for _ in range(120):
            setup.check_tables(batch.tables)
            batch.step(batch.sample(draws))
        over += int((batch.tables["stage"] > 0).sum())
    assert over > 0


@pytest.mark.parametrize("game", game_names())
def test_tables_with_a_bit_flipped_are_refused_or_are_played_to_the_end(game: str) -> None:
    """Compiled code would otherwise write outside its arrays, or never end."""
    setup, rng = make_setup(game), np.random.default_rng(3)
    batch, table, draws = Batch(setup, 50, seed=4, autoreset=False), Batch(setup, 1, autoreset=False), streams(5, 1)
    refused = 0
    for _ in range(4):
        batch.step(batch.sample(streams(6, 50)))
    rows = batch.tables[~batch.done]
    for number in range(600):
        row = rows[number % len(rows) : number % len(rows) + 1].copy()
        name = rng.choice(setup.game.table.names or ())
        bits = row[name].reshape(1, -1).view(np.uint8)
        bits[0, rng.integers(bits.size)] ^= 1 << int(rng.integers(8))
        row[name] = bits.view(row[name].dtype).reshape(row[name].shape)
        try:
            table.set_tables(0, row)
        except DealError:
            refused += 1
            continue
        for _ in range(500):
            table.step(table.sample(draws))
        assert table.done.all()
    assert 200 < refused < 600


def test_no_tables_are_put_nowhere() -> None:
    batch = Batch(make_setup(), 3, seed=1)
    before = batch.tables.tobytes()
    batch.set_tables([], batch.tables[:0])
    assert batch.tables.tobytes() == before
