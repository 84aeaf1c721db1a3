"""RegretValues of actions, and the regret of those taken."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search import rollouts_by
from nainjaune_agents.study.action_values import ActionEvaluator, RegretValues
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize
from tests.support.positions import small

TABLES = 40


def positions(setup: Setup) -> tuple[Any, Any, Any]:
    """Tables, legal actions and random choices."""
    batch = Batch(setup, TABLES, seed=3)
    batch.step(batch.sample(streams(4, TABLES)))
    return batch.redacted(), batch.legal.copy(), batch.sample(streams(5, TABLES))


def alike(one: RegretValues, two: RegretValues) -> bool:
    return all(np.array_equal(getattr(one, f.name), getattr(two, f.name), equal_nan=True) for f in fields(RegretValues))


def test_means_and_errors_are_those_of_the_determinizations() -> None:
    setup = small()
    tables, legal, _ = positions(setup)
    agent = heuristics(setup.game.name)["lowest"]
    values = ActionEvaluator(setup, agent, 6).values(tables, legal, streams(7, TABLES))
    states = streams(7, TABLES)
    for k in range(TABLES):
        determinizations = determinize(setup, tables, np.full(6, k), states)
        payoff = rollouts_by(agent, setup).values(determinizations, np.full(6, legal[k]))
        actions = [a for a in range(payoff.shape[1]) if legal[k] >> a & 1]
        assert np.flatnonzero(~np.isnan(values.mean[k])).tolist() == actions
        assert np.flatnonzero(~np.isnan(values.error[k])).tolist() == actions
        assert values.mean[k, actions] == pytest.approx(payoff[:, actions].mean(axis=0), rel=1e-6)
        assert values.error[k, actions] == pytest.approx(payoff[:, actions].std(axis=0, ddof=1) / 6**0.5, rel=1e-5, abs=1e-6)
        assert values.action[k] == max(actions, key=lambda a: (payoff[:, a].mean(), -a))
        bests = []
        for deal in range(6):
            others = np.delete(payoff, deal, axis=0)
            bests.append(payoff[deal, max(actions, key=lambda a: (others[:, a].sum(), -a))])
        assert values.behind[k, actions] == pytest.approx(sum(bests) / 6 - payoff[:, actions].mean(axis=0), abs=1e-5)
        assert np.flatnonzero(~np.isnan(values.behind[k])).tolist() == actions


def test_each_decision_is_by_itself() -> None:
    setup = small()
    tables, legal, _ = positions(setup)
    evaluator = ActionEvaluator(setup, heuristics(setup.game.name)["random"], 400)
    whole = evaluator.values(tables, legal, streams(7, TABLES))
    part = evaluator.values(tables[:5], legal[:5], streams(7, 5))
    assert alike(RegretValues(*(getattr(whole, f.name)[:5] for f in fields(RegretValues))), part)
    none = evaluator.values(tables[:0], legal[:0], streams(7, 0))
    actions = len(setup.game.actions)
    assert [getattr(none, f.name).shape for f in fields(RegretValues)] == [(0, actions)] * 3 + [(0,), (0, actions)]


def test_refusals() -> None:
    setup = small()
    with pytest.raises(ConfigError, match="at least 2 deals, one to choose an action and one to measure it, not 1"):
        ActionEvaluator(setup, load_agent("lowest", setup), 1)
    with pytest.raises(AgentError, match="searches already"):
        ActionEvaluator(setup, load_agent("lowest@search=4@search=4", setup), 4)
