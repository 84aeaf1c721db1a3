"""Heuristics for Nain Jaune.

Each is a compiled scalar function ``(table, rules, legal_bits) -> action`` of what the seat to act may know, so that searches
can play it inside their rollouts. They all prefer the pot card to a plain one of its rank, announce it, and never decline; they
differ in what they lead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledPolicy, DecisionBatch, Rng, is_recurrent, needs_history
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.actions import PASS, POT
from nainjaune_env.games.nain_jaune.rules import Blocked, KernelRules, Stranded
from nainjaune_env.games.nain_jaune.state import (
    ACES,
    ALL_RANKS,
    MAX_SEATS,
    NUM_RANKS,
    ONE,
    POTS,
    cards_of_ranks,
    ranks_of,
)

from . import About


@jit
def play_rank(rules: KernelRules, legal_bits: Any, rank: Any) -> Any:
    """Returns the action that plays ``rank``: its pot card, announced, if that is legal, else the plain card."""
    pots = (legal_bits >> POT) & rules.pots_at[rank]
    for pot in range(POTS):
        if pots >> pot & 1:
            return POT + pot
    return rank - 1


@jit
def ranks_in(rules: KernelRules, legal_bits: Any) -> Any:
    """Returns the set of ranks that legal actions play."""
    ranks = legal_bits & ALL_RANKS
    for pot in range(POTS):
        if legal_bits >> (POT + pot) & 1:
            ranks |= ONE << rules.pot_cards[pot] % NUM_RANKS
    return ranks


@jit
def run_end(ranks: Any, rank: Any) -> Any:
    """Returns the last rank of the run that starts at ``rank`` and goes on as long as the set ``ranks`` allows."""
    while rank < NUM_RANKS and ranks >> rank & 1:
        rank += 1
    return rank


@jit
def follow(table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Plays the required rank, preferably its pot card; passes only if nothing else is legal."""
    if legal_bits & ~(ONE << PASS) == 0:
        return PASS
    return play_rank(rules, legal_bits, table.required_rank)


@jit
def highest(ranks: Any) -> Any:
    """Returns the highest rank of a set that is not empty."""
    rank = NUM_RANKS
    while not ranks >> (rank - 1) & 1:
        rank -= 1
    return rank


@jit
def best_run(table: Table, rules: KernelRules, legal_bits: Any, bonus: Any) -> Any:
    """Returns the start of the longest own run, ``bonus`` cards added for each pot card on it; the lowest of equal ones.

    Without a bonus this is what the rule sheets recommend.
    """
    hand_ranks = ranks_of(table.hand[table.seat])
    ranks = ranks_in(rules, legal_bits)
    hand = table.hand[table.seat]
    best = 0
    best_score = -1
    for rank in range(1, NUM_RANKS + 1):
        if not ranks >> (rank - 1) & 1:
            continue
        end = run_end(hand_ranks, rank)
        score = end - rank + 1
        for pot in range(POTS):
            pot_rank = rules.pot_cards[pot] % NUM_RANKS + 1
            if rank <= pot_rank <= end and hand >> rules.pot_cards[pot] & 1:
                score += bonus
        if score > best_score:
            best, best_score = rank, score
    return best


