"""Proximal policy optimisation by self-play, on one page: collecting, advantages, loss, update.

One network plays every seat. An iteration deals a round at each table, plays all of them to the end, and updates the network on
every decision made; forced plies are no decisions. Since rounds are whole, nothing is truncated or bootstrapped, and an iteration
depends on the seed, its number and the network alone: a resumed run is the same bit for bit. A network with memory
(``recurrent``) is trained on whole sequences, all decisions of a seat in a round: minibatches consist of these, and gradients
flow through all of each.

With ``opponents`` one seat of each table learns, another one each round, and a frozen agent plays the others: what is learned is
a best response to that agent. With a ``mixture`` the tables are of several setups, and the network is one for all tables of the
game: it takes the common layout, which encodes seats and rules. Since payoffs differ much by rules, values are then in units of
:func:`random_payoff_scale`, and advantages are normalised setup by setup before minibatches are drawn.

With ``shards`` the tables are cut into that number of parts, each with minibatches of its own, and ``workers`` processes share
them: a gradient step adds the gradients of all shards, in an order that does not depend on the number of processes.

With ``overlap`` the next iteration's rounds are played in a second thread while the network learns from this one's: by the
weights from before this iteration's update, which the probability ratio of the loss accounts for.

The keys are in ``ppo_config``. An iteration is this file, ``rollout`` (playing, and the advantages), ``sampling`` (actions),
``nets.fused_mlp`` (plain MLPs, forward and backward) and ``ppo_loss`` (the loss). Beside them stand ``gpu_rollout`` (tables on a
GPU), ``sequences`` (for memory), ``multitask`` (several setups), ``magnet``, ``league`` (opponents from a pool), and ``shards``
and ``supervisor`` (several processes).

Sources: Schulman et al., "Proximal policy optimization algorithms", 2017 (clipped surrogate, eq. 7 and 9); Schulman et al.,
"High-dimensional continuous control using GAE", 2016; Huang et al., "The 37 implementation details of PPO", 2022.
"""

from __future__ import annotations

import copy
import math
import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from nainjaune_env.agent import SeatAssignment
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.history import layout_with_history

from ..loading import load_agent
from ..nets.checkpoint import Checkpoint
from ..nets.common_layout import common_layout, seat_counts
from ..nets.fused_mlp import FusedTraining
from ..nets.modules import BeliefHead, ValueNet
from ..nets.payoff_scale import random_payoff_scale
from ..nets.policy_value import PolicyValueNet
from ..seeds import Stream, generator
from .ahead import Ahead
from .base import BaseTrainer, explained_variance
from .gpu_rollout import play_on_gpu
from .league import League
from .magnet import Magnet
from .multitask import edges_at, normalized_within, share_out, spread_within
from .optimizers import GroupedOptimizer, adam_group
from .ppo_config import METRICS, Config
from .ppo_loss import OWN, Decisions, LossWeights, StepMoments, mean_of, ppo_loss
from .rollout import LEARNER, Rollout, RolloutBuffer, RolloutPolicy, joined, play
from .run import Progress, Run, follow_iterations, run_iterations
from .sequences import Sequences, minibatches
from .shards import ALONE, GradientSum, Group, check_equal_weights, step_moments, summed_stats
from .starts import START_GROUPS, RoundStarts, batch_start
from .supervisor import supervise

__all__ = ["METRICS", "Config", "Trainer", "train"]


