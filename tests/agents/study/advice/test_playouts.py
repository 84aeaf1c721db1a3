"""Rounds played out and counted: held against the same rounds played ply by ply in Python, and against what a search finds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.advice import Playouts, columns_of
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.analysis.stat_hook import columns
from nainjaune_env.analysis.stats import measures_of
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.engine.telling import Teller
from nainjaune_env.registry import make_setup
from tests.support.positions import small, stirred, turns
from tests.test_agent import untrained

SETUPS = [
    make_setup("nain_jaune", "djeco", 3),
    small(4, announce="explicit", unannounced=1, decline="always"),
    make_setup("batasaurus", None, 3, memory="perfect"),
]
both = pytest.mark.parametrize("setup", SETUPS, ids=["djeco", "classic", "batasaurus"])


def determinizations_of(setup: Setup, seed: int, *, tables: int = 2, each: int = 3) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Determinizations of positions in the middle of rounds, and an action in each."""
    rng = random.Random(seed)
    rows, actions = [], []
    for decisions in turns(setup, seed, tables=tables, steps=6):
        determinizations = determinize(
            setup, decisions.tables, np.repeat(np.arange(tables), each), np.arange(tables, dtype=np.uint64)
        )
        rows.append(determinizations)
        actions += [rng.choice(np.flatnonzero(decisions.mask[k // each]).tolist()) for k in range(tables * each)]
    return np.concatenate(rows), np.array(actions)


def by_hand(setup: Setup, table: Any, action: int, agents: list[Agent]) -> list[float]:
    """One round in Python: asked for every decision, counted by plain calls."""
    game, rules, measures = setup.game, setup.kernel_rules, measures_of(setup.game)
    tables, seat, n = np.array([table]), int(table.seat), setup.players
    row, teller = tables[0], Teller(setup, tables)
    tallies = np.zeros(n, measures.TALLY)
    batch, states = Batch(setup, 1, autoreset=False), np.array([table.rng], np.uint64)
    before = np.zeros(n, np.int32)
    game.kernel.payoffs(row, rules, before)
    while row.stage == Stage.PLAYING:
        moves = int(game.kernel.legal(row, rules))
        if action < 0 and not game.kernel.needs_decision(row, rules, np.int64(moves)):
            action = moves.bit_length() - 1
        elif action < 0:
            batch.set_tables(0, row)
            action = int(agents[int(row.seat)].act(DecisionBatch(batch, np.array([0])), RowStreams(states, np.array([0])))[0])
        measures.decision(row, rules, np.int64(moves), np.int64(action), tallies)
        for event in teller.ply(action):
            measures.event(np.array(event), row, rules, tallies)
        action = -1
    measures.end(row, rules, tallies)
    after = np.zeros(n, np.int32)
    game.kernel.payoffs(row, rules, after)
    counts = [float(after[seat] - before[seat])]
    numbers = tallies.view(np.int64).reshape(n, -1)[seat]
    for name, part in columns_of(game)[1:]:
        if name == "best":
            most = [other for other in range(n) if after[other] == after.max()]
            counts.append(1 / len(most) if seat in most else 0.0)
        else:
            counts.append(float(numbers[columns(measures.TALLY, name)[part]]))
    return counts


def minds(setup: Setup) -> list[list[Agent]]:
    """Who may sit where: heuristics, networks, any agents, and all of them together."""
    names = [name for name in ("lowest", "tally", "mirror", "cheapest") if name in heuristics(setup.game.name)][:2]
    rules = [load_agent(name, setup) for name in names]
    net, other = untrained(setup), untrained(setup, "drawn", stochastic=True)
    stirred(net.net), stirred(other.net, 2)
    search = load_agent(f"{names[0]}@search=2", setup)
    n = setup.players
    mixed: list[Agent] = [net, rules[0], other, search]
    return [[rules[1]] * n, [rules[k % 2] for k in range(n)], [search] * n, mixed[:n]]


@both
def test_a_round_comes_to_what_it_does_ply_by_ply(setup: Setup) -> None:
    determinizations, actions = determinizations_of(setup, 3)
    for agents in minds(setup)[:2]:
        outcomes = Playouts(setup, agents).outcomes(determinizations, actions)
        for row, table, action in zip(outcomes, determinizations, actions, strict=True):
            assert row.tolist() == pytest.approx(by_hand(setup, table, int(action), agents))


@pytest.mark.slow
@both
def test_agents_that_are_asked_play_as_they_would_by_themselves(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks here and there; what is drawn at a table comes from its table's generator, decision by decision."""
    monkeypatch.setattr("nainjaune_agents.players.networks.fused_mlp.fast_dtype", lambda: torch.float32)
    determinizations, actions = determinizations_of(setup, 4, tables=2, each=2)
    for agents in minds(setup)[2:]:
        outcomes = Playouts(setup, agents).outcomes(determinizations, actions)
        for row, table, action in zip(outcomes, determinizations, actions, strict=True):
            assert row.tolist() == pytest.approx(by_hand(setup, table, int(action), agents)), [agent.name for agent in agents]


@both
def test_the_sources_add_up_to_the_payoff(setup: Setup) -> None:
    determinizations, actions = determinizations_of(setup, 5)
    playouts = Playouts(setup, [load_agent("random", setup)] * setup.players)
    outcomes = playouts.outcomes(determinizations, actions)
    account = setup.game.advice.ACCOUNT  # type: ignore[union-attr]
    mine = [k for k, column in enumerate(playouts.columns) if column.name == account]
    assert len(mine) > 2
    assert np.abs(outcomes[:, mine]).sum(axis=0).astype(bool).sum() >= 2
    assert outcomes[:, mine].sum(axis=1).tolist() == outcomes[:, 0].tolist()


def test_who_cannot_play_is_refused() -> None:
    setup = SETUPS[0]
    with pytest.raises(AgentError, match="Expected 3 agents, one a seat, not 2"):
        Playouts(setup, [load_agent("tally", setup)] * 2)
    glimpse = make_setup("batasaurus")
    with pytest.raises(AgentError, match="Rollouts cannot be played by 'cheapest', which remembers"):
        Playouts(glimpse, [load_agent("cheapest", glimpse)] * 2)
    with pytest.raises(RulesError, match="There is no advice on Signal Lamps"):
        Playouts(make_setup("signal_lamps"), [load_agent("random", make_setup("signal_lamps"))] * 2)
