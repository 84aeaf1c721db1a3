"""The options of episodes, an argument of the compiled loops."""

from __future__ import annotations

from typing import NamedTuple


class EpisodeOptions(NamedTuple):
    """The options of episodes, all integers for the compiler.

    The class is not in ``loops``, which is instantiated for each game: numba identifies a named tuple by its class name and
    fields, would confuse the classes of two games, and resolve every call in Python, which takes 30 times as long as a step of
    one table.
    """

    whole_match: int
    """1 = an episode is a match, 0 = a round."""
    carry: int
    """1 = the next round continues the match (pots, stacks, dealer), 0 = every round is the first of a new match."""
    skip_forced: int
    """1 = plies that need no decision (``kernel.needs_decision``) are made by the environment."""
    autoreset: int
    """1 = a finished table begins its next episode at once, 0 = it rests until it is reset."""
    observe: int
    """1 = write ``observation`` and ``mask``."""
