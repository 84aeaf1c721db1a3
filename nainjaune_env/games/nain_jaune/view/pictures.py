"""The table as a picture: the board of five pots with the dwarf in the middle, the seats around it, the run, the viewer's hand.

The module as a whole is the game's ``nainjaune_env.core.spec.Pictures``. A picture is a pure function of a
:class:`~nainjaune_env.games.nain_jaune.view.scene.Scene`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from nainjaune_env.core.cards import RANKS
from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune.language import language_of
from nainjaune_env.games.nain_jaune.language.wording import Labels, Words
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.games.nain_jaune.view import pieces
from nainjaune_env.games.nain_jaune.view.pieces import CARD_HEIGHT, CARD_WIDTH
from nainjaune_env.games.nain_jaune.view.scene import Scene, playable, public, scenes, seen_by
from nainjaune_env.games.nain_jaune.view.text import status
from nainjaune_env.render.svg import (
    BUBBLE_HEIGHT,
    INK,
    PALE,
    artwork,
    at,
    badge,
    bubble,
    circle,
    crown,
    document,
    element,
    fit,
    number,
    path,
    pill,
    plate,
    rect,
    short_names,
    spread,
    text,
    text_width,
)

__all__ = ["ARTWORK", "drawing", "film", "language_of", "playable", "public", "scenes", "seen_by", "svg"]

ARTWORK = pieces.ARTWORK
TABLE = ARTWORK / "table.svg"
WIDTH, HEIGHT = 1280, 920
BOARD_X, BOARD_Y, BOARD_WIDTH, BOARD_HEIGHT = 394, 238, 492, 322
PANEL, WIDE_PANEL, OWN_PANEL = 260, 660, 222
"""Width of a seat's panel, of the only other seat's, and of that at the bottom."""
SMALL, RUN, LARGE = 0.72, 0.86, 1.5
"""Scale of a card in a panel, in the run, and in the viewer's hand."""
EDGE = 20
HEAD = 62
"""Height of a panel above its cards."""
ROW_STEP = 42
HAND_X, HAND_Y = 260, 762
RUN_Y, STATUS_Y = 576, 672
LIFT = 16
"""How far the viewer's cards of the required rank stand out."""

PLATE, PLATE_EDGE = "#1e4a3c", "#173a2f"
QUIET = "#b9d3c6"
GAIN, LOSS = "#bff0c8", "#ffc2b3"


@dataclass(frozen=True)
class Spot:
    """Where a seat's panel is, and how many rows its cards take."""

    seat: int
    x: float
    y: float
    width: float
    height: float
    rows: int


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
    """Returns the table as SVG as ``seat`` sees it; None is a spectator, who sees every hand. See ``render_text``."""
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
    """Yields a picture of each of :func:`~nainjaune_env.games.nain_jaune.view.scene.scenes`."""
    for seen in scenes(setup, body, seat, part=part):
        yield drawing(seen, language=language, names=names)


def drawing(seen: Scene, *, language: str = "en", names: Sequence[str] | None = None, you: int | None = None) -> str:
    """Returns the scene as an SVG document, ``WIDTH`` by ``HEIGHT``; ``names`` are the players', in seat order.

    ``you`` is the reader's seat. Raises :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
    """
    texts = language_of(language)
    words, labels = texts.words, texts.labels
    called = [f"{labels.seat} {seat}" for seat in range(seen.players)] if names is None else list(names)
    seats = SeatNames(words, seen.players, names, you)
    lines = [status(seen, texts, seats)]
    if seen.winner is not None:
        lines.append(f"{labels.result}{words.colon}{seats.by_seat(f'{chips:+d}' for chips in seen.payoffs)}")
    shown = status(seen, texts, SeatNames(words, seen.players, short_names(names), you))
    panels = spots(seen)
    parts = [
        artwork(TABLE, "felt"),
        *_title(seen, labels),
        *_board(seen, words),
        *(part for spot in panels for part in _panel(seen, spot, called[spot.seat], words)),
        *_run(seen, words, labels),
        pill(WIDTH / 2, STATUS_Y, shown, width=684, fill=PLATE, edge=PLATE_EDGE),
        *_own(seen, called[seen.bottom], words),
        *_bubble(seen, panels, words),
    ]
    title = f"Nain Jaune · {seen.preset} · {labels.round} {seen.round} · {' · '.join(lines)}"
    return document(WIDTH, HEIGHT, title, parts, pieces.definitions())


def spots(seen: Scene) -> list[Spot]:
    """Returns the panels of all seats except the one at the bottom."""
    rows = 2 if seen.players in (3, 4) else 1
    width = WIDE_PANEL if seen.players == 2 else PANEL
    height = HEAD + CARD_HEIGHT * SMALL + (rows - 1) * ROW_STEP + 10
    left, top, right = seen.sides
    begin, step = spread(len(top), WIDTH, width, 24)
    spots = [Spot(seat, begin + k * step, 14, width, height, rows) for k, seat in enumerate(top)]
    for side, x in ((left, EDGE), (right, WIDTH - EDGE - PANEL)):
        for k, seat in enumerate(side):
            share = (BOARD_HEIGHT + 50) / len(side)
            y = BOARD_Y - 36 + share * (k + 0.5) - (height + BUBBLE_HEIGHT) / 2
            spots.append(Spot(seat, x, y, PANEL, height, rows))
    return spots


