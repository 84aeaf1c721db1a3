"""Two agents compared for as long as it takes: a sequential test over deals.

**The figure of a deal.** A and B play the deal both ways: A in each seat in turn in a field of B, and B in each seat in turn in a
field of A, and once each all by themselves. As in ``duplicate``, a hero's gain is the mean, over seats, of its payoff minus
what the field got in the same seat on the same deal. The deal's figure is half of A's gain minus B's gain: what A's play is worth
over B's, in the game's unit a round, one way and the other in equal parts. It is antisymmetric: where A and B change places it
changes its sign. Deals are independent and alike, so figures are.

**The test.** H0: its mean is at most ``low``, against H1: at least ``high``. The generalised sequential probability ratio test
looks at the largest likelihood under either bound, the variance unknown; of normal figures its logarithm is

    LLR = N/2 * log( (v + (m - low)^2) / (v + (m - high)^2) ),   m, v: mean and variance of N figures,

and it ends where LLR leaves (log(beta / (1 - alpha)), log((1 - beta) / alpha)). Figures are not normal; means of hundreds are
nearly so.

Wald, "Sequential tests of statistical hypotheses", 1945 (the bounds); Li, Liu and Ying, "Generalized sequential probability ratio
test for separate families of hypotheses", 2014. Stockfish's fishtest tests changes of a chess engine in this manner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

from ..arena.duplicate import CHUNKS_AT_ONCE, Start, check_device, chunks, play_deals, start_with
from ..seeds import Stream, generator
from .intervals import Moments

LOOK_EVERY = 256
"""Deals between looks at the test: figures are summed up to something normal before the first of them decides anything."""

Outcome = Literal["stronger", "not stronger", "undecided"]


@dataclass(frozen=True)
class SequentialTest:
    """H0: a mean is at most ``low``, against H1: it is at least ``high``."""

    low: float = 0.0
    high: float = 0.05
    alpha: float = 0.05
    """How often H1 may be accepted where H0 is true."""
    beta: float = 0.05
    """How often H0 may be accepted where H1 is true."""

    def __post_init__(self) -> None:
        """Raises :class:`ConfigError` for bounds or error rates that make no test."""
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ConfigError(f"A test's bounds are two numbers, the lower one first, not {self.low} and {self.high}.")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ConfigError(f"A test's error rates are above 0 and below 0.5, not {self.alpha} and {self.beta}.")

    @property
    def thresholds(self) -> tuple[float, float]:
        """H0 is accepted where LLR is at most the first, H1 where it is at least the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, seen: Moments) -> float:
        """The logarithm of the generalised likelihood ratio; infinite where all figures are one and the same bound."""
        if seen.count == 0:
            return 0.0
        variance = seen.squares / seen.count
        if_low, if_high = variance + (seen.mean - self.low) ** 2, variance + (seen.mean - self.high) ** 2
        if if_low == 0 or if_high == 0:
            return -math.inf if if_low == 0 else math.inf
        return seen.count / 2 * math.log(if_low / if_high)

    def outcome(self, seen: Moments) -> Outcome:
        """What the figures so far decide."""
        llr = self.llr(seen)
        lower, upper = self.thresholds
        return "stronger" if llr >= upper else "not stronger" if llr <= lower else "undecided"


TUNED_TO = 5000
"""Figures after which :func:`anytime_half_width` is narrowest, in standard errors; within a tenth at 1,000 and at 30,000."""


def anytime_half_width(seen: Moments, alpha: float = 0.05) -> float:
    """Half the width of an interval that holds the mean at all times at once with probability 1 - ``alpha``; nan below 2 figures.

    A plain interval is right for a number of figures that was fixed before. A test stops where the figures went far, and there
    a plain interval misses more often than it says. This one may be read whenever one stops, for whatever reason: Robbins's
    normal mixture, with the variance estimated (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit
    theory and asymptotic confidence sequences", 2024). It is more than half as wide again.
    """
    if seen.count < 2:
        return math.nan
    log = -2 * math.log(alpha)
    mixed = seen.count * (log + math.log(log) + 1) / TUNED_TO  # N rho^2 in the paper
    standard_errors = math.sqrt(2 * (1 + 1 / mixed) * math.log(math.sqrt(1 + mixed) / alpha))
    return standard_errors * math.sqrt(seen.variance / seen.count)


