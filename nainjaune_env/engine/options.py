"""How plies make episodes: the one argument of the compiled loops that is the same for every game."""

from __future__ import annotations

from typing import NamedTuple


class EpisodeOptions(NamedTuple):
    """How plies make episodes; all integers, for the compiler.

    It stands apart from the loops, which are made anew for each game: at a call numba recognises a named tuple by its name and
    what it holds. Of two classes that are alike in both it takes the second for the first, finds no function compiled for that,
    and looks the call up again in Python, each time, which takes thirty times as long as a step of one table.
    """

    whole_match: int
    """1 = an episode is a match, 0 = a round."""
    carry: int
    """1 = the next round episode goes on with the match (pots, stacks, dealer), 0 = every round is a fresh match's first."""
    skip_forced: int
    """1 = plies that the game need not ask for (``needs_decision``: a single legal action) are made without asking."""
    autoreset: int
    """1 = a finished table begins its next episode at once, 0 = it rests until it is reset."""
    observe: int
    """1 = write ``observation`` and ``mask``."""
