"""What an adviser says of a position and of a move, in French and in English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nainjaune_env.games.nain_jaune.language.words import WORDS


@dataclass(frozen=True)
class OutlookWords:
    """One language. Texts in braces are filled in by ``str.format``."""

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
    """By source of chips (``measures.SOURCES``): what a move brings more or less by it."""
    out: str
    captured: str
    stranded: str
    """The chances behind it, of the move and of the other one."""


ENGLISH = OutlookWords(
    table="{preset}, round {round}, seat {seat} of {players}",
    leads="you have the lead",
    follows="{rank} is wanted",
    may_decline="{rank} is wanted, and you may pass",
    hand="hand",
    pots="pots",
    cards="cards",
    chips="chips",
    played="played",
    lacks="proven",
    nothing="—",
    passes="pass",
    silent="{card} unannounced",
    sources=(
        "{chips} in antes",
        "{chips} from pots",
        "{chips} from grands opéras",
        "{chips} from the others' hands at the end",
        "{chips} on cards left in hand",
        "{chips} on pot cards left in hand",
        "{chips} on unannounced pot cards",
    ),
    out="out first {better} of the time, not {other}",
    captured="{card} takes its pot {better} of the time, not {other}",
    stranded="{card} is left over {better} of the time, not {other}",
)

FRENCH = OutlookWords(
    table="{preset}, manche {round}, place {seat} sur {players}",
    leads="vous avez la main",
    follows="{rank} demandé",
    may_decline="{rank} demandé, et vous pouvez passer",
    hand="main",
    pots="pots",
    cards="cartes",
    chips="jetons",
    played="jouées",
    lacks="certain",
    nothing="—",
    passes="passer",
    silent="{card} sans annonce",
    sources=(
        "{chips} de mises",
        "{chips} par les pots",
        "{chips} par les grands opéras",
        "{chips} par les mains des autres à la fin",
        "{chips} sur les cartes qui restent en main",
        "{chips} sur les cartes de pot qui restent en main",
        "{chips} sur les cartes de pot sans annonce",
    ),
    out="sorti premier {better} du temps, au lieu de {other}",
    captured="{card} prend son pot {better} du temps, au lieu de {other}",
    stranded="{card} reste en main {better} du temps, au lieu de {other}",
)

OUTLOOK_WORDS: Mapping[str, OutlookWords] = {"en": ENGLISH, "fr": FRENCH}
assert OUTLOOK_WORDS.keys() == WORDS.keys()
