"""Proximal policy optimisation by self-play, on one page: configuration, collecting, advantages, loss, update.

One network plays every seat. An iteration deals a round at each table, plays all of them to the end, and updates the network on
every decision made; forced plies are no decisions. Since rounds are whole, nothing is truncated or bootstrapped, and an iteration
depends on the seed, its number and the network alone: a resumed run is the same bit for bit. A network with memory
(``recurrent``) is trained on whole sequences, all decisions of a seat in a round: minibatches consist of these, and gradients
flow through all of each.

With ``opponents`` one seat of each table learns, another one each round, and a frozen agent plays the others: what is learned is
a best response to that agent. With a ``mixture`` the tables are of several setups, and the network is one for all tables of the
game: it takes the common layout, which encodes seats and rules. Since payoffs differ much by rules, values are then in units of
:func:`random_payoff_scale`, and advantages are normalised setup by setup before minibatches are drawn.

An iteration is this file, ``rollout`` (playing, and the advantages), ``sampling`` (actions), ``nets.fused_mlp`` (plain MLPs,
forward and backward) and ``ppo_loss`` (the loss compiled, for the CPU). Beside them stand ``gpu_rollout`` (tables on a GPU),
``sequences`` (for memory), ``multitask`` (several setups), ``magnet`` and ``league`` (opponents from a pool).

Sources: Schulman et al., "Proximal policy optimization algorithms", 2017 (clipped surrogate, eq. 7 and 9); Schulman et al.,
"High-dimensional continuous control using GAE", 2016; Huang et al., "The 37 implementation details of PPO", 2022.
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from nainjaune_env.agent import SeatAssignment
from nainjaune_env.core.errors import ConfigError, choose_one, quoted
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

from ..arena.duplicate import Duplicate
from ..loading import load_agent
from ..nets.checkpoint import Checkpoint
from ..nets.common_layout import common_layout, seat_counts
from ..nets.devices import check_device
from ..nets.fused_mlp import FusedTraining, fast_dtype
from ..nets.modules import BeliefHead, ValueNet, check_weights, masked_log_softmax
from ..nets.net_agent import NetAgent
from ..nets.payoff_scale import random_payoff_scale
from ..nets.specialised import specialised
from ..seeds import Stream, generator
from ..task import Task
from .base import (
    COMMON_METRICS,
    EMA_MEANING,
    EVAL_SEED,
    MOST_EMA,
    MOST_TABLES,
    MOST_UNITS,
    BaseConfig,
    BaseTrainer,
    adam_step,
    explained_variance,
)
from .config import option
from .gpu_rollout import play_on_gpu, unpacked
from .league import MATCHING, League
from .magnet import Magnet
from .multitask import mixed_setups, normalized_within, setup_names, share_out, spread_within
from .ppo_loss import STATS, CompiledLoss, Decisions, LossWeights
from .rollout import LEARNER, Rollout, RolloutBuffer, RolloutPolicy, joined, play
from .run import Progress, Run, run_iterations
from .sequences import Sequences, minibatches
from .starts import START_GROUPS, RoundStarts, batch_start


@dataclass(frozen=True)
class Config(BaseConfig):
    """The configuration of a run of PPO: the defaults, over which values in YAML and ``--set`` go."""

    HAD_CENTRE: ClassVar = True
    algorithm: str = option("ppo", "the trainer")
    mixture: list[dict[str, Any]] = option(
        [], "setups to train one network at, in place of preset and players (none: only these)"
    )
    init: str | None = option(None, "the run whose network training begins from (none: a new one)")
    opponents: str | None = option(None, "a frozen agent in all seats but one, which learns (none: all seats learn)")
    league: float = option(0.0, "share of tables where a member of a pool plays all seats but one; 0 = none", low=0, high=1)
    pool: list[str] = option([], "agents in that pool, beside past selves")
    snapshots: int = option(8, "past selves in the pool, the newest ones", low=0)
    snapshot_every: int = option(25, "iterations between two past selves", low=1)
    matching: str = option("uniform", "how members are drawn: 'uniform', or 'prioritised', more often those that win")
    iterations: int = option(600, "updates in all; schedules run over them", low=1)
    tables: int = option(2048, "rounds dealt for each update", low=1, high=MOST_TABLES)
    recurrent: int = option(0, "units of a GRU along the decisions of a seat in a round; 0 = no memory", low=0, high=MOST_UNITS)
    recall: float = option(0.0, "weight of predicting, from the GRU's state, the private part of the first observation", low=0)
    entropy: float = option(0.1, "weight of the policy's entropy at the start", low=0)
    last_entropy: float = option(0.005, "weight of the policy's entropy at the end", low=0)
    epochs: int = option(2, "passes over the decisions of an iteration", low=1)
    minibatch: int = option(1024, "decisions in a gradient step, at most", low=1)
    target_kl: float = option(0.0, "no further epoch once the mean 'update/kl' of one is above this; 0 = all epochs", low=0)
    clip: float = option(0.2, "how far the probability ratio may move from 1 before its gain is clipped", low=0)
    gae_lambda: float = option(1.0, "lambda of generalised advantage estimation; 1 = plain returns", low=0, high=1)
    value_weight: float = option(0.5, "weight of the value loss", low=0)
    privileged: bool = option(False, "values from a critic that observes all hands; the policy never does")
    critic_hidden: list[int] = option([256, 256], "widths of the critic's hidden layers", low=1, high=MOST_UNITS)
    belief: float = option(0.0, "weight of predicting, from the policy's features, what all other seats hold", low=0)
    bf16: bool | str = option(False, "matrix products in bfloat16; 'auto' = where the processor is known to compute them fast")
    magnet: float = option(0.0, "weight of KL(policy || magnet), the magnet being an average of past policies; 0 = none", low=0)
    magnet_decay: float = option(0.99, "decay, an iteration, of the average of the weights that is the magnet", low=0, high=1)
    ema: float = option(0.0, EMA_MEANING, low=0, high=MOST_EMA)
    device: str = option("cpu", "where tables and networks are: 'cpu', or 'cuda' for an NVIDIA GPU; not with opponents")

    def __post_init__(self) -> None:
        if self.bf16 == "auto":  # a run keeps what was found: another processor would train another network
            object.__setattr__(self, "bf16", fast_dtype() is torch.bfloat16)
        if not isinstance(self.bf16, bool):
            raise ConfigError(f"'bf16' is true, false or 'auto', not {quoted(self.bf16)}.")
        if self.recall and not self.recurrent:
            raise ConfigError("'recall' trains the memory of a network, and 'recurrent' is 0: set it too.")
        if self.mixture and not self.hidden:
            raise ConfigError("A network for a mixture has at least one hidden layer, and 'hidden' is empty.")
        if check_device(self.device) != "cpu" and self.opponents is not None:
            raise ConfigError("Opponents play on the CPU: with device='cuda' there is no 'opponents'.")
        if self.league and (self.mixture or self.opponents is not None or self.device != "cpu"):
            raise ConfigError("A league plays at tables of one setup, on the CPU: with it there is no mixture and no opponents.")
        if self.league and not self.pool and not self.snapshots:
            raise ConfigError("A league has a 'pool' of agents or 'snapshots' of past selves, and there are none.")
        if self.matching not in MATCHING:
            raise ConfigError(choose_one("matching", self.matching, MATCHING))
        super().__post_init__()
        check_weights(sum(a * b for a, b in pairwise(self.critic_hidden)))
        for setup in self.setups():
            for name in self.pool if self.opponents is None else [*self.pool, self.opponents]:
                load_agent(name, setup)

    def setups(self) -> list[Setup]:
        """Returns the setups of training: those of the mixture, or the one of :meth:`setup`."""
        return mixed_setups(self.game, self.mixture, self.rules) if self.mixture else [self.setup()]


METRICS = {
    **COMMON_METRICS,
    "rollout/decisions_per_round": "decisions in a round, all seats together",
    "rollout/entropy": "mean entropy of the policy at decisions, in nats",
    "rollout/payoff_spread": "standard deviation of a seat's payoff in a round, in the game's unit (chips, cards); "
    "with a mixture the mean over setups",
    "rollout/league_wins": "share of the league's rounds in which the learner netted more than the mean of the table, ties half",
    "update/policy_loss": "clipped surrogate loss",
    "update/recall_loss": "mean cross-entropy of the private bytes of first observations, predicted from the GRU's state",
    "update/belief_loss": "mean cross-entropy of the predicted private observations of all other seats",
    "update/magnet_kl": "mean KL(policy || magnet), in nats; 0 without a magnet",
    "update/value_loss": "mean squared error of the value, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(return - value) / var(return), before the update",
    "update/kl": "mean estimate of KL(old || new), (ratio - 1) - log(ratio) (Schulman's k3)",
    "update/epochs": "passes made over the decisions; fewer than the key `epochs` where `target_kl` ended them",
    "update/clip_fraction": "share of decisions whose ratio left the clip range",
    "update/grad_norm": "mean gradient norm before scaling down",
    "schedule/learning_rate": "Adam's step size",
    "schedule/entropy_weight": "weight of the entropy",
    "speed/network_share": "share of the wall time in forward and backward passes of the networks",
    "eval/edge": COMMON_METRICS["eval/edge"] + "; with a mixture the mean over setups, and `eval/edge/<preset>-<seats>` for each",
}
"""Every metric that is logged, with its meaning."""


class NetOutput(NamedTuple):
    """The outputs of the networks for K decisions."""

    logits: Tensor  # (K, A) float32, not masked
    value: Tensor  # (K,) float32
    critic_value: Tensor | None  # (K,) float32, None without a critic
    features: Tensor  # (K, width), which the heads take
    state: Tensor | None  # (K, recurrent) after each decision, None without memory


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        super().__init__(config, setup)
        if config.mixture:
            self.common, self.layout = True, common_layout(setup.game)
        all_seen = self.layout.omniscient(seat_counts(setup.game)[-1] if self.common else setup.players)

        chance = torch.Generator().manual_seed(config.seed)
        self.net = self.new_net(chance, recurrent=config.recurrent)
        self.critic = ValueNet(all_seen, config.critic_hidden, chance) if config.privileged else None
        self.belief = BeliefHead(self.net.width, self.layout, all_seen, chance) if config.belief else None
        self.modules = {"model.": self.net}
        self.modules |= {"critic.": self.critic} if self.critic else {}
        self.modules |= {"belief.": self.belief} if self.belief else {}
        for module in self.modules.values():
            module.to(config.device)
        self.parameters = [parameter for module in self.modules.values() for parameter in module.parameters()]
        self.optimizer: torch.optim.Adam = torch.optim.Adam(self.parameters, lr=config.learning_rate, eps=1e-5, fused=True)

        dtype = torch.bfloat16 if config.bf16 else torch.float32
        layers = self.net.fused()
        self.fused = FusedTraining(layers, dtype) if layers else None
        self.fused_critic = FusedTraining(self.critic.fused(), dtype) if self.critic else None
        fused = {"model.": self.fused, "critic.": self.fused_critic}
        self.clippings = [
            own.clip_grad_norm_ if (own := fused.get(prefix)) else partial(clip_grad_norm_, list(module.parameters()))
            for prefix, module in self.modules.items()
        ]
        """Scale the gradient of a network down to the norm that they are called with, and return the norm that it had."""
        self.policy = RolloutPolicy(self.net, self.critic, dtype)
        if config.ema:
            self.average_weights("model.", config.ema)
        self.magnet = Magnet(self.average_weights("magnet.", config.magnet_decay), dtype) if config.magnet else None

        setups = config.setups() if self.common else [setup]
        self.tables = share_out(setups, config.tables, common=self.common, device=config.device, start=batch_start(config.task))
        self.starts = [RoundStarts(config.task, tables.batch) for tables in self.tables]
        larger_size = all_seen.size if self.critic or self.belief else 0
        self.buffers = [RolloutBuffer(self.layout.size, larger_size) for _ in self.tables]
        self.random_scales = [random_payoff_scale(tables.setup) for tables in self.tables] if self.common else []
        names = () if config.opponents is None else (config.opponents,)
        self.league: League | None = None
        if config.league:
            pool: dict[str, Any] = {"snapshots": config.snapshots, "share": config.league, "matching": config.matching}
            self.modules["league."] = self.league = League(setup, self.net, config.pool, **pool)
        self.opponents = [[load_agent(name, tables.setup) for name in names] for tables in self.tables]

    def iterate(self) -> dict[str, float]:
        """Plays a round at every table and learns from it; returns the metrics."""
        began = time.perf_counter()
        rng = generator(self.config.seed, Stream.TRAINING, self.iteration)
        if self.league and self.iteration and self.iteration % self.config.snapshot_every == 0:
            self.league.take_snapshot(self.player_net)
        rollout = self.collect(rng)
        metrics = self.update(rollout, rng)
        metrics["rollout/league_wins"] = self.league.record(rollout.final) if self.league else 0.0
        wall = time.perf_counter() - began
        metrics["rollout/decisions_per_round"] = len(rollout.action) / self.config.tables
        metrics["rollout/payoff_spread"] = rollout.payoff_std
        metrics["speed/network_share"] = (rollout.network_seconds + metrics.pop("network_seconds")) / wall
        return self.finish_iteration(metrics, len(rollout.action), wall)

    # ---- collecting ----------------------------------------------------------------------------------------------

    def collect(self, rng: np.random.Generator) -> Rollout:
        """Deals a round at each table and plays all to the end."""
        c = self.config
        deals = streams(c.seed, c.tables, stream=self.iteration + 1)
        chance = rng.integers(2**64, size=c.tables, dtype=np.uint64)
        ends = np.cumsum([len(tables) for tables in self.tables])
        self.policy.refresh()
        rollouts = []
        for task, (tables, end) in enumerate(zip(self.tables, ends, strict=True)):
            own = slice(end - len(tables), end)
            self.starts[task].deal(deals[own], self.iteration)
            rollout = self.play(task, chance[own])
            if rollout is not None:
                rollout.value *= np.float32(self.payoff_scales()[task])
                rollout.task[:] = task
                groups = self.starts[task].groups() if c.task.draws else np.zeros(len(tables), np.int64)
                rollout.group[:] = task * START_GROUPS + groups[rollout.sequence // tables.setup.players]
                rollouts.append(rollout)
        if not rollouts:
            raise ConfigError(f"Not one of {c.tables} rounds held a choice: there is nothing to learn here.")
        return joined(rollouts)

    def play(self, task: int, chance: NDArray[np.uint64]) -> Rollout | None:
        """Plays the rounds that were dealt at the tables of a setup, on their device."""
        tables, centred = self.tables[task], self.centred_payoff
        if self.config.device != "cpu":
            omniscient = bool(self.critic or self.belief)
            return play_on_gpu(tables, self.policy, omniscient=omniscient, chance=chance, centred_payoff=centred)
        return play(tables, self.policy, self.seats(task), self.buffers[task], chance=chance, centred_payoff=centred)

    def seats(self, task: int = 0) -> SeatAssignment:
        """Returns who plays where at the tables of a setup: the learner in all seats, or in one beside opponents."""
        tables, opponents = self.tables[task], self.opponents[task]
        n = tables.setup.players
        seats = np.full((len(tables), n), 0 if opponents else LEARNER)
        table = np.arange(len(tables))
        seats[table, (table + self.iteration) % n] = LEARNER
        if self.league:
            opponents = self.league.agents
            self.league.assign(seats, self.iteration, generator(self.config.seed, Stream.TRAINING, self.iteration, 0))
        chance = generator(self.config.seed, Stream.TRAINING, self.iteration, 1 + task)
        return SeatAssignment(tables.batch, opponents, seats, lambda *_: chance)

    def centred_payoff(self, payoff: Any) -> Any:
        """Returns ``payoff (K, players)``, an array or a tensor, as learned from, by the ``objective``."""
        return self.config.task.payoff(payoff)

    def payoff_scales(self) -> list[float]:
        """Returns the unit of the network's values at each setup, in the game's unit."""
        return self.random_scales if self.common else [float(self.net.payoff_scale)]

    # ---- learning ------------------------------------------------------------------------------------------------

    def update(self, rollout: Rollout, rng: np.random.Generator) -> dict[str, float]:
        """Takes gradient steps on the decisions of a rollout; returns the metrics."""
        c = self.config
        advantage = rollout.advantages(c.gae_lambda)
        target = advantage + rollout.value
        if self.iteration == 0 and c.init is None and not self.common:
            # Fixed from here on: the value head learns in this unit.
            self.net.payoff_scale.fill_(max(float(target.std()), 1.0))
        scale = np.array(self.payoff_scales(), np.float32)[rollout.task]
        if self.common or c.task.draws:
            advantage = normalized_within(rollout.group, advantage)
        value_weight = (scale / spread_within(rollout.group, target)) ** 2 if c.task.draws else np.ones_like(advantage)
        weights = LossWeights(c.clip, c.value_weight, self.annealed(c.entropy, c.last_entropy))
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate

        observations, omniscients = (torch.as_tensor(seen, device=c.device) for seen in (rollout.observation, rollout.omniscient))
        columns = (rollout.legal, rollout.action, rollout.log_prob, advantage, target / scale, value_weight)
        decisions = Decisions(*(torch.as_tensor(column, device=c.device) for column in columns))
        sequences = Sequences(rollout.sequence) if c.recurrent else None
        if self.magnet:
            self.magnet.refresh()
        logged: list[dict[str, Tensor]] = []
        network_seconds = 0.0
        for epoch in range(1, c.epochs + 1):
            parts = list(minibatches(len(rollout.action), sequences, c.minibatch, rng))
            rows, sizes = torch.cat([rows for rows, _ in parts]).to(c.device), [len(rows) for rows, _ in parts]
            # gathered once for all minibatches: seven calls for each would take 2 % of a step
            seen = [torch.split(all_seen.index_select(0, rows), sizes) for all_seen in (observations, omniscients)]
            gathered = zip(*seen, decisions.at(rows).split(sizes), parts, strict=True)
            for observation, omniscient, minibatch, (_, batch_sizes) in gathered:
                clock = time.perf_counter()
                output = self.outputs(observation, omniscient, batch_sizes)
                network_seconds += time.perf_counter() - clock

                loss, stats = ppo_loss(output.logits, output.value, minibatch, weights)
                if output.critic_value is not None:
                    # the value head learns beside the critic: searches use what a seat itself can expect
                    value_loss = (minibatch.value_weight * (output.critic_value - minibatch.target).square()).mean()
                    loss, stats["value_loss"] = loss + c.value_weight * value_loss, value_loss.detach()
                if c.recall:
                    assert output.state is not None
                    assert batch_sizes is not None
                    with self.autocast():
                        recall_loss = self.net.recall_loss(observation, output.state, batch_sizes)
                    loss, stats["recall_loss"] = loss + c.recall * recall_loss, recall_loss.detach()
                if self.belief:
                    with self.autocast():
                        belief_loss = self.belief.loss(output.features, omniscient)
                    loss, stats["belief_loss"] = loss + c.belief * belief_loss, belief_loss.detach()
                if self.magnet:
                    magnet_kl = self.magnet.kl(output.logits, minibatch.legal, observation, batch_sizes)
                    loss, stats["magnet_kl"] = loss + c.magnet * magnet_kl, magnet_kl.detach()

                clock = time.perf_counter()
                for parameter in self.parameters:
                    parameter.grad = None  # Optimizer.zero_grad takes 1 % of a step for its hooks
                loss.backward()  # type: ignore[no-untyped-call]
                network_seconds += time.perf_counter() - clock
                norms = [clip(c.max_grad_norm) for clip in self.clippings]
                adam_step(self.optimizer)
                logged.append(stats | {"grad_norm": norms[0]})  # as tensors: reading a number waits for a GPU
            if c.target_kl and epoch < c.epochs and mean_of("kl", logged[-len(parts) :]) > c.target_kl:
                break

        means = {name: mean_of(name, logged) for name in logged[0]}
        return {
            "rollout/entropy": means.pop("entropy"),
            "update/recall_loss": 0.0,
            "update/belief_loss": 0.0,
            "update/magnet_kl": 0.0,
            **{f"update/{name}": mean for name, mean in means.items()},
            "update/explained_variance": explained_variance(target / scale, rollout.value / scale),
            "update/epochs": float(epoch),
            "schedule/learning_rate": self.learning_rate,
            "schedule/entropy_weight": weights.entropy,
            "network_seconds": network_seconds,
        }

    def outputs(self, observation: Tensor, omniscient: Tensor, batch_sizes: Tensor | None) -> NetOutput:
        """Returns the outputs of the networks, with gradients.

        ``observation (K, size) uint8``, ``omniscient (K, larger size) uint8`` for the critic; ``batch_sizes`` of packed sequences
        for a network with memory, see :meth:`~nainjaune_agents.nets.policy_value.PolicyValueNet.trunk`.
        """
        critic_value = self.fused_critic(omniscient)[0].squeeze(1) if self.fused_critic else None
        if self.fused:
            logits, value, features = self.fused(observation)
            return NetOutput(logits, value.squeeze(1), critic_value, features, None)
        with self.autocast():
            features, state = self.net.trunk(observation, sequences=batch_sizes)
            logits, value = self.net.heads(features)
        return NetOutput(logits, value, critic_value, features, state)

    def autocast(self) -> torch.autocast:
        """Returns the context of what is not fused: bfloat16 products with ``bf16``."""
        return torch.autocast(self.net.device.type, torch.bfloat16, enabled=bool(self.config.bf16))

    def evaluate(self) -> dict[str, float]:
        """Returns the network's edge over the field of ``eval_against``, on deals apart from those it learns on."""
        edges = []
        for task, tables in enumerate(self.tables):
            net = specialised(copy.deepcopy(self.player_net).cpu(), tables.setup) if self.common else self.player_net
            agents = [NetAgent("net", net), load_agent(self.config.eval_against, tables.setup)]
            duplicate = Duplicate(tables.setup, agents, seed=EVAL_SEED + task, task=Task(start=self.config.start))
            edges.append(duplicate.edge(0, 1, self.config.eval_deals))
        metrics = {"eval/edge": float(np.mean([edge.mean for edge in edges]))}
        metrics["eval/ci95"] = math.hypot(*(edge.ci95 for edge in edges)) / len(edges)
        if self.common:
            names = setup_names([tables.setup for tables in self.tables])
            metrics |= {f"eval/edge/{name}": edge.mean for name, edge in zip(names, edges, strict=True)}
        return metrics