@jit
def richest_pot(table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns the rank of the pot card with the most chips in its pot; without one, the lowest rank."""
    best = -1
    for pot in range(POTS):
        if legal_bits >> (POT + pot) & 1 and (best < 0 or table.pot[pot] > table.pot[best]):
            best = pot
    return rules.pot_cards[best] % NUM_RANKS + 1 if best >= 0 else lowest(ranks_in(rules, legal_bits)) + 1


CLOSING = 5
"""The largest hand with which ``tally`` plays to go out."""
SURE = 100
"""A score above all others."""


@jit
def best_tally(table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns the start of the run with the highest score.

    A run that goes out at once comes first. With five cards or fewer, runs that are sure to bring the lead back come next. A
    run scores twice the chips that it takes, plus 2 for every rank held above it, as these can still be played, minus 1 for
    every rank held below it and for every card of the rank where it stops that others may hold. Of equal scores the lowest rank
    counts. If blocked runs skip (N2.6), no run really stops, and the lowest rank scores highest.

    The weights are rounded from searches over them (docs/heuristics.md).
    """
    hand_ranks = ranks_of(table.hand[table.seat])
    ranks = ranks_in(rules, legal_bits)
    gone = seen(table, rules)
    best = 0
    best_score = np.int64(-2 * SURE)
    for rank in range(1, NUM_RANKS + 1):
        if not ranks >> (rank - 1) & 1:
            continue
        end = run_end(hand_ranks, rank)
        if end - rank + 1 == table.cards[table.seat]:
            return rank
        could_take_it = in_the_way(gone, rules, end)
        if rules.blocked == Blocked.SKIP:
            score = np.int64(-rank)
        else:
            above = count(hand_ranks >> end)
            below = count(hand_ranks & ((ONE << (rank - 1)) - 1))
            score = 2 * run_chips(table, rules, rank, end) + 2 * above - below - could_take_it
        if could_take_it == 0 and table.cards[table.seat] <= CLOSING:
            score += SURE
        if score > best_score:
            best, best_score = rank, score
    return best


CERTAIN = 1024
"""The probability 1 of ``planner``: it counts in whole numbers, so that it leads the same on every machine."""
LEAD = 5
"""The worth of the next lead to ``planner``, in cards."""
LAST_CARDS = 4
"""The largest hand with which ``patient`` and ``closer`` lead a run to the King."""


@jit
def patient_lead(table: Table, rules: KernelRules, legal_bits: Any, counts: Any, gone: Any) -> Any:
    """Returns the rank that ``patient`` leads, or ``closer`` if it ``counts``; nobody else has the cards ``gone``.

    ``patient`` leads the lowest rank first, pot cards from half-way on, and Kings with the last four cards. A run that goes out
    at once comes first. Once some seat has at most half of its cards left (or from the start if a stranded card costs twice its
    pot, N3.3), the run that takes most chips comes next, if one takes any. With four cards or fewer follows a run to the King,
    which brings the lead back; else the lowest rank. Of equal runs the lowest counts.

    ``closer`` counts cards: it knows which runs nobody can go on from, and when it is sure to go out. For it a run brings the
    lead back if it reaches the King, or if no other seat can hold a card of the rank where it stops (any card above it if
    blocked runs skip, N2.6). A run comes before all others if such runs bring the lead back until one run is left.
    """
    hand_ranks = ranks_of(table.hand[table.seat])
    ranks = ranks_in(rules, legal_bits)
    stakes = is_late(table, rules) or rules.stranded == Stranded.TWICE_POT
    most, most_from = np.int64(0), 0
    returns_from, lowest_rank = 0, 0
    for rank in range(1, NUM_RANKS + 1):
        if not ranks >> (rank - 1) & 1:
            continue
        end = run_end(hand_ranks, rank)
        if end - rank + 1 == table.cards[table.seat]:
            return rank
        returns = end == rules.top_rank or (counts and in_the_way(gone, rules, end) == 0)
        if counts and returns and runs_without(table, rules, rank, end) <= 1:
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
def planned_lead(table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns the rank that ``planner`` leads: as ``closer`` until half-way, then the one with the highest score.

    It knows the ranks that all others have proven to lack (N6): a run that gets there is blocked. A lead that goes out, or is
    sure to, comes first. The others score 1 for each chip that they take, 1 for each rank held that can go along before the run
    is blocked, times the chance that the run gets there, and ``LEAD`` times the chance of the next lead, which is its if it
    holds the rank below the one where the run is blocked. Of equal scores the lowest rank counts. If blocked runs skip (N2.6),
    every run gets to the King, and it leads as ``closer`` to the end.
    """
    void = ALL_RANKS
    for seat in range(rules.players):
        void &= ALL_RANKS if seat == table.seat else np.int64(table.void[seat])
    gone = seen(table, rules) | cards_of_ranks(void)
    if rules.blocked == Blocked.SKIP or not is_late(table, rules):
        return patient_lead(table, rules, legal_bits, True, gone)
    hand_ranks, ranks = ranks_of(table.hand[table.seat]), ranks_in(rules, legal_bits)
    best, best_score = 0, np.int64(-1)
    for rank in range(1, NUM_RANKS + 1):
        if not ranks >> (rank - 1) & 1:
            continue
        end, gets_here = run_end(hand_ranks, rank), np.int64(CERTAIN)
        score, next_lead = CERTAIN * run_chips(table, rules, rank, end), CERTAIN * (end - rank + 1 == table.cards[table.seat])
        for other in range(rank, rules.top_rank + 1):
            blocked = 0 if hand_ranks >> (other - 1) & 1 else gets_here * block_chance(table, rules, gone, other) // CERTAIN
            gets_here -= blocked
            score += gets_here * (hand_ranks >> (other - 1) & 1)
            next_lead += blocked * (hand_ranks << 1 >> (other - 1) & 1)
        next_lead += gets_here * (hand_ranks >> (rules.top_rank - 1) & 1)
        score += SURE * CERTAIN if next_lead >= CERTAIN and runs_without(table, rules, rank, end) <= 1 else LEAD * next_lead
        if score > best_score:
            best, best_score = rank, score
    return best


@jit
def seen(table: Table, rules: KernelRules) -> Any:
    """Returns the set of the cards in the hand, those played, and those that a short deck lacks (N1.7)."""
    cards = table.hand[table.seat] | ~rules.deck
    for seat in range(rules.players):
        cards |= table.played[seat]
    return cards


@jit
def is_late(table: Table, rules: KernelRules) -> Any:
    """Returns whether some seat has at most half of its cards left."""
    fewest = np.int64(table.cards[0])
    for seat in range(1, rules.players):
        fewest = min(fewest, np.int64(table.cards[seat]))
    return 2 * fewest <= rules.hand_size


@jit
def block_chance(table: Table, rules: KernelRules, gone: Any, rank: Any) -> Any:
    """Returns the chance, in parts of ``CERTAIN``, that no seat that may hold ``rank`` has one of its cards not in ``gone``."""
    hands, chance = np.int64(0), np.int64(CERTAIN)
    for seat in range(rules.players):
        hands += table.cards[seat] * (seat != table.seat and not table.void[seat] >> (rank - 1) & 1)
    talon = count(rules.deck) - rules.players * rules.hand_size
    for _ in range(copies_left(gone, rank)):
        chance = chance * talon // (talon + hands)
    return chance


@jit
def runs_without(table: Table, rules: KernelRules, rank: Any, end: Any) -> Any:
    """Returns the least number of runs of the hand once a card of each rank from ``rank`` to ``end`` has left it.

    Runs to the King, or to the top of a short deck, are not counted: they bring the lead back.
    """
    runs, before = 0, 0
    for other in range(1, rules.top_rank + 1):
        copies = count(table.hand[table.seat] & ACES << (other - 1)) - (rank <= other <= end)
        runs += max(copies - before, 0)
        before = copies
    return runs - before


@jit
def in_the_way(gone: Any, rules: KernelRules, end: Any) -> Any:
    """Returns how many cards not in the set ``gone`` could take over a run that stops after rank ``end``."""
    if rules.blocked == Blocked.SKIP:
        cards = np.int64(0)
        for rank in range(end + 1, NUM_RANKS + 1):
            cards += copies_left(gone, rank)
        return cards
    return copies_left(gone, end + 1) if end < NUM_RANKS else np.int64(0)


@jit
def run_chips(table: Table, rules: KernelRules, rank: Any, end: Any) -> Any:
    """Returns the chips that the pot cards held from ``rank`` to ``end`` would take."""
    chips = np.int64(0)
    for pot in range(POTS):
        pot_rank = rules.pot_cards[pot] % NUM_RANKS + 1
        if rank <= pot_rank <= end and table.hand[table.seat] >> rules.pot_cards[pot] & 1:
            chips += table.pot[pot]
    return chips


@jit
def copies_left(gone: Any, rank: Any) -> Any:
    """Returns how many cards of ``rank`` are not in the set ``gone``."""
    return count(ACES << (rank - 1) & ~gone)


@jit
def lead(which: Any, table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns the rank that heuristic number ``which``, its place in ``NAMES``, leads.

    One function for all, as numba cannot cache closures over compiled functions.
    """
    if which == 0:
        return highest(ranks_in(rules, legal_bits))
    if which == 1:
        return best_run(table, rules, legal_bits, 0)
    if which == 2:
        return richest_pot(table, rules, legal_bits)
    if which == 3:
        return best_run(table, rules, legal_bits, 2)
    if which == 4:
        return lowest(ranks_in(rules, legal_bits)) + 1
    if which == 5:
        return best_tally(table, rules, legal_bits)
    if which == 8:
        return planned_lead(table, rules, legal_bits)
    return patient_lead(table, rules, legal_bits, which == 7, seen(table, rules))


@jit
def choose(which: Any, table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns the action of heuristic number ``which``: it plays the required rank, or leads."""
    if table.required_rank > 0:
        return follow(table, rules, legal_bits)
    return play_rank(rules, legal_bits, lead(which, table, rules, legal_bits))


play = choose
"""For searches."""

NAMES = ("highest", "longest", "pots", "run_pot", "lowest", "tally", "patient", "closer", "planner")
YARDSTICK = "closer"
"""The baseline: it was the best of them when most figures were measured (docs/heuristics.md)."""
MIXED = ("random", "lowest", "tally", "closer", "zoo:strong-1")
ABOUT = About(
    "lowest",
    "djeco, 4 seats, 10,000 deals",
    {
        "random": ("any legal action, uniformly", (-8.807, 0.086)),
        "highest": ("leads the highest rank", (-2.372, 0.051)),
        "longest": ("leads the longest own run, as the printed tips say", (-0.300, 0.040)),
        "pots": ("leads the pot card of the fullest pot, else the lowest rank", (-0.017, 0.048)),
        "run_pot": ("leads the longest own run, a pot card on it counts three cards", (-0.133, 0.046)),
        "lowest": ("leads the lowest rank", None),
        "tally": ("leads by a count of chips and ranks, and to go out", (0.532, 0.048)),
        "patient": ("the lowest first, stakes from half-time, Kings with the last four", (0.569, 0.038)),
        "closer": ("as patient, and knows when it is sure to go out", (0.624, 0.041)),
        "planner": ("as closer, and counts how far a run goes before it is blocked", (0.673, 0.040)),
    },
)
"""The edges of docs/heuristics.md."""


MEMORY = 0
"""Bytes of recurrent state: none."""


@jit
def decide(which: Any, table: Table, rules: KernelRules, legal_bits: Any, hidden_state: Any) -> Any:
    """Returns :func:`choose`; ``hidden_state`` is not used."""
    return choose(which, table, rules, legal_bits)


@jit
def choose_all(which: Any, tables: Any, rules: Any, legal: Any, actions: Any) -> None:
    """Writes :func:`choose` of every table into ``actions (K,) int64``."""
    for i in range(tables.size):
        actions[i] = choose(which, tables[i], rules, legal[i])


class RuleOfThumb:
    """An agent from one of the functions above."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.which = NAMES.index(name)

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the actions of the heuristic, shape ``(K,)``; deterministic."""
        actions = np.empty(len(decisions.index), np.int64)
        choose_all(self.which, decisions.tables, decisions.setup.kernel_rules, decisions.legal, actions)
        return actions

    def compiled_policy(self) -> CompiledPolicy:
        """Returns its number and this module."""
        return CompiledPolicy(sys.modules[__name__], self.which)


HEURISTICS: dict[str, Agent] = {name: RuleOfThumb(name) for name in NAMES}


class Inattentive:
    """An agent that notices with probability ``heeds`` what a pass shows: the seat lacks the required rank, or refuses it (N6).

    What it does not notice is missing from its observations and tables for the rest of the round; a search over it
    (``NAME@search=50@heed=0``) may determinize against it. Two draws a round for each seat and rank decide whether it notices
    that the seat lacks the rank, and that the seat passed it where it might have refused.
    """

    features: ClassVar[dict[str, str]] = {"void": "voids", "passed": "passed"}
    """By field of the table: the feature of the observation."""

    def __init__(self, agent: Agent, heeds: float) -> None:
        if not 0 <= heeds <= 1:
            raise AgentError(f"What a pass proves is heeded with a probability from 0 to 1, not {heeds}.")
        self.agent = agent
        self.heeds = heeds
        self.name = f"{agent.name}@heed={heeds:g}"

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of sets of ranks by seat: for each field of ``features`` those in it, and the heeded ones.

        Raises :class:`AgentError` if the agent is recurrent itself, as there is one recurrent state.
        """
        if is_recurrent(self.agent, setup):
            raise AgentError(f"{self.name}: {self.agent.name} remembers, and @heed= is for agents that do not.")
        if needs_history(self.agent):
            raise AgentError(
                f"{self.name}: {self.agent.name} reads the plies of the round, and @heed= is for agents that do not."
            )
        return np.dtype([(name, np.int16, (MAX_SEATS,)) for field in self.features for name in (field, f"heeded_{field}")])

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the actions of the agent, given what it has noticed, shape ``(K,)``."""
        rows, players = np.arange(len(decisions.index)), decisions.setup.players
        notices = rng.random((len(rows), MAX_SEATS * NUM_RANKS)).reshape(-1, MAX_SEATS, NUM_RANKS) < self.heeds
        observation, tables, memory = decisions.observation.copy(), decisions.tables.copy(), decisions.state
        noticed = (notices << np.arange(NUM_RANKS)).sum(axis=2, dtype=np.int16)
        for field, feature in self.features.items():
            shown = tables[field].copy()
            memory[f"heeded_{field}"] |= shown & ~memory[field] & noticed
            memory[field] = shown
            tables[field] = memory[f"heeded_{field}"]
            tables[field][rows, decisions.seat] = shown[rows, decisions.seat]  # it knows its own hand
            for k in range(1, players):
                ranks = tables[field][rows, (decisions.seat + k) % players]
                decisions.setup.layout.view(observation, feature)[:, k - 1] = ranks[:, None] >> np.arange(NUM_RANKS) & 1
        return self.agent.act(decisions.seen_as(observation, tables), rng)


MODIFIERS: Mapping[str, Callable[[Agent, float], Agent]] = {"heed": Inattentive}
"""The modifiers of an agent's name, as in ``zoo:strong@heed=0``."""
