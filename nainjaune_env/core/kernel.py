"""The kernel of a game: the functions that state its rules, in the part of Python that numba compiles.

Each is a scalar function over one table (a structured record, ``GameSpec.table``) and ``rules``, the named tuple of
``GameSpec.compile_rules``. A game gives a module that has them, or several modules with :func:`join_kernel`. Optional ones
that it lacks come from this module: :func:`complete_kernel` instantiates them for it.
"""

# ruff: noqa: F821  (`game` is bound when this is instantiated)
from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

from nainjaune_env.compiler.jit import inlined, instantiate, jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.bits import needs_decision as needs_decision
from nainjaune_env.core.errors import GameError
from nainjaune_env.core.events import CARD, CARDS, DUE, HIDDEN, KIND, NO_SEAT, OTHER, PAID, PILE, SEAT, Ply
from nainjaune_env.core.table import Table


class Kernel(Protocol):
    """The functions of a kernel, for readers and type checkers: a module with these names is one."""

    def start(self, table: Table, rules: Any) -> None:
        """Begins a match: stacks, pots, who deals first; no cards yet."""

    def deal(self, table: Table, rules: Any) -> None:
        """Deals the next round of the match; then ``stage`` is PLAYING, before the first ply."""

    def legal(self, table: Table, rules: Any) -> Any:
        """Returns the legal actions of ``table.seat`` as ``int64``, bit a = action a; never 0 while a round is played."""

    def step(self, table: Table, rules: Any, action: Any) -> None:
        """Makes one ply; ``action`` must be legal."""

    def payoffs(self, table: Table, rules: Any, out: Any) -> None:
        """Writes each seat's net result of the round so far into ``out (n,) int32``."""

    def encode(self, table: Table, rules: Any, seat: Any, out: Any) -> Any:
        """Writes what ``seat`` observes into ``out (size,) uint8``; returns the number of bytes written."""

    def redact(self, table: Table, rules: Any, seat: Any) -> None:
        """Wipes from the table all that ``seat`` may not know, the state of the generator too."""

    def resample(self, table: Table, rules: Any, seat: Any) -> None:
        """Fills in what ``redact`` wiped in a round that is being played, uniformly at random over all that fits.

        It is drawn from ``table.rng``, which the caller has set.
        """

    def needs_decision(self, table: Table, rules: Any, legal_bits: Any) -> Any:
        """Returns whether ``table.seat`` decides: always where it has a choice; else where it is shown something, say.

        Optional: by default, where there is more than one legal action.
        """

    def play_forced(self, table: Table, rules: Any, legal_bits: Any) -> None:
        """Makes the one ply of ``legal_bits``, which needs no decision, and may make further ones that need none. Optional."""

    def resample_many(self, tables: Any, rules: Any, seat: Any, memory: Any) -> None:
        """Resamples each of ``tables (N,)``, which differ in ``rng`` alone; ``memory (M,) float64`` may be written over.

        Optional.
        """

    def tell(self, table: Table, rules: Any, action: Any, events: Any) -> None:
        """Makes a ply as :meth:`step` does and writes what happens to ``events`` (``core.events.Events``), a row an event.

        With the action ``OPENING`` it makes none: the table has just been dealt, and the memory of the round begins.
        Optional: by default a ply is one row, ``core.events.Ply``.
        """

    def hide(self, row: Any, rules: Any, viewer: Any) -> None:
        """Sets the columns of an event's ``row (8,)`` that ``viewer``, a seat or ``PUBLIC``, may not know to ``HIDDEN``.

        Optional: by default, with the rows of the default :meth:`tell`, other seats' actions.
        """

    def open_round(self, table: Table, rules: Any) -> None:
        """Begins a round with what chance has put on the table, and what is left of the round before.

        Optional: by default the table is one where this has been done.
        """

    def set_start_values(self, table: Table, rules: Any, values: Any) -> None:
        """Sets the start values (``GameSpec.start_values``) of a match, ``values (k,) int32``, before its first deal.

        Optional where a game has no start values.
        """


@inlined
def note(
    events: Any, kind: Any, seat: Any, other: Any = NO_SEAT, card: Any = 0, pile: Any = 0, paid: Any = 0, due: Any = 0,
    cards: Any = 0,
) -> None:  # fmt: skip
    """Writes a row, if there is space for it; ``events`` is an ``Events``, or None, and then nothing is compiled."""
    if events is not None:
        at = events.written[0]
        if at < events.rows.shape[0]:
            row = events.rows[at]
            row[KIND], row[SEAT], row[OTHER], row[CARD] = kind, seat, other, card
            row[PILE], row[PAID], row[DUE], row[CARDS] = pile, paid, due, cards
        events.written[0] = at + 1


REQUIRED = ("start", "deal", "legal", "step", "payoffs", "encode", "redact", "resample")
"""The kernel functions that every game has."""
OPTIONAL = ("needs_decision", "play_forced", "resample_many", "tell", "hide", "open_round", "set_start_values")
"""The kernel functions with a default, in this module."""

game: Kernel
"""The kernel of the game that the defaults are instantiated for."""


@inlined
def play_forced(table: Table, rules: Any, legal_bits: Any) -> None:
    """Makes the one ply of ``legal_bits``."""
    game.step(table, rules, lowest(legal_bits))


@jit
def resample_many(tables: Any, rules: Any, seat: Any, memory: Any) -> None:
    """Resamples each of ``tables (N,)`` by itself."""
    for i in range(tables.size):
        game.resample(tables[i], rules, seat)


@jit
def tell(table: Table, rules: Any, action: Any, events: Any) -> None:
    """Makes the ply and writes one row: the seat and its action."""
    if action >= 0:
        note(events, Ply.PLY, table.seat, card=action)
        game.step(table, rules, action)


@jit
def hide(row: Any, rules: Any, viewer: Any) -> None:
    """Hides the actions of other seats: a game that does not say what is public shows none of it."""
    if row[SEAT] != viewer:
        row[CARD] = HIDDEN


@jit
def open_round(table: Table, rules: Any) -> None:
    """Does nothing."""


@jit
def set_start_values(table: Table, rules: Any, values: Any) -> None:
    """Does nothing: the game has no start values."""


def join_kernel(*modules: ModuleType) -> ModuleType:
    """Returns one module with the kernel functions of several, as compiled loops bind one; of two, the first module's counts."""
    joined = ModuleType("+".join(module.__name__ for module in modules))
    joined.__dict__["__modules__"] = modules  # its sources, for the cache of compiled code
    for name in (*REQUIRED, *OPTIONAL):
        for module in modules:
            if hasattr(module, name):
                setattr(joined, name, getattr(module, name))
                break
    return joined


def complete_kernel(name: str, kernel: ModuleType, *, has_start_values: bool) -> ModuleType:
    """Returns ``kernel`` with the defaults of the optional functions that it lacks.

    Raises :class:`GameError` in a sentence that lists the functions that the game ``name`` lacks; one that tells its own events
    says itself what is hidden.
    """
    required = REQUIRED if not has_start_values else (*REQUIRED, "set_start_values")
    if missing := [function for function in required if not callable(getattr(kernel, function, None))]:
        raise GameError(f"{name}: the kernel {kernel.__name__} lacks the functions {', '.join(missing)}.")
    if hasattr(kernel, "tell") and not hasattr(kernel, "hide"):
        lacks = "has the function tell, so it also needs hide: what a viewer may know"
        raise GameError(f"{name}: the kernel {kernel.__name__} {lacks}.")
    if all(hasattr(kernel, function) for function in OPTIONAL):
        return kernel
    return join_kernel(kernel, instantiate(__name__, name, game=kernel))
