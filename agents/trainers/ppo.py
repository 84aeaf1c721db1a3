"""Self-play proximal policy optimisation: what a run is made of, and what an iteration does.

One network plays every seat. An iteration deals a round at each table, plays all of them to the end, and then
updates the network on every decision that was made; forced plies are never seen. Rounds being whole, nothing is ever
cut off or bootstrapped, and an iteration depends on the seed, its number and the network alone, so that a resumed run
goes on bit for bit. A network that remembers (``recurrent``) learns along all decisions that a seat made in a round, from
the first one, where its state is 0: a minibatch is made of whole such chains, and gradients flow through all of each.

With ``opponents`` it is no self-play: one seat of each table, another one each round, learns, and a frozen agent has all others.
What is learned then is a best response to that agent.

With a ``mixture`` the tables are of several setups, and the network is one for all tables of the game: it takes the common
layout, which says seats and rules. Payoffs differ much by rules, so values are in units of the setup's spread under random
play, and advantages are centred and scaled setup by setup before the minibatches are drawn.

Beside this file: ``collecting`` plays, ``passes`` asks the networks, ``advantages`` says what came of each decision and
``surrogate`` what to make of it.

Sources: Schulman et al., "Proximal policy optimization algorithms", 2017 (clipped surrogate, eq. 7); Schulman et al., "High-
dimensional continuous control using GAE", 2016; Huang et al., "The 37 implementation details of PPO", 2022.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.agent import SeatAssignment
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

from ..arena.duplicate import Duplicate
from ..loading import load_agent
from ..nets.checkpoint import Checkpoint
from ..nets.common_layout import common_layout, seat_counts
from ..nets.devices import check_device
from ..nets.modules import BeliefHead, ValueNet
from ..nets.net_agent import NetAgent
from ..nets.payoff_scale import random_spread
from ..nets.specialised import specialised
from ..seeds import Stream, generator
from .advantages import gae
from .base import COMMON_METRICS, EVAL_SEED, BaseConfig, BaseTrainer, centred_payoff, explained_variance
from .checkpointing import load_initial_weights
from .config import option
from .gpu_rollout import play_there
from .multitask import mixed_setups, setup_names, share_out
from .passes import Networks, Player
from .ppo_loss import SUMS, Decisions, Weights, surrogate
from .rollout import LEARNER, Record, Rollout, joined, play
from .run import Progress, Run, run_iterations
from .schedule import anneal
from .sequences import Chains


@dataclass(frozen=True)
class Config(BaseConfig):
    """The configuration of a run of PPO."""

    algorithm: str = option("ppo", "the trainer")
    mixture: list[dict[str, Any]] = option(
        [], "setups to train one network at, in place of preset and players (none: just these)"
    )
    init: str | None = option(None, "the run whose network it begins with (none: a new one)")
    opponents: str | None = option(None, "an agent, frozen, in all seats but the one that learns (none: all seats learn)")
    iterations: int = option(600, "updates of the run; the schedules extend over them", low=1)
    tables: int = option(2048, "rounds dealt for each update", low=1)
    recurrent: int = option(0, "units of a GRU that remembers from one decision of a round to the next; 0 = no memory", low=0)
    recall: float = option(0.0, "weight of predicting, from the GRU's state, the private part of the first observation", low=0)
    entropy: float = option(0.1, "weight of the policy's entropy at the start", low=0)
    last_entropy: float = option(0.005, "weight of the entropy at the end; it changes linearly", low=0)
    epochs: int = option(2, "passes over the decisions of an iteration", low=1)
    clip: float = option(0.2, "distance of the probability ratio from 1 at which the objective is clipped", low=0)
    gae_lambda: float = option(1.0, "lambda of generalised advantage estimation; 1 = plain returns", low=0, high=1)
    value_weight: float = option(0.5, "weight of the value loss", low=0)
    privileged: bool = option(False, "use a critic that sees all hands; the policy that plays never does")
    critic_hidden: list[int] = option([256, 256], "widths of that critic's hidden layers", low=1)
    belief: float = option(0.0, "weight of predicting, from the policy's features, what all other seats hold", low=0)
    centre: bool = option(True, "subtract the table's mean from the payoffs: only the differences between seats count")
    bf16: bool = option(False, "multiply in bfloat16, for processors that do so fast")
    device: str = option("cpu", "where tables and networks are: 'cpu', or 'cuda' for an NVIDIA GPU; not with opponents")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.recall and not self.recurrent:
            raise ConfigError("A network that remembers nothing has nothing to recall: set 'recurrent' too.")
        if self.mixture and not self.hidden:
            raise ConfigError("A network for a mixture has a hidden layer at least: 'hidden' is empty.")
        if check_device(self.device) != "cpu" and self.opponents is not None:
            raise ConfigError("Opponents play on the CPU: with device='cuda' there is no 'opponents'.")
        if self.opponents is not None:  # an unknown name is an error now
            for setup in self.setups():
                load_agent(self.opponents, setup)

    def setups(self) -> list[Setup]:
        """Returns the setups to train at: those of the mixture, or the one of :meth:`setup`."""
        return mixed_setups(self.game, self.mixture, self.rules) if self.mixture else [self.setup()]


METRICS = {
    **COMMON_METRICS,
    "rollout/decisions_per_round": "real choices in a round, all seats together",
    "rollout/entropy": "mean entropy of the policy where it chose, in nats",
    "rollout/payoff_spread": "standard deviation of a seat's payoff in a round, in the game's unit (chips, cards); "
    "of a mixture the mean over setups",
    "update/policy_loss": "clipped surrogate loss",
    "update/recall_loss": "mean cross-entropy of the private bytes of first observations, told from the GRU's state",
    "update/belief_loss": "mean cross-entropy of the guesses at what all other seats alone see",
    "update/value_loss": "mean squared error of the value, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(return - value) / var(return), before the update",
    "update/kl": "mean estimate of KL(old || new), (ratio - 1) - log(ratio) (Schulman's k3)",
    "update/clip_fraction": "share of decisions whose ratio left the clip range",
    "update/grad_norm": "mean gradient norm before scaling down",
    "schedule/learning_rate": "Adam's step size",
    "schedule/entropy_weight": "weight of the entropy",
    "speed/network_share": "share of the wall time in forward and backward passes of the networks",
    "eval/edge": COMMON_METRICS["eval/edge"] + "; of a mixture the mean over setups, and `eval/edge/<preset>-<seats>` for each",
}
"""Every metric that is logged, and what it says."""


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        super().__init__(config, setup)
        generator = torch.Generator().manual_seed(config.seed)
        if config.mixture:
            self.common, self.layout = True, common_layout(setup.game)
        self.net = self.new_net(generator, recurrent=config.recurrent)
        all_seen = self.layout.omniscient(seat_counts(setup.game)[-1] if self.common else setup.players)
        critic = ValueNet(all_seen, config.critic_hidden, generator) if config.privileged else None
        belief = BeliefHead(self.net.width, self.layout, all_seen, generator) if config.belief else None
        for module in (self.net, critic, belief):
            if module is not None:
                module.to(config.device)
        self.networks = Networks(self.net, critic, belief, self.layout, recalling=config.recall > 0, bf16=config.bf16)
        self.modules = dict(self.networks.modules())
        learned = [parameter for module in self.modules.values() for parameter in module.parameters()]
        self.player = Player(self.networks)
        self.optimizer: torch.optim.Adam = torch.optim.Adam(learned, lr=config.learning_rate, eps=1e-5, fused=True)
        setups = config.setups() if self.common else [setup]
        self.parts = share_out(setups, config.tables, common=self.common, device=config.device)
        wider = all_seen.size if critic or belief else 0
        self.records = [Record(self.layout.size, wider) for _ in self.parts]
        self.spreads = [random_spread(part.setup) for part in self.parts] if self.common else []
        names = () if config.opponents is None else (config.opponents,)
        self.opponents = [[load_agent(name, part.setup) for name in names] for part in self.parts]

    # ---- one iteration -------------------------------------------------------------------------------------------

    def iterate(self) -> dict[str, float]:
        """Play a round at every table and learn from it; gives the metrics."""
        began = time.perf_counter()
        fraction = self.iteration / self.config.iterations
        rng = generator(self.config.seed, Stream.TRAINING, self.iteration)
        rollout = self.collect(rng)
        metrics = self.update(rollout, rng, fraction)
        wall = time.perf_counter() - began
        metrics["rollout/decisions_per_round"] = len(rollout.action) / self.config.tables
        metrics["speed/network_share"] = (rollout.network_seconds + metrics.pop("network_seconds")) / wall
        return self.finish_iteration(metrics, len(rollout.action), wall)

    def collect(self, rng: np.random.Generator) -> Rollout:
        """Deal a round at each table and play all to the end."""
        c = self.config
        deals = streams(c.seed, c.tables, stream=self.iteration + 1)
        chance = rng.integers(2**64, size=c.tables, dtype=np.uint64)
        starts = np.cumsum([0, *(len(part) for part in self.parts)])
        played = []
        for number, part in enumerate(self.parts):
            share = slice(starts[number], starts[number + 1])
            part.batch.reset(seeds=deals[share])
            rollout = self.play(number, chance[share])
            if rollout is not None:
                rollout.value *= np.float32(self.units()[number])
                rollout.part[:] = number
                played.append(rollout)
        if not played:
            raise ConfigError(f"Not one of {c.tables} rounds held a choice: there is nothing to learn here.")
        return joined(played)

    def play(self, number: int, chance: NDArray[np.uint64]) -> Rollout | None:
        """The rounds that were dealt at the tables of a part, where those tables are."""
        part = self.parts[number]
        if self.config.device != "cpu":
            return play_there(part, self.networks, chance=chance, own_share=self.own_share)
        self.player.renew()
        return play(
            part,
            self.player,
            self.seat_opponents(number),
            self.records[number],
            chance=chance,
            recurrent=self.config.recurrent,
            own_share=self.own_share,
        )

    def units(self) -> list[float]:
        """Of what the network's values are multiples at the tables of each part, in the game's unit."""
        return self.spreads if self.common else [float(self.net.payoff_scale)]

    def seat_opponents(self, number: int = 0) -> SeatAssignment:
        """The opponents in their seats of a part, and the learner in the others: in all of them where there are no opponents."""
        part, opponents = self.parts[number], self.opponents[number]
        n = part.setup.players
        seats = np.full((len(part), n), 0 if opponents else LEARNER)
        table = np.arange(len(part))
        seats[table, (table + self.iteration) % n] = LEARNER
        chance = generator(self.config.seed, Stream.TRAINING, self.iteration, 1 + number)
        return SeatAssignment(part.batch, opponents, seats, lambda *_: chance)

    def own_share(self, net: Any) -> Any:
        """Returns ``net (K, players)``, NumPy's or torch's, as it is learned from."""
        return centred_payoff(net, self.config.centre)

    def update(self, rollout: Rollout, rng: np.random.Generator, fraction: float) -> dict[str, float]:
        """Gradient steps on the decisions of a rollout."""
        c = self.config
        advantage = gae(rollout.chain, rollout.earned, rollout.value, rollout.final, c.gae_lambda)
        target = advantage + rollout.value
        if self.iteration == 0 and self.config.init is None and not self.common:
            # Fixed from here on: the value head learns in this unit.
            self.net.payoff_scale.fill_(max(float(target.std()), 1.0))
        scale = np.array(self.units(), np.float32)[rollout.part]
        if self.common:
            advantage = evened(advantage, rollout.part)
        entropy_weight = anneal(c.entropy, c.last_entropy, fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = anneal(c.learning_rate, c.last_learning_rate, fraction)

        observations, omniscients = (torch.as_tensor(seen, device=c.device) for seen in (rollout.observation, rollout.omniscient))
        columns = (rollout.legal, rollout.action, rollout.log_prob, advantage, target / scale)
        decisions = Decisions(*(torch.as_tensor(column, device=c.device) for column in columns))
        weights = Weights(c.clip, c.value_weight, entropy_weight)
        chains = Chains(rollout.chain) if c.recurrent else None
        said = []
        network_seconds = 0.0
        for _ in range(c.epochs):
            for rows, batch_sizes in minibatches(len(rollout.action), chains, c.minibatch, rng):
                rows = rows.to(c.device)
                observation, omniscient = observations.index_select(0, rows), omniscients.index_select(0, rows)
                minibatch = decisions.at(rows)
                clock = time.perf_counter()
                told = self.networks.learn(observation, omniscient, batch_sizes)
                network_seconds += time.perf_counter() - clock
                by_policy, sums = surrogate(told.policy, minibatch, weights)
                by_judged = None
                if told.judged is not None:
                    # with a critic of its own, the value head still learns: searches will want what a seat itself can expect
                    off = told.judged - minibatch.goal
                    sums[SUMS.index("value_loss")] = off.square().mean()
                    by_judged = c.value_weight * 2 / len(off) * off
                clock = time.perf_counter()
                self.networks.backward(told, by_policy, by_judged, recall=c.recall, belief=c.belief)
                network_seconds += time.perf_counter() - clock
                norm = self.networks.clip(c.max_grad_norm)
                self.optimizer.step()
                # as tensors: to read one off is to wait for a GPU
                said.append((*sums.unbind(), told.recall_loss.detach(), told.belief_loss.detach(), norm))
        names = (*SUMS, "recall_loss", "belief_loss", "grad_norm")
        metrics = {}
        for name, each in zip(names, zip(*said, strict=True), strict=True):
            metrics[f"update/{name}"] = float(torch.stack(each).double().mean())
        metrics["rollout/entropy"] = metrics.pop("update/entropy")
        metrics["rollout/payoff_spread"] = rollout.spread
        metrics["update/explained_variance"] = explained_variance(target / scale, rollout.value / scale)
        metrics["schedule/learning_rate"] = anneal(c.learning_rate, c.last_learning_rate, fraction)
        metrics["schedule/entropy_weight"] = entropy_weight
        metrics["network_seconds"] = network_seconds
        return metrics

    def evaluate(self) -> dict[str, float]:
        """The network's edge over the field of ``eval_against``, on deals apart from those it learns on."""
        edges = []
        for number, part in enumerate(self.parts):
            # made on the CPU, where what it is made of is
            net = specialised(copy.deepcopy(self.net).cpu(), part.setup) if self.common else self.net
            agents = [NetAgent("net", net), load_agent(self.config.eval_against, part.setup)]
            edges.append(Duplicate(part.setup, agents, seed=EVAL_SEED + number).edge(0, 1, self.config.eval_deals))
        metrics = {"eval/edge": float(np.mean([edge.mean for edge in edges]))}
        metrics["eval/ci95"] = math.hypot(*(edge.ci95 for edge in edges)) / len(edges)
        if self.common:
            names = setup_names([part.setup for part in self.parts])
            metrics |= {f"eval/edge/{name}": edge.mean for name, edge in zip(names, edges, strict=True)}
        return metrics


