"""What all trainers share: configuration keys, evaluation, checkpoints, and the totals of time and decisions.

A trainer's module derives its ``Config`` from :class:`BaseConfig` and its ``Trainer`` from :class:`BaseTrainer`, whose
:meth:`BaseTrainer.iterate` it implements. ``run.run_iterations`` calls that until the run is done.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, cast

import numpy as np
import torch
from msgspec import Meta, field
from numpy.typing import NDArray
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_THREADS
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import resolve_setup

from ..base.devices import set_torch_threads
from ..base.seeds import derived_seed
from ..base.settings import NonNegativeFloat, NonNegativeInt, PositiveInt, Settings
from ..base.task import CENTRED, FRESH, Task
from ..measure.edges import FieldAlone
from ..measure.own_game import OwnGame
from ..players.loading import load_agent
from ..players.networks.arch import Network, make_net
from ..players.networks.checkpoint import Checkpoint
from ..players.networks.inference.mlp import MLPInference
from ..players.networks.net_agent import NetAgent
from ..players.networks.policy_value import PolicyValueNet
from ..players.networks.torch_nets import tensors_of
from ..players.program.settings import BotSettings
from .checkpointing import load_initial_weights, load_optimizer, optimizer_tensors, restoring, with_prefix, without_prefix
from .experiment_logs import check_logs
from .opponents import named, shares_of
from .optimizers import Adam, Optimizer
from .rollout import RoundStarts

EVAL_SEED = 987_654_321
"""Of the evaluation's deals, with the run's own seed, see :func:`eval_seed`."""
Rounds = Annotated[int, Meta(ge=1, le=1 << 20)]
"""A number of rounds, or of tables in parallel: at most some gigabytes of them."""
Threads = Annotated[int, Meta(ge=1, le=MAX_THREADS)]
Decay = Annotated[float, Meta(ge=0, le=1 - 1e-6)]
"""The decay of an average of the weights, which at 1 would never change."""
EMA_MEANING = "decay, an iteration, of an exponential moving average of the weights, which is the player; 0 = none"
Schedule = Literal["linear", "cosine"]


def eval_seed(seed: int, setup_index: int = 0) -> int:
    """Returns the seed of the deals on which the run with ``seed`` is evaluated: other deals for every training seed.

    So runs of several training seeds share nothing, and Student's interval over their edges holds for new deals.
    """
    return derived_seed(EVAL_SEED, seed, setup_index)


class BaseConfig(Settings, frozen=True):
    """The keys that every trainer has. A subclass redeclares a key whose default or meaning differs."""

    TRAINS_MEMORY: ClassVar[bool] = False
    """Whether the trainer can train a network with a state."""
    algorithm: Annotated[str, "the trainer"] = ""
    game: Annotated[str, "the game"] = DEFAULT_GAME
    preset: Annotated[str | None, "the preset (none: the game's default)"] = None
    players: Annotated[int | None, "seats (none: the game's default)"] = None
    rules: Annotated[dict[str, Any], "knobs set over the preset, as in --set rules.decline=never"] = field(default_factory=dict)
    objective: Annotated[str, "the payoff that counts: 'own', or 'centred', less the mean of the table's seats"] = CENTRED
    start: Annotated[
        str | dict[str, Any],
        "how rounds start: 'fresh', 'carried' through matches, or {pots: [low, high]}, drawn for each deal",
    ] = FRESH
    opponents: Annotated[
        dict[str, Any] | str | None,
        "whom the learner meets: shares of tables, as in {self: 0.5, closer: 0.25, past: 0.25}, 'past' being "
        "earlier states of the run, or one agent's name (none: itself); at tables with an opponent one seat learns",
    ] = None
    bots: Annotated[
        dict[str, Any] | None,
        "how opponents that are bots are asked, as in {on_fault: forfeit, decision_seconds: 2} (none: as by default)",
    ] = None
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1), "seed of every random draw in the run"] = 0
    arch: Annotated[Network, "the network, {name, **arguments}"] = cast(Network, MLPInference.Arguments())
    optimizer: Annotated[Optimizer, "the optimizer, {name, **arguments}"] = Adam()
    schedule: Annotated[Schedule, "how values go from their start to their end: 'linear', or 'cosine', half a period of it"] = (
        "linear"
    )
    epochs: Annotated[PositiveInt, "passes over the decisions of an iteration"] = 1
    minibatch: Annotated[PositiveInt, "decisions in a gradient step"] = 1024
    max_grad_norm: Annotated[NonNegativeFloat, "a gradient with a larger norm is scaled down to this one"] = 0.5
    threads: Annotated[Threads, "torch's threads; more than there are free cores is many times slower"] = 1
    checkpoint_minutes: Annotated[NonNegativeFloat, "minutes between checkpoints, at least; 0 = one after every iteration"] = 2.0
    keep_best: Annotated[bool, "keep the checkpoint with the highest edge in evaluations too, as the agent RUN@best"] = False
    keep_every: Annotated[
        NonNegativeInt,
        "iterations between checkpoints that are kept, as the agents RUN@ITERATION; 0 = none",
    ] = 0
    logs: Annotated[list[str], "where metrics are logged beside TensorBoard and metrics.csv: 'wandb', 'mlflow'"] = field(
        default_factory=list
    )
    eval_every: Annotated[NonNegativeInt, "iterations between evaluations; 0 = none"] = 25
    eval_deals: Annotated[int, Meta(ge=0, le=10**9), "deals of each evaluation; 0 = none"] = 1000
    eval_against: Annotated[str, "the agent over whose field the edge is measured"] = "random"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.recurrent and not self.TRAINS_MEMORY:
            raise ConfigError(f"{self.algorithm!r} trains no network with memory: arch.recurrent is 0, not {self.recurrent}.")
        check_logs(self.logs)
        if self.eval_deals == 1:
            raise ConfigError("A confidence interval takes at least 2 deals, and 'eval_deals' is 1.")
        if self.keep_best and not self.evaluates:
            raise ConfigError("'keep_best' keeps the checkpoint with the highest edge in evaluations, and there are none.")
        self.setup()
        bots = self.bot_settings
        for setup in self.setups():
            self.task.check(setup)
            for name in named(self.shares):
                load_agent(name, setup, bots=bots)
            if self.evaluates:  # an unknown name is an error now and not at the first evaluation
                load_agent(self.eval_against, setup, bots=bots)

    def setup(self) -> Setup:
        """Returns the game and its rules; raises :class:`~nainjaune_env.core.errors.RulesError` for unknown ones."""
        return resolve_setup(self.game, self.preset, self.players, self.rules)

    def setups(self) -> list[Setup]:
        """Returns all setups that are trained at and evaluated at."""
        return [self.setup()]

    @property
    def recurrent(self) -> int:
        """Units of the network's memory; 0 = none."""
        return int(getattr(self.arch, "recurrent", 0))

    @property
    def task(self) -> Task:
        """What is learned: the objective and the start of rounds."""
        return Task(self.objective, self.start)

    @property
    def bot_settings(self) -> BotSettings:
        """How bots are asked; raises :class:`ConfigError` for malformed settings."""
        return BotSettings.from_dict(self.bots or {})

    @property
    def shares(self) -> dict[str, float]:
        """The share of tables of each opponent; raises :class:`ConfigError` for a malformed one."""
        return shares_of(self.opponents)

    @property
    def evaluates(self) -> bool:
        """Whether there are evaluations during the run."""
        return self.eval_every > 0 and self.eval_deals > 0

    @property
    def iterations(self) -> int:
        """The value of :attr:`BaseTrainer.completed` at the end of the run."""
        raise NotImplementedError


