"""The texts of each language as dataclasses, from ``en.toml`` and ``fr.toml``; ``str.format`` fills in what is in braces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nainjaune_env.core.event_texts import EventTexts, check_told, read_event_kinds
from nainjaune_env.core.events import EventRow
from nainjaune_env.core.texts import CommonWords, SeatNames, read_texts
from nainjaune_env.core.validation import check_name
from nainjaune_env.games.batasaurus.events import Event


@dataclass(frozen=True)
class Words(CommonWords):
    """What narrated records, pictures and dialogues share."""

    dinosaurs: tuple[str, ...]
    """Names by value, from 1, in the usual spelling: the sheets differ from language to language."""
    card: str
    """A dinosaur's name with its value."""
    slots: str
    sorted: str
    memorise: str
    trick: str
    left: str
    piles: str

    def named(self, value: int) -> str:
        """Returns a dinosaur with its value: ``T. rex (12)``."""
        return self.card.format(name=self.dinosaurs[value - 1], value=value)

    def titled(self, title: str, text: str) -> str:
        """Returns ``title: text``, with the language's colon."""
        return f"{title}{self.colon}{text}"

    def count(self, number: int) -> str:
        """Returns a number of cards: ``1 card``, ``2 cards``."""
        return self.counted(number, self.cards)


@dataclass(frozen=True)
class Labels:
    """What only pictures show."""

    trick: str
    pile: str
    unshown: str
    leads: str
    under: str
    """Before the values that lie under a seat's last card."""
    no_card: str
    memorises: str
    to_lead: str
    to_play: str
    battle: str
    to_commit: str
    last: str
    took: str
    shared: str
    nobody: str
    over: str


@dataclass(frozen=True)
class Phrases:
    """What only a person at the table reads and types."""

    memorise_words: tuple[str, ...]
    """What may be typed to end the memorising step; Enter alone does, too."""
    slot_words: tuple[str, ...]
    """What may be typed before the number of a slot."""
    topics: Mapping[str, tuple[str, str]]
    """By name: the word to type, and what it shows."""
    rules: tuple[str, ...]
    memory: Mapping[str, str]
    """The rule by the value of the knob; likewise below."""
    exhausted: Mapping[str, str]
    typing: Mapping[str, str]
    """How to type a card, by the value of ``memory``."""
    begun: str
    look: str
    """What the memorising step is called where it is offered."""
    slot: str
    which: str
    no_slot: str
    empty_slot: str
    not_understood: str
    gone: str
    many: str
    look_first: str
    no_looking: str
    unshown: str


@dataclass(frozen=True)
class AdviceWords:
    """What advice says (``research.advice``)."""

    unit: str
    """What payoffs count."""
    winning: str
    """The name of the chance that nobody gets more."""
    kinds: tuple[str, str, str]
    """The questions, by kind of decision."""
    table: str
    turns: tuple[str, str, str]
    """What the player does, by kind of decision."""
    mine: str
    slot: str
    shown: str
    unshown: str
    piles: str
    nothing: str
    memorises: str
    sources: tuple[str, ...]
    """By source of cards (``statistics.SOURCES``): the difference that a card makes to it."""
    best: str


@dataclass(frozen=True)
class SeatTexts:
    """What a player who reads words is told beyond what an adviser says."""

    articles: tuple[str, ...]
    """The rules that ``Phrases.rules`` leave out."""
    knows: Mapping[str, str]
    """By ``memory``: what a seat may know (B4)."""
    leader: str
    at_stake: str
    left: str
    battling: str
    committed: str


@dataclass(frozen=True)
class Language:
    """All texts of one language."""

    words: Words
    told: Mapping[str, str]
    """The events of a game, by their kinds in ``events.toml`` and their variants."""
    labels: Labels
    phrases: Phrases
    advice: AdviceWords
    seat: SeatTexts


LANGUAGES: Mapping[str, Language] = read_texts(Language, Path(__file__).parent)
"""The texts by the language's name."""

KINDS = read_event_kinds(Path(__file__).parent.parent, Event, spellings=("card", "values"))
"""How the kinds of events are told, by number."""
for _name, _language in LANGUAGES.items():
    check_told("batasaurus", KINDS, _language.told, _name)


def event_texts(language: Language, seats: SeatNames, listener: int | None = None) -> EventTexts:
    """Returns what tells the events of a game to ``listener``, a seat, or None, who reads an account."""
    words = language.words

    def values(shown: int, row: EventRow) -> str:
        """Returns the cards of a battle that are turned up, in the order in which they were put down."""
        order = ((row.other + k) % seats.players for k in range(seats.players))
        cards = ((seat, shown >> 4 * seat & 15) for seat in order)
        return " · ".join(f"{seats.labels[seat]} {words.named(value)}" for seat, value in cards if value)

    spellings = {"card": lambda value, _: words.named(value), "values": values}
    return EventTexts(KINDS, language.told, words, seats, spellings, listener)


def language_of(name: str) -> Language:
    """Returns the texts of a language; raises :class:`RulesError` for an unknown one."""
    return LANGUAGES[check_name("language", name, LANGUAGES)]
