"""On a real GPU: tournaments, rollouts and labels are those of the CPU. Skipped without one."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.registry import make_setup
from tests.engine.cuda.test_gpu import why_not

from .playing import everything, setups

pytestmark = pytest.mark.gpu
GPU_AND_NET = 1e-3
"""The share of deals in which rounding may make a network play otherwise: a bound that an H100 met."""


@pytest.fixture(autouse=True)
def _gpu() -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)


def test_what_is_simulated_in_the_suite_is_so_on_a_gpu() -> None:
    results, expected = everything("cuda"), everything("cpu")
    for name, part in expected.items():
        assert results[name] == part, name


@pytest.mark.parametrize("name", setups())
def test_an_edge_over_20000_deals_is_that_of_the_cpu_to_the_last_bit(name: str) -> None:
    setup = setups()[name]
    agents = list(heuristics(setup.game.name).values())[-2:]
    edge, expected = (
        cross_table(setup, agents, deals=20_000, seed=4, device=device, one_way=True).edges[0] for device in ("cuda", "cpu")
    )
    assert (edge.moments, edge.by_seat) == (expected.moments, expected.by_seat)
    assert expected.moments.count == 20_000


def test_a_network_plays_as_on_the_cpu_but_for_rounding() -> None:
    setup, deals = make_setup(None, "djeco", 4), 4000
    agents = [load_agent("zoo:strong", setup), heuristics("nain_jaune")["tally"]]
    seating = np.random.default_rng(1).integers(0, 2, (deals, 4))
    states = np.zeros((deals, 4), np.uint64)  # none draws
    payoffs, expected = (
        play_out(make_batch(setup, deals, seed=2, autoreset=False, device=device), agents, seating, states)
        for device in ("cuda", "cpu")
    )
    assert (payoffs != expected).any(axis=1).mean() < GPU_AND_NET


@pytest.mark.parametrize("preset", ["classic", "djeco", "batasaurus"])
def test_20000_determinizations_are_those_of_the_cpu(preset: str) -> None:
    """Where deals are counted in floating point too: a draw meets a bound to one part in 10^15 next to never."""
    from nainjaune_agents.players.cuda.rollouts import gpu_rollouts

    setup = _played_into(preset)
    batch, draws = Batch(setup, 2000, seed=3), streams(1, 2000)
    for _ in range(5):
        batch.step(batch.sample(draws))
    tables, owner = batch.redacted(), np.repeat(np.arange(2000), 10)
    rollouts = gpu_rollouts(heuristics(setup.game.name)["random"], setup)
    here, there = streams(2, 2000), streams(2, 2000)
    determinizations = rollouts.draw(setup, tables, owner, there)
    assert rollouts.fetch(determinizations.rows).tobytes() == determinize(setup, tables, owner, here).tobytes()
    assert np.array_equal(here, there)


def _played_into(preset: str) -> Setup:
    return make_setup(None, preset, {"batasaurus": 2, "djeco": 4}.get(preset, 5))


def test_a_shard_of_labels_is_that_of_the_cpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch is built without CUDA")
    from nainjaune_agents.train import expert

    made = []
    for device in ("cuda", "cpu"):
        config = expert.Config(preset="djeco", rule="tally", rounds=500, shard=2000, shards=1, eval_deals=0, device=device)
        trainer = expert.Trainer(config, tmp_path)
        made.append(trainer.label(0, trainer.experts()))
    for field in fields(made[0]):
        assert getattr(made[0], field.name).tobytes() == getattr(made[1], field.name).tobytes(), field.name
