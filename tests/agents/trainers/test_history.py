"""PPO with the plies of the round in observations: those of the rounds, which the player in its checkpoint gets too."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nainjaune_agents.arena.control_variate import controlled_edge
from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.arena.match_duplicate import MatchDuplicate
from nainjaune_agents.arena.play import play_out
from nainjaune_agents.cuda.players import check_players
from nainjaune_agents.exact.policy import tabular
from nainjaune_agents.exact.tree import build_tree
from nainjaune_agents.heuristics import heuristics
from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.checkpoint import check_fits, load_checkpoint
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.play.match_table import MatchTable
from nainjaune_agents.study.playing import StudySettings
from nainjaune_agents.study.playing import play as play_episodes
from nainjaune_agents.trainers import deep_monte_carlo
from nainjaune_agents.trainers.best_response import response_configs
from nainjaune_agents.trainers.checkpointing import load_initial_weights
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.ppo import Trainer
from nainjaune_agents.trainers.rollout import Rollout
from nainjaune_env.agent import DecisionBatch, needs_history
from nainjaune_env.core.errors import AgentError, CheckpointError, ConfigError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.history import layout_with_history, observation_with_history
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.records.recorder import log_of
from nainjaune_env.registry import make_setup
from tests.agents.trainers import test_opponents
from tests.agents.trainers.test_ppo import run_in, same, tiny, trainer_of
from tests.support.positions import stirred

PLIES = 6
HISTORY: dict[str, Any] = {"preset": "djeco", "players": 4, "history": PLIES}
FORCED_FIRST: dict[str, Any] = {"players": 3, "rules": {"ranks": 5, "suits": 4, "hand": 2}}
"""A quarter of the rounds begin with forced plies."""


class Replay(test_opponents.Replay):
    """The learner of a rollout over again, which gets the plies of its rounds."""

    needs_history = True

    def __init__(self, trainer: Trainer, rollout: Rollout) -> None:
        super().__init__(trainer, rollout)
        self._decisions = [len(rows) for rows in self.left]
        self.begun_by_force = 0
        """Rounds of which the first decision came after forced plies."""

    def act(self, decisions: DecisionBatch, rng: Any) -> NDArray[np.int64]:
        seen = observation_with_history(decisions.setup, decisions.observation, decisions.history, decisions.seat, PLIES)
        for table, plies in zip(decisions.index.tolist(), decisions.history.count.tolist(), strict=True):
            self.begun_by_force += len(self.left[table]) == self._decisions[table] and plies > 0
        return super().act(decisions.seen_as(seen, decisions.tables), rng)


@pytest.mark.parametrize(
    "other",
    [
        {}, {"arch": "residual"}, {"arch": "history_gru"}, {"recurrent": 4}, {"privileged": True, "belief": 1.0},
        {"start": "carried"}, FORCED_FIRST, {**FORCED_FIRST, "opponents": "lowest"}, {"opponents": "lowest"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_learned_from_are_the_plies_of_the_rounds(other: dict[str, Any]) -> None:
    """The rollout's rounds played over at other tables, with histories of their own."""
    trainer = trainer_of(tiny(**{**HISTORY, **other}, tables=40, seed=7))
    setup, n = trainer.setup, trainer.setup.players
    assert trainer.layout.fingerprint == layout_with_history(setup, PLIES).fingerprint
    trainer.iterate()
    rollout = trainer.collect(trainer.iteration, np.random.default_rng(1))
    batch = Batch(setup, 40, autoreset=False, log=True, deal=False)
    batch.set_tables(None, log_of(trainer.tables[0].batch).opening, trusted=True)
    replay = Replay(trainer, rollout)
    opponent = load_agent(other.get("opponents", "lowest"), setup)
    seating = trainer.seats(0, trainer.iteration).seats + 1 if "opponents" in other else np.zeros((40, n), np.int64)
    play_out(batch, [replay, opponent], seating, [np.random.default_rng(0)] * 2)
    assert not any(replay.left)
    assert len(rollout.action) > 20
    assert (replay.begun_by_force > 0) == ("rules" in other or "opponents" in other)


