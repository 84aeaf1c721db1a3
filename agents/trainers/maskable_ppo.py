"""MaskablePPO of sb3-contrib, on the native vector environment, against rules of thumb and past selves.

One seat of each table learns, a different one each round; in the other seats sit opponents that are drawn for each round from
a pool: agents by name, and frozen snapshots of the network as it once was. The algorithm is Stable-Baselines3's, used through
its public methods: an iteration is one call of ``learn``, a rollout and its gradient steps. Its policy has the layers of our own
network, so that a checkpoint is one like any other: it plays in ``evaluate.py``, and no pickle is ever written or read.

Every iteration begins with fresh rounds at all tables and with all generators seeded from the run's seed and its number, torch's
and NumPy's global ones included, which Stable-Baselines3 draws from. So it depends on the seed, its number, the network, its
optimizer and the snapshots alone, and a resumed run goes on bit for bit. The price: the round that a table is in when the rollout
ends is not played on; what it may still bring is told by the value.

Sources: Schulman et al., "Proximal policy optimization algorithms", 2017; Huang and Ontañón, "A closer look at invalid action
masking in policy gradient algorithms", 2022; fictitious opponents from past snapshots: Bansal et al., "Emergent complexity via
multi-agent competition", 2018.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nainjaune_env.core.errors import ConfigError, MissingLibraryError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs._shared.learner_tables import Pool
from nainjaune_env.games import DEFAULT_GAME

from ..loading import load_agent
from ..nets.arch import DEFAULT_ARCH, get_arch, make_net
from ..nets.checkpoint import Checkpoint
from ..nets.net_agent import NetAgent
from ..nets.policy_value import PolicyValueNet
from ..seeds import Stream, generator
from .checkpointing import checkpoint_of, load_optimizer, named, optimizer_tensors, taking_up, under
from .config import at_least, at_most, option, settle
from .run import Progress, Run, carry_out
from .schedule import anneal

try:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.utils import set_random_seed
except ModuleNotFoundError as error:
    raise MissingLibraryError("Training with MaskablePPO", "sb3_contrib", "sb3") from error

from nainjaune_env.envs.sb3_vec_env import SeatVecEnv

from .sb3 import DuplicateEvalCallback, NetPolicy, RewardUnit

PACKAGES = ("stable-baselines3", "sb3-contrib", "gymnasium")
"""Whose versions a run's folder tells too."""


