"""What a game says to a person at its table, and what it understands: the protocol behind ``GameSpec.speaker``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

LANGUAGES = ("en", "fr")
"""The languages that every game speaks."""


class Said(NamedTuple):
    """Something that happened at the table, in words. What one seat does and says in a row is told on one line."""

    seat: int | None
    """Who did it; None: nobody in particular, and it stands on a line by itself."""
    text: str


class Speaker(Protocol):
    """One match, told to the person in one seat, in one language; and what that person types, understood.

    It is made from a table fresh from a match's first deal and then told of every ply and every deal. It holds the whole table,
    and tells of it what the seat may know and nothing else; only :meth:`settled` tells more, when a round is over.
    """

    @property
    def topics(self) -> Mapping[str, str]:
        """What may be asked at any time: the word to type, and what one is told then."""
        ...

    def rules(self) -> str:
        """The rules that are played, in short."""
        ...

    def begun(self) -> list[str]:
        """The round that has just been dealt, in a line or two."""
        ...

    def ply(self, action: int) -> list[Said]:
        """The seat at turn takes ``action``, which must be legal: what is to be seen and heard of it."""
        ...

    def dealt(self) -> None:
        """The match goes on with the next round, dealt by the table's own generator."""
        ...

    def menu(self, width: int) -> list[str]:
        """What the seat at turn, which is the listener's, may do, with what to type for it; lines of at most ``width``."""
        ...

    def typed(self, action: int) -> str:
        """What to type for a legal action: :meth:`parse` gives the action back."""
        ...

    def parse(self, text: str) -> int:
        """The action that ``text`` means to the seat at turn, which is the listener's.

        Raises :class:`~nainjaune_env.core.errors.IllegalActionError`, with a sentence for the person, where it means none, or one
        that is not legal.
        """
        ...

    def echo(self, action: int) -> str:
        """What the listener is about to do, in a few words: for him to see whether he meant it."""
        ...

    def reveals(self, action: int) -> bool:
        """Whether that ply of the listener's own would show him something that he could not know before."""
        ...

    def about(self, topic: str) -> list[str] | None:
        """Lines on one of the :attr:`topics`, in any language's word for it; None where ``topic`` is no such word."""
        ...

    def settled(self) -> list[str]:
        """How the round ended, once it has: who is paid what, and what everybody still held."""
        ...

    def amount(self, number: int) -> str:
        """So many of what payoffs count: ``1 chip``, ``12 chips``."""
        ...

    def paint(self, text: str) -> str:
        """``text`` with a terminal's colours."""
        ...
