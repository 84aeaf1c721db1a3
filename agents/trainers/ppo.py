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
from nainjaune_env.games import DEFAULT_GAME

from ..arena.duplicate import Duplicate
from ..loading import load_agent
from ..nets.checkpoint import Checkpoint
from ..nets.common_layout import common_layout, seat_counts
from ..nets.devices import check_device
from ..nets.modules import BeliefHead, PolicyValueNet, ValueNet
from ..nets.net_agent import NetAgent
from ..nets.payoff_scale import random_spread
from ..nets.specialised import specialised
from ..seeds import Stream, generator
from .advantages import gae
from .checkpointing import begin_from, checkpoint_of, load_optimizer, named, optimizer_tensors, taking_up, under
from .config import at_least, at_most, option, settle
from .gpu_rollout import play_there
from .multitask import mixed_setups, setup_names, share_out
from .passes import Networks, Player
from .ppo_loss import SUMS, Decisions, Weights, surrogate
from .rollout import LEARNER, Record, Rollout, joined, play
from .run import Progress, Run, carry_out
from .schedule import anneal
from .sequences import Chains


@dataclass(frozen=True)
class Config:
    """What a run of PPO is made of. Values in YAML and ``--set`` go over these."""

    algorithm: str = option("ppo", "the trainer")
    game: str = option(DEFAULT_GAME, "the game")
    preset: str | None = option(None, "the rule sheet (none: the game's usual one)")
    players: int | None = option(None, "seats (none: the game's usual number)")
    rules: dict[str, Any] = option({}, "knobs set over the preset, as in --set rules.decline=never")
    mixture: list[dict[str, Any]] = option(
        [], "setups to train one network at, in place of preset and players (none: just these)"
    )
    seed: int = option(0, "all chance in the run comes from it")
    init: str | None = option(None, "the run whose network it begins with (none: a fresh one)")
    opponents: str | None = option(None, "an agent, frozen, in all seats but the one that learns (none: all seats learn)")
    iterations: int = option(600, "updates in all; the schedules run over them")
    tables: int = option(2048, "rounds dealt for each update")
    hidden: list[int] = option([256, 256], "widths of the network's layers")
    recurrent: int = option(0, "units of a GRU that remembers from one decision of a round to the next; 0 = no memory")
    recall: float = option(0.0, "weight of telling, from the GRU's state, what the seat alone saw at its first decision")
    learning_rate: float = option(2e-3, "Adam's step size at the start")
    last_learning_rate: float = option(1e-4, "and at the end")
    entropy: float = option(0.1, "weight of the policy's entropy at the start")
    last_entropy: float = option(0.005, "and at the end")
    epochs: int = option(2, "passes over the decisions of an iteration")
    minibatch: int = option(1024, "decisions in a gradient step")
    clip: float = option(0.2, "how far the probability ratio may move before its gain is cut off")
    gae_lambda: float = option(1.0, "1 = plain returns")
    value_weight: float = option(0.5, "weight of the value loss")
    max_grad_norm: float = option(0.5, "gradients are scaled down to this norm")
    privileged: bool = option(False, "judge by a critic that sees all hands; the policy that plays never does")
    critic_hidden: list[int] = option([256, 256], "widths of that critic's layers")
    belief: float = option(0.0, "weight of guessing, from the features that the policy goes by, what all other seats hold")
    centre: bool = option(True, "subtract the table's mean from the payoffs: only the differences between seats count")
    bf16: bool = option(False, "multiply in bfloat16, for processors that do so fast")
    device: str = option("cpu", "where tables and networks are: 'cpu', or 'cuda' for an NVIDIA GPU; not with opponents")
    threads: int = option(1, "torch's threads; more than the cores that are free makes it many times slower")
    checkpoint_minutes: float = option(2.0, "how old a checkpoint may grow")
    eval_every: int = option(25, "iterations between measurements in the course of the run; 0 = none")
    eval_deals: int = option(1000, "deals of each such measurement")
    eval_against: str = option("random", "the agent whose field it is measured against")

    def __post_init__(self) -> None:
        at_least(self, iterations=1, tables=1, epochs=1, minibatch=1, threads=1, eval_every=0, eval_deals=2)
        at_least(self, seed=0, learning_rate=0, last_learning_rate=0, entropy=0, last_entropy=0, clip=0, gae_lambda=0)
        at_least(self, value_weight=0, max_grad_norm=0, checkpoint_minutes=0)
        at_least(self, recurrent=0, recall=0, belief=0)
        at_most(self, seed=2**63 - 1, gae_lambda=1)
        if self.recall and not self.recurrent:
            raise ConfigError("A network that remembers nothing has nothing to recall: set 'recurrent' too.")
        if min([*self.hidden, *self.critic_hidden], default=1) < 1:
            raise ConfigError(f"Layers have a width of at least 1, not {self.hidden!r} and {self.critic_hidden!r}.")
        if self.mixture and not self.hidden:
            raise ConfigError("A network for a mixture has a hidden layer at least: 'hidden' is empty.")
        if check_device(self.device) != "cpu" and self.opponents is not None:
            raise ConfigError("Opponents play on the CPU: with device='cuda' there is no 'opponents'.")
        self.setup()
        for setup in self.setups():
            if self.eval_every:  # a wrong name is an error now and not some iterations later
                load_agent(self.eval_against, setup)
            if self.opponents is not None:
                load_agent(self.opponents, setup)

    def setup(self) -> Setup:
        """The game and rules of the run; raises :class:`~nainjaune_env.core.errors.RulesError` where there are none such.

        With a mixture: where its network is measured when nothing else is said.
        """
        return settle(self.game, self.preset, self.players, self.rules)

    def setups(self) -> list[Setup]:
        """All that it trains at: those of the mixture, or the one."""
        return mixed_setups(self.game, self.mixture, self.rules) if self.mixture else [self.setup()]


