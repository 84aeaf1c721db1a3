"""Mixtures: which setups, whose tables, and one network that learns at all of them alike."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.cli.main import main
from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.checkpoint import FILE_NAME, load_checkpoint, save_checkpoint
from nainjaune_agents.nets.common_layout import CommonView
from nainjaune_agents.nets.modules import masked_log_softmax
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.nets.payoff_scale import random_payoff_scale
from nainjaune_agents.trainers.multitask import mixed_setups, normalized_within, setup_names, share_out, spread_within
from nainjaune_agents.trainers.ppo import METRICS
from nainjaune_agents.trainers.rollout import Rollout, joined
from nainjaune_env.core.errors import CheckpointError, ConfigError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.agents.trainers.test_ppo import masks, tiny, trainer_of
from tests.support.contract import all_setups
from tests.support.training import run_in

TWO = [{"preset": "djeco", "players": 3}, {"preset": "skip", "players": 6, "rules": {"stake": 2}}]
"""Two setups that differ in all there is."""


def named(*entries: dict[str, Any], **knobs: Any) -> list[Setup]:
    return mixed_setups("nain_jaune", entries, knobs)


# ---------------------------------------------------------------- which setups


def test_all_is_every_sheet_with_every_number_of_seats() -> None:
    everything = [p.values[0] for p in all_setups() if p.values[0].game.name == "nain_jaune"]
    assert named({"preset": "all", "players": "all"}) == named({}) == everything
    assert len(everything) == 22


def test_one_or_a_list_and_knobs_over_knobs() -> None:
    assert named({"preset": ["skip", "djeco"], "players": [2, 4]}, {"preset": "classic", "players": 5}) == [
        make_setup("nain_jaune", preset, players)
        for preset, players in (("skip", 2), ("skip", 4), ("djeco", 2), ("djeco", 4), ("classic", 5))
    ]
    both = named({"preset": "skip", "players": 3, "rules": {"stake": 2}}, stake=3, unannounced=1)
    assert both == [make_setup("nain_jaune", "skip", 3, stake=2, unannounced=1)]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"presets": "skip"}, r"key in an entry of 'mixture' 'presets'\. Did you mean 'preset'\?"),
        ({"rules": "stake"}, r"In an entry of 'mixture', 'rules' are knobs and their values, not 'stake'\."),
        ({"players": []}, r"In an entry of 'mixture', 'players' is one, a list of them, or 'all', not \[\]\."),
        ({"preset": [["skip"]]}, r"In an entry of 'mixture', 'preset' is one, a list of them, or 'all', not \[\['skip'\]\]\."),
        ({"preset": "skp"}, r"Unknown preset 'skp'\. Did you mean 'skip'\?"),
        ({"preset": "djeco", "players": [4, 5]}, r"The preset 'djeco' is for 2 to 4 players, not 5\."),
        ({"preset": "djeco", "rules": {"stak": 2}}, r"Unknown knob 'stak'\. Did you mean 'stake'\?"),
    ],
)
def test_entries_that_are_none(entry: dict[str, Any], says: str) -> None:
    with pytest.raises((ConfigError, RulesError), match=says):
        tiny(mixture=[entry])


def test_what_a_mixture_needs() -> None:
    with pytest.raises(ConfigError, match=r"A mixture of 2 setups needs as many 'tables' in each process, and there are 1\."):
        trainer_of(tiny(mixture=TWO, tables=1))


def test_tables_are_shared_out_evenly() -> None:
    config = tiny(mixture=[{"preset": "djeco"}], tables=11)
    parts = share_out(config, slice(0, 11), (1, 0), common=True)
    assert [part.part for part in parts] == [slice(0, 4), slice(4, 8), slice(8, 11)]
    assert [len(part) for part in parts] == [4, 4, 3]


def test_names_are_different() -> None:
    setups = named({"preset": "djeco", "players": [2, 3]}, {"preset": "djeco", "players": 2, "rules": {"stake": 2}})
    assert setup_names(setups) == ["djeco-2", "djeco-3", "djeco-2-2"]


# ---------------------------------------------------------------- what it learns from


@pytest.mark.parametrize(
    "other", [{}, {"privileged": True, "objective": "own"}, {"arch": {"hidden": [16], "recurrent": 4}}], ids=str
)
def test_every_part_is_played_on_its_own_tables(other: dict[str, Any]) -> None:
    """Its decisions played over at a batch of its own setup, with the seeds that are its share: not a byte differs."""
    trainer = trainer_of(tiny(mixture=TWO, tables=31, seed=5, **other))
    rollout = trainer.collect(0, np.random.default_rng(1))
    seeds = np.split(streams(5, 31, stream=1), [16])
    first = 0
    for number, setup in enumerate(mixed_setups("nain_jaune", TWO, {})):
        batch, view = Batch(setup, len(seeds[number]), autoreset=False), CommonView(setup)
        critic = CommonView(setup, omniscient=True)
        batch.reset(seeds=seeds[number])
        net = batch.reward.astype(np.float32)
        own = np.flatnonzero(rollout.setup_index == number)
        assert own.size
        where = (rollout.trajectory_id[own] - first) // setup.players
        left = [list(own[where == table]) for table in range(batch.num_tables)]
        while not batch.done.all():
            actions = np.zeros(batch.num_tables, np.int64)
            for i in np.flatnonzero(~batch.done):
                t = left[i].pop(0)
                assert (rollout.trajectory_id[t] - first) % setup.players == batch.seat[i]
                assert np.array_equal(rollout.observation[t], view(batch.observation[i : i + 1])[0])
                assert rollout.legal[t] == batch.legal[i]
                if trainer.critic:
                    assert np.array_equal(rollout.omniscient[t], critic(batch.omniscient([i]))[0])
                actions[i] = rollout.action[t]
            batch.step(actions)
            net += batch.reward
        assert not any(left)
        final = rollout.final[first : first + net.size]
        assert final == pytest.approx(trainer.config.task.payoff(net).ravel(), abs=1e-4)
        first += net.size
    assert first == len(rollout.final)


def test_values_are_in_the_unit_of_their_setup() -> None:
    trainer = trainer_of(tiny(mixture=TWO))
    units = [tables.unit(trainer.net) for tables in trainer.tables]
    assert units == [random_payoff_scale(setup) for setup in mixed_setups("nain_jaune", TWO, {})]
    assert units[1] > 2 * units[0]
    rollout = trainer.collect(0, np.random.default_rng(1))
    with torch.no_grad():
        logits, value, _ = trainer.net(torch.from_numpy(rollout.observation))
    assert rollout.value == pytest.approx(value.numpy() * np.array(units)[rollout.setup_index], abs=1e-3)
    each = masked_log_softmax(logits, torch.from_numpy(masks(trainer, rollout))).numpy()
    assert rollout.log_prob == pytest.approx(each[np.arange(len(each)), rollout.action], abs=1e-4)
    trainer.iterate()
    assert float(trainer.net.payoff_scale) == 1.0


def test_advantages_are_evened_out_within_parts() -> None:
    rng = np.random.default_rng(0)
    part = rng.permutation(np.repeat([0, 1, 4], [50, 7, 1]))
    raw = (rng.normal(size=58) * 10.0**part + part).astype(np.float32)
    even = normalized_within(part, raw)
    for number in (0, 1):
        own = part == number
        assert (even[own].mean(), even[own].std()) == pytest.approx((0, 1), abs=1e-5)
        assert np.argsort(even[own]).tolist() == np.argsort(raw[own]).tolist()
    assert even[part == 4].tolist() == [0.0]


def test_spreads_within_parts() -> None:
    part = np.array([0, 1, 0, 1, 2])
    spread = spread_within(part, np.array([1, 40, 3, 0, 7], np.float32))
    least = 0.01 * np.std([1, 40, 3, 0, 7])
    assert spread == pytest.approx([1, 20, 1, 20, least])
    assert (spread_within(part, np.full(5, 3, np.float32)) > 0).all()


def test_rollouts_are_joined_with_their_chains_counted_on() -> None:
    def rollout(part: int, chains: int, chain: list[int]) -> Rollout:
        empty = np.zeros((len(chain), 0))
        column = np.arange(len(chain), dtype=np.float32) + 10 * part
        return Rollout(
            empty.astype(np.uint8), empty.astype(np.uint8), column.astype(np.int64), column.astype(np.int64), column, column,
            np.full(len(chain), part), np.full(len(chain), part),
            np.array(chain), column, np.full(chains, part, np.float32), 2.0 * part,
        )  # fmt: skip

    both = joined([rollout(0, 3, [2, 0, 2]), rollout(3, 2, [1, 0])])
    assert both.trajectory_id.tolist() == [2, 0, 2, 4, 3]
    assert both.setup_index.tolist() == [0, 0, 0, 3, 3]
    assert both.final.tolist() == [0, 0, 0, 3, 3]
    assert both.action.tolist() == [0, 1, 2, 30, 31]
    assert both.payoff_std == 3.0


# ---------------------------------------------------------------- runs


def test_its_net_learns_at_each_of_them(tmp_path: Path) -> None:
    """A few seconds make it beat random play at both by a wide margin."""
    config = tiny(
        mixture=TWO,
        tables=400,
        arch={"hidden": [32]},
        iterations=15,
        minibatch=1024,
        optimizer={"learning_rate": 3e-3},
        entropy=0.02,
    )
    run_in(tmp_path, config)
    trainer = trainer_of(dataclasses.replace(config, eval_every=1, eval_deals=300))
    trainer.restore(dataclasses.replace(load_checkpoint(tmp_path), config=dataclasses.asdict(trainer.config)))
    metrics = trainer.evaluate()
    assert metrics["eval/edge/djeco-3"] > 3
    assert metrics["eval/edge/skip-6"] > 8
    assert metrics["eval/edge"] == pytest.approx((metrics["eval/edge/djeco-3"] + metrics["eval/edge/skip-6"]) / 2)
    assert 0 < metrics["eval/ci95"] < 2
    assert metrics.keys() - {"eval/edge/djeco-3", "eval/edge/skip-6"} <= METRICS.keys()


def test_it_sits_down_at_tables_it_was_not_trained_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_in(tmp_path, tiny(mixture=TWO, iterations=1))
    for preset, players in (("tableau", 8), ("djeco", 2)):
        words = ["--preset", preset, "--players", str(players), "--deals", "3"]
        assert main(["evaluate", "--agents", str(tmp_path), "lowest", *words]) == 0
    assert "lowest" in capsys.readouterr().out


def test_a_run_may_begin_with_it(tmp_path: Path) -> None:
    """A mixture with the network as it is; a specialist with what it is at its own table; but no mixture with a specialist's."""
    general, special = tmp_path / "general", tmp_path / "special"
    before = run_in(general, tiny(mixture=TWO, iterations=1))
    still = {"init": str(general), "iterations": 1, "optimizer": {"learning_rate": 0, "last_learning_rate": 0}}
    after = run_in(tmp_path / "again", tiny(mixture=[{"preset": "djeco"}], **still))
    for name, tensor in before.tensors.items():
        assert name.startswith("optimizer.") or np.array_equal(tensor, after.tensors[name])
    setup = make_setup("nain_jaune", "classic", 5)
    run_in(special, tiny(preset="classic", players=5, **still))
    observation = Batch(setup, 20).observation
    one, two = (load_agent(str(path), setup) for path in (general, special))
    assert isinstance(one, NetAgent)
    assert isinstance(two, NetAgent)
    assert np.array_equal(one.net.evaluate(observation)[0], two.net.evaluate(observation)[0])
    with pytest.raises(CheckpointError, match="is a network for one table, and this run is for a mixture"):
        run_in(tmp_path / "wrong", tiny(mixture=TWO, **{**still, "init": str(special)}, preset="classic", players=5))


def test_one_without_a_layer_to_fold_into_is_refused(tmp_path: Path) -> None:
    left = run_in(tmp_path, tiny(mixture=TWO, iterations=1))
    save_checkpoint(tmp_path / FILE_NAME, dataclasses.replace(left, arch={"hidden": []}))
    with pytest.raises(CheckpointError, match=r"The network of .* is of the arch None, and here there are mlp, residual: "):
        load_agent(str(tmp_path), make_setup())
