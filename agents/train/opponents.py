"""Whom the learner meets: the configuration key ``opponents``, the same for every trainer.

``{self: 0.5, closer: 0.25, past: 0.25}`` are shares of the tables. At the tables of ``self`` all seats learn. At others one seat
learns, another one each iteration, and the opponent has all other seats: an agent by name, or a past self of this run. Past
selves are copies of the network that draw from their policies, the newest ``PAST_SELVES`` of one every
``SNAPSHOT_EVERY`` iterations; a checkpoint keeps them, so that a resumed run gives the same bits.

Source of opponents from past snapshots: Bansal et al., "Emergent complexity via multi-agent competition", 2018.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError, quoted
from nainjaune_env.core.spec import Setup

from ..players.loading import load_agent
from ..players.networks.net_agent import NetAgent
from ..players.networks.policy_value import PolicyValueNet
from ..players.program.settings import BotSettings

SELF, PAST = "self", "past"
PAST_SELVES = 5
SNAPSHOT_EVERY = 10
LEARNER = -1
"""In an array of seats: the network that learns, none of the agents."""

Opponents = str | Mapping[str, float] | None
"""The value of the key: shares by name, the name of the only opponent, or None for self-play."""


def shares_of(opponents: Opponents) -> dict[str, float]:
    """Returns the share of tables of each opponent; raises :class:`ConfigError` unless they are shares that sum to 1."""
    if opponents is None:
        return {SELF: 1.0}
    if isinstance(opponents, str):
        return {opponents: 1.0}
    shares = dict(opponents)
    sound = all(
        isinstance(name, str) and isinstance(share, int | float) and not isinstance(share, bool) and 0 < share <= 1
        for name, share in shares.items()
    )
    if not sound or not math.isclose(sum(shares.values()), 1.0, abs_tol=1e-6):
        raise ConfigError(
            "'opponents' are shares above 0 that sum to 1, as in {self: 0.5, closer: 0.25, past: 0.25}, or the name of an agent, "
            f"not {quoted(opponents)}."
        )
    return {name: float(share) for name, share in shares.items()}


def named(shares: Mapping[str, float]) -> list[str]:
    """Returns the opponents that are agents by name."""
    return [name for name in shares if name not in (SELF, PAST)]


def share_ends(shares: Mapping[str, float], tables: int, turn: int, setups: int) -> NDArray[np.int64]:
    """Returns where each share ends among the ``tables`` of one of ``setups``, in the order of the shares.

    They are rounded to whole tables, in each turn at another limit, and setups and iterations take turns, so that opponents have
    their shares of all tables. With one setup they are rounded to the nearest.
    """
    turns = setups | 1  # odd: then no limit is a whole number, and shares that need no rounding stay as they are
    shift = 2 * turn % turns / turns  # 2: the first setups, which may have a table more, do not all round the same way
    return np.rint(np.cumsum([*shares.values()]) * tables + shift - round(shift)).astype(np.int64)


def check_seated(shares: Mapping[str, float], counts: Sequence[int], key: str = "tables") -> None:
    """Raises :class:`ConfigError` where an opponent never has one of the tables, ``counts`` of them at each setup.

    ``key`` of the configuration that gives more tables.
    """
    setups = len(counts)
    ends = [share_ends(shares, count, turn, setups) for count in {*counts} for turn in range(setups | 1)]
    most = np.diff(ends, axis=1, prepend=0).max(axis=0)
    for name, tables in zip(shares, most, strict=True):
        if name != SELF and not tables:
            raise ConfigError(
                f"The share of {name!r} among the 'opponents', {shares[name]:g}, is none of {sum(counts)} tables: "
                f"set more {key!r}, or a larger share."
            )


class PastSelves:
    """Copies of a network as it was at earlier iterations."""

    def __init__(self, net: PolicyValueNet) -> None:
        self.nets = [copy.deepcopy(net).requires_grad_(False).eval() for _ in range(PAST_SELVES)]
        self.agents = [NetAgent(f"past_{number}", past_net, stochastic=True) for number, past_net in enumerate(self.nets)]

    def modules(self) -> dict[str, torch.nn.Module]:
        """Returns the copies by the prefix of their tensors in checkpoints."""
        return {f"past.{number}.": net for number, net in enumerate(self.nets)}

    def take(self, net: PolicyValueNet, iteration: int) -> None:
        """Copies ``net`` into the oldest past self where ``iteration`` is due for one; the first ones fill all that are left."""
        if iteration % SNAPSHOT_EVERY:
            return
        number = iteration // SNAPSHOT_EVERY
        for past in self.nets[number:] or [self.nets[number % len(self.nets)]]:
            past.load_state_dict(net.state_dict())


class Seating:
    """Who sits where at the tables of one setup."""

    def __init__(
        self,
        shares: Mapping[str, float],
        setup: Setup,
        past: PastSelves | None = None,
        number: int = 0,
        setups: int = 1,
        bots: BotSettings | None = None,
    ) -> None:
        """``past``: there where ``shares`` has them; ``number`` of the setup among the ``setups`` of the run.

        ``bots`` says how opponents that are bots are asked (None: as by default).
        """
        self._shares = shares
        self._number, self._setups = number, setups
        self._names = named(shares)
        self._players = setup.players
        by_name = [load_agent(name, setup, bots=bots) for name in self._names]
        self.agents: Sequence[Agent] = [*by_name, *(past.agents if past else ())]
        """Agents by name, then past selves; none in self-play."""

    def seats(self, tables: int, iteration: int) -> NDArray[np.int64]:
        """Returns the agent in each seat ``(tables, players)``, :data:`LEARNER` for seats that learn.

        Tables are divided in the order of the shares. Where one seat learns it is ``(table + iteration) % players``, and past
        selves take turns at their tables.
        """
        table = np.arange(tables)
        ends = share_ends(self._shares, tables, self._number + iteration, self._setups)
        opponent = np.full(tables, LEARNER)
        for name, begin, end in zip(self._shares, [0, *ends[:-1]], ends, strict=True):
            if name == PAST:
                opponent[begin:end] = len(self._names) + (table[begin:end] + iteration) % PAST_SELVES
            elif name != SELF:
                opponent[begin:end] = self._names.index(name)
        seats = np.repeat(opponent[:, None], self._players, axis=1)
        seats[table, (table + iteration) % self._players] = LEARNER
        return seats
