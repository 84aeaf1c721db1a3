"""The kinds of events of a round (``core.events``); ``events.toml`` says how texts spell their columns."""

from __future__ import annotations

from enum import IntEnum


class Event(IntEnum):
    """The kinds, with their columns. Chips go from ``SEAT``, or to it where that is said; ``DUE`` is what ``PAID`` should be."""

    ROUND = 0
    """A round begins (N2.2): ``SEAT`` leads, ``OTHER`` deals; ``PILE`` is its number."""
    ANTE = 1
    """``SEAT`` pays its antes into the pots (N2.1)."""
    PLAY = 2
    """``SEAT`` plays the card ``CARD`` (N2.3–N2.5); ``PILE`` is 1 for a lead."""
    CAPTURE = 3
    """``SEAT`` takes ``PAID`` chips from the pot ``PILE`` by its card (N2.7)."""
    SILENT = 4
    """``SEAT`` has played the card of the pot ``PILE`` silently and pays into it (N2.7)."""
    KING = 5
    """``SEAT`` has played a King and leads again (N2.3)."""
    OUT = 6
    """``SEAT`` has no card left: the round is over (N2.8)."""
    STOP = 7
    """``SEAT``, which played last, does not go on with the rank ``CARD`` (N2.5)."""
    PASS = 8
    """``SEAT`` does not take over with the rank ``CARD`` (N2.5)."""
    BLOCKED = 9
    """Nobody played the rank ``CARD``: ``OTHER`` goes on with the rank ``PILE``, or leads where that is 0 (N2.6)."""
    OPERA = 10
    """``SEAT`` has made a grand opéra and takes ``PAID`` chips from all pots (N3.1)."""
    PAYS = 11
    """``SEAT`` pays the winner ``OTHER`` for the cards ``CARDS`` left in its hand (N3.2)."""
    STRANDED = 12
    """``SEAT`` pays into the pot ``PILE``, whose card ``CARD`` it still holds (N3.3)."""
