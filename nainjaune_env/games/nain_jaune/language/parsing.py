"""Cards and calls as people type them, in French or English: ``7d``, ``7♦``, ``valet``, ``nain jaune qui prend``."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from nainjaune_env.core.cards import RANKS

_RANK_NAMES = {
    1: "a as ace 1 un one",
    2: "2 deux two",
    3: "3 trois three",
    4: "4 quatre four",
    5: "5 cinq five",
    6: "6 six",
    7: "7 sept seven",
    8: "8 huit eight",
    9: "9 neuf nine",
    10: "10 dix ten",
    11: "j v jack valet 11",
    12: "q d queen dame 12",
    13: "k r king roi 13",
}
_SUIT_NAMES = {
    "s": "s p ♠ ♤ spade spades pique piques",
    "h": "h ♥ ♡ heart hearts coeur coeurs",
    "d": "d ♦ ♢ diamond diamonds carreau carreaux",
    "c": "c t ♣ ♧ club clubs trefle trefles",
}
_RANK_OF = {name: rank for rank, names in _RANK_NAMES.items() for name in names.split()}
_SUIT_OF = {name: suit for suit, names in _SUIT_NAMES.items() for name in names.split()}


def _any_of(names: dict[str, object]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))  # the longest first, or `s` would take `sept` apart


_CARD = re.compile(
    rf"(?:the |le |la |l'|une? |an? )?(?P<rank>{_any_of({**_RANK_OF})})(?: ?(?:of |de |d'))? ?(?P<suit>{_any_of({**_SUIT_OF})})?"
)
_SEVENTH = re.compile(r"(?:the |le )?(?:nain(?: jaune)?|yellow dwarf)")
_CALL = re.compile(r"(.*?)[ ,:-]*(?:qui )?(?:prends?|takes?(?: all)?)")
_PASS = re.compile(r"-|0|p|pass|passe|je passe|i pass|stop|(?:sans|no)(?: .*)?")


class Typed(NamedTuple):
    """The meaning of what was typed."""

    passes: bool = False
    rank: int = 0
    """1 to 13; 0 for a pass."""
    suit: str | None = None
    """As in ``core.cards.SUITS``; None if none was named."""
    announced: bool = False
    """Whether the announcing words follow (N2.7)."""

    @property
    def card(self) -> str | None:
        """The card's text; None if its suit was not named."""
        return None if self.suit is None else RANKS[self.rank - 1] + self.suit


def plain(text: str) -> str:
    """Returns ``text`` in small letters without accents, with single spaces and without punctuation at the ends."""
    letters = unicodedata.normalize("NFKD", text.casefold()).replace("œ", "oe").replace("’", "'")
    plain_letters = "".join(letter for letter in letters if not unicodedata.combining(letter) and letter != "\ufe0f")
    return " ".join(plain_letters.strip(' \t.!«»“”"').split())


def understand(text: str) -> Typed | None:
    """Returns the meaning of ``text``; None if it has none."""
    words = plain(text)
    if _PASS.fullmatch(words):
        return Typed(passes=True)
    call = _CALL.fullmatch(words)
    card = words if call is None else call[1]
    announced = call is not None
    if _SEVENTH.fullmatch(card):
        return Typed(rank=7, suit="d", announced=announced)
    match = _CARD.fullmatch(card)
    if match is None:
        return None
    suit = None if match["suit"] is None else _SUIT_OF[match["suit"]]
    return Typed(rank=_RANK_OF[match["rank"]], suit=suit, announced=announced)
