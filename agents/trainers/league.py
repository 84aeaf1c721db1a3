"""A league: at some of PPO's tables the learner meets a pool of past selves and agents by name, in place of itself.

At a table of the league one seat learns, another one each round, and one member of the pool, drawn for the round, plays all
others. Past selves are copies of the network, made every so many iterations, which draw from their policies; the newest replaces
the oldest. Members are drawn uniformly, or by prioritised fictitious self-play: in proportion to ``(1 - p)^2``, p being how often
the learner has lately netted more than the mean of the table against that member. So the learner mostly meets those it loses to.

All that a league depends on is kept in the run's checkpoint: a resumed run gives the same bits.

Sources: Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning", 2019 (prioritised
fictitious self-play); Bansal et al., "Emergent complexity via multi-agent competition", 2018 (opponents from past snapshots).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup

from ..loading import load_agent
from ..nets.net_agent import NetAgent
from ..nets.policy_value import PolicyValueNet
from .rollout import LEARNER

MATCHING = ("uniform", "prioritised")
"""How members are drawn."""
RECENT = 0.1
"""Weight of an iteration in the learner's moving share of wins against a member."""
TIE = 1e-3
"""Payoffs nearer to the mean of the table are equal to it: payoffs are whole numbers, up to the rounding of means."""


class League(torch.nn.Module):
    """The pool, and who meets whom."""

    taken: Tensor
    """Past selves taken so far, () int64."""
    wins: Tensor
    """The learner's moving share of wins against each member, ``(M,) float64``, at first a half."""

    def __init__(
        self, setup: Setup, net: PolicyValueNet, names: Sequence[str], *, snapshots: int, share: float, matching: str
    ) -> None:
        """``names`` of agents; at most ``snapshots`` past selves of the shape of ``net`` join them; ``share`` of tables."""
        super().__init__()
        self.past = torch.nn.ModuleList(copy.deepcopy(net).requires_grad_(False) for _ in range(snapshots))
        self.register_buffer("taken", torch.zeros((), dtype=torch.int64))
        self.register_buffer("wins", torch.full((len(names) + snapshots,), 0.5, dtype=torch.float64))
        past = [NetAgent(f"past_{number}", own, stochastic=True) for number, own in enumerate(self.past)]  # type: ignore[arg-type]
        self.agents: list[Agent] = [*(load_agent(name, setup) for name in names), *past]
        """All members; past selves that have not been taken yet are not drawn."""
        self._named = len(names)
        self._share = share
        self._matching = matching
        self._seats = np.zeros((0, setup.players), np.int64)

    @property
    def members(self) -> int:
        """Members that can be drawn, the first of :attr:`agents`."""
        return self._named + min(int(self.taken), len(self.past))

    def take_snapshot(self, net: PolicyValueNet) -> None:
        """Copies ``net`` into the pool, in place of the oldest past self if all have been taken; a pool may have none."""
        if not self.past:
            return
        slot = int(self.taken) % len(self.past)
        self.past[slot].load_state_dict(net.state_dict())
        self.wins[self._named + slot] = 0.5
        self.taken += 1

    def assign(self, seats: NDArray[np.int64], first: int, rng: np.random.Generator) -> None:
        """Seats members in ``seats (B, n)``, all of them the learner's before, at the share of tables that come first.

        At table t the learner keeps seat ``(first + t) % n``.
        """
        self._seats = seats
        tables = round(self._share * len(seats)) if self.members else 0
        drawn = rng.choice(self.members, size=tables, p=self.probabilities()) if tables else np.zeros(0, np.int64)
        seats[:tables] = drawn[:, None]
        table = np.arange(tables)
        seats[table, (first + table) % seats.shape[1]] = LEARNER

    def probabilities(self) -> NDArray[np.float64]:
        """Returns the probability of each member to be drawn, ``(members,)``."""
        lost = 1.0 - self.wins[: self.members].numpy()
        weights = lost**2 if self._matching == "prioritised" and lost.any() else np.ones(len(lost))
        share: NDArray[np.float64] = weights / weights.sum()
        return share

    def record(self, final: NDArray[np.float32]) -> float:
        """Counts the wins of the last seating by the payoffs ``final (B * n,)``; returns the share of wins, 0 without members."""
        against = self._seats.max(axis=1)
        met = np.flatnonzero(against != LEARNER)
        payoff = final.reshape(self._seats.shape)[met].astype(np.float64)
        lead = payoff[self._seats[met] == LEARNER] - payoff.mean(axis=1)
        won = (np.sign(np.where(np.abs(lead) < TIE, 0.0, lead)) + 1) / 2
        for member in np.unique(against[met]):
            self.wins[member] += RECENT * (won[against[met] == member].mean() - self.wins[member])
        return float(won.mean()) if met.size else 0.0
