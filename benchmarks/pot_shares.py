"""Measure who wins the chips that stay in the pots, and so whether centring payoffs is a fair price of them.

  python benchmarks/pot_shares.py --agent zoo:strong --preset classic --matches 4000 --seed 1

The objective ``centred`` counts chips that stay in the pots at the end of a round as if each seat won an equal share of them
later. Two measurements by self-play, for each seat by its distance from the one that leads the next round:

- *regression*: over the rounds of matches, what a seat nets in the rest of the match on the chips that the round left in the
  pots, with a mean for each round of a match; intervals are clustered by match.
- *added*: what a seat nets more in a whole match that begins with --added chips in each pot than in one with the same cards that
  begins with empty ones, for each chip added.

A share of 1/n at every distance is a fair price. The shares sum to the part of the chips that is won before the match ends.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.arena.play import chunks
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.intervals import Moments, t_95
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup

AT_ONCE = 2048
"""Matches played at once."""


def play(
    setup: Setup, agent: Agent, matches: int, seed: int, rounds: int | None, start: Task
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Plays matches of ``agent`` in all seats; returns payoffs ``(M, R, n)``, lengths ``(M,)`` and the first leaders ``(M,)``."""
    source, n = OwnGame(setup, seed, start, "match", rounds), setup.players
    payoffs, lengths, leaders = [], [], []
    for at, count in chunks(0, matches, AT_ONCE):
        by_round, length = [], np.zeros(count, np.int64)
        for going, payoff, leads in source.match_rounds([agent], np.zeros((1, n), np.int64), at, count):
            if not by_round:
                leaders.append(leads)
            by_round.append(np.zeros((count, n), np.int64))
            by_round[-1][going] = payoff // n
            length[going] += 1
        payoffs.append(np.stack(by_round, axis=1))
        lengths.append(length)
    longest = max(part.shape[1] for part in payoffs)
    whole = [np.pad(part, ((0, 0), (0, longest - part.shape[1]), (0, 0))) for part in payoffs]
    return np.concatenate(whole), np.concatenate(lengths), np.concatenate(leaders)


def by_distance(values: NDArray[np.int64], leader: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns ``values (M, n)`` by distance from the seat ``leader (M,)``."""
    n = values.shape[1]
    return np.take_along_axis(values, (leader[:, None] + np.arange(n)) % n, axis=1)


def regression(
    payoff: NDArray[np.int64], length: NDArray[np.int64], leader: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Returns the slopes by distance and their sum ``(n + 1,)``, 95 % half-widths, and the mean chips that a round leaves."""
    matches, rounds, n = payoff.shape
    left = -payoff.sum(axis=2).cumsum(axis=1)  # chips are conserved: what the seats lost is in the pots
    rest = payoff[:, ::-1].cumsum(axis=1)[:, ::-1] - payoff
    squares, products = np.zeros(matches), np.zeros((matches, n + 1))
    pots_left = []
    for r in range(rounds - 1):
        goes_on = np.flatnonzero(length > r + 1)
        if goes_on.size < 2:
            break
        later = by_distance(rest[goes_on, r], leader[goes_on] + r + 1).astype(np.float64)
        later = np.concatenate([later, later.sum(axis=1, keepdims=True)], axis=1)
        chips = left[goes_on, r] - left[goes_on, r].mean()
        squares[goes_on] += chips**2
        products[goes_on] += chips[:, None] * (later - later.mean(axis=0))
        pots_left.append(left[goes_on, r])
    slope = products.sum(axis=0) / squares.sum()
    scores = products - squares[:, None] * slope  # by match: the errors of one match are dependent
    half = t_95(matches - 1) * np.sqrt((scores**2).sum(axis=0)) / squares.sum()
    return slope, half, float(np.concatenate(pots_left).mean())


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="closer", help="who plays in every seat")
    parser.add_argument("--preset", default="classic")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--matches", type=int, default=4000)
    parser.add_argument("--rounds", type=int, help="most rounds of a match (default: as the rules end it)")
    parser.add_argument("--added", type=int, default=20, help="chips added to each pot")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    setup = make_setup("nain_jaune", args.preset, args.players)
    agent, n = load_agent(args.agent, setup), setup.players
    payoff, length, leader = play(setup, agent, args.matches, args.seed, args.rounds, Task())
    slope, half, pot_chips = regression(payoff, length, leader)
    print(
        f"{args.preset}, {n} seats, {args.agent}, {args.matches} matches of {length.mean():.2f} rounds, seed {args.seed}; "
        f"a round leaves {pot_chips:.1f} chips in the pots; 95 % intervals"
    )
    print(f"{'distance from the next lead':28} {'regression':>16} {'added':>16}")
    pots = {name: [args.added, args.added] for name in setup.game.start_values}
    raised, _, _ = play(setup, agent, args.matches, args.seed, args.rounds, Task(start=pots))
    longest = max(raised.shape[1], payoff.shape[1])
    totals = [np.pad(part, ((0, 0), (0, longest - part.shape[1]), (0, 0))).sum(axis=1) for part in (raised, payoff)]
    chips = args.added * sum(setup.game.start_values.values())
    gain = by_distance(totals[0] - totals[1], leader) / chips
    for k in range(n + 1):
        share = Moments()
        share.add(gain[:, k] if k < n else gain.sum(axis=1))
        assert not math.isnan(share.mean)
        name = f"{k}" if k < n else "sum"
        print(f"{name:28} {slope[k]:+8.3f} ± {half[k]:.3f} {share.mean:+8.3f} ± {share.half_width:.3f}")


if __name__ == "__main__":
    main()
