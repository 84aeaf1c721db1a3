"""What the rules say of every table, to check tables that come from outside (``nainjaune_env.core.table_checks``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.table_checks import Invariant, between, every
from nainjaune_env.games.nain_jaune.bounds import bounds_of
from nainjaune_env.games.nain_jaune.kernel import payment_due
from nainjaune_env.games.nain_jaune.rules import KernelRules, rules_of
from nainjaune_env.games.nain_jaune.state import ACES, ALL_RANKS, MAX_SEATS, NOBODY, POT_LIMIT

MAX_STACK = 1 << 48
"""Bound of the chips of a seat, far from where sums would overflow."""


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
    yield from _of_payments(rules, rows)


def _of_chips(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    yield Invariant("pot", between(rows["pot"], 0, POT_LIMIT), f"0 to {POT_LIMIT} chips in a pot (N4.7)")
    low = 0 if rules.limited else 1 - MAX_STACK
    for name in ("stack", "before"):
        yield Invariant(name, between(rows[name], low, MAX_STACK - 1), f"{low} to {MAX_STACK - 1} chips in a stack")
    most = np.iinfo(np.int32).max
    yield Invariant("stack", between(rows["stack"] - rows["before"], -most, most), f"at most {most} chips from 'before'")
    # chips only move between stacks and pots, and before the antes the pots held 0 to POT_LIMIT each
    more = rows["stack"].sum(axis=1) + rows["pot"].sum(axis=1, dtype=np.int64) - rows["before"].sum(axis=1)
    pots = rows["pot"].shape[1] * POT_LIMIT
    yield Invariant("stack", between(more, 0, pots), f"0 to {pots} more chips in stacks and pots than in 'before'")
    if not rules.limited:
        yield Invariant("defaults", rows["defaults"] == 0, "no default on unlimited credit (N4.2)")


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
    playing, winner, last = rows["stage"] == Stage.PLAYING, rows["winner"], rows["last"].astype(np.int64)
    yield Invariant("winner", (winner == NOBODY) == playing, f"a winner where the round is over, else {NOBODY} (N2.8)")
    out = rows["cards"][:, : rules.players] == 0
    gone_out = np.where(playing, ~out.any(axis=1), (out.sum(axis=1) == 1) & out[k, np.maximum(winner, 0)])
    yield Invariant("cards", gone_out, "cards in every hand but the winner's (N2.8)")
    yield Invariant("opera", (rows["opera"] == 0) | ~playing, "no grand opéra before the end (N3.1)")
    yield from captures(rules, rows)
    required = rows["required_rank"].astype(np.int64)
    leads = (required > 0) | (last == rows["seat"]) | ~playing
    yield Invariant("required_rank", leads, "the lead with the seat that played last (N2.3, N2.6)")
    if not bounds_of(rules).runs_go_on:
        follows = rows["played"][k, last] & ACES << np.maximum(required - 2, 0) != 0
        yield Invariant("required_rank", (required == 0) | (required > 1) & follows, "the rank above a card of 'last' (N2.3)")


def captures(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields the invariants of captured pots; of the cards, they need only those that have been played."""
    k = np.arange(len(rows))
    for pot, card in enumerate(rules.pot_cards):
        captor = rows["captor"][:, pot].astype(np.int64)
        had = rows["played"][k, captor & MAX_SEATS - 1] >> card & 1 == 1
        yield Invariant("captor", (captor == NOBODY) | had, f"a captor of pot {pot} that has played its card (N2.7)")
        yield Invariant("pot", (captor == NOBODY) | (rows["pot"][:, pot] == 0), f"no chips in pot {pot} when captured (N2.7)")


def _of_payments(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields what each seat's stack can have gained and lost in the round so far: pots, payments and antes.

    A captured pot can have held up to ``POT_LIMIT`` chips, as matches may start with any stacks and pots, and no field keeps what
    it held: a stack may be wrong by that much for each pot that its seat has captured, and else by no more than it may have paid.
    """
    seats = np.arange(rules.players)
    hand, played = rows["hand"][:, seats], rows["played"][:, seats]
    winner = (rows["winner"][:, None] == seats).astype(np.int64)
    captured = rows["captor"][:, None] == seats[:, None]  # (K, seats, pots)
    captured |= (winner * rows["opera"][:, None])[..., None] == 1
    uncaptured = ~captured.any(axis=1)
    over = (rows["stage"] != Stage.PLAYING)[:, None]
    owed = _owed(rules, rows)
    received = winner * owed.sum(axis=1, keepdims=True)
    bounds = bounds_of(rules)
    antes = np.array(bounds.antes)
    gain = rows["stack"][:, seats] - rows["before"][:, seats]
    before = gain.sum(axis=1) + rows["pot"].sum(axis=1, dtype=np.int64)  # in the pots before the antes (N4.5)
    # an ante is paid whole, but not into a full pot (N4.7) and not by who defaults (N4.2)
    not_full = uncaptured & (rows["pot"] < POT_LIMIT) | (before[:, None] <= POT_LIMIT - rules.players * antes)
    paid = not_full @ antes
    defaulted = rows["defaults"][:, None] >> seats & 1 == 1
    most = captured.sum(axis=2) * POT_LIMIT + received - np.where(defaulted, 0, paid[:, None])
    silent = played[..., None] >> np.array(rules.pot_cards) & 1 == 1  # N2.7
    silent &= ~captured & np.array(bounds.may_be_silent) & (np.array(bounds.silent) > 0)
    stranded = over[..., None] & (hand[..., None] >> np.array(rules.pot_cards) & 1 == 1)  # N3.3
    stranded &= np.array(bounds.stranded) > 0
    # what was paid into a pot is there, unless it was captured since, in a grand opéra
    added = np.where(uncaptured, rows["pot"], POT_LIMIT)[:, None] * (silent | stranded)
    least = (0 if rules.limited else received) - owed - antes.sum() - added.sum(axis=2)
    yield Invariant("stack", every(gain <= most), "no stack to gain more than captured pots can hold and losers owe (N2.7, N3)")
    yield Invariant("stack", every(gain >= least), "no stack to lose more than its seat owes to pots and to the winner (N2, N3)")
    most_won = np.where(uncaptured, rows["pot"], POT_LIMIT).sum(axis=1)
    text = "no more chips than before the round and what captured pots can have held (N4.5)"
    yield Invariant("stack", before <= most_won, text)


def _owed(rules: KernelRules, rows: NDArray[Any]) -> NDArray[np.int64]:
    """Returns what each seat owes the winner, 0 where the round goes on (N3.2), ``(K, n)``."""
    owed = np.zeros((len(rows), rules.players), np.int64)
    for k in np.flatnonzero(rows["stage"] != Stage.PLAYING):
        table = rows[k]
        for seat in range(rules.players):
            if seat != table.winner:
                owed[k, seat] = payment_due(table, rules, seat)
    return owed
