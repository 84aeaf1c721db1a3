"""Deep Monte Carlo by self-play, top to bottom in one file.

One network plays every seat, seeing seats relative to itself. It predicts the value of each action: what the seat that takes it
nets on average in the rest of the round. An iteration deals a round at each table and plays all of them to the end, actions drawn
with probabilities that grow with their predicted values; then the prediction for each action taken moves towards what the seat
really netted. Nothing is bootstrapped, clipped or estimated: the targets have the noise of how one round ended, and no bias.
Forced plies are not learned from. An iteration depends on the seed, its number and the network only, so a resumed run gives the
same bits.

There are a few dozen actions at most, so the network has one output an action where DouZero's takes the action as an input. The
value of an action is the sum of two outputs that learn from the same error, as in a dueling network:

    Q(s, a) = shared(s) + last_temperature * logit(s, a)

So the policy head holds logits, as PPO's does: softmax(logits) is the Boltzmann policy of Q at the last temperature, and its
likeliest action has the highest value. The value head learns the returns separately, on the features as they are: what a seat
nets on average if all play as they did. The network and the meaning of its heads are those of PPO.

Sources: Zha et al., "DouZero: mastering DouDizhu with self-play deep reinforcement learning", 2021 (deep Monte Carlo); Sutton and
Barto, "Reinforcement learning", 2nd ed. 2018, ch. 5 (Monte Carlo control); Wang et al., "Dueling network architectures for deep
reinforcement learning", 2016, eq. 7 (two parts).
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

from ..base.sampling import sample
from ..base.seeds import Stream, generator
from ..base.settings import NonNegativeFloat, NonNegativeInt, PositiveInt
from ..players.networks.checkpoint import Checkpoint
from .base import COMMON_METRICS, EMA_MEANING, BaseConfig, BaseTrainer, Decay, Rounds, explained_variance
from .opponents import LEARNER, PAST, PastSelves, Seating, check_seated
from .optimizers import GroupedOptimizer
from .rollout import Tables
from .run import Progress, Run, run_iterations


class Config(BaseConfig, frozen=True):
    """The configuration of a run of deep Monte Carlo."""

    algorithm: Annotated[str, "the trainer"] = "deep_monte_carlo"
    iterations: Annotated[PositiveInt, "updates of the run; the schedules extend over them"] = 1000
    tables: Annotated[Rounds, "rounds dealt for each update"] = 2048
    temperature: Annotated[float, "actions are drawn from softmax(Q / temperature) at the start, in units of payoff_scale"] = 0.1
    last_temperature: Annotated[
        float,
        Meta(ge=1e-6),  # its inverse is a factor of a learning rate
        "temperature at the end, not above that at the start; it changes geometrically",
    ] = 0.02
    max_grad_norm: Annotated[NonNegativeFloat, "a gradient with a larger norm is scaled down to this one"] = 10.0
    ema: Annotated[Decay, EMA_MEANING] = 0.0
    eval_every: Annotated[NonNegativeInt, "iterations between evaluations; 0 = none"] = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.last_temperature > self.temperature:
            raise ConfigError(
                "The temperature that actions are drawn at goes from 'temperature' down to 'last_temperature', "
                f"and they are {self.temperature} and {self.last_temperature}."
            )


METRICS = {
    **COMMON_METRICS,
    "rollout/decisions_per_round": "decisions of the learner in a round, forced plies not counted",
    "rollout/entropy": "mean entropy of the policy that played, in nats, estimated by -log(probability) of the actions drawn",
    "rollout/payoff_spread": "standard deviation of a seat's payoff in a round, in the game's unit (chips, cards)",
    "update/action_value_loss": "mean squared error of Q for the actions taken, in units of payoff_scale squared",
    "update/value_loss": "mean squared error of the value, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(return - Q) / var(return), Q as predicted in the first epoch",
    "update/grad_norm": "mean gradient norm before scaling down",
    "schedule/learning_rate": "Adam's step size",
    "schedule/temperature": "temperature that actions are drawn at, in units of payoff_scale",
}
"""Every metric that is logged, with its meaning."""


@dataclass
class Rollout:
    """The T decisions of an iteration, in order of time."""

    observation: NDArray[np.uint8]  # (T, size)
    action: NDArray[np.int64]  # (T,)
    log_prob: NDArray[np.float32]  # (T,) of the action, under the distribution it was drawn from
    target: NDArray[np.float32]  # (T,) the seat's (centred) payoff from the decision to the round's end, in chips or cards
    payoff_spread: float  # standard deviation of a seat's payoff


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        super().__init__(config, setup)
        self.net = self.new_net(torch.Generator().manual_seed(config.seed))
        self.shared = copy.deepcopy(self.net.value)  # shared(s): near 0 at the start, as the value head is
        self.modules = {"model.": self.net, "shared.": self.shared}
        # Q takes the logits times last_temperature. Steps longer by its inverse for the head of the logits make Q move as if that
        # head predicted it: the size of Adam's steps does not depend on the size of gradients.
        others = [parameter for name, parameter in self.net.named_parameters() if not name.startswith("policy.")]
        others += self.shared.parameters()
        policy = {"params": [*self.net.policy.parameters()], "scale": 1 / config.last_temperature}
        self.optimizer = GroupedOptimizer(config.optimizer, [{"params": others}, policy], [self.net.body])
        self.optimizers = self.optimizer.by_prefix
        self.past_selves = PastSelves(self.net) if PAST in config.shares else None
        self.modules |= self.past_selves.modules() if self.past_selves else {}
        check_seated(config.shares, [config.tables])
        seating = Seating(config.shares, setup, self.past_selves, bots=config.bot_settings)
        rng_of = partial(generator, config.seed, Stream.TRAINING)
        self.tables = Tables(setup, slice(0, config.tables), task=config.task, seating=seating, rng_of=rng_of)
        self.starts = [self.tables.starts]
        if config.ema:
            self.average_weights("model.", config.ema)

    def iterate(self) -> dict[str, float]:
        """Plays a round at every table and learns from it; returns the metrics."""
        start = time.perf_counter()
        rng = generator(self.config.seed, Stream.TRAINING, self.iteration)
        rollout = self.play(rng)
        metrics = {"rollout/entropy": 0.0, "schedule/learning_rate": self.learning_rate, "schedule/temperature": self.temperature}
        if len(rollout.action):
            metrics |= self.update(rollout, rng)
            metrics["rollout/entropy"] = -float(rollout.log_prob.mean())
        elif self.iteration == 0:  # which sets the unit of values
            raise ConfigError(
                f"None of {self.config.tables} rounds had a decision: there is nothing to learn, unless more 'tables' have one."
            )
        metrics["rollout/decisions_per_round"] = len(rollout.action) / self.config.tables
        metrics["rollout/payoff_spread"] = rollout.payoff_spread
        return self.finish_iteration(metrics, len(rollout.action), time.perf_counter() - start)

    @property
    def temperature(self) -> float:
        """The temperature that actions are drawn at now, in units of payoff_scale."""
        return math.exp(self.annealed(math.log(self.config.temperature), math.log(self.config.last_temperature)))

    def play(self, rng: np.random.Generator) -> Rollout:
        """Deals a round at each table and plays all of them to the end."""
        batch, c, n = self.tables.batch, self.config, self.setup.players
        if self.past_selves:
            self.past_selves.take(self.player_net, self.iteration)
        self.tables.starts.deal(streams(c.seed, batch.num_tables, stream=self.iteration + 1), self.iteration)
        opponents = self.tables.seat_opponents(self.iteration)
        payoff = batch.reward.astype(np.float32)  # (B, players) so far
        # logits are Q / last_temperature, less what all actions share
        to_current_temperature = np.float32(c.last_temperature / self.temperature)
        actions = np.zeros(batch.num_tables, np.int64)
        none, nothing = np.zeros(0, np.int64), np.zeros(0, np.float32)
        columns: list[tuple[Any, ...]] = [(batch.observation[:0], none, nothing, none, nothing)]
        while not batch.done.all():
            index = np.flatnonzero(~batch.done)
            if opponents:
                actions[index] = opponents.actions(index)
                index = index[opponents.seats[index, batch.seat[index]] == LEARNER]
            seat = batch.seat[index]
            observation = batch.observation[index]
            logits, _ = self.net.evaluate(observation)
            actions[index], log_prob = sample(logits * to_current_temperature, batch.legal[index], rng)
            return_so_far = c.task.payoff(payoff[index])[np.arange(index.size), seat]
            columns.append((observation, actions[index], log_prob, index * n + seat, return_so_far))
            batch.step(actions)
            if opponents:
                opponents.stepped()
            payoff += batch.reward
        observation, action, log_prob, table_seat, return_so_far = (np.concatenate(each) for each in zip(*columns, strict=True))
        target = c.task.payoff(payoff).ravel()[table_seat] - return_so_far
        return Rollout(observation, action, log_prob, target, float(payoff.std()))

    def update(self, rollout: Rollout, rng: np.random.Generator) -> dict[str, float]:
        """Makes the gradient steps on a rollout; returns the metrics."""
        c = self.config
        if self.iteration == 0:
            # the unit of all values from here on
            self.net.payoff_scale.fill_(max(float(rollout.target.std()), 1.0))
        self.optimizer.set_learning_rate(self.learning_rate)
        target = rollout.target / np.float32(self.net.payoff_scale)
        tensors = [torch.from_numpy(array) for array in (rollout.observation, rollout.action, target)]
        predicted = np.empty(len(target), np.float32)  # Q of the actions taken, in the first epoch
        parameters = [*self.net.parameters(), *self.shared.parameters()]
        losses, norms = [], []
        for epoch in range(c.epochs):
            order = torch.from_numpy(rng.permutation(len(target)))
            for rows in torch.split(order, c.minibatch):
                observation, action, returns = (tensor[rows] for tensor in tensors)
                q, value = self.action_values(observation)
                q = q.gather(1, action[:, None]).squeeze(1)
                q_loss = torch.nn.functional.mse_loss(q, returns)
                value_loss = torch.nn.functional.mse_loss(value, returns)
                for parameter in parameters:
                    parameter.grad = None
                (q_loss + value_loss).backward()  # type: ignore[no-untyped-call]
                norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, c.max_grad_norm)))
                self.optimizer.step()
                losses.append((float(q_loss.detach()), float(value_loss.detach())))
                if epoch == 0:
                    predicted[rows.numpy()] = q.detach().numpy()
        mean_q_loss, mean_value_loss = np.mean(losses, axis=0).tolist()
        return {
            "update/action_value_loss": mean_q_loss,
            "update/value_loss": mean_value_loss,
            "update/explained_variance": explained_variance(target, predicted),
            "update/grad_norm": float(np.mean(norms)),
        }

    def action_values(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Returns Q ``(K, A)``, not masked, and the value ``(K,)`` of ``observation (K, size) uint8``, in units of payoff_scale.

        The gradient of the value does not reach the body, which learns from Q only.
        """
        features, _ = self.net.trunk(observation)
        q = self.shared(features) + self.config.last_temperature * self.net.policy(features)
        return q, self.net.value(features.detach()).squeeze(1)


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.train.run.run_iterations` does."""
    return run_iterations(Trainer(config, config.setup()), run, checkpoint, progress)
