"""What can be measured: a source of deals, each of which any players can play in any seats.

A payoff depends on the deal, on the players of the seats and on the source alone. So payoffs may be played in any order and
anywhere, are stored once, and every comparison is a sum over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from numpy.typing import NDArray

P = TypeVar("P", contravariant=True)
"""A player: an ``Agent`` of our games, or a callable of another one."""


class Payoffs(NamedTuple):
    """The payoffs of T tables on D deals."""

    payoff: NDArray[Any]
    """Whole numbers ``(D, T, n) int64`` over the source's ``scale``, in its unit."""
    first: NDArray[Any]
    """The seat that acts first on each deal, ``(D,) int64``."""
    rounds: NDArray[Any] | None = None
    """The rounds of matches, ``(D, T) int64``; None where a deal is one round."""
    plain: NDArray[Any] | None = None
    """Payoffs as the rules pay them, ``(D, T, n) int64`` in the unit, where the caller asked for tallies."""
    tallies: NDArray[Any] | None = None
    """Counts of what players did, ``(D, A, C) int64``, where the caller asked for A of them."""


class DealSource(Protocol[P]):
    """Deals by number."""

    @property
    def seats(self) -> int:
        """The number of seats, n."""

    @property
    def scale(self) -> int:
        """Payoffs are whole numbers over it."""

    @property
    def unit(self) -> str:
        """The unit of payoffs, such as ``chips``."""

    @property
    def per(self) -> str:
        """The word for what payoffs are for: ``round``, ``match`` or ``game``."""

    @property
    def heavy(self) -> bool:
        """Whether a few deals may outweigh all others (``stats.differences``)."""

    def heading(self, deals: int) -> str:
        """Returns the line on what was played, over ``deals`` deals."""

    def content(self) -> dict[str, Any]:
        """Returns all that payoffs depend on besides the deal and the players, as JSON values."""

    def play(self, players: Sequence[P], seating: NDArray[Any], first: int, deals: int, *, field: int) -> Payoffs:
        """Plays the same T tables, ``seating (T, n)`` of indices into ``players``, on each deal ``first .. first+deals-1``.

        Payoffs do not depend on other tables and deals. ``field`` is the player that plays the rounds before a deal, where the
        source has such rounds.
        """
