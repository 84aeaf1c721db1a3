"""The protocol of ``GameSpec.speaker``: describes a match to a person in words, and parses what they type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

LANGUAGES = ("en", "fr")
"""The languages that every game speaks."""


class Utterance(NamedTuple):
    """An event in words; adjacent events of the same seat are shown on one line."""

    seat: int | None
    """The seat that acted; None: no seat, and the text is a line of its own."""
    text: str


class Speaker(Protocol):
    """Describes one match to the person in one seat (the listener) in one language, and parses their input.

    It is made from the table after a match's first deal, and :meth:`ply` and :meth:`dealt` are called for every ply and deal. It
    knows the whole table but reveals only what the seat may know; :meth:`settled` alone reveals all, when a round is over.
    """

    @property
    def names(self) -> Sequence[str]:
        """The players' names in seat order, each different; empty where they are not known."""

    @property
    def topics(self) -> Mapping[str, str]:
        """The topics of :meth:`about`: the word to type, and a description of the answer."""

    def rules(self) -> str:
        """Returns a summary of the rules."""

    def typing(self) -> list[str]:
        """Returns how to type a move, for whoever does not choose it with a button."""

    def begun(self) -> list[str]:
        """Returns one or two lines on the round that was just dealt."""

    def ply(self, action: int) -> list[Utterance]:
        """Makes a ply of the seat to act, by a legal ``action``; returns what the listener sees and hears of it."""

    def dealt(self) -> None:
        """Goes on with the next round of the match, dealt by the table's own generator."""

    def menu(self, width: int) -> list[str]:
        """Returns what the listener, who is at turn, may do, with what to type for it; lines of at most ``width``."""

    def typed(self, action: int) -> str:
        """Returns what to type for a legal action: :meth:`parse` gives the action back."""

    def parse(self, text: str) -> int:
        """Returns the action that ``text`` means; it is the listener's turn.

        Raises :class:`~nainjaune_env.core.errors.IllegalActionError`, with a sentence for the listener, if it means no
        action or an illegal one.
        """

    def echo(self, action: int) -> str:
        """Returns a short description of the listener's action, by which they can check that they were understood."""

    def reveals(self, action: int) -> bool:
        """Returns whether this action of the listener would reveal something to them that they cannot know before."""

    def about(self, topic: str) -> list[str] | None:
        """Returns lines on one of the :attr:`topics`, named in any language; None for an unknown topic."""

    def settled(self) -> list[str]:
        """Returns lines on the end of a round that is over: all payments, and the cards left in all hands."""

    def amount(self, number: int) -> str:
        """Returns an amount of the game's unit: ``1 chip``, ``12 chips``."""

    def paint(self, text: str) -> str:
        """Returns ``text`` with a terminal's colours."""


class SeatWords(Protocol):
    """Describes single decisions to players that read words: a module with these names (``GameSpec.seat_words``).

    A ``table`` is a record redacted (``kernel.redact``) for its seat to act, which is the reader. Nothing else is read, so no
    text depends on what that seat may not know. Seats have their numbers; the caller says who sits there.
    """

    def first_number(self, setup: Any) -> int:
        """Returns the number of action 0; the others follow. It agrees with numbers in the names of moves."""

    def rules(self, setup: Any, language: str, *, long: bool) -> list[str]:
        """Returns the rules under these knobs, in paragraphs: all that matter at this table, or in short what differs."""

    def describe(self, setup: Any, table: Any, language: str) -> list[tuple[str, str]]:
        """Returns headings with texts; the first says which seat is to act, and on what."""

    def details(self, setup: Any, table: Any, language: str) -> list[tuple[str, str]]:
        """Returns headings with texts of what else the seat may know."""

    def named(self, table: Any, action: int, language: str) -> str:
        """Returns the name of a legal action; all legal actions of a table have different ones."""

    def note(self, setup: Any, table: Any, action: int, language: str) -> str:
        """Returns what follows from a legal action, in a few words; empty where nothing need be said."""

    def heard(
        self, setup: Any, opening: Any, plies: Iterable[tuple[int, int]], seat: int, language: str
    ) -> list[list[Utterance]]:
        """Returns what ``seat`` has seen of each of ``plies``: the seat and the action of every ply of the round so far.

        ``opening`` is the table after the deal. Where every seat sees every action (``GameSpec.rewind``) it may be redacted.
        """
