"""Expert iteration: a search labels the decisions of a player, a network learns the labels, and is the next player.

A generation has three parts:

1. Label: the current player plays rounds against itself: an agent without memory in the first generation and later the network,
   drawing from its policy. Of their decisions some are chosen uniformly and labelled by a flat Monte Carlo search, which tries
   all legal actions in the same determinizations: deals of the hidden cards that are consistent with what the seat knows.
2. Learn: the network learns the labels of the last generations: its policy softmax(mean / temperature), where mean are the
   search's action values, and its value what such a policy nets. A policy that is chosen by some means is overvalued by the same
   means, as it prefers actions whose errors are positive. So the value is cross-fitted: each half of the determinizations chooses
   a policy, the other half values it, and the target is the mean of both.
3. Evaluate.

The targets are soft because means have errors: two actions that the search cannot tell apart get nearly equal probabilities, and
a mistake costs the network as much as it costs at the table. With a ``prior`` the targets are proportional to
pi^prior * exp(mean / temperature), where pi is the policy of the network before it learns; at prior = 1 they maximise
<p, mean> - temperature * KL(p || pi) over p. So the policy moves where labels clearly differ from it, and keeps what some hundred
thousand noisy labels cannot tell. The value is learned from the search's means too, each over many rounds, and not from how the
one round ended. The search values actions by the payoff of the ``objective``, a seat's own unless it is set to ``centred``.

Labels are kept in files, which depend on the seed, their generation and number, and the network only, as learning does: a run
that was stopped or killed and is resumed makes only the missing files, and gives the same bits.

Sources: Anthony, Tian and Barber, "Thinking fast and slow with deep learning and tree search", 2017 (expert iteration); Silver
et al., "Mastering the game of Go without human knowledge", 2017 (policy and value learned from a search in one network);
Grill et al., "Monte-Carlo tree search as regularized policy optimization", 2020 (the current policy as a prior).
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, SeatAssignment, any_needs_history
from nainjaune_env.core.atomic_files import remove_leftovers, write_bytes
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.engine.batch import Batch

from ..base.devices import check_device, set_torch_threads
from ..base.seeds import Stream, generator
from ..base.settings import NonNegativeFloat, NonNegativeInt, PositiveInt, Share
from ..base.task import CARRIED, MATCH_ROUNDS, OWN
from ..measure.distributed.units import Executor
from ..players.heuristics import RandomAgent
from ..players.loading import load_agent
from ..players.networks.checkpoint import Checkpoint
from ..players.networks.modules import masked_log_softmax
from ..players.networks.net_agent import NetAgent
from ..players.networks.policy_value import PolicyValueNet
from ..players.search import SearchAgent, rollouts_by
from ..players.search.rollouts import Rollouts
from .base import COMMON_METRICS, BaseConfig, BaseTrainer, Rounds, Threads, anneal, warmed_up
from .gating import edge_over, is_weaker
from .labelling import LabelWorkers, check_workers, executor_of, labels_run
from .labels import LabelFile, Labels, concatenate_labels, load_labels, save_labels
from .opponents import LEARNER, PAST, Seating, check_seated
from .optimizers import Adam, GroupedOptimizer, Optimizer
from .rollout import RoundStarts, batch_start
from .run import Progress, Run, run_iterations
from .targets import entropy, pooled, soft_cross_entropy, targets

LABELS = "labels"
"""The folder of the label files, in that of the run."""


class Config(BaseConfig, frozen=True):
    """The configuration of a run of expert iteration. An iteration is a generation."""

    algorithm: Annotated[str, "the trainer"] = "expert"
    objective: Annotated[str, "the payoff that counts: 'own', or 'centred', less the mean of the table's seats"] = OWN
    generations: Annotated[PositiveInt, "generations of the run: times that decisions are labelled and learned"] = 3
    shards: Annotated[PositiveInt, "label files of a generation"] = 75
    shard: Annotated[Rounds, "decisions in a label file"] = 8000
    rounds: Annotated[
        Rounds, "rounds played for each label file, its decisions chosen from theirs; with start=carried up to whole matches"
    ] = 2048
    explore: Annotated[Share, "probability of a uniformly random action in those rounds"] = 0.1
    init: Annotated[str | None, "the run whose network plays the first generation, instead of 'rule' (none: a new network)"] = (
        None
    )
    rule: Annotated[str, "the agent that plays the first generation's rounds, and rollouts"] = "random"
    rollouts: Annotated[
        Literal["net", "rule"], "the player of rollouts once a network has learned: 'net', or 'rule', many times faster"
    ] = "net"
    deals: Annotated[
        int, Meta(ge=2), "determinizations (deals of the hidden cards) that the search tries each legal action in"
    ] = 10
    temperature: Annotated[
        float, Meta(gt=0), "the policy's target is softmax(mean / temperature), in the game's unit (chips, cards)"
    ] = 2.0
    prior: Annotated[NonNegativeFloat, "weight of the log-policy of the network in its next targets; 0 = the labels alone"] = 1.0
    gate: Annotated[
        NonNegativeInt, "deals, 2 or more, on which a generation shows that it is not weaker than the last; 0 = none"
    ] = 0
    window: Annotated[PositiveInt, "number of generations, the newest ones, whose labels are learned"] = 2
    fresh: Annotated[bool, "learn with a new network each generation, instead of the current one"] = False
    epochs: Annotated[PositiveInt, "passes over the labels in a generation"] = 4
    minibatch: Annotated[PositiveInt, "decisions in a gradient step"] = 512
    optimizer: Annotated[
        Optimizer, "the optimizer, {name, **arguments}, new in each generation; its schedule is over the gradient steps of one"
    ] = Adam(learning_rate=1e-3, last_learning_rate=1e-5)
    value_weight: Annotated[NonNegativeFloat, "weight of the value loss"] = 0.5
    max_grad_norm: Annotated[NonNegativeFloat, "a gradient with a larger norm is scaled down to this one"] = 1.0
    device: Annotated[str, "where determinizations, rollouts and the network are: 'cpu', or 'cuda' for an NVIDIA GPU"] = "cpu"
    threads: Annotated[Threads, "label files made in parallel, and torch's threads in learning; at most the free cores"] = 1
    workers: Annotated[Threads, "processes that label, in place of 'threads'; labels do not depend on it"] = 1
    cluster: Annotated[str | None, "address of the Ray cluster that labels: host:port, or 'auto' (none: this machine)"] = None
    checkpoint_minutes: Annotated[NonNegativeFloat, "minutes between checkpoints, at least; 0 = one after every generation"] = 0.0
    eval_every: Annotated[NonNegativeInt, "generations between evaluations; 0 = none"] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gate == 1:
            raise ConfigError("A test takes at least 2 deals, and 'gate' is 1.")
        if PAST in self.shares:
            raise ConfigError(
                "Expert iteration labels decisions of its newest network, so 'past' is none of its 'opponents': it learns from "
                "earlier generations by 'window'."
            )
        check_workers(self)
        setup = self.setup()
        rule = load_agent(
            self.rule, setup, bots=self.bot_settings
        )  # an unknown name is an error now and not some generations later
        if isinstance(rule, SearchAgent):
            raise ConfigError(f"{self.rule!r} is a search, and each decision of the rollouts would be a search of its own.")
        rollouts_by(rule, setup)
        if check_device(self.device) == "cuda":
            from ..players.cuda.players import check_players

            check_players([rule], setup)

    @property
    def iterations(self) -> int:
        """Decisions labelled in the whole run: the unit of progress, as a generation takes minutes."""
        return self.generations * self.labelled

    @property
    def labelled(self) -> int:
        """Decisions labelled in a generation."""
        return self.shards * self.shard


METRICS = {
    **COMMON_METRICS,
    "rollout/decisions": "decisions labelled so far",
    "rollout/entropy": "mean entropy of the network's policy at the generation's labels, in nats, before it learns them",
    "labels/error": "mean standard error of the search's action values, in the game's unit (chips, cards)",
    "labels/entropy": "mean entropy of the policy's targets, in nats",
    "labels/regret": "value of the best action minus mean value of the network's policy, by the generation's labels, before the "
    "network learns them; a maximum of noisy means is biased upwards, so this does not go to 0",
    "gate/edge": "edge of the new generation over the field of the one before, on training deals; 0 without `gate`",
    "gate/taken": "1 if the new generation was taken, 0 if the weights of the one before stay",
    "update/policy_loss": "KL(target || policy) in the last epoch, in nats",
    "update/value_loss": "mean squared error of the value in the last epoch, in units of payoff_scale squared",
    "update/grad_norm": "mean gradient norm before scaling down, in the last epoch",
    "speed/decisions_per_second": "decisions labelled a second, with the play of their rounds; 0 if all files existed",
}
"""Every metric that is logged, with its meaning."""


class Trainer(BaseTrainer[Config]):
    """The state of a run."""

    def __init__(self, config: Config, folder: Path, executor: Executor | None = None) -> None:
        """``folder``: where the label files are; ``executor``: where they are made (None: in threads of this process)."""
        super().__init__(config, config.setup())
        check_seated(config.shares, [self.tables], "rounds")
        self.folder = folder
        self.labels_run = labels_run(config.to_dict())
        self.net = self.untrained(0)
        self.modules = {"model.": self.net}
        self.rule = load_agent(config.rule, self.setup, bots=config.bot_settings)
        self._of_thread = threading.local()
        self.files_done = 0  # of the generation under way
        self.speed = 0.0  # decisions labelled a second, when the last label files were made
        self.workers = None if executor is None else LabelWorkers(executor)

    def untrained(self, generation: int) -> PolicyValueNet:
        """Returns a new network: another one in each generation, the same on every device."""
        net = self.new_net(torch.Generator().manual_seed(self.config.seed + generation)).to(self.config.device)
        net.threads = 1  # several threads play with it at once
        return net

    @property
    def completed(self) -> int:
        """Decisions labelled."""
        return (self.iteration * self.config.shards + self.files_done) * self.config.shard

    # ---- a generation --------------------------------------------------------------------------------------------

    def iterate(self) -> dict[str, float]:
        """Makes the next missing label files of the generation; once all exist, learns them.

        Returns the metrics of the generation if it is done, else metrics for the progress bar.
        """
        start = time.perf_counter()
        c = self.config
        missing = [number for number in range(c.shards) if not self.label_path(self.iteration, number).exists()]
        made = self.make_label_files(missing) if missing else []
        self.files_done = c.shards - len(missing) + len(made)
        if self.files_done < c.shards:
            entropy = self.assess(made[-1])["rollout/entropy"]
            self.seconds += time.perf_counter() - start
            oldest = {} if self.workers is None else {"labels/oldest": self.workers.oldest}
            return {"speed/decisions_per_second": self.speed, "rollout/entropy": entropy, **oldest}
        first = max(self.iteration + 1 - c.window, 0)
        metrics = self.assess(self.generation_labels(self.iteration, self.iteration))
        before = copy.deepcopy(self.net) if c.gate and self.has_learned else None
        metrics |= self.learn(self.generation_labels(first, self.iteration))
        metrics |= self.pass_gate(before)
        self.files_done = 0
        metrics = self.finish_iteration(metrics, c.labelled, time.perf_counter() - start)
        return {**metrics, "speed/decisions_per_second": self.speed}

    def pass_gate(self, before: PolicyValueNet | None) -> dict[str, float]:
        """Restores the network as it was ``before`` learning if it became weaker; None passes. Returns the metrics."""
        if before is None:
            return {"gate/edge": 0.0, "gate/taken": 1.0}
        seed = int(generator(self.config.seed, Stream.TRAINING, self.iteration, 0, 0).integers(2**63))
        pair = NetAgent("before", before), NetAgent("after", self.net)
        edge = edge_over(*pair, self.setup, deals=self.config.gate, seed=seed, task=self.config.task)
        if weaker := is_weaker(edge):
            self.net.load_state_dict(before.state_dict())
        return {"gate/edge": edge.mean, "gate/taken": float(not weaker)}

    def generation_labels(self, first: int, last: int) -> Labels:
        """Returns the labels of the generations from ``first`` to ``last``, which have all been made."""
        numbers = range(self.config.shards)
        return concatenate_labels([self.load(generation, k) for generation in range(first, last + 1) for k in numbers])

    def make_label_files(self, missing: Sequence[int]) -> list[Labels]:
        """Makes and writes the first ``missing`` label files, one for each thread, or the next one that workers finish."""
        start, c = time.perf_counter(), self.config
        if self.workers is None:
            set_torch_threads(1)
            numbers = missing[: c.threads]
            with ThreadPoolExecutor(len(numbers)) as threads:
                made = list(threads.map(self.make_label_file, numbers))
            set_torch_threads(c.threads)
            self.speed = c.shard * len(made) / (time.perf_counter() - start)
        else:
            player = self.checkpoint if self.has_learned else None
            number, labels, data = self.workers.next_labels(c.to_dict(), self.setup, self.iteration, player, missing)
            # as a worker compressed it, which takes long beside quick rollouts
            write_bytes(self.label_path(self.iteration, number), data)
            made = [labels]
            self.speed = c.shard * self.workers.files_a_second
        return made

    def close(self) -> None:
        """Ends the workers, if there are any."""
        if self.workers is not None:
            self.workers.close()

    # ---- labels --------------------------------------------------------------------------------------------------

    @property
    def has_learned(self) -> bool:
        """Whether the network has learned anything, in this run or in the one that ``init`` names."""
        return self.iteration > 0 or self.config.init is not None

    def player(self) -> Agent:
        """Returns the player of this generation's rounds."""
        return NetAgent("net", self.net, stochastic=True) if self.has_learned else self.rule

    def experts(self) -> tuple[SearchAgent, SearchAgent]:
        """Returns the searches that label, each with half of the determinizations: their values are independent.

        They do not halve, because the values of all actions are learned.

        On a GPU, determinizations and rollouts by a heuristic equal the CPU's, and so do labels of the same decisions;
        by a network they differ by rounding.
        """
        by_net = self.has_learned and self.config.rollouts == "net"
        policy = NetAgent("net", self.net) if by_net else self.rule
        rollouts: Rollouts
        options: dict[str, Any] = {}
        if self.config.device == "cuda":
            from ..players.cuda.rollouts import DETERMINIZATIONS, gpu_rollouts

            rollouts = on_gpu = gpu_rollouts(policy, self.setup, self.config.objective)
            options = {"draw": on_gpu.draw, "at_once": DETERMINIZATIONS}
        else:
            rollouts = rollouts_by(policy, self.setup, self.config.objective)
        first = self.config.deals // 2
        one, other = (
            SearchAgent("expert", rollouts, deals, halving=False, **options) for deals in (first, self.config.deals - first)
        )
        return one, other

    def label_path(self, generation: int, number: int) -> Path:
        """Returns the path of a label file."""
        return self.folder / f"{generation:03d}-{number:05d}.npz"

    def load(self, generation: int, number: int) -> Labels:
        """Reads a label file; raises :class:`~nainjaune_env.core.errors.LabelsError` if it is missing, damaged or another one."""
        label_file = LabelFile(self.labels_run, generation, number)
        return load_labels(self.label_path(generation, number), self.setup, label_file, count=self.config.shard)

    def make_label_file(self, number: int) -> Labels:
        """Labels the decisions of a file and writes it. Safe to call from several threads."""
        labels = self.label(number, self.experts())
        label_file = LabelFile(self.labels_run, self.iteration, number)
        save_labels(self.label_path(self.iteration, number), labels, self.setup, label_file)
        return labels

    def label(self, number: int, experts: Sequence[SearchAgent]) -> Labels:
        """Plays the rounds of a label file and labels a random choice of their decisions."""
        rng = generator(self.config.seed, Stream.TRAINING, self.iteration, 1 + number)
        tables, return_so_far = self.play(self.new_batch(), self.player(), rng)
        if len(tables) < self.config.shard:
            raise ConfigError(
                f"{self.config.rounds} rounds held {len(tables)} choices, and a label file takes {self.config.shard}: "
                "let 'rounds' be larger, or 'shard' smaller."
            )
        chosen = np.sort(rng.permutation(len(tables))[: self.config.shard])
        batch = Batch(self.setup, len(chosen))
        batch.set_tables(np.arange(len(chosen)), tables[chosen], trusted=True)
        # the search sees a table only as a DecisionBatch shows it: with what the seat may know
        decisions = DecisionBatch(batch, np.arange(len(chosen)))
        halves = [expert.evaluate_actions(decisions, rng) for expert in experts]
        mean, error = pooled(halves)
        return Labels(
            observation=decisions.observation,
            legal=decisions.legal,
            mean=mean.astype(np.float32),
            halves=np.stack([half.mean for half in halves], axis=1).astype(np.float32),
            error=error.astype(np.float32),
            earned=return_so_far[chosen],
            seat=decisions.seat.astype(np.uint8),
            generation=np.full(len(chosen), self.iteration, np.int32),
        )

    @property
    def seating(self) -> Seating:
        """Who sits where, with agents of this thread alone: a search writes to buffers of its own."""
        if not hasattr(self._of_thread, "seating"):
            self._of_thread.seating = Seating(self.config.shares, self.setup, bots=self.config.bot_settings)
        seating: Seating = self._of_thread.seating
        return seating

    def new_batch(self) -> Batch:
        """Returns the tables for the rounds of a label file; each plays a match where these are carried."""
        log = any_needs_history(self.seating.agents)
        return Batch(self.setup, self.tables, start=batch_start(self.config.task), autoreset=False, log=log)

    @property
    def tables(self) -> int:
        """Tables that play the rounds of a label file."""
        return -(-self.config.rounds // self.rounds_a_table)

    @property
    def rounds_a_table(self) -> int:
        """Rounds that a table plays for a label file."""
        return MATCH_ROUNDS if self.config.start == CARRIED else 1

    def play(self, batch: Batch, player: Agent, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Plays rounds of ``player`` against itself and the ``opponents``, with exploration.

        Returns the tables at all its choices, and what the seat to act had netted by then, as the objective counts it.
        """
        explorer = RandomAgent()
        starts = RoundStarts(self.config.task, batch, staggered=False)
        tables, return_so_far = [batch.tables[:0].copy()], [np.zeros(0, np.float32)]
        actions = np.zeros(batch.num_tables, np.int64)
        for number in range(self.rounds_a_table):
            starts.deal(rng.integers(0, 2**64, batch.num_tables, np.uint64), number)
            payoff = batch.reward.astype(np.float32)  # (B, players) so far
            opponents = self.seat_opponents(batch, number, rng)
            while not batch.done.all():
                index = np.flatnonzero(~batch.done)
                if opponents:
                    actions[index] = opponents.actions(index)
                    index = index[opponents.seats[index, batch.seat[index]] == LEARNER]
                decisions = DecisionBatch(batch, index)
                choice = index[decisions.legal & (decisions.legal - 1) != 0]  # at least two bits set
                tables.append(batch.tables[choice])
                return_so_far.append(self.config.task.payoff(payoff[choice])[np.arange(choice.size), batch.seat[choice]])
                explored = rng.random(len(index)) < self.config.explore
                actions[index] = np.where(explored, explorer.act(decisions, rng), player.act(decisions, rng))
                batch.step(actions)
                if opponents:
                    opponents.stepped()
                payoff += batch.reward
        return np.concatenate(tables), np.concatenate(return_so_far)

    def seat_opponents(self, batch: Batch, number: int, rng: np.random.Generator) -> SeatAssignment | None:
        """Returns who plays where in round ``number`` of the tables; None in self-play."""
        agents = self.seating.agents
        if not agents:
            return None
        return SeatAssignment(batch, agents, self.seating.seats(batch.num_tables, number), lambda *_: rng)

    # ---- learning ------------------------------------------------------------------------------------------------

    def learn(self, labels: Labels) -> dict[str, float]:
        """Makes the gradient steps on ``labels``, with a new optimizer; returns the metrics of the last epoch."""
        c = self.config
        weight = self.prior_weight
        prior = weight * self.log_policy(labels) if weight else 0.0
        target, value_target = targets(labels, c.temperature, prior)
        if not self.has_learned:
            # the unit of the value from here on
            self.net.payoff_scale.fill_(max(float(value_target.std()), 1.0))
        elif c.fresh:
            scale = self.net.payoff_scale.clone()
            self.net.load_state_dict({**self.untrained(self.iteration).state_dict(), "payoff_scale": scale})
        value_target /= float(self.net.payoff_scale)
        arrays = (labels.observation, labels.mask, target, value_target, entropy(target))
        columns = [torch.from_numpy(array).to(c.device) for array in arrays]
        optimizer = GroupedOptimizer(c.optimizer, [{"params": [*self.net.parameters()]}], [self.net.body])
        rates, warmup = (c.optimizer.learning_rate, c.optimizer.last_learning_rate), c.optimizer.warmup
        rng = generator(c.seed, Stream.TRAINING, self.iteration, 0)
        steps = -(-len(labels) // c.minibatch)
        for epoch in range(c.epochs):
            order = torch.from_numpy(rng.permutation(len(labels))).to(c.device)
            logged = []
            for step in range(steps):
                rows = order[step * c.minibatch : (step + 1) * c.minibatch]
                observation, mask, share, goal, share_entropy = (column[rows] for column in columns)
                rate = anneal(*rates, (epoch + step / steps) / c.epochs, c.schedule)
                optimizer.set_learning_rate(rate * warmed_up(epoch * steps + step, warmup))
                logits, value, _ = self.net(observation)
                # KL(target || policy): the cross-entropy less the target's entropy, which is its minimum
                policy_loss = soft_cross_entropy(logits, mask, share) - share_entropy.mean()
                value_loss = torch.nn.functional.mse_loss(value, goal)
                self.net.zero_grad(set_to_none=True)
                (policy_loss + c.value_weight * value_loss).backward()  # type: ignore[no-untyped-call]
                norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), c.max_grad_norm)
                optimizer.step()
                logged.append(torch.stack([policy_loss.detach(), value_loss.detach(), norm]))
        means = [sum(column) / steps for column in torch.stack(logged).T.tolist()]
        return dict(zip(("update/policy_loss", "update/value_loss", "update/grad_norm"), means, strict=True))

    def assess(self, labels: Labels) -> dict[str, float]:
        """Returns the metrics of ``labels`` and of the network's policy at them."""
        value, log_policy = np.nan_to_num(labels.mean), self.log_policy(labels)
        policy, prior = np.exp(log_policy), self.prior_weight * log_policy
        best = np.where(labels.mask, value, -np.inf).max(axis=1)
        return {
            "rollout/entropy": float(entropy(policy).mean()),
            "labels/error": float(np.nanmean(labels.error)),
            "labels/entropy": float(entropy(targets(labels, self.config.temperature, prior)[0]).mean()),
            "labels/regret": float((best - (policy * value).sum(axis=1)).mean()),
        }

    @property
    def prior_weight(self) -> float:
        """The weight of the network's log-policy in its next targets: 0 before it has learned anything."""
        return self.config.prior if self.has_learned else 0.0

    @torch.inference_mode()
    def log_policy(self, labels: Labels) -> NDArray[np.float32]:
        """Returns the network's log-probabilities ``(K, A)`` at ``labels``; large negative numbers for illegal actions."""
        pieces = torch.split(torch.from_numpy(labels.observation), 16384)
        logits = torch.cat([self.net(piece.to(self.net.device))[0].cpu() for piece in pieces])
        log_policy: NDArray[np.float32] = masked_log_softmax(logits, torch.from_numpy(labels.mask)).numpy()
        return log_policy


def train(config: Config, run: Run, checkpoint: Checkpoint | None, progress: Progress) -> bool:
    """Trains as :func:`~nainjaune_agents.train.run.run_iterations` does; label files of an unfinished generation are kept."""
    remove_leftovers(run.folder / LABELS)
    trainer = Trainer(config, run.folder / LABELS, executor_of(config))
    if checkpoint is None and config.init is not None:
        trainer.load_initial_weights(config.init, objective=config.objective)
    with closing(trainer):
        return run_iterations(trainer, run, checkpoint, progress)
