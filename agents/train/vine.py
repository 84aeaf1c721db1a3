"""Policy gradient over all actions, by rollouts from the states of self-play (vines), on one page.

One network plays every seat. At each choice of a round, each action that a search would try is tried at a copy of the table, and
the network plays the round to its end. These payoffs differ by the action alone, while a return of PPO has the luck of
the deal and of all later draws in it:

    Q(s, a) = payoff of the round after action a in the state s; later actions are the policy's likeliest
    A(s, a) = Q(s, a) - mean of Q(s, .) over the tried actions                                       0 for the others
    loss    = mean over choices of  -sum_a pi(a | o) A(s, a) / scale + w_r KL(reference || pi) + w_v (v(o) - return)^2

where o is what the seat to act observes of s. The hidden cards in s are the true ones. They led to the plies before, so they are
a draw from what these plies say about them: the mean of Q over the states with the same observation is the value of the action
there, without any inference about hidden cards. The policy never observes them.

Choices are sampled: one is tried with its inclusion probability q (:func:`inclusion_probability`) and then counts 1 / q, so that
the mean of the loss is that over all choices (Horvitz and Thompson, 1952). The gradient of a choice by the logits,
pi(a | o) (A(s, a) - mean of A over pi), is next to nothing where the policy is nearly certain, as it is at most choices.

The policy needs no values: v learns from the features as they are, and its gradient ends there. Through the layers that it shares
with the policy it would cost more than the rollouts teach (docs/lab/training.md, Vines).

The reference is the network that training begins from; without one it is the uniform policy, and the KL divergence an entropy
bonus. Rounds depend on the seed, the iteration and the network alone, not on the number of threads, so that a resumed run is the
same bit for bit.

Sources: Schulman et al., "Trust region policy optimization", 2015, section 5.2 (vine: several actions tried from one state, with
common random numbers); Sutton et al., "Comparing policy-gradient algorithms", 2001 (the gradient over all actions); Tesauro and
Galperin, "On-line policy improvement using Monte-Carlo search", 1996 (rollouts by the policy that is improved); Horvitz and
Thompson, "A generalization of sampling without replacement from a finite universe", 1952.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

from ..base.devices import check_device, set_torch_threads
from ..base.sampling import sample
from ..base.seeds import Stream, generator
from ..base.settings import NonNegativeFloat
from ..base.task import CARRIED
from ..players.networks.checkpoint import Checkpoint
from ..players.networks.common_layout import CommonView, common_layout, random_payoff_scale
from ..players.networks.modules import masked_log_softmax
from ..players.networks.net_agent import NetAgent
from ..players.networks.policy_value import PolicyValueNet
from ..players.networks.torch_nets import has_inference, inference_net, specialised
from ..players.search.agent import UNLIKELY
from ..players.search.rollouts import Rollouts, rollouts_by
from ..players.search.values import as_bits
from .base import COMMON_METRICS, BaseTrainer
from .gpu_rollout import unpacked
from .multitask import edges_at, tables_of_each
from .opponents import SELF
from .optimizers import GroupedOptimizer
from .ppo import METRICS as PPO_METRICS
from .ppo import SelfPlayConfig
from .rollout import NO_CHOICE, LearningNets, RolloutPolicy, RoundStarts
from .run import Progress, Run, run_iterations

BLOCK = {"cpu": 512, "cuda": 1 << 14}
"""Most tables that a thread plays at once, by the device of their rollouts."""
DRAWN = 0.33
"""Share of the rounds whose actions are drawn from the policy; in the others they are its likeliest."""
MIN_INCLUSION = 0.1
"""Least inclusion probability of a choice."""
FULL_INCLUSION = 0.15
"""How often two draws from the policy differ at least, where every choice is learned from; below, q is in proportion to it."""
NONE_SAMPLED = "None of {} choices was sampled, as the policy is nearly certain at all of them: more 'tables' have more choices."
"""What an error says where there were choices, and nothing to learn from."""


class Config(SelfPlayConfig, frozen=True):
    """The configuration of a run."""

    algorithm: Annotated[str, "the trainer"] = "vine"
    reference_weight: Annotated[NonNegativeFloat, "weight of KL(reference || policy)"] = 0.01
    device: Annotated[str, "where rollouts and the network are: 'cpu', or 'cuda' for an NVIDIA GPU"] = "cpu"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_device(self.device)
        if [*self.shares] != [SELF]:
            raise ConfigError("The network plays all seats, in rollouts too: 'opponents' is none here.")
        if self.start == CARRIED:
            raise ConfigError("Tables keep nothing from one round to the next here, so 'start' is not 'carried'.")


SHARED = (*COMMON_METRICS, "rollout/entropy", "update/value_loss", "update/grad_norm", "schedule/learning_rate")
METRICS = {
    **{name: PPO_METRICS[name] for name in SHARED},
    "rollout/tried": "mean number of actions tried at a decision; 1 where the policy is certain",
    "rollout/sampled": "share of the decisions learned from",
    "update/policy_loss": "minus the policy's mean advantage over a uniform choice of the tried actions, over `payoff_scale`",
    "update/reference_kl": "mean of KL(reference || policy), in nats",
}
"""Every metric that is logged, with its meaning."""


class Choices(NamedTuple):
    """K decisions with at least two legal actions."""

    observation: NDArray[np.uint8]  # (K, size) as the network takes it
    legal: NDArray[np.int64]  # (K,) bits of the legal actions
    advantage: NDArray[np.float32]  # (K, A) of the actions tried, in the game's unit; 0 for others
    tried: NDArray[np.int64]  # (K,) number of actions tried
    netted: NDArray[np.float32]  # (K,) by the seat in the rest of the round, in the game's unit
    weight: NDArray[np.float32]  # (K,) in the loss


class Played(NamedTuple):
    """K decisions with at least two legal actions, before the rollouts."""

    observation: NDArray[np.uint8]  # (K, size) as the network takes it
    legal: NDArray[np.int64]  # (K,) bits of the legal actions
    tables: NDArray[Any]  # (K,) records of the tables
    tried: NDArray[np.bool_]  # (K, A) whether an action is tried
    taken: NDArray[np.int64]  # (K,) the action of which the round itself is the rollout; -1 where none is
    payoff: NDArray[np.float32]  # (K,) of the seat in the round, in the game's unit
    netted: NDArray[np.float32]  # (K,) of it in the rest of the round
    weight: NDArray[np.float32]  # (K,) in the loss
    decisions: int  # with at least two legal actions in these rounds, of which K are learned from

    def evaluated(self, rollouts: Rollouts) -> Choices:
        """Tries the actions by ``rollouts``."""
        known = np.flatnonzero(self.taken >= 0)
        to_try = self.tried & (self.tried.sum(axis=1, keepdims=True) > 1)
        to_try[known, self.taken[known]] = False
        value = rollouts.values(self.tables, as_bits(to_try))
        value[known, self.taken[known]] = self.payoff[known]
        advantage, tried = above_mean(value, self.tried), self.tried.sum(axis=1)
        return Choices(self.observation, self.legal, advantage, tried, self.netted, self.weight)


class Tables:
    """Some tables of one setup, which one thread plays."""

    def __init__(self, config: Config, setup: Setup, setup_index: int, count: int, number: int) -> None:
        """``count`` tables; ``setup_index`` among the setups of the run, ``number`` among all parts of its tables."""
        self.config, self.setup, self.setup_index, self.number = config, setup, setup_index, number
        self.scale = random_payoff_scale(setup)
        self._batch = Batch(setup, count, autoreset=False)
        self._starts = RoundStarts(config.task, self._batch)
        self._view = CommonView(setup) if config.mixture else None

    def __len__(self) -> int:
        return self._batch.num_tables

    def play(self, agent: NetAgent, iteration: int) -> Played | None:
        """Plays a round at each table; returns the choices that are learned from, None if there was no choice at all."""
        batch, task = self._batch, self.config.task
        rng = generator(self.config.seed, Stream.TRAINING, iteration, 1 + self.number)
        scorer = agent.scorer()
        self._starts.deal(rng.integers(0, 2**64, batch.num_tables, np.uint64))
        drawn = rng.random(batch.num_tables) < DRAWN
        if batch.done.all():
            return None
        actions = np.zeros(batch.num_tables, np.int64)
        payoff = batch.reward.astype(np.float32)
        parts: list[tuple[NDArray[Any], ...]] = []
        count = 0
        while (index := np.flatnonzero(~batch.done)).size:
            decisions = DecisionBatch(batch, index)
            logits = np.where(decisions.mask, scorer.logits(decisions.observation), np.float32(-np.inf))
            likeliest = logits.argmax(axis=1)
            actions[index] = np.where(drawn[index], sample(logits, decisions.legal, rng)[0], likeliest)
            choice = np.flatnonzero(decisions.legal & (decisions.legal - 1))  # at least two bits set
            count += len(choice)
            probability = inclusion_probability(logits[choice])
            sampled = rng.random(len(choice)) < probability
            choice, weight = choice[sampled], np.float32(1) / probability[sampled]
            tables, seats = index[choice], batch.seat[index[choice]]
            tried = logits[choice] - logits[choice].max(axis=1, keepdims=True) > UNLIKELY
            # the likeliest action's payoff is that of the round itself, where this goes on by likeliest actions
            taken = np.where(drawn[tables], -1, likeliest[choice])
            before = task.payoff(payoff[tables])[np.arange(len(choice)), seats]
            observation, legal = decisions.observation[choice], decisions.legal[choice]
            observation = self._view(observation) if self._view else observation
            parts.append((observation, legal, batch.tables[tables], tried, taken, tables, seats, before, weight))
            batch.step(actions)
            payoff += batch.reward
        observation, legal, states, tried, taken, tables, seats, before, weight = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        final = task.payoff(payoff)[tables, seats]
        if not count:
            return None
        return Played(observation, legal, states, tried, taken, final, final - before, weight, count)


def inclusion_probability(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns with which probability ``(K,)`` a choice is sampled, by the ``logits (K, A)``, -inf where not legal."""
    policy = np.exp(logits - logits.max(axis=1, keepdims=True))
    policy /= policy.sum(axis=1, keepdims=True)
    differ = 1 - np.square(policy).sum(axis=1)
    probability: NDArray[np.float32] = np.clip(differ / np.float32(FULL_INCLUSION), np.float32(MIN_INCLUSION), np.float32(1))
    return probability


