"""Deals of a game of another library, by number: a ``DealSource`` whose players are policies."""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import GameError, quoted
from nainjaune_env.core.prng import streams
from nainjaune_env.core.validation import finite

from ..source import Payoffs
from .policies import SeatedPolicy

DECIMALS = 9
"""To which rewards are rounded, so that their sums are exact."""
SCALE = 10**DECIMALS
MAX_REWARD = 10**6
"""Sums of larger rewards, over 10 seats and 200 players, would not fit into 64 bits."""
DEALS, TRIALS = 10 << 32, 11 << 32
"""The streams of a seed for deals, and for those of the preflight."""
OTHERS = 8
"""Seeds that the preflight compares with a first one."""


class Preflight(NamedTuple):
    """What was seen of a game before it was measured, by players that choose at random."""

    repeats: bool
    """Whether a seed and the same actions gave the same observations, masks and rewards twice."""
    differs: int
    """How many of 8 other seeds gave others."""


class ForeignGame(ABC):
    """A game of other people, in which all seats are alike."""

    per = "game"
    unit = "reward"
    heavy = False
    scale = SCALE
    by_state = False
    """Whether policies of OpenSpiel play."""
    name: str
    seat_names: Sequence[str]
    seed: int
    deal = 0
    """The deal that is played, for messages."""

    @property
    def seats(self) -> int:
        """The number of seats, n."""
        return len(self.seat_names)

    def seated(self, policy: Any, name: str) -> list[SeatedPolicy]:
        """Returns a player: the policy in each seat. Raises :class:`AgentError` for an object that cannot be asked."""
        return [SeatedPolicy(policy, name, seat, by_state=self.by_state) for seat in self.seat_names]

    def heading(self, deals: int) -> str:
        """Returns the line on what was played."""
        return f"{self.name}, {self.seats} players, {deals} deals, seed {self.seed}"

    def content(self) -> dict[str, Any]:
        """Returns the name and the seed; functions have no identity, so nothing is stored."""
        return {"game": self.name, "seed": self.seed}

    @abstractmethod
    def prepare(self, number: int) -> None:
        """Gets ready for games on the deal of the seed ``number``."""

    @abstractmethod
    def table(self, number: int, seated: Sequence[SeatedPolicy]) -> tuple[Sequence[float], int]:
        """Plays a game on the deal of the seed ``number``, below 2**31; returns the sums of rewards and the seat to act first."""

    def play(
        self, players: Sequence[Sequence[SeatedPolicy]], seating: NDArray[Any], first: int, deals: int, *, field: int
    ) -> Payoffs:
        """Plays as ``DealSource.play`` says; a player is a policy in each seat.

        Raises :class:`GameError` for rewards that are no numbers, and the errors of the game and of the players.
        """
        del field
        rows = [[players[player][seat] for seat, player in enumerate(row)] for row in seating.tolist()]
        payoffs, leaders = [], []
        for deal, number in enumerate(self._numbers(DEALS, deals, first), first):
            self.prepare(number)
            self.deal, leader = deal, 0
            for seated in rows:
                for seat, policy in enumerate(seated):
                    policy.start(self.seed, deal, seat)
                rewards, leader = self.table(number, seated)
                payoffs.append([self._whole(reward, seat) for seat, reward in enumerate(rewards)])
            leaders.append(leader)
        return Payoffs(np.array(payoffs, np.int64).reshape(deals, *seating.shape), np.array(leaders))

    def _numbers(self, stream: int, count: int, first: int = 0) -> list[int]:
        """Returns seeds of deals; other libraries take 31 bits."""
        numbers: list[int] = (streams(self.seed, count, stream, first=first) >> np.uint64(33)).tolist()
        return numbers

    def number(self, reward: Any, seat: int) -> float:
        """Returns a reward as a number; raises :class:`GameError` for anything but a finite one within bounds."""
        number = finite(reward.item() if isinstance(reward, np.ndarray) and not reward.ndim else reward)
        if number is None or abs(number) > MAX_REWARD or 0 < abs(number) < 1 / SCALE:
            raise GameError(
                f"Expected 0, or a number of the size {1 / SCALE:g} to {MAX_REWARD:,}, as the reward of seat "
                f"{self.seat_names[seat]} on deal {self.deal}, not {quoted(reward)}."
            )
        return number

    def _whole(self, reward: float, seat: int) -> int:
        """Returns a sum of rewards as a whole number over :data:`SCALE`."""
        whole: int = round(self.number(round(reward, DECIMALS), seat) * SCALE)
        return whole

    def preflight(self) -> Preflight:
        """Plays a game twice on each of 9 seeds, by the same random choices; raises the errors of the game."""
        traces = [[self._trace(number) for _ in range(2)] for number in self._numbers(TRIALS, OTHERS + 1)]
        repeats = all(one == again for one, again in traces)
        return Preflight(repeats, sum(one != traces[0][0] for one, _ in traces[1:]))

    def _trace(self, number: int) -> bytes:
        """Returns a digest of all that random players see and get on a deal."""
        trace, rng = hashlib.sha256(), random.Random(self.seed)
        self.prepare(number)
        rewards, _ = self.table(number, [_Watcher(seat, trace, rng) for seat in self.seat_names])
        _add(trace, [self._whole(reward, seat) for seat, reward in enumerate(rewards)])
        return trace.digest()


class _Watcher(SeatedPolicy):
    """Chooses at random, and notes what it sees."""

    def __init__(self, seat: str, trace: Any, rng: random.Random) -> None:
        super().__init__(self._choose, "random", seat)
        self._trace, self._random = trace, rng

    def _choose(self, observation: Any, mask: Any) -> int:
        _add(self._trace, (self.seat, observation, mask))
        legal = np.flatnonzero(mask).tolist()
        if not legal:
            raise GameError(f"Expected a legal action for seat {self.seat}, which is to act, and the mask has none.")
        choice: int = self._random.choice(legal)
        return choice


def _add(trace: Any, value: Any) -> None:
    """Adds a value to a digest: arrays, numbers and texts, mappings and sequences of these, and the types of other objects."""
    kind: Any = type(value)
    if isinstance(value, Mapping):
        value = [*value.items()]
    elif isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple):
        for part in value:
            _add(trace, part)
    elif isinstance(value, np.ndarray):
        trace.update(value.tobytes())
    else:
        trace.update((kind.__name__ if kind.__repr__ is object.__repr__ else repr(value)).encode())
