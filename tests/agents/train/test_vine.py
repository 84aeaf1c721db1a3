"""Vines: what each action pays by its definition, what is learned from it, and a reference that the policy stays near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.base.seeds import Stream, generator
from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.search.rollouts import rollouts_by
from nainjaune_agents.train import vine
from nainjaune_agents.train.config import build
from nainjaune_agents.train.gpu_rollout import unpacked
from nainjaune_agents.train.vine import Choices, Config, Trainer
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from tests.support.training import run_in, same

TINY = {"players": 3, "tables": 40, "arch": {"hidden": [16]}, "eval_every": 0, "minibatch": 256, "iterations": 4}
MIXTURE = [{"preset": "djeco", "players": [2, 3]}, {"preset": "classic", "players": 4}]


def trainer_of(**other: Any) -> Trainer:
    config = build(Config, {**TINY, **other})
    return Trainer(config, config.setup())


def choices_of(trainer: Trainer, agent: Any = None, iteration: int = 0) -> Choices:
    (tables,) = trainer.tables
    agent = agent or NetAgent("net", trainer.net)
    played = tables.play(agent, iteration)
    assert played is not None
    return played.evaluated(rollouts_by(agent, trainer.setup, trainer.config.objective))


# ---------------------------------------------------------------- rounds and rollouts


class Exact:
    """Plays by logits that are the same whatever they are computed with: whole numbers, divided."""

    name, stochastic = "exact", False

    def __init__(self, setup: Setup) -> None:
        self._weights = np.random.default_rng(5).integers(-9, 10, (setup.layout.size, len(setup.game.actions)))

    def scorer(self) -> Exact:
        return self

    def logits(self, observation: Any) -> Any:
        return (observation.astype(np.int64) @ self._weights / 64).astype(np.float32)

    def act(self, decisions: Any, rng: Any) -> Any:
        return np.where(decisions.mask, self.logits(decisions.observation), -np.inf).argmax(axis=1)


def recorded(trainer: Trainer, agent: Any, iteration: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Choices, list[Any]]:
    """Returns the choices of rounds by ``agent``, and the actions of their steps."""
    taken: list[Any] = []
    step = Batch.step

    def noted(batch: Batch, actions: Any) -> None:
        taken.append(actions.copy())
        step(batch, actions)

    with monkeypatch.context() as patch:
        patch.setattr(Batch, "step", noted)
        choices = choices_of(trainer, agent, iteration)
    return choices, taken


@pytest.mark.parametrize(("objective", "drawn"), [("own", 0.0), ("centred", 0.5)])
def test_rounds_are_tried_and_paid_as_defined(objective: str, drawn: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same deals and actions again, and at each choice each likely action, with the same cards."""
    monkeypatch.setattr(vine, "DRAWN", drawn)
    monkeypatch.setattr(vine, "MIN_INCLUSION", 1.0)
    trainer = trainer_of(objective=objective, tables=12)
    setup, count = trainer.setup, 12
    agent, rng = Exact(setup), np.random.default_rng(0)
    choices, taken = recorded(trainer, agent, 3, monkeypatch)

    def counted(payoff: Any, seat: Any) -> float:
        return float(payoff[seat] - (payoff.mean() if objective == "centred" else 0.0))

    batch = Batch(setup, count, autoreset=False)
    batch.reset(seeds=generator(trainer.config.seed, Stream.TRAINING, 3, 1).integers(0, 2**64, count, np.uint64))
    payoff, places, row = batch.reward.astype(np.int64), [], 0
    for actions in taken:
        index = np.flatnonzero(~batch.done)
        masks = DecisionBatch(batch, index).mask
        for table, mask in zip(index, masks, strict=True):
            if mask.sum() < 2:
                continue
            seat, expected = batch.seat[table], np.zeros(len(mask))
            logits = np.where(mask, agent.logits(batch.observation[[table]])[0], -np.inf)
            tried = np.flatnonzero(logits > logits.max() - np.log(1000))
            for action in tried:
                copied = Batch(setup, 1, autoreset=False)
                copied.set_tables(None, batch.tables[[table]])
                copied.step(np.array([action]))
                expected[action] = counted(play_out(copied, [agent], np.zeros((1, 3), int), [rng])[0], seat)
            expected[tried] -= expected[tried].mean()
            assert np.array_equal(choices.observation[row], batch.observation[table])
            assert choices.tried[row] == len(tried)
            assert choices.advantage[row].tolist() == pytest.approx(expected.tolist(), abs=1e-4)
            places.append((table, seat, counted(payoff[table], seat)))
            row += 1
        batch.step(actions)
        payoff += batch.reward
    assert batch.done.all()
    assert row == len(choices.legal) > 40
    assert (choices.tried > 1).sum() > 20
    netted = [counted(payoff[table], seat) - before for table, seat, before in places]
    assert choices.netted.tolist() == pytest.approx(netted, abs=1e-4)


def test_the_policy_learns_which_of_two_actions_pays_more() -> None:
    trainer = trainer_of(reference_weight=0.0, value_weight=0.0, minibatch=10_000)
    choices = choices_of(trainer)

    def mean_advantage() -> float:
        logits = trainer.net(torch.from_numpy(choices.observation))[0]
        legal = unpacked(torch.from_numpy(choices.legal), logits.shape[1])
        policy = masked_log_softmax(logits, legal).exp().detach()
        return float(np.average((policy.numpy() * choices.advantage).sum(1), weights=choices.weight))

    scale = np.full(len(choices.legal), trainer.tables[0].scale, np.float32)
    before = mean_advantage()
    metrics = trainer.update(choices, scale)
    assert metrics["update/policy_loss"] == pytest.approx(-before / trainer.tables[0].scale, abs=1e-4)
    for _ in range(20):
        trainer.update(choices, scale)
    assert mean_advantage() > before + 0.5


