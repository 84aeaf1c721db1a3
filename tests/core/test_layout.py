"""Named observation slots."""

from __future__ import annotations

import re

import numpy as np
import pytest

from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.registry import game_names, get_game

SLOTS = (
    Feature("one", (3,), "the first"),
    Feature("two", (2, 4), "the second", high=9, scale=2.0),
    Feature("three", (1,), "the third", high=255, scale=32.0, zero=128),
)
LAYOUT = Layout(SLOTS)


def test_slots_lie_end_to_end_in_order() -> None:
    assert LAYOUT.size == 3 + 8 + 1
    assert [LAYOUT.where(slot.name) for slot in LAYOUT] == [slice(0, 3), slice(3, 11), slice(11, 12)]
    assert LAYOUT["two"] is SLOTS[1]


def test_views_are_views_of_the_slots_shape() -> None:
    observation = np.arange(24, dtype=np.uint8).reshape(2, 12)
    views = LAYOUT.views(observation)
    assert {name: view.shape for name, view in views.items()} == {"one": (2, 3), "two": (2, 2, 4), "three": (2, 1)}
    assert views["two"][1].tolist() == [[15, 16, 17, 18], [19, 20, 21, 22]]
    views["three"][0] = 99
    assert observation[0, 11] == 99
    assert LAYOUT.view(observation[0], "two").shape == (2, 4)


def test_high_zero_and_scale_are_a_number_a_byte() -> None:
    assert LAYOUT.high.tolist() == [1] * 3 + [9] * 8 + [255]
    assert LAYOUT.zero.tolist() == [0] * 11 + [128]
    assert LAYOUT.scale.tolist() == [1.0] * 3 + [2.0] * 8 + [32.0]
    assert (LAYOUT.high.dtype, LAYOUT.zero.dtype, LAYOUT.scale.dtype) == (np.uint8, np.float32, np.float32)


def test_an_unknown_slot_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match="no feature 'four'; there are one, two, three"):
        LAYOUT.where("four")


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="feature 'one' is declared twice"):
        Layout((SLOTS[0], SLOTS[0]))


@pytest.mark.parametrize(
    "other",
    [
        (SLOTS[1], SLOTS[0], SLOTS[2]),
        (Feature("uno", (3,), "the first"), *SLOTS[1:]),
        (Feature("one", (4,), "the first"), *SLOTS[1:]),
        (Feature("one", (3,), "the first", high=2), *SLOTS[1:]),
        (Feature("one", (3,), "the first", scale=2.0), *SLOTS[1:]),
        (Feature("one", (3,), "the first", zero=1), *SLOTS[1:]),
        SLOTS[:2],
    ],
)
def test_the_fingerprint_tells_codings_apart(other: tuple[Feature, ...]) -> None:
    assert Layout(other).fingerprint != LAYOUT.fingerprint


def test_the_fingerprint_ignores_how_a_meaning_is_worded() -> None:
    reworded = (Feature("one", (3,), "number one"), *SLOTS[1:])
    assert Layout(reworded).fingerprint == LAYOUT.fingerprint


def test_the_table_for_the_docs() -> None:
    assert LAYOUT.markdown().splitlines() == [
        "| bytes | feature | shape | largest value | meaning |",
        "|---|---|---|---|---|",
        "| 0–2 | `one` | 3 | 1 | the first |",
        "| 3–10 | `two` | 2×4 | 9 | the second |",
        "| 11–11 | `three` | 1 | 255 | the third |",
    ]


@pytest.mark.parametrize("name", game_names())
def test_every_games_layouts_are_well_formed(name: str) -> None:
    game = get_game(name)
    seats = sorted({players for preset in game.presets.values() for players in preset.players})
    prints = {game.layout(players).fingerprint for players in seats}
    assert len(prints) == len(seats)
    for players in seats:
        for slot in game.layout(players):
            assert slot.size >= 1
            assert 1 <= slot.high <= 255
            assert 0 <= slot.zero <= slot.high
            assert slot.scale > 0
            assert re.fullmatch(r"[a-z][a-z_]*", slot.name)
            assert "|" not in slot.meaning
