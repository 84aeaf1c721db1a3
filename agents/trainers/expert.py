"""Expert iteration: a search labels what a player decides, a network learns the labels, and is the next player.

A generation has three parts. Rounds are played by the current player, the rule of thumb first and later the network, drawing
from its policy; of their decisions some are chosen, each as likely as any other, and labelled by a flat Monte Carlo search, all
of whose legal actions are tried in the same worlds. Then the network learns the labels of the last generations: its policy the
softmax of what the actions are worth, its value what that policy is worth. Then it is measured.

Soft targets, because the search's means have errors: two actions that it cannot tell apart get nearly the same share, and a
mistake costs the network as much as it costs at the table. With a ``prior`` the network that there is has a say: it moves
where labels are clear of its own opinion, and what hundreds of thousands of noisy labels cannot tell stays as it was. The
value is learned from the search too, and not from how the round ended: it is the mean of many rounds in place of one. It is
the seat's own payoff, not centred as in PPO, for a search knows no other's.

Shards of labels depend on the seed, their generation and number, and the network alone, and so does learning on them: a run
that was stopped, or killed, and resumed makes only the shards that are not there, and goes on bit for bit.

Sources: Anthony, Tian and Barber, "Thinking fast and slow with deep learning and tree search", 2017 (expert iteration); Silver
et al., "Mastering the game of Go without human knowledge", 2017 (policy and value learned from a search in one network);
Grill et al., "Monte-Carlo tree search as regularized policy optimization", 2020 (the policy that there is as a prior).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.errors import ConfigError, choose_one
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games import DEFAULT_GAME

from ..arena.duplicate import Duplicate
from ..heuristics import RandomAgent
from ..loading import load_agent
from ..nets.checkpoint import Checkpoint
from ..nets.devices import check_device
from ..nets.modules import PolicyValueNet, masked_log_softmax
from ..nets.net_agent import NetAgent
from ..search import SearchAgent, rollouts_by
from ..seeds import Stream, generator
from .checkpointing import begin_from, checkpoint_of, named, taking_up, under
from .config import at_least, at_most, option, settle
from .labels import Labels, all_labels, load_labels, save_labels
from .ppo import EVAL_SEED
from .run import Run
from .schedule import anneal

ROLLOUTS = ("rule", "net")


@dataclass(frozen=True)
class Config:
    """What a run of expert iteration is made of. Values in YAML and ``--set`` go over these."""

    algorithm: str = option("expert", "the trainer")
    game: str = option(DEFAULT_GAME, "the game")
    preset: str | None = option(None, "the rule sheet (none: the game's usual one)")
    players: int | None = option(None, "seats (none: the game's usual number)")
    rules: dict[str, Any] = option({}, "knobs set over the preset, as in --set rules.decline=never")
    seed: int = option(0, "all chance in the run comes from it")
    generations: int = option(3, "times that decisions are labelled and learned, in all")
    shards: int = option(75, "shards of labels in a generation")
    shard: int = option(8000, "decisions labelled for each shard")
    rounds: int = option(2048, "rounds played for each shard, of whose decisions those are chosen")
    explore: float = option(0.1, "share of the actions in those rounds that are drawn uniformly instead of by the player")
    init: str | None = option(None, "the run whose network it begins with, in place of 'rule' (none: a fresh one)")
    rule: str = option("random", "the agent that plays the first generation's rounds, and rollouts")
    rollouts: str = option("rule", "who plays the rollouts once there is a network: 'rule', or the 'net', at many times the cost")
    deals: int = option(10, "worlds that the search tries each legal action in")
    temperature: float = option(2.0, "the policy's target is softmax(mean / temperature), in the game's unit (chips, cards)")
    prior: float = option(0.0, "weight of the log-policy of the network there is in its next targets; 0 = the labels alone")
    window: int = option(2, "generations whose labels are learned: the newest, and those before it")
    fresh: bool = option(False, "begin learning with a new network each generation, instead of the one there is")
    hidden: list[int] = option([256, 256], "widths of the network's layers")
    epochs: int = option(4, "passes over the labels in a generation")
    minibatch: int = option(512, "decisions in a gradient step")
    learning_rate: float = option(1e-3, "Adam's step size at the start of each generation")
    last_learning_rate: float = option(1e-5, "and at its end")
    value_weight: float = option(0.5, "weight of the value loss")
    max_grad_norm: float = option(1.0, "gradients are scaled down to this norm")
    device: str = option("cpu", "where worlds, rollouts and the network are: 'cpu', or 'cuda' for an NVIDIA GPU")
    threads: int = option(1, "shards labelled at once, and torch's threads in learning; more than the free cores is much slower")
    eval_deals: int = option(1000, "deals of the measurement after each generation; 0 = none")
    eval_against: str = option("random", "the agent whose field it is measured against")

    def __post_init__(self) -> None:
        at_least(self, generations=1, shards=1, shard=1, rounds=1, deals=2, window=1, epochs=1, minibatch=1, threads=1)
        at_least(self, seed=0, explore=0, prior=0, eval_deals=0)
        at_least(self, learning_rate=0, last_learning_rate=0, value_weight=0, max_grad_norm=0)
        at_most(self, seed=2**63 - 1, explore=1)
        if self.temperature <= 0:
            raise ConfigError(f"The temperature of the targets is above 0, and it is {self.temperature}.")
        if self.eval_deals == 1:
            raise ConfigError("An interval takes at least 2 deals, and 'eval_deals' is 1.")
        if min(self.hidden, default=1) < 1:
            raise ConfigError(f"Layers have a width of at least 1, not {self.hidden!r}.")
        if self.rollouts not in ROLLOUTS:
            raise ConfigError(choose_one("player of rollouts", self.rollouts, ROLLOUTS))
        setup = self.setup()
        rule = load_agent(self.rule, setup)  # a wrong name is an error now and not some generations later
        if isinstance(rule, SearchAgent):
            raise ConfigError(f"{self.rule!r} searches already, and each decision of the rollouts would be a search of its own.")
        rollouts_by(rule, setup)
        if check_device(self.device) == "cuda":
            from ..cuda.players import check_players

            check_players([rule], setup)
        load_agent(self.eval_against, setup)

    def setup(self) -> Setup:
        """The game and rules of the run; raises :class:`~nainjaune_env.core.errors.RulesError` where there are none such."""
        return settle(self.game, self.preset, self.players, self.rules)

    @property
    def iterations(self) -> int:
        """What the progress bar counts: decisions labelled in the whole run."""
        return self.generations * self.labelled

    @property
    def labelled(self) -> int:
        """Decisions labelled in a generation."""
        return self.shards * self.shard


METRICS = {
    "run/seconds": "seconds spent labelling and learning, resumed parts added up; measurements do not count",
    "rollout/decisions": "decisions labelled in all",
    "rollout/entropy": "mean entropy of the network's policy at the generation's labels, in nats, before it learns them",
    "labels/error": "mean standard error of what an action is worth, in the game's unit (chips, cards)",
    "labels/entropy": "mean entropy of the policy's targets, in nats",
    "labels/regret": "by the generation's labels, before the network learns them: how much more the best action is worth "
    "than what the network draws, on average; the best of noisy means looks better than it is, so this does not go to 0",
    "update/policy_loss": "KL(target || policy) in the last epoch, in nats",
    "update/value_loss": "mean squared error of the value in the last epoch, in units of payoff_scale squared",
    "update/grad_norm": "mean gradient norm before scaling down, in the last epoch",
    "speed/decisions_per_second": "decisions labelled a second, their rounds played included; shards found made do not count",
    "eval/edge": "edge (chips, cards) a round over the field of `eval_against`, duplicate deals that are the same every time",
    "eval/ci95": "half-width of its 95 % interval",
}
"""Every metric that is logged, once a generation, and what it says."""


class Trainer:
    """The state of a run."""

    def __init__(self, config: Config, folder: Path) -> None:
        """``folder``: where the shards of labels are."""
        torch.set_num_threads(config.threads)
        self.config = config
        self.folder = folder
        self.setup = config.setup()
        self.net = self.new_net(0)
        self.rule = load_agent(config.rule, self.setup)
        self.generation = 0
        self.seconds = 0.0
        self.speed = 0.0  # of the labels made last

    def new_net(self, generation: int) -> PolicyValueNet:
        """An untrained network, another one each generation, the same on every device."""
        chance = torch.Generator().manual_seed(self.config.seed + generation)
        net = PolicyValueNet(self.setup.layout, len(self.setup.game.actions), self.config.hidden, chance)
        return net.to(self.config.device)

    # ---- labels --------------------------------------------------------------------------------------------------

    @property
    def has_learned(self) -> bool:
        """Whether the network has learned anything yet, here or in the run that it began from."""
        return self.generation > 0 or self.config.init is not None

    def player(self) -> Agent:
        """Who plays the rounds of this generation."""
        return NetAgent("net", self.net, stochastic=True) if self.has_learned else self.rule

    def expert(self) -> SearchAgent:
        """Who labels their decisions. Without halving: all actions are learned from, and not the best alone.

        On a GPU worlds and rollouts by a rule of thumb are those of the CPU (``cuda.rollouts``), and so are labels of the same
        decisions; by a network they are off by its rounding.
        """
        by_net = self.has_learned and self.config.rollouts == "net"
        policy = NetAgent("net", self.net) if by_net else self.rule
        if self.config.device == "cuda":
            from ..search.gpu_rollouts import DETERMINIZATIONS, gpu_rollouts

            rollouts = gpu_rollouts(policy, self.setup)
            return SearchAgent("expert", rollouts, self.config.deals, halving=False, draw=rollouts.draw, at_once=DETERMINIZATIONS)
        return SearchAgent("expert", rollouts_by(policy, self.setup), self.config.deals, halving=False)

    def shard_path(self, generation: int, number: int) -> Path:
        """Where a shard is."""
        return self.folder / f"{generation:03d}-{number:05d}.npz"

    def load(self, generation: int, number: int) -> Labels:
        """A shard that has been made; raises :class:`~nainjaune_env.core.errors.LabelsError` where it is not as it was."""
        return load_labels(self.shard_path(generation, number), self.setup, generation=generation, count=self.config.shard)

    def make_shard(self, number: int) -> Labels:
        """Label the decisions of a shard and keep them. Several may be made at once, each in a thread of its own."""
        labels = self.label(number, self.expert())
        save_labels(self.shard_path(self.generation, number), labels, self.setup)
        return labels

    def label(self, number: int, expert: SearchAgent) -> Labels:
        """Play the rounds of a shard and label some of their decisions."""
        rng = generator(self.config.seed, Stream.TRAINING, self.generation, 1 + number)
        tables, earned = self.play(self.tables(), self.player(), rng)
        if len(tables) < self.config.shard:
            raise ConfigError(
                f"{self.config.rounds} rounds held {len(tables)} choices, and a shard is to have {self.config.shard}: "
                "let 'rounds' be larger, or 'shard' smaller."
            )
        chosen = np.sort(rng.permutation(len(tables))[: self.config.shard])
        batch = Batch(self.setup, len(chosen))
        batch.set_tables(np.arange(len(chosen)), tables[chosen])
        # a turn shows the search no table but as its seat may know it
        decisions = DecisionBatch(batch, np.arange(len(chosen)))
        values = expert.evaluate_actions(decisions, rng)
        return Labels(
            observation=decisions.observation,
            legal=decisions.legal,
            mean=values.mean.astype(np.float32),
            error=values.error.astype(np.float32),
            earned=earned[chosen],
            seat=decisions.seat.astype(np.uint8),
            generation=np.full(len(chosen), self.generation, np.int32),
        )

    def tables(self) -> Batch:
        """Where the rounds of a shard are played."""
        return Batch(self.setup, self.config.rounds, autoreset=False)

    def play(self, batch: Batch, player: Agent, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Rounds of ``player`` against itself: the tables at all choices it had, and what the seat to act had netted."""
        explorer = RandomAgent()
        batch.reset(seeds=rng.integers(0, 2**64, batch.num_tables, np.uint64))
        netted = batch.reward.astype(np.float32)
        tables, earned = [batch.tables[:0].copy()], [netted[:0, 0]]
        actions = np.zeros(batch.num_tables, np.int64)
        while not batch.done.all():
            index = np.flatnonzero(~batch.done)
            decisions = DecisionBatch(batch, index)
            choice = index[decisions.legal & (decisions.legal - 1) != 0]
            tables.append(batch.tables[choice])
            earned.append(netted[choice, batch.seat[choice]])
            explored = rng.random(len(index)) < self.config.explore
            actions[index] = np.where(explored, explorer.act(decisions, rng), player.act(decisions, rng))
            batch.step(actions)
            netted += batch.reward
        return np.concatenate(tables), np.concatenate(earned)

    # ---- learning ------------------------------------------------------------------------------------------------

    def learn(self, labels: Labels) -> dict[str, float]:
        """Gradient steps on ``labels``; gives the metrics of the last epoch."""
        c = self.config
        known = c.prior * self.log_policy(labels) if c.prior and self.has_learned else 0.0
        target, value = targets(labels, c.temperature, known)
        if not self.has_learned:
            # Fixed from here on: the value head learns in this unit.
            self.net.payoff_scale.fill_(max(float(value.std()), 1.0))
        elif c.fresh:
            scale = self.net.payoff_scale.clone()
            self.net.load_state_dict({**self.new_net(self.generation).state_dict(), "payoff_scale": scale})
        value /= float(self.net.payoff_scale)
        target_entropy = entropy(target)
        arrays = (labels.observation, labels.mask, target, value, target_entropy)
        columns = [torch.from_numpy(array).to(c.device) for array in arrays]
        optimizer = torch.optim.Adam(self.net.parameters(), lr=c.learning_rate)
        rng = generator(c.seed, Stream.TRAINING, self.generation, 0)
        per_epoch = -(-len(labels) // c.minibatch)
        for epoch in range(c.epochs):
            order = torch.from_numpy(rng.permutation(len(labels))).to(c.device)
            told = []
            for step in range(per_epoch):
                observation, mask, share, goal, least = (
                    column[order[step * c.minibatch : (step + 1) * c.minibatch]] for column in columns
                )
                fraction = (epoch + step / per_epoch) / c.epochs
                for group in optimizer.param_groups:
                    group["lr"] = anneal(c.learning_rate, c.last_learning_rate, fraction)
                logits, valued, _ = self.net(observation)
                # the cross-entropy less its least value, which no network can change: 0 where the targets are met
                policy_loss = soft_cross_entropy(logits, mask, share) - least.mean()
                value_loss = torch.nn.functional.mse_loss(valued, goal)
                optimizer.zero_grad(set_to_none=True)
                (policy_loss + c.value_weight * value_loss).backward()  # type: ignore[no-untyped-call]
                norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), c.max_grad_norm)
                optimizer.step()
                told.append(torch.stack([policy_loss.detach(), value_loss.detach(), norm]))
        means = [sum(column) / per_epoch for column in torch.stack(told).T.tolist()]
        return dict(zip(("update/policy_loss", "update/value_loss", "update/grad_norm"), means, strict=True))

    def assess(self, labels: Labels) -> dict[str, float]:
        """What ``labels`` are like, and what the network would do at them."""
        mask, worth = labels.mask, np.nan_to_num(labels.mean)
        policy = np.exp(self.log_policy(labels))
        best = np.where(mask, worth, -np.inf).max(axis=1)
        return {
            "rollout/entropy": float(entropy(policy).mean()),
            "labels/error": float(np.nanmean(labels.error)),
            "labels/entropy": float(entropy(targets(labels, self.config.temperature)[0]).mean()),
            "labels/regret": float((best - (policy * worth).sum(axis=1)).mean()),
        }

    @torch.inference_mode()
    def log_policy(self, labels: Labels) -> NDArray[np.float32]:
        """The network's log-probabilities where ``labels`` are, ``(K, A)``; a large negative number where not legal."""
        pieces = torch.split(torch.from_numpy(labels.observation), 16384)
        logits = torch.cat([self.net(piece.to(self.net.device))[0].cpu() for piece in pieces])
        log_policy: NDArray[np.float32] = masked_log_softmax(logits, torch.from_numpy(labels.mask)).numpy()
        return log_policy

    def evaluate(self) -> dict[str, float]:
        """The network's edge over the field of ``eval_against``, on deals apart from those it learns on."""
        agents = [NetAgent("net", self.net), load_agent(self.config.eval_against, self.setup)]
        edge = Duplicate(self.setup, agents, seed=EVAL_SEED).edge(0, 1, self.config.eval_deals)
        return {"eval/edge": edge.mean, "eval/ci95": edge.ci95}

    # ---- a generation --------------------------------------------------------------------------------------------

    def make_shards(self, run: Run, progress: Callable[[int, dict[str, float]], None]) -> bool:
        """Make the generation's shards that are not there; False where it was asked to stop before all were made."""
        c = self.config
        missing = [number for number in range(c.shards) if not self.shard_path(self.generation, number).exists()]
        done = c.shards - len(missing)
        torch.set_num_threads(1)  # each shard has a thread already
        with ThreadPoolExecutor(c.threads) as workers:
            for some in batched(missing, c.threads):
                if run.stop_requested:
                    return False
                clock = time.perf_counter()
                made = list(workers.map(self.make_shard, some))
                self.speed = c.shard * len(made) / (time.perf_counter() - clock)
                done += len(made)
                if done < c.shards:
                    entropy = self.assess(made[-1])["rollout/entropy"]
                    shown = {"speed/decisions_per_second": self.speed, "rollout/entropy": entropy}
                    progress(self.generation * c.labelled + done * c.shard, shown)
        torch.set_num_threads(c.threads)
        return True

    def generate(self, run: Run, progress: Callable[[int, dict[str, float]], None]) -> dict[str, float] | None:
        """Label, then learn; gives the metrics, or None where it was asked to stop before all shards were made."""
        c = self.config
        began = time.perf_counter()
        if not self.make_shards(run, progress):
            return None
        newest = range(max(self.generation + 1 - c.window, 0), self.generation + 1)
        labels = all_labels([self.load(generation, number) for generation in newest for number in range(c.shards)])
        metrics = self.assess(all_labels([self.load(self.generation, number) for number in range(c.shards)]))
        metrics.update(self.learn(labels))
        self.generation += 1
        self.seconds += time.perf_counter() - began
        metrics["run/seconds"] = self.seconds
        metrics["rollout/decisions"] = float(self.generation * c.labelled)
        metrics["speed/decisions_per_second"] = self.speed
        return metrics

    # ---- checkpoints ---------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """All that is needed to go on, and to play. Adam begins anew each generation, so there is nothing of it to keep."""
        return checkpoint_of(
            self.config,
            self.setup,
            iteration=self.generation,
            progress={"decisions": float(self.generation * self.config.labelled), "seconds": self.seconds},
            tensors=named("model.", self.net),
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of this same configuration."""
        with taking_up(checkpoint, self.config, self.setup):
            self.net.load_state_dict(under("model.", checkpoint.tensors))
            self.seconds = checkpoint.progress["seconds"]
        self.generation = checkpoint.iteration


def batched(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """``numbers`` in order, so many at a time."""
    for at in range(0, len(numbers), size):
        yield numbers[at : at + size]


def targets(
    labels: Labels, temperature: float, known: NDArray[np.float32] | float = 0.0
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What is learned from ``labels``: shares of the actions ``(K, A)``, 0 where not legal, and values ``(K,)``.

    The shares are the softmax of what the actions are worth, over ``temperature``, and of what is ``known (K, A)`` of them
    before, as logarithms; the value is what a seat that plays by them still gets in the round, beyond what it has netted, as
    in PPO.
    """
    weighed = np.where(labels.mask, labels.mean / temperature + known, -np.inf)
    weights = np.exp(weighed - weighed.max(axis=1, keepdims=True))
    share = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    value = (share * np.nan_to_num(labels.mean)).sum(axis=1) - labels.earned
    return share, value.astype(np.float32)


def entropy(share: NDArray[np.float32]) -> NDArray[np.float32]:
    """Entropies ``(K,)`` of distributions ``(K, A)``, in nats."""
    nats: NDArray[np.float32] = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=1)
    return nats


