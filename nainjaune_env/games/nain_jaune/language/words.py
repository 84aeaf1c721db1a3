"""What is said at the table, in French and in English: the one place for wording."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nainjaune_env.core.cards import RANKS
from nainjaune_env.core.errors import RulesError, choose_one

SUIT_SIGNS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
RED, PLAIN = "\x1b[31m", "\x1b[0m"
_RED_CARD = re.compile(r"(?:10|[2-9A-Z])?[♥♦]")


@dataclass(frozen=True)
class Words:
    """One language. Texts in braces are filled in by ``str.format``."""

    rank_signs: str
    """How the ranks A23456789TJQK are written on cards; ``T`` stands for 10."""
    rank_names: tuple[str, ...]
    """How they are called, in the same order."""
    takes: tuple[str, ...]
    """The call with which each pot is taken, in pot order (N2.7)."""
    king: str
    """The call after a King (N2.3)."""
    call: str
    """How these calls are set off from the cards."""
    without: str
    """The call of who stops or passes (N2.5): no ``{rank}``."""
    out: str
    silent: str
    silent_paid: str
    nobody_restart: str
    nobody_skip: str
    title: str
    seat: str
    seat_short: str
    round: str
    stacks: str
    pots: str
    pots_after: str
    hand: str
    talon: str
    settling: str
    grand_opera: str
    pays: str
    pays_short: str
    stranded: str
    stranded_short: str
    after: str
    result: str
    wins: str
    shared: str
    joiner: str
    """Between the last two of a list."""
    colon: str


FRENCH = Words(
    rank_signs="A23456789TVDR",
    rank_names=("as", "2", "3", "4", "5", "6", "7", "8", "9", "10", "valet", "dame", "roi"),
    takes=("Dix qui prend !", "Valet qui prend !", "Dame qui prend !", "Roi qui prend !", "Nain jaune qui prend !"),
    king="Roi et je recommence !",
    call="« {call} »",
    without="sans {rank}",
    out="plus de cartes !",
    silent="sans annonce",
    silent_paid="sans annonce, −{chips}",
    nobody_restart="Personne ne pose de {rank} : {seat} relance.",
    nobody_skip="Personne ne pose de {rank} : {seat} passe au rang suivant, {next}.",
    title="Nain Jaune, feuille « {preset} », {players} joueurs",
    seat="Place {seat} ({agent})",
    seat_short="place {seat}",
    round="Manche {number} — donneur : place {dealer}",
    stacks="Jetons",
    pots="Pots, mises comprises",
    pots_after="Pots",
    hand="Main de {seat}",
    talon="Talon",
    settling="Règlement",
    grand_opera="Grand opéra ! Tous les pots vont à {winner} (+{paid}).",
    pays="{seat} paie {paid} à {winner} : reste {cards}.",
    pays_short="{seat} paie {paid} à {winner} sur {due} dus, faute de jetons : reste {cards}.",
    stranded="{seat} a gardé {card} et ajoute {paid} au pot.",
    stranded_short="{seat} a gardé {card} et ajoute {paid} au pot sur {due} dus.",
    after="Après la manche",
    result="Résultat",
    wins="{winners} gagne avec {chips} jetons.",
    shared="{winners} gagnent à égalité avec {chips} jetons.",
    joiner=" et ",
    colon=" : ",
)

ENGLISH = Words(
    rank_signs="A23456789TJQK",
    rank_names=("ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king"),
    takes=(
        "The ten takes all!",
        "The jack takes all!",
        "The queen takes all!",
        "The king takes all!",
        "The nain jaune takes all!",
    ),
    king="King and I start again!",
    call="“{call}”",
    without="no {rank}",
    out="out!",
    silent="unannounced",
    silent_paid="unannounced, −{chips}",
    nobody_restart="No {rank} from anyone: {seat} leads again.",
    nobody_skip="No {rank} from anyone: {seat} goes on to the {next}.",
    title="Nain Jaune, the {preset!r} sheet, {players} players",
    seat="Seat {seat} ({agent})",
    seat_short="seat {seat}",
    round="Round {number} — dealer: seat {dealer}",
    stacks="Chips",
    pots="Pots with the antes",
    pots_after="Pots",
    hand="Hand of {seat}",
    talon="Talon",
    settling="Settlement",
    grand_opera="Grand opéra! Every pot goes to {winner} (+{paid}).",
    pays="{seat} pays {paid} to {winner}: left with {cards}.",
    pays_short="{seat} pays {paid} of the {due} due to {winner}, and has no more: left with {cards}.",
    stranded="{seat} kept {card} and adds {paid} to its pot.",
    stranded_short="{seat} kept {card} and adds {paid} of the {due} due to its pot.",
    after="After the round",
    result="Result",
    wins="{winners} wins with {chips} chips.",
    shared="{winners} share the win with {chips} chips.",
    joiner=" and ",
    colon=": ",
)

WORDS: Mapping[str, Words] = {"fr": FRENCH, "en": ENGLISH}


def words_in(language: str) -> Words:
    """The wording in ``language``; raises :class:`RulesError` where there is none."""
    if language not in WORDS:
        raise RulesError(choose_one("language", language, WORDS))
    return WORDS[language]


def card_sign(card: str, words: Words) -> str:
    """A card as people write it: ``10♦``, ``V♣`` or ``J♣``."""
    sign = words.rank_signs[RANKS.index(card[0])]
    return ("10" if sign == "T" else sign) + SUIT_SIGNS[card[1]]


def paint(text: str) -> str:
    """``text`` with red suits in red, for a terminal."""
    return _RED_CARD.sub(lambda found: f"{RED}{found[0]}{PLAIN}", text)
