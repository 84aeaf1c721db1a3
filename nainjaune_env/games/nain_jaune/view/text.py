"""The table as text: the board of five pots, the seats around it, the run, and the viewer's hand.

A pure function of a :class:`~nainjaune_env.games.nain_jaune.view.scene.Scene`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Unpack

from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune.language import language_of
from nainjaune_env.games.nain_jaune.language.wording import Language, Words, paint
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.games.nain_jaune.view.scene import Scene, seen_by

WIDTH = 72
PANEL = 17
BOARD = 34


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

    ``you`` is the reader's seat. ``history`` is as in :func:`~.scene.seen_by`: without it no run is drawn, and hands are the
    table's own. ``color`` writes red suits in red for a terminal. Raises :class:`RulesError` for an unknown language,
    :class:`DealError` for a seat that does not exist.
    """
    texts = language_of(language)
    text = picture(seen_by(setup, table, seat, **history), texts, you)
    return paint(text) if color else text


def picture(seen: Scene, texts: Language, you: int | None) -> str:
    """Returns the scene as text, no line wider than ``WIDTH``."""
    left, top, right = ([panel(seen, seat, texts) for seat in side] for side in seen.sides)
    middle = board(seen, texts)
    lines = [
        f"Nain Jaune · {seen.preset} · {texts.labels.round} {seen.round}",
        "",
        *beside(top),
        *(" ".join(row) for row in zip(column(left, len(middle)), middle, column(right, len(middle)), strict=True)),
        "",
        *run_lines(seen, texts),
        "",
        *status_lines(seen, texts, SeatNames(texts.words, seen.players, you=you)),
        "",
        *beside([panel(seen, seen.bottom, texts)]),
        *hand_lines(seen, texts),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def panel(seen: Scene, seat: int, texts: Language) -> list[str]:
    """Returns a seat's box, 4 lines of ``PANEL`` characters; ``▶`` marks the seat to act, the lower edge the dealer."""
    words, labels = texts.words, texts.labels
    mark = "▶ " if seat == seen.at_turn else ""
    head = f" {mark}{labels.seat} {seat} "
    foot = f" {labels.dealer} " if seat == seen.dealer else ""
    inner = PANEL - 3
    return [
        f"╭─{head:─<{inner}}╮",
        f"│ {words.counted(seen.sizes[seat], words.cards):<{inner}}│",
        f"│ {words.counted(seen.stacks[seat], words.chips):<{inner}}│",
        f"╰{foot:─>{inner}}─╯",
    ]


def column(panels: list[list[str]], height: int) -> list[str]:
    """Returns boxes one above the other, spread over ``height`` lines."""
    blank = " " * PANEL
    lines: list[str] = []
    for k, box in enumerate(panels):
        start = (height * (2 * k + 1)) // (2 * len(panels)) - len(box) // 2
        lines += [blank] * (start - len(lines)) + box
    return lines + [blank] * (height - len(lines))


def beside(panels: list[list[str]]) -> list[str]:
    """Returns boxes side by side, centred."""
    return ["  ".join(row).center(WIDTH) for row in zip(*panels, strict=True)]


def board(seen: Scene, texts: Language) -> list[str]:
    """Returns the five pots, the nain jaune in the middle; ``→ 2``: captured by seat 2 in this round."""
    cards = [texts.words.sign(card) for card in POT_CARDS]
    chips = [str(pot) if who is None else f"{pot} → {who}" for pot, who in zip(seen.pots, seen.captors, strict=True)]
    inner = [
        *(f"{one:^13}{'':6}{two:^13}" for one, two in (cards[:2], chips[:2])),
        "╭" + "─" * 12 + "╮",
        *(f"│{text:^12}│" for text in (cards[4], texts.labels.board, chips[4])),
        "╰" + "─" * 12 + "╯",
        *(f"{one:^13}{'':6}{two:^13}" for one, two in (cards[2:4], chips[2:4])),
    ]
    edge = "═" * (BOARD - 2)
    return [f"╔{edge}╗", *(f"║{line:^{BOARD - 2}}║" for line in inner), f"╚{edge}╝"]


def fan(cards: Sequence[str], words: Words, below: Sequence[str] = ()) -> list[str]:
    """Returns overlapping cards, 3 columns each, and under each its entry of ``below``."""
    signs = [words.sign(card) for card in cards]
    lines = [
        "╭──" * len(signs) + "╮",
        "".join(f"│{sign[:-1]:<2}" for sign in signs) + "│",
        "".join(f"│ {sign[-1]}" for sign in signs) + "│",
        "╰──" * len(signs) + "╯",
    ]
    if below:
        lines.append("".join(f" {text:<2}" for text in below) + " ")
    return [line.center(WIDTH) for line in lines]


def run_lines(seen: Scene, texts: Language) -> list[str]:
    """Returns the run, with the seat that played each card under it."""
    if seen.run:
        return fan([card for _, card in seen.run], texts.words, [str(seat) for seat, _ in seen.run])
    return [] if seen.run is None else [f"({texts.labels.no_run})".center(WIDTH)]


def status_lines(seen: Scene, texts: Language, seats: SeatNames) -> list[str]:
    """Returns the last call, :func:`status`, and the round's result."""
    lines = []
    if seen.call is not None:
        seat, kind, number = seen.call
        lines.append(f"{seats.labels[seat]}{texts.words.colon}{texts.words.said(kind, number)}")
    lines.append(status(seen, texts, seats))
    if seen.winner is not None:
        net = "   ".join(f"{seat}: {chips:+d}".replace("-", "−") for seat, chips in enumerate(seen.payoffs))
        lines.append(f"{texts.labels.result}   {net}")
    return [line.center(WIDTH) for line in lines]


def status(seen: Scene, texts: Language, seats: SeatNames) -> str:
    """Returns the seat to act and the required rank, or who went out."""
    labels = texts.labels
    if seen.winner is not None:
        won = labels.won.format(seat=seats[seen.winner])
        return f"{won}, {labels.grand_opera}" if seen.grand_opera else won
    assert seen.at_turn is not None
    if seen.required == 0:
        return labels.leads.format(seat=seats[seen.at_turn])
    return labels.wanted.format(seat=seats[seen.at_turn], rank=texts.words.rank_names[seen.required - 1])


def hand_lines(seen: Scene, texts: Language) -> list[str]:
    """Returns the viewer's cards as cards; for a spectator every hand as lines of text."""
    if seen.viewer is not None:
        hand = seen.hands[seen.viewer]
        return fan(hand, texts.words) if hand else []
    lines = [""]
    for seat, hand in enumerate(seen.hands):
        head = f"{texts.labels.seat} {seat}  "
        cards = texts.words.signs(hand or ())
        lines += textwrap.wrap(cards, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [head]
    return lines
