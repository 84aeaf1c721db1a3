"""What the machinery may know of a game: :class:`GameSpec`, and the knobs its rules are made of.

A game is a folder in ``nainjaune_env.games``. Its ``kernel`` module holds scalar functions over one table
(a structured record), in the part of Python that numba compiles:

=============================================  ========================================================================
``start(table, rules)``                        a new match: stacks, pots, who deals first; no cards yet
``set_start_values(table, rules, values)``     set the start values (``GameSpec.start_values``) before the first deal
``deal(table, rules)``                         the next round of the match; ends at the first ply (``stage`` PLAYING)
``legal(table, rules) -> int64``               the legal actions of ``table.seat``, bit a = action a; never 0 in play
``needs_decision(table, rules, moves)``        whether ``table.seat`` is to be asked, where ``moves`` (a word) are legal:
                                               always where there is more than one; where not, the one can go unasked
``step(table, rules, action)``                 one ply; ``action`` must be legal
``play_forced(table, rules, moves)``           the one ply of ``moves``, where nobody is asked, and as many of the kind after it
                                               as the game can make at once; it need not go further than that one
``payoffs(table, rules, out)``                 net result of the round so far, per seat, into ``out`` (``int32``)
``encode(table, rules, seat, out)``            what ``seat`` observes, into ``out`` (``uint8``); gives the bytes written
``redact(table, rules, seat)``                 wipe from the table all that ``seat`` may not know
``resample(table, rules, seat)``               undo that, in a round that is being played: fill in what was wiped, uniformly at
                                               random over all that fits; drawn from ``rng``, which the caller has set
``resample_many(tables, rules, seat, memory)``  the same for each of ``tables``, which differ in ``rng`` alone; ``memory``
                                               (``float64``) may be written over, and be of any length
=============================================  ========================================================================

and every table has the fields ``rng`` (uint64), ``seat`` (the seat to act) and ``stage`` (a ``table.Stage``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from nainjaune_env.analysis.advice_hook import Outlook
from nainjaune_env.analysis.feature_hook import Study
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.core.errors import RulesError, choose_one
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.rules import Preset, Rules
from nainjaune_env.core.speech import Speaker


class Transcriber(Protocol):
    """How matches of one game become records and text, and how records are checked (``nainjaune_env.records.record``).

    A module with these names will do. A record is a head that every game shares and a body that is the game's own.
    """

    BODY: tuple[str, ...]
    """The keys of a body, in the order they are written."""

    def transcribe(
        self, setup: Setup, table: Any, actions: list[int], rng: np.random.Generator, *, every_ply: bool = False
    ) -> dict[str, Any]:
        """The body of the record of the match that begins with ``table``, fresh from the first deal.

        ``actions`` are the decisions taken, forced plies left out, or every ply with ``every_ply``. ``rng`` draws what the
        rules leave open but a record must write down. Raises :class:`~nainjaune_env.core.errors.RecordError` where
        table and actions make no finished match.
        """

    def verify(self, setup: Setup, body: Mapping[str, Any]) -> int:
        """Replay; gives the number of rounds (1 in a game without).

        Raises :class:`~nainjaune_env.core.errors.RecordError` at the first thing that does not fit.
        """

    def show(self, setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
        """A verified record for people, in ``language`` (``"en"`` or ``"fr"``); ``part``: one round of it only, from 1."""


class Extent(NamedTuple):
    """Bounds on the first round of a fresh match, whatever is dealt and played; not always reached."""

    plies: int
    """The most plies."""
    draws: int
    """Draws by chance before the first of them (exact)."""
    least: int
    """The least payoff of a seat."""
    most: int
    """The greatest."""


class Chance(Protocol):
    """What chance does before the first round of a fresh match, for those who must say what can happen and how likely it is.

    A module with these names will do. The same round can be begun in two ways: draw by draw, each of which takes one of
    :meth:`outcomes`, all equally likely; or in one go, with one of :meth:`openings`. Tables have their generators at 0, and
    nothing but them is left to chance.
    """

    def extent(self, setup: Setup) -> Extent:
        """Bounds on the round."""

    def outcomes(self, setup: Setup, drawn: Sequence[int]) -> list[int]:
        """What can be drawn after ``drawn``, ascending, each as likely as any other; nothing where all is drawn."""

    def opening(self, setup: Setup, drawn: Sequence[int]) -> Any:
        """The table (one record) that ``drawn``, complete, makes."""

    def draws(self, setup: Setup, table: Any) -> list[int]:
        """Draws that make ``table``, a match's first round before any ply."""

    def name(self, setup: Setup, drawn: Sequence[int], outcome: int) -> str:
        """``outcome`` after ``drawn``, in a few words."""

    def openings(self, setup: Setup) -> Iterator[tuple[tuple[int, ...], int]]:
        """The draws of every opening that the rules can tell from the others, and how many deals each stands for."""

    def canonical(self, setup: Setup, drawn: Sequence[int]) -> tuple[int, ...]:
        """The one of :meth:`openings` that stands for the deal ``drawn``."""

    def describe(self, setup: Setup, drawn: Sequence[int]) -> str:
        """The deal ``drawn`` in one line: the same line where the rules cannot tell two apart, else another."""


