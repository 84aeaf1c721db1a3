"""Policy inference: the play of others so far as evidence on hidden cards (``@search=K,inference=policy``, docs/search.md).

A determinization is uniform over the deals that are consistent with what a seat knows. Here more of them are drawn, candidates,
and each is weighted by the probability that the other seats' decisions of the round, replayed from its deal, have under the
policy that is searched over, mixed with uniform play, so that no candidate has weight 0. The determinizations of the search are
resampled from the candidates by these weights. If the weights leave fewer effective candidates than determinizations are drawn,
all are raised to the largest power below 1 that leaves as many: a few likely deals would else be all that the search sees.

Sources: Rebstock, Solinas, Buro and Sturtevant, "Policy based inference in trick-taking card games", 2019; Solinas, Rebstock and
Buro, "Improving search with supervised learning in trick-based card games", 2019. Resampling is systematic (Kitagawa 1996), the
power is that of adaptive tempering (Jasra, Stephens, Doucet and Tsagaris 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.engine.history import PlayHistory, check_rewind, past_decisions

from .policies import Scorer, ScoringAgent

UNIFORM, BY_POLICY = "none", "policy"
INFERENCES = (UNIFORM, BY_POLICY)
"""How determinizations are drawn: uniformly over possible deals, or also by what the policy would have played."""
CANDIDATES = 4
"""Candidates for each determinization that is drawn."""
UNIFORM_SHARE = 0.05
"""Share of uniform play in the policy of the others."""
ROWS = 8192
"""Most candidates that are replayed at once."""
HALVINGS = 20
"""Steps of the bisection for the power of the weights."""


@dataclass(frozen=True)
class SeenRounds:
    """K rounds as the seats to act know them."""

    tables: NDArray[Any]
    """The redacted tables, ``(K,)``."""
    history: PlayHistory
    """The plies that led to them."""

    def __len__(self) -> int:
        return len(self.tables)

    def __getitem__(self, rows: NDArray[Any]) -> SeenRounds:
        return SeenRounds(self.tables[rows], self.history[rows])


@dataclass(frozen=True)
class Weighted:
    """Candidates of K decisions, table by table, and their weights."""

    tables: NDArray[Any]
    """The candidates, ``(M,)``."""
    log_likelihood: NDArray[np.float64]
    """Of the others' decisions, ``(M,)``."""
    weight: NDArray[np.float64]
    """Their weights after tempering, ``(M,)``; they add up to 1 over the candidates of a table."""
    power: NDArray[np.float64]
    """The power of the likelihoods for each table that has candidates, ``(K',)``."""


