"""The table as text: the board of five pots, the seats around it, the run, and the viewer's hand.

A pure function of a :class:`~nainjaune_env.games.nain_jaune.view.scene.Scene`. The viewer (for a spectator seat 0) sits at the
bottom, the others around the board in the direction of play (N1.5).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Unpack

from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune.language import language_of
from nainjaune_env.games.nain_jaune.language.wording import Labels, Words, card_sign, paint
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.games.nain_jaune.view.scene import CAPTURE, KING, Scene, course_of, scene

WIDTH = 72
PANEL = 17
BOARD = 34

SEAT_PLACES = {
    2: ("top",),
    3: ("left", "right"),
    4: ("left", "top", "right"),
    5: ("left", "top", "top", "right"),
    6: ("left", "top", "top", "top", "right"),
    7: ("left", "left", "top", "top", "right", "right"),
    8: ("left", "left", "top", "top", "top", "right", "right"),
}
"""By number of seats: the sides where the others sit, clockwise from the viewer."""


def render_text(
    setup: Setup,
    table: Table,
    seat: int | None = None,
    *,
    language: str = "en",
    color: bool = False,
    you: int | None = None,
    **history: Unpack[History],
) -> str:
    """Returns the table as text as ``seat`` sees it; None is a spectator, who sees every hand.

    ``you`` is the reader's seat. ``history`` is as in :func:`seen_by`. ``color`` writes red suits in red for a terminal. Raises
    :class:`RulesError` for an unknown language, :class:`DealError` for a seat that does not exist.
    """
    wording = language_of(language)
    return picture(seen_by(setup, table, seat, **history), wording.words, wording.labels, color=color, you=you)


def seen_by(setup: Setup, table: Table, seat: int | None, *, opening: Table = None, actions: Sequence[int] = ()) -> Scene:
    """Returns the scene at ``table``, which ``actions`` led to from ``opening``: a ``core.spec.History``.

    They give the run and the real cards. Without them no run is drawn, and hands are the table's own.
    """
    return scene(setup, table, seat, None if opening is None else course_of(setup, opening, actions))


def picture(seen: Scene, words: Words, labels: Labels, *, color: bool = False, you: int | None = None) -> str:
    """Returns the scene as text, no line wider than ``WIDTH``."""
    me = seen.viewer or 0
    places: dict[str, list[list[str]]] = {"left": [], "top": [], "right": []}
    for place, other in zip(SEAT_PLACES[seen.players], around(seen), strict=True):
        places[place].append(panel(seen, other, words, labels))
    places["left"].reverse()  # clockwise from the bottom is up on the left, and down on the right
    middle = board(seen, words, labels)
    left, right = column(places["left"], len(middle)), column(places["right"], len(middle))
    lines = [f"Nain Jaune · {seen.preset} · {labels.round} {seen.round}", ""]
    lines += beside(places["top"], "  ")
    lines += [f"{a} {b} {c}" for a, b, c in zip(left, middle, right, strict=True)]
    lines += [
        "",
        *run_lines(seen, words, labels),
        "",
        *status_lines(seen, words, labels, SeatNames(words, seen.players, you=you)),
        "",
    ]
    lines += beside([panel(seen, me, words, labels)], "")
    lines += hand_lines(seen, words, labels)
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    return paint(text) if color else text


def around(seen: Scene) -> list[int]:
    """Returns the other seats around the table, clockwise from the viewer (N1.5)."""
    others = [((seen.viewer or 0) + k) % seen.players for k in range(1, seen.players)]
    return others if seen.direction == "clockwise" else others[::-1]


def panel(seen: Scene, seat: int, words: Words, labels: Labels) -> list[str]:
    """Returns a seat's box, 4 lines of ``PANEL`` characters; ``▶`` marks the seat to act, the lower edge the dealer."""
    mark = "▶ " if seat == seen.at_turn else ""
    head = f" {mark}{labels.seat} {seat} "
    foot = f" {labels.dealer} " if seat == seen.dealer else ""
    inner = PANEL - 2
    return [
        f"╭─{head:─<{inner - 1}}╮",
        f"│ {words.counted(seen.sizes[seat], words.cards):<{inner - 1}}│",
        f"│ {words.counted(seen.stacks[seat], words.chips):<{inner - 1}}│",
        f"╰{foot:─>{inner - 1}}─╯",
    ]


def column(panels: list[list[str]], height: int) -> list[str]:
    """Returns boxes one above the other, spread over ``height`` lines."""
    blank = " " * PANEL
    lines: list[str] = []
    for k, box in enumerate(panels):
        start = (height * (2 * k + 1)) // (2 * len(panels)) - len(box) // 2
        lines += [blank] * (start - len(lines)) + box
    return lines + [blank] * (height - len(lines))


