"""The languages by name, and cards as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nainjaune_env.core.cards import RANKS
from nainjaune_env.core.errors import RulesError, choose_one
from nainjaune_env.games.nain_jaune.language.en import ENGLISH
from nainjaune_env.games.nain_jaune.language.fr import FRENCH
from nainjaune_env.games.nain_jaune.language.wording import Wording, Words

WORDINGS: Mapping[str, Wording] = {"fr": FRENCH, "en": ENGLISH}
SUIT_SIGNS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_RED_CARD = re.compile(r"(?:10|[2-9A-Z])?[♥♦]")


def wording_in(language: str) -> Wording:
    """Returns the wording of ``language``; raises :class:`RulesError` for an unknown one."""
    if language not in WORDINGS:
        raise RulesError(choose_one("language", language, WORDINGS))
    return WORDINGS[language]


def card_sign(card: str, words: Words) -> str:
    """Returns a card as people write it: ``10♦``, ``V♣`` or ``J♣``."""
    sign = words.rank_signs[RANKS.index(card[0])]
    return ("10" if sign == "T" else sign) + SUIT_SIGNS[card[1]]


def paint(text: str) -> str:
    """Returns ``text`` with cards of red suits in a terminal's red."""
    return _RED_CARD.sub(lambda found: f"{_RED}{found[0]}{_PLAIN}", text)
