"""The house rules as knobs, the four rule sheets as presets, and both as integers for the kernel.

``RULES.md`` in this folder states the rules in numbered articles, with our reading where the sheets are silent. Comments and
tests cite an article by its number (N2.6).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, cast

from nainjaune_env.core.cards import card_number, card_rank, card_set
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.rules import Preset, Rules, knob
from nainjaune_env.core.spec import Setup

POT_CARDS = ("Td", "Jc", "Qs", "Kh", "7d")
"""The pot cards in pot order (N1.2). The 7 of diamonds is the nain jaune."""
ANTES = (1, 2, 3, 4, 5)
"""What a seat antes into each pot at stake 1 (N1.2)."""
HAND_SIZES = (0, 0, 22, 15, 12, 9, 8, 7, 6)
"""Cards dealt to each seat, by number of seats (N1.4)."""
TOP_RANK = 13
"""The rank of the King (N2.3)."""
SHORT_TOP_RANK = 10
"""The highest rank of a deck of ten ranks or fewer, so that the pots on the 10 and, from four ranks on, the 7 stay (N1.7)."""
SUIT_ORDER = (2, 3, 0, 1)
"""The suits (numbered as in ``core.cards``) in the order in which a short deck takes them: ♦ ♣ ♠ ♥ (N1.7)."""


POT_NUMBERS = tuple(card_number(text) for text in POT_CARDS)
"""The pot cards by number."""
POT_SET = card_set(POT_NUMBERS)
"""The pot cards as a set."""
POTS_AT = tuple(sum(1 << pot for pot, card in enumerate(POT_NUMBERS) if card_rank(card) == rank) for rank in range(TOP_RANK + 1))
"""By rank: the set of pots with a card of that rank."""


class Decline(IntEnum):
    """Who may refuse to play a card of the required rank (N2.4, N2.5)."""

    NEVER = 0
    ENTRY = 1
    ALWAYS = 2


class Blocked(IntEnum):
    """What follows a circle without a card (N2.6)."""

    RESTART = 0
    SKIP = 1


class Payment(IntEnum):
    """What a loser pays the winner (N3.2)."""

    CARDS = 0
    POINTS = 1


class Stranded(IntEnum):
    """What a loser adds to a pot whose card they still hold (N3.3)."""

    NONE = 0
    MATCH_POT = 1
    TWICE_POT = 2
    TWICE_ANTE = 3


class GrandOpera(IntEnum):
    """What makes a grand opéra (N3.1)."""

    FIRST_TURN = 0
    SINGLE_TURN = 1
    NO_RIVAL_CARD = 2


class Announce(IntEnum):
    """Whether a capture must be announced (N2.7)."""

    AUTOMATIC = 0
    EXPLICIT = 1


def choices_of(values: type[IntEnum]) -> tuple[str, ...]:
    """Returns the words by which a knob's values are set, in order: the members' names in small letters."""
    return tuple(value.name.lower() for value in values)


@dataclass(frozen=True)
class NainJauneRules(Rules):
    """The house rules. The defaults are the ``djeco`` preset's."""

    direction: str = knob(
        "clockwise", "how the table is drawn; no effect on play", "N1.5", choices=("clockwise", "counterclockwise")
    )
    decline: str = knob(
        "entry",
        "when a seat that holds the required rank may refuse: never, when taking over, or going on too",
        "N2.4, N2.5",
        choices=choices_of(Decline),
    )
    blocked: str = knob(
        "restart", "after a full circle without a card: a new lead, or the next rank up", "N2.6", choices=choices_of(Blocked)
    )
    payment: str = knob("cards", "what a loser pays the winner for each card left", "N3.2", choices=choices_of(Payment))
    stranded: str = knob("none", "what a loser adds to a pot whose card they still hold", "N3.3", choices=choices_of(Stranded))
    grand_opera: str = knob("first_turn", "what wins every pot", "N3.1", choices=choices_of(GrandOpera))
    announce: str = knob(
        "automatic", "whether a capture must be announced to count (silent plays exist)", "N2.7", choices=choices_of(Announce)
    )
    unannounced: int = knob(0, "pots' worth that a silent play costs", "N2.7", low=0, samples=(0, 1, 3))
    stake: int = knob(1, "multiplies every ante", "N2.1", low=1, samples=(1, 2, 5, 20))
    starting_stack: int | None = knob(
        49,
        "chips at the start of a match; None is unlimited credit",
        "N4.1",
        low=1,
        optional=True,
        samples=(None, 49, 60, 200, 1000),
    )
    end_on_default: bool = knob(False, "whether a seat that cannot pay in full ends the match", "N4.3")
    max_rounds: int | None = knob(
        None, "rounds after which a match ends; None is no limit", "N4.3", low=1, optional=True, samples=(None, 1, 12)
    )

    ranks: int = knob(
        TOP_RANK,
        "ranks in the deck, up to the 10; more than ten, from the ace up",
        "N1.7",
        low=2,
        high=TOP_RANK,
        extension=True,
        samples=(6, 8, 10, 11, 12, 13),
    )
    suits: int = knob(
        len(SUIT_ORDER),
        "suits in the deck: diamonds, clubs, spades, hearts",
        "N1.7",
        low=1,
        high=len(SUIT_ORDER),
        extension=True,
        samples=(2, 3, 4),
    )
    hand: int | None = knob(
        None,
        "cards dealt to each seat; None is the number for a full deck",
        "N1.7",
        low=1,
        high=HAND_SIZES[2],
        optional=True,
        extension=True,
        samples=(None, 4, 8, 12),
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
    """The rules of one table as integers: the knobs by their own names, and numbers derived from them.

    A knob that is a word is its member's value, one that is yes or no 1 or 0, and None is 0.
    """

    players: int
    hand_size: int
    """Cards dealt to each seat."""
    deck_size: int
    """Cards in the deck; they come first in ``table.deck``."""
    deck: int
    """The cards of the deck as a set."""
    top_rank: int
    """The highest rank of the deck, above which nothing goes (N2.3)."""
    decline: int
    blocked: int
    payment: int
    stranded: int
    grand_opera: int
    announce: int
    unannounced: int
    stake: int
    limited: int
    """1 with stacks, 0 on unlimited credit."""
    starting_stack: int
    antes: tuple[int, ...]
    """Each pot's ante at stake 1; 0 if its card is not in the deck."""
    round_antes: int
    """What a seat antes in all."""
    end_on_default: int
    max_rounds: int
    pot_cards: tuple[int, ...]
    """Each pot's card, by number."""
    pot_set: int
    """The pot cards as a set."""
    pots_at: tuple[int, ...]
    """By rank 0 to 13: the set of pots with a card of that rank."""


def compile_rules(knobs: Any, players: Any) -> KernelRules:
    """Returns the rules as the kernel takes them; ``knobs`` are numbers (``Rules.numbers``)."""
    top_rank = max(knobs.ranks, SHORT_TOP_RANK)
    deck = 0
    for place in range(knobs.suits):
        for rank in range(top_rank - knobs.ranks + 1, top_rank + 1):
            deck |= 1 << 13 * SUIT_ORDER[place] + rank - 1
    antes = (
        ANTES[0] * (deck >> POT_NUMBERS[0] & 1),
        ANTES[1] * (deck >> POT_NUMBERS[1] & 1),
        ANTES[2] * (deck >> POT_NUMBERS[2] & 1),
        ANTES[3] * (deck >> POT_NUMBERS[3] & 1),
        ANTES[4] * (deck >> POT_NUMBERS[4] & 1),
    )
    hand_size = knobs.hand if knobs.hand > 0 else HAND_SIZES[players]  # numba takes no choice among so many arguments
    return KernelRules(
        players=players,
        hand_size=hand_size,
        deck_size=knobs.ranks * knobs.suits,
        deck=deck,
        top_rank=top_rank,
        decline=knobs.decline,
        blocked=knobs.blocked,
        payment=knobs.payment,
        stranded=knobs.stranded,
        grand_opera=knobs.grand_opera,
        announce=knobs.announce,
        unannounced=knobs.unannounced,
        stake=knobs.stake,
        limited=int(knobs.starting_stack > 0),
        starting_stack=knobs.starting_stack,
        antes=antes,
        round_antes=sum(antes) * knobs.stake,
        end_on_default=knobs.end_on_default,
        max_rounds=knobs.max_rounds,
        pot_cards=POT_NUMBERS,
        pot_set=POT_SET,
        pots_at=POTS_AT,
    )


REFUSALS = (
    "A match under these rules has no end: set the knob 'max_rounds' or 'starting_stack', or play single rounds.",
    "The knob 'starting_stack' must cover one round's antes, {0} chips at stake {1}, and it is {2}: no round could be played.",
    "The deck has {0} cards (knobs 'ranks' and 'suits'), and {1} hands of {2} (knob 'hand') take {3}; at most {4} each would do.",
)
"""Why knobs do not go together."""
ENDLESS, POOR, SHORT = 1, 2, 3
"""The numbers of these sentences."""


def refuse_rules(knobs: Any, rules: Any, whole_match: Any, details: Any) -> Any:
    """Returns the number of the sentence of :data:`REFUSALS` that refuses the rules, whose numbers it writes; 0 for none."""
    if whole_match and knobs.starting_stack == 0 and knobs.max_rounds == 0:
        return ENDLESS
    if 0 < knobs.starting_stack < rules.round_antes:
        details[0], details[1], details[2] = rules.round_antes, knobs.stake, knobs.starting_stack
        return POOR
    if rules.players * rules.hand_size > rules.deck_size:
        details[0], details[1], details[2] = rules.deck_size, rules.players, rules.hand_size
        details[3], details[4] = rules.players * rules.hand_size, rules.deck_size // rules.players
        return SHORT
    return 0


def rules_of(setup: Setup) -> KernelRules:
    """Returns ``setup.kernel_rules`` with the type that it has in this game."""
    return cast(KernelRules, setup.kernel_rules)


def check_match(rules: Any) -> None:
    """Raises :class:`RulesError` if a match under these rules would have no end (N4.3)."""
    if rules.starting_stack is None and rules.max_rounds is None:
        raise RulesError(REFUSALS[ENDLESS - 1])


def single_round(rules: Any) -> Any:
    """Returns these rules with matches of one round."""
    return rules.replace(max_rounds=1)
