"""What the decisions of a seat in recorded rounds cost, as ``nainjaune analyse`` measures it, or exactly in solved games."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record

from ..base.seeds import Stream, generator
from ..players.exact import solver
from ..players.loading import load_agent
from ..players.program.settings import BotSettings
from ..players.search.policies import rollout_policy
from ..study.advice.adviser import Adviser
from ..study.advice.models import in_seats, is_advised, players, usual_model
from ..study.advice.review import Pick, Total, compare, measure, pick, reviewed
from .settings import TextEnvSettings


class Regret(NamedTuple):
    """What decisions cost together, in the game's unit."""

    lost: float
    """Against other moves; an estimate is right on average, so it may be below 0."""
    error: float
    """Its standard error."""
    exact: bool


def is_solved(setup: Setup) -> bool:
    """Returns whether the regret at tables with ``setup`` is exact."""
    solution = solver(setup.game.name)
    return solution is not None and solution.solved(setup) is not None


def check_regret(setup: Setup, settings: TextEnvSettings, bots: BotSettings | None = None) -> None:
    """Raises :class:`AgentError` where decisions at tables with ``setup`` have no regret, or the adviser cannot play there.

    ``bots`` says how a bot is asked (None: as by default).
    """
    if is_solved(setup):
        return
    if not is_advised(setup):
        raise AgentError(
            f"{setup.game.title} under these rules has neither regret nor advantage, as there is no advice on it: choose the "
            "reward edge or chips."
        )
    if settings.adviser is not None:
        rollout_policy(load_agent(settings.adviser, setup, bots=bots), setup)


def regrets(
    seats: Iterable[tuple[Record, int]],
    settings: TextEnvSettings,
    *,
    first: int = 1,
    over_adviser: bool = False,
    bots: BotSettings | None = None,
) -> list[Regret]:
    """Returns the regret of a seat in each verified record, given as pairs: what its decisions lost against the best moves.

    With ``over_adviser`` what they lost against the moves of the adviser's own player, which is minus their advantage. If that
    player is the field's too, the mean advantage is that of the duplicate edge, as far as the adviser's deals are right (the
    performance difference lemma: Kakade and Langford, "Approximately optimal approximate reinforcement learning", 2002).

    Estimates are those of ``nainjaune analyse --seed`` of a file in which these records are the matches ``first``, ``first + 1``,
    ..., within rounding. Records with the same rules are valued together. ``bots``: how an adviser that is a bot is asked.
    """
    picks: list[list[Pick]] = []
    for match, (record, seat) in enumerate(seats, first):
        of_seat = (one for one in pick([record]) if int(one.ply.table.seat) == seat)
        picks.append([one._replace(match=match) for one in of_seat])
    by_setup: dict[str, list[int]] = {}
    for number, some in enumerate(picks):
        if some:
            by_setup.setdefault(str(some[0].setup.to_dict()), []).append(number)
    result = [Regret(0.0, 0.0, True)] * len(picks)  # of a round without a decision
    for numbers in by_setup.values():
        together = [picks[number] for number in numbers]
        for number, regret in zip(numbers, _valued(together, settings, over_adviser, bots), strict=True):
            result[number] = regret
    return result


def _valued(
    rounds: Sequence[list[Pick]], settings: TextEnvSettings, over_adviser: bool, bots: BotSettings | None
) -> list[Regret]:
    """Returns the regrets of rounds with one setup."""
    setup = rounds[0][0].setup
    picks = [one for some in rounds for one in some]
    solution = solver(setup.game.name)
    tables, actions = np.array([one.ply.table for one in picks]), np.array([one.ply.action for one in picks])
    ends = np.cumsum([len(some) for some in rounds])[:-1]
    lost = None if solution is None else solution.losses(setup, tables, actions)
    if lost is not None:
        return [Regret(math.fsum(part), 0.0, True) for part in np.split(lost, ends)]
    check_regret(setup, settings, bots)
    names = in_seats(setup, [settings.adviser or usual_model(setup)])
    adviser = Adviser(setup, players(setup, names, bots=bots))
    choosing, measuring, seed = settings.choosing, settings.measuring, settings.seed
    if over_adviser:
        moves = np.concatenate([_moves(setup, names[0], some, seed, bots) for some in rounds])
        measured = measure(picks, moves, adviser, measuring=measuring, seed=seed)
    else:
        moves, measured = compare(picks, adviser, choosing=choosing, measuring=measuring, seed=seed)
    decisions = reviewed(picks, moves, measured)
    totals = [Total.of(decisions[end - len(some) : end]) for some, end in zip(rounds, [*ends, len(decisions)], strict=True)]
    return [Regret(total.regret, total.error, False) for total in totals]


def _moves(setup: Setup, name: str, picks: Sequence[Pick], seed: int, bots: BotSettings | None) -> NDArray[np.int64]:
    """Returns the moves of an agent at K decisions of one match, ``(K,)``."""
    batch = Batch(setup, len(picks), autoreset=False, deal=False)
    batch.set_tables(None, np.array([one.ply.table for one in picks]), trusted=True)
    rng = generator(seed, Stream.ADVICE, picks[0].match)
    return load_agent(name, setup, bots=bots).act(DecisionBatch(batch, np.arange(len(picks))), rng)
