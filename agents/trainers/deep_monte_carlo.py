"""Deep Monte Carlo by self-play, top to bottom in one file.

One network plays every seat, seeing seats relative to itself. It tells what each action is worth: what the seat that takes it
still nets in the round, on average. An iteration deals a round at each table, plays all of them to the end, actions drawn the
likelier the more they are worth, and then moves what the network tells of each action taken towards what came of it. That
is all: nothing is bootstrapped, no ratio is clipped, no advantage is estimated; what is learned has the noise of how one round
ended, and no bias. Forced plies are never seen. Rounds being whole, an iteration depends on the seed, its number and the network
alone, so that a resumed run goes on bit for bit.

With a few dozen actions at most, one output an action does what DouZero's network does with the action as an input. What an
action is worth is told in two parts that learn together, one that all actions share, the better part of the noise, and one of
its own:

    Q(action) = shared + temperature * logit(action)

at the last temperature of the schedule. So the policy head holds logits, as PPO's does: softmax(logits) draws from Q at that
temperature, and the likeliest action is the one worth most. The value head learns the returns by itself, on the features as
they are: what a seat nets on average where all play as they did. The network is the one that PPO trains, and its heads mean the
same.

Sources: Zha et al., "DouZero: mastering DouDizhu with self-play deep reinforcement learning", 2021 (deep Monte Carlo); Sutton and
Barto, "Reinforcement learning", 2nd ed. 2018, ch. 5 (Monte Carlo control); Wang et al., "Dueling network architectures for deep
reinforcement learning", 2016, eq. 7 (two parts).
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games import DEFAULT_GAME

from ..arena.duplicate import Duplicate
from ..loading import load_agent
from ..nets.arch import DEFAULT_ARCH, get_arch, make_net
from ..nets.checkpoint import Checkpoint
from ..nets.net_agent import NetAgent
from ..sampling import sample
from ..seeds import Stream, generator
from .checkpointing import checkpoint_of, load_optimizer, named, optimizer_tensors, taking_up, under
from .config import at_least, at_most, option, settle
from .ppo import EVAL_SEED, explained_variance
from .run import Progress, Run, carry_out
from .schedule import anneal


@dataclass(frozen=True)
class Config:
    """What a run of deep Monte Carlo is made of. Values in YAML and ``--set`` go over these."""

    algorithm: str = option("deep_monte_carlo", "the trainer")
    game: str = option(DEFAULT_GAME, "the game")
    preset: str | None = option(None, "the rule sheet (none: the game's usual one)")
    players: int | None = option(None, "seats (none: the game's usual number)")
    rules: dict[str, Any] = option({}, "knobs set over the preset, as in --set rules.decline=never")
    seed: int = option(0, "all chance in the run comes from it")
    iterations: int = option(1000, "updates in all; the schedules run over them")
    tables: int = option(2048, "rounds dealt for each update")
    arch: str = option(DEFAULT_ARCH, "the network: 'mlp', or 'residual' (a block for each of 'hidden', with layer normalisation)")
    hidden: list[int] = option([256, 256], "widths of the network's layers")
    temperature: float = option(0.1, "actions are drawn from softmax(worth / temperature) at the start, in units of payoff_scale")
    last_temperature: float = option(0.02, "and at the end, at no point higher than at the start; it goes down by equal ratios")
    learning_rate: float = option(2e-3, "Adam's step size at the start")
    last_learning_rate: float = option(1e-4, "and at the end")
    epochs: int = option(1, "passes over the decisions of an iteration")
    minibatch: int = option(1024, "decisions in a gradient step")
    max_grad_norm: float = option(10.0, "gradients are scaled down to this norm")
    centre: bool = option(True, "subtract the table's mean from the payoffs: only the differences between seats count")
    threads: int = option(1, "torch's threads; more than the cores that are free makes it many times slower")
    checkpoint_minutes: float = option(2.0, "how old a checkpoint may grow")
    eval_every: int = option(50, "iterations between measurements in the course of the run; 0 = none")
    eval_deals: int = option(1000, "deals of each such measurement")
    eval_against: str = option("random", "the agent whose field it is measured against")

    def __post_init__(self) -> None:
        at_least(self, iterations=1, tables=1, epochs=1, minibatch=1, threads=1, eval_every=0, eval_deals=2)
        at_least(self, seed=0, learning_rate=0, last_learning_rate=0, max_grad_norm=0, checkpoint_minutes=0)
        at_most(self, seed=2**63 - 1)
        if not 0 < self.last_temperature <= self.temperature:
            raise ConfigError(
                "The temperature that actions are drawn at goes from 'temperature' down to 'last_temperature', above 0, "
                f"and they are {self.temperature} and {self.last_temperature}."
            )
        get_arch(self.arch).check_arguments(self.hidden, 0)
        setup = self.setup()
        if self.eval_every:  # a wrong name is an error now and not some iterations later
            load_agent(self.eval_against, setup)

    def setup(self) -> Setup:
        """The game and rules of the run; raises :class:`~nainjaune_env.core.errors.RulesError` where there are none such."""
        return settle(self.game, self.preset, self.players, self.rules)


METRICS = {
    "run/seconds": "seconds spent in iterations, resumed parts added up; measurements and checkpoints do not count",
    "rollout/decisions": "decisions made in all",
    "rollout/decisions_per_round": "real choices in a round, all seats together",
    "rollout/entropy": "mean entropy of what actions were drawn from, in nats, estimated from those drawn",
    "rollout/payoff_spread": "standard deviation of a seat's payoff in a round, in the game's unit (chips, cards)",
    "update/worth_loss": "mean squared error of what the actions taken were said to be worth, in units of payoff_scale squared",
    "update/value_loss": "mean squared error of the value, likewise",
    "update/explained_variance": "1 - var(return - worth) / var(return), as told when a decision came up first",
    "update/grad_norm": "mean gradient norm before scaling down",
    "schedule/learning_rate": "Adam's step size",
    "schedule/temperature": "temperature that actions are drawn at, in units of payoff_scale",
    "speed/decisions_per_second": "decisions of the iteration over its wall time",
    "eval/edge": "edge (chips, cards) a round over the field of `eval_against`, duplicate deals that are the same every time",
    "eval/ci95": "half-width of its 95 % interval",
}
"""Every metric that is logged, and what it says."""


@dataclass
class Rollout:
    """The T decisions of an iteration, in order of time."""

    observation: NDArray[np.uint8]  # (T, size)
    action: NDArray[np.int64]  # (T,)
    log_prob: NDArray[np.float32]  # (T,) of the action, under what it was drawn from
    target: NDArray[np.float32]  # (T,) what the seat netted from then on, see own_share; in the game's unit: chips, cards
    spread: float  # standard deviation of a seat's payoff


class Trainer:
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        torch.set_num_threads(config.threads)
        self.config = config
        self.setup = setup
        chance = torch.Generator().manual_seed(config.seed)
        self.net = make_net(config.arch, setup.layout, len(setup.game.actions), config.hidden, chance)
        self.shared = copy.deepcopy(self.net.value)  # near 0 at the start, as that is
        # Logits are worths over the temperature. With steps that much longer for the head that makes them, worths move as they
        # would if it made those: Adam's steps do not depend on how large gradients are.
        others = [parameter for name, parameter in self.net.named_parameters() if not name.startswith("policy.")]
        others += self.shared.parameters()
        self.optimizer = torch.optim.Adam(
            [{"params": others, "pace": 1.0}, {"params": self.net.policy.parameters(), "pace": 1 / config.last_temperature}]
        )
        self.batch = Batch(setup, config.tables, autoreset=False)
        self.iteration = 0
        self.decisions = 0
        self.seconds = 0.0

    # ---- one iteration -------------------------------------------------------------------------------------------

    def iterate(self) -> dict[str, float]:
        """Play a round at every table and learn from it; gives the metrics."""
        began = time.perf_counter()
        rng = generator(self.config.seed, Stream.TRAINING, self.iteration)
        rollout = self.play(rng)
        metrics = self.update(rollout, rng)
        self.iteration += 1
        self.decisions += len(rollout.action)
        wall = time.perf_counter() - began
        self.seconds += wall
        metrics["run/seconds"] = self.seconds
        metrics["rollout/decisions"] = float(self.decisions)
        metrics["rollout/decisions_per_round"] = len(rollout.action) / self.config.tables
        metrics["rollout/entropy"] = -float(rollout.log_prob.mean())
        metrics["rollout/payoff_spread"] = rollout.spread
        metrics["speed/decisions_per_second"] = len(rollout.action) / wall
        return metrics

    @property
    def fraction(self) -> float:
        """How much of the run is done: what schedules go by."""
        return self.iteration / self.config.iterations

    @property
    def temperature(self) -> float:
        """What actions are drawn at now, in units of payoff_scale."""
        first, last = math.log(self.config.temperature), math.log(self.config.last_temperature)
        return math.exp(anneal(first, last, self.fraction))

    def play(self, rng: np.random.Generator) -> Rollout:
        """Deal a round at each table and play all to the end."""
        batch, n = self.batch, self.setup.players
        batch.reset(seeds=streams(self.config.seed, batch.num_tables, stream=self.iteration + 1))
        netted = batch.reward.astype(np.float32)
        colder = np.float32(self.config.last_temperature / self.temperature)
        actions = np.zeros(batch.num_tables, np.int64)
        decided: list[tuple[Any, ...]] = []
        while not batch.done.all():
            index = np.flatnonzero(~batch.done)
            seat = batch.seat[index]
            observation = batch.observation[index]
            logits, _ = self.net.evaluate(observation)
            actions[index], log_prob = sample(logits * colder, batch.legal[index], rng)
            so_far = self.own_share(netted[index])[np.arange(index.size), seat]
            decided.append((observation, actions[index], log_prob, index * n + seat, so_far))
            batch.step(actions)
            netted += batch.reward
        if not decided:
            raise ConfigError(f"Not one of {self.config.tables} rounds held a choice: there is nothing to learn here.")
        observation, action, log_prob, chain, so_far = (np.concatenate(column) for column in zip(*decided, strict=True))
        target = self.own_share(netted).ravel()[chain] - so_far
        return Rollout(observation, action, log_prob, target, float(netted.std()))

    def own_share(self, net: NDArray[np.float32]) -> NDArray[np.float32]:
        """``net (K, players)`` as learned from: what nobody gets is lost to the whole table, and ``centre`` takes it out."""
        return net - net.mean(axis=1, keepdims=True) if self.config.centre else net

    def update(self, rollout: Rollout, rng: np.random.Generator) -> dict[str, float]:
        """Gradient steps on the decisions of a rollout."""
        c = self.config
        if self.iteration == 0:
            # Fixed from here on: worths are learned in this unit.
            self.net.payoff_scale.fill_(max(float(rollout.target.std()), 1.0))
        rate = anneal(c.learning_rate, c.last_learning_rate, self.fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["pace"]
        target = rollout.target / np.float32(self.net.payoff_scale)
        tensors = [torch.from_numpy(array) for array in (rollout.observation, rollout.action, target)]
        said = np.empty(len(target), np.float32)  # what each action was said to be worth when it came up first
        learned = [*self.net.parameters(), *self.shared.parameters()]
        losses, norms = [], []
        for epoch in range(c.epochs):
            order = torch.from_numpy(rng.permutation(len(target)))
            for rows in torch.split(order, c.minibatch):
                observation, action, goal = (tensor[rows] for tensor in tensors)
                worth, value = self.told(observation)
                worth = worth.gather(1, action[:, None]).squeeze(1)
                worth_loss = torch.nn.functional.mse_loss(worth, goal)
                value_loss = torch.nn.functional.mse_loss(value, goal)
                self.optimizer.zero_grad(set_to_none=True)
                (worth_loss + value_loss).backward()  # type: ignore[no-untyped-call]
                norms.append(float(torch.nn.utils.clip_grad_norm_(learned, c.max_grad_norm)))
                self.optimizer.step()
                losses.append((float(worth_loss.detach()), float(value_loss.detach())))
                if epoch == 0:
                    said[rows.numpy()] = worth.detach().numpy()
        worth_loss, value_loss = np.mean(losses, axis=0).tolist()
        return {
            "update/worth_loss": worth_loss,
            "update/value_loss": value_loss,
            "update/explained_variance": explained_variance(target, said),
            "update/grad_norm": float(np.mean(norms)),
            "schedule/learning_rate": rate,
            "schedule/temperature": self.temperature,
        }

    def told(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """What each action is worth, ``(K, A)``, and the value, ``(K,)``, in units of payoff_scale; not masked.

        ``observation (K, size) uint8``. The body learns from what actions are worth alone.
        """
        features, _ = self.net.trunk(observation)
        worth = self.shared(features) + self.config.last_temperature * self.net.policy(features)
        return worth, self.net.value(features.detach()).squeeze(1)

    def evaluate(self) -> dict[str, float]:
        """The network's edge over the field of ``eval_against``, on deals apart from those it learns on."""
        agents = [NetAgent("net", self.net), load_agent(self.config.eval_against, self.setup)]
        edge = Duplicate(self.setup, agents, seed=EVAL_SEED).edge(0, 1, self.config.eval_deals)
        return {"eval/edge": edge.mean, "eval/ci95": edge.ci95}

    # ---- checkpoints ---------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """All that is needed to go on, and to play."""
        tensors = named("model.", self.net) | named("shared.", self.shared) | optimizer_tensors(self.optimizer)
        progress = {"decisions": float(self.decisions), "seconds": self.seconds}
        return checkpoint_of(self.config, self.setup, iteration=self.iteration, progress=progress, tensors=tensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of this same configuration."""
        with taking_up(checkpoint, self.config, self.setup):
            self.net.load_state_dict(under("model.", checkpoint.tensors))
            self.shared.load_state_dict(under("shared.", checkpoint.tensors))
            load_optimizer(self.optimizer, checkpoint.tensors)
            self.decisions = int(checkpoint.progress["decisions"])
            self.seconds = checkpoint.progress["seconds"]
        self.iteration = checkpoint.iteration


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Train in the folder of ``run``, from ``checkpoint`` on if there is one; ``progress`` is told after each iteration.

    Gives True when all iterations are done, False when it was stopped before; a checkpoint is saved either way.
    """
    return carry_out(Trainer(config, config.setup()), run, checkpoint, progress)