class PolicyInference:
    """Draws determinizations by what the others have played; takes the place of ``engine.determinize.determinize``."""

    def __init__(self, scorer: Scorer, *, uniform_share: float = UNIFORM_SHARE) -> None:
        """``scorer`` gives the logits of the policy that the other seats are taken to play."""
        self._scorer = scorer
        self._uniform_share = uniform_share

    def __call__(self, setup: Setup, rounds: SeenRounds, owner: NDArray[np.int64], states: NDArray[np.uint64]) -> NDArray[Any]:
        """Returns ``(N,)`` records, determinizations of ``rounds[owner[w]]``, with a generator each.

        ``owner`` ascends. Those of round i are drawn from the generator ``states[i]``, which advances in place.
        """
        candidates = self.weighted(setup, rounds, owner, states)
        which, wanted = np.unique(owner, return_counts=True)
        offset = np.zeros(len(states))
        offset[which] = RowStreams(states, which).random(len(which))
        chosen = resample(candidates.weight, wanted * CANDIDATES, wanted, offset[which])
        determinizations = candidates.tables[chosen]
        # a candidate may be drawn twice: each time with another generator for the rollouts
        determinizations["rng"] = candidates.tables["rng"][::CANDIDATES]
        return determinizations

    def weighted(self, setup: Setup, rounds: SeenRounds, owner: NDArray[np.int64], states: NDArray[np.uint64]) -> Weighted:
        """Returns the candidates for the determinizations of ``owner (N,)``, as a call takes them, with their weights."""
        wanted = np.unique(owner, return_counts=True)[1]
        owners = np.repeat(owner, CANDIDATES)
        tables = determinize(setup, rounds.tables, owners, states)
        likelihood = np.concatenate(
            [
                self.log_likelihood(setup, rounds.history, tables[at : at + ROWS], owners[at : at + ROWS])
                for at in range(0, len(tables), ROWS)
            ]
        )
        return Weighted(tables, likelihood, *tempered(likelihood, wanted * CANDIDATES, wanted))

    def log_likelihood(
        self, setup: Setup, history: PlayHistory, determinizations: NDArray[Any], owner: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Returns log-probabilities ``(N,)``: of the others' decisions in round ``owner[k]`` if determinization k was dealt."""
        past = past_decisions(setup, history, determinizations, owner)
        legal = (past.legal[:, None] >> np.arange(len(setup.game.actions)) & 1).astype(bool)
        scores = np.where(legal, self._scorer.logits(past.observation).astype(np.float64), -np.inf)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        chosen = shares[np.arange(len(shares)), past.action] / shares.sum(axis=1)
        mixed = (1 - self._uniform_share) * chosen + self._uniform_share / legal.sum(axis=1)
        total = np.bincount(past.determinization, np.log(mixed), len(determinizations))
        return total.astype(np.float64)  # ints, if there are none


def tempered(
    log_likelihood: NDArray[np.float64], sizes: NDArray[np.int64], least: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns weights ``(M,)`` in groups of ``sizes (K,)``, each adding up to 1, and the powers ``(K,)`` they are tempered with.

    A power is 1, or the largest with an effective sample size of at least ``least (K,)``, up to rounding.
    """
    first = np.cumsum(sizes) - sizes
    relative = log_likelihood - np.repeat(np.maximum.reduceat(log_likelihood, first), sizes)

    def weights(power: NDArray[np.float64]) -> NDArray[np.float64]:
        raw = np.exp(np.repeat(power, sizes) * relative)
        shares: NDArray[np.float64] = raw / np.repeat(np.add.reduceat(raw, first), sizes)
        return shares

    low, high = np.zeros(len(sizes)), np.ones(len(sizes))
    enough = effective_size(weights(high), sizes) >= least
    low[enough] = 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = effective_size(weights(middle), sizes) >= least
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return weights(low), low


def effective_size(weight: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the effective sample size of each group of weights that add up to 1: one over the sum of their squares."""
    size: NDArray[np.float64] = 1 / np.add.reduceat(weight * weight, np.cumsum(sizes) - sizes)
    return size


def resample(
    weight: NDArray[np.float64], sizes: NDArray[np.int64], wanted: NDArray[np.int64], offset: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Returns ``wanted (K,)`` indices for each group of ``sizes (K,)`` weights, ascending, by systematic resampling.

    An index of weight w is drawn ``wanted * w`` times, rounded up or down, by one number in [0, 1) a group, ``offset (K,)``.
    """
    chosen = [np.zeros(0, np.int64)]
    for end, size, number, first in zip(np.cumsum(sizes), sizes, wanted, offset, strict=True):
        total = np.cumsum(weight[end - size : end])  # of this group alone, so that rounding does not depend on others
        points = (np.arange(number) + first) / number * total[-1]
        chosen.append(end - size + np.minimum(np.searchsorted(total, points, side="right"), size - 1))
    return np.concatenate(chosen)


def policy_inference(agent: Agent, setup: Setup) -> PolicyInference:
    """Returns the inference by the policy of ``agent``; raises :class:`AgentError` where there is none."""
    check_rewind(setup.game)
    if not isinstance(agent, ScoringAgent):
        raise AgentError(
            f"Policy inference needs the probabilities of actions, so a network, not {agent.name!r}: "
            "a network computes them from observations alone."
        )
    return PolicyInference(agent.scorer())
