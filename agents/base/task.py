"""The task: which payoff counts, and the chips in the pots when rounds begin.

Trainers learn one task, searches value actions by its payoff, and ratings measure it. Its two parts are set separately.

The *objective* is the payoff of a seat that counts:

``own``
    what the seat nets in the round, antes included. Chips that stay in the pots when the round ends are a loss.
``centred``
    the same less the mean over the table's seats, so that payoffs of a table sum to 0. Chips that stay in the pots are lost to
    all seats alike and drop out, as if each seat were to win an equal share of them in a later round.

The *start* is the state that a round begins in, before its antes:

``fresh``
    the first round of a new match: empty pots, starting stacks.
``carried``
    the rounds of whole matches, as they are played one after the other: pots, stacks, dealer and the number of the round are
    those that the rounds before left.
``{"pots": [low, high]}``
    the first round of a new match with start values (``GameSpec.start_values``) drawn for each deal: see
    :meth:`Task.start_values`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from nainjaune_env.core.errors import ConfigError, RulesError, quoted, unknown_name_message
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.start_values import MAX_START_VALUE

OWN, CENTRED = "own", "centred"
OBJECTIVES = (OWN, CENTRED)
"""The payoffs that can be counted: a seat's own, or less the mean of its table."""
FRESH, CARRIED = "fresh", "carried"
STARTS = (FRESH, CARRIED)
"""The starts of rounds that have names."""

Start = str | Mapping[str, Any]
"""One of :data:`STARTS`, or ``[low, high]`` by the name of a start value."""

MATCH_ROUNDS = 12
"""Rounds of a match under rules that define no end of it."""
START_KEY = np.uint64(0x5851F42D4C957F2D)
"""Separates the generator of a deal's start values from that of its cards: an arbitrary odd number."""


def payoff_by(objective: str, payoff: Any) -> Any:
    """Returns ``payoff (..., players)``, NumPy's or torch's, as ``objective`` counts it: itself, or less each table's mean."""
    return payoff - payoff.mean(axis=-1, keepdims=True) if objective == CENTRED else payoff


def match_rounds(setup: Setup) -> int | None:
    """Returns the number of rounds after which a match is ended here: :data:`MATCH_ROUNDS`, or None where the rules end it."""
    try:
        setup.game.check_match(setup.rules)
    except RulesError:
        return MATCH_ROUNDS
    return None


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    """A task: what counts, and what rounds start with."""

    objective: str = OWN
    start: Start = FRESH

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ConfigError(unknown_name_message("objective", self.objective, OBJECTIVES))
        if isinstance(self.start, str):
            if self.start not in STARTS:
                raise ConfigError(unknown_name_message("start", self.start, [*STARTS, "{pots: [low, high]}"]))
        elif not isinstance(self.start, Mapping) or not self.start:
            raise ConfigError(f"'start' is 'fresh', 'carried' or bounds of start values by name, not {quoted(self.start)}.")
        for name, bounds in [] if isinstance(self.start, str) else self.start.items():
            if (
                not isinstance(bounds, list | tuple)
                or len(bounds) != 2
                or any(type(bound) is not int for bound in bounds)
                or not 0 <= bounds[0] <= bounds[1] <= MAX_START_VALUE
            ):
                limits = f"two whole numbers, 0 <= low <= high <= {MAX_START_VALUE}"
                raise ConfigError(
                    f"The bounds of the start value {quoted(name)} are [low, high], {limits}, not {quoted(bounds)}."
                )

    def check(self, setup: Setup) -> None:
        """Raises :class:`ConfigError` where the game of ``setup`` does not have this start."""
        values = setup.game.start_values
        if self.start != FRESH and not values:
            raise ConfigError(
                f"{setup.game.title} has no start values, so nothing is carried from round to round: its rounds start 'fresh'."
            )
        for name in () if isinstance(self.start, str) else self.start:
            if name not in values:
                raise ConfigError(unknown_name_message("start value", name, values))

    def payoff(self, payoff: Any) -> Any:
        """Returns ``payoff (..., players)`` as the objective counts it, see :func:`payoff_by`."""
        return payoff_by(self.objective, payoff)

    @property
    def draws(self) -> bool:
        """Whether start values are drawn."""
        return not isinstance(self.start, str)

    def start_values(self, setup: Setup, seeds: NDArray[np.uint64]) -> dict[str, NDArray[np.int64]]:
        """Returns start values ``(B, size)`` by name for the deals ``seeds (B,)``, as ``Batch`` takes them.

        They depend on the bounds and on the deal's seed alone. A deal draws a level, uniform from low to high; a spread from 0 to
        1; and how many of the values are raised, uniform from none to all. The raised ones, chosen at random, are uniform from
        ``level - spread * (level - low)`` to the level, rounded; the others are low. So with ``[0, high]`` a sixth of the deals
        have five empty pots, as at the start of a match; others have one full pot beside empty ones, as in matches where a card
        stays in the talon; and where all are raised at a small spread the pots are equally heavy. Values that are drawn
        independently from low to high would have a sum near its mean in nearly every deal, and neither fresh nor heavy pots.
        """
        assert not isinstance(self.start, str)
        rng, values = RowStreams(seeds ^ START_KEY, np.arange(len(seeds))), {}
        for name, (low, high) in self.start.items():
            size = setup.game.start_values[name]
            level, spread, share = rng.random((len(seeds), 3)).T[:, :, None]
            order, below = rng.random((len(seeds), size)), rng.random((len(seeds), size))
            raised = order.argsort(axis=1) < np.floor(share * (size + 1))
            amount = np.rint((high - low) * level * (1 - spread * below)).astype(np.int64)
            values[name] = low + np.where(raised, amount, 0)
        return values

    def fixed_values(self, setup: Setup) -> dict[str, list[int]]:
        """Returns the start values that every round has, by name; none for fresh rounds.

        Raises :class:`ConfigError` where they are carried or drawn, as for exact results every start would be a game of its own.
        """
        if self.start == FRESH:
            return {}
        if isinstance(self.start, str) or any(low != high for low, high in self.start.values()):
            raise ConfigError(
                f"Exact results are for one start, such as fresh or pots=20, and this is a {start_text(self.start)}."
            )
        return {name: [low] * setup.game.start_values[name] for name, (low, _) in self.start.items()}

    def to_dict(self) -> dict[str, Any]:
        """Returns ``objective`` and ``start``, as in files of results."""
        return {"objective": self.objective, "start": self.start if isinstance(self.start, str) else dict(self.start)}

    def __str__(self) -> str:
        """Returns the task in words."""
        return f"{self.objective} payoff, {start_text(self.start)}"