@dataclass(frozen=True)
class Config:
    """What a run of MaskablePPO is made of. Values in YAML and ``--set`` go over these."""

    algorithm: str = option("maskable_ppo", "the trainer")
    game: str = option(DEFAULT_GAME, "the game")
    preset: str | None = option(None, "the rule sheet (none: the game's usual one)")
    players: int | None = option(None, "seats (none: the game's usual number)")
    rules: dict[str, Any] = option({}, "knobs set over the preset, as in --set rules.decline=never")
    seed: int = option(0, "all chance in the run comes from it")
    iterations: int = option(100, "updates in all; the schedules run over them")
    tables: int = option(2048, "tables at once, each with one seat that learns")
    steps: int = option(24, "decisions of the learner at each table for an update; a few rounds' worth or more")
    opponents: list[str] = option(["random"], "agents by name, each as often as the others, in the seats that are no past self's")
    past_selves: float = option(0.5, "share of the other seats in which a past self sits")
    snapshots: int = option(5, "past selves that are kept, the newest ones")
    snapshot_every: int = option(10, "iterations between two of them")
    arch: str = option(DEFAULT_ARCH, "the network: 'mlp', or 'residual' (a block for each of 'hidden', with layer normalisation)")
    hidden: list[int] = option([256, 256], "widths of the network's layers")
    learning_rate: float = option(1.5e-3, "Adam's step size at the start")
    last_learning_rate: float = option(1e-4, "and at the end")
    entropy: float = option(0.05, "weight of the policy's entropy at the start (SB3's ent_coef)")
    last_entropy: float = option(0.005, "and at the end")
    epochs: int = option(3, "passes over the decisions of an iteration (n_epochs)")
    minibatch: int = option(2048, "decisions in a gradient step (batch_size)")
    clip: float = option(0.2, "how far the probability ratio may move before its gain is cut off (clip_range)")
    gae_lambda: float = option(1.0, "1 = plain returns")
    value_weight: float = option(0.5, "weight of the value loss (vf_coef)")
    max_grad_norm: float = option(0.5, "gradients are scaled down to this norm")
    threads: int = option(1, "torch's threads; more than the cores that are free makes it many times slower")
    checkpoint_minutes: float = option(2.0, "how old a checkpoint may grow")
    eval_every: int = option(25, "iterations between measurements in the course of the run; 0 = none")
    eval_deals: int = option(1000, "deals of each such measurement")
    eval_against: str = option("random", "the agent whose field it is measured against")

    def __post_init__(self) -> None:
        at_least(self, iterations=1, tables=1, steps=1, epochs=1, minibatch=2, threads=1, eval_every=0, eval_deals=2)
        at_least(self, seed=0, learning_rate=0, last_learning_rate=0, entropy=0, last_entropy=0, clip=0, gae_lambda=0)
        at_least(self, value_weight=0, max_grad_norm=0, checkpoint_minutes=0, past_selves=0, snapshots=1, snapshot_every=1)
        at_most(self, seed=2**63 - 1, gae_lambda=1, past_selves=1)
        get_arch(self.arch).check_arguments(self.hidden, 0)
        if self.tables * self.steps % self.minibatch:  # of a last one with one decision, SB3 would take the spread: NaN
            raise ConfigError(
                f"The {self.tables} tables' {self.steps} steps are a whole number of minibatches, and {self.minibatch} "
                f"decisions do not divide {self.tables * self.steps}."
            )
        if not self.opponents and self.past_selves < 1:
            raise ConfigError("Where past selves do not sit in all other seats (past_selves: 1), 'opponents' names somebody.")
        setup = self.setup()
        for name in (*self.opponents, *([self.eval_against] if self.eval_every else [])):
            load_agent(name, setup)  # a wrong name is an error now and not some iterations later

    @property
    def kept(self) -> int:
        """How many past selves there are."""
        return self.snapshots if self.past_selves else 0

    def setup(self) -> Setup:
        """The game and rules of the run; raises :class:`~nainjaune_env.core.errors.RulesError` where there are none such."""
        return settle(self.game, self.preset, self.players, self.rules)


METRICS = {
    "run/seconds": "seconds spent in iterations, resumed parts added up; measurements and checkpoints do not count",
    "rollout/decisions": "decisions that the learner made in all; the opponents' do not count",
    "rollout/decisions_per_round": "the learner's decisions in a round, of the rounds that ended in the iteration",
    "rollout/payoff": "mean payoff of the learner in these rounds, in the game's unit (chips, cards), against the pool",
    "rollout/payoff_spread": "its standard deviation",
    "rollout/entropy": "mean entropy of the policy where it chose, in nats",
    "update/policy_loss": "clipped surrogate loss",
    "update/value_loss": "mean squared error of the value, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(return - value) / var(return), before the update",
    "update/kl": "mean estimate of KL(old || new) in the last epoch, (ratio - 1) - log(ratio) (Schulman's k3)",
    "update/clip_fraction": "share of decisions whose ratio left the clip range",
    "schedule/learning_rate": "Adam's step size",
    "schedule/entropy_weight": "weight of the entropy",
    "speed/decisions_per_second": "the learner's decisions of the iteration over its wall time",
    "eval/edge": "edge (chips, cards) a round over the field of `eval_against`, duplicate deals that are the same every time",
    "eval/ci95": "half-width of its 95 % interval",
}
"""Every metric that is logged, and what it says."""

SB3_METRICS = {
    "policy_loss": "train/policy_gradient_loss",
    "value_loss": "train/value_loss",
    "explained_variance": "train/explained_variance",
    "kl": "train/approx_kl",
    "clip_fraction": "train/clip_fraction",
}
"""Names under ``update/`` and what Stable-Baselines3 calls the same."""

