"""Pictures of a table, and of a record ply by ply: the game's ``nainjaune_env.core.spec.Pictures``.

A picture shows the other seats' cards and piles, the trick in the middle, and the viewer's slots in a row. It depends on a
:class:`~nainjaune_env.games.batasaurus.view.scene.Scene` alone. The viewer (for a spectator: seat 0) sits at the bottom, the
others follow from left to right in the order of play. Slots have the numbers of the actions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.batasaurus.language import Labels, Words, language_of
from nainjaune_env.games.batasaurus.state import SLOTS, Phase
from nainjaune_env.games.batasaurus.view.scene import (
    FACE_DOWN,
    LastTrick,
    Scene,
    playable,
    public,
    scenes,
    seats_from,
    seen_by,
)
from nainjaune_env.games.batasaurus.view.text import status
from nainjaune_env.render import svg as draw

__all__ = ["ARTWORK", "dinosaur", "drawing", "film", "language_of", "playable", "public", "scenes", "seen_by", "svg"]

ARTWORK = Path(__file__).parent / "artwork"
WIDTH, HEIGHT = 1280, 920
CARD_WIDTH, CARD_HEIGHT = 60, 84
PANEL, PANEL_HEIGHT, PANEL_Y = 394, 250, 58
SMALL, TRICK, LARGE = 0.86, 1.9, 1.5
TRICK_Y = 344
"""The top of the cards of the trick."""
COLUMN = 228
LAST_X, LAST_Y, LAST_WIDTH = 1016, 332, 244
STATUS_Y, OWN_Y, SLOTS_Y = 582, 640, 752
OWN_WIDTH = 1184

PLATE, PLATE_EDGE = "#263c33", "#1c2d26"
QUIET = "#c3d3c8"
TIERS = (("#e4efd0", "#7ba05b"), ("#fbe7b5", "#d39b2f"), ("#f6cdb6", "#c0562f"))
"""Paper and frame of the cards, and of the values not shown: dinosaurs up to 4, up to 8, and above."""
BACK = "ba-back"


def svg(
    setup: Setup,
    table: Table,
    seat: int | None = None,
    *,
    language: str = "en",
    names: Sequence[str] | None = None,
    you: int | None = None,
    **history: Unpack[History],
) -> str:
    """Returns the table as SVG as ``seat`` sees it; arguments as in ``view.text.render_text``."""
    return drawing(seen_by(setup, table, seat, **history), language=language, names=names, you=you)


def film(
    setup: Setup,
    body: Mapping[str, Any],
    seat: int | None = None,
    *,
    part: int | None = None,
    language: str = "en",
    names: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yields a picture of each of :func:`~nainjaune_env.games.batasaurus.view.scene.scenes`."""
    for seen in scenes(setup, body, seat, part=part):
        yield drawing(seen, language=language, names=names)


def drawing(seen: Scene, *, language: str = "en", names: Sequence[str] | None = None, you: int | None = None) -> str:
    """Returns the scene as an SVG document, ``WIDTH`` by ``HEIGHT``; ``names`` are the players', in seat order.

    ``you`` is the reader's seat. Raises :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
    """
    texts = language_of(language)
    words, labels = texts.words, texts.labels
    called = [words.seat_short.format(seat=seat) for seat in range(seen.players)] if names is None else list(names)
    me, *others = seats_from(seen.viewer or 0, seen.players)
    begin, step = draw.spread(len(others), WIDTH - 40, PANEL, 18)
    lines = status(seen, texts, SeatNames(words, seen.players, names, you))
    *_, shown = status(seen, texts, SeatNames(words, seen.players, draw.short_names(names), you))
    parts = [
        draw.artwork(ARTWORK / "table.svg"),
        draw.text(34, 42, "Batasaurus", 22, bold=True, fill=draw.PALE),
        draw.text(34 + draw.text_width("Batasaurus", 22) + 14, 42, f"{labels.trick} {seen.trick}", 15, fill=QUIET),
        *(
            part
            for k, seat in enumerate(others)
            for part in _panel(seen, seat, called[seat], 20 + begin + k * step, words, labels)
        ),
        *_trick(seen, words, labels),
        *_last(seen.last, words, labels),
        draw.pill(WIDTH / 2, STATUS_Y, shown, width=1000, fill=PLATE, edge=PLATE_EDGE),
        *_own(seen, called[me], words, labels),
    ]
    title = f"Batasaurus · {seen.preset} · {labels.trick} {seen.trick} · {' · '.join(lines)}"
    return draw.document(WIDTH, HEIGHT, title, parts, [draw.group([draw.artwork(ARTWORK / "back.svg")], id=BACK)])


