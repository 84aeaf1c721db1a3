"""A table at which a person sits: dealing, plies, events in words, pictures, undo and records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.core.errors import ConfigError, RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Said, Speaker
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch, legal_actions, loops_of
from nainjaune_env.records.record import Record, record_of

from ..seeds import Stream, generator


class _Before(NamedTuple):
    """The state before a decision of the person, for undo."""

    batch: dict[str, NDArray[Any]]
    payoff: NDArray[np.int64]
    plies: int
    """Number of plies of the round so far."""


class PersonsTable:
    """One table, stepped ply by ply: the rounds of one match, or with ``by_rounds`` single rounds.

    The first deal is that of ``Batch(setup, 1, seed=seed)``; the agents' generators derive from the seed, too. Agents and the
    person act where the game needs a decision; forced plies are made automatically.
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
        game, n = setup.game, setup.players
        if game.speaker is None or game.draw is None:
            raise RulesError(f"{game.title} has no texts or no pictures, so no person can play it.")
        if not 0 <= seat < n:
            raise RulesError(f"The person's seat is from 0 to {n - 1}, not {seat!r}.")
        if not by_rounds:
            game.check_match(setup.rules)
        self.setup = setup
        self.seat = seat
        self.seed = seed
        self.language = language
        self.by_rounds = by_rounds
        self.every_ply = every_ply
        self.payoff = np.zeros(n, np.int64)
        """Each seat's payoff of this round, shape (n,)."""
        self._batch = Batch(setup, 1, seed=seed, skip_forced=False, autoreset=False)
        sits = np.array([[-1 if s == seat else s - (s > seat) for s in range(n)]])
        chance = [generator(seed, Stream.PERSON, number) for number in range(n - 1)]
        self._seats = SeatAssignment(self._batch, others, sits, lambda number, _: chance[number])
        self._past: list[list[int]] = []
        """The plies of each round of finished matches."""
        self._begin()
        self._before: list[_Before] = []
        """States before the decisions that can be undone, first to last."""

    def _begin(self) -> None:
        """Start a match whose first round the batch has dealt."""
        self._opening = self._batch.tables[0].copy()
        self._rounds: list[list[int]] = [[]]
        """The plies of each round of this match."""
        self.speaker = self._new_speaker()

    def _new_speaker(self) -> Speaker:
        assert self.setup.game.speaker is not None
        return self.setup.game.speaker(self.setup, self._opening, self.seat, self.language, self._card_rng())

    def deal(self) -> None:
        """Deal the next round of the match, or of a new match if that is over."""
        if self.match_over:
            self._past += self._rounds
            self._batch.reset()
            self._begin()
        else:
            rows = self._batch.tables.copy()
            loops_of(self.setup.game).deal_one(rows, self.setup.kernel_rules, 0)
            self._batch.set_tables(0, rows, trusted=True)
            self._rounds.append([])
            self.speaker.dealt()
        self._seats.stepped()
        self._before.clear()
        self.payoff[:] = 0

    def _card_rng(self) -> np.random.Generator:
        """Returns a generator for the choice among interchangeable cards (N1.3), always in the same state."""
        return np.random.default_rng(int(self._opening["rng"]))

    @property
    def round_over(self) -> bool:
        """Whether the round is settled."""
        return bool(self._batch.done[0])

    @property
    def match_over(self) -> bool:
        """Whether what a record holds is finished: the match, or the round where it is one by itself."""
        return self.round_over and (self.by_rounds or self._batch.tables["stage"][0] == Stage.MATCH_OVER)

    @property
    def at_turn(self) -> int:
        """The seat to act."""
        return int(self._batch.seat[0])

    @property
    def legal(self) -> list[int]:
        """The legal actions of the seat to act."""
        return legal_actions(int(self._batch.legal[0]))

    @property
    def _needs_decision(self) -> bool:
        """Whether the seat to act has a decision."""
        needs_decision = self.setup.game.kernel.needs_decision
        return bool(needs_decision(self._batch.tables[0], self.setup.kernel_rules, np.int64(self._batch.legal[0])))

    @property
    def waits(self) -> bool:
        """Whether the person is to act."""
        return not self.round_over and self.at_turn == self.seat and (self.every_ply or self._needs_decision)

    @property
    def must_memorise(self) -> bool:
        """Whether the person sees cards for the last time: a decision with a single legal action."""
        return self.waits and self._needs_decision and len(self.legal) == 1

    def run_on(self) -> list[Said]:
        """Play on to the person's next decision or the end of the round; returns the events."""
        events: list[Said] = []
        while not self.round_over and not self.waits:
            if self.at_turn != self.seat:
                self._before.clear()  # the person sees another seat's ply, so nothing can be undone
            events += self._step(self._others_action())
        return events

    def _others_action(self) -> int:
        """Returns the action of the seat to act, which is not the person's to choose."""
        return int(self._seats.actions(np.array([0]))[0]) if self._needs_decision else self.legal[0]

    @property
    def plies(self) -> list[list[int]]:
        """The actions of each round dealt at this table, first to last; the last round may be unfinished."""
        return [*self._past, *self._rounds]

    @property
    def position(self) -> NDArray[Any]:
        """A copy of the table, an array of one, with all hidden cards."""
        return self._batch.tables.copy()

    def repeat(self, action: int) -> None:
        """Makes a ply as it was made in a match that was left.

        Agents decide again, so that their random numbers and states go on as they would have. Raises :class:`ConfigError` if the
        action is illegal or an agent decides otherwise now.
        """
        if self.round_over or action not in self.legal:
            raise ConfigError(f"The match cannot go on: its ply {action} is illegal when it is repeated.")
        if self.waits:
            self.play(action)
            return
        self._before.clear()
        now = self._others_action()
        if now != action:
            raise ConfigError(f"The match cannot go on: the agent in seat {self.at_turn} plays otherwise than it did.")
        self._step(action)

    def play(self, action: int) -> list[Said]:
        """Make the person's ply, which must be legal; returns the events."""
        reveals = self.speaker.reveals(action)
        before = _Before(self._batch.save(), self.payoff.copy(), len(self._rounds[-1]))
        events = self._step(action)
        self._before.append(before)
        if reveals or self.round_over:
            self._before.clear()
        return events

    def _step(self, action: int) -> list[Said]:
        self._batch.step([action])
        events = self.speaker.ply(action)
        self._seats.stepped()
        self._rounds[-1].append(action)
        self.payoff += self._batch.reward[0]
        return events

    def undo(self) -> bool:
        """Undo the person's last decision; returns False, and changes nothing, where that would be unfair.

        It is fair while no other seat has made a ply since and the decision has shown the person nothing new.
        """
        if not self._before:
            return False
        batch, payoff, plies = self._before.pop()
        self._batch.restore(batch)
        self.payoff = payoff
        del self._rounds[-1][plies:]
        self.speaker = self._new_speaker()
        for number, actions in enumerate(self._rounds):
            if number:
                self.speaker.dealt()
            for action in actions:
                self.speaker.ply(action)
        return True

    def picture(self, *, color: bool, everything: bool = False) -> str:
        """Returns the table as the person's seat sees it; with ``everything`` as a spectator does, once the round is over."""
        assert self.setup.game.draw is not None
        seat = None if everything and self.round_over else self.seat
        return self.setup.game.draw(
            self.setup, self._batch.tables[0], seat, language=self.language, color=color, opening=self._opening,
            actions=self._actions, every_ply=True, rng=self._card_rng(),
        )  # fmt: skip

    @property
    def _actions(self) -> list[int]:
        return [action for actions in self._rounds for action in actions]

    def record(self, names: Sequence[str]) -> Record:
        """Returns the record of the finished match or single round, with the players' ``names`` in seat order.

        Raises :class:`~nainjaune_env.core.errors.RecordError` before its end.
        """
        return record_of(
            self.setup, self._opening, self._actions, self._card_rng(), every_ply=True, single_round=self.by_rounds,
            agents=names, seed=self.seed,
        )  # fmt: skip
