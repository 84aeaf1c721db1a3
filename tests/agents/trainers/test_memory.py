"""A trainer learns to remember, in the game that only memory solves: with a recurrent net, and without one it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.arena.play import play_out
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.ppo import Config, Trainer
from nainjaune_env.agent import Agent, RecurrentStates
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.signal_lamps import kernel
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


# ---------------------------------------------------------------- the game is what it says


def test_a_seat_is_asked_to_look_once_and_to_name_once_in_a_round() -> None:
    """And in between for each ply of its own that leaves a choice: every other one."""
    batch, draws = Batch(make_setup("signal_lamps"), 1000, seed=1, autoreset=False), streams(1, 1000)
    asked = np.zeros((2, 3), np.int64)  # by seat: looking, idling, naming
    while not batch.done.all():
        going = ~batch.done
        now = [kernel.phase(row, batch.setup.kernel_rules) for row in batch.tables[going]]
        np.add.at(asked, (batch.seat[going], now), 1)
        words = {kernel.LOOKING: 1 << kernel.LOOK, kernel.IDLING: 0b11, kernel.NAMING: 0b1111}
        assert batch.legal[going].tolist() == [words[phase] for phase in now]
        batch.step(batch.sample(draws))
    assert (asked[:, [0, 2]] == 1000).all()
    assert (asked[:, 1] == 2000).all()


def test_only_the_first_look_tells_the_symbol() -> None:
    batch, draws = Batch(make_setup("signal_lamps"), 300, seed=2, autoreset=False), streams(2, 300)
    while not batch.done.all():
        going = np.flatnonzero(~batch.done)
        lamps = batch.layout.view(batch.observation, "lamps")[going]
        for i, row in zip(going, lamps, strict=True):
            table = batch.tables[i]
            looking = kernel.phase(table, batch.setup.kernel_rules) == kernel.LOOKING
            symbol = int(table.symbol[table.seat]) if looking else 0
            assert row.tolist() == [symbol == lamp + 1 for lamp in range(3)]
        batch.step(batch.sample(draws))


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
