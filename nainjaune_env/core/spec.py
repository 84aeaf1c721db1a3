"""The definition of a game: :class:`GameSpec`, and :class:`Setup`, a game with fixed rules and number of seats.

A game is a package that defines ``SPEC``, found by the ``registry``. Required are its rules: presets, the dtype of a table, the
names of the actions, the features of an observation, and a kernel (``core.kernel``). All else has a default or is an optional
hook: a module of the package with the names of a protocol, found by its own name when it is first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, Protocol, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.advice_hook import AdviceHooks
from nainjaune_env.analysis.feature_hook import FeatureHooks
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.core.errors import GameError, RulesError, quoted
from nainjaune_env.core.events import Ply
from nainjaune_env.core.hooks import Hook
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.rules import Preset, Rules
from nainjaune_env.core.speech import SeatWords, Speaker
from nainjaune_env.core.table_checks import Invariant, check_rows
from nainjaune_env.core.validation import check_name


class Transcriber(Protocol):
    """How matches of one game become records and text, and how records are checked (``nainjaune_env.records.record``).

    A record is a head that every game shares and a body that is the game's own.
    """

    BODY: tuple[str, ...]
    """The keys of a body, in the order they are written."""

    def transcribe(self, setup: Setup, table: Any, actions: Sequence[int]) -> dict[str, Any]:
        """Returns the body of the record of the match that begins with ``table``, as the first deal left it.

        ``actions`` are one for every ply, forced ones too. What the rules leave open but a record must state depends on the table
        dealt. Raises :class:`~nainjaune_env.core.errors.RecordError` where table and actions do not make a finished match.
        """

    def verify(self, setup: Setup, body: Mapping[str, Any]) -> int:
        """Replays a body; returns the number of rounds.

        Raises :class:`~nainjaune_env.core.errors.RecordError` at the first value that does not fit.
        """

    def show(self, setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
        """Returns a verified record as text, in ``language`` (``"en"`` or ``"fr"``); ``part``: one round only, from 1."""


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
    openings: int = 1
    """A lower bound of the number of openings, so that a list is refused before it is made."""


class Chance(Protocol):
    """The chance events before the first round of a new match, for solvers and for chance nodes.

    A round can be begun in two ways: draw by draw, each with one of :meth:`outcomes`, all equally likely; or at once, with one
    of :meth:`openings`. Tables have their generators at 0; chance has no other part in the round.
    """

    def extent(self, setup: Setup) -> Extent:
        """Returns bounds on the round."""

    def outcomes(self, setup: Setup, drawn: Sequence[int], before: Sequence[int] = ()) -> list[int]:
        """Returns what can be drawn after ``drawn``, ascending, all equally likely; empty where everything is drawn.

        ``before`` may be what this returned for ``drawn[:-1]``, if the caller has it, from which a game may derive it faster.
        """

    def opening(self, setup: Setup, drawn: Sequence[int]) -> Any:
        """Returns the table (one record) that the complete ``drawn`` makes; a game with start values takes them by name, too."""

    def draws(self, setup: Setup, table: Any) -> list[int]:
        """Returns draws that make ``table``, a match's first round before any ply."""

    def name(self, setup: Setup, drawn: Sequence[int], outcome: int) -> str:
        """Returns ``outcome`` after ``drawn``, in a few words."""

    def openings(self, setup: Setup) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yields the draws of every opening that the rules tell apart from the others, and how many deals each stands for."""

    def canonical(self, setup: Setup, drawn: Sequence[int]) -> tuple[int, ...]:
        """Returns the one of :meth:`openings` that stands for the deal ``drawn``."""

    def describe(self, setup: Setup, drawn: Sequence[int]) -> str:
        """Returns the deal ``drawn`` in one line: two deals have the same line just where the rules do not tell them apart."""

    def resample(
        self, setup: Setup, opening: Any, table: Any, plies: Sequence[tuple[int, int]], seat: int, state: int
    ) -> tuple[list[int], list[int]]:
        """Returns the draws and the actions of a round that ``seat`` cannot distinguish from the one at ``table``.

        That round began with the table ``opening`` and is not over; ``plies`` are the seat and the action of each ply so far.
        The result is uniform over the rounds in which ``seat`` has observed the same at every ply and has taken the same actions.
        It is drawn from a generator with the state ``state``, an unsigned 64-bit integer.
        """


def list_openings(chance: Chance, setup: Setup, limit: int) -> list[tuple[tuple[int, ...], int]] | None:
    """Returns the openings of ``chance``, as :meth:`Chance.openings` yields them; None where there are more than ``limit``."""
    if chance.extent(setup).openings > limit:
        return None
    listed = list(islice(chance.openings(setup), limit + 1))
    return listed if len(listed) <= limit else None


class History(TypedDict, total=False):
    """How a table came to be: the log of its current round (``engine.log.PlyLog.round``)."""

    opening: Any
    """The table as the round was dealt; without it there is no history."""
    actions: Sequence[int]
    """The action of each ply since, forced ones too."""


class Pictures(Protocol):
    """What is seen of one game's tables: scenes, which are plain data, and SVG documents, from which pixels and films are made.

    A scene is a frozen dataclass of numbers, texts, None, and tuples and dataclasses of these. It holds nothing that its seat may
    not know.
    """

    ARTWORK: Path
    """The folder with the SVG files that its pictures are made of."""

    def language_of(self, name: str) -> Any:
        """Returns the game's texts in a language; its ``words`` and ``labels`` are dataclasses."""

    def seen_by(self, setup: Setup, table: Any, seat: int | None, **history: Unpack[History]) -> Any:
        """Returns the scene at ``table`` as ``seat`` sees it; None is a spectator, who sees every card."""

    def public(self, seen: Any) -> Any:
        """Returns the scene of a seat without what that seat alone knows: what everybody at the table sees."""

    def playable(self, seen: Any, legal: Sequence[int]) -> list[tuple[int, Any]]:
        """Returns the ``legal`` actions that play a card of the viewer, each with the card, as the scene names it.

        Cards that the rules do not tell apart have the same action.
        """

    def scenes(self, setup: Setup, body: Mapping[str, Any], seat: int | None = None, *, part: int | None = None) -> Iterator[Any]:
        """Yields the scene of the opening and one after each ply of a verified record with this ``body``; ``part``: of one round.

        Raises :class:`~nainjaune_env.core.errors.RecordError` for a round that the record does not have.
        """

    def svg(
        self,
        setup: Setup,
        table: Any,
        seat: int | None = None,
        *,
        language: str = "en",
        names: Sequence[str] | None = None,
        you: int | None = None,
        **history: Unpack[History],
    ) -> str:
        """Returns the table as an SVG document as ``seat`` sees it, with the arguments of ``GameSpec.render_text``.

        ``names`` are the players', in seat order. Every picture of a game has the same size; equal scenes give equal bytes.
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
        """Yields a picture of each of :meth:`scenes`."""


DETAILS = 5
"""The most numbers in a sentence that refuses rules."""


def accept_rules(knobs: Any, rules: Any, whole_match: Any, details: Any) -> Any:
    """Returns 0: all values of the knobs go together."""
    return 0


@dataclass(frozen=True)
class GameSpec:
    """A game: its required parts, those with defaults, and its hooks."""

    package: str
    """The package that defines it: ``__name__`` in its ``__init__``. Its hooks are modules of this package."""
    title: str
    presets: Mapping[str, Preset]
    default_preset: str
    default_players: int
    kernel: ModuleType
    """Its kernel functions (``core.kernel``): a module or :func:`~nainjaune_env.core.kernel.join_kernel` of several.

    Read from a spec, it has the optional functions too.
    """
    table: np.dtype[Any]
    """The structured dtype of one table (elements are ``np.record``)."""
    actions: tuple[str, ...]
    """Names of the actions by number; at most 63."""
    unit: str
    """What payoffs count, in the plural: chips, cards."""
    compile_rules: Callable[[Any, Any], NamedTuple]
    """``(knobs, players)``, with ``knobs`` as ``Rules.numbers`` has them, as a named tuple of integers (and tuples of them).

    It is the ``rules`` of the kernel. Modules for other programs compile this function too, which therefore calls no other.
    """
    layout: Callable[[int], Layout]
    """The features of an observation with that many seats."""

    start_values: Mapping[str, int] = field(default_factory=dict)
    """Names and lengths of the values that a match may start with, in the order in which ``set_start_values`` reads them."""
    refusals: tuple[str, ...] = ()
    """Sentences for knobs that do not go together, with places ``{0}``, ``{1}`` … for numbers."""
    refuse_rules: Callable[[Any, Any, Any, Any], Any] = accept_rules
    """``(knobs, rules, whole_match, details)``: the number of the sentence from 1 that refuses them, else 0; compiled likewise.

    ``rules`` are compiled. The numbers in the sentence are written to ``details (5,) int64``.
    """
    events: type[IntEnum] = Ply
    """The kinds of events that the kernel's ``tell`` writes (``core.events``)."""
    event_memory: int = 0
    """The length of ``core.events.Events.memory``."""
    max_events: int = 1
    """The most events of a ply or of an opening."""
    check_match: Callable[[Any], None] = lambda rules: None
    """Raises :class:`RulesError` where these rules give a match no end. By default every match ends."""
    single_round: Callable[[Any], Any] = lambda rules: rules
    """Returns these rules with a match of one round, under which a round played by itself is recorded. By default unchanged."""
    table_invariants: Callable[[Setup, NDArray[Any]], Iterator[Invariant]] = lambda setup, rows: iter(())
    """Yields what the rules say of every table, for the check of tables ``rows (K,)`` that come from outside.

    ``stage`` and ``seat`` are checked before, so they are in range. By default nothing else is checked.
    """
    chance_fields: tuple[str, ...] | None = None
    """The fields of a table that the start of a match or a deal sets by chance or from start values; ``rng`` need not be named.

    All others follow from the round before, and generic records are checked for them. None: this is not known of any field.
    """
    rewind: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]] | None = None
    """``rewind(openings, tables)``: for each of ``tables (N,)``, the table after the deal from which the same play leads to it.

    ``openings (N,)`` begin the same rounds with other hidden cards, such as the true ones of determinizations. A table is
    its own opening, ``rewind(t, t) == t``, just where no ply has been made. A game has this only if every seat sees every action;
    then agents may get the plies of a round (``engine.history``).
    """

    transcriber = Hook[Transcriber]("records.write", Transcriber)
    """Records and their text; None: the generic ones (``records.generic``)."""
    chance = Hook[Chance]("chance", Chance)
    """The chance events of a deal and their probabilities."""
    render_text = Hook[Callable[..., str]]("view.text", name="render_text")
    """``render_text(setup, table, seat, *, language, color, you, **history)``: the table as text as ``seat`` sees it.

    ``seat`` None is a spectator, who sees everything; ``color``: with a terminal's colours; ``you``: the seat of the reader, whom
    the text addresses. ``history`` is a :class:`History`.
    """
    pictures = Hook[Pictures]("view.pictures", Pictures)
    """Tables as SVG, and records as films."""
    speaker = Hook[Callable[..., Speaker]]("language.speaking", name="Speaker")
    """``Speaker(setup, opening, seat, language, *, names, you)``: a match that begins with the table ``opening``, in words.

    It calls the seats by the players' ``names``, and ``you``, the seat of the reader, "you".
    """
    seat_words = Hook[SeatWords]("language.seat", SeatWords)
    """Single decisions in words, for players that read: rules, table and moves (``nainjaune_env.text``)."""
    measures = Hook[Measures]("research.statistics", Measures)
    """Statistics of play, for reports."""
    advice = Hook[AdviceHooks]("research.advice", AdviceHooks)
    """Hooks for advice; they require ``measures``."""
    features = Hook[FeatureHooks]("research.features", FeatureHooks)
    """Columns that describe positions and actions, for studies of play; they require ``measures``."""

    @property
    def name(self) -> str:
        """The name of its folder, the last part of ``package``."""
        return self.package.rpartition(".")[2]

    def __repr__(self) -> str:
        """Returns the same text in every process: errors and tests show it."""
        return f"<GameSpec {self.name}>"

    def __post_init__(self) -> None:
        if len(self.actions) > self.MAX_ACTIONS:
            raise GameError(
                f"{self.name}: a set of actions is one 64-bit integer, so at most 63 actions, not {len(self.actions)}"
            )
        names = self.table.names or ()
        for name in names:
            # with the compiler switched off, numpy's own attribute of that name would be read in place of the field
            if hasattr(np.record, name):
                raise GameError(f"{self.name}: a table's field cannot be called {name!r}, as every NumPy record has one")
        # kernels on a GPU copy a table in words of 8 bytes, and read the fields of any other table byte by byte
        if self.table.type is not np.record or not self.table.isalignedstruct or self.table.itemsize % 8:
            how = "np.dtype((np.record, np.dtype(fields, align=True)))"
            raise GameError(f"{self.name}: a table is an aligned record of whole 8-byte words: {how}")
        if padding := _padding(self.table):
            places = " and ".join(f"of {size} byte{'s' * (size > 1)} behind {name!r}" for name, size in padding)
            raise GameError(
                f"{self.name}: a table has no bytes between or behind its fields, as NumPy does not copy them: "
                f"add a field {places}, such as ('spare', np.uint8, ({padding[0][1]},))"
            )
        for name, kind in {"rng": np.uint64, "seat": np.signedinteger, "stage": np.signedinteger}.items():
            given: Any = self.table[name] if name in names else "no such field"
            if name not in names or not np.issubdtype(given, kind):
                raise GameError(f"{self.name}: expected a table to have the field {name!r} ({kind.__name__}), not {given}")
        from nainjaune_env.core.kernel import complete_kernel  # numba is loaded with the first game, not with this module

        complete = complete_kernel(self.name, self.kernel, has_start_values=bool(self.start_values))
        object.__setattr__(self, "kernel", complete)

    MAX_ACTIONS: ClassVar[int] = 63

    def kernel_rules(self, rules: Rules, players: int) -> NamedTuple:
        """Returns the rules as the kernel takes them; raises :class:`RulesError` where they do not go together."""
        knobs = rules.numbers()
        compiled = self.compile_rules(knobs, players)
        if getattr(compiled, "players", None) != players:
            raise GameError(f"{self.name}: expected compile_rules to return {players} as 'players', not {quoted(compiled)}.")
        details = np.zeros(DETAILS, np.int64)
        if number := self.refuse_rules(knobs, compiled, False, details):
            raise RulesError(self.refusals[number - 1].format(*details))
        return compiled

    def setup(self, preset: str | None = None, players: int | None = None, **knobs: Any) -> Setup:
        """Returns a setup from a preset, a number of seats, and knobs that replace the preset's.

        Raises :class:`RulesError` for an unknown preset or knob, and for a value or a number of seats that is not allowed.
        """
        preset = check_name("preset", self.default_preset if preset is None else preset, self.presets)
        rules, allowed = self.presets[preset].rules, self.presets[preset].players
        if players is None:
            players = self.default_players if self.default_players in allowed else allowed[0]
        if isinstance(players, bool) or not isinstance(players, int | np.integer) or players not in allowed:
            raise RulesError(f"The preset {preset!r} is for {allowed[0]} to {allowed[-1]} players, not {quoted(players)}.")
        return Setup(self, preset, rules.replace(**knobs), int(players))


