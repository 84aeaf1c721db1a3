"""The arguments that every adaptor with a learner takes, documented once, and the tables that they make."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Episode
from nainjaune_env.envs.learner_tables import LearnerSeat, LearnerTables
from nainjaune_env.envs.opponents import Opponents
from nainjaune_env.envs.reset_options import Start, seed_number
from nainjaune_env.registry import adaptor_setup

F = TypeVar("F", bound=Callable[..., None])


@dataclass(frozen=True)
class SeatOptions:
    """Who plays in which seat, and how episodes begin.

    Adaptors take these as keywords, after ``preset`` and ``players``, the number of seats (None: the game's defaults). All
    other keywords are knobs, set over the preset: ``stake=2``.
    """

    game: str | None = None
    """The game; None: the one that has the preset."""
    opponents: Opponents = "random"
    """A player of any kind that :func:`nainjaune_env.as_agent` takes, such as the name of an agent, for all other seats.

    Or a sequence with one for each, from the seat after the learner's; a :class:`~nainjaune_env.Pool` to draw them from; or
    ``"self"``, with which the learner has every seat.
    """
    seat: LearnerSeat = "rotate"
    """The learner's: a number, ``"random"``, or ``"rotate"``, which moves to the next seat at each reset.

    The seed draws the first one.
    """
    episode: Episode = "round"
    """``"round"`` or ``"match"``."""
    start: Start = "fresh"
    """How rounds begin: ``"fresh"``; ``"carried"``, the next round of the match; or values by name.

    Such as ``{"pots": [4, 0, 0, 0, 9]}``.
    """
    skip_forced: bool = True
    """Whether plies without a choice are made automatically."""
    illegal_reward: float | None = None
    """None: an illegal action raises; a number: it ends the episode with this reward."""


def takes_seat_options(constructor: F) -> F:
    """Decorates an adaptor's constructor: where it has ``**settings``, its signature names the options and ``**knobs``."""
    signature = inspect.signature(constructor)
    options = [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type)
        for option in fields(SeatOptions)
    ]
    others = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    knobs = inspect.Parameter("knobs", inspect.Parameter.VAR_KEYWORD, annotation="Any")
    shown = signature.replace(parameters=sorted([*options, *others, knobs], key=lambda parameter: parameter.kind))
    constructor.__signature__ = shown  # type: ignore[attr-defined]
    return constructor


class LearnerEnv:
    """Base of the adaptors with a learner: their setup and tables, and what they say of the seats."""

    setup: Setup
    """The game and its rules."""
    _tables: LearnerTables

    def _make_tables(
        self,
        adaptor: type[object],
        num_tables: int,
        preset: str | None,
        players: int | None,
        settings: Mapping[str, Any],
        *,
        record: bool = False,
    ) -> None:
        """Makes the setup and the tables from the arguments of ``adaptor``, the class of this environment.

        ``settings`` are options and knobs; ``record`` keeps what pictures and records need. Raises the errors of ``SeatEnv``.
        """
        knobs = dict(settings)
        options = {option.name: knobs.pop(option.name, option.default) for option in fields(SeatOptions)}
        self.setup = adaptor_setup(adaptor, options.pop("game"), preset, players, knobs)
        self._tables = LearnerTables(self.setup, num_tables, **options, record=record)
        self._all = np.arange(num_tables)

    @property
    def opponents(self) -> Sequence[Agent]:
        """The agents in the other seats: one for all, or one for each from the seat after the learner's, or a pool's."""
        return self._tables.opponents

    @property
    def seats(self) -> NDArray[np.int64]:
        """The learner's seat at each table, ``(B,)``, in self-play the seat to act; -1 before the first reset."""
        return self._tables.learner.copy()


def table_seeds(seed: object, which: Iterable[int]) -> list[int | None]:
    """Returns the seeds of the tables ``which`` where ``seed`` is that of table 0: one more for each table; all None for None."""
    first = seed_number(seed)
    return [None if first is None else seed_number(first + int(i)) for i in which]
