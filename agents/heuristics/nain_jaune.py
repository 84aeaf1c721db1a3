"""Rules of thumb for Nain Jaune.

Each is a scalar function ``(table, rules, moves) -> action`` over what the seat to act may know, compiled, so that
searches can play it inside their rollouts. All but ``random`` play the pot card where a plain one would do too,
announce it, and never decline; they differ in what they lead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, Rng
from nainjaune_env.core.bits import count
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.jit import jit
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune.encode import PLANE
from nainjaune_env.games.nain_jaune.kernel import COLUMN, ONE, PASS, POT, SKIP, TWICE_POT
from nainjaune_env.games.nain_jaune.state import MAX_SEATS, POTS

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
    """Lead what counts most.

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
        could_take_it = in_the_way(gone, rules, end)
        if rules.blocked == SKIP:
            score = np.int64(-rank)
        else:
            above = count(held >> end)
            below = count(held & ((ONE << (rank - 1)) - 1))
            score = 2 * run_chips(table, rules, rank, end) + 2 * above - below - could_take_it
        if could_take_it == 0 and table.cards[table.seat] <= CLOSING:
            score += SURE
        if score > best_score:
            best, best_score = rank, score
    return play_rank(rules, moves, best)


LAST_CARDS = 4
"""Cards in hand from which on ``patient`` and ``closer`` lead up to the King."""


@jit
def patient(table: Any, rules: Any, moves: Any) -> Any:
    """The lowest first, stakes from half-time, Kings with the last four cards.

    A run that goes out at once comes first. Once some seat has no more than half of its cards left, the run that takes most
    chips, if one takes any; where a stranded card pays its pot twice over (N3.3) from the start. With four cards or fewer a run
    to the King, which brings the lead back. Else the lowest rank. The lowest of equal ones.
    """
    if table.need > 0:
        return follow(table, rules, moves)
    return play_rank(rules, moves, patient_lead(table, rules, moves, False))


@jit
def closer(table: Any, rules: Any, moves: Any) -> Any:
    """As ``patient``, but it counts: what nobody can go on from brings the lead back too, and it sees when it is sure to go out.

    It is, where it can bring the lead back until one run is left: a run brings it back that reaches the King, or where no other
    can have a card of the rank where it stops (where blocked runs skip on, N2.6: any card above it). Such a run comes before all.
    """
    if table.need > 0:
        return follow(table, rules, moves)
    return play_rank(rules, moves, patient_lead(table, rules, moves, True))


@jit
def patient_lead(table: Any, rules: Any, moves: Any, counts: Any) -> Any:
    """The rank that ``patient`` leads, or, if it ``counts``, ``closer``."""
    held = held_ranks(table)
    ranks = ranks_in(rules, moves)
    gone = table.hand[table.seat] | ~rules.deck  # a short deck lacks cards (N1.7)
    fewest = np.int64(table.cards[table.seat])
    for seat in range(rules.players):
        gone |= table.played[seat]
        fewest = min(fewest, np.int64(table.cards[seat]))
    stakes = 2 * fewest <= rules.hand_size or rules.stranded == TWICE_POT
    top = rules.top_rank  # the King, but in a short deck
    tops = count(table.hand[table.seat] & COLUMN << (top - 1))
    most, most_from = np.int64(0), 0
    returns_from, lowest_rank = 0, 0
    for rank in range(1, RANKS + 1):
        if not ranks >> (rank - 1) & 1:
            continue
        end = run_end(held, rank)
        if end - rank + 1 == table.cards[table.seat]:
            return rank
        returns = end == top or (counts and in_the_way(gone, rules, end) == 0)
        if counts and returns and runs_without(table, rank, end) - (tops - (end == top)) <= 1:
            return rank
        chips = run_chips(table, rules, rank, end)
        if stakes and chips > most:
            most, most_from = chips, rank
        if returns and returns_from == 0:
            returns_from = rank
        if lowest_rank == 0:
            lowest_rank = rank
    if most_from > 0:
        return most_from
    if returns_from > 0 and table.cards[table.seat] <= LAST_CARDS:
        return returns_from
    return lowest_rank


