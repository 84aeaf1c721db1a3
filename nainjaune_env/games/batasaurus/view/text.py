"""The table as text: the other seats' piles, the trick in the middle, and the viewer's slots in rows of four.

The text depends on a :class:`~nainjaune_env.games.batasaurus.view.scene.Scene` alone. Slots have the numbers of the actions.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Unpack

from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.batasaurus.language import Language, Words, language_of
from nainjaune_env.games.batasaurus.records.replay import events_of_history
from nainjaune_env.games.batasaurus.state import Phase
from nainjaune_env.games.batasaurus.view.scene import FACE_DOWN, LastTrick, Scene, scene, seats_from

WIDTH = 72
PANEL, CARD = 23, 17
ROW = 4
"""Slots to a row."""
STUCK = "\N{NO-BREAK SPACE}"
"""A space at which a line does not break."""
WEAK, MIDDLE, STRONG, BACK, PLAIN = "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[2m", "\x1b[0m"
"""Colours: of dinosaurs up to 4, up to 8 and above, of the backs of cards, and the end of a colour."""
SINGLE = ("─", "╭", "╮", "╰", "╯", "│")
DOUBLE = ("═", "╔", "╗", "╚", "╝", "║")
EMPTY = ("╌", "╭", "╮", "╰", "╯", "╎")


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
    """Returns the table as text as ``seat`` sees it; a spectator (None) sees every card.

    ``you`` is the reader's seat. ``history`` tells the last trick. ``color`` adds a terminal's colours. Raises
    :class:`RulesError` for an unknown language, :class:`DealError` for an unknown seat.
    """
    texts = language_of(language)
    text = picture(scene(setup, table, seat, events=events_of_history(setup, **history)), texts, you)
    return coloured(text, texts.words) if color else text


def picture(seen: Scene, texts: Language, you: int | None = None) -> str:
    """Returns the scene as text, no line wider than ``WIDTH``."""
    words, labels = texts.words, texts.labels
    me, *others = seats_from(seen.viewer or 0, seen.players)
    lines = [f"Batasaurus · {seen.preset} · {labels.trick} {seen.trick}", ""]
    lines += beside([panel(seen, other, texts) for other in others])
    lines += ["", *middle(seen, texts), "", *status_lines(seen, texts, SeatNames(words, seen.players, you=you)), ""]
    lines += beside([panel(seen, me, texts)])
    lines += all_slots(seen, words) if seen.viewer is None else own_slots(seen.slots[me] or (), words)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def coloured(text: str, words: Words) -> str:
    """Returns ``text`` with the names of dinosaurs coloured by strength, and the backs of cards."""
    paint = {name: (WEAK, MIDDLE, STRONG)[k // 4] for k, name in enumerate(words.dinosaurs)}
    names = "|".join(map(re.escape, words.dinosaurs))
    return re.sub(f"{names}|░+", lambda match: f"{paint.get(match[0], BACK)}{match[0]}{PLAIN}", text)


def beside(boxes: Sequence[Sequence[str]]) -> list[str]:
    """Returns boxes of one height next to each other, centred in the picture."""
    return [" ".join(row).center(WIDTH) for row in zip(*boxes, strict=True)]


def panel(seen: Scene, seat: int, texts: Language) -> list[str]:
    """Returns a seat's box: ``▶`` if it is to act, its cards in front and won, and the values it has not shown yet (B4.3)."""
    words, labels = texts.words, texts.labels
    inner = PANEL - 2
    mark = "▶ " if seat == seen.at_turn else ""
    you = f" ({words.you})" if seat == seen.viewer else ""
    head = f" {mark}{words.seat_short.format(seat=seat)}{you} "
    foot = f" {labels.leads} " if seat == seen.leader and seen.at_turn is not None else ""
    rows = [f"{words.count(seen.cards[seat])} · {labels.pile} {seen.piles[seat]}", f"{labels.unshown}{words.colon}".rstrip()]
    for low in (1, 7):
        values = [value for value in range(low, low + 6) if value <= seen.dinosaurs]
        rows.append("".join(f"{value if value in seen.unshown[seat] else '·':>3}" for value in values))
    return [f"╭─{head:─<{inner - 1}}╮", *(f"│ {row:<{inner - 2}} │" for row in rows), f"╰{foot:─>{inner - 1}}─╯"]


def box(rows: Sequence[str], *, head: str = "", double: bool = False) -> list[str]:
    """Returns a frame of the size of a card; without ``rows`` that of an empty slot."""
    inner = CARD - 2
    line, left, right, below, end, side = DOUBLE if double else SINGLE if rows else EMPTY
    body = [*rows] or ["", ""]
    return [left + f"{head:{line}<{inner}}" + right, *(f"{side}{row:^{inner}}{side}" for row in body), below + line * inner + end]


