"""Proximal policy optimisation by self-play, on one page: configuration, advantages, loss, collecting, update.

One network plays every seat. An iteration deals a round at each table, plays all of them to the end, and updates the network on
every decision made; forced plies are no decisions. Since rounds are whole, nothing is truncated or bootstrapped, and an iteration
depends on the seed, its number and the network alone: a resumed run is the same bit for bit.

To change the loss, edit :func:`ppo_loss`, or override ``loss_function``, or :meth:`Trainer.loss` to add a term: autograd does the
rest. While its compiled version computes the same (``ppo_compiled`` compares them), a CPU uses that: 1.09 to 1.24 times faster.

Sources: Schulman et al., "Proximal policy optimization algorithms", 2017 (clipped surrogate, eq. 7 and 9); Schulman et al.,
"High-dimensional continuous control using GAE", 2016; Huang et al., "The 37 implementation details of PPO", 2022.
"""

from __future__ import annotations

import math
import time
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from msgspec import Meta, field
from msgspec.structs import force_setattr
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup

from ..base.sampling import sample
from ..base.seeds import Stream
from ..base.settings import NonNegativeFloat, PositiveInt, Share
from ..players.networks.checkpoint import Checkpoint
from ..players.networks.common_layout import common_layout, seat_counts
from ..players.networks.fused_mlp import RunPair, fast_dtype
from ..players.networks.inference.base import Units
from ..players.networks.modules import masked_log_softmax
from ..players.networks.policy_value import ValueNet
from .base import EMA_MEANING, BaseTrainer, Decay, Rounds, explained_variance
from .gpu_rollout import play_on_gpu, unpacked
from .multitask import MixtureConfig, edges_at, normalized_within, share_out, spread_within
from .opponents import LEARNER, PAST, SELF, PastSelves
from .optimizers import GroupedOptimizer
from .overlap import Overlap, check_overlap
from .ppo_checks import check_config
from .ppo_compiled import compiled_twin
from .ppo_metrics import METRICS as METRICS
from .rollout import NO_CHOICE, Decisions, LearningNets, NetOutput, Rollout, RolloutPolicy, Tables, joined
from .run import Progress, Run, follow_iterations, run_iterations
from .sequences import packed_minibatches

Floats = NDArray[np.float32]


class SelfPlayConfig(MixtureConfig, frozen=True):
    """The keys of every trainer that plays whole rounds by its network for each update."""

    init: Annotated[str | None, "the run whose network training begins from (none: a new one)"] = None
    iterations: Annotated[PositiveInt, "updates in all; schedules run over them"] = 600
    tables: Annotated[Rounds, "rounds dealt for each update"] = 2048
    minibatch: Annotated[PositiveInt, "decisions in a gradient step, at most"] = 1024
    value_weight: Annotated[NonNegativeFloat, "weight of the value loss"] = 0.5
    bf16: Annotated[
        bool | Literal["auto"], "matrix products in bfloat16; 'auto' = where the processor is known to compute them fast"
    ] = False
    ema: Annotated[Decay, EMA_MEANING] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bf16 == "auto":  # a run keeps what was found: another processor would train another network
            force_setattr(self, "bf16", fast_dtype() is torch.bfloat16)

    @property
    def dtype(self) -> torch.dtype:
        """The type of matrix products."""
        return torch.bfloat16 if self.bf16 else torch.float32


class SurrogateConfig(SelfPlayConfig, frozen=True):
    """The keys of every trainer that learns by the clipped surrogate."""

    # the advantage of one decision is 0 once it is centred
    minibatch: Annotated[int, Meta(ge=2), "decisions in a gradient step, at most"] = 1024
    entropy: Annotated[NonNegativeFloat, "weight of the policy's entropy at the start"] = 0.1
    last_entropy: Annotated[NonNegativeFloat, "weight of the policy's entropy at the end"] = 0.005
    epochs: Annotated[PositiveInt, "passes over the decisions of an iteration"] = 2
    target_kl: Annotated[NonNegativeFloat, "no further epoch once the mean 'update/kl' of one is above this; 0 = all epochs"] = (
        0.0
    )
    clip: Annotated[NonNegativeFloat, "how far the probability ratio may move from 1 before its gain is clipped"] = 0.2
    critic_hidden: Annotated[list[Units], "widths of the critic's hidden layers"] = field(default_factory=lambda: [256, 256])

    def __post_init__(self) -> None:
        super().__post_init__()
        check_config(self)