def above_mean(value: NDArray[np.float64], tried: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Returns how far each ``value (K, A)`` of the actions ``tried (K, A)`` is above their mean; 0 for the others."""
    return np.where(tried, value - value.mean(axis=1, where=tried, keepdims=True), 0.0).astype(np.float32)


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        super().__init__(config, setup)
        if config.mixture:
            self.common, self.layout = True, common_layout(setup.game)
        self.net = self.new_net(torch.Generator().manual_seed(config.seed)).to(config.device)
        self.net.threads = 1  # several threads play with it at once
        self.modules = {"model.": self.net}
        self.reference: PolicyValueNet | None = None
        if config.init is not None:
            self.reference = copy.deepcopy(self.net).requires_grad_(False)
            self.modules["reference."] = self.reference
        groups = [{"params": [*self.net.parameters()]}]
        self.optimizer = GroupedOptimizer(config.optimizer, groups, [self.net.body], eps=1e-5, fused=True)
        self.optimizers = self.optimizer.by_prefix
        self.networks = LearningNets(self.net, None, config.dtype)
        self.policy = None if self.reference is None else RolloutPolicy(self.reference, None, config.dtype)
        if config.ema:
            self.average_weights("model.", config.ema)
        self.setups = config.setups()
        self.tables = share_out(config, self.setups)
        if not self.common and config.init is None:
            self.net.payoff_scale.fill_(self.tables[0].scale)

    def load_initial_weights(self, run: str, *, objective: str | None) -> None:
        """See :meth:`BaseTrainer.load_initial_weights`; the network is the reference, too."""
        super().load_initial_weights(run, objective=objective)
        if self.reference is not None:
            self.reference.load_state_dict(self.net.state_dict())

    def iterate(self) -> dict[str, float]:
        """Plays a round at every table and learns from its choices; returns the metrics."""
        began = time.perf_counter()
        choices, scale, decisions = self.play()
        metrics = {**self.update(choices, scale), "rollout/sampled": len(scale) / decisions}
        return self.finish_iteration(metrics, decisions, time.perf_counter() - began)

    def agent_at(self, setup: Setup) -> NetAgent:
        """Returns the network as it plays rounds and rollouts at ``setup``."""
        if self.reference is not None and self.config.device == "cpu" and has_inference(self.net):
            # most features of a trained network are 0: to skip them takes less time than to multiply all in bfloat16
            return NetAgent("net", inference_net(self.net, setup, common=self.common))
        return NetAgent("net", specialised(self.net, setup) if self.common else self.net)

    def play(self) -> tuple[Choices, NDArray[np.float32], int]:
        """Plays a round at every table, and tries the actions of the choices that are learned from.

        Returns these, with the payoff scale of each, and how many choices there were in all.
        """
        agents = [self.agent_at(setup) for setup in self.setups]

        def play(tables: Tables) -> Played | None:
            return tables.play(agents[tables.setup_index], self.iteration)

        def evaluated(tables: Tables, played: Played | None) -> Choices | None:
            # all choices of the rounds at once: a network takes less time for a row, the more rows it takes together
            if played is None or not len(played.legal):
                return None
            return played.evaluated(self.rollouts(agents[tables.setup_index], tables.setup))

        set_torch_threads(1)
        with ThreadPoolExecutor(self.config.threads) as threads:
            rounds = [*threads.map(play, self.tables)]
            run_all = map if self.config.device == "cuda" else threads.map
            parts = [*run_all(evaluated, self.tables, rounds)]
        set_torch_threads(self.config.threads)
        choices = [(part, tables.scale) for part, tables in zip(parts, self.tables, strict=True) if part]
        decisions = sum(played.decisions for played in rounds if played)
        if not choices:
            raise ConfigError(NONE_SAMPLED.format(decisions) if decisions else NO_CHOICE)
        columns = zip(*(part for part, _ in choices), strict=True)
        scale = np.concatenate([np.full(len(part.legal), scale, np.float32) for part, scale in choices])
        return Choices(*(np.concatenate(column) for column in columns)), scale, decisions

    def rollouts(self, agent: NetAgent, setup: Setup) -> Rollouts:
        """Returns rollouts by ``agent`` in every seat, on the device of the run."""
        if self.config.device == "cuda":
            from ..players.cuda.rollouts import gpu_rollouts

            return gpu_rollouts(agent, setup, self.config.objective)
        return rollouts_by(agent, setup, self.config.objective)

    def update(self, choices: Choices, scale: NDArray[np.float32]) -> dict[str, float]:
        """Takes gradient steps on the choices, with the payoff scale ``(K,)`` of each; returns the metrics."""
        c = self.config
        rng = generator(c.seed, Stream.TRAINING, self.iteration, 0)
        unit = scale if self.common else float(self.net.payoff_scale)
        scaled = choices.advantage / scale[:, None], choices.netted / unit, choices.weight / choices.weight.mean()
        columns = [torch.from_numpy(array).to(c.device) for array in (choices.observation, choices.legal, *scaled)]
        self.optimizer.set_learning_rate(self.learning_rate)
        if self.policy is not None:
            self.policy.refresh()
        logged, steps = [], -(-len(scale) // c.minibatch)
        for rows in (rows for _ in range(c.epochs) for rows in np.array_split(rng.permutation(len(scale)), steps)):
            observation, legal, advantage, netted, weight = (column[torch.from_numpy(rows).to(c.device)] for column in columns)
            mask = unpacked(legal, advantage.shape[1])
            output = self.networks(observation, observation[:, :0], None)
            log_policy = masked_log_softmax(output.logits, mask)
            policy_loss = -(weight * (log_policy.exp() * advantage).sum(1)).mean()
            reference = masked_log_softmax(self.reference_logits(observation, output.logits), mask)
            kl = (weight * (reference.exp() * (reference - log_policy)).sum(1)).mean()
            value = self.net.value(output.features.detach().float()).squeeze(1)
            value_loss = (weight * (value - netted).square()).mean()
            self.net.zero_grad(set_to_none=True)
            loss = policy_loss + c.reference_weight * kl + c.value_weight * value_loss
            loss.backward()
            norm = self.networks.clip(c.max_grad_norm)
            self.optimizer.step()
            entropy = -(weight * (log_policy.exp() * log_policy).sum(1)).mean()
            logged.append(torch.stack([mean.detach() for mean in (policy_loss, kl, value_loss, norm, entropy)]))
        names = "update/policy_loss", "update/reference_kl", "update/value_loss", "update/grad_norm", "rollout/entropy"
        return {
            **dict(zip(names, torch.stack(logged).mean(0).tolist(), strict=True)),
            "rollout/tried": float(np.average(choices.tried, weights=choices.weight)),
            "schedule/learning_rate": self.learning_rate,
        }

    def reference_logits(self, observation: Tensor, logits: Tensor) -> Tensor:
        """Returns those of the reference at ``observation (K, size)``, ``(K, A)``; zeros, shaped as ``logits``, without one."""
        if self.policy is None:
            return torch.zeros_like(logits)
        return self.policy(observation, torch.arange(len(observation), device=observation.device))[0]

    def evaluate(self) -> dict[str, float]:
        """Returns the network's edge over the field of ``eval_against``, on deals apart from those it learns on."""
        if not self.common:
            return super().evaluate()
        return edges_at(self.setups, self.player_net, self.eval_fields(self.setups))


def share_out(config: Config, setups: Sequence[Setup]) -> list[Tables]:
    """Returns the tables of a run at ``setups``, split evenly, in parts for threads."""
    counts, block = tables_of_each(config.tables, len(setups)), BLOCK[config.device]
    sizes = [(index, min(block, count - at)) for index, count in enumerate(counts) for at in range(0, count, block)]
    return [Tables(config, setups[index], index, count, number) for number, (index, count) in enumerate(sizes)]


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.train.run.run_iterations` does."""
    trainer = Trainer(config, config.setup())
    if checkpoint is None and config.init is not None:
        trainer.load_initial_weights(config.init, objective=config.objective)
    return run_iterations(trainer, run, checkpoint, progress)