def card_places(count: int, x: float, y: float, width: float, rows: int, scale: float) -> list[tuple[float, float]]:
    """Returns the upper left corners of ``count`` cards in ``rows`` rows of ``width``, row by row."""
    places = []
    per_row = -(-count // rows)
    for row in range(rows):
        here = min(per_row, count - row * per_row)
        begin, step = spread(max(here, 0), width, CARD_WIDTH * scale, 4)
        places += [(x + begin + k * step, y + row * ROW_STEP) for k in range(here)]
    return places


def _title(seen: Scene, labels: Labels) -> list[str]:
    side = 1 if seen.direction == "clockwise" else -1
    return [
        text(34, 48, "Nain Jaune", 22, bold=True, fill=PALE),
        text(34, 72, seen.preset, 15, fill=QUIET),
        text(34, 94, f"{labels.round} {seen.round}", 15, fill=QUIET),
        element("g", {"transform": f"translate({WIDTH - 50} 52) scale({side} 1)"}, artwork(ARTWORK / "clockwise.svg")),
    ]


def _board(seen: Scene, words: Words) -> list[str]:
    return [
        artwork(TABLE, "board"),
        *(part for pot in range(4) for part in _corner_pot(seen, pot, words)),
        artwork(TABLE, "middle"),
        *_middle_pot(seen, words),
    ]


def _corner_pot(seen: Scene, pot: int, words: Words) -> list[str]:
    right, low = pot % 2, pot // 2
    scale = 1.1
    x = BOARD_X + (BOARD_WIDTH - 26 - CARD_WIDTH * scale if right else 26)
    y = BOARD_Y + (BOARD_HEIGHT - 26 - CARD_HEIGHT * scale if low else 26)
    beside, side = (x - 12, -1) if right else (x + CARD_WIDTH * scale + 12, 1)
    line = y + (60 if low else 24)
    chips = str(seen.pots[pot])
    past = text_width(chips, 26) + 10
    # in the lower corners the circle is in the way beside the number, and below it there are no chips once the pot was taken
    captor = (beside + side * TAKEN / 2, line + 23) if low else (beside + side * (past + TAKEN / 2), line - 9)
    return [
        pieces.face(POT_CARDS[pot], words, x, y, scale),
        text(beside, line, chips, 26, anchor="end" if right else "start", bold=True, fill=INK),
        *_pot_chips(seen.pots[pot], beside + side * 32, line + 22, 64),
        *_taken(seen.captors[pot], *captor),
    ]


def _pot_chips(amount: int, x: float, y: float, width: float) -> list[str]:
    """Returns a pot's chips in a row around ``x``, ``y``."""
    wide = min(width, pieces.chips_width(amount))
    return [pieces.chips(x - wide / 2, y, amount, width=width)] if amount else []


TAKEN = 44
"""Width of what ``_taken`` draws."""


def _taken(captor: int | None, x: float, y: float) -> list[str]:
    """Returns an arrow and the seat that the pot went to, around ``x``, ``y``."""
    if captor is None:
        return []
    d = f"M{number(x - TAKEN / 2)} {number(y)}h11m-4.5 -5l5.5 5l-5.5 5"
    arrow = path(d, fill="none", stroke=INK, stroke_width=2.4, stroke_linecap="round", stroke_linejoin="round")
    return [arrow, badge(x + TAKEN / 2 - 13, y, captor)]


def _middle_pot(seen: Scene, words: Words) -> list[str]:
    x, y = BOARD_X + BOARD_WIDTH / 2, BOARD_Y + BOARD_HEIGHT / 2
    chips, captor = str(seen.pots[4]), seen.captors[4]
    seven = at(-49, -116, [pieces.face(POT_CARDS[4], words, -17, -24, 0.58)], turn=-9)
    left = x - (TAKEN + 8) / 2 * (captor is not None)  # number and captor together are in the middle
    return [
        at(x + 6, y + 44, pieces.dwarf(seven), scale=0.78),
        *_pot_chips(seen.pots[4], x, y + 63, 110),
        text(left, y + 98, chips, 24, anchor="middle", bold=True, fill=INK),
        *_taken(captor, left + text_width(chips, 24) / 2 + 8 + TAKEN / 2, y + 89),
    ]


def _panel(seen: Scene, spot: Spot, name: str, words: Words) -> list[str]:
    x, y = spot.x, spot.y
    parts = [plate(x, y, spot.width, spot.height, fill=PLATE, edge=PLATE_EDGE, turn=spot.seat == seen.at_turn)]
    parts += _purse(seen, spot.seat, name, x + 12, y + 8, spot.width - 24)
    places = card_places(seen.sizes[spot.seat], x + 12, y + HEAD, spot.width - 24, spot.rows, SMALL)
    if spot.seat == seen.winner:
        parts.append(crown(x + spot.width / 2, y + HEAD + 28, 2.1))
    hand = seen.hands[spot.seat]
    if hand is None:
        return [*parts, *(pieces.back(*place, SMALL) for place in places)]
    return [*parts, *(pieces.face(card, words, *place, SMALL) for card, place in zip(hand, places, strict=True))]


def _purse(seen: Scene, seat: int, name: str, x: float, y: float, width: float) -> list[str]:
    """Returns two lines: who it is, the dealer's mark and the round's result; chips and the number of cards."""
    net = f"{seen.payoffs[seat]:+d}".replace("-", "−") if seen.winner is not None else ""
    taken = text_width(net, 17) + 16 if net else 0
    room = width - 36 - taken - (30 if seat == seen.dealer else 0)
    name = fit(name, room, 16)
    parts = [badge(x + 13, y + 13, seat), text(x + 34, y + 19, name, 16, bold=True, fill=PALE)]
    if seat == seen.dealer:
        disc_x = x + 34 + text_width(name, 16) + 18
        parts.append(circle(disc_x, y + 13, 10.5, fill=PALE, stroke=INK, stroke_width=1.2))
        parts.append(text(disc_x, y + 18, "D", 14, anchor="middle", bold=True, fill=INK))  # *dealer*, *donneur*
    if net:
        fill = GAIN if seen.payoffs[seat] > 0 else LOSS if seen.payoffs[seat] < 0 else PALE
        parts.append(rect(x + width - taken, y + 1, taken, 25, rx=12.5, fill=fill))
        parts.append(text(x + width - taken / 2, y + 19, net, 17, anchor="middle", bold=True, fill=INK))
    amount = str(seen.stacks[seat]).replace("-", "−")
    parts.append(text(x, y + 47, amount, 16, bold=True, fill=PALE if seen.stacks[seat] >= 0 else LOSS))
    begin = text_width(amount, 16) + 8
    parts.append(pieces.chips(x + begin, y + 41, max(seen.stacks[seat], 0), width=min(150, width - begin - 56)))
    cards = str(seen.sizes[seat])
    parts.append(pieces.back(x + width - 16, y + 30, 0.26))
    parts.append(text(x + width - 22, y + 47, cards, 16, anchor="end", bold=True, fill=PALE))
    return parts


def _run(seen: Scene, words: Words, labels: Labels) -> list[str]:
    if seen.run is None:
        return []
    if not seen.run:
        return [text(WIDTH / 2, RUN_Y + 50, labels.no_run, 17, anchor="middle", fill=QUIET)]
    begin, step = spread(len(seen.run), 680, CARD_WIDTH * RUN, -5)
    parts = []
    for k, (seat, card) in enumerate(seen.run):
        x = (WIDTH - 680) / 2 + begin + k * step
        parts.append(pieces.face(card, words, x, RUN_Y, RUN))
        parts.append(badge(x + CARD_WIDTH * RUN / 2, RUN_Y + CARD_HEIGHT * RUN, seat, 10.5))
    return parts


def _own(seen: Scene, name: str, words: Words) -> list[str]:
    """Returns the seat at the bottom, whose hand is always open."""
    me = seen.bottom
    parts = [plate(EDGE + 6, HAND_Y + 24, OWN_PANEL, 68, fill=PLATE, edge=PLATE_EDGE, turn=me == seen.at_turn)]
    parts += _purse(seen, me, name, EDGE + 18, HAND_Y + 32, OWN_PANEL - 24)
    if me == seen.winner:
        parts.append(crown(WIDTH / 2, HAND_Y + 60, 3.5))
    hand = seen.hands[me] or ()
    begin, step = spread(len(hand), WIDTH - EDGE - 10 - HAND_X, CARD_WIDTH * LARGE, 6)
    wanted = RANKS[seen.required - 1] if seen.required and me == seen.at_turn else ""
    for k, card in enumerate(hand):
        off = (k - (len(hand) - 1) / 2) / max(len(hand) - 1, 1)  # from -0.5 to 0.5: the cards lie in a slight fan
        x, y = HAND_X + begin + k * step, HAND_Y + 30 * off * off - LIFT * (card[0] == wanted)
        parts.append(pieces.face(card, words, x, y, LARGE, 5 * off))
    return parts


def _bubble(seen: Scene, panels: Sequence[Spot], words: Words) -> list[str]:
    if seen.call is None:
        return []
    seat, kind, which = seen.call
    said = words.said(kind, which)
    if seat == seen.bottom:
        return [bubble(EDGE + 6, HAND_Y - 30, said, tail=24, below=True, width=300)]
    spot = next(spot for spot in panels if spot.seat == seat)
    return [bubble(spot.x, spot.y + spot.height + 12, said, tail=24, below=False, width=300)]
