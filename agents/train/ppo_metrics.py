"""The metrics that PPO logs."""

from __future__ import annotations

from .base import COMMON_METRICS

METRICS = {
    **COMMON_METRICS,
    "rollout/decisions_per_round": "decisions in a round that are learned from, all learning seats together",
    "rollout/entropy": "mean entropy of the policy at decisions, in nats",
    "rollout/payoff_spread": "standard deviation of a seat's payoff in a round, in the game's unit (chips, cards); "
    "with a mixture the mean over setups",
    "update/policy_loss": "clipped surrogate loss",
    "update/recall_loss": "mean cross-entropy of the private bytes of first observations, predicted from the GRU's state",
    "update/value_loss": "mean squared error of the value, in units of payoff_scale squared",
    "update/explained_variance": "1 - var(return - value) / var(return), before the update",
    "update/kl": "mean estimate of KL(old || new), (ratio - 1) - log(ratio) (Schulman's k3)",
    "update/epochs": "passes made over the decisions; fewer than the key `epochs` where `target_kl` ended them",
    "update/clip_fraction": "share of decisions whose ratio left the clip range",
    "update/grad_norm": "mean gradient norm before scaling down",
    "schedule/learning_rate": "the optimizer's step size (Muon's matrices: times `matrix_ratio`)",
    "schedule/entropy_weight": "weight of the entropy",
    "eval/edge": COMMON_METRICS["eval/edge"] + "; with a mixture the mean over setups, and `eval/edge/<preset>-<seats>` for each",
}
"""Every metric that is logged, with its meaning."""
