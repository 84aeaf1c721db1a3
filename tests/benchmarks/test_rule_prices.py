"""Prices of rules: the agents without or with a rule act as they say."""

from __future__ import annotations

import numpy as np

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.games.nain_jaune.actions import PASS
from nainjaune_env.registry import make_setup
from tests.benchmarks.commands import command, module
from tests.support.positions import turns

rule_prices = module("rule_prices")


def test_who_never_declines_passes_only_where_nothing_else_is_legal() -> None:
    agents, rng = heuristics("nain_jaune"), np.random.default_rng(0)
    agent = rule_prices.NeverDeclines(agents["random"], agents["closer"])
    declined = 0
    for turn in turns(make_setup(preset="djeco", players=4), seed=1, tables=20):
        played = agent.act(turn, rng)
        assert not ((played == PASS) & (turn.legal != 1 << PASS)).any()
        declined += int((turn.legal >> PASS & 1).sum())
    assert declined > 50


def test_who_knows_blocks_leads_as_closer_but_where_a_pass_proved_something() -> None:
    agents, rng = heuristics("nain_jaune"), np.random.default_rng(0)
    blocks, along = (rule_prices.KnowsBlocks(counts=counts) for counts in (False, True))
    other = [0, 0]
    for turn in turns(make_setup(preset="classic", players=3), seed=1, tables=50, steps=40):
        closer, known = agents["closer"].act(turn, rng), blocks.act(turn, rng)
        proven = np.array([np.bitwise_and.reduce(np.delete(table["void"][:3], table["seat"])) != 0 for table in turn.tables])
        assert (known == closer)[~proven].all()
        other[0] += int((known != closer).sum())
        other[1] += int((along.act(turn, rng) != known).sum())
    assert min(other) > 0


def test_kinds_of_decisions() -> None:
    agents, rng = heuristics("nain_jaune"), np.random.default_rng(0)
    mixed = rule_prices.ActsAsAnother(agents["lowest"], agents["highest"], rule_prices.KINDS.index("late leads"))
    met = set()
    for turn in turns(make_setup(preset="djeco", players=4), seed=1, tables=50, steps=40):
        kinds, lowest, highest = rule_prices.kinds_of(turn), agents["lowest"].act(turn, rng), agents["highest"].act(turn, rng)
        late = np.array([not table["required_rank"] and 2 * table["cards"][:4].min() <= 12 for table in turn.tables])
        assert ((kinds == 2) == late).all()
        assert (mixed.act(turn, rng) == np.where(late, highest, lowest)).all()
        assert ((kinds == 3) == (turn.legal >> PASS & 1).astype(bool)).all()
        met |= {*kinds.tolist()}
    assert met >= {0, 1, 2, 3}


def test_it_prints_a_price_for_each_sheet() -> None:
    lines = command("rule_prices", "blocked", "--deals", "3000", "--seed", "1").stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["djeco", "classic", "skip", "tableau"]
    assert lines[1].split()[1].startswith("+")