@jit
def runs_without(table: Any, rank: Any, end: Any) -> Any:
    """The fewest runs that all cards fall into, once one of each rank from ``rank`` to ``end`` has left the hand."""
    runs, before = 0, 0
    for other in range(1, RANKS + 1):
        copies = count(table.hand[table.seat] & COLUMN << (other - 1)) - (rank <= other <= end)
        runs += max(copies - before, 0)
        before = copies
    return runs


@jit
def in_the_way(gone: Any, rules: Any, end: Any) -> Any:
    """How many cards that are not in the set ``gone`` could take the lead from a run that stops after rank ``end``."""
    if rules.blocked == SKIP:
        cards = np.int64(0)
        for rank in range(end + 1, RANKS + 1):
            cards += copies_left(gone, rank)
        return cards
    return copies_left(gone, end + 1) if end < RANKS else np.int64(0)


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
    if which == 5:
        return tally(table, rules, moves)
    if which == 6:
        return patient(table, rules, moves)
    return closer(table, rules, moves)


play = choose
"""For searches: a table alone tells a seat all that it may know."""

NAMES = ("highest", "longest", "pots", "run_pot", "lowest", "tally", "patient", "closer")
YARDSTICK = "closer"
"""See docs/heuristics.md, as for all of them."""


MEMORY = 0
"""Bytes that it keeps."""


@jit
def decide(which: Any, table: Any, rules: Any, moves: Any, kept: Any) -> Any:
    """:func:`choose`, of a seat that keeps nothing."""
    return choose(which, table, rules, moves)


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

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """What the rule of thumb plays, shape ``(K,)``; no chance in it."""
        actions = np.empty(len(decisions.index), np.int64)
        choose_all(self.which, decisions.tables, decisions.setup.kernel_rules, decisions.legal, actions)
        return actions


HEURISTICS: dict[str, Agent] = {name: RuleOfThumb(name) for name in NAMES}


class Inattentive:
    """An agent that takes in with probability ``heeds`` what a pass proves: that the seat lacks the rank asked for (N6).

    Of what it does not take in it finds nothing, neither in what it observes nor in its tables, for the rest of the round; a
    search over it (``NAME@search=50@heed=0``) draws worlds that may contradict it. It takes in that a seat lacks a rank once or
    never, however often it is said.
    """

    def __init__(self, agent: Agent, heeds: float) -> None:
        if not 0 <= heeds <= 1:
            raise AgentError(f"What a pass proves is heeded with a probability from 0 to 1, not {heeds}.")
        self.agent = agent
        self.heeds = heeds
        self.name = f"{agent.name}@heed={heeds:g}"

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Ranks proven absent by seat, bit r-1 = rank r: ``proven`` by now, and ``heeded`` of these.

        Raises :class:`AgentError` where the agent remembers something itself: there is room for one memory.
        """
        if isinstance(self.agent, RecurrentAgent) and self.agent.state_dtype(setup).itemsize:
            raise AgentError(f"{self.name}: {self.agent.name} remembers, and @heed= is for agents that do not.")
        return np.dtype([("proven", np.int16, (MAX_SEATS,)), ("heeded", np.int16, (MAX_SEATS,))])

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """What the agent plays on what it has taken in, shape ``(K,)``."""
        rows, players = np.arange(len(decisions.index)), decisions.setup.players
        takes_in = rng.random((len(rows), MAX_SEATS * RANKS)).reshape(-1, MAX_SEATS, RANKS) < self.heeds
        observation, tables, memory = decisions.observation.copy(), decisions.tables.copy(), decisions.state
        news = tables["void"] & ~memory["proven"]
        memory["proven"] = tables["void"]
        memory["heeded"] |= news & (takes_in << np.arange(RANKS)).sum(axis=2, dtype=np.int16)
        heeded = memory["heeded"].copy()
        heeded[rows, decisions.seat] = tables["void"][rows, decisions.seat]  # it knows its own hand
        tables["void"] = heeded
        for k in range(1, players):
            ranks = heeded[rows, (decisions.seat + k) % players]
            decisions.setup.layout.view(observation, "voids")[:, k - 1] = ranks[:, None] >> np.arange(RANKS) & 1
        return self.agent.act(decisions.seen_as(observation, tables), rng)


MODIFIERS: Mapping[str, Callable[[Agent, float], Agent]] = {"heed": Inattentive}
"""What may stand after an agent's name, as in ``zoo:strong@heed=0``."""
