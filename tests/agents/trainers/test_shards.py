"""Shards: weights and metrics are the same bits with any number of processes, and a step is that of all its decisions.

The processes are threads here, each with its own end of gloo's connections, as processes have.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import torch

from nainjaune_agents.trainers.config import PLACEMENT_KEYS, build
from nainjaune_agents.trainers.ppo import Config, Trainer
from nainjaune_agents.trainers.ppo_loss import Decisions
from nainjaune_agents.trainers.shards import (
    ALONE,
    GlooGroup,
    GradientSum,
    Group,
    TreeSum,
    check_equal_weights,
    step_moments,
    summed_stats,
)
from nainjaune_env.core.errors import ConfigError, DivergenceError

T = TypeVar("T")
TINY = {
    "tables": 24,
    "arch": {"hidden": [16]},
    "critic_hidden": [8],
    "eval_every": 0,
    "minibatch": 128,
    "iterations": 4,
    "shards": 4,
}


def together(size: int, work: Callable[[Group], T]) -> list[T]:
    """What ``work`` returns in each of ``size`` members of a group."""
    if size == 1:
        return [work(ALONE)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(size) as pool:
        return [*pool.map(lambda rank: work(GlooGroup.on_this_machine(Path(folder) / "meeting", rank, size)), range(size))]


def trained(config: Config, group: Group, iterations: int = 2) -> tuple[dict[str, bytes], dict[str, float]]:
    """The tensors of the checkpoint and the last metrics."""
    trainer = Trainer(config, config.setup(), group)
    for _ in range(iterations):
        metrics = trainer.iterate()
    timed = ("speed/decisions_per_second", "speed/network_share", "run/seconds")
    return state(trainer), {name: value for name, value in metrics.items() if name not in timed}


def state(trainer: Trainer) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in trainer.checkpoint().tensors.items()}


@pytest.mark.parametrize(
    "other",
    [
        {"epochs": 3},
        {"bf16": True, "privileged": True},
        {"belief": 0.5, "magnet": 0.1, "ema": 0.9, "target_kl": 1e-4, "epochs": 4},
        {"opponents": "closer", "objective": "own"},
        {"start": {"pots": [0, 40]}, "shards": 6},
        {"mixture": [{"preset": "djeco", "players": [3, 4]}], "shards": 5},
        {"arch": {"name": "residual", "width": 8, "blocks": 2}},
    ],
    ids=str,
)
def test_weights_and_metrics_are_the_same_bits_with_any_number_of_processes(other: dict[str, Any]) -> None:
    config = build(Config, {**TINY, **other})
    alone = trained(config, ALONE)
    for size in (2, 3, 4) if len(other) == 1 else (2,):
        assert together(size, lambda group: trained(config, group)) == [alone] * size


def test_shards_are_the_same_rounds_and_other_steps() -> None:
    whole, cut = (Trainer(config, config.setup()) for config in (build(Config, {**TINY, "shards": n}) for n in (1, 3)))
    one, other = (trainer.collect(0, np.random.default_rng(0)) for trainer in (whole, cut))
    assert len(one.action) == len(other.action)
    assert one.final == pytest.approx(other.final, abs=1e-4)
    counts = cut.decisions_of_shards(other)
    assert counts.sum() == len(other.action)
    shard = np.searchsorted(cut.first_tables[1:], other.sequence // cut.setup.players, side="right")
    assert (np.diff(shard) >= 0).all()
    assert counts.tolist() == np.bincount(shard).tolist()
    parts = cut.shuffled(counts, None, np.random.default_rng(1))
    assert sorted(torch.cat([rows for rows, _ in parts]).tolist()) == list(range(len(other.action)))
    steps = len(parts) // 3
    for number, (rows, _) in enumerate(parts):
        assert {*shard[rows.numpy()]} == {number // steps}


def test_a_run_goes_on_with_another_number_of_processes() -> None:
    config = build(Config, {**TINY, "privileged": True, "ema": 0.5})
    whole, _ = trained(config, ALONE, 4)

    def half(group: Group, checkpoint: Any = None) -> Any:
        trainer = Trainer(config, config.setup(), group)
        if checkpoint is not None:
            trainer.restore(checkpoint)
        trainer.iterate()
        trainer.iterate()
        return trainer.checkpoint()

    first = together(2, half)[0]
    assert "workers" in PLACEMENT_KEYS
    rest = together(4, lambda group: half(group, copy.deepcopy(first)))  # an optimizer takes tensors over as they are
    for last in rest:
        assert {name: tensor.numpy().tobytes() for name, tensor in last.tensors.items()} == whole


def test_all_reduce_leaves_all_processes_with_equal_weights_near_those_in_order() -> None:
    config = build(Config, {**TINY, "optimizer": {"learning_rate": 1e-3}})
    fast = build(Config, {**TINY, "optimizer": {"learning_rate": 1e-3}, "reduction": "all_reduce"})
    ordered, _ = trained(config, ALONE, 1)
    first, *others = together(3, lambda group: trained(fast, group, 1)[0])
    assert others == [first] * 2
    for name in (name for name in ordered if name.startswith("model.")):
        assert np.frombuffer(first[name], np.float32) == pytest.approx(np.frombuffer(ordered[name], np.float32), abs=2e-3)


# ---------------------------------------------------------------- sums


@pytest.mark.parametrize("shards", range(1, 14))
def test_the_sum_is_the_same_whoever_has_which_shard(shards: int) -> None:
    rows = torch.randn(shards, 50, generator=torch.Generator().manual_seed(shards)) * 10.0 ** torch.arange(shards)[:, None]
    whole = TreeSum()
    for shard in range(shards):
        whole.add(shard, rows[shard].clone())
    total = whole.total()
    assert torch.allclose(total, rows.sum(dim=0), rtol=1e-4)

    def gradient(group: Group) -> torch.Tensor:
        parameters = [torch.zeros(5, 4, requires_grad=True), torch.zeros(30, requires_grad=True)]
        gradients = GradientSum(parameters, group, shards, "ordered")
        for _ in range(2):  # a second step begins anew
            for shard in group.shards(shards):
                parameters[0].grad, parameters[1].grad = rows[shard, :20].view(5, 4).clone(), rows[shard, 20:].clone()
                gradients.add(shard)
            gradients.finish()
        assert parameters[0].grad is not None
        assert parameters[1].grad is not None
        return torch.cat([parameters[0].grad.reshape(-1), parameters[1].grad])

    for size in {1, min(2, shards), min(3, shards), shards}:
        for found in together(size, gradient):
            assert found.numpy().tobytes() == total.numpy().tobytes()


def test_moments_and_statistics_are_those_of_all_shards() -> None:
    rng = np.random.default_rng(0)
    advantages = [
        [torch.from_numpy(rng.normal(1e3, 2, size=size).astype(np.float32)) for size in sizes] for sizes in ((3, 4), (9, 8))
    ]
    nothing = torch.zeros(0)

    def moments(group: Group) -> Any:
        own = [advantages[shard] for shard in group.shards(2)]
        steps = [[Decisions(nothing, part, nothing, part, nothing, nothing) for part in parts] for parts in own]
        stats = [[{"a": part.sum(), "b": part[0]} for part in parts] for parts in own]
        sums = [{name: float(value) for name, value in found.items()} for found in summed_stats(group, stats)]
        return step_moments(group, steps, 999.0), sums

    alone, *pair = together(1, moments) + together(2, moments)
    assert pair == [alone, alone]
    for step, (found, sums) in enumerate(zip(*alone, strict=True)):
        parts = [shard[step].double() for shard in advantages]
        both = torch.cat(parts)
        assert found == pytest.approx((len(both), float(both.mean()), float(both.std(correction=0))), rel=1e-7)
        assert sums == pytest.approx({"a": float(both.sum()), "b": float(parts[0][0] + parts[1][0])}, rel=1e-6)


def test_rows_come_in_the_order_of_the_processes() -> None:
    def rows(group: Group) -> Any:
        own = np.full((group.rank, 2), group.rank, np.float32)
        nothing = group.gather(np.zeros((0, 3), np.int64))
        return (
            group.gather(own).tolist(),
            nothing.shape,
            group.from_first(b"first" if group.rank == 0 else b"no"),
            group.any(group.rank == 2),
        )

    expected = [[1, 1], [2, 2], [2, 2]]
    assert together(3, rows) == [(expected, (0, 3), b"first", True)] * 3


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"workers": 5}, "'workers' has at least one of 'shards', and these are 5 and 4"),
        ({"arch": {"hidden": [16], "recurrent": 8}, "game": "batasaurus"}, "with recurrent=8 is not cut into shards"),
        ({"league": 0.5}, "with league=0.5 is not cut"),
        ({"start": "carried"}, "with start='carried' is not cut"),
        ({"reduction": "sum"}, "Unknown reduction 'sum'"),
        ({"shards": 25}, "has a table of every setup"),
        ({"shards": 20, "minibatch": 19}, "a decision of every minibatch"),
    ],
    ids=str,
)
def test_what_is_not_cut_is_refused(other: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        build(Config, {**TINY, **other})


def test_a_shard_without_a_decision_is_an_error_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    config = build(Config, TINY)

    def collect(group: Group) -> None:
        trainer = Trainer(config, config.setup(), group)
        if 3 in trainer.shards:
            monkeypatch.setattr(trainer, "play", lambda _, chance: [None] * len(chance))
        with pytest.raises(ConfigError, match="Not one of 6 rounds of a shard held a choice"):
            trainer.collect(0, np.random.default_rng(0))

    together(2, collect)


def test_processes_that_compute_differently_are_noticed() -> None:
    def check(group: Group) -> None:
        parameters = [torch.ones(3), torch.tensor([1.0, 2.0])]
        check_equal_weights(group, parameters)
        parameters[1][0] += group.rank * 1e-7
        with pytest.raises(DivergenceError, match="different weights after the same steps"):
            check_equal_weights(group, parameters)

    together(2, check)
