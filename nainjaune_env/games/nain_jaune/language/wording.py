"""What one language consists of: every text that the game says, by what it is for.

``en.toml`` and ``fr.toml`` hold the texts; ``str.format`` fills in what stands in braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nainjaune_env.core.cards import RANKS
from nainjaune_env.core.texts import CommonWords
from nainjaune_env.games.nain_jaune.rules import POT_CARDS

SUIT_SIGNS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_RED_CARD = re.compile(r"(?:10|[2-9A-Z])?[♥♦]")
STOP, CAPTURE, KING = "stop", "capture", "king"
"""The kinds of calls: a stop or a pass ("sans v"), a capture ("v qui prend"), a King that gives the lead again."""
NUMBER = "number"
"""In ``Phrases.knobs``: the text for every value of a knob that has none of its own."""


@dataclass(frozen=True)
class Words(CommonWords):
    """The cards, the calls at the table, and an account of a match."""

    rank_signs: tuple[str, ...]
    """How the ranks are written on cards, from the ace up."""
    rank_names: tuple[str, ...]
    """How the ranks are called, in the same order."""
    takes: tuple[str, ...]
    """The call that captures each pot, in pot order (N2.7)."""
    king: str
    """The call after a King (N2.3)."""
    call: str
    """A call as it stands behind a card."""
    without: str
    """The call of a stop or a pass (N2.5): no ``{rank}``."""
    round: str
    stacks: str
    pots: str
    pots_after: str
    hand: str
    talon: str
    settling: str
    after: str
    chips: tuple[str, str]
    """Singular and plural."""

    def sign(self, card: str) -> str:
        """Returns a card as people write it: ``10♦``, ``V♣`` or ``J♣``."""
        return self.rank_signs[RANKS.index(card[0])] + SUIT_SIGNS[card[1]]

    def signs(self, cards: Iterable[str]) -> str:
        """Returns cards as people write them, in a line."""
        return " ".join(map(self.sign, cards))

    def said(self, kind: str, number: int) -> str:
        """Returns a call as it is said (N2.3, N2.5, N2.7); ``number`` is the missing rank, the captured pot, or 0."""
        if kind == CAPTURE:
            call = self.takes[number]
        else:
            call = self.king if kind == KING else self.missing(number)
        return self.call.format(call=call)

    def missing(self, rank: int) -> str:
        """Returns the call of a stop or a pass at ``rank``."""
        return self.without.format(rank=self.rank_names[rank - 1])

    def by_pot(self, chips: Iterable[int]) -> str:
        """Returns the chips in each pot, in a line."""
        return " · ".join(f"{self.sign(card)} {count}" for card, count in zip(POT_CARDS, chips, strict=True))


@dataclass(frozen=True)
class Phrases:
    """Texts for a player at the table alone."""

    topics: Mapping[str, tuple[str, str]]
    """By name: the word to type, and what it shows."""
    rules: tuple[str, ...]
    knobs: Mapping[str, Mapping[str, str]]
    """By knob and value in small letters (``none``, ``true``): the rule that it makes, in a sentence."""
    typing: tuple[str, ...]
    """How to type a move."""
    announcing: str
    """The words to type behind a pot card to announce it (N2.7)."""
    to_announce: str
    """How to type an announcement."""
    leads: str
    lead: str
    wanted: str
    takes: str
    holds: str
    again: str
    passes: str
    or_: str
    not_understood: str
    lacks: str
    not_wanted: str
    which: str
    takes_nothing: str
    must_lead: str
    must_play: str
    hand: str
    stack: str
    played: str
    nothing_played: str


@dataclass(frozen=True)
class Labels:
    """What only a picture says."""

    seat: str
    round: str
    dealer: str
    board: str
    no_run: str
    leads: str
    wanted: str
    won: str
    grand_opera: str
    result: str


@dataclass(frozen=True)
class AdviceWords:
    """What an adviser says of a position and of a move."""

    table: str
    leads: str
    follows: str
    may_decline: str
    hand: str
    pots: str
    cards: str
    chips: str
    played: str
    lacks: str
    nothing: str
    passes: str
    silent: str
    sources: tuple[str, ...]
    """By source of chips (``research.statistics.SOURCES``): what a move gains or loses by it."""
    out: str
    captured: str
    stranded: str
    """The probabilities behind a source, of the move and of the other one."""
    prospects: Mapping[str, str]
    kinds: Mapping[str, str]
    """By name: the kinds of decisions."""


@dataclass(frozen=True)
class SeatTexts:
    """What a player who reads words is told beyond what an adviser says."""

    articles: tuple[str, ...]
    """All rules, with places for the texts of knobs, for numbers of the table, and for the three below."""
    proofs: Mapping[str, str]
    """By ``decline``: what stops and passes prove (N6)."""
    above: str
    """What follows the highest rank where blocked runs skip (N2.6)."""
    no_ante: str
    """How a match with stacks ends (N4.3)."""
    by_seat: str
    taken: str
    last: str
    dealer: str
    had_turn: str
    passed: str
    net: str
    passes: str


@dataclass(frozen=True)
class Language:
    """One language."""

    words: Words
    told: Mapping[str, str]
    """The events of a round, by their kinds in ``events.toml`` and their variants."""
    phrases: Phrases
    labels: Labels
    advice: AdviceWords
    seat: SeatTexts


def paint(text: str) -> str:
    """Returns ``text`` with cards of red suits in a terminal's red."""
    return _RED_CARD.sub(lambda match: f"{_RED}{match[0]}{_PLAIN}", text)
