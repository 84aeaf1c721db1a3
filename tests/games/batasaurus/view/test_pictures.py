"""The table as a picture: what it shows, and that nothing lies on anything else."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.language import LANGUAGES
from nainjaune_env.games.batasaurus.state import SLOTS, Phase
from nainjaune_env.games.batasaurus.view import pictures
from nainjaune_env.games.batasaurus.view.pictures import BACK, dinosaur, drawing
from nainjaune_env.games.batasaurus.view.scene import FACE_DOWN, LastTrick, scene
from nainjaune_env.registry import make_setup
from tests.support.recorded import moments
from tests.support.recorded import play as play_matches
from tests.support.svg_boxes import Box, boxes, texts


def glimpse(players: int = 3, **knobs: Any) -> Setup:
    return make_setup("batasaurus", players=players, **knobs)


def backs(picture: str) -> list[Box]:
    return [box for box in boxes(picture) if box.content == f"#{BACK}" and box.right - box.left > 40]


@pytest.mark.parametrize("memory", ["glimpse", "perfect"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_number_of_seats_has_room(players: int, memory: str) -> None:
    """Nothing outside the picture; no text on another but on cards that lie on cards; no panel on another."""
    setup, language = glimpse(players, memory=memory), ("en", "fr")[players % 2]
    names = ["runs/a_very_long_name_of_a_run@sample"] * players
    dinosaurs = {*LANGUAGES[language].words.dinosaurs, *map(str, range(1, SLOTS + 1))}
    result = moments(setup, players)
    for table, history in (*result[::6], result[-1]):
        for seat in (None, 0):
            found_boxes = boxes(pictures.svg(setup, table, seat, language=language, names=names, **history))
            for box in found_boxes:
                assert box.left >= 0
                assert box.top >= 0
                assert box.right <= pictures.WIDTH
                assert box.bottom <= pictures.HEIGHT
            written = [box for box in found_boxes if box.kind == "text" and box.content not in dinosaurs]
            assert len(written) > 2 * players
            plates = [box for box in found_boxes if box.kind == "rect" and 240 < box.right - box.left < 1200]
            assert len(plates) >= players
            for layer in (written, plates):
                assert [(a, b) for a, b in itertools.combinations(layer, 2) if a.meets(b)] == []


def test_who_sees_which_cards() -> None:
    """B4.2: in the memorising step its own, afterwards their backs; a spectator sees all."""
    setup = glimpse(3)
    (table, history), *_, (_, _) = moments(setup, 1)
    looks = int(table.seat)
    assert table.phase == Phase.MEMORISING
    assert len(backs(pictures.svg(setup, table, looks, **history))) == 24
    assert len(backs(pictures.svg(setup, table, (looks + 1) % 3, **history))) == 36
    assert backs(pictures.svg(setup, table, **history)) == []
    names = texts(pictures.svg(setup, table, looks, **history))
    assert all(name in names for name in LANGUAGES["en"].words.dinosaurs)
    later, history = moments(setup, 1)[5]
    assert len(backs(pictures.svg(setup, later, looks, **history))) == int(later.cards[:3].sum())


def test_a_battle_shows() -> None:
    setup = glimpse(3)
    table, history = next(
        (table, history)
        for seed in range(20) for table, history in moments(setup, seed) if table.phase == Phase.BATTLE and table.hidden.any()
    )  # fmt: skip
    for seat in range(3):
        picture = pictures.svg(setup, table, seat, **history)
        assert texts(picture).count("Battle!") == 1
        assert len(backs(picture)) == int(table.cards[:3].sum()) + int((table.hidden > 0).sum())
    assert f"seat {int(table.seat)} to put a card face down, {int(table.at_stake)} cards at stake" in texts(picture)
    seen = scene(setup, table)
    committed = next(value for value in seen.committed if value)
    assert LANGUAGES["en"].words.dinosaurs[committed - 1] in texts(pictures.svg(setup, table, **history))
    assert "Battle!" not in texts(pictures.svg(setup, moments(setup, 0)[4][0], **moments(setup, 0)[4][1]))


def test_the_end_shows() -> None:
    setup = glimpse(2)
    table, history = moments(setup, 3)[-1]
    picture = pictures.svg(setup, table, 0, language="fr", **history)
    winners = scene(setup, table).winners
    assert any(("gagne avec" if len(winners) == 1 else "gagnent à égalité avec") in text for text in texts(picture))
    assert [f"pile {int(cards)}" for cards in table.pile[:2]] == [text for text in reversed(texts(picture)) if "pile" in text]
    assert ET.fromstring(picture)[0].text.startswith("Batasaurus · batasaurus · pli ")  # type: ignore[union-attr]


def test_every_part_of_a_scene_shows() -> None:
    """Or two tables that differ would be drawn alike."""
    seen = scene(glimpse(2), moments(glimpse(2), 2)[9][0], 0)
    seen = replace(seen, shown=((5,), ()), committed=(None, None), ahead=(0,), at_turn=1, leader=0, phase=Phase.TRICK)
    assert seen.slots[0] is not None
    drawn = {drawing(seen)}
    for change in (
        {"preset": "other"}, {"dinosaurs": 11}, {"viewer": 1}, {"trick": 9}, {"at_turn": 0}, {"leader": 1}, {"piles": (7, 8)},
        {"slots": ((3, *seen.slots[0][1:]), None)}, {"slots": ((None,) * 12, None)}, {"cards": (seen.cards[0], 11)},
        {"unshown": ((1, 2, 3), (4,))}, {"shown": ((6,), ())}, {"shown": ((5,), (4,))}, {"committed": (FACE_DOWN, None)},
        {"committed": (7, None)}, {"phase": Phase.BATTLE}, {"phase": Phase.BATTLE, "ahead": (1,)}, {"ahead": ()},
        {"at_stake": 12},
        {"last": LastTrick(0, ((1,), (2,)), (0, 2))}, {"last": LastTrick(0, ((1,), (2,)), (2, 0))},
        {"at_turn": None, "winners": (1,)},
    ):  # fmt: skip
        drawn.add(drawing(replace(seen, **change)))
    assert len(drawn) == 23


def test_each_value_has_a_dinosaur_of_its_own() -> None:
    assert len({dinosaur(value) for value in range(1, SLOTS + 1)}) == SLOTS
    assert len(list(pictures.ARTWORK.glob("dinosaur_*.svg"))) == SLOTS
    for value in range(1, SLOTS + 1):
        ET.fromstring(dinosaur(value))


def test_a_film_shows_the_opening_and_every_ply() -> None:
    for memory, steps in (("glimpse", 2), ("perfect", 0)):
        setup = glimpse(2, memory=memory)
        record = play_matches(setup, 1, 1)[0]
        frames = list(pictures.film(setup, record, 0, names=["ann", "bob"]))
        assert len(frames) == len(record["moves"]) + steps + 1
        assert {"ann", "bob"} <= set(texts(frames[0]))
        assert any("win" in text for text in texts(frames[-1]))
        assert list(pictures.film(setup, record, 0, part=1, names=["ann", "bob"])) == frames
    with pytest.raises(RecordError, match="one round, and no round 2"):
        list(pictures.film(setup, record, part=2))