def ppo_loss(
    logits: Tensor, value: Tensor, decisions: Decisions, weights: LossWeights, *, compiled: bool = True
) -> tuple[Tensor, dict[str, Tensor]]:
    """Returns the loss of PPO, a scalar, and its statistics, scalars without gradients.

    The loss is the mean over decisions of ``-min(ratio * A, clip(ratio, 1 - c, 1 + c) * A) + w_v w (v - target)^2 - w_H H(p)``
    with ``ratio = p(a) / p_old(a)``, w the decision's ``value_weight`` and advantages A normalised over the minibatch.
    ``logits (K, A) float32``, not masked, and ``value (K,) float32``. On a CPU the same is computed in one compiled pass, unless
    ``compiled`` is False.
    """
    if compiled and logits.device.type == "cpu":
        loss, stats = CompiledLoss.apply(logits, value, decisions, weights)  # type: ignore[no-untyped-call]
        return loss, dict(zip(STATS, stats.unbind(), strict=True))
    advantage = (decisions.advantage - decisions.advantage.mean()) / (decisions.advantage.std(correction=0) + 1e-8)
    log_probs = masked_log_softmax(logits, unpacked(decisions.legal, logits.shape[1]))
    log_ratio = log_probs.gather(1, decisions.action[:, None]).squeeze(1) - decisions.log_prob
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - weights.clip, 1 + weights.clip)
    policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
    value_loss = (decisions.value_weight * (value - decisions.target).square()).mean()
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    loss = policy_loss + weights.value * value_loss - weights.entropy * entropy
    kl, clip_fraction = (ratio - 1 - log_ratio).mean(), ((ratio - 1).abs() > weights.clip).float().mean()
    stats = (policy_loss, value_loss, kl, clip_fraction, entropy)
    return loss, {name: stat.detach() for name, stat in zip(STATS, stats, strict=True)}


def mean_of(name: str, logged: list[dict[str, Tensor]]) -> float:
    """Returns the mean of a statistic over minibatches."""
    return float(torch.stack([stats[name] for stats in logged]).double().mean())


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.trainers.run.run_iterations` does."""
    trainer = Trainer(config, config.setup())
    if checkpoint is None and config.init is not None:
        # a best response has its own objective, and learns its value anew
        trainer.load_initial_weights(config.init, objective=config.objective if config.opponents is None else None)
    return run_iterations(trainer, run, checkpoint, progress)