def soft_cross_entropy(logits: Tensor, mask: Tensor, share: Tensor) -> Tensor:
    """Mean cross-entropy of the policy of ``logits (K, A)`` over ``mask (K, A) bool`` against ``share (K, A)``, in nats."""
    return -(share * masked_log_softmax(logits, mask)).sum(dim=1).mean()


LABELS = "labels"
"""The folder of the shards, in that of the run."""


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Callable[[int, dict[str, float]], None]) -> bool:
    """Train in the folder of ``run``, from ``checkpoint`` on if there is one; ``progress`` is told after each shard.

    A checkpoint is saved after each generation. Gives True when all are done, False when it was stopped before: what had been
    labelled of the one begun is kept.
    """
    trainer = Trainer(config, run.folder / LABELS)
    if checkpoint is not None:
        trainer.restore(checkpoint)
    else:
        if config.init is not None:
            begin_from(trainer.net, config.init, trainer.setup)
        run.save(trainer.checkpoint())
    progress(trainer.generation * config.labelled, {})
    if trainer.generation >= config.generations:
        return True
    with SummaryWriter(str(run.folder), purge_step=trainer.generation + 1) as writer, run.interruptible():
        while trainer.generation < config.generations:
            metrics = trainer.generate(run, progress)
            if metrics is None:
                return False
            run.save(trainer.checkpoint())
            if config.eval_deals:
                metrics.update(trainer.evaluate())
            for name, value in metrics.items():
                writer.add_scalar(name, value, trainer.generation)
            progress(trainer.generation * config.labelled, metrics)
    return True