@pytest.mark.parametrize("arch", [{"name": "mlp", "hidden": [16]}, {"name": "residual", "width": 16, "blocks": 1}])
def test_values_are_learned_by_their_head_alone(arch: Any) -> None:
    """Where all actions pay the same, the policy stays the same bit for bit while values become better."""
    trainer = trainer_of(reference_weight=0.0, arch=arch, optimizer={"learning_rate": 0.01})
    choices = choices_of(trainer)
    choices = choices._replace(advantage=np.zeros_like(choices.advantage))
    before = {name: parameter.detach().clone() for name, parameter in trainer.net.named_parameters()}
    scale = np.full(len(choices.legal), trainer.tables[0].scale, np.float32)
    losses = [trainer.update(choices, scale)["update/value_loss"] for _ in range(30)]
    assert losses[-1] < 0.95 * losses[0]
    changed = {name for name, parameter in trainer.net.named_parameters() if not torch.equal(parameter, before[name])}
    assert changed == {"value.weight", "value.bias"}


def test_the_choices_that_are_learned_from_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weighted, they have the mean of all choices of the same rounds; where the policy is uncertain, all are learned from."""
    trainer = trainer_of(tables=500)
    agent = Exact(trainer.setup)  # is nearly certain at most choices
    sampled = choices_of(trainer, agent)
    monkeypatch.setattr(vine, "MIN_INCLUSION", 1.0)
    every = choices_of(trainer, agent)
    logits = np.where(every.legal[:, None] >> np.arange(every.advantage.shape[1]) & 1, agent.logits(every.observation), -np.inf)
    policy = masked_log_softmax(torch.from_numpy(logits), torch.from_numpy(np.isfinite(logits))).exp().numpy()
    differ = 1 - np.square(policy).sum(axis=1)
    assert (sampled.weight == 1).sum() == (differ >= vine.FULL_INCLUSION).sum() > 100
    assert sampled.weight.max() == pytest.approx(10)
    count = len(every.legal)
    assert len(sampled.legal) < count / 2
    for quantity in ("netted", "tried"):
        part, whole = (np.asarray(getattr(choices, quantity), float) for choices in (sampled, every))
        variance = np.square(whole) * np.clip(vine.FULL_INCLUSION / differ.clip(1e-9) - 1, 0, 9)  # of a sum by Poisson sampling
        error = np.sqrt(variance.sum())
        assert (part * sampled.weight).sum() == pytest.approx(whole.sum(), abs=4 * error)
        assert error < 0.2 * np.abs(whole).sum()


def test_threads_play_the_same_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of the tables are played by any thread, and their choices are joined in order."""
    learned: list[Choices] = []

    def noted(_: Trainer, choices: Choices, scale: Any) -> dict[str, float]:
        learned.append(choices)
        return {}

    monkeypatch.setattr(Trainer, "update", noted)
    for mixture in ([], MIXTURE):
        learned.clear()
        one, two = (trainer_of(tables=1100, threads=threads, mixture=mixture, arch={"hidden": [8]}) for threads in (1, 2))
        assert len(one.tables) > 1
        for trainer in (one, two):
            trainer.iterate()
        assert all(np.array_equal(a, b) for a, b in zip(*learned, strict=True))


# ---------------------------------------------------------------- the reference


def test_the_reference_is_the_network_that_training_began_from(tmp_path: Path) -> None:
    """With a large weight the policy stays there; a resumed run has the same reference."""
    begin = tmp_path / "begin"
    run_in(begin, build(Config, {**TINY, "iterations": 3, "reference_weight": 0.0}))
    moved = {}
    for weight in (0.0, 1000.0):
        config = build(Config, {**TINY, "init": str(begin), "reference_weight": weight, "iterations": 10})
        whole = run_in(tmp_path / f"whole{weight}", config)
        parts = tmp_path / f"parts{weight}"
        run_in(parts, config, stop_at=5)
        assert same(run_in(parts, config, resume=True), whole)
        trainer = Trainer(config, config.setup())
        trainer.restore(whole)
        assert trainer.reference is not None
        observation = torch.from_numpy(Batch(trainer.setup, 500, seed=1).observation)
        old, new = (net(observation)[0].log_softmax(1) for net in (trainer.reference, trainer.net))
        moved[weight] = float((old.exp() * (old - new)).sum(1).mean().detach())
    assert moved[1000.0] < 0.05 * moved[0.0]


def test_without_one_the_policy_is_pulled_towards_the_uniform_one() -> None:
    entropy = {}
    for weight in (0.0, 100.0):
        trainer = trainer_of(reference_weight=weight, iterations=30)
        assert "reference." not in trainer.modules
        for _ in range(30):
            metrics = trainer.iterate()
        entropy[weight] = metrics["rollout/entropy"]
    assert entropy[100.0] > entropy[0.0] + 0.1


def test_rounds_without_a_choice_are_refused() -> None:
    """Two seats have a card each."""
    trainer = trainer_of(rules={"ranks": 2, "suits": 1, "hand": 1}, players=2, tables=30)
    with pytest.raises(ConfigError, match="Not one round held a choice"):
        trainer.iterate()


def test_rounds_of_which_no_choice_is_sampled_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vine, "inclusion_probability", lambda logits: np.zeros(len(logits), np.float32))
    with pytest.raises(ConfigError, match=r"None of \d+ choices was sampled"):
        trainer_of().iterate()