@pytest.mark.parametrize("other", [{}, {"arch": "history_gru", "bf16": True}, {"recurrent": 4}, {"shards": 2}], ids=str)
def test_stopped_and_resumed_it_is_the_same_run(tmp_path: Path, other: dict[str, Any]) -> None:
    config = tiny(**HISTORY, **other, iterations=4)
    whole = run_in(tmp_path / "whole", config)
    assert whole.history == PLIES
    run_in(tmp_path / "parts", config, stop_after=2)
    assert same(run_in(tmp_path / "parts", config, resume=True), whole)


def test_league_and_averages_play_with_it() -> None:
    """Past selves, which play all other seats at the league's tables, get the plies too."""
    trainer = trainer_of(tiny(**HISTORY, league=0.5, snapshot_every=1, magnet=0.1, ema=0.5, eval_every=1, eval_deals=20))
    for _ in range(3):
        metrics = trainer.iterate()
    assert metrics["rollout/league_wins"] > 0
    assert np.isfinite(trainer.evaluate()["eval/edge"])


# ---------------------------------------------------------------- the player


@pytest.fixture(scope="module", params=["mlp", "history_gru"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two iterations."""
    folder = tmp_path_factory.mktemp("runs") / "history"
    run_in(folder, tiny(**HISTORY, arch=request.param, iterations=2, learning_rate=0.05, seed=3))
    return folder


def test_the_player_is_the_trainers_network(run: Path) -> None:
    checkpoint = load_checkpoint(run)
    setup = make_setup("nain_jaune", "djeco", 4)
    trainer = trainer_of(tiny(**HISTORY, arch=checkpoint.arch, iterations=2, learning_rate=0.05, seed=3))
    trainer.restore(checkpoint)
    agents = [load_agent(str(run), setup), trainer.agent()]
    assert all(map(needs_history, agents))
    values = [Duplicate(setup, [agent, heuristics("nain_jaune")["closer"]], seed=5).blocks(0, 1, 0, 10) for agent in agents]
    assert np.array_equal(*values)
    with pytest.raises(AgentError, match="without the plies before them"):
        agents[0].act(DecisionBatch(Batch(setup, 2), np.arange(2)), np.random.default_rng(1))


def test_it_matters_what_was_played() -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    net = stirred(trainer_of(tiny(**HISTORY)).net)
    rng = np.random.default_rng(1)
    observation = rng.integers(0, 2, (20, layout_with_history(setup, PLIES).size)).astype(np.uint8)
    blank = observation.copy()
    blank[:, setup.layout.size :] = 0
    assert not np.array_equal(net.evaluate(observation)[0], net.evaluate(blank)[0])


def test_it_plays_at_tables_with_people_in_studies_and_in_environments(run: Path) -> None:
    setup, name = make_setup("nain_jaune", "djeco", 4), str(run)
    agent = load_agent(name, setup)
    rng = np.random.default_rng(0)
    table = MatchTable(setup, [agent] * 4, seed=1, rng=lambda *_: rng, by_rounds=True)
    while not table.round_over:
        table.make_ply(table.agents_action())
    assert sum(len(plies) for plies in table.plies) > 20
    plan = StudySettings(setup, [agent, heuristics("nain_jaune")["closer"]], seed=1)
    (chunk,) = play_episodes(plan, 6)
    assert chunk.count == 6
    env, over = SeatEnv(opponents=agent), False
    _, info = env.reset(seed=1)
    while not over:
        _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))


def test_it_plays_matches_where_rounds_begin_with_forced_plies(tmp_path: Path) -> None:
    config = tiny(**{**HISTORY, **FORCED_FIRST, "rules": {"ranks": 5, "suits": 4, "hand": 3, "max_rounds": 4}}, iterations=1)
    run_in(tmp_path, config)
    setup = config.setup()
    agents = [load_agent(str(tmp_path), setup), heuristics("nain_jaune")["closer"]]
    assert MatchDuplicate(setup, agents, seed=1).edge(0, 1, 40).matches.count == 40


def test_what_plays_no_networks_with_history_says_so(run: Path) -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    name = str(run)
    agent = load_agent(name, setup)
    assert isinstance(agent, NetAgent)
    with pytest.raises(AgentError, match=r"Rollouts cannot be played by '.*', which reads the plies of the round"):
        load_agent(f"{name}@search=5", setup)
    with pytest.raises(AgentError, match=r"Rollouts cannot be played by"):
        load_agent(f"{name}@search=5,inference=policy", setup)
    with pytest.raises(AgentError, match=r"reads the plies of the round, and @heed= is for agents that do not\."):
        Duplicate(setup, [load_agent(f"{name}@heed=0.5", setup), agent], seed=1).blocks(0, 1, 0, 1)
    with pytest.raises(AgentError, match=r"Control variates are for agents without history"):
        controlled_edge(setup, agent, agent, deals=2, seed=1)
    with pytest.raises(AgentError, match="does not play at tables on a GPU"):
        check_players([agent], setup)
    with pytest.raises(ValueError, match="observes 6 plies of the round has no logits without them"):
        agent.scorer()
    tree = build_tree(make_setup("nain_jaune", "djeco", 2, ranks=2, suits=2, hand=1))
    with pytest.raises(AgentError, match="reads the plies of the round, and a tree of the game keeps none"):
        tabular(tree, agent, np.random.default_rng(1))


def test_a_best_response_to_it_begins_with_its_history(run: Path) -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    settings = {"tables": 16, "minibatch": 64}
    fresh, from_network = response_configs(setup, str(run), seed=1, iterations=1, settings=settings).values()
    assert (fresh.history, from_network.history) == (0, PLIES)
    for config in (fresh, from_network):
        trainer_of(config).iterate()


# ---------------------------------------------------------------- beginning from another network


@pytest.mark.parametrize(("before", "after"), [("mlp", "mlp"), ("mlp", "history_gru"), ("residual", "residual")])
def test_a_run_with_history_begins_as_strong_as_one_without(tmp_path: Path, before: str, after: str) -> None:
    other = {"preset": "djeco", "players": 4, "hidden": [16, 16]}
    run_in(tmp_path, tiny(**other, arch=before, iterations=2, learning_rate=0.05))
    trainer = trainer_of(tiny(**other, arch=after, history=PLIES))
    load_initial_weights(trainer.net, str(tmp_path), trainer.setup)
    agents = [load_agent(str(tmp_path), trainer.setup), trainer.agent()]
    rivals = heuristics("nain_jaune")["closer"]
    values = [Duplicate(trainer.setup, [agent, rivals], seed=5).blocks(0, 1, 0, 10) for agent in agents]
    assert np.array_equal(*values)
    assert float(trainer.net.payoff_scale) > 1
    trainer.iterate()


def test_a_network_that_observes_other_plies_is_no_beginning(run: Path) -> None:
    arch = load_checkpoint(run).arch
    for other, says in (
        ({"history": 0}, rf"has arch={arch} hidden=\[16\] recurrent=0 history=6, and this run has arch=mlp .*recurrent=0\."),
        ({"history": 5}, r"history=6, and this run has .* history=5\."),
        ({"history": 7, "arch": "residual"}, "history=7: a network of arch 'residual' cannot take over"),
    ):
        trainer = trainer_of(tiny(preset="djeco", players=4, **other))
        with pytest.raises(CheckpointError, match=says):
            load_initial_weights(trainer.net, str(run), trainer.setup)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"mixture": [{"preset": "djeco"}]}, "observed at tables of one setup, on the CPU"),
        ({"history": -1}, "'history' is at least 0"),
        ({"history": 257}, "'history' is at most 256"),
        ({"history": 0, "arch": "history_gru"}, "of arch 'history_gru' reads the plies of the round: set 'history'"),
    ],
)
def test_configurations_that_are_refused(other: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        tiny(**{**HISTORY, **other})


def test_a_game_without_public_plies_and_a_trainer_without_the_key_refuse_it() -> None:
    with pytest.raises(AgentError, match="has no history of play for agents"):
        tiny(game="batasaurus", players=2, history=3)
    with pytest.raises(ConfigError, match="'history_gru' reads the plies of the round: set 'history', which PPO has"):
        build(deep_monte_carlo.Config, {"arch": "history_gru"})
    with pytest.raises(ConfigError, match="Unknown configuration key 'history'"):
        build(deep_monte_carlo.Config, {"history": 3})


def test_a_checkpoint_of_another_history_is_refused(run: Path) -> None:
    checkpoint = load_checkpoint(run)
    setup = make_setup("nain_jaune", "djeco", 4)
    with pytest.raises(CheckpointError, match="trained on another observation layout"):
        check_fits(dataclasses.replace(checkpoint, history=PLIES + 1), setup, "it")
    assert torch.equal(checkpoint.tensors["model.payoff_scale"], load_checkpoint(run).tensors["model.payoff_scale"])
