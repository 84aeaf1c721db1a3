"""A decision in words for the seat that makes it, from its redacted table: the game's ``nainjaune_env.core.speech.SeatWords``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.kernel import must_remember
from nainjaune_env.games.batasaurus.language import LANGUAGES, language_of
from nainjaune_env.games.batasaurus.language.speaking import Speaker, summary
from nainjaune_env.games.batasaurus.rules import rules_of
from nainjaune_env.games.batasaurus.state import Phase, values_in

LEAD, FOLLOW, BATTLE = range(3)
"""The kinds of decisions."""


def first_number(setup: Setup) -> int:
    """Returns 0 where moves are slots, and 1 where the seat sees its dinosaurs: the number of a move is then the value."""
    return 0 if must_remember(rules_of(setup)) else 1


def rules(setup: Setup, language: str, *, long: bool) -> list[str]:
    """Returns the rules under these knobs: a summary, or all articles of RULES.md that matter at this table."""
    texts = language_of(language)
    short = summary(setup, texts.phrases)
    if not long:
        return short
    knobs: Any = setup.rules
    sees = texts.seat.knows[knobs.memory]
    return [*short, *(article.format(players=setup.players) for article in texts.seat.articles), sees]


def turn(table: Table) -> int:
    """Returns whether the decision is a lead, a card that follows (B2.1) or a battle's card (B2.3)."""
    if table.phase == Phase.BATTLE:
        return BATTLE
    return FOLLOW if table.at_stake else LEAD


def describe(setup: Setup, table: Table, language: str) -> list[tuple[str, str]]:
    """Returns whose turn it is and for what, their own cards where seen, the trick, the values not shown, and the piles."""
    texts = LANGUAGES[language]
    say, words = texts.advice, texts.words
    me, seats = int(table.seat), range(setup.players)
    shorts = [words.seat_short.format(seat=seat) for seat in seats]
    looking = bool(table.phase == Phase.MEMORISING)
    seen = [named(table, slot, language) for slot in legal_actions(int(table.slots[me]))]
    if looking:  # the only time when both a card and its slot are seen
        seen = [f"{say.slot.format(slot=slot)}{words.colon}{card}" for slot, card in enumerate(seen)]
    head = say.table.format(preset=setup.preset, trick=int(table.tricks), seat=me, players=setup.players)
    shown = [f"{shorts[seat]} {words.named(int(table.shown[seat]))}" for seat in seats if table.shown[seat]]
    unshown = (" ".join(map(str, values_in(table.held[seat]))) for seat in seats)
    return [
        (head, texts.phrases.look if looking else say.turns[turn(table)]),
        (say.mine, " · ".join(seen)),
        (say.shown, " · ".join(shown) or say.nothing),
        (say.unshown, " · ".join(f"{short} {values or say.nothing}" for short, values in zip(shorts, unshown, strict=True))),
        (say.piles, " · ".join(f"{shorts[seat]} {int(table.pile[seat])}" for seat in seats)),
    ]


def details(setup: Setup, table: Table, language: str) -> list[tuple[str, str]]:
    """Returns what :func:`describe` leaves out: the leader, the cards at stake and in front of each seat, and the battle."""
    texts = LANGUAGES[language]
    words, say, seats = texts.words, texts.seat, range(setup.players)
    shorts = [words.seat_short.format(seat=seat) for seat in seats]
    battling = [shorts[seat] for seat in seats if int(table.battling) >> seat & 1]
    committed = [shorts[seat] for seat in seats if table.hidden[seat]]
    return [
        (say.leader, shorts[int(table.leader)]),
        (say.at_stake, words.count(int(table.at_stake))),
        (say.left, " · ".join(f"{shorts[seat]} {int(table.cards[seat])}" for seat in seats)),
        (say.battling, " · ".join(battling) or texts.advice.nothing),
        (say.committed, " · ".join(committed) or texts.advice.nothing),
    ]


def named(table: Table, action: int, language: str) -> str:
    """Returns the dinosaur where its owner sees it, else its slot."""
    if action == MEMORISE:
        return LANGUAGES[language].advice.memorises
    value = int(table.layout[table.seat, action])
    return LANGUAGES[language].words.named(value) if value else LANGUAGES[language].advice.slot.format(slot=action)


def note(setup: Setup, table: Table, action: int, language: str) -> str:
    """Returns an empty text: what follows from a card depends on the others'."""
    return ""


def heard(setup: Setup, opening: Table, plies: Iterable[tuple[int, int]], seat: int, language: str) -> list[list[Utterance]]:
    """Returns what ``seat`` has seen of each ply: cards face up, and those of battles once they are turned (B2.3)."""
    speaker = Speaker(setup, opening, seat, language, you=seat)
    return [speaker.ply(action) for _, action in plies]
