"""What every trainer promises: a resumed run is the same run, keys are checked, metrics documented, checkpoints are agents."""

from __future__ import annotations

import dataclasses
import math
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import force_setattr

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.torch_nets import as_torch
from nainjaune_agents.train import get_trainer, trainer_names
from nainjaune_agents.train.base import BaseConfig, BaseTrainer
from nainjaune_agents.train.config import build
from nainjaune_agents.train.opponents import PAST_SELVES, SNAPSHOT_EVERY
from nainjaune_agents.train.optimizers import Adam
from nainjaune_env.core.errors import AgentError, CheckpointError, ConfigError, DeviceError, DivergenceError
from nainjaune_env.engine.batch import Batch
from tests.support.edges import edge_of
from tests.support.training import capture_metrics, iteration_at, run_in, same, start_training, wait_for

PLAIN = {"tables": 16, "arch": {"hidden": [8]}, "eval_every": 0, "minibatch": 64, "iterations": 4}
TINY: dict[str, dict[str, Any]] = {
    "ppo": PLAIN,
    "vine": PLAIN,
    "deep_monte_carlo": PLAIN,
    "maskable_ppo": {**PLAIN, "steps": 16, "epochs": 1},
    "expert": {
        "rule": "lowest", "shards": 2, "shard": 20, "rounds": 8, "deals": 2, "arch": {"hidden": [8]}, "epochs": 1,
        "generations": 3, "eval_deals": 0, "rollouts": "rule", "prior": 0.0,
    },
}  # fmt: skip
LEARNING = {"arch": {"hidden": [32]}, "players": 3, "eval_every": 0, "tables": 400, "iterations": 15, "minibatch": 1024}
LEARNERS: dict[str, dict[str, Any]] = {
    "ppo": {"optimizer": {"learning_rate": 3e-3}, "entropy": 0.02, "critic_hidden": [16]},
    "vine": {"optimizer": {"learning_rate": 3e-3}},
    "deep_monte_carlo": {"minibatch": 512, "optimizer": {"learning_rate": 5e-3}},
}
"""Of the others, Stable-Baselines3 has the loss of one, and the targets of the other are tested by themselves."""
LENGTH = {"expert": "generations"}
each = pytest.mark.parametrize("algorithm", trainer_names())

BATASAURUS = {"game": "batasaurus", "preset": None}
POTS = {"pots": [0, 20]}
MUON = {"name": "muon", "matrix_ratio": 3.0}
TWO = [{"preset": "djeco", "players": 3}, {"preset": "skip", "players": 6, "rules": {"stake": 2}}]
RESUMED: list[tuple[str, dict[str, Any]]] = [
    ("ppo", {"bf16": True, "start": "carried"}),
    ("ppo", {**BATASAURUS, "arch": {"hidden": [8], "recurrent": 8}, "recall": 1.0, "bf16": True}),
    ("ppo", {"optimizer": MUON, "privileged": True, "arch": {"hidden": [8], "recurrent": 4}}),
    ("ppo", {"overlap": True, "optimizer": MUON, "bf16": True, "opponents": {"self": 0.5, "lowest": 0.5}}),
    ("ppo", {"overlap": True, "privileged": True, "ema": 0.5, "start": POTS}),
    ("ppo", {"opponents": {"self": 0.5, "past": 0.25, "tally": 0.25}, "ema": 0.5}),
    ("ppo", {"mixture": TWO, "arch": {"hidden": [8], "recurrent": 4}, "recall": 0.5, "privileged": True}),
    ("vine", {"mixture": TWO, "optimizer": MUON, "bf16": True, "ema": 0.5, "start": POTS}),
    ("deep_monte_carlo", {"opponents": {"self": 0.5, "past": 0.25, "lowest": 0.25}, "start": "carried"}),
    ("maskable_ppo", {**BATASAURUS, "opponents": {"cheapest": 0.7, "past": 0.3}, "steps": 48}),
    ("maskable_ppo", {"opponents": "self", "steps": 48, "start": POTS}),
    ("expert", {"opponents": {"self": 0.5, "tally": 0.5}, "start": "carried"}),
    ("expert", {**BATASAURUS, "rule": "random", "rounds": 30, "shard": 10, "start": "fresh"}),
]


def tiny(algorithm: str, **other: Any) -> Any:
    values = {"algorithm": algorithm, "preset": "djeco", "players": 3, **TINY[algorithm], **other}
    return build(get_trainer(algorithm).Config, values)


