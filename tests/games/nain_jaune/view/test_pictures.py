"""The table as a picture: what it shows, and that nothing lies on anything else."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from nainjaune_env.core.errors import RecordError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.actions import action_of
from nainjaune_env.games.nain_jaune.language.wording import CAPTURE
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.rules import PRESETS
from nainjaune_env.games.nain_jaune.view import pictures, pieces
from nainjaune_env.games.nain_jaune.view.pictures import drawing
from nainjaune_env.games.nain_jaune.view.scene import scene
from nainjaune_env.registry import make_setup
from tests.games.nain_jaune.view.test_text import HANDS, MOVES, play
from tests.support.recorded import moments
from tests.support.recorded import play as play_matches
from tests.support.svg_boxes import Box, boxes, texts
from tests.support.wordings import french

ROUND = {"dealer": 2, "stacks": [49] * 3, "pots": [0] * 5}
SEATS = [
    pytest.param(preset, players, marks=[] if preset == "skip" else [pytest.mark.long])
    for preset, sheet in PRESETS.items()
    for players in sheet.players
]
"""``skip`` has every number of seats, on which the room depends."""


def inside(box: Box) -> bool:
    return box.left >= 0 and box.top >= 0 and box.right <= pictures.WIDTH and box.bottom <= pictures.HEIGHT


@pytest.mark.parametrize(("preset", "players"), SEATS)
def test_every_number_of_seats_has_room(preset: str, players: int) -> None:
    """Nothing outside the picture, no text on another, no panel on another or on the board or the run."""
    setup, language = make_setup("nain_jaune", preset, players), ("en", "fr")[players % 2]
    names = ["runs/a_very_long_name_of_a_run@sample"] * players
    result = moments(setup, players)
    for table, history in (*result[::13], result[-1]):
        for seat in (None, players - 1):
            picture = pictures.svg(setup, table, seat, language=language, names=names, **history)
            drawn = boxes(picture)
            assert [box for box in drawn if not inside(box)] == []
            written = [box for box in drawn if box.kind == "text"]
            assert [(a, b) for a, b in itertools.combinations(written, 2) if a.meets(b)] == []
            plates = [box for box in drawn if box.kind == "rect" and is_plate(box)]
            assert len(plates) == players + 1
            assert [(a, b) for a, b in itertools.combinations(plates, 2) if a.meets(b)] == []


def is_plate(box: Box) -> bool:
    """Whether it is a seat's panel or the board."""
    if box.right - box.left == pictures.BOARD_WIDTH:
        return box.top == pictures.BOARD_Y  # and not its shadow
    return box.right - box.left in (pictures.PANEL, pictures.WIDE_PANEL, pictures.OWN_PANEL) and box.bottom - box.top > 60


def test_what_a_picture_shows() -> None:
    setup, table, history = play(MOVES)
    picture = pictures.svg(setup, table, 0, **history)
    written = texts(picture)
    for expected in ("“The nain jaune takes all!”", "seat 1 to act, required: 8", "round 1", "djeco", "D"):
        assert written.count(expected) == 1
    pots = [str(int(chips)) for chips in table.pot]
    assert pots == ["3", "6", "9", "12", "0"]
    assert all(chips in written for chips in pots)
    assert written.count("49") == 1  # seat 1 has taken the nain jaune
    assert written.count("34") == 2
    assert [written.count(str(size)) > 0 for size in (9, 14, 15)] == [True] * 3
    assert sum(box.kind == "use" and box.right - box.left > 30 for box in boxes(picture)) == 14 + 15
    assert ET.fromstring(picture)[0].text == "Nain Jaune · djeco · round 1 · seat 1 to act, required: 8"


def test_in_french() -> None:
    setup, table, history = play(MOVES)
    written = texts(pictures.svg(setup, table, 0, language="fr", **history))
    for expected in ("« Nain jaune qui prend ! »", "à la place 1 de jouer, rang demandé : 8", "manche 1", "place 2", "V", "R"):
        assert french(expected) in written
    assert "J" not in written