METRICS = {
    "run/seconds": "seconds spent in iterations, resumed parts added up; measurements and checkpoints do not count",
    "rollout/decisions": "decisions made in all",
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
    "speed/decisions_per_second": "decisions of the iteration over its wall time",
    "speed/network_share": "share of the wall time in forward and backward passes of the networks",
    "eval/edge": "edge (chips, cards) a round over the field of `eval_against`, duplicate deals that are the same every time; "
    "of a mixture the mean over setups, and `eval/edge/<preset>-<seats>` for each",
    "eval/ci95": "half-width of its 95 % interval",
}
"""Every metric that is logged, and what it says."""


class Trainer:
    """The state of a run."""

    def __init__(self, config: Config, setup: Setup) -> None:
        torch.set_num_threads(config.threads)
        self.config = config
        self.setup = setup
        generator = torch.Generator().manual_seed(config.seed)
        actions = len(setup.game.actions)
        self.common = bool(config.mixture)
        self.layout = common_layout(setup.game) if self.common else setup.layout
        self.net = PolicyValueNet(self.layout, actions, config.hidden, generator, recurrent=config.recurrent)
        all_seen = self.layout.omniscient(seat_counts(setup.game)[-1] if self.common else setup.players)
        critic = ValueNet(all_seen, config.critic_hidden, generator) if config.privileged else None
        belief = BeliefHead(self.net.width, self.layout, all_seen, generator) if config.belief else None
        for module in (self.net, critic, belief):
            if module is not None:
                module.to(config.device)
        self.networks = Networks(self.net, critic, belief, self.layout, recalling=config.recall > 0, bf16=config.bf16)
        learned = [parameter for _, module in self.networks.modules() for parameter in module.parameters()]
        self.player = Player(self.networks)
        self.optimizer = torch.optim.Adam(learned, lr=config.learning_rate, eps=1e-5, fused=True)
        setups = config.setups() if self.common else [setup]
        self.parts = share_out(setups, config.tables, common=self.common, device=config.device)
        wider = all_seen.size if critic or belief else 0
        self.records = [Record(self.layout.size, wider) for _ in self.parts]
        self.spreads = [random_spread(part.setup) for part in self.parts] if self.common else []
        names = () if config.opponents is None else (config.opponents,)
        self.opponents = [[load_agent(name, part.setup) for name in names] for part in self.parts]
        self.iteration = 0
        self.decisions = 0
        self.seconds = 0.0

    # ---- one iteration -------------------------------------------------------------------------------------------

    def iterate(self) -> dict[str, float]:
        """Play a round at every table and learn from it; gives the metrics."""
        began = time.perf_counter()
        fraction = self.iteration / self.config.iterations
        rng = generator(self.config.seed, Stream.TRAINING, self.iteration)
        rollout = self.collect(rng)
        metrics = self.update(rollout, rng, fraction)
        self.iteration += 1
        self.decisions += len(rollout.action)
        wall = time.perf_counter() - began
        self.seconds += wall
        metrics["run/seconds"] = self.seconds
        metrics["rollout/decisions"] = float(self.decisions)
        metrics["rollout/decisions_per_round"] = len(rollout.action) / self.config.tables
        metrics["speed/decisions_per_second"] = len(rollout.action) / wall
        metrics["speed/network_share"] = (rollout.network_seconds + metrics.pop("network_seconds")) / wall
        return metrics

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
        """``net (K, players)``, NumPy's or torch's, as learned from.

        What nobody gets is lost to the whole table, and ``centre`` takes it out.
        """
        return net - net.mean(axis=1, keepdims=True) if self.config.centre else net

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

    # ---- checkpoints ---------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """All that is needed to go on, and to play."""
        tensors = optimizer_tensors(self.optimizer)
        for name, module in self.networks.modules():
            tensors |= named(name, module)
        tensors = {name: tensor.cpu() for name, tensor in tensors.items()}
        return checkpoint_of(
            self.config,
            self.setup,
            iteration=self.iteration,
            progress={"decisions": float(self.decisions), "seconds": self.seconds},
            tensors=tensors,
            recurrent=self.config.recurrent,
            common=self.layout if self.common else None,
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of this same configuration."""
        with taking_up(checkpoint, self.config, self.setup):
            for name, module in self.networks.modules():
                module.load_state_dict(under(name, checkpoint.tensors))
            load_optimizer(self.optimizer, checkpoint.tensors)
            self.decisions = int(checkpoint.progress["decisions"])
            self.seconds = checkpoint.progress["seconds"]
        self.iteration = checkpoint.iteration


def evened(advantage: NDArray[np.float32], part: NDArray[np.int64]) -> NDArray[np.float32]:
    """``advantage (T,)`` less its mean and over its deviation, each within its ``part (T,)``: no setup drowns another."""
    out = advantage.copy()
    for number in np.unique(part):
        own = part == number
        out[own] = (advantage[own] - advantage[own].mean()) / (advantage[own].std() + 1e-8)
    return out


def explained_variance(target: NDArray[np.float32], value: NDArray[np.float32]) -> float:
    """What share of the variance of ``target (T,)`` is in ``value (T,)``: 1 where they are equal."""
    return float(1 - np.var(target - value) / max(np.var(target), 1e-8))


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


EVAL_SEED = 987_654_321
"""Deals of the measurements in the course of a run; training deals come from the run's own seed."""


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Train in the folder of ``run``, from ``checkpoint`` on if there is one; ``progress`` is told after each iteration.

    Gives True when all iterations are done, False when it was stopped before; a checkpoint is saved either way.
    """
    trainer = Trainer(config, config.setup())
    if checkpoint is None and config.init is not None:
        begin_from(trainer.net, config.init, trainer.setup, common=trainer.layout if trainer.common else None)
    return carry_out(trainer, run, checkpoint, progress)