UNIT_ROUNDS = 2048
"""Rounds at random that the unit of payoffs is measured on."""


class Trainer:
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        torch.set_num_threads(config.threads)
        self.config = config
        self.setup = setup
        self.iteration = 0
        self.decisions = 0
        self.seconds = 0.0
        self.past = [NetAgent(f"past_{k}", self._fresh_net(), stochastic=True) for k in range(config.kept)]
        """Past selves, which draw from their policies. Each has a network of its own, which no optimizer knows."""
        c = config
        self.venv = RewardUnit(
            SeatVecEnv(c.tables, preset=c.preset, num_players=c.players, game=c.game, opponents=self._pool(), **c.rules),
            unit=payoff_spread(setup, c.seed),
        )
        self.model = MaskablePPO(
            NetPolicy, self.venv, n_steps=c.steps, batch_size=c.minibatch, n_epochs=c.epochs, gamma=1.0,
            gae_lambda=c.gae_lambda, clip_range=c.clip, vf_coef=c.value_weight, max_grad_norm=c.max_grad_norm,
            learning_rate=lambda _: self.scheduled(c.learning_rate, c.last_learning_rate),
            policy_kwargs={"layout": setup.layout, "arch": c.arch, "hidden": c.hidden}, seed=c.seed % 2**32, device="cpu",
        )  # fmt: skip
        self.model.set_logger(Logger(None, []))  # what it records is read after each iteration
        assert isinstance(self.model.policy, NetPolicy)
        self.net = self.model.policy.net
        self.net.payoff_scale.fill_(self.venv.unit)
        for agent in self.past:
            agent.net.load_state_dict(self.net.state_dict())
        self.evaluation = DuplicateEvalCallback(setup, c.eval_against, deals=c.eval_deals) if c.eval_every else None

    def _fresh_net(self) -> PolicyValueNet:
        actions = len(self.setup.game.actions)
        return make_net(self.config.arch, self.setup.layout, actions, self.config.hidden, torch.Generator()).eval()

    def _pool(self) -> Pool:
        c = self.config
        named = [load_agent(name, self.setup) for name in c.opponents]
        shares = ((1 - c.past_selves, named), (c.past_selves, self.past))
        return Pool([*named, *self.past], [share / len(some) for share, some in shares for _ in some])

    def scheduled(self, first: float, last: float) -> float:
        """What the run's schedule says now, from ``first`` to ``last``."""
        return anneal(first, last, self.iteration / self.config.iterations)

    # ---- one iteration -------------------------------------------------------------------------------------------

    def iterate(self) -> dict[str, float]:
        """A rollout from fresh rounds at all tables, and the updates on it; gives the metrics."""
        began = time.perf_counter()
        c = self.config
        self.prepare()
        metrics = {
            "schedule/learning_rate": self.scheduled(c.learning_rate, c.last_learning_rate),
            "schedule/entropy_weight": self.model.ent_coef,
        }
        self.model.learn(c.tables * c.steps, log_interval=None)  # type: ignore[arg-type]
        metrics.update(self.told())
        self.iteration += 1
        self.decisions += c.tables * c.steps
        wall = time.perf_counter() - began
        self.seconds += wall
        metrics["run/seconds"] = self.seconds
        metrics["rollout/decisions"] = float(self.decisions)
        metrics["speed/decisions_per_second"] = c.tables * c.steps / wall
        return metrics

    def prepare(self) -> None:
        """Settle whatever the iteration depends on: past selves, all generators, schedules."""
        c = self.config
        if self.past and self.iteration % c.snapshot_every == 0:
            self.snapshot()
        rng = generator(c.seed, Stream.TRAINING, self.iteration)
        set_random_seed(int(rng.integers(2**32)))  # Python's, NumPy's and torch's global generators
        self.venv.seed(int(rng.integers(2**62)))
        self.model.ent_coef = self.scheduled(c.entropy, c.last_entropy)

    def snapshot(self) -> None:
        """The network as it is now becomes a past self, in the place of the oldest; the first ones in all that are still free."""
        number = self.iteration // self.config.snapshot_every
        for agent in self.past[number:] or [self.past[number % len(self.past)]]:
            agent.net.load_state_dict(self.net.state_dict())

    def told(self) -> dict[str, float]:
        """What the last iteration says of itself: the rollout's buffer, and what Stable-Baselines3 recorded."""
        buffer = self.model.rollout_buffer
        payoff, length = ended_rounds(buffer.rewards, buffer.episode_starts)
        if not payoff.size:
            raise ConfigError(f"Not one round ended within {self.config.steps} decisions of its learner: set 'steps' higher.")
        recorded = self.model.logger.name_to_value
        return {
            "rollout/decisions_per_round": float(length.mean()),
            "rollout/payoff": float(payoff.mean()) * self.venv.unit,
            "rollout/payoff_spread": float(payoff.std()) * self.venv.unit,
            "rollout/entropy": -float(recorded["train/entropy_loss"]),
            **{f"update/{name}": float(recorded[theirs]) for name, theirs in SB3_METRICS.items()},
        }

    def evaluate(self) -> dict[str, float]:
        """The network's edge over the field of ``eval_against``, on deals apart from those it learns on."""
        assert self.evaluation is not None
        self.evaluation.init_callback(self.model)
        edge = self.evaluation.measure()
        return {"eval/edge": edge.mean, "eval/ci95": edge.ci95}

    # ---- checkpoints ---------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """All that is needed to go on, and to play."""
        tensors = named("model.", self.net) | optimizer_tensors(self.model.policy.optimizer)
        for k, agent in enumerate(self.past):
            tensors |= named(f"past.{k}.", agent.net)
        progress = {"decisions": float(self.decisions), "seconds": self.seconds}
        return checkpoint_of(self.config, self.setup, iteration=self.iteration, progress=progress, tensors=tensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of this same configuration."""
        with taking_up(checkpoint, self.config, self.setup):
            self.net.load_state_dict(under("model.", checkpoint.tensors))
            for k, agent in enumerate(self.past):
                agent.net.load_state_dict(under(f"past.{k}.", checkpoint.tensors))
            load_optimizer(self.model.policy.optimizer, checkpoint.tensors)
            self.decisions = int(checkpoint.progress["decisions"])
            self.seconds = checkpoint.progress["seconds"]
        self.iteration = checkpoint.iteration
        self.venv.unit = float(self.net.payoff_scale)


def payoff_spread(setup: Setup, seed: int) -> float:
    """The standard deviation of a seat's payoff in rounds played at random, at least 1: the unit of rewards and values."""
    batch = Batch(setup, UNIT_ROUNDS, seed=seed, autoreset=False)
    chance, payoff = streams(seed, UNIT_ROUNDS, stream=1), batch.reward.astype(np.int64)
    while not batch.done.all():
        batch.step(batch.sample(chance))
        payoff += batch.reward
    return max(float(np.float32(payoff.std())), 1.0)  # a checkpoint keeps it in 32 bits


def ended_rounds(rewards: NDArray[np.float32], starts: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The sum of rewards and the number of decisions of each round that ended for certain: another began after it.

    ``rewards (T, B)``; ``starts (T, B)`` is 1 where a round's first decision is, which each table's first row is.
    """
    number = np.cumsum(starts.T.astype(np.int64)) - 1  # table by table, in order of time
    payoff, length = np.bincount(number, rewards.T.ravel()), np.bincount(number)
    whole = np.ones(len(length), np.bool_)
    whole[np.cumsum(starts.sum(axis=0).astype(np.int64)) - 1] = False  # each table's last
    return payoff[whole], length[whole]


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Train in the folder of ``run``, from ``checkpoint`` on if there is one; ``progress`` is told after each iteration.

    Gives True when all iterations are done, False when it was stopped before; a checkpoint is saved either way.
    """
    return carry_out(Trainer(config, config.setup()), run, checkpoint, progress)