@dataclass
class Versus:
    """How A and B compare, so far."""

    names: tuple[str, str]
    figure: Moments = field(default_factory=Moments)
    """Half of A's gain minus B's, deal by deal."""
    gains: tuple[Moments, Moments] = field(default_factory=lambda: (Moments(), Moments()))
    """A's edge over a field of B, and B's over a field of A."""

    def to_dict(self, test: SequentialTest | None) -> dict[str, Any]:
        """As ``versus.json`` holds it; ``test`` None: the number of deals was fixed."""
        a, b = self.names
        held: dict[str, Any] = {
            "a": a,
            "b": b,
            "deals": self.figure.count,
            "mean": self.figure.mean,
            "ci95": self.figure.half_width,
            "anytime95": anytime_half_width(self.figure),
            "edges": [
                {"hero": hero, "field": rival, "mean": gain.mean, "ci95": gain.half_width}
                for hero, rival, gain in zip((a, b), (b, a), self.gains, strict=True)
            ],
            "test": None,
        }
        if test is not None:
            held["test"] = {
                "low": test.low,
                "high": test.high,
                "alpha": test.alpha,
                "beta": test.beta,
                "llr": test.llr(self.figure),
                "outcome": test.outcome(self.figure),
            }
        return held


def versus(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    test: SequentialTest | None = None,
    pots: Sequence[int] | None = None,
    progress: Callable[[Versus], object] | None = None,
    device: str = "cpu",
) -> Versus:
    """Compare two agents until ``test`` decides, or over ``deals`` deals at most (``test`` None: over all of them).

    Deals are those of a tournament with this ``seed``, from the first on. ``progress`` is told how it stands after each
    :data:`LOOK_EVERY` deals. ``device`` is where the tables are, as in ``Duplicate``; on a GPU deals are played ahead of looks.
    Raises :class:`AgentError` for anything but two agents of different names that can play there.
    """
    names = [agent.name for agent in agents]
    if len(names) != 2 or len(set(names)) < 2:
        raise AgentError(f"Two agents of different names are compared, not {names!r}.")
    check_device(setup, agents, device)
    result = Versus((names[0], names[1]))
    for gains in looks(setup, agents, seed, deals, start_with(pots), device):
        result.figure.add((gains[:, 0] - gains[:, 1]) / 2)
        for moments, gain in zip(result.gains, gains.T, strict=True):
            moments.add(gain)
        if progress is not None:
            progress(result)
        if test is not None and test.outcome(result.figure) != "undecided":
            break
    return result


def looks(
    setup: Setup, agents: Sequence[Agent], seed: int, deals: int, start: Start, device: str
) -> Iterator[NDArray[np.float64]]:
    """The gains of :func:`both_ways` on the deals from the first on, :data:`LOOK_EVERY` at a time."""
    for at, count in chunks(0, deals, LOOK_EVERY * CHUNKS_AT_ONCE[device]):
        gains = both_ways(setup, agents, seed, at, count, start, device)
        for first, some in chunks(0, count, LOOK_EVERY):
            yield gains[first : first + some]


def both_ways(
    setup: Setup, agents: Sequence[Agent], seed: int, at: int, count: int, start: Start, device: str = "cpu"
) -> NDArray[np.float64]:
    """The gains of either of two agents in a field of the other on the deals ``at .. at+count-1``, ``(D, 2)``.

    What agents draw by chance depends on the seed, ``at`` and ``count``.
    """
    n = setup.players
    numbers: dict[tuple[int, ...], int] = {}  # with two seats, A in one of them is also B in the other

    def play(seating: tuple[int, ...]) -> int:
        return numbers.setdefault(seating, len(numbers))

    alone = [play((who,) * n) for who in (0, 1)]
    hero = [[play((1 - who,) * seat + (who,) + (1 - who,) * (n - 1 - seat)) for seat in range(n)] for who in (0, 1)]
    seating = np.broadcast_to(np.array(list(numbers), np.int64), (count, len(numbers), n))
    rngs = [generator(seed, Stream.VERSUS, who, at) for who in (0, 1)]
    payoff, _ = play_deals(setup, agents, seating, streams(seed, count, first=at), rngs, start=start, device=device)
    gains = [payoff[:, hero[who], range(n)] - payoff[:, alone[1 - who]] for who in (0, 1)]  # each (D, n)
    return np.stack([gain.mean(axis=1) for gain in gains], axis=1)
