"""The 24 actions: their codes, names and decoding.

0 to 12 play a plain card of rank 1 to 13, 13 to 17 the pot cards in pot order, 18 passes or stops, and 19 to 23 play the pot
cards silently (N2.7). Cards that differ only in suit are one action (N1.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined
from nainjaune_env.core.cards import DECK, RANKS, card_number, card_rank
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, KernelRules
from nainjaune_env.games.nain_jaune.state import NUM_RANKS, POTS

POT = NUM_RANKS
"""The first action that plays a pot card and captures its pot."""
PASS = POT + POTS
"""The action of a pass or a stop (N2.5)."""
SILENT = PASS + 1
"""The first action that plays a pot card silently."""
PASS_MOVE = "-"
"""A pass on a record."""
SILENT_MARK = "~"
"""Follows the card of a silent play on a record."""
ACTIONS: tuple[str, ...] = (*RANKS, *POT_CARDS, PASS_MOVE, *(card + SILENT_MARK for card in POT_CARDS))
"""The name of each action: a plain rank, a pot card, ``-``, or a pot card played silently."""


@inlined
def is_pot_card(action: Any) -> Any:
    """Returns whether ``action`` plays a pot card, silently or not."""
    return action >= POT and action != PASS


@inlined
def is_silent(action: Any) -> Any:
    """Returns whether ``action`` plays a pot card silently."""
    return action >= SILENT


@inlined
def pot_of(action: Any) -> Any:
    """Returns the pot whose card ``action`` plays; ``action`` must play a pot card."""
    return action - SILENT if action >= SILENT else action - POT


@inlined
def rank_of(rules: KernelRules, action: Any) -> Any:
    """Returns the rank 1 to 13 of the card that ``action`` plays; ``action`` must not be a pass."""
    if action < POT:
        return np.int64(action + 1)
    return np.int64(rules.pot_cards[pot_of(action)] % NUM_RANKS + 1)


def action_of(move: str) -> int:
    """Returns the action of a move on a record: ``"5h"``, ``"7d"``, ``"7d~"`` or ``"-"``.

    Raises ``ValueError`` for a text that is no move.
    """
    if move == PASS_MOVE:
        return PASS
    card = move.removesuffix(SILENT_MARK)
    number = card_number(card)
    if card in POT_CARDS:
        return (POT if card == move else SILENT) + POT_CARDS.index(card)
    if card != move:
        raise ValueError(f"{move!r}: only a pot card can be played silently, and these are {', '.join(POT_CARDS)}")
    return card_rank(number) - 1


ACTION_OF: dict[str, int] = {move: action_of(move) for move in (*DECK, *ACTIONS[PASS:])}
"""The action of every move that can stand on a record."""
