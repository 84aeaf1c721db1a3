"""The configuration of PPO, and the metrics that it logs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import torch

from nainjaune_env.core.errors import ConfigError, choose_one, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_THREADS
from nainjaune_env.engine.history import MAX_PLIES, check_rewind

from ..loading import load_agent
from ..nets.devices import check_device
from ..nets.fused_mlp import fast_dtype
from ..nets.modules import MAX_UNITS, check_weights
from ..options import option
from ..task import CARRIED
from .base import COMMON_METRICS, EMA_MEANING, MOST_EMA, MOST_TABLES, BaseConfig
from .league import MATCHING
from .multitask import mixed_setups
from .shards import REDUCTIONS


@dataclass(frozen=True)
class Config(BaseConfig):
    """The configuration of a run of PPO: the defaults, over which values in YAML and ``--set`` go."""

    HAD_CENTRE: ClassVar = True
    TRAINS_MEMORY: ClassVar = True
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
    history: int = option(
        0, "plies of the round, the latest ones, that the network observes too; 0 = none", low=0, high=MAX_PLIES
    )
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
    critic_hidden: list[int] = option([256, 256], "widths of the critic's hidden layers", low=1, high=MAX_UNITS)
    belief: float = option(0.0, "weight of predicting, from the policy's features, what all other seats hold", low=0)
    bf16: bool | str = option(False, "matrix products in bfloat16; 'auto' = where the processor is known to compute them fast")
    magnet: float = option(0.0, "weight of KL(policy || magnet), the magnet being an average of past policies; 0 = none", low=0)
    magnet_decay: float = option(0.99, "decay, an iteration, of the average of the weights that is the magnet", low=0, high=1)
    ema: float = option(0.0, EMA_MEANING, low=0, high=MOST_EMA)
    shards: int = option(1, "parts of an iteration, which workers share; weights depend on their number", low=1, high=MOST_TABLES)
    workers: int = option(
        1, "processes that train on this machine, at most as many as 'shards'; see 'reduction'", low=1, high=MAX_THREADS
    )
    reduction: str = option(
        "ordered", "how gradients are added: 'ordered', the same bits with any number of workers, or 'all_reduce', faster"
    )
    overlap: bool = option(
        False, "play the rounds of the next iteration while learning from those of this one: for two cores, with threads=1"
    )
    device: str = option("cpu", "where tables and networks are: 'cpu', or 'cuda' for an NVIDIA GPU; not with opponents")

    def __post_init__(self) -> None:
        if self.bf16 == "auto":  # a run keeps what was found: another processor would train another network
            object.__setattr__(self, "bf16", fast_dtype() is torch.bfloat16)
        if not isinstance(self.bf16, bool):
            raise ConfigError(f"'bf16' is true, false or 'auto', not {quoted(self.bf16)}.")
        if check_device(self.device) != "cpu" and self.opponents is not None:
            raise ConfigError("Opponents play on the CPU: with device='cuda' there is no 'opponents'.")
        if self.league and (self.mixture or self.opponents is not None or self.device != "cpu"):
            raise ConfigError("A league plays at tables of one setup, on the CPU: with it there is no mixture and no opponents.")
        if self.league and not self.pool and not self.snapshots:
            raise ConfigError("A league has a 'pool' of agents or 'snapshots' of past selves, and there are none.")
        if self.matching not in MATCHING:
            raise ConfigError(choose_one("matching", self.matching, MATCHING))
        if self.history and (self.mixture or self.device != "cpu"):
            raise ConfigError("The plies of the round are observed at tables of one setup, on the CPU: 'history' is 0 elsewhere.")
        super().__post_init__()
        if self.recall and not self.recurrent:
            raise ConfigError("'recall' trains the memory of a network, and this one has none: set arch.recurrent too.")
        if self.history:
            check_rewind(self.setup().game)
        self._check_shards()
        self._check_overlap()
        check_weights(sum(a * b for a, b in pairwise(self.critic_hidden)))
        for setup in self.setups():
            for name in self.pool if self.opponents is None else [*self.pool, self.opponents]:
                load_agent(name, setup)

    def _check_shards(self) -> None:
        if self.reduction not in REDUCTIONS:
            raise ConfigError(choose_one("reduction", self.reduction, REDUCTIONS))
        if self.workers > self.shards:
            raise ConfigError(f"Each of 'workers' has at least one of 'shards', and these are {self.workers} and {self.shards}.")
        if self.shards > 1 and self.shards > min(self.tables // len(self.setups()), self.minibatch):
            raise ConfigError(f"Each of {self.shards} 'shards' has a table of every setup and a decision of every minibatch.")
        whole = {"recurrent": self.recurrent, "league": self.league, "device": self.device != "cpu"}
        whole["start"] = self.task.start == CARRIED
        if self.shards > 1 and any(whole.values()):
            key = next(key for key, used in whole.items() if used)
            raise ConfigError(f"An iteration with {key}={quoted(getattr(self, key))} is not cut into shards: set 'shards' to 1.")

    def _check_overlap(self) -> None:
        apart = {"workers": self.workers > 1, "league": self.league, "device": self.device != "cpu"}
        apart["start"] = self.task.start == CARRIED
        if self.overlap and any(apart.values()):
            key = next(key for key, used in apart.items() if used)
            raise ConfigError(f"With {key}={getattr(self, key)!r} no rounds are played ahead: set 'overlap' to false.")

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
    "schedule/learning_rate": "the optimizer's step size",
    "schedule/entropy_weight": "weight of the entropy",
    "speed/network_share": "share of the wall time in forward and backward passes of the networks",
    "eval/edge": COMMON_METRICS["eval/edge"] + "; with a mixture the mean over setups, and `eval/edge/<preset>-<seats>` for each",
}
"""Every metric that is logged, with its meaning."""