COMMON_METRICS = {
    "run/seconds": "seconds spent in iterations, summed over the parts of a resumed run, without evaluations and checkpoints",
    "rollout/decisions": "decisions made so far",
    "speed/decisions_per_second": "decisions of the iteration over its wall time",
    "eval/edge": "edge (chips, cards) a round over the field of `eval_against`, a seat's own payoff "
    "at the run's `start`, on duplicate deals, the same at each evaluation",
    "eval/ci95": "half-width of the 95 % confidence interval of `eval/edge`",
}
"""The metrics that every trainer logs, with their meanings."""

C = TypeVar("C", bound=BaseConfig)


class BaseTrainer(ABC, Generic[C]):
    """The state of a run: its configuration, networks and optimizer, and its totals."""

    net: PolicyValueNet
    """The network that plays; the subclass sets it."""
    modules: dict[str, torch.nn.Module]
    """All modules that a checkpoint keeps, by the prefix of their tensors' names; the subclass sets it. ``model.`` plays."""
    optimizers: dict[str, torch.optim.Optimizer]
    """Those whose state checkpoints keep, by the prefix of its tensors' names; the subclass sets it."""
    starts: Sequence[RoundStarts] = ()
    """What begins the rounds at the trainer's tables, if a checkpoint must keep them; the subclass sets it."""
    rank, size = 0, 1
    """This process's number and their count under torchrun, see ``distributed``; other trainers have one process."""
    common = False
    """Whether ``layout`` is the common one for all tables of the game, not the setup's own."""

    def __init__(self, config: C, setup: Setup) -> None:
        set_torch_threads(config.threads)
        self.config = config
        self.setup = setup
        self.layout = setup.layout
        """The observation layout that the network takes."""
        self.modules = {}
        self.optimizers = {}
        self.averages: list[AveragedModel] = []
        """Exponential moving averages of the weights of ``net``, see :meth:`average_weights`."""
        self.iteration = 0
        """Iterations done."""
        self.decisions = 0
        self.seconds = 0.0
        self._eval_fields: list[FieldAlone[Agent]] = []

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Does one iteration, or a part of it that leaves ``iteration`` as it is, and returns its metrics.

        It must depend only on the configuration, ``iteration`` and what a checkpoint keeps, so that a resumed run gives the
        same bits.
        """

    @property
    def finite(self) -> bool:
        """Whether all weights are finite, and so small that the product of any two is too: else outputs are NaN."""
        most = torch.finfo(torch.float32).max ** 0.5
        return all(bool((weight.abs() < most).all()) for module in self.modules.values() for weight in module.parameters())

    @property
    def completed(self) -> int:
        """Progress, from 0 to ``config.iterations``."""
        return self.iteration

    def ends(self, stop_requested: bool) -> bool:
        """Returns whether no further iteration is done: the last one is, or ``stop_requested``."""
        return self.completed >= self.config.iterations or self.mean(stop_requested) > 0

    # ---- processes -----------------------------------------------------------------------------------------------

    def part(self, count: int) -> slice:
        """Returns which of ``count`` tables this process has."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def mean(self, value: float) -> float:
        """Returns the mean of ``value`` over all processes."""
        return value

    def average_gradients(self) -> None:
        """Sets all gradients to their means over all processes."""

    # ---- schedules and networks ----------------------------------------------------------------------------------

    def annealed(self, first: float, last: float) -> float:
        """Returns the value now of the schedule that goes from ``first`` to ``last`` over the run."""
        return anneal(first, last, self.iteration / self.config.iterations, self.config.schedule)

    @property
    def learning_rate(self) -> float:
        """The optimizer's step size now."""
        c = self.config.optimizer
        return self.annealed(c.learning_rate, c.last_learning_rate) * warmed_up(self.iteration, c.warmup)

    def new_net(self, generator: torch.Generator) -> PolicyValueNet:
        """Returns an untrained network, its weights drawn from ``generator``."""
        net = make_net(self.config.arch, self.layout, len(self.setup.game.actions), generator)
        net.threads = self.config.threads
        return net

    def average_weights(self, prefix: str, decay: float) -> PolicyValueNet:
        """Returns a copy of ``net`` with an exponential moving average of its weights, kept in checkpoints under ``prefix``.

        After each iteration an average is ``decay`` times itself plus ``1 - decay`` times the weight of ``net``; after the
        first iteration it equals the weight (Polyak and Juditsky, "Acceleration of stochastic approximation by averaging",
        1992). With the prefix ``model.`` the average is the player, and the weights of ``net`` are kept under ``learner.``.
        """
        average = AveragedModel(self.net, multi_avg_fn=get_ema_multi_avg_fn(decay))  # type: ignore[no-untyped-call]
        self.averages.append(average)
        if prefix == "model.":
            self.modules["learner."] = self.net
        self.modules[prefix] = average.module
        return self.network(prefix)

    @property
    def player_net(self) -> PolicyValueNet:
        """The network that is evaluated, and that plays as the agent of the run."""
        return self.network("model.")

    def network(self, prefix: str) -> PolicyValueNet:
        """Returns the network among :attr:`modules` that has the ``prefix``."""
        net = self.modules[prefix]
        assert isinstance(net, PolicyValueNet)
        return net

    def finish_iteration(self, metrics: dict[str, float], decisions: int, wall: float) -> dict[str, float]:
        """Counts an iteration of ``decisions`` in ``wall`` seconds; returns ``metrics`` with the common ones added."""
        for average in self.averages:
            average.update_parameters(self.net)
        self.iteration += 1
        self.decisions += decisions
        self.seconds += wall
        return {
            **metrics,
            "run/seconds": self.seconds,
            "rollout/decisions": float(self.decisions),
            "speed/decisions_per_second": decisions / wall,
        }

    # ---- evaluation ----------------------------------------------------------------------------------------------

    def agent(self) -> Agent:
        """Returns the agent that is evaluated."""
        return NetAgent("net", self.player_net)

    def evaluate(self) -> dict[str, float]:
        """Measures the agent's edge over the field of ``eval_against``; changes nothing that an iteration depends on."""
        (field,) = self.eval_fields([self.setup])
        edge = field.edge(self.agent())
        return {"eval/edge": edge.mean, "eval/ci95": edge.ci95}

    def eval_fields(self, setups: Sequence[Setup]) -> list[FieldAlone[Agent]]:
        """Returns the agent of ``eval_against`` at each of ``setups``, with what it gets by itself: it is played once.

        The deals of evaluations choose among checkpoints; no rating uses their seed (:func:`eval_seed`).
        """
        if not self._eval_fields:
            c = self.config
            for number, setup in enumerate(setups):
                source = OwnGame(setup, eval_seed(c.seed, number), Task(start=c.start))
                field = load_agent(c.eval_against, setup, bots=c.bot_settings)
                self._eval_fields.append(FieldAlone(source, field, c.eval_deals))
        return self._eval_fields

    # ---- checkpoints ---------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """Returns what is needed to resume the run, and to play."""
        tensors: dict[str, torch.Tensor] = {}
        for prefix, optimizer in self.optimizers.items():
            tensors |= optimizer_tensors(prefix, optimizer)
        for prefix, module in self.modules.items():
            tensors |= with_prefix(prefix, module.state_dict())
        for number, starts in enumerate(self.starts):
            tensors |= with_prefix(f"starts.{number}.", starts.state_dict())
        table = self.setup.to_dict()
        return Checkpoint(
            algorithm=self.config.algorithm,
            game=table["game"],
            preset=table["preset"],
            rules=table["rules"],
            players=table["players"],
            layout=self.layout.fingerprint,
            actions=len(self.setup.game.actions),
            arch=self.net.arch,
            iteration=self.iteration,
            config=self.config.to_dict(),
            common=self.common,
            progress={"decisions": float(self.decisions), "seconds": self.seconds},
            tensors={name: tensor.cpu().numpy() for name, tensor in tensors.items()},
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Takes over the state in a checkpoint of this configuration.

        Raises :class:`~nainjaune_env.core.errors.CheckpointError` if it is of another configuration, or its tensors do not fit.
        """
        tensors = tensors_of(checkpoint.tensors)
        with restoring(checkpoint, self.config, self.setup):
            for prefix, module in self.modules.items():
                module.load_state_dict(without_prefix(prefix, tensors))
            for number, starts in enumerate(self.starts):
                starts.load_state_dict(without_prefix(f"starts.{number}.", tensors))
            for prefix, optimizer in self.optimizers.items():
                load_optimizer(prefix, optimizer, tensors)
            self.decisions = int(checkpoint.progress["decisions"])
            self.seconds = checkpoint.progress["seconds"]
        self.iteration = checkpoint.iteration
        for average in self.averages:
            average.n_averaged.fill_(self.iteration)

    def load_initial_weights(self, run: str, *, objective: str | None) -> None:
        """Begins training from the network of another ``run``, named as an agent, trained for ``objective`` (None: any).

        Raises :class:`~nainjaune_env.core.errors.CheckpointError` if it does not fit.
        """
        load_initial_weights(self.net, run, self.setup, objective=objective, common=self.layout if self.common else None)
        for average in self.averages:
            average.module.load_state_dict(self.net.state_dict())


def anneal(first: float, last: float, fraction: float, schedule: Schedule = "linear") -> float:
    """Returns the value at ``fraction`` of the way from ``first``, at 0, to ``last``, at 1.

    On a line, or on half a period of a cosine (Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts",
    2017, eq. 5).
    """
    way = min(max(fraction, 0.0), 1.0)
    if schedule == "cosine":
        way = (1 - math.cos(math.pi * way)) / 2
    return first + (last - first) * way


def warmed_up(step: int, steps: int) -> float:
    """Returns the share of the learning rate at ``step``, counted from 0, that a linear warm-up over ``steps`` steps allows."""
    return min((step + 1) / (steps + 1), 1.0)


def explained_variance(target: NDArray[np.float32], value: NDArray[np.float32]) -> float:
    """Returns ``1 - var(target - value) / var(target)``, both ``(T,)``: 1 for equal arrays, 0 for a constant ``value``."""
    return float(1 - np.var(target - value) / max(np.var(target), 1e-8))
