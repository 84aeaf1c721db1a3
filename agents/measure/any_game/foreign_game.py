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

SCALE = 10**9
"""Rewards are rounded to whole billionths, so that their sums are exact."""
MAX_REWARD = 10**8
"""Sums of larger rewards of some seats would not fit into 64 bits."""
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
    def table(self, number: int, seated: Sequence[SeatedPolicy]) -> tuple[Sequence[Any], int]:
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
            leader = 0
            for seated in rows:
                for seat, policy in enumerate(seated):
                    policy.start(self.seed, deal, seat)
                rewards, leader = self.table(number, seated)
                payoffs.append(self._whole(rewards, deal))
            leaders.append(leader)
        return Payoffs(np.array(payoffs, np.int64).reshape(deals, *seating.shape), np.array(leaders))

    def _numbers(self, stream: int, count: int, first: int = 0) -> list[int]:
        """Returns seeds of deals; other libraries take 31 bits."""
        numbers: list[int] = (streams(self.seed, count, stream, first=first) >> np.uint64(33)).tolist()
        return numbers

    def _whole(self, rewards: Sequence[Any], deal: int) -> list[int]:
        for seat, reward in zip(self.seat_names, rewards, strict=True):
            number = finite(reward)
            if number is None or abs(number) > MAX_REWARD:
                raise GameError(
                    f"Expected a finite number, at most {MAX_REWARD:,}, as the reward of seat {seat} on deal {deal}, not "
                    f"{quoted(reward)}."
                )
        return [round(reward * SCALE) for reward in rewards]

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
        _add(trace, self._whole(rewards, 0))
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
    """Adds a value to a digest: arrays, numbers and texts, and mappings and sequences of these."""
    if isinstance(value, Mapping):
        value = [*value.items()]
    if isinstance(value, list | tuple):
        for part in value:
            _add(trace, part)
    else:
        trace.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
