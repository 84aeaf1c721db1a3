"""What a table needs to be safe to play on, to check tables that come from outside (``nainjaune_env.core.table_checks``).

A table that passes can be stepped, encoded, redacted and resampled to the end of its round, and passes at each ply. Play need not
be able to reach it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.table_checks import Invariant, between, every
from nainjaune_env.games.nain_jaune.rules import KernelRules, rules_of
from nainjaune_env.games.nain_jaune.state import ACES, ALL_RANKS, MAX_SEATS, NOBODY, POT_LIMIT

MAX_STACK = 1 << 48
"""Bound of the chips of a seat before the round, far from where sums would overflow."""
MAX_GAIN = np.iinfo(np.int32).max
"""Bound of what a seat has gained or lost in the round; it is more than seven full pots."""


def table_invariants(setup: Setup, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields the invariants of ``rows (K,)``, single fields first, as later ones rely on them."""
    rules, n = rules_of(setup), setup.players
    last_seat = n - 1
    for name in ("dealer", "last"):
        yield Invariant(name, between(rows[name], 0, last_seat), f"a seat from 0 to {last_seat}")
    for name in ("winner", "captor"):
        yield Invariant(name, between(rows[name], NOBODY, last_seat), f"seats from 0 to {last_seat}, or {NOBODY}")
    for name in ("hand_untouched", "opera"):
        yield Invariant(name, between(rows[name], 0, 1), "0 or 1")
    for name in ("turn_taken", "defaults"):
        yield Invariant(name, between(rows[name], 0, (1 << n) - 1), f"a set of the {n} seats")
    for name in ("void", "passed"):
        yield Invariant(name, between(rows[name], 0, int(ALL_RANKS)), "sets of ranks")
    yield Invariant("rounds", rows["rounds"] >= 1, "at least 1 round")
    top = rules.top_rank
    yield Invariant("required_rank", between(rows["required_rank"], 0, top), f"a rank from 1 to {top}, or 0")
    yield Invariant("spare", between(rows["spare"], 0, 0), "0")
    for name in ("hand", "played", "stack", "before", "void", "passed", "cards"):
        yield Invariant(name, every(rows[name][:, n:] == 0), f"0 from seat {n} on")
    yield from _of_chips(rules, rows)
    yield from _of_cards(rules, rows)
    yield from _of_play(rules, rows)


def _of_chips(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    yield Invariant("pot", between(rows["pot"], 0, POT_LIMIT), f"0 to {POT_LIMIT} chips in a pot (N4.7)")
    for name, most in (("before", MAX_STACK), ("stack", 2 * MAX_STACK)):
        low = 0 if rules.limited else 1 - most
        yield Invariant(name, between(rows[name], low, most - 1), f"{low} to {most - 1} chips in a stack")
    yield from _of_gains(rules, rows)
    # chips only move between stacks and pots, and before the antes the pots held 0 to POT_LIMIT each
    more = rows["stack"].sum(axis=1) + rows["pot"].sum(axis=1, dtype=np.int64) - rows["before"].sum(axis=1)
    pots = rows["pot"].shape[1] * POT_LIMIT
    yield Invariant("stack", between(more, 0, pots), f"0 to {pots} more chips in stacks and pots than in 'before'")
    if not rules.limited:
        yield Invariant("defaults", rows["defaults"] == 0, "no default on unlimited credit (N4.2)")


def _of_gains(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields that no payoff leaves ``int32``, now and later in the round.

    In the round a seat can still gain each pot that nobody has captured, and lose as much by each pot card not played yet.
    Antes and payments for cards are less than one full pot.
    """
    gain, played = rows["stack"] - rows["before"], np.bitwise_or.reduce(rows["played"], axis=1)
    unplayed = np.bitwise_count(rules.pot_set & ~played).astype(np.int64)[:, None]
    to_come = POT_LIMIT * (rows["stage"] == Stage.PLAYING).astype(np.int64)[:, None]
    most = MAX_GAIN - to_come * (1 + (rows["captor"] == NOBODY).sum(axis=1)[:, None])
    least = to_come * (1 + unplayed) - MAX_GAIN
    within = every((gain >= least) & (gain <= most))
    yield Invariant("stack", within, f"at most {MAX_GAIN} chips from 'before', with what the round can still bring")


def _of_cards(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    hand, played, size = rows["hand"], rows["played"], rules.hand_size
    for name in ("hand", "played"):
        yield Invariant(name, every(rows[name] & ~np.int64(rules.deck) == 0), "sets of cards of the deck (N1.1, N1.7)")
    dealt = np.concatenate([hand, played], axis=1)
    twice = np.bitwise_count(dealt).sum(axis=1) != np.bitwise_count(np.bitwise_or.reduce(dealt, axis=1))
    yield Invariant("hand", ~twice, "every card in one hand, or played once")
    yield Invariant("cards", every(rows["cards"] == np.bitwise_count(hand)), "the number of cards in each hand")
    seats = slice(None, rules.players)
    whole = every(np.bitwise_count(hand | played)[:, seats] == size)
    yield Invariant("hand", whole, f"{size} cards dealt to each seat, in hand or played (N1.4)")
    for rank in range(1, rules.top_rank + 1):
        holds_void = (rows["void"] >> rank - 1 & 1 == 1) & (hand & ACES << rank - 1 != 0)
        yield Invariant("void", ~holds_void.any(axis=1), f"no seat void of rank {rank} that holds it (N6)")
    order = rows["deck"]
    yield Invariant("deck", every(np.sort(order, axis=1) == np.arange(52)), "the numbers 0 to 51, each once")
    cards = np.int64(1) << order.astype(np.int64)
    for seat in range(rules.players):
        first = np.bitwise_or.reduce(cards[:, seat * size : (seat + 1) * size], axis=1)
        yield Invariant("deck", first == (hand | played)[:, seat], f"the cards dealt to seat {seat} in their place")
    in_deck = np.bitwise_or.reduce(cards[:, : rules.deck_size], axis=1) == rules.deck
    yield Invariant("deck", in_deck, f"the {rules.deck_size} cards of the deck first (N1.7)")


def _of_play(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    k = np.arange(len(rows))
    playing, winner = rows["stage"] == Stage.PLAYING, rows["winner"]
    yield Invariant("winner", (winner == NOBODY) == playing, f"a winner where the round is over, else {NOBODY} (N2.8)")
    out = rows["cards"][:, : rules.players] == 0
    gone_out = np.where(playing, ~out.any(axis=1), (out.sum(axis=1) == 1) & out[k, np.maximum(winner, 0)])
    yield Invariant("cards", gone_out, "cards in every hand but the winner's (N2.8)")
    yield Invariant("opera", (rows["opera"] == 0) | ~playing, "no grand opéra before the end (N3.1)")
    yield from captures(rules, rows)


def captures(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields the invariants of captured pots; of the cards, they need only those that have been played."""
    k = np.arange(len(rows))
    for pot, card in enumerate(rules.pot_cards):
        captor = rows["captor"][:, pot].astype(np.int64)
        had = rows["played"][k, captor & MAX_SEATS - 1] >> card & 1 == 1
        yield Invariant("captor", (captor == NOBODY) | had, f"a captor of pot {pot} that has played its card (N2.7)")
        yield Invariant("pot", (captor == NOBODY) | (rows["pot"][:, pot] == 0), f"no chips in pot {pot} when captured (N2.7)")
