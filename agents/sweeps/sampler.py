"""The trials of a search for hyperparameters, as Optuna's tree-structured Parzen estimator proposes them.

The first trials are drawn evenly; later ones mostly where trials with high edges lie more densely than the others (Bergstra et
al., "Algorithms for Hyper-Parameter Optimization", 2011; Watanabe, "Tree-Structured Parzen Estimator", 2023).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from .space import Choice, Range, Space, Value

RANDOM_TRIALS = 10
"""Finished trials before which values are drawn evenly, Optuna's own number."""
SAMPLER = "optuna.samplers.TPESampler"
Known = tuple[Mapping[str, Value], float | None]
"""An earlier trial: its values, and its edge; None while it is trained, NaN where it failed, which ranks it below all others."""


def propose(space: Space, known: Sequence[Known], seed: int, number: int) -> dict[str, Value]:
    """Returns the values of the trial ``number``.

    They depend on the arguments, and on the version of Optuna, alone: each trial has a sampler of its own, seeded by ``seed`` and
    ``number``, so that no state of a sampler has to be kept. ``known`` are trials before it; values near those of trials that are
    still trained are avoided.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # it logs each study that is made
    (own,) = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)
    sampler = optuna.samplers.TPESampler(seed=int(own), n_startup_trials=RANDOM_TRIALS)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    distributions = {key: _distribution(one) for key, one in space.items()}
    for values, edge in known:
        state = TrialState.RUNNING if edge is None else TrialState.PRUNED if math.isnan(edge) else TrialState.COMPLETE
        value = edge if state == TrialState.COMPLETE else None
        study.add_trial(create_trial(state=state, value=value, params=dict(values), distributions=distributions))
    with np.errstate(divide="ignore"):  # of log(0), which it computes for values of no probability
        drawn = study.ask(distributions).params
    return {key: one.rounded(drawn[key]) if isinstance(one, Range) else drawn[key] for key, one in space.items()}


def _distribution(one: Range | Choice) -> BaseDistribution:
    if isinstance(one, Choice):
        return CategoricalDistribution(one.texts)
    kind = IntDistribution if isinstance(one.low, int) else FloatDistribution
    return kind(one.low, one.high, log=one.log)
