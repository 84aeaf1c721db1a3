"""Looks for hidden information in what an environment of any library shows: PettingZoo's AEC form, or an OpenSpiel game.

What a seat does not know is dealt again in a copy, and the seat's view must stay the same.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from nainjaune_env.core.errors import GameError, LeakError
from nainjaune_env.core.validation import check_seed, check_whole
from nainjaune_env.envs.leak_views import AecViews, GameViews, Picture, Redeal, View, differences

ALL_OF_FIRST = 20
"""Decisions of an episode that are all looked at; decision d after them is looked at with probability 20 / d."""
MAX_DECISIONS = 10_000
"""Decisions after which an episode is left."""
UNREACHED = (
    "Dealing again for some seat never changed it for another: it shows nothing hidden, or dealing again does not reach it."
)


@dataclass(frozen=True)
class LeakReport:
    """What :func:`check_no_leak` compared without a difference."""

    positions: int
    """Views that were compared, each of a seat at a decision."""
    seats: tuple[Any, ...]
    judged: tuple[str, ...]
    """Channels in which a leak would have shown."""
    not_judged: dict[str, str]
    """Channel -> the sentence that says why nothing follows for it."""

    def __str__(self) -> str:
        """Returns the report as sentences, one a line."""
        seats, judged = ", ".join(map(str, self.seats)), ", ".join(self.judged) or "no channel"
        line = f"{self.positions} views of the seats {seats} were compared, and no leak showed. Judged: {judged}."
        return "\n".join([line, *(f"Not judged: {channel}. {why}" for channel, why in self.not_judged.items())])


def check_no_leak(
    env: Any, redeal: Redeal | None = None, *, picture: Picture | None = None, episodes: int = 20, seed: int = 0
) -> LeakReport:
    """Plays random episodes and checks that no seat's view changes when all that the seat does not know is dealt again.

    ``env`` is a PettingZoo AEC environment or an OpenSpiel game. ``redeal(env, agent, rng)`` gets a deep copy of the environment,
    deals again what ``agent`` does not know, in place or returning the new environment, and brings up to date what is stored,
    such as ``infos``. For a game it is ``redeal(state, player, rng)``; if it is None, its ``resample_from_infostate`` is called.
    ``rng`` is a ``numpy.random.Generator``. ``picture(env, agent)``, or ``picture(state, player)``, returns a further view: a
    text, an array, or a tuple of such.

    The channels of an AEC environment are ``observation``, ``mask`` (the observation's ``action_mask``), ``infos`` (which keys
    there are), ``infos['key']`` for every key, and ``picture``. Those of a game are the tensors and strings that
    ``game.get_type()`` provides, the ``legal_actions`` of the player at turn, and ``picture``. Every seat that is still in play
    is looked at, at turn or not. To bound the time, the first 20 decisions of an episode are all looked at, and decision d after
    them with probability 20 / d; an episode is left after 10,000. Episode k has the seed ``seed + k``: ``episodes=1`` with the
    seed in a message plays it again.

    A channel is judged if for every seat dealing again changed it for another one, or if it is the same in every view of two or
    more episodes.
    The report lists the others in ``not_judged``. What this cannot see are leaks through timing, through which seat is asked
    next, through rewards, and through stored state that ``redeal`` leaves as it was and that observations depend on.

    Returns a :class:`LeakReport`. Raises :class:`LeakError` with each channel that leaks and its first example,
    :class:`GameError` for an environment that cannot be reset with a seed, copied or dealt again, and :class:`DealError` for
    ``episodes`` or a ``seed`` that is not a whole number in its range.
    """
    count, first = check_whole("The number of episodes", episodes, low=1), check_seed(seed)
    views = (GameViews if hasattr(env, "new_initial_state") else AecViews)(env, redeal, picture)
    notes = _Notes()
    for number in range(first, first + count):
        rng = np.random.default_rng(number)
        for decision, (position, seats) in enumerate(islice(views.decisions(number, rng), MAX_DECISIONS), 1):
            if decision > ALL_OF_FIRST and rng.random() * decision > ALL_OF_FIRST:
                continue
            before = {seat: copy.deepcopy(views.view(position, seat)) for seat in seats}  # play may change its arrays
            for seat in seats:
                if decision == 1:
                    _check_copy(before[seat], views.view(views.copied(position), seat))
                again = views.dealt_again(position, seat, rng)
                where = f"{views.named(seat)} at decision {decision} of the episode of seed {number}"
                notes.compare(before[seat], views.view(again, seat), where)
                reached = notes.reached.setdefault(seat, set())
                for other in seats:
                    if other != seat and not reached >= before[other].keys():
                        reached.update(differences(before[other], views.view(again, other, without=reached)))
            notes.seats.update(dict.fromkeys(seats))
    return notes.report(several=count > 1, pictured=picture is not None)


def _check_copy(before: View, copied: View) -> None:
    if unlike := differences(before, copied):
        raise GameError(f"A copy of a position is expected to show what the position does, not another {', '.join(unlike)}.")


class _Notes:
    """What the comparisons so far say of the channels."""

    def __init__(self) -> None:
        self.seats: dict[Any, None] = {}
        self.positions = 0
        self.views: Counter[str] = Counter()
        """Views that have the channel."""
        self.first: View = {}
        self.varied: set[str] = set()
        """Channels of which some view is unlike the first."""
        self.reached: dict[Any, set[str]] = {}
        """By seat: channels that dealing again what it does not know changed for another seat."""
        self.leaking: Counter[str] = Counter()
        """Views in which dealing again changed the channel."""
        self.examples: dict[str, str] = {}
        """The first of these, by channel."""

    def compare(self, before: View, after: View, where: str) -> None:
        """Notes a seat's view and what dealing again changed in it."""
        self.positions += 1
        self.views.update(before.keys())
        self.first = before | self.first
        same_so_far = before.keys() - self.varied
        self.varied |= differences(*({channel: view[channel] for channel in same_so_far} for view in (before, self.first))).keys()
        for channel, difference in differences(before, after).items():
            self.examples.setdefault(channel, f"{where}, {difference}")
            self.leaking[channel] += 1

    def report(self, several: bool, pictured: bool) -> LeakReport:
        """Returns the report; raises :class:`LeakError` where dealing again changed a view."""
        if not self.positions:
            raise GameError("Episodes are expected to have decisions, and none came.")
        if self.examples:
            sentences = (
                f"{channel} shows what is hidden at {self.leaking[channel]} of {self.positions} views, first to {example}."
                for channel, example in self.examples.items()
            )
            raise LeakError(" ".join(sentences))
        constant = {channel for channel, views in self.views.items() if several and views == self.positions} - self.varied
        reached = set.intersection(*self.reached.values())
        judged = tuple(channel for channel in self.views if channel in reached | constant)
        not_judged = {channel: UNREACHED for channel in self.views if channel not in judged}
        if not pictured:
            not_judged["picture"] = "No `picture` was given."
        return LeakReport(self.positions, tuple(self.seats), judged, not_judged)