class Config(SurrogateConfig, frozen=True):
    """The configuration of a run of PPO: the defaults, over which values in YAML and ``--set`` go."""

    TRAINS_MEMORY: ClassVar[bool] = True
    algorithm: Annotated[str, "the trainer"] = "ppo"
    recall: Annotated[
        NonNegativeFloat, "weight of predicting, from the GRU's state, the private part of the first observation"
    ] = 0.0
    gae_lambda: Annotated[Share, "lambda of generalised advantage estimation; 1 = plain returns"] = 1.0
    privileged: Annotated[bool, "values from a critic that observes all hands; the policy never does"] = False
    overlap: Annotated[
        bool, "play the rounds of the next iteration while learning from those of this one: for two cores, with threads=1"
    ] = False
    device: Annotated[str, "where tables and networks are: 'cpu', or 'cuda' for an NVIDIA GPU; not with opponents"] = "cpu"


class Minibatch(NamedTuple):
    """The K decisions of a gradient step."""

    observation: Tensor  # (K, size) uint8
    omniscient: Tensor  # (K, critic_obs_size) uint8 for the critic; (K, 0) without
    legal: Tensor  # (K,) int64 words, none 0
    action: Tensor  # (K,) int64, legal
    log_prob: Tensor  # (K,) float32 of the action, under the policy that chose it
    advantage: Tensor  # (K,) float32
    target: Tensor  # (K,) float32, of the value
    value_weight: Tensor  # (K,) float32, of the value's squared error
    batch_sizes: Tensor | None  # of packed sequences for a network with memory, see PolicyValueNet.trunk


def gae(trajectory_id: NDArray[np.int64], return_so_far: Floats, value: Floats, final: Floats, lam: float) -> Floats:
    """Returns generalised advantage estimates of T decisions, undiscounted, every trajectory played to its end.

    Arguments are the columns of a :class:`Rollout`. The reward of a decision is the payoff up to the same seat's next one.
    Schulman et al., "High-dimensional continuous control using GAE", 2016, eq. 16.
    """
    return lambda_errors(trajectory_id, return_so_far, value, value, final, lam)


def lambda_errors(
    trajectory_id: NDArray[np.int64], return_so_far: Floats, value: Floats, expected: Floats, final: Floats, lam: float
) -> Floats:
    """Returns what the lambda-return of each of T decisions is above ``value (T,)``, what is predicted of it there.

    ``expected (T,)``: what the decision before adds to its reward in place of all that follows. Otherwise as :func:`gae`.
    """
    error = np.empty(len(trajectory_id), np.float32)
    later = np.zeros((len(final), 4))  # per trajectory: payoff, expected and error at its next decision; 1 = it has one
    _errors_backward(trajectory_id, return_so_far, value, expected, final, lam, error, later)
    return error


@jit
def _errors_backward(
    trajectory_id: Any, return_so_far: Any, value: Any, expected: Any, final: Any, lam: Any, out: Any, later: Any
) -> None:
    for t in range(trajectory_id.size - 1, -1, -1):
        s = trajectory_id[t]
        if later[s, 3] == 0.0:
            later[s, 0] = final[s]
        delta = later[s, 0] - return_so_far[t] + later[s, 1] - value[t]
        out[t] = delta + lam * later[s, 2]
        later[s, 0] = return_so_far[t]
        later[s, 1] = expected[t]
        later[s, 2] = out[t]
        later[s, 3] = 1.0


