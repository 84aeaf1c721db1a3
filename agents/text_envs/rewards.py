"""What a finished round was worth, in the game's unit: chips, duplicate edge, or regret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arena.play import play_out
from .round import TextRound, dealt, field_agents, field_rngs
from .settings import CHIPS, EDGE, TextEnvSettings


class Reward(NamedTuple):
    """A reward; more is better."""

    value: float
    """In the game's unit."""
    error: float
    """Standard error of an estimate; 0 where it is exact."""
    exact: bool


def chips(round: TextRound) -> Reward:
    """Returns the payoff of the model's seat."""
    return Reward(round.payoff, 0.0, True)


def edge(round: TextRound) -> Reward:
    """Returns the payoff of the model's seat less that of the field's agent there: same deal, and the same draws of all seats."""
    task, agents = round.task, field_agents(round.setup, round.settings)
    payoff = play_out(dealt(task), agents, np.arange(task.players)[None, :], field_rngs(task))
    return Reward(round.payoff - float(payoff[0, task.seat]), 0.0, True)


def rewarded(rounds: Sequence[TextRound], settings: TextEnvSettings) -> list[Reward]:
    """Returns the rewards of finished ``rounds`` by ``settings.reward``."""
    by_round = {CHIPS: chips, EDGE: edge}
    return [by_round[settings.reward](one) for one in rounds]
