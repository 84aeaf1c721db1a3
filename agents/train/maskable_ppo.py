"""MaskablePPO of sb3-contrib, on the native vector environment, in self-play or against heuristics and past selves.

One seat of each table learns, a different one each round. Each of the other seats has one of the ``opponents``, drawn for the
round by their shares. With ``opponents: self`` all seats learn instead, and every decision at a table is a row. The algorithm is
Stable-Baselines3's, used through its public methods: an iteration is one call of ``learn``, a rollout and its gradient steps. Its
policy has the layers of our own network, so its checkpoint is one like any other and plays in ``evaluate.py``; no pickle is ever
written or read.

Every iteration begins with new rounds at all tables and seeds all generators, among them the global ones of torch and NumPy that
Stable-Baselines3 draws from. So it depends on the seed, its number, the network, its optimizer and the past selves only, and a
resumed run gives the same bits. The price: the round that a table is in when the rollout ends is not finished, and its remaining
reward is estimated by the value.

Sources: Schulman et al., "Proximal policy optimization algorithms", 2017; Huang and Ontañón, "A closer look at invalid action
masking in policy gradient algorithms", 2022; opponents from past snapshots: Bansal et al., "Emergent complexity via multi-agent
competition", 2018.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta, field
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.agent_adapters import ModelAgent
from nainjaune_env.core.errors import ConfigError, MissingLibraryError, quoted
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.opponents import Pool

from ..base.seeds import Stream, generator
from ..base.settings import NonNegativeFloat, PositiveInt, Share
from ..base.task import CARRIED, FRESH, OWN
from ..players.loading import load_agent
from ..players.networks.checkpoint import Checkpoint
from .base import COMMON_METRICS, BaseConfig, BaseTrainer, Rounds
from .opponents import PAST, PAST_SELVES, SELF, PastSelves, named
from .optimizers import Adam, Optimizer
from .run import Progress, Run, run_iterations

try:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.utils import set_random_seed
except ModuleNotFoundError as error:
    raise MissingLibraryError("Training with MaskablePPO", "sb3_contrib", "sb3") from error

from nainjaune_env.envs.sb3_vec_env import SeatVecEnv

from .sb3 import NetPolicy, RewardUnit, SelfPlayBuffer

PACKAGES = ("stable-baselines3", "sb3-contrib", "gymnasium")
"""Packages whose versions ``run.json`` records too."""


class Config(BaseConfig, frozen=True):
    """The configuration of a run of MaskablePPO."""

    algorithm: Annotated[str, "the trainer"] = "maskable_ppo"
    objective: Annotated[str, "the payoff that counts: 'own', as environments of Stable-Baselines3 reward one seat"] = OWN
    start: Annotated[
        str | dict[str, Any], "how rounds start: 'fresh', or {pots: [low, high]}, drawn for each table in every iteration"
    ] = FRESH
    iterations: Annotated[PositiveInt, "updates of the run; the schedules extend over them"] = 100
    tables: Annotated[Rounds, "tables in parallel, each with one seat that learns"] = 2048
    steps: Annotated[PositiveInt, "the learner's decisions at each table for an update (n_steps): a few rounds or more"] = 24
    opponents: Annotated[
        dict[str, Any] | str | None,
        "whom the learner meets: shares by which the others' seats are drawn, 'past' being earlier states of the run, or one "
        "agent's name; 'self' alone: all seats learn",
    ] = field(default_factory=lambda: {"random": 0.5, PAST: 0.5})
    optimizer: Annotated[Optimizer, "the optimizer, {name, **arguments}; only adam"] = Adam(learning_rate=1.5e-3)
    entropy: Annotated[NonNegativeFloat, "weight of the policy's entropy at the start (ent_coef)"] = 0.05
    last_entropy: Annotated[NonNegativeFloat, "weight of the entropy at the end"] = 0.005
    epochs: Annotated[PositiveInt, "passes over the decisions of an iteration (n_epochs)"] = 3
    minibatch: Annotated[int, Meta(ge=2), "decisions in a gradient step (batch_size)"] = 2048
    clip: Annotated[
        NonNegativeFloat, "distance of the probability ratio from 1 at which the objective is clipped (clip_range)"
    ] = 0.2
    gae_lambda: Annotated[Share, "lambda of generalised advantage estimation; 1 = plain returns"] = 1.0
    value_weight: Annotated[NonNegativeFloat, "weight of the value loss (vf_coef)"] = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tables * self.steps % self.minibatch:  # a last minibatch of one decision has no deviation: SB3 gives NaN
            raise ConfigError(
                f"'minibatch' divides 'tables' times 'steps', and {self.minibatch} does not divide {self.tables * self.steps}."
            )
        if SELF in self.shares and len(self.shares) > 1:
            raise ConfigError(
                "Stable-Baselines3 learns from all seats of every table or from one, so 'self' stands alone among "
                f"the 'opponents' of MaskablePPO, not {quoted(self.opponents)}: ppo mixes them."
            )
        if type(self.optimizer) is not Adam:
            raise ConfigError(f"Stable-Baselines3 steps by Adam here, not by {quoted(self.optimizer.to_dict())}.")
        if self.objective != OWN:
            raise ConfigError(
                "MaskablePPO learns from the reward of one seat, its own payoff, so 'objective' is 'own', not "
                f"{quoted(self.objective)}: ppo centres payoffs."
            )
        if self.start == CARRIED:
            raise ConfigError(
                "MaskablePPO begins new matches in every iteration and would see their first rounds only, so 'start' is 'fresh' "
                "or bounds of pots, not 'carried': ppo goes on with its matches."
            )


METRICS = {
    **COMMON_METRICS,
    "rollout/decisions": "decisions of the learner so far; those of opponents do not count",
    "rollout/decisions_per_round": "decisions of the learner in a round, over the rounds that ended in the iteration",
    "rollout/payoff": "mean payoff of the learner in these rounds, in the game's unit (chips, cards), against the pool or itself",
    "rollout/payoff_spread": "standard deviation of that payoff",
    "rollout/entropy": "mean entropy of the policy at its decisions, in nats",
    "update/policy_loss": "clipped surrogate loss",
    "update/value_loss": "mean squared error of the value, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(return - value) / var(return), before the update",
    "update/kl": "mean estimate of KL(old || new) in the last epoch, (ratio - 1) - log(ratio) (Schulman's k3)",
    "update/clip_fraction": "share of decisions whose ratio left the clip range",
    "schedule/learning_rate": "Adam's step size",
    "schedule/entropy_weight": "weight of the entropy",
    "speed/decisions_per_second": "decisions of the learner in the iteration over its wall time",
}
"""Every metric that is logged, with its meaning."""

SB3_METRICS = {
    "policy_loss": "train/policy_gradient_loss",
    "value_loss": "train/value_loss",
    "explained_variance": "train/explained_variance",
    "kl": "train/approx_kl",
    "clip_fraction": "train/clip_fraction",
}
"""Metrics under ``update/`` and their names in Stable-Baselines3."""

UNIT_ROUNDS = 2048
"""Rounds of random play over which the unit of payoffs is measured."""


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        super().__init__(config, setup)
        c = config
        self.past_selves = PastSelves(self.new_net(torch.Generator())) if PAST in c.shares else None
        self_play = SELF in c.shares
        self.tables = SeatVecEnv(c.tables, c.preset, c.players, game=c.game, opponents=self._opponents(), **c.rules)
        self.venv = RewardUnit(self.tables, unit=payoff_spread(setup, c.seed))
        self.model = MaskablePPO(
            NetPolicy, self.venv, n_steps=c.steps, batch_size=c.minibatch, n_epochs=c.epochs, gamma=1.0,
            gae_lambda=c.gae_lambda, clip_range=c.clip, vf_coef=c.value_weight, max_grad_norm=c.max_grad_norm,
            learning_rate=lambda _: self.learning_rate,
            policy_kwargs={"layout": setup.layout, "arch": c.to_dict()["arch"]}, seed=c.seed % 2**32, device="cpu",
            rollout_buffer_class=SelfPlayBuffer if self_play else None,
            rollout_buffer_kwargs={"venv": self.venv} if self_play else None,
        )  # fmt: skip
        self.model.set_logger(Logger(None, []))  # rollout_metrics reads what it records
        assert isinstance(self.model.policy, NetPolicy)
        self.net = self.model.policy.net
        self.modules = {"model.": self.net, **(self.past_selves.modules() if self.past_selves else {})}
        self.optimizers = {"optimizer.": self.model.policy.optimizer}
        self.net.payoff_scale.fill_(self.venv.unit)
        if self.past_selves:
            self.past_selves.take(self.net, 0)

    def _opponents(self) -> Pool | str:
        c = self.config
        if SELF in c.shares:
            return SELF
        names = named(c.shares)
        past = self.past_selves.agents if self.past_selves else []
        shares = [c.shares[name] for name in names] + [c.shares.get(PAST, 0.0) / PAST_SELVES] * len(past)
        return Pool([*(load_agent(name, self.setup, bots=self.config.bot_settings) for name in names), *past], shares)

    # ---- one iteration -------------------------------------------------------------------------------------------

    def iterate(self) -> dict[str, float]:
        """Plays from new rounds at all tables and learns from the rollout; returns the metrics."""
        start = time.perf_counter()
        c = self.config
        self.prepare()
        metrics = {
            "schedule/learning_rate": self.learning_rate,
            "schedule/entropy_weight": self.model.ent_coef,
        }
        self.model.learn(c.tables * c.steps, log_interval=None)  # type: ignore[arg-type]
        metrics |= self.rollout_metrics()
        return self.finish_iteration(metrics, c.tables * c.steps, time.perf_counter() - start)

    def prepare(self) -> None:
        """Sets all that the iteration depends on: past selves, generators, schedules."""
        c = self.config
        if self.past_selves:
            self.past_selves.take(self.net, self.iteration)
        rng = generator(c.seed, Stream.TRAINING, self.iteration)
        set_random_seed(int(rng.integers(2**32)))  # the global generators of Python, NumPy and torch
        self.venv.seed(int(rng.integers(2**62)))
        if c.task.draws:
            self.tables.set_start_values(c.task.start_values(self.setup, streams(int(rng.integers(2**62)), c.tables)))
        self.model.ent_coef = self.annealed(c.entropy, c.last_entropy)

    def rollout_metrics(self) -> dict[str, float]:
        """Returns the metrics of the last iteration, from the rollout buffer and from what Stable-Baselines3 recorded."""
        buffer = self.model.rollout_buffer
        payoff, length = ended_rounds(buffer.rewards, buffer.episode_starts)
        if isinstance(buffer, SelfPlayBuffer):  # of every seat
            payoff = np.stack([ended_rounds(one, buffer.episode_starts)[0] for one in np.moveaxis(buffer.seat_rewards, 2, 0)])
        if not payoff.size:
            raise ConfigError(f"No round ended within {self.config.steps} decisions of its learner: set 'steps' higher.")
        recorded = self.model.logger.name_to_value
        return {
            "rollout/decisions_per_round": float(length.mean()),
            "rollout/payoff": float(payoff.mean()) * self.venv.unit,
            "rollout/payoff_spread": float(payoff.std()) * self.venv.unit,
            "rollout/entropy": -float(recorded["train/entropy_loss"]),
            **{f"update/{name}": float(recorded[key]) for name, key in SB3_METRICS.items()},
        }

    # ---- evaluation and checkpoints ------------------------------------------------------------------------------

    def agent(self) -> Agent:
        """Returns the model as Stable-Baselines3 plays it."""
        return ModelAgent(self.model, "model")

    def restore(self, checkpoint: Checkpoint) -> None:
        """Takes over the state in a checkpoint, with the unit of rewards."""
        super().restore(checkpoint)
        self.venv.unit = float(self.net.payoff_scale)


def payoff_spread(setup: Setup, seed: int) -> float:
    """Returns the standard deviation of a seat's payoff in random play, at least 1: the unit of rewards and values."""
    batch = Batch(setup, UNIT_ROUNDS, seed=seed, autoreset=False)
    generators, payoff = streams(seed, UNIT_ROUNDS, stream=1), batch.reward.astype(np.int64)
    while not batch.done.all():
        batch.step(batch.sample(generators))
        payoff += batch.reward
    return max(float(np.float32(payoff.std())), 1.0)  # a checkpoint keeps 32 bits of it


def ended_rounds(rewards: NDArray[np.float32], starts: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns the sum of rewards and the number of decisions of each round that certainly ended: another began after it.

    ``rewards (T, B)``; ``starts (T, B)`` is 1 at a round's first decision, as in the first row of every table.
    """
    number = np.cumsum(starts.T.astype(np.int64)) - 1  # table by table, in order of time
    payoff, length = np.bincount(number, rewards.T.ravel()), np.bincount(number)
    ended = np.ones(len(length), np.bool_)
    ended[np.cumsum(starts.sum(axis=0).astype(np.int64)) - 1] = False  # each table's last
    return payoff[ended], length[ended]


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.train.run.run_iterations` does."""
    return run_iterations(Trainer(config, config.setup()), run, checkpoint, progress)