def trainer_of(config: BaseConfig, folder: Path) -> BaseTrainer[Any]:
    module = get_trainer(config.algorithm)
    trainer: BaseTrainer[Any] = module.Trainer(config, folder if config.algorithm == "expert" else config.setup())
    return trainer


def labels_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.rglob("*.npz"))}


# ---------------------------------------------------------------- the same run, resumed


@pytest.mark.parametrize(("algorithm", "other"), [*((name, {}) for name in trainer_names()), *RESUMED], ids=str)
def test_stopped_and_resumed_it_is_the_same_run(tmp_path: Path, algorithm: str, other: dict[str, Any]) -> None:
    """Stopped before its first iteration, in the middle and, by the defaults, after its last.

    torch's and NumPy's own generators have no part.
    """
    config = tiny(algorithm, **other)
    whole = run_in(tmp_path / "whole", config)
    parts, middle = tmp_path / "parts", config.iterations // 2
    assert run_in(parts, config, stop_at=0).iteration == 0
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002 - what Stable-Baselines3 draws from
    stopped = run_in(parts, config, resume=True, stop_at=middle)
    assert 0 < stopped.iteration < whole.iteration
    assert not np.array_equal(stopped.tensors["model.policy.weight"], whole.tensors["model.policy.weight"])
    for _ in range(1 if other else 2):
        assert same(run_in(parts, config, resume=True), whole)
    assert labels_of(parts) == labels_of(tmp_path / "whole")


@each
def test_another_seed_is_another_run_and_evaluations_change_nothing(tmp_path: Path, algorithm: str) -> None:
    short = {LENGTH.get(algorithm, "iterations"): 1}
    plain = run_in(tmp_path / "plain", tiny(algorithm, **short))
    measured = run_in(tmp_path / "measured", tiny(algorithm, **short, eval_every=1, eval_deals=5))
    assert same(dataclasses.replace(measured, config=plain.config), plain)
    other = run_in(tmp_path / "other", tiny(algorithm, **short, seed=1))
    assert not np.array_equal(other.tensors["model.policy.weight"], plain.tensors["model.policy.weight"])


