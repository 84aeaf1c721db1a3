"""Measures what the play of others tells a search of hidden cards: the weights that policy inference gives to determinizations.

Rounds of self-play by --agent, a network, and those of their decisions that a search would search, each with the candidates for
--determinizations of them. The gain is by how much likelier the true deal is by the weights than among uniform determinizations,
in nats. All figures are means over a round's decisions, then over rounds, with 95 % intervals.

  python benchmarks/inference.py --agent zoo:strong --preset djeco --rounds 400
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search.agent import UNLIKELY
from nainjaune_agents.players.search.inference import (
    CANDIDATES,
    PolicyInference,
    SeenRounds,
    effective_size,
    policy_inference,
    tempered,
)
from nainjaune_agents.players.search.policies import ScoringAgent
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

FIGURES = (
    "plies before the decision",
    "effective sample size, share of the candidates",
    "gain in log-probability of the true deal",
    "share of decisions whose weights are tempered",
    "power of the weights",
    "effective sample size after tempering",
    "gain after tempering",
)


def figures(setup: Setup, inference: PolicyInference, decisions: DecisionBatch, determinizations: int) -> NDArray[np.float64]:
    """Returns the :data:`FIGURES` of each decision, ``(K, 7)``."""
    count, size = len(decisions.index), determinizations * CANDIDATES
    rounds = SeenRounds(decisions.tables, decisions.history)
    numbers = np.arange(count)
    weighted = inference.weighted(setup, rounds, np.repeat(numbers, determinizations), streams(1, count))
    true = inference.log_likelihood(setup, rounds.history, decisions._batch.tables[decisions.index], numbers)
    sizes, power = np.full(count, size), weighted.power
    plain, _ = tempered(weighted.log_likelihood, sizes, np.ones(count, np.int64))

    def gain(power: NDArray[np.float64]) -> NDArray[np.float64]:
        relative = power[:, None] * (weighted.log_likelihood.reshape(count, size) - true[:, None])
        above = relative.max(axis=1)
        mean: NDArray[np.float64] = -above - np.log(np.exp(relative - above[:, None]).mean(axis=1))
        return mean

    share = effective_size(plain, sizes) / size
    tempering, after = (power < 1).astype(float), effective_size(weighted.weight, sizes)
    return np.stack([rounds.history.count, share, gain(np.ones(count)), tempering, power, after / size, gain(power)], axis=1)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="zoo:strong", help="a network, in every seat (default: %(default)s)")
    parser.add_argument("--preset", help="the preset of rules")
    parser.add_argument("--players", type=int, help="seats")
    parser.add_argument("--rounds", type=int, default=400, help="rounds of self-play (default: %(default)s)")
    parser.add_argument("--determinizations", type=int, default=50, help="determinizations a decision (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Plays, weighs and prints the table."""
    options = parse(arguments)
    try:
        setup = make_setup(None, options.preset, options.players)
        agent = load_agent(options.agent, setup)
        inference = policy_inference(agent, setup)
    except NainJauneError as error:
        sys.exit(str(error))
    assert isinstance(agent, ScoringAgent)
    set_torch_threads(1)
    scorer, rng = agent.scorer(), np.random.default_rng(options.seed)
    batch = Batch(setup, options.rounds, seed=options.seed, autoreset=False, log=True)
    total, count = np.zeros((options.rounds, len(FIGURES))), np.zeros(options.rounds)
    while not batch.done.all():
        playing = np.flatnonzero(~batch.done)
        decisions = DecisionBatch(batch, playing)
        logits = np.where(decisions.mask, scorer.logits(decisions.observation), -np.inf)
        searched = playing[(logits - logits.max(axis=1, keepdims=True) > UNLIKELY).sum(axis=1) > 1]
        if searched.size:
            with_history = DecisionBatch(batch, searched, None, True)
            total[searched] += figures(setup, inference, with_history, options.determinizations)
            count[searched] += 1
        batch.step(agent.act(decisions, rng), playing)
    some = count > 0
    print(f"{setup.game.title}, {setup.preset}, {setup.players} seats, {options.rounds} rounds of seed {options.seed}: ", end="")
    determinizations_text = f"{options.determinizations} determinizations of {options.determinizations * CANDIDATES} candidates"
    print(f"{int(count.sum())} decisions searched, {determinizations_text}\n")
    print("| | mean |")
    print("|---|---|")
    for name, values in zip(FIGURES, (total[some] / count[some, None]).T, strict=True):
        moments = Moments()
        moments.add(values)
        print(f"| {name} | {moments.mean:.3f} ± {moments.half_width:.3f} |")


if __name__ == "__main__":
    main()
