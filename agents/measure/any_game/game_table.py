"""Edges of players of any game, with what duplicate deals are worth there."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent_adapters import binds
from nainjaune_env.core.errors import AgentError, GameError, quoted
from nainjaune_env.core.validation import check_flag, check_seed, check_whole

from ..arena.play import chunks
from ..edge_table import EdgeTable, Pair
from ..plan import Cell, seat_values, tables_of
from ..report.format_ci import decimal
from ..report.text import text_table
from ..stats.exact_sums import DifferenceSums
from .aec_game import AecGame
from .foreign_game import OTHERS, ForeignGame, Preflight
from .open_spiel_game import OpenSpielGame

AT_ONCE = 32
"""Deals between two reports of progress."""
ROUNDED = 1e-12
"""Share of the variance of payoffs that their sum over seats may have where it is a constant, as they are rounded."""


class GameTable(EdgeTable):
    """Some players of a game in fields of others."""

    def __init__(self, game: ForeignGame, players: Sequence[str], pairs: Sequence[Pair], preflight: Preflight) -> None:
        super().__init__(game, players, pairs, one_way=not any(hero > 0 for hero, _ in pairs))
        self.game = game
        self.preflight = preflight
        cells = {*pairs, *((field, field) for _, field in pairs)}
        # by seat, and of all seats together
        self._payoffs = {cell: [DifferenceSums(game.scale) for _ in range(game.seats + 1)] for cell in cells}

    def add(self, payoffs: Mapping[Pair, NDArray[np.int64]], first: NDArray[np.int64]) -> None:
        """Adds D deals: payoffs by seat ``(D, n)`` of each pair and of each field alone, and the seats that acted first."""
        gains = {pair: sums.add(payoffs[pair], payoffs[pair[1], pair[1]], first) for pair, sums in self._edges.items()}
        for cell, sums_of_cell in self._payoffs.items():
            columns = [*payoffs[cell].T, payoffs[cell].sum(axis=1)]
            for sums, column in zip(sums_of_cell, columns, strict=True):
                sums.add(column)
        self.add_gains(len(first), gains)

    def luck_removed(self, hero: str, rival: str) -> float:
        """Returns the share of an edge's variance that duplicate deals removed, beside games on deals of their own.

        That is ``1 - n² Var(gain) / Σ Var``, summed over the seats of the hero, and over those of the field where its payoffs at
        one table do not sum to a constant; where they do, as in games for zero, separate games need the hero alone. NaN without
        any variance; raises :class:`AgentError` as :meth:`edge`.
        """
        gains = self.edge(hero, rival).moments
        separate, _ = self._separate(hero, rival)
        return 1 - self.source.seats**2 * gains.variance / separate if separate else math.nan

    def times_as_many_games(self, hero: str, rival: str) -> float:
        """Returns how many times as many games on deals of their own the interval of an edge takes; NaN as for the luck removed.

        A duplicate deal takes n games of the hero and one of the field alone.
        """
        separate, games = self._separate(hero, rival)
        variance = self.source.seats**2 * self.edge(hero, rival).moments.variance
        return separate * games / (variance * (self.source.seats + 1)) if variance else math.nan

    def _separate(self, hero: str, rival: str) -> tuple[float, int]:
        """Returns the variance of n times a gain of games on deals of their own, and the number of these games."""
        one, other = (self.agents.index(name) for name in (hero, rival))
        *by_seat, total = (sums.differences().variance for sums in self._payoffs[other, other])
        separate, games = sum(sums.differences().variance for sums in self._payoffs[one, other][:-1]), self.source.seats
        if total > ROUNDED * sum(by_seat):
            return separate + sum(by_seat), 2 * games
        return separate, games

    @property
    def notes(self) -> list[str]:
        """Sentences about the intervals, the seed, and the luck that duplicate deals removed."""
        notes = super().notes
        if not self.preflight.repeats:
            notes.append(
                f"Expected {self.game.name} to deal the same twice for a seed, and it does not: these are no duplicate deals; "
                "intervals are valid, and wide."
            )
        pairs = [(edge.hero, edge.field_name) for edge in self.edges]
        shares = _range([100 * self.luck_removed(*pair) for pair in pairs], ".0f")
        times = _range([self.times_as_many_games(*pair) for pair in pairs], ".2f")
        if shares and times:
            notes.append(
                f"Duplicate deals removed {shares} % of the variance that luck gives to games on deals of their own, of which "
                f"the same interval takes {times} times as many games."
            )
        return [*notes, "Coverage of such intervals was checked by simulation in poker games (docs/any_game.md)."]

    def __str__(self) -> str:
        """Returns the edges as a table, the ranking, and the notes."""
        return text_table(self)


def _range(values: list[float], form: str) -> str:
    """Returns the least and the largest of the values that are numbers, as text; the empty text without any."""
    known = sorted(value for value in values if not math.isnan(value))
    return " to ".join(dict.fromkeys(decimal(value, form) for value in (known[0], known[-1]))) if known else ""


def game_of(env: Any, seed: int) -> ForeignGame:
    """Returns a source of deals of an AEC environment, of what makes one, or of a game of OpenSpiel; raises as these do."""
    seed = check_seed(seed)
    if hasattr(env, "new_initial_state"):
        return OpenSpielGame(env, seed)
    if hasattr(env, "reset") and not isinstance(env, type):
        return AecGame(lambda number: env, seed, anew=False)
    if not callable(env):
        raise GameError(f"Expected an AEC environment, a function that makes one, or a game of OpenSpiel, not {quoted(env)}.")
    if not binds(env) and not binds(env, 0):
        raise GameError(f"Expected a function without parameters, or of a seed, not {quoted(env)}{inspect.signature(env)}.")
    return game_of(env(), seed) if binds(env) else AecGame(env, seed, anew=True)


def game_table(
    env: Any,
    players: Mapping[str, Any],
    *,
    deals: int,
    seed: int,
    one_way: bool = False,
    progress: Callable[[GameTable], object] | None = None,
) -> GameTable:
    """Plays each policy in a field of each other on the same deals of a game (docs/any_game.md), and returns the table.

    ``env`` is an AEC environment; a function without parameters that makes one; a function of a seed that makes one for each
    deal; or a game of OpenSpiel. ``players`` are policies by name, ``(observation, mask) -> action``. ``one_way``: only the first
    is a hero. ``progress`` is called with the table so far.

    Raises :class:`GameError` for a game that cannot be measured, :class:`AgentError` for fewer than two players and one that
    cannot be asked, and :class:`~nainjaune_env.core.errors.IllegalChoiceError` for an illegal action.
    """
    if not isinstance(players, Mapping) or len(players) < 2 or not all(isinstance(name, str) for name in players):
        raise AgentError(f"Expected two or more players by name, not {quoted(players)}.")
    check_whole("The number of deals", deals, 2)
    check_flag("one_way", one_way)
    game = game_of(env, seed)
    seated = [game.seated(policy, name) for name, policy in players.items()]
    preflight = game.preflight()
    if not preflight.differs and not any(policy.draws for (policy, *_) in seated):
        raise GameError(
            f"Expected a game that deals otherwise for another seed, and {OTHERS + 1} seeds of {game.name} deal alike: each deal "
            "would be the same game again. A player that draws takes a generator as its third parameter."
        )
    pairs = [(hero, field) for hero, field in permutations(range(len(players)), 2) if not (one_way and hero)]
    cells = [Cell(*pair) for pair in dict.fromkeys([*pairs, *((field, field) for _, field in pairs)])]
    seating, tables = tables_of(cells, game.seats)
    table = GameTable(game, [*players], pairs, preflight)
    for first, some in chunks(0, deals, AT_ONCE):
        played = game.play(seated, np.array(seating), first, some, field=0)
        table.add({cell[:2]: seat_values(played.payoff, tables[cell]) for cell in cells}, played.first)
        if progress is not None:
            progress(table)
    return table