def test_killed_and_resumed_it_is_the_same_run(tmp_path: Path) -> None:
    config, killed = tiny("ppo", checkpoint_minutes=0.0, iterations=40), tmp_path / "killed"
    process = start_training(killed, config)
    wait_for(lambda: iteration_at(killed) >= 3, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert iteration_at(killed) < 40
    assert main(["train", "--out", str(killed), "--resume"]) == 0
    assert same(load_checkpoint(killed), run_in(tmp_path / "whole", config))
    assert not list(killed.rglob("*.tmp"))


def test_ctrl_c_leaves_nothing_broken(tmp_path: Path) -> None:
    config, folder = tiny("ppo", iterations=5000), tmp_path / "run"
    process = start_training(folder, config)
    wait_for(lambda: iteration_at(folder) >= 0, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert not list(tmp_path.rglob("*.tmp"))
    before = iteration_at(folder)
    assert 0 < before < 5000
    assert run_in(folder, config, resume=True, stop_at=before).iteration == before


@each
def test_a_checkpoint_of_another_configuration_is_refused(tmp_path: Path, algorithm: str) -> None:
    checkpoint = trainer_of(tiny(algorithm), tmp_path).checkpoint()
    other = tiny(algorithm, arch={"hidden": [17]})
    with pytest.raises(CheckpointError, match=r"another configuration: arch differ\."):
        trainer_of(other, tmp_path).restore(checkpoint)
    with pytest.raises(CheckpointError, match="does not fit its configuration"):
        trainer_of(other, tmp_path).restore(dataclasses.replace(checkpoint, config=other.to_dict()))
    with pytest.raises(CheckpointError, match=r"another observation layout \('abc'"):
        trainer_of(tiny(algorithm), tmp_path).restore(dataclasses.replace(checkpoint, layout="abc"))


@each
def test_training_that_diverges_says_so_and_leaves_a_sound_checkpoint(tmp_path: Path, algorithm: str) -> None:
    config = tiny(algorithm, checkpoint_minutes=0.0)
    rates = Adam()
    for key in ("learning_rate", "last_learning_rate"):
        force_setattr(rates, key, 1e30)  # beyond their bounds, under which few runs diverge
    force_setattr(config, "optimizer", rates)
    with pytest.raises(
        DivergenceError, match=r"^Training diverged in iteration \d: .* NaN or infinite\. The last checkpoint is kept"
    ):
        run_in(tmp_path, config)
    assert all(np.isfinite(tensor).all() for tensor in load_checkpoint(tmp_path).tensors.values())


# ---------------------------------------------------------------- it learns


@pytest.mark.parametrize("algorithm", LEARNERS)
def test_it_learns(tmp_path: Path, algorithm: str) -> None:
    """A few seconds make it beat random play by a wide margin, and what it was before it learned."""
    config = build(get_trainer(algorithm).Config, {**LEARNING, **LEARNERS[algorithm]})
    setup = config.setup()
    begin = NetAgent("begin", trainer_of(config, tmp_path).net)
    run_in(tmp_path, config)
    learned = load_agent(str(tmp_path), setup)
    for rival, margin in ((load_agent("random", setup), 5), (begin, 2)):
        edge = edge_of(setup, [learned, rival], 400, seed=1)
        assert edge.mean - edge.ci95 > margin, f"{edge.mean:+.2f} ± {edge.ci95:.2f}"


# ---------------------------------------------------------------- what it tells, and what plays


@each
def test_the_logged_metrics_are_the_documented_ones(tmp_path: Path, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    logged = capture_metrics(monkeypatch)
    evaluated = 1 if algorithm == "expert" else 3
    run_in(tmp_path, tiny(algorithm, eval_every=evaluated, eval_deals=30))
    assert set(logged) == set(get_trainer(algorithm).METRICS)
    last = 3 if algorithm == "expert" else 4
    for name, values in logged.items():
        expected = [3, 4] if name.startswith("eval/") and evaluated == 3 else [*range(1, last + 1)]
        assert [step for step, _ in values] == expected
        assert all(type(value) is float and math.isfinite(value) for _, value in values), name
    for name in ("run/seconds", "rollout/decisions"):
        values = [value for _, value in logged[name]]
        assert values == sorted(values)
        assert values[0] > 0


@each
@pytest.mark.parametrize("game", [{}, {**BATASAURUS, "opponents": None}], ids=["nain_jaune", "batasaurus"])
def test_a_checkpoint_is_an_ordinary_agent(tmp_path: Path, algorithm: str, game: dict[str, Any]) -> None:
    other = {"maskable_ppo": {"opponents": "random", "steps": 48}, "expert": {"rule": "random", "rounds": 30}}
    memory = {"arch": {"hidden": [8], "recurrent": 8}} if algorithm == "ppo" else {}
    own = {**game, **memory, **other.get(algorithm, {})} if game else {}
    config = tiny(algorithm, **own, **{LENGTH.get(algorithm, "iterations"): 1})
    run_in(tmp_path, config)
    setup = config.setup()
    for name in (str(tmp_path), f"{algorithm}:{tmp_path}", f"{tmp_path}@sample"):
        batch = Batch(setup, 6, seed=3, autoreset=False)
        play_out(batch, [load_agent(name, setup)], np.zeros((6, 3), int), [np.random.default_rng(0)])  # illegal ones would raise
        assert batch.done.all()
    trainer = trainer_of(config, tmp_path)
    trainer.restore(load_checkpoint(tmp_path))
    loaded, observation = load_agent(str(tmp_path), setup), Batch(setup, 6, seed=4).observation
    assert isinstance(loaded, NetAgent)
    told = []
    for net in (as_torch(loaded.net), trainer.player_net):
        state = np.ones((6, net.recurrent), np.float32)
        told.append([*net.evaluate(observation, state), state])
    assert all(np.array_equal(one, two) for one, two in zip(*told, strict=True))
    another = next(name for name in trainer_names() if name != algorithm)
    with pytest.raises(CheckpointError, match=f"was trained by '{algorithm}', not by '{another}'"):
        load_agent(f"{another}:{tmp_path}", setup)


# ---------------------------------------------------------------- keys

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("ppo", {"opponents": {"lowest": 0.5}}, "sum to 1"),
    ("ppo", {"opponents": {"self": 1.5, "lowest": -0.5}}, "shares above 0"),
    ("ppo", {"opponents": "lowset"}, "Did you mean 'lowest'"),
    ("ppo", {"opponents": ["lowest"]}, r"'opponents' to be .*, not \['lowest'\]"),
    ("deep_monte_carlo", {"temperature": 0.01}, r"down to 'last_temperature', and they are 0\.01 and 0\.02"),
    ("deep_monte_carlo", {"last_temperature": 0.0}, r"'last_temperature' to be a finite number, at least 1e-06, not 0\.0"),
    ("expert", {"deals": 1}, "'deals' to be a whole number, at least 2, not 1"),
    ("expert", {"temperature": 0.0}, r"above 0, not 0\.0"),
    ("expert", {"gate": 1}, "takes at least 2 deals"),
    ("expert", {"rollouts": "nett"}, "Did you mean 'net'"),
    ("expert", {"rule": "talyl"}, "Did you mean 'tally'"),
    ("expert", {"rule": "tally@search=5"}, "is a search"),
    ("expert", {**BATASAURUS, "rule": "highest"}, "which remembers"),
    ("expert", {"workers": 2, "cluster": "auto"}, "and 'cluster' is another place to label: set one of them"),
    ("expert", {"opponents": {"self": 0.5, "past": 0.5}}, "earlier generations by 'window'"),
    ("maskable_ppo", {"minibatch": 1}, "'minibatch' to be a whole number, at least 2, not 1"),
    ("maskable_ppo", {"minibatch": 100}, "and 100 does not divide 256"),
    ("maskable_ppo", {"objective": "centred"}, "so 'objective' is 'own', not 'centred'"),
    ("maskable_ppo", {"start": "carried"}, "or bounds of pots, not 'carried'"),
    ("maskable_ppo", {"opponents": {"self": 0.5, "lowest": 0.5}}, "'self' stands alone"),
    ("ppo", {"mixture": TWO, "opponents": {"self": 0.5, "past": 0.5}}, "tables of one setup"),
    ("ppo", {"overlap": True, "opponents": {"self": 0.5, "past": 0.5}}, "no rounds are played ahead"),
    ("ppo", {"overlap": True, "start": "carried"}, "^With start='carried' no rounds are played ahead: set 'overlap' to false"),
    ("ppo", {"recall": 0.5}, r"'recall' trains the memory of a network, and this one has none: set arch\.recurrent too\."),
    ("ppo", {"minibatch": 1}, "'minibatch' to be a whole number, at least 2, not 1"),  # an advantage of one is 0
    ("vine", {"opponents": {"self": 0.5, "lowest": 0.5}}, "plays all seats, in rollouts too: 'opponents' is none here"),
    ("vine", {"start": "carried"}, "so 'start' is not 'carried'"),
    ("vine", {"bf16": "yes"}, "'bf16' to be true or false or 'auto', not 'yes'"),
    ("vine", {"arch": {"recurrent": 8}}, r"'vine' trains no network with memory: arch\.recurrent is 0, not 8\."),
]


@pytest.mark.parametrize(("algorithm", "wrong", "why"), WRONG, ids=str)
def test_wrong_values_are_errors_before_anything_runs(algorithm: str, wrong: dict[str, Any], why: str) -> None:
    with pytest.raises((ConfigError, AgentError, DeviceError), match=why):
        tiny(algorithm, **wrong)


# ---------------------------------------------------------------- past selves


@pytest.mark.parametrize("algorithm", ["ppo", "deep_monte_carlo", "maskable_ppo"])
def test_past_selves_are_the_newest_snapshots(tmp_path: Path, algorithm: str) -> None:
    config = tiny(algorithm, opponents={"lowest": 0.5, "past": 0.5}, iterations=1000)
    trainer: Any = trainer_of(config, tmp_path)
    seen: list[torch.Tensor] = []
    for number in range(PAST_SELVES + 2):
        trainer.iteration = number * SNAPSHOT_EVERY
        seen.append(trainer.net.policy.weight.detach().clone())
        for _ in range(2 if number == 1 else 1):  # one is taken in the first of them
            trainer.iterate()
        kept = [net.policy.weight for net in trainer.past_selves.nets]
        for slot, weight in enumerate(kept):
            newest = number if number < slot else number - (number - slot) % PAST_SELVES
            assert torch.equal(weight, seen[newest])
    assert {name.split(".")[0] for name in trainer.checkpoint().tensors} >= {"model", "optimizer", "past"}
    assert not any(weight.requires_grad for net in trainer.past_selves.nets for weight in net.parameters())