def _padding(table: np.dtype[Any]) -> list[tuple[str, int]]:
    """Returns the fields of a structured type that bytes of no field follow, and how many."""
    fields = sorted((offset, kind.itemsize, name) for name, (kind, offset, *_) in (table.fields or {}).items())
    ends = [offset for offset, _, _ in fields[1:]] + [table.itemsize]
    return [(name, end - at - size) for (at, size, name), end in zip(fields, ends, strict=True) if end > at + size]


@dataclass(frozen=True)
class Setup:
    """A game with fixed rules and number of seats; every batch, environment and record has one."""

    game: GameSpec
    preset: str
    rules: Rules
    players: int

    def __post_init__(self) -> None:
        _ = self.kernel_rules  # compiled now, so that rules that do not fit the number of seats are refused at once

    @functools.cached_property
    def kernel_rules(self) -> NamedTuple:
        """The rules as the kernel's named tuple."""
        return self.game.kernel_rules(self.rules, self.players)

    @functools.cached_property
    def layout(self) -> Layout:
        """The features of an observation."""
        return self.game.layout(self.players)

    @property
    def knobs(self) -> dict[str, Any]:
        """The knobs that differ from the preset, with their values."""
        preset = self.game.presets[self.preset].rules
        return {name: value for name in self.rules.names() if (value := getattr(self.rules, name)) != getattr(preset, name)}

    def same_round(self, other: Setup) -> bool:
        """Returns whether both have the same rules of a round; what ends a match and how a table is drawn may differ."""
        if self.game is not other.game or self.players != other.players:
            return False
        one, two = (setup.game.kernel_rules(setup.game.single_round(setup.rules), setup.players) for setup in (self, other))
        return one == two

    def check_tables(self, rows: NDArray[Any]) -> None:
        """Checks ``rows``, one record or ``(K,)``, that come from outside: compiled code relies on their fields.

        Raises :class:`~nainjaune_env.core.errors.DealError`, which names a field, unless all are safe to play on.
        """
        check_rows(np.atleast_1d(rows), self.players, functools.partial(self.game.table_invariants, self))

    def to_dict(self) -> dict[str, Any]:
        """Returns ``game``, ``preset``, ``rules`` and ``players``, as in a record's head."""
        return {"game": self.game.name, "preset": self.preset, "rules": self.rules.to_dict(), "players": self.players}


def check_setup(given: object) -> Setup:
    """Returns ``given`` if it is a setup; raises :class:`RulesError` for anything else, such as the name of a preset."""
    if not isinstance(given, Setup):
        raise RulesError(f"Expected the rules of a table as make_setup() returns them, not {quoted(given)}.")
    return given
