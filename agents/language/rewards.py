"""What a finished round was worth, in the game's unit: chips, duplicate edge, regret, or advantage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nainjaune_env.core.errors import RecordError

from .regret import regrets
from .round import TextRound
from .settings import ADVANTAGE, CHIPS, REGRET, TextEnvSettings
from .table import payoff_of


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
    fields = payoff_of(round.field, round.setup, round.task.seed, round.task.seat, round.field)
    return Reward(round.payoff - fields, 0.0, True)


def regret(rounds: Sequence[TextRound], settings: TextEnvSettings) -> list[Reward]:
    """Returns minus the regret of the model's decisions in each round: what they lost against the best ones.

    The adviser's estimate is that of ``nainjaune analyse`` on the rounds' records in this order; it may be above 0.
    """
    return _minus_losses(rounds, settings, own_moves=False)


def advantage(rounds: Sequence[TextRound], settings: TextEnvSettings) -> list[Reward]:
    """Returns the advantage of the model's decisions in each round: what they gained over the moves of the adviser's own player.

    If that player is the field's too, its mean is that of the duplicate edge, as far as the adviser's deals are right (the
    performance difference lemma: Kakade and Langford, "Approximately optimal approximate reinforcement learning", 2002).
    """
    return _minus_losses(rounds, settings, own_moves=True)


def _minus_losses(rounds: Sequence[TextRound], settings: TextEnvSettings, *, own_moves: bool) -> list[Reward]:
    of_seats = regrets(((one.record(), one.task.seat) for one in rounds), settings, own_moves=own_moves)
    return [Reward(0.0 - one.lost, one.error, one.exact) for one in of_seats]


def rewarded(rounds: Sequence[TextRound], settings: TextEnvSettings) -> list[Reward]:
    """Returns the rewards of finished ``rounds`` by ``settings.reward``; raises :class:`RecordError` for one that goes on."""
    for one in rounds:
        if not one.done:
            raise RecordError("A reward is of a finished round, and this one is not.")
    if settings.reward == REGRET:
        return regret(rounds, settings)
    if settings.reward == ADVANTAGE:
        return advantage(rounds, settings)
    return [chips(one) if settings.reward == CHIPS else edge(one) for one in rounds]