def ppo_loss(
    logits: Tensor, value: Tensor, batch: Minibatch, clip: float, value_weight: float, entropy_weight: float
) -> tuple[Tensor, dict[str, Tensor]]:
    """Returns the loss of PPO, a scalar, and its statistics, scalars without gradients.

    The loss is the mean over decisions of ``-min(ratio * A, clip(ratio, 1 - c, 1 + c) * A) + w_v w (v - target)^2 - w_H H(p)``
    with ``ratio = p(a) / p_old(a)``, w the decision's ``value_weight`` and advantages A normalised over ``batch``:
    with several processes, over this one's part of the minibatch.
    """
    advantage = batch.advantage - batch.advantage.mean()
    advantage = advantage / (batch.advantage.std(correction=0) + 1e-8)
    log_probs = masked_log_softmax(logits, unpacked(batch.legal, logits.shape[1]))
    log_ratio = log_probs.gather(1, batch.action[:, None]).squeeze(1) - batch.log_prob
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
    value_loss = (batch.value_weight * (value - batch.target).square()).mean()
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    loss = policy_loss + value_weight * value_loss - entropy_weight * entropy
    stats = {"policy_loss": policy_loss, "value_loss": value_loss, "kl": (ratio - 1 - log_ratio).mean()}
    stats |= {"clip_fraction": ((ratio - 1).abs() > clip).float().mean(), "entropy": entropy}
    return loss, {name: mean.detach() for name, mean in stats.items()}


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    loss_function = staticmethod(ppo_loss)

    action_values = False
    """Whether a critic predicts the value of each action: :meth:`estimates` asks it; ``rollout.value`` is the value head's."""

    def __init__(self, config: Config, setup: Setup, *, run_pair: RunPair | None = None) -> None:
        """``run_pair`` runs two parts of a pass at the same time (None: in turn)."""
        super().__init__(config, setup)
        if config.mixture:
            self.common, self.layout = True, common_layout(setup.game)
        rng = torch.Generator().manual_seed(config.seed)
        self.net = self.new_net(rng)
        critic_layout = self.layout.omniscient(seat_counts(setup.game)[-1] if self.common else setup.players)
        outputs = len(setup.game.actions) if self.action_values else 1
        self.critic = ValueNet(critic_layout, config.critic_hidden, rng, outputs) if config.privileged else None
        modules = {"model.": self.net, "critic.": self.critic}
        self.modules = {prefix: module.to(config.device) for prefix, module in modules.items() if module}
        self.parameters = [parameter for net in self.modules.values() for parameter in net.parameters()]
        hidden_layers = [net.body for net in (self.net, self.critic) if net]
        self.optimizer = GroupedOptimizer(config.optimizer, [{"params": self.parameters}], hidden_layers, eps=1e-5, fused=True)
        self.optimizers = self.optimizer.by_prefix
        self.dtype = config.dtype
        self.policy = RolloutPolicy(self.net, self.critic, self.dtype)
        self.networks = LearningNets(self.net, self.critic, self.dtype, run_pair)
        self.twin = compiled_twin(ppo_loss, Minibatch, config) if self.loss_function is ppo_loss else None
        self.draws = config.task.draws
        self.past_selves = PastSelves(self.net) if PAST in config.shares else None
        self.modules |= self.past_selves.modules() if self.past_selves else {}
        if config.ema:
            self.average_weights("model.", config.ema)
        sizes = self.layout.size, critic_layout.size if self.critic else 0
        self.tables = share_out(
            config, self.part(config.tables), sizes, common=self.common, past=self.past_selves, rank=self.rank
        )
        self.starts = [tables.starts for tables in self.tables]

    def iterate(self) -> dict[str, float]:
        """Plays a round at every table and learns from it; returns the metrics."""
        began = time.perf_counter()
        rollout, rng = self.next_rollout(self.iteration)
        without = self.mean(not len(rollout.action)) > 0  # a process has no decision
        metrics = self.skip_update() if without else self.update(rollout, rng)
        metrics["rollout/decisions_per_round"] = len(rollout.action) / sum(map(len, self.tables))
        metrics["rollout/payoff_spread"] = rollout.payoff_std
        metrics = {name: self.mean(value) for name, value in metrics.items()}
        decisions = round(self.mean(len(rollout.action)) * self.size)
        return self.finish_iteration(metrics, decisions, time.perf_counter() - began)

    # ---- collecting ----------------------------------------------------------------------------------------------

    def next_rollout(self, iteration: int) -> tuple[Rollout, np.random.Generator]:
        """Returns the decisions of ``iteration``, and the generator of that iteration, from which it has drawn."""
        rng = np.random.default_rng(np.random.SeedSequence(self.config.seed, spawn_key=(Stream.TRAINING, iteration)))
        return self.collect(iteration, rng), rng

    def collect(self, iteration: int, rng: np.random.Generator) -> Rollout:
        """Deals a round at each table of this process and plays all to the end."""
        c = self.config
        deals = streams(c.seed, c.tables, stream=iteration + 1)
        rng_states = rng.integers(2**64, size=c.tables, dtype=np.uint64)  # of each table's generator
        self.policy.refresh()
        if self.past_selves:
            self.past_selves.take(self.player_net, iteration)
        for tables in self.tables:
            tables.starts.deal(deals[tables.part], iteration)
        if c.device == "cpu":
            played = [self.play(tables, rng_states[tables.part], iteration) for tables in self.tables]
        else:
            played = play_on_gpu(self.tables, self.policy, rng_states, privileged=c.privileged)
        units = [tables.unit(self.policy.net) for tables in self.tables]
        return joined([tables.rollout(*each, unit) for tables, each, unit in zip(self.tables, played, units, strict=True)])

    def play(self, tables: Tables, rng_states: NDArray[np.uint64], iteration: int) -> tuple[Decisions, Floats]:
        """Plays the rounds that were dealt at ``tables``; returns the decisions, and the payoffs ``(B, players)``."""
        batch, n = tables.batch, tables.setup.players
        opponents, buffer = tables.seat_opponents(iteration), tables.buffer(iteration)
        payoff = batch.reward.astype(np.float32)
        actions = np.zeros(len(tables), np.int64)
        self.policy.begin(len(tables) * n)
        while (index := np.flatnonzero(~batch.done)).size:
            if opponents:
                actions[index] = opponents.actions(index)
                index = index[opponents.seats[index, batch.seat[index]] == LEARNER]
            seat, new = batch.seat[index], buffer.append(index.size)
            tables.observe(index, new.observation)
            if self.critic:
                tables.observe_all(index, new.omniscient)
            new.legal[:], new.trajectory_id[:] = batch.legal[index], index * n + seat
            logits, values = self.policy(torch.from_numpy(new.observation), torch.from_numpy(new.trajectory_id))
            new.action[:], new.log_prob[:] = sample(logits.numpy(), new.legal, RowStreams(rng_states, index))
            new.value[:] = values.numpy()
            new.return_so_far[:] = tables.objective_payoff(payoff[index])[np.arange(index.size), seat]
            actions[index] = new.action
            batch.step(actions)
            if opponents:
                opponents.stepped()
            payoff += batch.reward
        return self.valued(buffer.decisions()), payoff

    def valued(self, decisions: Decisions) -> Decisions:
        """Returns ``decisions`` with the critic's values, if there is a critic of states."""
        if self.critic and not self.action_values and len(decisions.value):
            decisions.value[:] = self.policy.critic_value(torch.from_numpy(decisions.omniscient)).numpy()
        return decisions

    # ---- learning ------------------------------------------------------------------------------------------------

    def estimates(self, rollout: Rollout) -> tuple[Floats, Floats, Floats]:
        """Returns advantages, targets of the value and its predictions, each ``(T,)`` in the game's unit."""
        value = rollout.value
        advantage = gae(rollout.trajectory_id, rollout.return_so_far, value, rollout.final, self.config.gae_lambda)
        return advantage, advantage + value, value

    def update(self, rollout: Rollout, rng: np.random.Generator) -> dict[str, float]:
        """Takes gradient steps on the decisions of a rollout; returns the metrics."""
        c = self.config
        advantage, target, predicted = self.estimates(rollout)
        if self.iteration == 0 and c.init is None and not self.common:
            # Fixed from here on: the value head learns in this unit.
            self.net.payoff_scale.fill_(max(self.mean(float(target.std())), 1.0))
        unit = np.array([tables.unit(self.net) for tables in self.tables], np.float32)[rollout.setup_index]
        if self.common or self.draws:
            advantage = normalized_within(rollout.bucket, advantage)
        value_weight = (unit / spread_within(rollout.bucket, target)) ** 2 if self.draws else np.ones_like(advantage)
        entropy_weight = self.annealed(c.entropy, c.last_entropy)
        self.optimizer.set_learning_rate(self.learning_rate)
        arrays = (rollout.observation, rollout.omniscient, rollout.legal, rollout.action, rollout.log_prob)
        columns = [torch.as_tensor(array, device=c.device) for array in (*arrays, advantage, target / unit, value_weight)]
        logged: list[dict[str, Tensor]] = []  # as tensors: reading a number waits for a GPU
        for epoch in range(1, c.epochs + 1):
            parts = self.minibatch_rows(rollout.trajectory_id, rng)
            # gathered once for all minibatches: seven calls for each would take 2 % of a step
            rows, sizes = torch.cat([rows for rows, _ in parts]).to(c.device), [len(rows) for rows, _ in parts]
            gathered = [torch.split(column.index_select(0, rows), sizes) for column in columns]
            for batch in map(Minibatch, *gathered, (batch_sizes for _, batch_sizes in parts)):
                output = self.networks(batch.observation, batch.omniscient, batch.batch_sizes)
                loss, stats = self.loss(batch, output, entropy_weight)
                for parameter in self.parameters:
                    parameter.grad = None  # Optimizer.zero_grad takes 1 % of a step for its hooks
                loss.backward()  # type: ignore[no-untyped-call]
                self.average_gradients()
                grad_norm = self.networks.clip(c.max_grad_norm)
                self.optimizer.step()
                logged.append(stats | {"grad_norm": grad_norm})
            if c.target_kl and epoch < c.epochs and self.mean(mean_of("kl", logged[-len(parts) :])) > c.target_kl:
                break
        means = {name: mean_of(name, logged) for name in logged[0]}
        return {
            "rollout/entropy": means.pop("entropy"),
            "update/recall_loss": 0.0,
            **{f"update/{name}": mean for name, mean in means.items()},
            "update/explained_variance": explained_variance(target / unit, predicted / unit),
            "update/epochs": float(epoch),
            "schedule/learning_rate": self.learning_rate,
            "schedule/entropy_weight": entropy_weight,
        }

    def skip_update(self) -> dict[str, float]:
        """Returns the metrics of an iteration without an update; raises :class:`ConfigError` in the first, which sets units."""
        if self.iteration == 0:
            raise ConfigError(NO_CHOICE)
        entropy_weight = self.annealed(self.config.entropy, self.config.last_entropy)
        return {"rollout/entropy": 0.0, "schedule/learning_rate": self.learning_rate, "schedule/entropy_weight": entropy_weight}

    def minibatch_rows(self, trajectory_id: NDArray[np.int64], rng: np.random.Generator) -> list[tuple[Tensor, Tensor | None]]:
        """Returns the rows of all decisions once, in random parts, each with its batch sizes: None for a net without memory."""
        if self.net.recurrent:
            return [*packed_minibatches(trajectory_id, self.config.minibatch, rng)]
        # even parts: a small last one would take as long a step as the others, on a noisier gradient
        steps = math.ceil(self.mean(len(trajectory_id)) * self.size / self.config.minibatch)
        return [(torch.from_numpy(rows), None) for rows in np.array_split(rng.permutation(len(trajectory_id)), steps)]

    def loss(self, batch: Minibatch, output: NetOutput, entropy_weight: float) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the loss of a minibatch, a scalar, and its statistics, scalars without gradients. Override it to add a term."""
        c = self.config
        function = self.twin or self.loss_function
        loss, stats = function(output.logits, output.value, batch, c.clip, c.value_weight, entropy_weight)
        if (predicted := output.critic_value) is not None:
            # the value head learns beside the critic: searches use what a seat itself can expect
            if self.action_values:
                predicted = predicted.gather(1, batch.action[:, None]).squeeze(1)
            value_loss = (batch.value_weight * (predicted - batch.target).square()).mean()
            loss, stats["value_loss"] = loss + c.value_weight * value_loss, value_loss.detach()
        if c.recall:
            recall_loss = self.networks.recall_loss(batch.observation, output.state, batch.batch_sizes)
            loss, stats["recall_loss"] = loss + c.recall * recall_loss, recall_loss.detach()
        return loss, stats

    def evaluate(self) -> dict[str, float]:
        """Returns the network's edge over the field of ``eval_against``, on deals apart from those it learns on."""
        if not self.common:
            return super().evaluate()
        setups = self.config.setups()
        return edges_at(setups, self.player_net, self.eval_fields(setups))


def mean_of(name: str, logged: list[dict[str, Tensor]]) -> float:
    """Returns the mean of a statistic over minibatches."""
    return float(torch.stack([stats[name] for stats in logged]).double().mean())


class OverlapTrainer(Overlap, Trainer):
    """The state of a run with ``overlap``."""


def new_trainer(config: Config) -> Trainer:
    """Returns the trainer of a run."""
    return (OverlapTrainer if config.overlap else Trainer)(config, config.setup())


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress, trainer: Trainer | None = None) -> bool:
    """Trains as :func:`~nainjaune_agents.train.run.run_iterations` does; ``trainer`` replaces that of :func:`new_trainer`."""
    trainer = check_overlap(trainer or new_trainer(config))
    if checkpoint is None and config.init is not None:
        # a best response has its own objective, and learns its value function from scratch
        trainer.load_initial_weights(config.init, objective=config.objective if SELF in config.shares else None)
    return (follow_iterations if trainer.rank else run_iterations)(trainer, run, checkpoint, progress)