class NetOutput(NamedTuple):
    """The outputs of the networks for K decisions."""

    logits: Tensor  # (K, A) float32, not masked
    value: Tensor  # (K,) float32
    critic_value: Tensor | None  # (K,) float32, None without a critic
    features: Tensor  # (K, width), which the heads take
    state: Tensor | None  # (K, recurrent) after each decision, None without memory


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup, group: Group = ALONE) -> None:
        """``group``: the processes of the run, which share its shards."""
        super().__init__(config, setup)
        self.group = group
        self.shards = group.shards(config.shards)
        """Those of this process."""
        if config.mixture:
            self.common, self.layout = True, common_layout(setup.game)
        seen = self.layout  # by seats without history; who sees all hands needs none
        all_seen = seen.omniscient(seat_counts(setup.game)[-1] if self.common else setup.players)
        if config.history:
            self.layout = layout_with_history(setup, config.history)

        chance = torch.Generator().manual_seed(config.seed)
        self.net = self.new_net(chance)
        self.critic = ValueNet(all_seen, config.critic_hidden, chance) if config.privileged else None
        self.belief = BeliefHead(self.net.width, seen, all_seen, chance) if config.belief else None
        self.modules = {"model.": self.net}
        self.modules |= {"critic.": self.critic} if self.critic else {}
        self.modules |= {"belief.": self.belief} if self.belief else {}
        for module in self.modules.values():
            module.to(config.device)
        self.parameters = [parameter for module in self.modules.values() for parameter in module.parameters()]
        hidden_layers = [net.body for net in (self.net, self.critic) if net]
        groups = [adam_group(self.parameters)]
        self.optimizer = GroupedOptimizer(config.optimizer, groups, hidden_layers, eps=1e-5, fused=True)
        self.optimizers = self.optimizer.named()

        dtype = torch.bfloat16 if config.bf16 else torch.float32
        self.ahead = Ahead(self.begin_rollout, config.threads) if config.overlap else None
        run_both = self.ahead.run_both if self.ahead else None
        self.fused = FusedTraining(layers, dtype, run_both) if (layers := self.net.fused()) else None
        self.fused_critic = FusedTraining(self.critic.fused(), dtype, run_both) if self.critic else None
        fused = {"model.": self.fused, "critic.": self.fused_critic}
        self.clippings = [
            own.clip_grad_norm_ if (own := fused.get(prefix)) else partial(clip_grad_norm_, list(module.parameters()))
            for prefix, module in self.modules.items()
        ]
        """Scale the gradient of a network down to the norm that they are called with, and return the norm that it had."""
        learning: tuple[PolicyValueNet, ValueNet | None] = (self.net, self.critic)
        self.behaviour = copy.deepcopy(learning) if config.overlap else learning
        """The networks that play rounds: copies that are an iteration behind with ``overlap``, else those that learn."""
        self.policy = RolloutPolicy(*self.behaviour, dtype)
        if config.overlap:
            copies = zip(("behaviour.", "behaviour_critic."), self.behaviour, strict=True)
            self.modules |= {prefix: net for prefix, net in copies if net}
        if config.ema:
            self.average_weights("model.", config.ema)
        self.magnet = Magnet(self.average_weights("magnet.", config.magnet_decay), dtype) if config.magnet else None

        self.gradients = GradientSum(self.parameters, group, config.shards, config.reduction) if config.shards > 1 else None
        self.setups = config.setups() if self.common else [setup]
        options: dict[str, Any] = {"common": self.common, "device": config.device, "start": batch_start(config.task)}
        options |= {"history": config.history, "log": config.opponents is not None or config.league > 0}
        self.first_tables = [config.tables * shard // config.shards for shard in range(config.shards + 1)]
        sizes = [self.first_tables[shard + 1] - self.first_tables[shard] for shard in self.shards]
        self.tables = [tables for size in sizes for tables in share_out(self.setups, size, **options)]
        """Shard by shard, in each of them setup by setup; so are ``starts``, ``buffers`` and ``opponents``."""
        self.starts = [RoundStarts(config.task, tables.batch) for tables in self.tables]
        self.omniscient = bool(self.critic or self.belief)
        larger_size = all_seen.size * self.omniscient
        self.buffers = [[RolloutBuffer(self.layout.size, larger_size) for _ in self.tables] for _ in range(1 + config.overlap)]
        """A list with one for each of ``tables``; with ``overlap`` another one, for every second iteration."""
        self.random_scales = [random_payoff_scale(setup) for setup in self.setups] if self.common else []
        names = () if config.opponents is None else (config.opponents,)
        self.league: League | None = None
        if config.league:
            pool: dict[str, Any] = {"snapshots": config.snapshots, "share": config.league, "matching": config.matching}
            self.modules["league."] = self.league = League(setup, self.net, config.pool, **pool)
        self.opponents = [[load_agent(name, tables.setup) for name in names] for tables in self.tables]

    def iterate(self) -> dict[str, float]:
        """Plays a round at every table and learns from it; returns the metrics."""
        began = time.perf_counter()
        if self.league and self.iteration and self.iteration % self.config.snapshot_every == 0:
            self.league.take_snapshot(self.player_net)
        rollout, rng = self.next_rollout()
        metrics = self.update(rollout, rng)
        metrics["rollout/league_wins"] = self.league.record(rollout.final) if self.league else 0.0
        if self.group.size > 1:
            check_equal_weights(self.group, self.parameters)
        decisions = int(self.group.gather(np.array([len(rollout.action)])).sum())
        wall = time.perf_counter() - began
        metrics["rollout/decisions_per_round"] = decisions / self.config.tables
        metrics["rollout/payoff_spread"] = rollout.payoff_std
        metrics["speed/network_share"] = (rollout.network_seconds + metrics.pop("network_seconds")) / wall
        return self.finish_iteration(metrics, decisions, wall)

    def ends(self, stop_requested: bool) -> bool:
        return super().ends(self.group.any(stop_requested))

    # ---- collecting ----------------------------------------------------------------------------------------------

    def next_rollout(self) -> tuple[Rollout, np.random.Generator]:
        """Returns the rollout of this iteration, with its generator; with ``overlap``, begins to collect that of the next one."""
        if self.ahead is None:
            return self.begin_rollout(self.iteration)
        found = self.ahead.take(self.iteration)
        self.update_behaviour()
        if (following := self.iteration + 1) < self.config.iterations:
            self.ahead.begin(following)
        return found

    def update_behaviour(self) -> None:
        """Copies the weights that learn to the networks that play, where these are copies."""
        for copied, module in zip(self.behaviour, (self.net, self.critic), strict=True):
            if copied and module and copied is not module:
                copied.load_state_dict(module.state_dict())

    def begin_rollout(self, iteration: int) -> tuple[Rollout, np.random.Generator]:
        """Returns the rollout of ``iteration``, and the generator of that iteration, from which it has drawn."""
        rng = generator(self.config.seed, Stream.TRAINING, iteration)
        return self.collect(iteration, rng), rng

    def collect(self, iteration: int, rng: np.random.Generator) -> Rollout:
        """Deals a round at each table of this process and plays all to the end."""
        c = self.config
        own = slice(self.first_tables[self.shards.start], self.first_tables[self.shards.stop])
        cuts = np.cumsum([len(tables) for tables in self.tables])[:-1]
        deals = np.split(streams(c.seed, c.tables, stream=iteration + 1)[own], cuts)
        chance = np.split(rng.integers(2**64, size=c.tables, dtype=np.uint64)[own], cuts)
        self.policy.refresh()
        for starts, seeds in zip(self.starts, deals, strict=True):
            starts.deal(seeds, iteration)
        rollouts, played = [], set()
        for number, rollout in enumerate(self.play(iteration, chance)):
            if rollout is not None:
                shard, task = divmod(number, len(self.setups))
                rollout.value *= np.float32(self.payoff_scales(self.behaviour[0])[task])
                rollout.task[:] = task
                groups = self.starts[number].groups()
                rollout.group[:] = task * START_GROUPS + groups[rollout.sequence // self.setups[task].players]
                rollouts.append(rollout)
                played.add(shard)
        if self.group.any(len(played) < len(self.shards)):
            of = " of a shard" if c.shards > 1 else ""
            raise ConfigError(f"Not one of {c.tables // c.shards} rounds{of} held a choice: there is nothing to learn here.")
        rollout = joined(rollouts)
        rollout.payoff_std = float(self.group.gather(np.array([part.payoff_std for part in rollouts])).mean())
        return rollout

    def play(self, iteration: int, chance: list[NDArray[np.uint64]]) -> list[Rollout | None]:
        """Plays the rounds that were dealt at each of ``tables``, on their device, with generators of each."""
        if self.config.device != "cpu":
            return play_on_gpu(self.tables, self.policy, chance, self.centred_payoff, omniscient=self.omniscient)
        own = enumerate(zip(self.tables, self.buffers[iteration % len(self.buffers)], chance, strict=True))
        return [
            play(tables, self.policy, self.seats(number, iteration), buffer, chance=draws, centred_payoff=self.centred_payoff)
            for number, (tables, buffer, draws) in own
        ]

    def seats(self, number: int, iteration: int) -> SeatAssignment:
        """Returns who plays where at ``tables[number]``: the learner in all seats, or in one beside opponents."""
        tables, opponents = self.tables[number], self.opponents[number]
        shard, task = divmod(number, len(self.setups))
        n = tables.setup.players
        seats = np.full((len(tables), n), 0 if opponents else LEARNER)
        table = np.arange(len(tables))
        seats[table, (table + iteration) % n] = LEARNER
        if self.league:
            opponents = self.league.agents
            self.league.assign(seats, iteration, generator(self.config.seed, Stream.TRAINING, iteration, 0))
        own = (self.shards[shard],) if self.config.shards > 1 else ()
        chance = generator(self.config.seed, Stream.TRAINING, iteration, 1 + task, *own)
        return SeatAssignment(tables.batch, opponents, seats, lambda *_: chance)

    def centred_payoff(self, payoff: Any) -> Any:
        """Returns ``payoff (K, players)``, an array or a tensor, as learned from, by the ``objective``."""
        return self.config.task.payoff(payoff)

    def payoff_scales(self, net: PolicyValueNet) -> list[float]:
        """Returns the unit of the values of ``net`` at each setup, in the game's unit."""
        return self.random_scales if self.common else [float(net.payoff_scale)]

    # ---- learning ------------------------------------------------------------------------------------------------

    def update(self, rollout: Rollout, rng: np.random.Generator) -> dict[str, float]:
        """Takes gradient steps on the decisions of a rollout, and those of other processes; returns the metrics."""
        c = self.config
        # over all shards: the unit, and moments, are those of all decisions
        own_advantage = rollout.advantages(c.gae_lambda)
        columns = (own_advantage, rollout.value, rollout.task, rollout.group)
        advantage, value, task, group = (self.group.gather(column) for column in columns)
        target = advantage + value
        if self.iteration == 0 and c.init is None and not self.common:
            # Fixed from here on: the value head learns in this unit.
            self.net.payoff_scale.fill_(max(float(target.std()), 1.0))
        scale = np.array(self.payoff_scales(self.net), np.float32)[task]
        centre = float(advantage.mean())
        if self.common or c.task.draws:
            advantage, centre = normalized_within(group, advantage), 0.0
        value_weight = (scale / spread_within(group, target)) ** 2 if c.task.draws else np.ones_like(advantage)
        weights = LossWeights(c.clip, c.value_weight, self.annealed(c.entropy, c.last_entropy))
        self.optimizer.set_learning_rate(self.learning_rate)

        counts = self.group.gather(self.decisions_of_shards(rollout))
        mine = slice(first := int(counts[: self.shards.start].sum()), first + len(rollout.action))
        observations, omniscients = (torch.as_tensor(seen, device=c.device) for seen in (rollout.observation, rollout.omniscient))
        whole = (advantage, target / scale, value_weight)
        columns = (rollout.legal, rollout.action, rollout.log_prob, *(column[mine] for column in whole))
        decisions = Decisions(*(torch.as_tensor(column, device=c.device) for column in columns))
        sequences = Sequences(rollout.sequence) if c.recurrent else None
        if self.magnet:
            self.magnet.refresh()
        logged: list[dict[str, Tensor]] = []
        network_seconds = 0.0
        for epoch in range(1, c.epochs + 1):
            parts = self.shuffled(counts, sequences, rng)
            rows, sizes = torch.cat([rows for rows, _ in parts]).to(c.device), [len(rows) for rows, _ in parts]
            # gathered once for all minibatches: seven calls for each would take 2 % of a step
            seen = [torch.split(all_seen.index_select(0, rows), sizes) for all_seen in (observations, omniscients)]
            split = decisions.at(rows).split(sizes)
            steps = len(parts) // len(self.shards)
            moments = [OWN] * steps
            if self.gradients:
                moments = step_moments(self.group, [split[at : at + steps] for at in range(0, len(parts), steps)], centre)
            gathered = list(zip(*seen, split, parts, strict=True))
            stats: list[list[dict[str, Tensor]]] = [[] for _ in self.shards]
            norms: list[Tensor] = []
            for step, over in enumerate(moments):
                for number, shard in enumerate(self.shards):
                    observation, omniscient, minibatch, (_, batch_sizes) = gathered[number * steps + step]
                    clock = time.perf_counter()
                    output = self.outputs(observation, omniscient, batch_sizes)
                    network_seconds += time.perf_counter() - clock
                    loss, found = self.loss(output, observation, omniscient, minibatch, batch_sizes, weights, over)
                    stats[number].append(found)
                    clock = time.perf_counter()
                    for parameter in self.parameters:
                        parameter.grad = None  # Optimizer.zero_grad takes 1 % of a step for its hooks
                    loss.backward()  # type: ignore[no-untyped-call]
                    network_seconds += time.perf_counter() - clock
                    if self.gradients:
                        self.gradients.add(shard)
                if self.gradients:
                    self.gradients.finish()
                policy_norm, *_ = [clip(c.max_grad_norm) for clip in self.clippings]
                norms.append(policy_norm)
                self.optimizer.step()
            means = summed_stats(self.group, stats) if self.gradients else stats[0]
            # as tensors: reading a number waits for a GPU
            logged += [found | {"grad_norm": norm} for found, norm in zip(means, norms, strict=True)]
            if c.target_kl and epoch < c.epochs and mean_of("kl", logged[-steps:]) > c.target_kl:
                break

        over_steps = {name: mean_of(name, logged) for name in logged[0]}
        return {
            "rollout/entropy": over_steps.pop("entropy"),
            "update/recall_loss": 0.0,
            "update/belief_loss": 0.0,
            "update/magnet_kl": 0.0,
            **{f"update/{name}": mean for name, mean in over_steps.items()},
            "update/explained_variance": explained_variance(target / scale, value / scale),
            "update/epochs": float(epoch),
            "schedule/learning_rate": self.learning_rate,
            "schedule/entropy_weight": weights.entropy,
            "network_seconds": network_seconds,
        }

    def decisions_of_shards(self, rollout: Rollout) -> NDArray[np.int64]:
        """Returns how many decisions of the rollout each shard of this process has made."""
        seats = [len(tables) * tables.setup.players for tables in self.tables]
        ends = np.cumsum(seats)[len(self.setups) - 1 :: len(self.setups)]
        return np.bincount(np.searchsorted(ends, rollout.sequence, side="right"), minlength=len(ends))

    def shuffled(
        self, counts: NDArray[np.int64], sequences: Sequences | None, rng: np.random.Generator
    ) -> list[tuple[Tensor, Tensor | None]]:
        """Returns the minibatches of an epoch, see :func:`minibatches`: those of each shard here, as many for one as another.

        ``counts``: the decisions of all shards, in every process.
        """
        c = self.config
        if c.shards == 1:
            return list(minibatches(int(counts[0]), sequences, c.minibatch, rng))
        steps = min(math.ceil(counts.sum() / c.minibatch), int(counts.min()))
        found = []
        seeds = rng.integers(2**64, size=c.shards, dtype=np.uint64)
        begin = 0
        for shard in self.shards:
            chance = np.random.default_rng(seeds[shard])
            own = minibatches(int(counts[shard]), None, c.minibatch, chance, parts=steps)
            found += [(rows + begin, sizes) for rows, sizes in own]
            begin += int(counts[shard])
        return found

    def loss(
        self,
        output: NetOutput,
        observation: Tensor,
        omniscient: Tensor,
        minibatch: Decisions,
        batch_sizes: Tensor | None,
        weights: LossWeights,
        over: StepMoments,
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the loss of a minibatch, a scalar, and its statistics, scalars without gradients.

        ``over``: the step that it is a part of, see ``ppo_loss``.
        """
        c = self.config
        share = 1.0 if over is OWN else over.share(minibatch)
        loss, stats = ppo_loss(output.logits, output.value, minibatch, weights, over)
        if output.critic_value is not None:
            # the value head learns beside the critic: searches use what a seat itself can expect
            value_loss = (minibatch.value_weight * (output.critic_value - minibatch.target).square()).mean() * share
            loss, stats["value_loss"] = loss + c.value_weight * value_loss, value_loss.detach()
        if c.recall:
            assert output.state is not None
            assert batch_sizes is not None
            with self.autocast():
                recall_loss = self.net.recall_loss(observation, output.state, batch_sizes)
            loss, stats["recall_loss"] = loss + c.recall * recall_loss, recall_loss.detach()
        if self.belief:
            with self.autocast():
                belief_loss = self.belief.loss(output.features, omniscient) * share
            loss, stats["belief_loss"] = loss + c.belief * belief_loss, belief_loss.detach()
        if self.magnet:
            magnet_kl = self.magnet.kl(output.logits, minibatch.legal, observation, batch_sizes) * share
            loss, stats["magnet_kl"] = loss + c.magnet * magnet_kl, magnet_kl.detach()
        return loss, stats

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
        return edges_at(self.setups, self.player_net, self.config) if self.common else super().evaluate()


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress, group: Group | None = None) -> bool:
    """Trains as :func:`~nainjaune_agents.trainers.run.run_iterations` does.

    ``group``: the processes that train, this being one of them (None: ``workers`` processes are started here, if more than one).
    """
    if group is None and config.workers > 1:
        return supervise(config, run, progress)
    if group is not None and group.size > 1 and config.overlap:
        raise ConfigError("A run in several processes plays no rounds ahead: set 'overlap' to false.")
    trainer = Trainer(config, config.setup(), group or ALONE)
    if checkpoint is None and config.init is not None:
        # a best response has its own objective, and learns its value function from scratch
        trainer.load_initial_weights(config.init, objective=config.objective if config.opponents is None else None)
        trainer.update_behaviour()
    if trainer.group.rank > 0:
        return follow_iterations(trainer, run, checkpoint)
    return run_iterations(trainer, run, checkpoint, progress)