def start_text(start: Start) -> str:
    """Returns a start in words: ``fresh start``, ``start with pots 0 to 60``, ``start with pots 20``."""
    if isinstance(start, str):
        return f"{start} start"
    bounds = (f"{name} {low}" + ("" if low == high else f" to {high}") for name, (low, high) in start.items())
    return "start with " + ", ".join(bounds)


DEFAULT_TASK = Task()
"""A seat's own payoff of a fresh round."""


def task_words(task: Task) -> list[str]:
    """Returns the arguments of the command line that name ``task``; none for the default one."""
    if isinstance(task.start, str):
        start = task.start
    else:
        ((name, (low, high)),) = task.start.items()
        start = f"{name}={low}" + ("" if low == high else f"..{high}")
    arguments = [] if task.objective == OWN else ["--objective", task.objective]
    return arguments if start == FRESH else [*arguments, "--start", start]


_BOUNDS = re.compile(r"([a-z_]+)=(\d{1,10})(?:\.\.(\d{1,10}))?")


def parse_start(text: str) -> Start:
    """Returns the start that ``text`` names: ``fresh``, ``carried``, ``pots=0..60``, or ``pots=20`` for 20 in each pot.

    Raises :class:`ConfigError` for anything else.
    """
    if text in STARTS:
        return text
    match = _BOUNDS.fullmatch(text)
    if match is None:
        raise ConfigError(unknown_name_message("start", text, [*STARTS, "pots=LOW..HIGH", "pots=CHIPS"]))
    low = int(match[2])
    return Task(start={match[1]: [low, low if match[3] is None else int(match[3])]}).start


def stored_task(algorithm: str, config: Mapping[str, Any]) -> Task:
    """Returns the task that a network was trained at, by the algorithm and the configuration that its checkpoint keeps.

    Configurations that are older than the keys ``objective`` and ``start`` began rounds fresh. Those of PPO and deep Monte Carlo
    centred payoffs, unless their key ``centre`` was off; the other algorithms learned own payoffs.
    """
    centred = config.get("centre", algorithm in ("ppo", "deep_monte_carlo"))
    return Task(config.get("objective", CENTRED if centred else OWN), config.get("start", FRESH))