def beside(panels: list[list[str]], gap: str) -> list[str]:
    """Returns boxes side by side, centred."""
    return [gap.join(row).center(WIDTH) for row in zip(*panels, strict=True)]


def board(seen: Scene, words: Words, labels: Labels) -> list[str]:
    """Returns the five pots, the nain jaune in the middle; ``→ 2``: captured by seat 2 in this round."""
    inner = BOARD - 2
    cards = [card_sign(card, words) for card in POT_CARDS]
    chips = [str(pot) if who is None else f"{pot} → {who}" for pot, who in zip(seen.pots, seen.captors, strict=True)]

    def pair(left: str, right: str) -> str:
        return f"║{left:^13}{'':6}{right:^13}║"

    return [
        f"╔{'':═^{inner}}╗",
        pair(cards[0], cards[1]),
        pair(chips[0], chips[1]),
        f"║{'╭' + '─' * 12 + '╮':^{inner}}║",
        f"║{'│' + cards[4].center(12) + '│':^{inner}}║",
        f"║{'│' + labels.board.center(12) + '│':^{inner}}║",
        f"║{'│' + chips[4].center(12) + '│':^{inner}}║",
        f"║{'╰' + '─' * 12 + '╯':^{inner}}║",
        pair(cards[2], cards[3]),
        pair(chips[2], chips[3]),
        f"╚{'':═^{inner}}╝",
    ]


def fan(cards: Sequence[str], words: Words, below: Sequence[str] = ()) -> list[str]:
    """Returns overlapping cards, 3 columns each, and under each its entry of ``below``."""
    labels = [card_sign(card, words) for card in cards]
    lines = [
        "╭──" * len(labels) + "╮",
        "".join(f"│{label[:-1]:<2}" for label in labels) + "│",
        "".join(f"│ {label[-1]}" for label in labels) + "│",
        "╰──" * len(labels) + "╯",
    ]
    if below:
        lines.append("".join(f" {text:<2}" for text in below) + " ")
    return [line.center(WIDTH) for line in lines]


def run_lines(seen: Scene, words: Words, labels: Labels) -> list[str]:
    """Returns the run, with the seat that played each card under it."""
    if seen.run:
        return fan([card for _, card in seen.run], words, [str(seat) for seat, _ in seen.run])
    return [] if seen.run is None else [f"({labels.no_run})".center(WIDTH)]


def status_lines(seen: Scene, words: Words, labels: Labels, seats: SeatNames) -> list[str]:
    """Returns the last call, :func:`status`, and the round's result."""
    lines = [status(seen, words, labels, seats)]
    if seen.winner is not None:
        net = "   ".join(f"{seat}: {chips:+d}".replace("-", "−") for seat, chips in enumerate(seen.payoffs))
        lines.append(f"{labels.result}   {net}")
    if seen.said is not None:
        seat, kind, number = seen.said
        lines.insert(0, f"{seats.labels[seat]}{words.colon}{said(kind, number, words)}")
    return [line.center(WIDTH) for line in lines]


def status(seen: Scene, words: Words, labels: Labels, seats: SeatNames) -> str:
    """Returns the seat to act and the required rank, or who went out."""
    if seen.winner is not None:
        won = labels.won.format(seat=seats[seen.winner])
        return f"{won}, {labels.grand_opera}" if seen.grand_opera else won
    assert seen.at_turn is not None
    if seen.required == 0:
        return labels.leads.format(seat=seats[seen.at_turn])
    return labels.wanted.format(seat=seats[seen.at_turn], rank=words.rank_names[seen.required - 1])


def said(kind: str, number: int, words: Words) -> str:
    """Returns a call (N2.3, N2.5, N2.7); ``number`` is a rank or a pot, see ``Scene.said``."""
    if kind == CAPTURE:
        call = words.takes[number]
    elif kind == KING:
        call = words.king
    else:
        call = words.without.format(rank=words.rank_names[number - 1])
    return words.call.format(call=call)


def hand_lines(seen: Scene, words: Words, labels: Labels) -> list[str]:
    """Returns the viewer's cards as cards; for a spectator every hand as lines of text."""
    if seen.viewer is not None:
        hand = seen.hands[seen.viewer]
        return fan(hand, words) if hand else []
    lines = [""]
    for seat, hand in enumerate(seen.hands):
        head = f"{labels.seat} {seat}  "
        cards = " ".join(card_sign(card, words) for card in hand or ())
        lines += textwrap.wrap(cards, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [head]
    return lines