class Painter(Protocol):
    """How a table of one game is drawn. A module with these names will do; pixels and films are made of what it gives."""

    def svg(
        self,
        setup: Setup,
        table: Any,
        seat: int | None = None,
        *,
        language: str = "en",
        names: Sequence[str] | None = None,
        opening: Any = None,
        actions: Sequence[int] = (),
        every_ply: bool = False,
        rng: np.random.Generator | None = None,
    ) -> str:
        """The table as an SVG document as ``seat`` sees it, with the arguments of ``GameSpec.draw``.

        ``names`` are the players', in seat order. Every picture of a game is of one size; the same scene gives the same bytes.
        """

    def film(
        self,
        setup: Setup,
        body: Mapping[str, Any],
        seat: int | None = None,
        *,
        part: int | None = None,
        language: str = "en",
        names: Sequence[str] | None = None,
    ) -> Iterator[str]:
        """Such a picture of the opening and after each ply of a verified record, whose own part is ``body``; ``part``: one round.

        Raises :class:`~nainjaune_env.core.errors.RecordError` for a round that is not there.
        """


REQUIRED = ("start", "deal", "legal", "step", "payoffs", "encode", "redact", "resample")
"""The kernel functions that every game has."""
OPTIONAL = ("needs_decision", "play_forced", "resample_many", "set_start_values")
"""The kernel functions that a game may have."""


def join_kernel(*modules: ModuleType) -> ModuleType:
    """One module with the kernel functions of several, as compiled loops bind one; the first that has a name counts."""
    joined = ModuleType("+".join(module.__name__ for module in modules))
    joined.__dict__["__modules__"] = modules
    for name in (*REQUIRED, *OPTIONAL):
        for module in modules:
            if hasattr(module, name):
                setattr(joined, name, getattr(module, name))
                break
    return joined


