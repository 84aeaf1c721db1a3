"""Rules of thumb for Nain Jaune.

Each is a scalar function ``(table, rules, moves) -> action`` over what the seat to act may know, compiled, so that
searches can play it inside their rollouts. All but ``random`` play the pot card where a plain one would do too,
announce it, and never decline; they differ in what they lead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Chance, Turn
from nainjaune_env.bits import count
from nainjaune_env.games.nain_jaune.encode import PLANE
from nainjaune_env.games.nain_jaune.kernel import COLUMN, ONE, PASS, POT, SKIP
from nainjaune_env.games.nain_jaune.state import POTS
from nainjaune_env.jit import jit

RANKS = 13


@jit
def play_rank(rules: Any, moves: Any, rank: Any) -> Any:
    """The action that plays ``rank``: its pot card, announced, if that is legal, else the plain one."""
    pots = (moves >> POT) & rules.pots_at[rank]
    for pot in range(POTS):
        if pots >> pot & 1:
            return POT + pot
    return rank - 1


@jit
def ranks_in(rules: Any, moves: Any) -> Any:
    """The ranks that some legal action plays, bit r-1 = rank r."""
    ranks = moves & PLANE
    for pot in range(POTS):
        if moves >> (POT + pot) & 1:
            ranks |= ONE << rules.pot_cards[pot] % 13
    return ranks


@jit
def held_ranks(table: Any) -> Any:
    """The ranks that the seat to act holds, bit r-1 = rank r."""
    hand = table.hand[table.seat]
    return (hand | hand >> 13 | hand >> 26 | hand >> 39) & PLANE


@jit
def run_end(held: Any, rank: Any) -> Any:
    """The last rank of the run that starts at ``rank`` when all of the ranks ``held`` are played on."""
    while rank < RANKS and held >> rank & 1:
        rank += 1
    return rank


@jit
def follow(table: Any, rules: Any, moves: Any) -> Any:
    """Play the required rank, the pot card first; a pass only where nothing else is legal."""
    if moves & ~(ONE << PASS) == 0:
        return PASS
    return play_rank(rules, moves, table.need)


@jit
def lowest(table: Any, rules: Any, moves: Any) -> Any:
    """Lead the lowest rank."""
    if table.need > 0:
        return follow(table, rules, moves)
    ranks = ranks_in(rules, moves)
    rank = 1
    while not ranks >> (rank - 1) & 1:
        rank += 1
    return play_rank(rules, moves, rank)


@jit
def highest(table: Any, rules: Any, moves: Any) -> Any:
    """Lead the highest rank."""
    if table.need > 0:
        return follow(table, rules, moves)
    ranks = ranks_in(rules, moves)
    rank = RANKS
    while not ranks >> (rank - 1) & 1:
        rank -= 1
    return play_rank(rules, moves, rank)


@jit
def longest(table: Any, rules: Any, moves: Any) -> Any:
    """Lead what starts the longest own run, the lowest of equal ones: the tip printed on the sheets."""
    if table.need > 0:
        return follow(table, rules, moves)
    return play_rank(rules, moves, best_run(table, rules, moves, 0))


@jit
def run_pot(table: Any, rules: Any, moves: Any) -> Any:
    """Lead what starts the longest own run, each pot card on it counted as two cards more."""
    if table.need > 0:
        return follow(table, rules, moves)
    return play_rank(rules, moves, best_run(table, rules, moves, 2))


@jit
def best_run(table: Any, rules: Any, moves: Any, bonus: Any) -> Any:
    """The rank whose own run is longest, ``bonus`` added for each pot card held on it; the lowest of equal ones."""
    held = held_ranks(table)
    ranks = ranks_in(rules, moves)
    hand = table.hand[table.seat]
    best = 0
    best_score = -1
    for rank in range(1, RANKS + 1):
        if not ranks >> (rank - 1) & 1:
            continue
        end = run_end(held, rank)
        score = end - rank + 1
        for pot in range(POTS):
            pot_rank = rules.pot_cards[pot] % 13 + 1
            if rank <= pot_rank <= end and hand >> rules.pot_cards[pot] & 1:
                score += bonus
        if score > best_score:
            best, best_score = rank, score
    return best


@jit
def pots(table: Any, rules: Any, moves: Any) -> Any:
    """Lead a pot card, the one whose pot holds most, if there is one in hand; else the lowest rank."""
    if table.need > 0:
        return follow(table, rules, moves)
    best = -1
    for pot in range(POTS):
        if moves >> (POT + pot) & 1 and (best < 0 or table.pot[pot] > table.pot[best]):
            best = pot
    if best >= 0:
        return POT + best
    return lowest(table, rules, moves)


CLOSING = 5
"""Cards in hand from which on ``tally`` plays to go out."""
SURE = 100
"""More than anything else can count."""


@jit
def tally(table: Any, rules: Any, moves: Any) -> Any:
    """Lead what counts most; the best rule of thumb found on every sheet.

    A run that goes out at once comes first. With five cards or fewer, next come the runs that are sure to bring the lead
    back. Else a run counts twice the chips that it takes, and two for every rank held above it, for these can still go
    along; less one for every rank held below it, and one for every card of the rank where it stops that others may
    hold. The lowest of equal ones. Where a blocked run skips on (N2.6) none really stops, and the lowest counts most.

    The numbers are what searches over weights, rounded, came to (docs/heuristics.md).
    """
    if table.need > 0:
        return follow(table, rules, moves)
    held = held_ranks(table)
    ranks = ranks_in(rules, moves)
    gone = table.hand[table.seat] | ~rules.deck  # a short deck lacks cards (N1.7)
    for seat in range(rules.players):
        gone |= table.played[seat]
    best = 0
    best_score = np.int64(-2 * SURE)
    for rank in range(1, RANKS + 1):
        if not ranks >> (rank - 1) & 1:
            continue
        end = run_end(held, rank)
        if end - rank + 1 == table.cards[table.seat]:
            return play_rank(rules, moves, rank)
        if rules.blocked == SKIP:
            in_the_way = np.int64(0)
            for higher in range(end + 1, RANKS + 1):
                in_the_way += copies_left(gone, higher)
            score = np.int64(-rank)
        else:
            in_the_way = copies_left(gone, end + 1) if end < RANKS else np.int64(0)
            above = count(held >> end)
            below = count(held & ((ONE << (rank - 1)) - 1))
            score = 2 * run_chips(table, rules, rank, end) + 2 * above - below - in_the_way
        if in_the_way == 0 and table.cards[table.seat] <= CLOSING:
            score += SURE
        if score > best_score:
            best, best_score = rank, score
    return play_rank(rules, moves, best)


@jit
def run_chips(table: Any, rules: Any, rank: Any, end: Any) -> Any:
    """The chips that the pot cards held from ``rank`` to ``end`` would take."""
    chips = np.int64(0)
    for pot in range(POTS):
        pot_rank = rules.pot_cards[pot] % 13 + 1
        if rank <= pot_rank <= end and table.hand[table.seat] >> rules.pot_cards[pot] & 1:
            chips += table.pot[pot]
    return chips


@jit
def copies_left(gone: Any, rank: Any) -> Any:
    """How many cards of ``rank`` are not in the set ``gone``."""
    column = gone >> (rank - 1) & COLUMN
    return 4 - ((column & 1) + (column >> 13 & 1) + (column >> 26 & 1) + (column >> 39 & 1))


@jit
def choose(which: Any, table: Any, rules: Any, moves: Any) -> Any:
    """What the heuristic number ``which`` (its place in ``NAMES``) plays.

    One function for all: numba can neither cache a closure over a compiled function nor tell two such apart.
    """
    if which == 0:
        return highest(table, rules, moves)
    if which == 1:
        return longest(table, rules, moves)
    if which == 2:
        return pots(table, rules, moves)
    if which == 3:
        return run_pot(table, rules, moves)
    if which == 4:
        return lowest(table, rules, moves)
    return tally(table, rules, moves)


play = choose
"""For searches: a table alone tells a seat all that it may know."""

NAMES = ("highest", "longest", "pots", "run_pot", "lowest", "tally")
YARDSTICK = "tally"
"""See docs/heuristics.md, as for all of them."""


@jit
def choose_all(which: Any, tables: Any, rules: Any, legal: Any, actions: Any) -> None:
    """:func:`choose` at every table."""
    for i in range(tables.size):
        actions[i] = choose(which, tables[i], rules, legal[i])


class RuleOfThumb:
    """An agent from one of the functions above."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.which = NAMES.index(name)

    def act(self, turn: Turn, rng: Chance) -> NDArray[np.int64]:
        """What the rule of thumb plays, shape ``(K,)``; no chance in it."""
        actions = np.empty(len(turn.index), np.int64)
        choose_all(self.which, turn.tables, turn.setup.kernel_rules, turn.legal, actions)
        return actions


HEURISTICS: dict[str, Agent] = {name: RuleOfThumb(name) for name in NAMES}
