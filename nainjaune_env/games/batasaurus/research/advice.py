"""What an adviser needs of this game: prospects, kinds of decisions, words.

The module as a whole is the game's ``nainjaune_env.analysis.advice_hook.AdviceHooks``. Positions are read from records alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nainjaune_env.analysis.advice_hook import BEST, Forecast, Kind, Ply, Prospect, percent, signed
from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.encode import BATTLE
from nainjaune_env.games.batasaurus.kernel import MEMORISE
from nainjaune_env.games.batasaurus.language.words import WORDS
from nainjaune_env.games.batasaurus.records.verify import opening
from nainjaune_env.games.batasaurus.research.statistics import SOURCES
from nainjaune_env.games.batasaurus.state import SLOTS
from nainjaune_env.games.batasaurus.view.text import coloured

__all__ = [
    "ACCOUNT", "FIELDS", "KINDS", "PROSPECTS", "UNITS",
    "at_stake", "describe", "kind", "lacks", "named", "paint", "plies", "read", "reason", "write",
]  # fmt: skip

FIELDS: Mapping[str, str] = {}
PROSPECTS: tuple[Prospect, ...] = (Prospect(BEST, {"en": "best", "fr": "premier"}),)
ACCOUNT = "cards"
UNITS: Mapping[str, str] = {"en": "cards", "fr": "cartes"}

LEAD, FOLLOW, BATTLES = range(3)
KINDS: tuple[Kind, ...] = (
    Kind("lead", {"en": "what to lead", "fr": "quelle carte entamer"}),
    Kind("follow", {"en": "what to play to a trick", "fr": "quelle carte jouer dans un pli"}),
    Kind("battle", {"en": "what to commit in a battle", "fr": "quelle carte engager dans une bataille"}),
)


@dataclass(frozen=True)
class OutlookWords:
    """One language. Texts in braces are filled in by ``str.format``."""

    table: str
    turns: tuple[str, str, str]
    """By kind of decision."""
    mine: str
    slot: str
    shown: str
    unshown: str
    piles: str
    nothing: str
    memorises: str
    sources: tuple[str, ...]
    """By source of cards (``measures.SOURCES``): what a card brings more or less by it."""
    best: str


OUTLOOK_WORDS: Mapping[str, OutlookWords] = {
    "en": OutlookWords(
        table="{preset}, trick {trick}, seat {seat} of {players}",
        turns=("you lead", "you play to the trick", "you commit a card to the battle"),
        mine="your cards",
        slot="slot {slot}",
        shown="trick",
        unshown="not shown",
        piles="piles",
        nothing="—",
        memorises="look at your cards",
        sources=("{cards} from tricks won", "{cards} from tricks shared", "{cards} left in front of you"),
        best="nobody gets more {better} of the time, not {other}",
    ),
    "fr": OutlookWords(
        table="{preset}, pli {trick}, place {seat} sur {players}",
        turns=("vous entamez", "vous jouez dans le pli", "vous engagez une carte dans la bataille"),
        mine="vos cartes",
        slot="emplacement {slot}",
        shown="pli",
        unshown="non montrés",
        piles="piles",
        nothing="—",
        memorises="regarder ses cartes",
        sources=("{cards} par les plis gagnés", "{cards} par les plis partagés", "{cards} restées devant vous"),
        best="personne n'a plus {better} du temps, au lieu de {other}",
    ),
}
assert OUTLOOK_WORDS.keys() == WORDS.keys()
assert all(len(words.sources) == len(SOURCES) for words in OUTLOOK_WORDS.values())


def kind(table: Any, rules: Any, moves: int) -> int:
    """A lead, a card to those that are shown (B2.1), a battle's card (B2.3)."""
    if table.phase == BATTLE:
        return BATTLES
    return FOLLOW if table.at_stake else LEAD


def at_stake(setup: Setup, table: Any) -> list[int]:
    """Nothing here has parts."""
    return []


def describe(setup: Setup, table: Any, language: str) -> list[tuple[str, str]]:
    """What is to be done; the own cards as far as they are seen; the trick; what each has not shown; the piles."""
    say, words = OUTLOOK_WORDS[language], WORDS[language]
    me, seats = int(table.seat), range(setup.players)
    shorts = [words.seat_short.format(seat=seat) for seat in seats]
    slots = [slot for slot in range(SLOTS) if int(table.slots[me]) >> slot & 1]
    seen = [named(table, slot, language) for slot in slots]
    head = say.table.format(preset=setup.preset, trick=int(table.tricks), seat=me, players=setup.players)
    shown = [f"{shorts[seat]} {words.named(int(table.shown[seat]))}" for seat in seats if table.shown[seat]]
    unshown = (" ".join(str(value) for value in range(1, SLOTS + 1) if int(table.held[s]) >> value - 1 & 1) for s in seats)
    return [
        (head, say.turns[kind(table, setup.kernel_rules, 0)]),
        (say.mine, " · ".join(seen)),
        (say.shown, " · ".join(shown) or say.nothing),
        (say.unshown, " · ".join(f"{short} {values or say.nothing}" for short, values in zip(shorts, unshown, strict=True))),
        (say.piles, " · ".join(f"{shorts[seat]} {int(table.pile[seat])}" for seat in seats)),
    ]


def lacks(setup: Setup, table: Any) -> Mapping[int, Sequence[str]]:
    """What a seat does not have is what it has shown, and that :func:`describe` tells."""
    return {}


def named(table: Any, action: int, language: str) -> str:
    """The dinosaur, where its owner sees it; else its slot."""
    if action == MEMORISE:
        return OUTLOOK_WORDS[language].memorises
    value = int(table.layout[table.seat, action])
    return WORDS[language].named(value) if value else OUTLOOK_WORDS[language].slot.format(slot=action)


def reason(source: int, forecast: Forecast, language: str) -> str:
    """The cards, and of tricks won the chance that nobody gets more, where that differs beyond noise."""
    say = OUTLOOK_WORDS[language]
    text = say.sources[source].format(cards=signed(forecast.chips, language))
    better, other = float(forecast.better[BEST][0]), float(forecast.other[BEST][0])
    told = forecast.clear[BEST][0] and (better - other) * forecast.chips > 0 and percent(better) != percent(other)
    return f"{text} ({say.best.format(better=percent(better), other=percent(other))})" if told and source == 0 else text


def paint(text: str) -> str:
    """Dinosaurs by strength."""
    for words in WORDS.values():
        text = coloured(text, words)
    return text


def plies(setup: Setup, body: Mapping[str, Any]) -> Iterator[Ply]:
    """The decisions of a verified record, in order; to memorise is no move (B4.2)."""
    replay = opening(setup, body)
    replay.memorise()
    for number, (_, slot) in enumerate(body["moves"], 1):
        if replay.unasked(replay.legal()) is None:
            yield Ply(1, number, np.array([replay.table])[0], slot)
        replay.step(slot)


def read(setup: Setup, fields: Mapping[str, str]) -> Any:
    """None can be written."""
    raise DealError(f"A position of {setup.game.title} cannot be written: give a record, a match, a round and a move.")


def write(setup: Setup, body: Mapping[str, Any], part: int, number: int) -> Mapping[str, str]:
    """Nothing."""
    return {}
