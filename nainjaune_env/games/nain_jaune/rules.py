"""The rules of Nain Jaune as knobs, the four sheets as presets, and both as integers for the kernel.

``RULES.md`` in this folder restates the rules in numbered articles, with every reading we chose where the
sheets are silent and why. An article's number (N2.6, say) means the same in comments and tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from nainjaune_env.core.cards import card_number, card_rank, card_set, cards_in
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.rules import Preset, Rules, knob

POT_CARDS = ("Td", "Jc", "Qs", "Kh", "7d")
"""The pot cards, in pot order (N1.2). The 7 of diamonds is the nain jaune."""
ANTES = (1, 2, 3, 4, 5)
"""What a seat puts into each pot before a round, times ``stake`` (N1.2)."""
HAND_SIZES = {2: 22, 3: 15, 4: 12, 5: 9, 6: 8, 7: 7, 8: 6}
"""Cards dealt to each seat, by number of seats (N1.4)."""
TOP_RANK = 13
"""The rank with nothing above it: the King (N2.3)."""
HELD_RANK = 10
"""Where a deck of ten ranks or fewer ends: so the pots on the 10 and, from four ranks on, the 7 stay (N1.7)."""
SUIT_ORDER = (2, 3, 0, 1)
"""The suits, as in ``cards``, in the order in which a short deck has them: diamonds, clubs, spades, hearts (N1.7)."""

DECLINE = ("never", "entry", "always")
BLOCKED = ("restart", "skip")
PAYMENT = ("cards", "points")
STRANDED = ("none", "match_pot", "twice_pot", "twice_ante")
GRAND_OPERA = ("first_turn", "single_turn", "no_rival_card")
ANNOUNCE = ("automatic", "explicit")
DIRECTION = ("clockwise", "counterclockwise")


def deck_of(rules: Any) -> int:
    """The cards that are played with, as a set (N1.1; of a short deck N1.7)."""
    top = top_rank_of(rules)
    suits = SUIT_ORDER[: rules.suits]
    return card_set(13 * suit + rank - 1 for suit in suits for rank in range(top - rules.ranks + 1, top + 1))


def top_rank_of(rules: Any) -> int:
    """The rank with nothing above it (N2.3; of a short deck N1.7)."""
    return max(int(rules.ranks), HELD_RANK)


def antes_of(rules: Any) -> tuple[int, ...]:
    """Per pot: its ante at stake 1, 0 where its card is not in the deck (N1.2, N1.7)."""
    deck = deck_of(rules)
    return tuple(ante * (deck >> card_number(text) & 1) for text, ante in zip(POT_CARDS, ANTES, strict=True))


@dataclass(frozen=True)
class NainJauneRules(Rules):
    """Every house rule. The defaults are the ``djeco`` sheet's."""

    direction: str = knob("clockwise", "how the table is drawn; no effect on play", "N1.5", choices=DIRECTION)
    decline: str = knob(
        "entry",
        "when a seat that holds the required rank may refuse: never, when taking over, or going on too",
        "N2.4, N2.5",
        choices=DECLINE,
    )
    blocked: str = knob("restart", "after a full circle without a card: a new lead, or the next rank up", "N2.6", choices=BLOCKED)
    payment: str = knob("cards", "what a loser pays the winner for each card left", "N3.2", choices=PAYMENT)
    stranded: str = knob("none", "what a loser adds to a pot whose card he still holds", "N3.3", choices=STRANDED)
    grand_opera: str = knob("first_turn", "what wins every pot", "N3.1", choices=GRAND_OPERA)
    announce: str = knob(
        "automatic", "whether a capture must be announced to count (silent plays exist)", "N2.7", choices=ANNOUNCE
    )
    unannounced: int = knob(0, "pots' worth that a silent play costs", "N2.7", low=0)
    stake: int = knob(1, "multiplies every ante", "N2.1", low=1)
    starting_stack: int | None = knob(49, "chips at the start of a match; None is unlimited credit", "N4.1", low=1, optional=True)
    end_on_default: bool = knob(False, "whether a seat that cannot pay in full ends the match", "N4.3")
    max_rounds: int | None = knob(None, "rounds after which a match ends; None is no limit", "N4.3", low=1, optional=True)

    ranks: int = knob(
        TOP_RANK, "ranks in the deck, up to the 10; more than ten, from the ace up", "N1.7", low=2, high=TOP_RANK, extension=True
    )
    suits: int = knob(
        len(SUIT_ORDER), "suits in the deck: diamonds, clubs, spades, hearts", "N1.7", low=1, high=len(SUIT_ORDER), extension=True
    )
    hand: int | None = knob(
        None,
        "cards dealt to each seat; None is the number for a full deck",
        "N1.7",
        low=1,
        high=HAND_SIZES[2],
        optional=True,
        extension=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        antes = sum(antes_of(self)) * self.stake
        if self.starting_stack is not None and self.starting_stack < antes:
            raise RulesError(
                f"The knob 'starting_stack' must cover one round's antes, {antes} chips at stake {self.stake}, "
                f"and it is {self.starting_stack}: no round could be played."
            )


PRESETS = {
    "djeco": Preset(NainJauneRules(), range(2, 5), "DJECO's box rules"),
    "classic": Preset(
        NainJauneRules(decline="never", payment="points", stranded="match_pot", starting_stack=None, max_rounds=12),
        range(3, 9),
        "a French sheet: forced play, points, doubling",
    ),
    "skip": Preset(
        NainJauneRules(
            decline="never",
            blocked="skip",
            payment="points",
            stranded="match_pot",
            grand_opera="single_turn",
            starting_stack=60,
            end_on_default=True,
        ),
        range(2, 9),
        "a French sheet: talon table, a blocked run skips a value",
    ),
    "tableau": Preset(
        NainJauneRules(
            direction="counterclockwise",
            decline="never",
            stranded="twice_pot",
            grand_opera="no_rival_card",
            unannounced=1,
            starting_stack=None,
            max_rounds=12,
        ),
        range(3, 9),
        "a French sheet: play to the right, cards counted",
    ),
}
"""The four sheets (N5)."""


class KernelRules(NamedTuple):
    """The rules of one table as integers. A knob that is a word is its place in the tuple of choices above."""

    players: int
    hand_size: int
    """Cards dealt to each seat."""
    deck_size: int
    """Cards in the deck; the deck's cards come first in ``table.deck``."""
    deck: int
    """The same as a set."""
    top_rank: int
    """The rank with nothing above it."""
    decline: int
    blocked: int
    payment: int
    stranded: int
    grand_opera: int
    explicit: int
    unannounced: int
    stake: int
    limited: int
    """1 with stacks, 0 on unlimited credit."""
    starting_stack: int
    """0 on unlimited credit."""
    antes: tuple[int, ...]
    """Per pot: what a seat antes into it at stake 1; 0 where there is no such pot."""
    round_antes: int
    """What a seat antes in all."""
    end_on_default: int
    max_rounds: int
    """0 = no limit."""
    pot_cards: tuple[int, ...]
    """Per pot: its card's number."""
    pot_set: int
    """The pot cards as a set."""
    pots_at: tuple[int, ...]
    """By rank 0..13: the pots with a card of that rank, as bits."""


def compile_rules(rules: Any, players: int) -> KernelRules:
    """The named tuple that the kernel takes. Raises :class:`RulesError` where a short deck does not go round."""
    cards = tuple(card_number(text) for text in POT_CARDS)
    deck, antes = deck_of(rules), antes_of(rules)
    deck_size = len(cards_in(deck))
    hand_size = HAND_SIZES[players] if rules.hand is None else rules.hand
    if players * hand_size > deck_size:
        raise RulesError(
            f"The deck has {deck_size} cards (knobs 'ranks' and 'suits'), and {players} hands of {hand_size} (knob 'hand') "
            f"take {players * hand_size}; at most {deck_size // players} each would do."
        )
    return KernelRules(
        players=players,
        hand_size=hand_size,
        deck_size=deck_size,
        deck=deck,
        top_rank=top_rank_of(rules),
        decline=DECLINE.index(rules.decline),
        blocked=BLOCKED.index(rules.blocked),
        payment=PAYMENT.index(rules.payment),
        stranded=STRANDED.index(rules.stranded),
        grand_opera=GRAND_OPERA.index(rules.grand_opera),
        explicit=ANNOUNCE.index(rules.announce),
        unannounced=int(rules.unannounced),
        stake=int(rules.stake),
        limited=int(rules.starting_stack is not None),
        starting_stack=int(rules.starting_stack or 0),
        antes=antes,
        round_antes=sum(antes) * int(rules.stake),
        end_on_default=int(rules.end_on_default),
        max_rounds=int(rules.max_rounds or 0),
        pot_cards=cards,
        pot_set=card_set(cards),
        pots_at=tuple(sum(1 << pot for pot, card in enumerate(cards) if card_rank(card) == rank) for rank in range(TOP_RANK + 1)),
    )


def check_match(rules: Any) -> None:
    """Raises :class:`RulesError` where a match would have no end (N4.3)."""
    if rules.starting_stack is None and rules.max_rounds is None:
        raise RulesError(
            "A match under these rules has no end: set the knob 'max_rounds' or 'starting_stack', or play single rounds."
        )


def single_round(rules: Any) -> Any:
    """The same rules with a match of one round."""
    return rules.replace(max_rounds=1)
