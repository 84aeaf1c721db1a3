"""Measures how often 95 % intervals over training seeds contain the true mean edge, on deals of each seed's own or the same ones.

Players that play `closer`, but now and then at random, stand for the networks of training seeds: how often is normally
distributed, since Student's t takes the edges of seeds for normal, too. Each plays the same --population deals in a field of
`lowest`, and the mean edge of all counts as the true one. A sample is some seeds, and for each some of these deals, drawn with
replacement. A row says in how many samples the interval of ``stats/training_seeds.py`` contains the true edge: with deals of
each seed's own, as trainers and comparisons draw them now; with the same deals for all seeds, by Student's t over seeds alone,
as it was before; and by both variances, as for older results. In brackets: how wide it is (median half-width).

  python benchmarks/seed_coverage.py                        about a minute
  python benchmarks/seed_coverage.py --preset skip --players 3
"""

from __future__ import annotations

import argparse
import sys
from statistics import NormalDist

import figures
import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.measure.stats.training_seeds import over_seeds
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.spec import Setup

MEAN_SLIPS = 0.2
"""The mean share of decisions that a player makes at random."""
SLIPS = {"alike": 0.005, "apart": 0.02, "far apart": 0.06}
"""The standard deviation of that share, over players."""


class SlippingAgent:
    """Plays as another agent, but for a share ``slips`` of decisions, which it makes at random."""

    def __init__(self, agent: Agent, random: Agent, slips: float) -> None:
        self.name = f"{agent.name} with {slips:.3f} slips"
        self._agent, self._random, self._slips = agent, random, slips

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        planned, random = self._agent.act(decisions, rng), self._random.act(decisions, rng)
        actions: NDArray[np.int64] = np.where(rng.random(len(planned)) < self._slips, random, planned)
        return actions


def gains(setup: Setup, slips: NDArray[np.float64], deals: int, seed: int) -> NDArray[np.float64]:
    """Returns the gain of a player with each of ``slips (M,)`` on each of ``deals`` deals, ``(M, D)``, in the game's unit."""
    closer, random, field = (load_agent(name, setup) for name in ("closer", "random", "lowest"))
    alone = FieldAlone(OwnGame(setup, seed), field, deals)
    return np.stack([alone.gains(SlippingAgent(closer, random, share)) for share in slips.tolist()])


def row(population: NDArray[np.float64], seeds: int, deals: int, samples: int, rng: np.random.Generator) -> list[str]:
    """Returns the cells for ``samples`` samples of ``seeds`` players with ``deals`` deals each."""
    truth, contains, widths = population.mean(), np.zeros(3), []
    for _ in range(samples):
        players = rng.integers(len(population), size=(seeds, 1))
        of_each_seed = rng.integers(population.shape[1], size=(seeds, deals))
        estimates = []
        for drawn, kinds in ((of_each_seed, (False,)), (of_each_seed[:1], (False, True))):
            measured = [Moments.of(values) for values in population[players, drawn]]
            edges, half_widths = [each.mean for each in measured], [each.half_width for each in measured]
            estimates += [over_seeds(edges, half_widths, same_deals=same_deals) for same_deals in kinds]
        contains += [abs(each.mean - truth) <= each.ci95 for each in estimates]
        widths.append([each.ci95 for each in estimates])
    cells = zip(contains / samples, np.median(widths, axis=0), strict=True)
    return [str(seeds), f"{deals:,}", *(f"{100 * share:.1f} % (±{width:.3f})" for share, width in cells)]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="djeco", help="the preset (%(default)s)")
    parser.add_argument("--players", type=int, default=2, help="number of seats (%(default)s)")
    parser.add_argument("--population", type=int, default=5000, help="deals of the population (%(default)s)")
    parser.add_argument("--networks", type=int, default=40, help="players of the population (%(default)s)")
    parser.add_argument("--deals", type=int, nargs="+", default=[500], help="deals of a seed in a sample (%(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 5], help="seeds of a sample (%(default)s)")
    parser.add_argument("--samples", type=int, default=4000, help="samples of a row (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of deals and samples (%(default)s)")
    options = parser.parse_args(arguments)
    if min(options.population, *options.deals, *options.seeds) < 2 or min(options.networks, options.samples) < 1:
        parser.error("--population, --deals and --seeds are 2 or more, --networks and --samples 1 or more")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    options = parse(arguments)
    rng, rows = np.random.default_rng(options.seed), []
    set_torch_threads(1)
    try:
        setup = make_setup(None, options.preset, options.players)
        for how, deviation in SLIPS.items():
            quantiles = [NormalDist().inv_cdf((i + 0.5) / options.networks) for i in range(options.networks)]
            slips = MEAN_SLIPS + deviation * np.array(quantiles)
            population = gains(setup, slips, options.population, options.seed)
            between = population.mean(axis=1).std()
            for seeds in options.seeds:
                for deals in options.deals:
                    rows.append([f"{how}, {between:.3f}", *row(population, seeds, deals, options.samples, rng)])
    except NainJauneError as error:
        print(f"seed_coverage.py: {error}", file=sys.stderr)
        return 2
    head = [
        "seeds, spread of edges",
        "seeds",
        "deals",
        "own deals",
        "same deals, Student's t",
        "same deals, both variances",
    ]
    print(figures.table(head, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