def evened(advantage: NDArray[np.float32], part: NDArray[np.int64]) -> NDArray[np.float32]:
    """``advantage (T,)`` less its mean and over its deviation, each within its ``part (T,)``: no setup drowns another."""
    out = advantage.copy()
    for number in np.unique(part):
        own = part == number
        out[own] = (advantage[own] - advantage[own].mean()) / (advantage[own].std() + 1e-8)
    return out


def minibatches(count: int, chains: Chains | None, size: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Rows of all ``count`` decisions once, in random order, ``size`` at a time; or, with ``chains``, whole chains of about as
    many, packed, with their batch sizes (see :meth:`PolicyValueNet.forward`)."""
    if chains is None:
        order = torch.from_numpy(rng.permutation(count))
        for at in range(0, count, size):
            yield order[at : at + size], None
        return
    for some in chains.shuffled(size, rng):
        rows, batch_sizes = chains.packed(some)
        yield torch.from_numpy(rows), torch.from_numpy(batch_sizes)


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.trainers.run.run_iterations` does."""
    trainer = Trainer(config, config.setup())
    if checkpoint is None and config.init is not None:
        load_initial_weights(trainer.net, config.init, trainer.setup, common=trainer.layout if trainer.common else None)
    return run_iterations(trainer, run, checkpoint, progress)