def test_every_part_of_a_scene_shows() -> None:
    """Or two tables that differ would be drawn alike."""
    setup, table, _ = play(MOVES)
    seen = replace(scene(setup, table, 0), run=((0, "5h"), (0, "6c")))
    drawn = {drawing(seen)}
    for change in (
        {"preset": "classic"}, {"direction": "counterclockwise"}, {"viewer": 1, "hands": (None, ("8h",), None)}, {"round": 2},
        {"dealer": 0}, {"at_turn": 0}, {"required": 9}, {"pots": (4, 6, 9, 12, 0)}, {"captors": (1, None, None, None, 1)},
        {"stacks": (34, 50, 34)}, {"stacks": (34, -50, 34)}, {"sizes": (9, 13, 15)}, {"hands": (("8h",), None, None)},
        {"run": ((0, "5h"), (1, "6c"))}, {"run": ()}, {"run": None}, {"call": (1, CAPTURE, 3)}, {"call": (2, CAPTURE, 3)},
        {"winner": 1}, {"winner": 1, "grand_opera": True}, {"winner": 1, "payoffs": (1, 2, -3)},
    ):  # fmt: skip
        drawn.add(drawing(replace(seen, **change)))
    assert len(drawn) == 22


def test_n1_5_seats_go_round_in_the_direction_of_play() -> None:
    for direction, left, right in (("clockwise", "seat 2", "seat 0"), ("counterclockwise", "seat 0", "seat 2")):
        setup, table, _ = play([], direction=direction)
        where = {box.content: box.left for box in boxes(pictures.svg(setup, table, 1)) if box.kind == "text"}
        assert where[left] < where["seat 1"] + pictures.WIDTH / 2 < where[right]


def test_n6_a_hand_that_is_not_seen_is_not_drawn() -> None:
    setup, table, _ = play([])
    for seat in range(3):
        backs = [box for box in boxes(pictures.svg(setup, table, seat)) if box.kind == "use" and box.right - box.left > 30]
        assert len(backs) == 30
    assert [box for box in boxes(pictures.svg(setup, table)) if box.kind == "use" and box.right - box.left > 30] == []


def test_cards_of_the_required_rank_stand_out_for_the_seat_at_turn() -> None:
    setup, table, history = play(["Ac"])

    def tops(seat: int) -> set[int]:
        picture = pictures.svg(setup, table, seat, **history)
        cards = [box for box in boxes(picture) if box.kind == "rect" and 88 < box.right - box.left < 105]
        return {round(box.top - min(card.top for card in cards)) for box in cards}

    assert max(tops(0)) > pictures.LIFT
    assert max(tops(1)) < pictures.LIFT


@pytest.mark.parametrize(
    ("amount", "counts"), [(0, (0, 0, 0, 0)), (34, (0, 1, 2, 4)), (144, (1, 2, 0, 4)), (10**6, (5, 4, 3, 4))]
)
def test_chips_add_up(amount: int, counts: tuple[int, ...]) -> None:
    assert tuple(pieces.chip_counts(amount).values()) == counts
    value = sum(chip * count for chip, count in pieces.chip_counts(amount).items())
    assert value == min(amount, 599)


def test_a_film_shows_the_deal_and_every_move() -> None:
    setup = make_setup("nain_jaune", "classic", 3, max_rounds=2)
    record = play_matches(setup, 1, 1)[0]
    moves = [len(written["moves"]) for written in record["rounds"]]
    frames = list(pictures.film(setup, record, 1))
    assert len(frames) == sum(moves) + 2
    assert len(list(pictures.film(setup, record, 1, part=2))) == moves[1] + 1
    assert "no card played yet" in texts(frames[0])
    assert any("is out of cards" in text for text in texts(frames[moves[0]]))
    with pytest.raises(RecordError, match="rounds 1 to 2, and no round 3"):
        list(pictures.film(setup, record, part=3))


def test_a_film_shows_the_cards_of_the_record() -> None:
    """Not those that the kernel takes away first of several like ones."""
    hands = [["5s", "5h", *HANDS[0][2:]], ["Ac", "2h", *(card for card in HANDS[1] if card not in ("5s", "5h"))], HANDS[2]]
    setup = make_setup("nain_jaune", "djeco", 3)
    table = setup_table(setup, hands, dealer=2)
    batch = Batch(setup, 1, skip_forced=False, autoreset=False)
    batch.set_tables(0, np.array([table], setup.game.table))
    batch.step([action_of("5h")])
    replay = Replay(setup, table)
    replay.play("5h")
    _, after = pictures.film(setup, {"rounds": [ROUND | {"hands": hands, "moves": [(0, "5h")]}]}, 0)
    assert after == drawing(scene(setup, batch.tables[0], 0, replay))
    assert after != drawing(
        replace(scene(setup, batch.tables[0], 0), run=((0, "5h"),))
    )  # which would keep the 5h and lose the 5s
