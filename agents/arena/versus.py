"""Two agents compared over deals, for a fixed number of deals or until a sequential test decides.

A and B play each deal both ways: A in each seat in turn in a field of B, B in each seat in turn in a field of A, and each agent
once in all seats. ``duplicate`` defines gains, and ``advantage`` who is stronger. Advantages on different deals are independent
and identically distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

from ..seeds import Stream, generator
from ..stats.differences import Differences
from ..stats.intervals import to_json
from ..stats.sequential import SequentialTest, anytime_half_width
from ..task import CARRIED, DEFAULT_TASK, Task
from .advantage import advantage
from .duplicate import CHUNKS_AT_ONCE, Start, check_device, chunks, play_deals, start_with
from .openings import opening_tables

LOOK_EVERY = 256
"""Deals between looks at the test; enough that the first look is at a nearly normal mean."""


@dataclass
class VersusResult:
    """How A and B compare so far."""

    names: tuple[str, str]
    advantage: Differences = field(default_factory=Differences)
    """Of A over B."""
    gains: tuple[Differences, Differences] = field(default_factory=lambda: (Differences(), Differences()))
    """A's edge over a field of B, and B's over a field of A."""

    def to_dict(self, test: SequentialTest | None) -> dict[str, Any]:
        """Returns the content of ``versus.json``; ``test`` is None if the number of deals was fixed."""
        a, b = self.names
        held: dict[str, Any] = {
            "a": a,
            "b": b,
            "deals": self.advantage.count,
            "mean": self.advantage.mean,
            "ci95": to_json(self.advantage.half_width),
            "differ": self.advantage.differing,
            "anytime95": to_json(anytime_half_width(self.advantage)),
            "edges": [
                {"hero": hero, "field": rival, "mean": gain.mean, "ci95": to_json(gain.half_width), "differ": gain.differing}
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
                "llr": test.llr(self.advantage),
                "outcome": test.outcome(self.advantage),
            }
        return held


def versus(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    test: SequentialTest | None = None,
    task: Task = DEFAULT_TASK,
    pots: Sequence[int] | None = None,
    progress: Callable[[VersusResult], object] | None = None,
    device: str = "cpu",
) -> VersusResult:
    """Compares two agents until ``test`` decides, over at most ``deals`` deals (``test`` None: over all of them).

    Deals are those of a tournament with this ``seed``, from the first on. ``progress`` is called with the result so far after
    each :data:`LOOK_EVERY` deals. ``device`` is where the tables are, as in ``Duplicate``; on a GPU deals are played ahead of
    looks. Raises :class:`AgentError` unless there are two agents of different names that can play there.
    """
    names = [agent.name for agent in agents]
    if len(names) != 2 or len(set(names)) < 2:
        raise AgentError(f"A comparison takes two agents of different names, not {names!r}.")
    check_device(setup, agents, device)
    result = VersusResult((names[0], names[1]))
    task.check(setup)
    for gains in looks(setup, agents, seed, deals, start_with(pots, task), device, task):
        result.advantage.add(advantage(*gains.T))
        for moments, gain in zip(result.gains, gains.T, strict=True):
            moments.add(gain)
        if progress is not None:
            progress(result)
        if test is not None and test.outcome(result.advantage) != "undecided":
            break
    return result


def looks(
    setup: Setup, agents: Sequence[Agent], seed: int, deals: int, start: Start, device: str, task: Task
) -> Iterator[NDArray[np.float64]]:
    """Yields the gains of :func:`both_ways` on the deals from the first on, :data:`LOOK_EVERY` at a time."""
    for at, count in chunks(0, deals, LOOK_EVERY * CHUNKS_AT_ONCE[device]):
        gains = both_ways(setup, agents, seed, at, count, start, device, task)
        for first, some in chunks(0, count, LOOK_EVERY):
            yield gains[first : first + some]


def both_ways(
    setup: Setup,
    agents: Sequence[Agent],
    seed: int,
    at: int,
    count: int,
    start: Start,
    device: str = "cpu",
    task: Task = DEFAULT_TASK,
    heroes: tuple[int, ...] = (0, 1),
) -> NDArray[np.float64]:
    """Returns the gains ``(D, heroes)`` of two agents, each in a field of the other, on the deals ``at .. at+count-1``.

    The random draws of agents depend on the seed, ``at`` and ``count``. ``heroes`` are the numbers of those whose gains are
    returned.
    """
    if task.start == CARRIED and len(heroes) > 1:  # each way begins with the chips that its own field left: nothing is shared
        ways = [both_ways(setup, agents, seed, at, count, start, device, task, (who,)) for who in heroes]
        return np.concatenate(ways, axis=1)
    n = setup.players
    numbers: dict[tuple[int, ...], int] = {}  # with two seats, A in one of them is also B in the other

    def play(seating: tuple[int, ...]) -> int:
        return numbers.setdefault(seating, len(numbers))

    alone = {1 - who: play((1 - who,) * n) for who in reversed(heroes)}
    hero = {who: [play((1 - who,) * seat + (who,) + (1 - who,) * (n - 1 - seat)) for seat in range(n)] for who in heroes}
    seating = np.broadcast_to(np.array(list(numbers), np.int64), (count, len(numbers), n))
    rngs = [generator(seed, Stream.VERSUS, who, at) for who in (0, 1)]
    seeds, field = streams(seed, count, first=at), np.full((count, n), 1 - heroes[0])
    openings = opening_tables(setup, task, seed, at, count, agents, field)
    payoff, _ = play_deals(setup, agents, seating, seeds, rngs, start=start, openings=openings, device=device)
    payoff = task.payoff(payoff)
    gains = [payoff[:, hero[who], range(n)] - payoff[:, alone[1 - who]] for who in heroes]  # each (D, n)
    return np.stack([gain.mean(axis=1) for gain in gains], axis=1)
