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
from nainjaune_env.games.batasaurus.kernel import must_remember
from nainjaune_env.games.batasaurus.rules import KernelRules, rules_of
from nainjaune_env.games.batasaurus.state import Phase


def table_invariants(setup: Setup, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields the invariants of ``rows (K,)``, single fields first, as later ones rely on them."""
    rules, n = rules_of(setup), setup.players
    size, everything = rules.dinosaurs, (1 << rules.dinosaurs) - 1
    yield Invariant("stage", rows["stage"] != Stage.ROUND_OVER, "a match of one round (B3.1)")
    for name in ("first", "leader"):
        yield Invariant(name, between(rows[name], 0, n - 1), f"a seat from 0 to {n - 1}")
    phases = [Phase.TRICK, Phase.BATTLE, *([Phase.MEMORISING] if must_remember(rules) else [])]
    yield Invariant("phase", np.isin(rows["phase"], phases), f"one of the phases {sorted(map(int, phases))} (B4)")
    yield Invariant("battling", between(rows["battling"], 0, (1 << n) - 1), f"a set of the {n} seats")
    for name in ("slots", "held"):
        yield Invariant(name, between(rows[name], 0, everything), f"sets of {size} bits (B1.2)")
    for name in ("shown", "hidden"):
        yield Invariant(name, between(rows[name], 0, size), f"values from 1 to {size}, or 0 (B1.2)")
    for name in ("pile", "at_stake"):
        yield Invariant(name, between(rows[name], 0, n * size), f"0 to {n * size} cards")
    yield Invariant("tricks", between(rows["tricks"], 1, size + 1), f"a trick from 1 to {size + 1}")
    for name in ("slots", "held", "cards", "pile", "shown", "hidden", "layout"):
        yield Invariant(name, every(rows[name][:, n:] == 0), f"0 from seat {n} on")
    yield from _of_cards(rules, rows)
    yield from _of_play(rules, rows)


def _of_cards(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    n, size = rules.players, rules.dinosaurs
    dealt = rows["layout"][:, :n, :size].astype(np.int64)
    in_order = np.arange(1, size + 1)
    laid, how = (np.sort(dealt, axis=2), "once (B1.1)") if must_remember(rules) else (dealt, "in order (B4.1)")
    yield Invariant("layout", every(laid == in_order), f"each of the values 1 to {size} {how}")
    yield Invariant("layout", every(rows["layout"][:, :, size:] == 0), f"{size} slots")
    full = rows["slots"][:, :n, None] >> np.arange(size) & 1
    yield Invariant("cards", every(rows["cards"][:, :n] == full.sum(axis=2)), "the number of cards in each seat's slots")
    lying = (full << dealt - 1).sum(axis=2)
    hidden, shown = (_bit(rows[name][:, :n]) for name in ("hidden", "shown"))
    yield Invariant("hidden", every(hidden & lying == 0), "a card face down that left its slot (B2.3)")
    yield Invariant("held", every(rows["held"][:, :n] == lying | hidden), "the values in slots and face down")
    yield Invariant("shown", every(shown & (lying | hidden) == 0), "a card shown that left its slot (B2.1)")


def _bit(values: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the sets (bit v-1 = value v) of single values; the empty set for 0."""
    return np.int64(1) << values.astype(np.int64) >> 1


def _of_play(rules: KernelRules, rows: NDArray[Any]) -> Iterator[Invariant]:
    n, seats = rules.players, np.arange(rules.players)
    total = n * rules.dinosaurs
    playing, phase, battling = rows["stage"] == Stage.PLAYING, rows["phase"], rows["battling"]
    left = rows["cards"][:, :n].sum(axis=1)
    stake, pile = rows["at_stake"].astype(np.int64), rows["pile"].sum(axis=1, dtype=np.int64)
    # a trick of tied seats without a card left may be nobody's, in part or all (B2.4)
    yield Invariant("pile", np.where(playing, left, 0) + stake + pile <= total, f"{total} cards in all (B1.2)")
    yield Invariant("battling", (battling != 0) == (phase == Phase.BATTLE), "battling seats in a battle (B2.3)")
    shown, hidden = rows["shown"][:, :n] > 0, rows["hidden"][:, :n] > 0
    spent = rows["cards"][:, :n] + shown + rows["tricks"][:, None] - 1 <= rules.dinosaurs
    yield Invariant("tricks", every(spent), "a card of each seat in each trick before (B2.1)")
    fights = battling[:, None] >> seats & 1 == 1
    in_battle, place = (battling != 0)[:, None], (seats - rows["leader"][:, None]) % n
    acted = place < ((rows["seat"] - rows["leader"]) % n)[:, None]
    trick = (phase == Phase.TRICK)[:, None]
    over = ~playing[:, None]
    yield Invariant("shown", every(over | (shown == np.where(trick, acted, in_battle))), "a card of each seat so far (B2.1)")
    yield Invariant("hidden", every(over | (hidden == (fights & acted))), "a card of each battling seat so far (B2.3)")
    to_act = ~acted & (trick | fights)
    yield Invariant("cards", every(over | ~to_act | (rows["cards"][:, :n] > 0)), "cards of the seats still to play (B3.1)")
    turn = fights[np.arange(len(rows)), rows["seat"]] | (phase != Phase.BATTLE)
    yield Invariant("seat", turn | ~playing, "a battling seat (B2.3)")
    played = shown.sum(axis=1) + hidden.sum(axis=1)
    yield Invariant("at_stake", np.where(in_battle[:, 0], stake >= played, stake == played), "the cards of this trick (B2.2)")
    untouched = (left == total) & (pile == 0) & (stake == 0) & (rows["leader"] == rows["first"])
    yield Invariant("phase", (phase != Phase.MEMORISING) | playing & untouched, "memorising before the first trick (B4.2)")
    emptied = (rows["cards"][:, :n] == 0).any(axis=1)
    yield Invariant("stage", playing | emptied, "the end when a seat has no card left (B3.1)")
