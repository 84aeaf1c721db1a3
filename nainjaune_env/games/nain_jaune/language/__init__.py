"""What the game says and understands, in each language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nainjaune_env.core.cards import DECK, by_rank, cards_in
from nainjaune_env.core.event_texts import EventTexts, Spelling, check_told, read_event_kinds
from nainjaune_env.core.texts import SeatNames, read_texts
from nainjaune_env.core.validation import check_name
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.games.nain_jaune.language.wording import CAPTURE, KING, Language, Words

LANGUAGES: Mapping[str, Language] = read_texts(Language, Path(__file__).parent)
"""The texts by the language's name."""

KINDS = read_event_kinds(Path(__file__).parent.parent, Event, spellings=("card", "cards", "rank", "takes", "king", "without"))
"""How the kinds of events are told, by number."""
for _name, _language in LANGUAGES.items():
    check_told("nain_jaune", KINDS, _language.told, _name)


def event_texts(language: Language, seats: SeatNames, listener: int | None = None) -> EventTexts:
    """Returns what tells the events of a match to ``listener``, a seat, or None, who reads an account."""
    return EventTexts(KINDS, language.told, language.words, seats, _spellings(language.words), listener)


def _spellings(words: Words) -> Mapping[str, Spelling]:
    return {
        "card": lambda number, _: words.sign(DECK[number]),
        "cards": lambda bits, _: words.signs(by_rank(DECK[number] for number in cards_in(bits))),
        "rank": lambda rank, _: words.rank_names[rank - 1],
        "takes": lambda pot, _: words.said(CAPTURE, pot),
        "king": lambda _, __: words.said(KING, 0),
        "without": lambda rank, _: words.missing(rank),
    }


def language_of(name: str) -> Language:
    """Returns the texts of a language; raises :class:`RulesError` for an unknown one."""
    return LANGUAGES[check_name("language", name, LANGUAGES)]
