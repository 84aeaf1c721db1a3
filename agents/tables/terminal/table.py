"""A table at which a person sits: events in words, pictures and undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError, RulesError
from nainjaune_env.core.illegal import action_name
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Speaker, Utterance

from ...base.seeds import Stream, generator
from ...players.foreign import shown_name
from ...players.program.counting import faults_of
from .match_table import MatchTable


class _Before(NamedTuple):
    """The state before a decision of the person, for undo."""

    plies: int
    """The number of plies of the round so far."""
    payoff: NDArray[np.int64]


class PersonsTable(MatchTable):
    """A table with a person in one seat and agents in the others.

    The agents' generators derive from the seed. Agents and the person act where the game needs a decision; forced plies are made
    automatically.
    """

    def __init__(
        self,
        setup: Setup,
        seat: int,
        others: Sequence[Agent],
        *,
        seed: int,
        language: str,
        by_rounds: bool = False,
        every_ply: bool = False,
    ) -> None:
        """``others`` are the agents in the other seats, in seat order. With ``every_ply`` the person makes forced plies, too.

        Raises :class:`RulesError` if the game has no texts or pictures, a match would have no end, or the seat does not exist.
        """
        if not 0 <= seat < setup.players:
            raise RulesError(f"The person's seat is from 0 to {setup.players - 1}, not {seat!r}.")
        self.seat = seat
        self.language = language
        self.every_ply = every_ply
        rngs = [generator(seed, Stream.PERSON, number) for number in range(setup.players - 1)]
        agents = [*others[:seat], None, *others[seat:]]
        super().__init__(setup, agents, seed=seed, rng=lambda number, _: rngs[number], by_rounds=by_rounds)
        self.undoable: list[_Before] = []
        """States before the decisions that can be undone, first to last."""

    def _begin(self) -> None:
        super()._begin()
        self.speaker = self._speaker()

    def _speaker(self) -> Speaker:
        names = [printable(shown_name(agent.name)) for agent in self._others]
        names.insert(self.seat, "")  # is never shown: the person is "you"
        return self.commentary(self.seat, self.language, names=names, you=self.seat).speaker

    def deal(self) -> None:
        """Deals the next round of the match, or of a new match if that is over."""
        goes_on = not self.match_over
        super().deal()
        if goes_on:
            self.speaker.dealt()
        self.undoable.clear()

    @property
    def waits(self) -> bool:
        """Whether the person is to act."""
        return not self.round_over and self.at_turn == self.seat and (self.every_ply or self.needs_decision)

    @property
    def must_memorise(self) -> bool:
        """Whether the person sees cards for the last time: a decision with a single legal action."""
        return self.waits and self.needs_decision and len(self.legal) == 1

    def run_on(self) -> list[Utterance]:
        """Plays on to the person's next decision or the end of the round; returns the events."""
        events: list[Utterance] = []
        while not self.round_over and not self.waits:
            if self.at_turn != self.seat:
                self.undoable.clear()  # the person sees another seat's ply, so nothing can be undone
            events += self._step(self.agents_action())
        return events

    def repeat(self, action: int) -> None:
        """Makes a ply as it was made in a match that was left.

        Agents decide again, so that their random numbers and states go on as they would have. Raises :class:`ConfigError` if the
        action is illegal or an agent decides otherwise now; not if it is a bot, for which the table may have decided then.
        """
        if self.round_over or action not in self.legal:
            name = action_name(action, self.setup.game.actions)
            raise ConfigError(f"The match cannot go on: its ply is illegal when it is repeated: {name}.")
        if self.waits:
            self.play(action)
            return
        self.undoable.clear()
        agent = self._others[self.at_turn - (self.at_turn > self.seat)] if self.at_turn != self.seat else None
        now = self.agents_action()
        if now != action and faults_of(agent) is None:
            raise ConfigError(f"The match cannot go on: the agent in seat {self.at_turn} plays otherwise than it did.")
        self._step(action)

    def play(self, action: int) -> list[Utterance]:
        """Makes the person's ply, which must be legal; returns the events."""
        reveals = self.speaker.reveals(action)
        before = _Before(int(self._log.count[0]), self.payoff.copy())
        events = self._step(action)
        self.undoable.append(before)
        if reveals or self.round_over:
            self.undoable.clear()
        return events

    def _step(self, action: int) -> list[Utterance]:
        self.make_ply(action)
        return self.speaker.ply(action)

    def undo(self) -> bool:
        """Undoes the person's last decision; returns False, and changes nothing, where that would be unfair.

        It is fair while no other seat has made a ply since and the decision has shown the person nothing new.
        """
        if not self.undoable:
            return False
        before = self.undoable.pop()
        self._batch.undo(to=before.plies)
        self.payoff = before.payoff
        self.speaker = self._speaker()
        return True

    def picture(self, *, color: bool, everything: bool = False) -> str:
        """Returns the table as the person's seat sees it; with ``everything`` as a spectator does, once the round is over."""
        assert self.setup.game.render_text is not None
        seat = None if everything and self.round_over else self.seat
        return self.setup.game.render_text(
            self.setup, self._batch.tables[0], seat, language=self.language, color=color, you=self.seat, **self.history
        )
