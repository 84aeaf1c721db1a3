"""How trainers begin rounds: fresh as ever, from drawn pots, or on through matches, which a resumed run continues bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.base.task import MATCH_ROUNDS, Task
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.config import build
from nainjaune_agents.train.ppo import Trainer, gae
from nainjaune_agents.train.rollout import START_BUCKETS, RoundStarts, batch_start
from nainjaune_env.core.errors import CheckpointError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.training import run_in

CLASSIC = make_setup("nain_jaune", "classic", 3)
TINY: dict[str, Any] = {"preset": "classic", "players": 3, "arch": {"hidden": [16]}, "eval_every": 0, "minibatch": 256}
SELF_PLAY = {"tables": 24, "iterations": 6}
LABELLED = {"generations": 1, "shards": 2, "shard": 60, "rounds": 24, "deals": 2}
KEYS = {"ppo": SELF_PLAY, "deep_monte_carlo": SELF_PLAY, "expert": LABELLED}
POTS = {"pots": [0, 40]}


def config_of(algorithm: str, **other: Any) -> Any:
    return build(get_trainer(algorithm).Config, {"algorithm": algorithm, **TINY, **KEYS[algorithm], **other})


def finished(batch: Batch) -> None:
    batch.play_out(streams(1, batch.num_tables))


def test_drawn_pots_are_those_of_the_task_with_the_cards_of_a_fresh_round() -> None:
    task, seeds = Task(start=POTS), streams(4, 50)
    ours, plain = Batch(CLASSIC, 50, skip_forced=False, autoreset=False), Batch(CLASSIC, 50, skip_forced=False, autoreset=False)
    starts = RoundStarts(task, ours)
    for again in (seeds[::-1].copy(), seeds):  # another draw each time
        starts.deal(again)
    plain.reset(seeds=seeds)
    assert (ours.tables["hand"] == plain.tables["hand"]).all()
    assert (ours.tables["pot"] - plain.tables["pot"] == task.start_values(CLASSIC, seeds)["pots"]).all()


def test_buckets_are_equally_large_and_by_the_sum_of_start_values() -> None:
    """But for fresh rounds, whose sums are equal, so that they are in one bucket; without drawn pots all rounds are."""
    starts = RoundStarts(Task(start=POTS), batch := Batch(CLASSIC, 400, autoreset=False))
    starts.deal(seeds := streams(4, 400))
    bucket, total = starts.buckets(), Task(start=POTS).start_values(CLASSIC, seeds)["pots"].sum(axis=1)
    assert (bucket[total == 0] == 0).all()
    assert (np.diff(bucket[total.argsort()]) >= 0).all()
    assert all(45 <= count <= 55 for count in np.bincount(bucket, minlength=START_BUCKETS)[2:])
    fresh = RoundStarts(Task(), batch)
    fresh.deal(seeds)
    assert not fresh.buckets().any()


def test_drawn_starts_are_learned_in_units_of_their_spread(tmp_path: Path) -> None:
    """Each bucket of starts has advantages of one spread, and errors of values count in its own unit."""
    trainer = Trainer(config_of("ppo", tables=400, start={"pots": [0, 80]}, bf16=False), CLASSIC)
    rollout = trainer.collect(0, np.random.default_rng(1))
    bucket = rollout.bucket
    assert set(bucket) <= set(range(START_BUCKETS))
    assert (bucket == trainer.starts[0].buckets()[rollout.trajectory_id // 3]).all()
    advantage = gae(rollout.trajectory_id, rollout.return_so_far, rollout.value, rollout.final, 1.0)
    spread = [float(advantage[bucket == number].std()) for number in (bucket.min(), bucket.max())]
    assert spread[1] > 2 * spread[0]
    seen: list[Any] = []
    loss = trainer.loss
    trainer.loss = lambda batch, *given: seen.append(batch) or loss(batch, *given)  # type: ignore[func-returns-value,method-assign]
    trainer.update(rollout, np.random.default_rng(2))
    weight = torch.cat([batch.value_weight for batch in seen])
    assert float(weight.max() / weight.min()) == pytest.approx((spread[1] / spread[0]) ** 2, rel=0.5)


def test_carried_rounds_go_on_with_their_matches_and_are_of_all_numbers() -> None:
    tables = 2 * MATCH_ROUNDS
    batch = Batch(CLASSIC, tables, start="carried", autoreset=False)
    starts = RoundStarts(Task(start="carried"), batch)
    before = batch.tables.copy()
    for iteration in range(3 * MATCH_ROUNDS):
        starts.deal(streams(7, tables, stream=iteration + 1), iteration)
        now = batch.tables
        later = now["rounds"] > 1
        antes = 3 * np.array([1, 2, 3, 4, 5])
        assert (now["rounds"][later] == before["rounds"][later] + 1).all()
        assert (now["before"][later] == before["stack"][later]).all()
        # forced plies may have been played, so pots are compared where nobody has played a card
        untouched = later & (now["played"] == 0).all(axis=1)
        assert (now["pot"][untouched] == before["pot"][untouched] + antes).all()
        if iteration >= MATCH_ROUNDS:
            assert sorted(now["rounds"]) == sorted([*range(1, 13)] * 2)  # every number equally often
            assert (before["stage"][~later] == Stage.MATCH_OVER).all()
        finished(batch)
        before = batch.tables.copy()


def test_matches_without_an_end_are_ended() -> None:
    setup = make_setup("nain_jaune", "classic", 3, max_rounds=None)
    batch = Batch(setup, 2, start="carried", autoreset=False)
    starts = RoundStarts(Task(start="carried"), batch, staggered=False)
    seen = []
    for iteration in range(MATCH_ROUNDS + 2):
        starts.deal(streams(7, 2, stream=iteration), iteration)
        seen.append(int(batch.tables["rounds"][0]))
        finished(batch)
    assert seen == [*range(1, MATCH_ROUNDS + 1), 1, 2]


def test_the_start_of_rounds_reaches_what_is_learned(tmp_path: Path) -> None:
    """Pots are a feature of observations, and fresh rounds differ from carried ones and from drawn pots in it."""
    seen = {}
    for name, start in {"fresh": "fresh", "carried": "carried", "drawn": POTS}.items():
        trainer = get_trainer("ppo").Trainer(config_of("ppo", start=start, tables=240), CLASSIC)
        for trainer.iteration in range(4):
            rollout = trainer.collect(trainer.iteration, np.random.default_rng(0))
        seen[name] = trainer.layout.view(rollout.observation, "pots").max()
        if name == "carried":
            assert trainer.layout.view(rollout.observation, "rounds").max() > 1
    assert seen["fresh"] <= 3 * 5 * 3  # antes, doubled by cards that are left
    assert min(seen["carried"], seen["drawn"]) > seen["fresh"]


def test_expert_iteration_labels_the_payoff_of_its_objective(tmp_path: Path) -> None:
    """Own payoffs of a round of these rules sum to a loss, centred ones to nothing; labels differ by what stays in the pots."""
    trainer = get_trainer("expert").Trainer
    own, centred = (trainer(config_of("expert", objective=objective), tmp_path) for objective in ("own", "centred"))
    labels = [each.label(0, each.experts()) for each in (own, centred)]
    assert (labels[0].observation == labels[1].observation).all()
    difference = labels[1].mean - labels[0].mean
    assert np.nanmean(difference) > 0  # centring gives back a share of what stays in the pots
    assert np.nanmax(np.abs(difference)) < 40


def test_a_checkpoint_of_other_tables_is_refused() -> None:
    batch = Batch(CLASSIC, 4, start="carried", autoreset=False)
    starts = RoundStarts(Task(start="carried"), batch)
    state = starts.state_dict()
    with pytest.raises(ValueError, match="3 tables"):
        RoundStarts(Task(start="carried"), Batch(CLASSIC, 3, start="carried", autoreset=False)).load_state_dict(state)
    assert RoundStarts(Task(), batch).state_dict() == {}
    assert batch_start(Task()) == batch_start(Task(start=POTS)) == "fresh"


def test_init_refuses_a_network_of_another_objective(tmp_path: Path) -> None:
    run_in(tmp_path / "centred", config_of("ppo", iterations=1))
    with pytest.raises(CheckpointError, match=r"centred payoff.*own"):
        run_in(tmp_path / "a", config_of("expert", init=str(tmp_path / "centred")))
    run_in(tmp_path / "b", config_of("expert", init=str(tmp_path / "centred"), objective="centred"))
    with pytest.raises(CheckpointError, match=r"centred payoff.*own"):
        run_in(tmp_path / "c", config_of("ppo", init=str(tmp_path / "centred"), objective="own"))
    # a best response counts its own payoff whatever its target was trained for
    target = str(tmp_path / "centred")
    run_in(tmp_path / "d", config_of("ppo", init=target, opponents=target, objective="own", iterations=1))


def test_maskable_ppo_takes_drawn_pots() -> None:
    maskable = pytest.importorskip("nainjaune_agents.train.maskable_ppo")
    keys = {**TINY, "tables": 16, "steps": 4, "minibatch": 32, "opponents": "random"}
    assert build(maskable.Config, keys).task == Task()
    config = build(maskable.Config, {**keys, "start": {"pots": [30, 30]}})
    trainer = maskable.Trainer(config, config.setup())
    trainer.prepare()
    observation = trainer.venv.reset()
    assert (trainer.layout.view(observation, "pots") > 30).any(axis=1).mean() > 0.7  # others were captured before
