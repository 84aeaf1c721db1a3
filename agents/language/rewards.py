"""What a finished round was worth, in the game's unit: chips, duplicate edge, regret, or advantage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nainjaune_env.core.errors import RecordError

from .regret import regrets
from .round import TextRound, play_task
from .settings import ADVANTAGE, CHIPS, REGRET, TextEnvSettings


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
    return Reward(round.payoff - play_task(round.task, round.field, round.field).payoff, 0.0, True)


def rewarded(rounds: Sequence[TextRound], settings: TextEnvSettings) -> list[Reward]:
    """Returns the rewards of finished ``rounds`` by ``settings.reward``.

    Regret is minus what the model's decisions lost against the best moves, as ``nainjaune analyse`` estimates it on the rounds'
    records in this order; it may be above 0. Advantage is what they gained over the moves of the adviser's own player. Raises
    :class:`RecordError` for a round that is not finished.
    """
    if not all(one.done for one in rounds):
        raise RecordError("A reward is of a finished round, and this one is not.")
    if settings.reward in (REGRET, ADVANTAGE):
        of_seats = [(one.record(), one.task.seat) for one in rounds]
        lost = regrets(of_seats, settings, over_adviser=settings.reward == ADVANTAGE)
        return [Reward(0.0 - one.lost, one.error, one.exact) for one in lost]
    return [chips(one) if settings.reward == CHIPS else edge(one) for one in rounds]
