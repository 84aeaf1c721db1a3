"""A trainer learns to remember, in the game that only memory solves: with a recurrent net, and without one it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.train.config import build
from nainjaune_agents.train.ppo import Config, Trainer
from nainjaune_env.agent import Agent, RecurrentStates
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.signal_lamps.rules import SEATS
from nainjaune_env.registry import make_setup

TABLES = 400


def share_of_right_answers(setup: Setup, agent: Agent) -> float:
    """Of all symbols in matches of several rounds, played on from one round to the next."""
    batch = Batch(setup, TABLES, seed=5, episode="match", autoreset=False)
    won = play_out(batch, [agent], np.zeros((TABLES, SEATS), np.int64), [np.random.default_rng(0)])
    rounds = int(batch.deals.sum())
    assert rounds == TABLES * setup.rules.rounds  # type: ignore[attr-defined]
    return float(won.sum()) / (rounds * SEATS)


def trained(setup: Setup, iterations: int = 40, **other: Any) -> tuple[NetAgent, dict[str, float]]:
    """The net after so many iterations, as an agent, and the last one's metrics."""
    values = {
        "tables": 256, "arch": {"hidden": [32]}, "minibatch": 512, "iterations": iterations,
        "optimizer": {"learning_rate": 5e-3, "last_learning_rate": 1e-3}, "entropy": 0.02, "last_entropy": 0.0,
        "objective": "own", "eval_every": 0,
    }  # fmt: skip
    trainer = Trainer(build(Config, {**setup.to_dict(), **values, **other}), setup)
    for _ in range(iterations):
        metrics = trainer.iterate()
    return NetAgent("trained", trainer.net), metrics


# ---------------------------------------------------------------- learning it


@pytest.mark.parametrize("recall", [0.0, 1.0])
def test_with_memory_it_learns_to_name_what_it_was_shown(recall: float, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = make_setup("signal_lamps")
    agent, metrics = trained(setup, arch={"hidden": [32], "recurrent": 32}, recall=recall)
    # three lamps, each lit in one round of four: 0.56 nats without a memory
    assert (0 < metrics["update/recall_loss"] < 0.1) if recall else metrics["update/recall_loss"] == 0
    assert share_of_right_answers(setup, agent) > 0.95
    # what is shown in a round without lamps is then what was shown before: the share above says that nothing stays
    monkeypatch.setattr(RecurrentStates, "stepped", lambda self: None)
    assert share_of_right_answers(setup, agent) < 0.9


def test_without_memory_it_stays_at_chance() -> None:
    setup = make_setup("signal_lamps")
    assert share_of_right_answers(setup, trained(setup)[0]) < 0.4