def face(value: int, words: Words) -> list[str]:
    """Returns the inside of a card, two lines: the value and the dinosaur's name, or the back."""
    if value == FACE_DOWN:
        return ["░" * (CARD - 2)] * 2
    return [f" {value:<{CARD - 3}}", words.dinosaurs[value - 1]]


def middle(seen: Scene, texts: Language) -> list[str]:
    """Returns the trick, from its leader on; a double frame marks the seats ahead (``Scene.ahead``)."""
    words, labels = texts.words, texts.labels
    if not seen.laid:
        return [] if seen.at_turn is None else [f"({labels.no_card})".center(WIDTH)]
    boxes = []
    for seat in seen.laid:
        shown, hidden = seen.shown[seat], seen.committed[seat]
        rows = face(shown[-1] if hidden is None else FACE_DOWN, words)
        if hidden:
            rows[1] = f" {words.dinosaurs[hidden - 1]} ".center(CARD - 2, "░")
        under = shown if hidden is not None else shown[:-1]
        values = f"{labels.under} {', '.join(map(str, reversed(under)))}" if under else ""
        below = [words.seat_short.format(seat=seat), *textwrap.wrap(values, CARD)]
        boxes.append([*box(rows, double=seat in seen.ahead), *(text.center(CARD) for text in below)])
    height = max(map(len, boxes))
    return beside([[*lines, *[" " * CARD] * (height - len(lines))] for lines in boxes])


def wrapped(text: str) -> list[str]:
    """Returns ``text`` in lines of at most ``WIDTH``."""
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def status_lines(seen: Scene, texts: Language, seats: SeatNames) -> list[str]:
    """Returns the last trick, and :func:`status`."""
    lines = [] if seen.last is None else last_trick(seen.last, texts, seats)
    lines += [line for text in status(seen, texts, seats) for line in wrapped(text)]
    return [line.center(WIDTH) for line in lines]


def status(seen: Scene, texts: Language, seats: SeatNames) -> list[str]:
    """Returns whose turn it is and for what, or who won."""
    words, labels = texts.words, texts.labels
    stake = words.count(seen.at_stake)
    if seen.at_turn is None:
        text = words.wins if len(seen.winners) == 1 else words.shared
        won = text.format(winners=seats.listed(seen.winners), cards=words.count(max(seen.piles)))
        return [labels.over, seats.sentence(won)]
    actor = seats[seen.at_turn]
    if seen.phase == Phase.MEMORISING:
        return [labels.memorises.format(seat=actor)]
    if seen.phase == Phase.BATTLE:
        return [labels.battle, labels.to_commit.format(seat=actor, cards=stake)]
    return [(labels.to_play if seen.at_stake else labels.to_lead).format(seat=actor, cards=stake)]


def last_trick(last: LastTrick, texts: Language, seats: SeatNames) -> list[str]:
    """Returns what each seat showed in the last trick, from its leader on, and who took it."""
    words, labels = texts.words, texts.labels
    takers = [seat for seat, cards in enumerate(last.gains) if cards]
    taken = labels.nobody
    if takers:
        text = labels.took if len(takers) == 1 else labels.shared
        taken = text.format(seat=seats[takers[0]], seats=seats.listed(takers), cards=words.count(max(last.gains)))
    played = []
    for seat in seats_from(last.leader, len(last.shown)):
        names = ", ".join(words.dinosaurs[value - 1].replace(" ", STUCK) for value in last.shown[seat])
        played.append(f"{seats.labels[seat]} ".replace(" ", STUCK) + names)
    lines = wrapped(f"{STUCK}· ".join(played))
    return [*wrapped(f"{labels.last}{words.colon}{taken}"), *(line.replace(STUCK, " ") for line in lines)]


def own_slots(slots: Sequence[int | None], words: Words) -> list[str]:
    """Returns the viewer's slots as cards: face up where it sees them, else their backs; a dashed frame is an empty slot."""
    cards = [
        box([], head=f"╌ {slot} ") if value is None else box(face(value, words), head=f"─ {slot} ")
        for slot, value in enumerate(slots)
    ]
    return [line for start in range(0, len(cards), ROW) for line in beside(cards[start : start + ROW])]


def all_slots(seen: Scene, words: Words) -> list[str]:
    """Returns every seat's slots as a line of values, for a spectator."""
    heads = [words.seat_short.format(seat=seat) for seat in range(seen.players)]
    wide = max(map(len, heads))
    lines = ["", " " * wide + "".join(f"{slot:>4}" for slot in range(seen.dinosaurs))]
    lines.append(" " * wide + " " + "───" + "┬───" * (seen.dinosaurs - 1))
    for head, slots in zip(heads, seen.slots, strict=True):
        values = "│".join("   " if value is None else f"{value:>2} " for value in slots or ())
        lines.append(f"{head:<{wide}} {values}")
    return [line.center(WIDTH) for line in lines]