@functools.cache  # of the 12 dinosaurs in each language
def _face(value: int, name: str) -> str:
    """Returns a card face up, with its upper left corner at the origin: the value, the dinosaur, its name."""
    paper, frame = TIERS[(value - 1) // 4]
    size = min(8.2, 8.2 * 52 / draw.text_width(name, 8.2))
    return draw.group(
        [
            draw.rect(0, 0, CARD_WIDTH, CARD_HEIGHT, rx=6, fill="#fffdf6", stroke="#33312c", stroke_width=1),
            draw.rect(3, 3, 54, 78, rx=4, fill=paper, stroke=frame, stroke_width=1.6),
            draw.text(7, 19, str(value), 15, bold=True, fill=draw.INK),
            draw.at(4.5, 27, [dinosaur(value)], scale=0.51),
            draw.path("M8 57.6H52", stroke=frame, stroke_width=1.2),
            draw.text(30, 72, name, size, anchor="middle", bold=True, fill=draw.INK),
        ]
    )


def dinosaur(value: int) -> str:
    """Returns the dinosaur with this ``value``, 1 to 12, on the ground at y = 60 and at most 100 wide."""
    return draw.artwork(ARTWORK / f"dinosaur_{value}.svg")


def _card(value: int, x: float, y: float, scale: float, words: Words) -> str:
    return draw.at(x, y, [draw.use(BACK) if value == FACE_DOWN else _face(value, words.dinosaurs[value - 1])], scale=scale)


def _panel(seen: Scene, seat: int, name: str, x: float, words: Words, labels: Labels) -> list[str]:
    parts = [draw.plate(x, PANEL_Y, PANEL, PANEL_HEIGHT, fill=PLATE, edge=PLATE_EDGE, turn=seat == seen.at_turn)]
    parts += _head(seen, seat, name, x + 12, PANEL_Y + 10, PANEL - 24, labels)
    slots = seen.slots[seat]
    if slots is None:
        # the viewer may not know which slots are full, so the cards are drawn as one heap
        begin, step = draw.spread(seen.cards[seat], PANEL - 40, CARD_WIDTH * 1.15, 4)
        parts += [_card(FACE_DOWN, x + 20 + begin + k * step, PANEL_Y + 70, 1.15, words) for k in range(seen.cards[seat])]
    else:
        for slot, value in enumerate(slots):
            place = (x + 15 + slot % 6 * 62, PANEL_Y + 44 + slot // 6 * 77)
            parts.append(_empty(*place, SMALL) if value is None else _card(value, *place, SMALL, words))
    return [*parts, *_unshown(seen, seat, x + 12, PANEL_Y + 216, PANEL - 24, labels)]


def _empty(x: float, y: float, scale: float) -> str:
    """Returns a slot without a card."""
    width, height = CARD_WIDTH * scale, CARD_HEIGHT * scale
    return draw.rect(x, y, width, height, rx=6, fill="none", stroke=QUIET, stroke_width=1.2, stroke_dasharray="4 4", opacity=0.5)


def _head(seen: Scene, seat: int, name: str, x: float, y: float, width: float, labels: Labels) -> list[str]:
    """Returns the seat's name, whether it leads, and its pile."""
    won = f"{labels.pile} {seen.piles[seat]}"
    leads = labels.leads if seat == seen.leader and seen.at_turn is not None else ""
    right = draw.text_width(won, 16) + 32
    mark = draw.text_width(leads, 13) + 26 if leads else 0
    name = draw.fit(name, width - 36 - right - mark, 17)
    parts = [draw.badge(x + 13, y + 13, seat), draw.text(x + 34, y + 19, name, 17, bold=True, fill=draw.PALE)]
    after = x + 34 + draw.text_width(name, 17)
    if leads:
        parts.append(
            draw.path(f"M{after + 10:.1f} {y + 6}v15m0 -15l10 4l-10 4Z", fill=draw.GOLD, stroke=draw.GOLD, stroke_width=1.6)
        )
        parts.append(draw.text(after + 24, y + 18, leads, 13, fill=QUIET))
    if seat in seen.winners:
        parts.append(draw.crown(after + 24, y + 12, 1))
    heap = [draw.at(x + width - 20 + 2 * k, y + 2 - 2 * k, [draw.use(BACK)], scale=0.28) for k in range(min(seen.piles[seat], 3))]
    return [*parts, *heap, draw.text(x + width - 28, y + 19, won, 16, anchor="end", bold=True, fill=draw.PALE)]


def _unshown(seen: Scene, seat: int, x: float, y: float, width: float, labels: Labels) -> list[str]:
    """Returns the values that the seat has not shown yet (B4.3); those it has shown are pale."""
    begin = x + draw.text_width(labels.unshown, 11) + 10
    step = min(24, (x + width - begin) / seen.dinosaurs)
    parts = [draw.text(x, y + 14, labels.unshown, 11, fill=QUIET)]
    for value in range(1, seen.dinosaurs + 1):
        middle = begin + step * (value - 0.5)
        if value in seen.unshown[seat]:
            paper, _ = TIERS[(value - 1) // 4]
            parts.append(draw.circle(middle, y + 10, 10, fill=paper, stroke=QUIET, stroke_width=1))
            parts.append(draw.text(middle, y + 14, str(value), 11, anchor="middle", bold=True, fill=draw.INK))
        else:
            parts.append(draw.circle(middle, y + 10, 10, fill="none", stroke=QUIET, stroke_width=1, opacity=0.35))
    return parts


def _trick(seen: Scene, words: Words, labels: Labels) -> list[str]:
    """Returns the cards of the trick, from its leader on; on gold for the seats ahead (``Scene.ahead``)."""
    centre = WIDTH / 2 if seen.players < 4 else LAST_X / 2  # four heaps need the space left of the last trick
    if seen.at_turn is None:
        return [draw.at(centre - 140, TRICK_Y + 14, [dinosaur(SLOTS)], scale=2.8), draw.crown(centre - 85, TRICK_Y + 12, 2.2)]
    if not seen.laid:
        return [draw.text(centre, TRICK_Y + 110, labels.no_card, 18, anchor="middle", fill=QUIET)]
    parts = []
    for k, seat in enumerate(seen.laid):
        middle = centre + (k - (len(seen.laid) - 1) / 2) * COLUMN
        parts += _heap(seen, seat, middle, words)
    if seen.phase == Phase.BATTLE:
        x, y = 138, STATUS_Y + 8
        parts.append(draw.at(x, y, [draw.artwork(ARTWORK / "battle.svg")]))
        parts.append(draw.text(x, y + 9, labels.battle, 26, anchor="middle", bold=True, fill="#fff8e4"))
    return parts


def _heap(seen: Scene, seat: int, middle: float, words: Words) -> list[str]:
    """Returns a seat's cards in the trick: those shown in order, the last on top, and the committed one face down."""
    hidden = seen.committed[seat]
    cards = [*seen.shown[seat], *([] if hidden is None else [hidden])]
    wide = CARD_WIDTH * TRICK
    begin, step = draw.spread(len(cards), COLUMN - 14, wide, -wide + 26)
    left = middle - (COLUMN - 14) / 2 + begin
    parts = []
    for k, value in enumerate(cards):
        x = left + k * step
        if k == len(seen.shown[seat]) - 1 and seat in seen.ahead:
            parts.append(draw.rect(x - 6, TRICK_Y - 6, wide + 12, CARD_HEIGHT * TRICK + 12, rx=16, fill=draw.GLOW))
        parts.append(_card(value, x, TRICK_Y, TRICK, words))
    if hidden:  # a spectator sees what lies there, and that it lies face down
        parts.append(draw.at(left + (len(cards) - 1) * step + wide - 40, TRICK_Y + 10, [draw.use(BACK)], scale=0.5))
    return [*parts, draw.badge(middle, TRICK_Y + CARD_HEIGHT * TRICK + 8, seat, 17)]


def _last(last: LastTrick | None, words: Words, labels: Labels) -> list[str]:
    """Returns the last trick: what each seat showed, from its leader on, and what it took."""
    if last is None:
        return []
    n = len(last.shown)
    parts = [
        draw.plate(LAST_X, LAST_Y, LAST_WIDTH, 34 + 49 * n, fill=PLATE, edge=PLATE_EDGE),
        draw.text(LAST_X + 14, LAST_Y + 23, labels.last, 14, bold=True, fill=QUIET),
    ]
    for row, seat in enumerate(seats_from(last.leader, n)):
        y = LAST_Y + 34 + 49 * row
        parts.append(draw.badge(LAST_X + 26, y + 21, seat, 11))
        _, step = draw.spread(len(last.shown[seat]), 136, CARD_WIDTH * 0.5, 4)
        parts += [_card(value, LAST_X + 46 + k * step, y, 0.5, words) for k, value in enumerate(last.shown[seat])]
        if last.gains[seat]:
            parts.append(
                draw.text(LAST_X + LAST_WIDTH - 14, y + 27, f"+{last.gains[seat]}", 17, anchor="end", bold=True, fill=draw.GLOW)
            )
    return parts


def _own(seen: Scene, name: str, words: Words, labels: Labels) -> list[str]:
    """Returns the seat at the bottom and its slots."""
    me = seen.viewer or 0
    parts = [draw.plate(48, OWN_Y, OWN_WIDTH, 74, fill=PLATE, edge=PLATE_EDGE, turn=me == seen.at_turn)]
    parts += _head(seen, me, name, 62, OWN_Y + 8, OWN_WIDTH - 28, labels)
    parts += _unshown(seen, me, 62, OWN_Y + 44, 500, labels)
    slots = seen.slots[me] or ()
    begin, step = draw.spread(len(slots), OWN_WIDTH, CARD_WIDTH * LARGE, 9.4)
    for slot, value in enumerate(slots):
        x = 48 + begin + slot * step
        parts.append(_empty(x, SLOTS_Y, LARGE) if value is None else _card(value, x, SLOTS_Y, LARGE, words))
        parts.append(draw.text(x + CARD_WIDTH * LARGE / 2, SLOTS_Y - 9, str(slot), 14, anchor="middle", fill=QUIET))
    return parts
