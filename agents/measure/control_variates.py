"""Control variates for duplicate play: the luck of hidden cards after each decision in which hero and field differ.

A hero's gain over the field, on one deal in one seat, is a sum over its decisions where the field would have acted otherwise: the
payoff of its action less that of the field's action, each with the field in every seat from then on. That is exact, deal by deal.
Each term depends on cards that the hero could not see. Its control variate is the term less its mean over other deals that the
hero cannot tell from the true one, which has mean 0 given what the hero knows. So it is subtracted without a coefficient, and the
mean of the result is that of plain duplicate play, whatever hero, field and number of deals are.

The other deals are samples of the posterior: determinizations, which are uniform over all that is consistent with the rules, kept
where the field, replayed from the deal, takes every action that it took. So a hero may read the plies too. The true deal is one
more sample of the same posterior, so the plain mean over it and those kept has the same expectation as the term itself.

These are the imaginary observations of AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, "AIVAT: a new variance reduction
technique for agent evaluation in imperfect information games", 2018), with the field's own play as the value function. As Kim and
Sandholm (2026) demand, that is fixed before any data are seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledPolicy, DecisionBatch, is_recurrent, needs_history
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize, generator_states
from nainjaune_env.engine.learner_loops import UNIFORM

from ..base.task import CARRIED, OWN, Task
from ..players.program.player import BotAgent
from ..players.search.policies import ScoringAgent, rollout_policy
from ..players.search.rollouts import ByAct, SteppedRollouts
from .arena.openings import opening_tables
from .own_game import SEATS, OwnGame, seat_states

PROPOSALS = 512
"""Determinizations of a decision that are tried."""
MAX_KEPT = 32
"""Most of them that are used, the first that are kept."""
SCALE = math.lcm(*range(1, MAX_KEPT + 2))
"""Means over 1 to ``MAX_KEPT + 1`` whole numbers are whole numbers over it."""
MAX_TERM = 8000
"""Largest mean gain by one decision: at most 8 in a seat's round then stay in 64 bits."""
DETERMINIZATIONS = 10 << 32
"""The streams of a seed for determinizations, by the seat of the hero."""
NO_DRAWS = RowStreams(np.zeros(0, np.uint64), np.zeros(0, np.int64))
"""What a field that never draws is handed."""
ROWS = 16384
"""Most determinizations that are replayed at once."""


@dataclass(frozen=True)
class _Differences:
    """K decisions in which hero and field differ."""

    table: NDArray[np.int64]
    """Numbers of the tables, ``(K,)``."""
    ply: NDArray[np.int64]
    """Plies of the round before, ``(K,)``."""
    actions: NDArray[np.int64]
    """The actions of hero and field, ``(K, 2)``."""
    rows: NDArray[Any]
    """The tables, ``(K,)``."""
    redacted: NDArray[Any]
    """The same redacted for the hero, ``(K,)``."""
    states: NDArray[np.uint64]
    """Generators of determinizations, ``(K,)``: each depends on the deal, the hero's seat and the decisions before."""


def columns(seats: int) -> dict[str, slice]:
    """Returns the columns of a row of the kind ``controlled``, at tables with ``seats`` seats.

    ``plain``: the hero's gain over the field in each seat, whole numbers. ``controlled``: the same with control variates, whole
    numbers over :data:`SCALE`. ``decisions``: those in which hero and field differed. ``samples``: the other deals used for them.
    """
    n = seats
    return {
        "plain": slice(0, n),
        "controlled": slice(n, 2 * n),
        "decisions": slice(2 * n, 2 * n + 1),
        "samples": slice(2 * n + 1, None),
    }


