"""Tables set up from real cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.cards import DECK, card_number, card_set, cards_in
from nainjaune_env.core.errors import DealError, as_sentence, quoted
from nainjaune_env.core.rules import MAX_NUMBER
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_SEED, check_whole
from nainjaune_env.games.nain_jaune.kernel import open_round
from nainjaune_env.games.nain_jaune.rules import rules_of
from nainjaune_env.games.nain_jaune.state import POT_LIMIT, POTS, TABLE


def setup_table(
    setup: Setup,
    hands: Sequence[Sequence[str]],
    *,
    dealer: int,
    stacks: Sequence[int] | None = None,
    pots: Sequence[int] | None = None,
    rounds_before: int = 0,
    seed: int = 0,
) -> Any:
    """Returns a table (one record of ``state.TABLE``) at the start of a round with these hands.

    ``stacks`` and ``pots`` are those before the antes (None: of a new match); ``seed`` is the state of the generator that deals
    later rounds. Raises :class:`DealError` for hands that are not from one deck or not of the right size, and for numbers that
    are not whole or out of range.
    """
    rules = rules_of(setup)
    n = setup.players
    if len(hands) != n or any(len(hand) != rules.hand_size for hand in hands):
        sizes = [len(hand) for hand in hands]
        raise DealError(f"With {n} players there are {n} hands of {rules.hand_size} cards, not {sizes}.")
    try:
        numbers = [[card_number(card) for card in hand] for hand in hands]
    except ValueError as error:
        raise DealError(f"The deal is no deck: {as_sentence(error)}") from None
    flat = [number for hand in numbers for number in hand]
    dealt = set(flat)
    if len(dealt) < len(flat):
        twice = sorted({DECK[number] for number in flat if flat.count(number) > 1})
        raise DealError(f"The deal is no deck: {', '.join(twice)} dealt more than once.")
    foreign = sorted({DECK[number] for number in flat if not rules.deck >> number & 1})
    if foreign:
        raise DealError(f"The deal is not from this deck (knobs 'ranks' and 'suits'): {', '.join(foreign)} is not in it.")
    dealer = check_whole("The dealer", dealer)
    if not 0 <= dealer < n:
        raise DealError(f"The dealer is a seat from 0 to {n - 1}, not {quoted(dealer)}.")
    stacks = [rules.starting_stack] * n if stacks is None else [check_whole("Each of the stacks", chips) for chips in stacks]
    pots = [0] * POTS if pots is None else [check_whole("Each of the pots", chips) for chips in pots]
    if len(stacks) != n or len(pots) != POTS:
        raise DealError(f"Expected {n} stacks and {POTS} pots, not {len(stacks)} and {len(pots)}.")
    if not all(0 <= pot <= POT_LIMIT for pot in pots):
        raise DealError(f"A pot holds from 0 to {POT_LIMIT} chips, not {quoted(pots)}.")
    if rules.limited and min(stacks) < rules.round_antes:
        raise DealError(f"Every seat must be able to ante {rules.round_antes} chips, and the stacks are {quoted(stacks)}.")
    if max(map(abs, stacks)) >= 1 << 48:
        raise DealError(f"Stacks stay within 2**48 chips, and they are {quoted(stacks)}.")
    rounds_before = check_whole("The number of rounds before", rounds_before, 0, MAX_NUMBER)
    seed = check_whole("The seed", seed, 0, MAX_SEED)
    table = np.zeros(1, TABLE)
    # by the array's fields: reading an attribute of an np.record takes 20 times as long
    table["stack"][0, :n] = stacks
    table["pot"] = pots
    table["rng"] = np.uint64(seed)
    table["rounds"] = rounds_before
    table["dealer"] = dealer
    talon = [number for number in cards_in(rules.deck) if number not in dealt]
    unused = [number for number in range(52) if not rules.deck >> number & 1]
    table["deck"] = flat + talon + unused
    table["hand"][0, :n] = [card_set(hand) for hand in numbers]
    row = table[0]
    open_round(row, rules)
    return row
