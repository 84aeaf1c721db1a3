"""The kinds of events of a game (``core.events``); ``events.toml`` says how texts spell their columns."""

from __future__ import annotations

from enum import IntEnum


class Event(IntEnum):
    """The kinds, with their columns. A set of seats has bit s for seat s."""

    LOOK = 0
    """``SEAT`` looks at its cards (B4.2)."""
    PLAY = 1
    """``SEAT`` plays the value ``CARD`` face up from the slot ``PILE``, which only it may know (B2.1)."""
    COMMIT = 2
    """``SEAT`` puts the value ``CARD`` from the slot ``PILE`` face down: only it may know them, and it the slot alone where it
    must remember its cards (B2.3, B4)."""
    SHOW = 3
    """The cards of a battle are turned up (B2.3): the value of seat s is ``CARDS >> 4 * s & 15``, 0 for none. ``OTHER`` leads."""
    BATTLE = 4
    """The seats ``CARDS``, in order from ``OTHER``, tie for the highest card ``CARD`` (B2.3)."""
    DROP = 5
    """``SEAT`` ties and has no card left for a battle (B2.4)."""
    TAKE = 6
    """``SEAT`` takes the ``PAID`` cards of the trick and has won ``DUE`` now (B2.2)."""
    SHARE = 7
    """The seats ``CARDS`` take ``PAID`` cards each; ``PILE`` are nobody's (B2.4)."""
    NOBODY = 8
    """Nobody takes the ``PAID`` cards of the trick (B2.4)."""
    LEFT = 9
    """``SEAT`` keeps the ``PAID`` cards in front of it at the end (B3.1)."""
