"""Cards and chips as they are drawn. A card is ``CARD_WIDTH`` by ``CARD_HEIGHT`` at scale 1, its upper left corner the origin."""

from __future__ import annotations

import functools
from pathlib import Path

from nainjaune_env.games.nain_jaune.language.wording import Words
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.render.svg import GOLD, SERIF, Style, artwork, at, circle, element, group, rect, use

ARTWORK = Path(__file__).parent / "artwork"
DWARF = ARTWORK / "dwarf.svg"
CARD_WIDTH, CARD_HEIGHT = 60, 84
RED, BLACK = "#d0342c", "#1d2430"
"""A light red and a dark black, distinct also for people who are colour-blind; the shapes of the suits differ too."""

COLOURS = {"s": BLACK, "h": RED, "d": RED, "c": BLACK}
PIECES = {100: ("#6b4fa0", "#ffffff"), 20: ("#c0392b", "#ffffff"), 5: ("#2874a6", "#ffffff"), 1: ("#f2c230", "#7d5a00")}
"""By value, the greatest first: the colours of a piece and of its ring."""
BACK = "nj-back"
"""Id of a card's back in :func:`definitions`."""


def suit(letter: str, x: float, y: float, scale: float) -> str:
    """Returns a suit around ``x``, ``y``."""
    return at(x, y, [artwork(ARTWORK / f"suit_{letter}.svg")], scale=scale)


def face(card: str, words: Words, x: float, y: float, scale: float, turn: float = 0) -> str:
    """Returns a card face up, turned clockwise by ``turn`` degrees; pot cards have a golden frame."""
    return at(x, y, [_face(card, words.sign(card)[:-1])], scale=scale, turn=turn)


@functools.cache  # of the 52 cards in each language
def _face(card: str, sign: str) -> str:
    """Returns a card face up with its rank written as ``sign``."""
    letter = card[1]
    style: dict[str, Style] = {
        "font_family": SERIF,
        "font_weight": "bold",
        "font_size": 22 if len(sign) == 1 else 19,
        "fill": COLOURS[letter],
    }
    squeezed: dict[str, Style] = {"textLength": 20, "lengthAdjust": "spacingAndGlyphs"} if len(sign) > 1 else {}
    rank = element("text", {"x": 12.5, "y": 21, "text_anchor": "middle", **style, **squeezed}, sign)
    index = group([rank, suit(letter, 12.5, 34, 0.75)])
    frame = [rect(2.6, 2.6, 54.8, 78.8, rx=4.5, fill="none", stroke=GOLD, stroke_width=3)] if card in POT_CARDS else []
    paper = rect(0, 0, CARD_WIDTH, CARD_HEIGHT, rx=6.5, fill="#fffdf8", stroke="#3b3f46", stroke_width=1)
    return group([paper, *frame, index, *_picture(card)])


def _picture(card: str) -> list[str]:
    if card == POT_CARDS[-1]:
        return [at(37, 77, dwarf(), scale=1 / 3)]
    rank, letter = card[0], card[1]
    if rank in "KQJ":
        return [at(38, 38, [artwork(ARTWORK / f"court_{rank}.svg")], scale=0.95), suit(letter, 38, 62, 1.35)]
    return [suit(letter, 39, 59, 1.55)]


def dwarf(*card: str) -> list[str]:
    """Returns the yellow dwarf, 180 high, his boots at the origin; ``held`` is drawn in his raised hand, around (-47, -98)."""
    return [artwork(DWARF, "behind"), *card, artwork(DWARF, "before")]


def back(x: float, y: float, scale: float) -> str:
    """Returns a card face down."""
    return at(x, y, [use(BACK)], scale=scale)


def definitions() -> tuple[str, ...]:
    """Returns the definitions that a picture with :func:`back` needs."""
    return (group([artwork(ARTWORK / "back.svg")], id=BACK),)


def chip_counts(chips: int) -> dict[int, int]:
    """Returns the number of pieces of each value that make up ``chips``, the greatest first; 599 stands for more."""
    counts, left = {}, min(chips, 599)
    for value in PIECES:
        counts[value], left = divmod(left, value)
    return counts


def chips_width(amount: int) -> float:
    """Returns the natural width of :func:`chips`."""
    return 22 + 9.0 * (sum(chip_counts(amount).values()) - 1)


def chips(x: float, y: float, amount: int, *, width: float) -> str:
    """Returns a row of pieces from ``x`` on around ``y``, no wider than ``width``: plaques of 100 and 20, chips of 5 and 1."""
    pieces = [value for value, count in chip_counts(amount).items() for _ in range(count)]
    if not pieces:
        return ""
    step = min(9.0, (width - 22) / max(len(pieces) - 1, 1))
    return group(_piece(value, x + 11 + k * step, y) for k, value in enumerate(pieces))


def _piece(value: int, x: float, y: float) -> str:
    fill, ring = PIECES[value]
    if value >= 20:
        parts = [
            rect(x - 9, y - 13, 18, 26, rx=3.5, fill=fill, stroke="#1d2430", stroke_width=1),
            rect(x - 5.5, y - 9.5, 11, 19, rx=2, fill="none", stroke=ring, stroke_width=1.4),
        ]
    else:
        parts = [
            circle(x, y, 9.5, fill=fill, stroke="#1d2430", stroke_width=1),
            circle(x, y, 6, fill="none", stroke=ring, stroke_width=1.5, stroke_dasharray="3 2.2"),
        ]
    return group(parts)