@dataclass(frozen=True)
class GameSpec:
    """A game, as the machinery sees it."""

    name: str
    title: str
    presets: Mapping[str, Preset]
    default_preset: str
    default_players: int
    kernel: ModuleType
    """The functions above: a module that has them all, or :func:`join_kernel` of several."""
    table: np.dtype[Any]
    """The structured dtype of one table (elements are ``np.record``)."""
    actions: tuple[str, ...]
    """Names of the actions by number; at most 63."""
    unit: str
    """What payoffs count, in the plural: chips, cards."""
    start_values: Mapping[str, int]
    """Names and lengths of the values a match may be given to start with, in the order ``give`` reads them; often none."""
    compile_rules: Callable[[Any, int], NamedTuple]
    """``(rules, players)`` as a named tuple of integers (and tuples of them), for the kernel."""
    layout: Callable[[int], Layout]
    """The observation slots with that many seats."""
    check_match: Callable[[Any], None]
    """Raises :class:`RulesError` where these rules give a match no end."""
    single_round: Callable[[Any], Any]
    """These rules with a match of one round: what a round played by itself was played under, for its record."""
    transcriber: Transcriber
    """Records and their text."""
    chance: Chance | None = None
    """What is dealt and how likely; None where a game has not written it down."""
    draw: Callable[..., str] | None = None
    """``draw(setup, table, seat, *, language, color, opening, actions, every_ply, rng)``: the table as text as ``seat`` sees it.

    ``seat`` None is a spectator, who sees everything; ``color`` says whether to use a terminal's colours. The others are optional
    and tell how the table came to be, as ``Transcriber.transcribe`` takes them, of a match that need not be finished.
    """
    speaker: Callable[..., Speaker] | None = None
    """``speaker(setup, opening, seat, language, rng)``: the match that begins with the table ``opening``, told to ``seat``."""
    painter: Painter | None = None
    """Pictures; None where a game has none."""
    measures: Measures | None = None
    """What is counted of play, for reports; None where a game counts nothing."""
    outlook: Outlook | None = None
    """What an adviser is told; None where a game tells it nothing. It needs ``measures``."""
    study: Study | None = None
    """What a study of play is told; None where a game tells it nothing. It needs ``measures``."""

    def __repr__(self) -> str:
        """The same in every process: errors and tests show it."""
        return f"<GameSpec {self.name}>"

    def __post_init__(self) -> None:
        if len(self.actions) > self.MAX_ACTIONS:
            raise ValueError(f"{self.name}: a mask is one 64-bit word, so at most 63 actions, not {len(self.actions)}")
        for name in self.table.names or ():
            # with the compiler switched off, numpy's own attribute of that name would be read in place of the field
            if hasattr(np.record, name):
                raise ValueError(f"{self.name}: a table's field cannot be called {name!r}, as every NumPy record has one")

    MAX_ACTIONS: ClassVar[int] = 63

    def setup(self, preset: str | None = None, players: int | None = None, **knobs: Any) -> Setup:
        """The rules of one table: a preset, a number of seats, and knobs set over the preset.

        Raises :class:`RulesError` for an unknown preset or knob, a knob's value that is not allowed, or a
        number of seats that the preset does not allow.
        """
        preset = self.default_preset if preset is None else preset
        if preset not in self.presets:
            raise RulesError(choose_one("preset", preset, self.presets))
        sheet = self.presets[preset]
        if players is None:
            players = self.default_players if self.default_players in sheet.players else sheet.players[0]
        if isinstance(players, bool) or not isinstance(players, int | np.integer) or players not in sheet.players:
            allowed = f"{sheet.players[0]} to {sheet.players[-1]}"
            raise RulesError(f"The preset {preset!r} is for {allowed} players, not {players!r}.")
        return Setup(self, preset, sheet.rules.replace(**knobs), int(players))


@dataclass(frozen=True)
class Setup:
    """A game with its rules settled: what a batch, an environment or a record is made for."""

    game: GameSpec
    preset: str
    rules: Rules
    players: int

    def __post_init__(self) -> None:
        self.kernel_rules  # noqa: B018  (compiled now, so that rules that do not fit the number of seats are refused at once)

    @functools.cached_property
    def kernel_rules(self) -> NamedTuple:
        """The rules as the kernel takes them."""
        return self.game.compile_rules(self.rules, self.players)

    @functools.cached_property
    def layout(self) -> Layout:
        """The observation slots."""
        return self.game.layout(self.players)

    @property
    def knobs(self) -> dict[str, Any]:
        """The knobs that are set over the preset, with their values."""
        sheet = self.game.presets[self.preset].rules
        return {name: value for name in self.rules.names() if (value := getattr(self.rules, name)) != getattr(sheet, name)}

    def to_dict(self) -> dict[str, Any]:
        """``game``, ``preset``, ``rules`` and ``players``, as in a record's head."""
        return {
            "game": self.game.name,
            "preset": self.preset,
            "rules": self.rules.to_dict(),
            "players": self.players,
        }
