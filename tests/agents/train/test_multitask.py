"""Mixtures: which setups, whose tables, and one network that learns at all of them alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec import structs

from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.common_layout import CommonView, random_payoff_scale
from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.train.multitask import edges_at, mixed_setups, normalized_within, share_out, spread_within
from nainjaune_agents.train.ppo import METRICS
from nainjaune_env.core.errors import CheckpointError, ConfigError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.agents.train.test_ppo import masks, tiny, trainer_of
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


def test_random_setups_are_of_the_entry_s_tables_and_the_same_in_every_run() -> None:
    entry = {"preset": "djeco", "players": [2, 3], "rules": {"stake": 2}, "random": 30}
    setups = named(entry, {"preset": "skip", "players": 5})
    assert setups == named(entry, {"preset": "skip", "players": 5})
    assert all(setup not in setups[:place] for place, setup in enumerate(setups))
    assert setups[-1] == make_setup("nain_jaune", "skip", 5)
    assert {(setup.preset, setup.players) for setup in setups[:-1]} == {("djeco", 2), ("djeco", 3)}
    assert make_setup("nain_jaune", "djeco", 2, stake=2) not in setups
    assert setups[:-1] != named(entry | {"seed": 1})


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"presets": "skip"}, r"key in an entry of 'mixture' 'presets'\. Did you mean 'preset'\?"),
        ({"random": 0}, r"In an entry of 'mixture', 'random' is a whole number from 1 to 1000000, not 0\."),
        ({"random": 2, "knobs": 3}, r"In an entry of 'mixture', 'knobs' is 'all' or left out, not 3\."),
        ({"knobs": "all"}, r"In an entry of 'mixture', 'knobs' and 'seed' are for 'random', which is missing\."),
        ({"random": 2, "seed": True}, r"In an entry of 'mixture', 'seed' is a whole number from 0 to 1000000, not True\."),
        ({"players": []}, r"In an entry of 'mixture', 'players' is one, a list of them, or 'all', not \[\]\."),
        ({"preset": "skp"}, r"Unknown preset 'skp'\. Did you mean 'skip'\?"),
        ({"preset": "djeco", "players": [4, 5]}, r"The preset 'djeco' is for 2 to 4 players, not 5\."),
        ({"preset": "skip", "players": "all"}, r"mixture of 7 setups needs as many 'tables' in each process, and there are 5\."),
    ],
)
def test_entries_that_are_none(entry: dict[str, Any], says: str) -> None:
    with pytest.raises((ConfigError, RulesError), match=says):
        trainer_of(tiny(mixture=[entry], tables=5))


def test_tables_are_shared_out_evenly() -> None:
    config = tiny(mixture=[{"preset": "djeco"}], tables=11)
    parts = share_out(config, slice(0, 11), (1, 0), common=True)
    assert [part.part for part in parts] == [slice(0, 4), slice(4, 8), slice(8, 11)]
    assert [len(part) for part in parts] == [4, 4, 3]


# ---------------------------------------------------------------- what it learns from


@pytest.mark.parametrize(
    "other", [{}, {"privileged": True, "objective": "own"}, {"arch": {"hidden": [16], "recurrent": 4}}], ids=str
)
def test_every_part_is_played_on_its_own_tables(other: dict[str, Any]) -> None:
    """Its decisions played over at a batch of its own setup, with the seeds that are its share: not a byte differs."""
    trainer = trainer_of(tiny(mixture=TWO, tables=31, seed=5, **other))
    rollout = trainer.collect(0, np.random.default_rng(1))
    seeds = np.split(streams(5, 31, stream=1), [16])
    first, spreads = 0, []
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
        spreads.append(net.std())
        final = rollout.final[first : first + net.size]
        assert final == pytest.approx(trainer.config.task.payoff(net).ravel(), abs=1e-4)
        first += net.size
    assert first == len(rollout.final)
    assert rollout.payoff_std == pytest.approx(np.mean(spreads), rel=1e-4)


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


# ---------------------------------------------------------------- runs


def test_its_evaluation_has_an_edge_a_setup_and_their_mean() -> None:
    config = tiny(mixture=TWO, eval_every=1, eval_deals=30)
    trainer = trainer_of(config)
    metrics = trainer.evaluate()
    other = trainer_of(structs.replace(config, seed=config.seed + 1))
    of_next_seed = edges_at(config.setups(), trainer.player_net, other.eval_fields(config.setups()))
    assert all(of_next_seed[name] != metrics[name] for name in ("eval/edge/djeco-3", "eval/edge/skip-6"))  # on other deals
    each = [metrics[f"eval/edge/{name}"] for name in ("djeco-3", "skip-6")]
    assert metrics["eval/edge"] == pytest.approx(np.mean(each))
    assert each[0] != each[1]
    assert metrics["eval/ci95"] > 0
    assert metrics.keys() - {"eval/edge/djeco-3", "eval/edge/skip-6"} <= METRICS.keys()


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
