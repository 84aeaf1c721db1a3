"""PPO against frozen opponents: who learns, from what, and that nobody else changes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import FILE_NAME
from nainjaune_agents.players.networks.torch_nets import as_torch
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.checkpointing import load_initial_weights
from nainjaune_agents.train.config import build
from nainjaune_agents.train.opponents import LEARNER, PAST_SELVES, share_ends, shares_of
from nainjaune_agents.train.ppo import Config, Trainer
from nainjaune_agents.train.rollout import Rollout
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from tests.agents.train.test_ppo import tiny, trainer_of
from tests.support.training import run_in, same

SETUPS: list[dict[str, Any]] = [
    {"preset": "djeco", "players": 4, "opponents": "lowest"},
    {"preset": "classic", "players": 3, "opponents": "tally", "privileged": True},
    {"game": "batasaurus", "players": 2, "opponents": "cheapest", "arch": {"hidden": [16], "recurrent": 8}},
]


class Replay:
    """The learner of a rollout over again, table by table; checks what it is shown."""

    name = "replay"

    def __init__(self, trainer: Trainer, rollout: Rollout) -> None:
        self.rollout = rollout
        self.n = trainer.setup.players
        self.left = [list(np.flatnonzero(rollout.trajectory_id // self.n == table)) for table in range(trainer.config.tables)]

    def act(self, decisions: DecisionBatch, rng: Any) -> NDArray[np.int64]:
        rows = [self.left[table].pop(0) for table in decisions.index]
        assert np.array_equal(self.rollout.observation[rows], decisions.observation)
        assert np.array_equal(self.rollout.legal[rows], decisions.legal)
        assert np.array_equal(self.rollout.trajectory_id[rows] % self.n, decisions.seat)
        return self.rollout.action[rows]


@pytest.mark.parametrize("options", SETUPS, ids=str)
def test_the_learner_learns_from_its_own_decisions_in_one_seat(options: dict[str, Any]) -> None:
    """The rollout's rounds played over: its actions in the learner's seat, the opponent in all others."""
    trainer = trainer_of(tiny(**options, tables=30, seed=7))
    n = trainer.setup.players
    for iteration in range(n + 1):
        rollout = trainer.collect(iteration, np.random.default_rng(1))
        seats = (np.arange(30) + iteration) % n
        assert np.array_equal(rollout.trajectory_id % n, seats[rollout.trajectory_id // n])
        batch = Batch(trainer.setup, 30, autoreset=False)
        batch.reset(seeds=streams(7, 30, stream=iteration + 1))
        seating = np.ones((30, n), np.int64)
        seating[np.arange(30), seats] = 0
        replay = Replay(trainer, rollout)
        opponent = load_agent(options["opponents"], trainer.setup)
        payoff = play_out(batch, [replay, opponent], seating, [np.random.default_rng(0)] * 2)
        assert not any(replay.left)
        own = trainer.config.task.payoff(payoff.astype(np.float32))
        np.testing.assert_allclose(rollout.final.reshape(30, n), own, rtol=1e-5)


def test_shares_of_tables_in_which_the_learner_takes_turns() -> None:
    shares = {"lowest": 0.25, "self": 0.5, "past": 0.25}
    trainer = trainer_of(tiny(players=4, tables=40, opponents=shares))
    assert trainer.past_selves is not None
    for iteration in range(5):
        assignment = trainer.tables[0].seat_opponents(iteration)
        assert assignment is not None
        assert [agent.name for agent in assignment.agents] == ["lowest", *(f"past_{k}" for k in range(PAST_SELVES))]
        seats = assignment.seats
        assert (seats[10:30] == LEARNER).all()
        learns = np.argwhere(np.concatenate([seats[:10], seats[30:]]) == LEARNER)
        table = np.r_[:10, 30:40]
        assert learns[:, 1].tolist() == ((table + iteration) % 4).tolist()
        others = seats.max(axis=1)
        assert (others[:10] == 0).all()
        assert (others[30:] - 1).tolist() == ((table[10:] + iteration) % PAST_SELVES).tolist()  # they take turns
        assert all(set(row) == {LEARNER, other} for row, other in zip(seats[table], others[table], strict=True))
    rollout = trainer.collect(0, np.random.default_rng(1))
    where, counts = np.unique(rollout.trajectory_id // 4, return_counts=True)
    alone = np.isin(where, np.r_[:10, 30:40])
    assert counts[alone].mean() < counts[~alone].mean() / 2


EIGHT = [{"preset": "djeco", "players": [2, 3, 4]}, {"preset": "classic", "players": [3, 4, 5, 6, 7]}]


def test_tables_of_one_setup_are_divided_as_ever_and_whole_numbers_are_never_rounded() -> None:
    shares = {"self": 0.3, "closer": 0.45, "lowest": 0.25}
    assert [share_ends(shares, 10, turn, 1).tolist() for turn in (0, 7)] == [[3, 8, 10]] * 2
    assert all(share_ends(shares, 20, turn, 8).tolist() == [6, 15, 20] for turn in range(20))


@pytest.mark.parametrize(
    ("algorithm", "values", "says"),
    [
        ("ppo", {"tables": 4, "opponents": {"self": 0.9, "closer": 0.1}}, "'closer' among the 'opponents', 0.1, is none of 4"),
        ("ppo", {"mixture": EIGHT, "tables": 16, "opponents": {"self": 0.99, "lowest": 0.01}}, "'lowest' .* none of 16 tables"),
        ("deep_monte_carlo", {"tables": 4, "opponents": {"self": 0.9, "closer": 0.1}}, "'closer' .* none of 4 tables"),
        (
            "expert",
            {"rounds": 24, "start": "carried", "opponents": {"self": 0.8, "closer": 0.2}},
            "'closer' .* none of 2 tables: set more 'rounds'",
        ),
    ],
    ids=str,
)
def test_an_opponent_without_a_table_is_refused(algorithm: str, values: dict[str, Any], says: str, tmp_path: Path) -> None:
    module = get_trainer(algorithm)
    config = build(module.Config, {"preset": "djeco", "players": 3, "arch": {"hidden": [8]}, "eval_every": 0, **values})
    with pytest.raises(ConfigError, match=says):
        module.Trainer(config, tmp_path if algorithm == "expert" else config.setup())


@pytest.mark.parametrize("algorithm", ["ppo", "deep_monte_carlo"])
def test_an_iteration_in_which_the_learner_has_no_decision_is_counted_and_changes_nothing(algorithm: str, tmp_path: Path) -> None:
    """At two tables of eight seats there is soon one; a run goes on after it, and one that was stopped there, too."""
    values = {"preset": "skip", "players": 8, "tables": 2, "opponents": "random", "arch": {"hidden": [8]}}
    module = get_trainer(algorithm)
    config = build(module.Config, {"algorithm": algorithm, "eval_every": 0, "seed": 1, "iterations": 16, **values})
    trainer = module.Trainer(config, config.setup())
    before, empty = digest(trainer.net), []
    for iteration in range(16):
        metrics = trainer.iterate()
        assert set(metrics) <= set(module.METRICS)
        assert np.isfinite([*metrics.values()]).all()
        assert (digest(trainer.net) == before) == (metrics["rollout/decisions_per_round"] == 0)
        if metrics["rollout/decisions_per_round"] == 0:
            empty.append(iteration)
        before = digest(trainer.net)
    assert 0 < min(empty) < 15
    assert trainer.iteration == 16
    run_in(tmp_path, config, stop_at=empty[0])
    assert same(run_in(tmp_path, config, resume=True), trainer.checkpoint())


def test_without_opponents_the_learner_has_all_seats() -> None:
    for opponents in (None, "self", {"self": 1.0}):
        trainer = trainer_of(tiny(opponents=opponents))
        assert trainer.tables[0].seat_opponents(0) is None
        assert {*trainer.collect(0, np.random.default_rng(1)).trajectory_id % 4} == {0, 1, 2, 3}
    assert shares_of("closer") == {"closer": 1.0}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two iterations, of a network that remembers."""
    folder = tmp_path_factory.mktemp("runs") / "target"
    run_in(folder, tiny(game="batasaurus", players=2, arch={"hidden": [16], "recurrent": 8}, iterations=2, seed=3))
    return folder


def against(target: Path, **other: Any) -> Config:
    own = {"init": str(target), "opponents": f"{target}@sample", "seed": 4}
    return tiny(**{"game": "batasaurus", "players": 2, "arch": {"hidden": [16], "recurrent": 8}, **own, **other})


def digest(net: object) -> str:
    return hashlib.sha256(b"".join(tensor.numpy().tobytes() for tensor in as_torch(net).state_dict().values())).hexdigest()


def test_the_opponents_weights_stay_as_they_are(target: Path) -> None:
    file = (target / FILE_NAME).read_bytes()
    trainer = trainer_of(against(target))
    load_initial_weights(trainer.net, str(target), trainer.setup)
    assignment = trainer.tables[0].seat_opponents(0)
    assert assignment is not None
    frozen = assignment.agents[0].net  # type: ignore[attr-defined]
    before = digest(frozen)
    assert digest(trainer.net) == before
    for _ in range(3):
        trainer.iterate()
    assert digest(frozen) == before != digest(trainer.net)
    assert (target / FILE_NAME).read_bytes() == file
