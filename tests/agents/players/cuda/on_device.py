"""Networks at simulated tables, with torch on the CPU beside them, and what is refused: run by `test_simulator`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.cuda import nets
from nainjaune_agents.players.cuda.players import Players
from nainjaune_agents.players.cuda.rollouts import NetGpuRollouts, gpu_rollouts
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.inference.mlp import MLPInference
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.policy_value import PolicyValueNet
from nainjaune_agents.players.search import rollouts_by
from nainjaune_agents.train import expert, vine
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.registry import make_setup
from tests.support.networks import mlp

CLASSIC = make_setup(None, "classic", 3)
GLIMPSE = make_setup(None, "batasaurus", 2)


@pytest.fixture(autouse=True)
def _torch_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Players._on_device

    def taken(self: Players, array: Any) -> Any:
        return self.place(array.numpy()) if isinstance(array, torch.Tensor) else real(self, array)

    monkeypatch.setattr(nets, "DEVICE", "cpu")
    monkeypatch.setattr(nets, "shared", lambda array: torch.from_numpy(array.copy_to_host()))
    monkeypatch.setattr(Players, "_on_device", taken)


def untrained(setup: Setup, name: str = "net", *, recurrent: int = 0, stochastic: bool = False) -> NetAgent:
    net = mlp(setup, recurrent=recurrent).eval()
    with torch.no_grad():
        net.policy.weight *= 100  # decided, and so not by rounding
    return NetAgent(name, net, stochastic=stochastic)


def simulate_for(trainer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a trainer accept device="cuda" without a GPU; its network stays on the CPU, and all products are in float32."""
    monkeypatch.setattr(trainer, "check_device", lambda name: name)
    monkeypatch.setattr(PolicyValueNet, "to", lambda self, _: self)
    monkeypatch.setattr("nainjaune_agents.players.networks.fused_mlp.fast_dtype", lambda: torch.float32)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())


def batch(setup: Setup, device: str, tables: int = 4) -> Batch:
    return make_batch(setup, tables, seed=4, autoreset=False, device=device)


@pytest.mark.parametrize(("setup", "recurrent"), [(CLASSIC, 0), (GLIMPSE, 5)], ids=["sees", "remembers"])
def test_a_network_plays_as_on_the_cpu_beside_a_rule_of_thumb(setup: Setup, recurrent: int) -> None:
    rule = list(heuristics(setup.game.name).values())[-1]
    agents = [untrained(setup, recurrent=recurrent), rule]
    seating = np.random.default_rng(2).integers(0, 2, (4, setup.players))
    states = np.zeros(seating.shape, np.uint64)  # none draws
    payoffs, expected = (play_out(batch(setup, device), agents, seating, states) for device in ("cuda", "cpu"))
    assert payoffs.tolist() == expected.tolist()


@pytest.mark.parametrize("random", [True, False], ids=["random", "a network's policy"])
def test_who_draws_has_a_generator_for_each_table_and_seat(random: bool) -> None:
    """The same as on the CPU, where each seat has one, too."""
    agent = heuristics("nain_jaune")["random"] if random else untrained(CLASSIC, stochastic=True)
    seating, states = np.zeros((4, 3), np.int64), streams(7, 12).reshape(4, 3)
    payoffs = play_out(batch(CLASSIC, "cuda"), [agent], seating, states)
    assert states.tolist() == streams(7, 12).reshape(4, 3).tolist()  # the kernels have a copy
    if random:  # drawn as ``Batch.sample`` draws
        host = batch(CLASSIC, "cpu")
        payoff = host.reward.astype(np.int64)
        while not host.done.all():
            seat, drawn = host.seat.copy(), states[np.arange(4), host.seat]
            host.step(host.sample(drawn))
            states[np.arange(4), seat] = drawn
            payoff += host.reward
    else:
        payoff = play_out(batch(CLASSIC, "cpu"), [agent], seating, states)
    assert payoffs.tolist() == payoff.tolist()


@pytest.mark.parametrize("stochastic", [False, True])
def test_rollouts_by_a_network_are_those_of_the_cpu(stochastic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nainjaune_agents.players.networks.fused_mlp.fast_dtype", lambda: torch.float32)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # the one in bfloat16 rounds not as the other
    host = batch(CLASSIC, "cpu", 2)
    agent = untrained(CLASSIC, stochastic=stochastic)
    rollouts = gpu_rollouts(agent, CLASSIC)
    assert isinstance(rollouts, NetGpuRollouts)
    monkeypatch.setattr("nainjaune_agents.players.cuda.rollouts.ROWS", 5)
    values = rollouts.values(host.tables, host.legal)
    assert values.tolist() == rollouts_by(agent, CLASSIC).values(host.tables, host.legal).tolist()


@pytest.mark.parametrize("name", ["tally@search=4", "zoo:strong@search=2"])
def test_an_agent_that_cannot_play_there_is_told_who_can(name: str) -> None:
    four = make_setup(None, "djeco", 4)
    seats, states = np.zeros((1, 4), np.int64), np.zeros((1, 4), np.uint64)
    with pytest.raises(AgentError, match=f"'{name}' does not play .*: networks do, .*, and random, highest, .*On the CPU"):
        play_out(batch(four, "cuda", 1), [load_agent(name, four)], seats, states)


@pytest.mark.parametrize("rollouts", ["rule", "net"])
def test_labels_are_those_of_the_cpu(rollouts: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The same decisions, chosen by the same generator, and for each action the same rounds in the same determinizations."""
    simulate_for(expert, monkeypatch)
    labels = []
    for device in ("cuda", "cpu"):
        config = expert.Config(
            preset="djeco", players=3, rule="longest", rollouts=rollouts, rounds=3, shard=4, shards=1, deals=2, eval_deals=0,
            explore=0.5, device=device,
        )  # fmt: skip
        trainer = expert.Trainer(config, tmp_path)
        if rollouts == "net":
            trainer.iteration = 1
            trainer.net = untrained(config.setup()).net
            trainer.player = lambda trainer=trainer: trainer.rule  # type: ignore[method-assign, misc]
        labels.append(trainer.label(0, trainer.experts()))
    assert np.nanmax(labels[1].mean) > 0
    for field in fields(labels[0]):
        assert getattr(labels[0], field.name).tobytes() == getattr(labels[1], field.name).tobytes(), field.name


def test_vines_are_those_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounds are played on the CPU, the rollouts of their choices there."""
    simulate_for(vine, monkeypatch)
    played = []
    for device in ("cuda", "cpu"):
        rules = {"ranks": 5, "hand": 4}
        config = vine.Config(players=2, rules=rules, tables=2, arch=MLPInference.Arguments(hidden=[16]), device=device)
        played.append(vine.Trainer(config, config.setup()).play())
    (there, scales, _), (here, expected, _) = played
    assert np.abs(here.advantage).max() > 0
    assert scales.tolist() == expected.tolist()
    for name in here._fields:
        assert getattr(there, name).tobytes() == getattr(here, name).tobytes(), name