def play(source: OwnGame, hero: Agent, rival: Agent, at: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Plays the deals ``at .. at+count-1`` at once; returns rows by :func:`columns`, and the seats that act first ``(D,)``.

    Raises as :func:`check` does, and :class:`ConfigError` where payoffs are too large to be counted in 64 bits.
    """
    setup, task, seed = source.setup, source.task, source.deal_seed
    check(setup, hero, rival, task)
    openings = opening_tables(setup, task, seed, at, count, [rival], np.zeros((count, setup.players), np.int64))
    rows, log, differences = _play(setup, hero, rival, seed, at, count, openings)
    terms, samples = luck_removed(setup, rival, rows, log, differences)
    sums = np.zeros((4, len(rows)), np.int64)
    for number, values in enumerate((*terms.T, np.ones(len(samples), np.int64), samples)):
        np.add.at(sums[number], differences.table, values)
    plain, controlled, decisions, used = sums.reshape(4, count, setup.players)
    leader = rows["seat"][:: setup.players].astype(np.int64)
    return np.concatenate([plain, controlled, decisions.sum(1, keepdims=True), used.sum(1, keepdims=True)], axis=1), leader


def check(setup: Setup, hero: Agent, rival: Agent, task: Task) -> None:
    """Raises :class:`AgentError` or :class:`ConfigError` where control variates cannot be computed."""
    task.check(setup)
    if task.objective != OWN or task.start == CARRIED:
        raise ConfigError(f"Control variates are for a seat's own payoff of rounds that are not carried, and not for {task}.")
    if setup.game.rewind is None:
        raise AgentError(f"{setup.game.title} has no control variates: its rounds cannot be rewound (GameSpec.rewind).")
    for agent in (hero, rival):
        if is_recurrent(agent, setup):
            raise AgentError(f"Control variates are for agents without memory, and {agent.name!r} remembers.")
    if needs_history(rival):
        raise AgentError(f"Control variates need a field without history, and {rival.name!r} reads the plies of the round.")
    match rollout_policy(rival, setup):
        case CompiledPolicy(number=number) if number != UNIFORM:
            return
        case ScoringAgent(stochastic=False):
            return
        case BotAgent() as bot if bot.ready.deterministic:
            return
    raise AgentError(
        f"Control variates need a field that always acts alike in the same position: a network, a heuristic or a deterministic "
        f"bot, not {rival.name!r}."
    )


def _play(
    setup: Setup, hero: Agent, rival: Agent, seed: int, at: int, count: int, openings: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int8], _Differences]:
    """Plays each deal with the hero in each seat in turn.

    ``openings`` are the tables before any ply (None: fresh rounds). Returns the tables after the deal ``(D * n,)``,
    every ply's action ``(P, D * n)``, and where hero and field differ.
    """
    n = setup.players
    history = needs_history(hero)
    batch = Batch(setup, count * n, skip_forced=False, autoreset=False, log=history)
    if openings is None:
        batch.reset(seeds=np.repeat(streams(seed, count, first=at), n))
    else:
        batch.set_tables(None, np.repeat(openings, n), trusted=True)
    rows, hero_seat = batch.tables.copy(), np.tile(np.arange(n), count)
    draws = np.repeat(seat_states(seed, SEATS, at, count, n), n, axis=0)  # as at the tables of plain duplicate play
    hero_draws = draws[np.arange(count * n), hero_seat]
    determinizing = seat_states(seed, DETERMINIZATIONS, at, count, n).reshape(-1)
    log: list[NDArray[np.int8]] = []
    differing: list[tuple[NDArray[Any], ...]] = []
    while not batch.done.all():
        playing = np.flatnonzero(~batch.done)
        actions = np.full(batch.num_tables, -1, np.int64)
        actions[playing] = _lowest(batch.legal[playing])
        choice = playing[_is_choice(batch.legal[playing])]
        if choice.size:
            usual = rival.act(DecisionBatch(batch, choice), NO_DRAWS)
            mine = batch.seat[choice] == hero_seat[choice]
            actions[choice] = usual
            if mine.any():
                decisions = DecisionBatch(batch, choice[mine], None, history)
                chosen = hero.act(decisions, RowStreams(hero_draws, decisions.index))
                actions[decisions.index] = chosen
                differs = chosen != usual[mine]
                where = decisions.index[differs]
                pair = np.stack([chosen, usual[mine]], axis=1)[differs]
                states = generator_states(RowStreams(determinizing, where).random(len(where)))
                differing.append(
                    (where, np.full(len(where), len(log)), pair, batch.tables[where], decisions.tables[differs], states)
                )
        log.append(actions.astype(np.int8))
        batch.step(actions[playing], playing)
    empty = np.zeros(0, np.int64)
    nothing = np.zeros((0, 2), np.int64), batch.tables[:0], batch.tables[:0], np.zeros(0, np.uint64)
    differing.append((empty, empty, *nothing))
    return rows, np.array(log), _Differences(*(np.concatenate(each) for each in zip(*differing, strict=True)))


def luck_removed(
    setup: Setup, rival: Agent, rows: NDArray[Any], log: NDArray[np.int8], decisions: _Differences
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the terms ``(K, 2)`` of ``decisions`` and how many other deals were used for each, ``(K,)``.

    Terms are on the true deal, and averaged over :data:`SCALE`.
    """
    terms, samples = np.zeros((len(decisions.table), 2), np.int64), np.zeros(len(decisions.table), np.int64)
    states = decisions.states
    rollouts = SteppedRollouts(setup, [ByAct(setup, rival)])
    replay = Batch(setup, ROWS, skip_forced=False, autoreset=False)
    for at in range(0, len(terms), ROWS // PROPOSALS):
        part = slice(at, at + ROWS // PROPOSALS)
        owner = np.repeat(np.arange(len(decisions.table[part])), PROPOSALS)
        determinized = determinize(setup, decisions.redacted[part], owner, states[part])
        assert setup.game.rewind is not None
        opening = setup.game.rewind(rows[decisions.table[part]][owner], determinized)
        played, plies = log[:, decisions.table[part]][:, owner], decisions.ply[part][owner]
        accepted = np.flatnonzero(same_play(replay, rival, opening, played, plies, determinized["seat"]))
        order = np.arange(len(accepted)) - np.searchsorted(owner[accepted], owner[accepted])
        accepted = accepted[order < MAX_KEPT]
        tables = np.concatenate([decisions.rows[part], determinized[accepted]])
        whose = np.concatenate([np.arange(len(decisions.table[part])), owner[accepted]])
        pair = decisions.actions[part][whose]
        values = rollouts.values(tables, (np.int64(1) << pair).sum(axis=1))
        numbers = np.arange(len(tables))
        term = np.rint(values[numbers, pair[:, 0]] - values[numbers, pair[:, 1]]).astype(np.int64)  # payoffs are whole
        true = len(decisions.table[part])
        terms[part, 0] = term[:true]
        number = np.bincount(whose)
        total = np.rint(np.bincount(whose, term)).astype(np.int64)
        if np.abs(total / number).max(initial=0) > MAX_TERM:
            raise ConfigError(f"Control variates are for payoffs of at most {MAX_TERM:,} in a round.")
        terms[part, 1] = total * (SCALE // number)
        samples[part] = number - 1
    return terms, samples


def same_play(
    batch: Batch,
    rival: Agent,
    opening: NDArray[Any],
    played: NDArray[np.int8],
    plies: NDArray[np.int64],
    hero_seat: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Returns whether the first ``plies (N,)`` plies from the tables ``opening (N,)`` can be, and are what the field plays.

    ``played (P, N)`` are the actions; the seat ``hero_seat (N,)`` needs only legal ones. ``batch`` has at least N tables.
    """
    left = np.arange(len(opening))
    batch.set_tables(left, opening, trusted=True)
    same = np.ones(len(opening), np.bool_)
    for number in range(int(plies.max(initial=0))):
        left = left[(plies[left] > number) & same[left]]
        actions = played[number, left].astype(np.int64)
        possible = (batch.legal[left] >> actions & 1 == 1) & ~batch.done[left]
        decides = possible & _is_choice(batch.legal[left]) & (batch.seat[left] != hero_seat[left])
        if decides.any():
            possible[decides] = rival.act(DecisionBatch(batch, left[decides]), NO_DRAWS) == actions[decides]
        same[left] = possible
        batch.step(actions[possible], left[possible])
    return same


def _is_choice(legal: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns whether bit sets have more than one action."""
    choice: NDArray[np.bool_] = (legal & (legal - 1)) != 0
    return choice


def _lowest(legal: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the number of the lowest action of each bit set, none empty."""
    lowest: NDArray[np.int64] = np.log2(legal & -legal).astype(np.int64)  # exact: powers of two
    return lowest
