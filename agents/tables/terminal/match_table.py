"""A table stepped ply by ply, with agents and persons in its seats: deals, plies, what a picture and a record are made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng, SeatAssignment
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.speech import Speaker, Utterance
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record, record_of
from nainjaune_env.records.recorder import history_of_round


class Commentary(NamedTuple):
    """A speaker that has followed a match, and the last round in its words."""

    speaker: Speaker
    begun: list[str]
    """The lines on the deal."""
    plies: list[list[Utterance]]
    """The events of each ply."""


class MatchTable:
    """One table: the rounds of one match, or with ``by_rounds`` single rounds.

    The first deal is that of ``Batch(setup, 1, seed=seed)``. Every ply is a step, forced ones too.
    """

    def __init__(
        self,
        setup: Setup,
        agents: Sequence[Agent | None],
        *,
        seed: int,
        rng: Callable[[int, NDArray[np.int64]], Rng],
        by_rounds: bool = False,
    ) -> None:
        """``agents (n,)`` are by seat, None for a person; ``rng`` as in ``SeatAssignment``, by the number among the agents.

        Raises :class:`RulesError` if the game has no texts or pictures, or a match would have no end.
        """
        game = setup.game
        if game.speaker is None or game.render_text is None:
            raise RulesError(f"{game.title} has no texts or no pictures, so no person can play it.")
        if not by_rounds:
            game.check_match(setup.rules)
        self.setup = setup
        self.seed = seed
        self.by_rounds = by_rounds
        self.payoff = np.zeros(setup.players, np.int64)
        """Each seat's payoff of this round, shape (n,)."""
        self._batch = Batch(setup, 1, seed=seed, start="carried", skip_forced=False, autoreset=False, log=True)
        assert self._batch.log is not None
        self._log = self._batch.log
        self._others = [agent for agent in agents if agent is not None]
        taken = [agent is not None for agent in agents]
        sits = np.array([[sum(taken[:seat]) if taken[seat] else -1 for seat in range(setup.players)]])
        self._seats = SeatAssignment(self._batch, self._others, sits, rng)
        self._past: list[list[int]] = []
        """The plies of each round of finished matches."""
        self._begin()

    def _begin(self) -> None:
        """Starts a match whose first round the batch has dealt."""
        self.opening = self._log.round(0).opening
        """The table after the first deal of this match, with all hidden cards."""
        self._finished: list[list[int]] = []
        """The plies of each earlier round of this match."""

    def deal(self) -> None:
        """Deals the next round of the match, or of a new match if that is over."""
        if self.match_over:
            self._past += self._rounds
            self._batch.reset()
            self._begin()
        else:
            self._finished.append(self._this_round)
            self._batch.reset(carry=True)
        self._seats.stepped()
        self.payoff[:] = 0

    @property
    def round_over(self) -> bool:
        """Whether the round is settled."""
        return bool(self._batch.done[0])

    @property
    def match_over(self) -> bool:
        """Whether the content of a record is finished: the match, or the round where it is one by itself."""
        return self.round_over and (self.by_rounds or bool(self._batch.tables["stage"][0] == Stage.MATCH_OVER))

    @property
    def at_turn(self) -> int:
        """The seat to act."""
        return int(self._batch.seat[0])

    @property
    def legal(self) -> list[int]:
        """The legal actions of the seat to act."""
        return legal_actions(int(self._batch.legal[0]))

    @property
    def needs_decision(self) -> bool:
        """Whether the seat to act has a decision."""
        needs_decision = self.setup.game.kernel.needs_decision
        return bool(needs_decision(self._batch.tables[0], self.setup.kernel_rules, np.int64(self._batch.legal[0])))

    def agents_action(self) -> int:
        """Returns the next action where no person chooses: an agent's, or the only legal one."""
        return int(self._seats.actions(np.array([0]))[0]) if self.needs_decision else self.legal[0]

    def make_ply(self, action: int) -> None:
        """Makes a ply of the seat to act, by a legal action."""
        self._batch.step([action])
        self._seats.stepped()
        self.payoff += self._batch.reward[0]

    @property
    def seats_of_round(self) -> list[int]:
        """The seat that made each ply of this round."""
        return [int(seat) for seat in self._log.round(0).seats]

    @property
    def _this_round(self) -> list[int]:
        return [int(action) for action in self._log.round(0).actions]

    @property
    def _rounds(self) -> list[list[int]]:
        """The plies of each round of this match."""
        return [*self._finished, self._this_round]

    @property
    def plies(self) -> list[list[int]]:
        """The actions of each round dealt at this table, first to last; the last round may be unfinished."""
        return [*self._past, *self._rounds]

    @property
    def position(self) -> NDArray[Any]:
        """A copy of the table, an array of one, with all hidden cards."""
        return self._batch.tables.copy()

    @property
    def history(self) -> History:
        """How the table came to be, for pictures."""
        return history_of_round(self._batch, 0)

    def commentary(self, seat: int, language: str, *, names: Sequence[str], you: int | None) -> Commentary:
        """Returns a speaker to ``seat`` that knows the match so far, and its commentary on the last round.

        It calls the seats by the players' ``names``, and ``you`` "you".
        """
        assert self.setup.game.speaker is not None
        speaker = self.setup.game.speaker(self.setup, self.opening, seat, language, names=names, you=you)
        for actions in self._finished:
            for action in actions:
                speaker.ply(action)
            speaker.dealt()
        begun = speaker.begun()
        return Commentary(speaker, begun, [speaker.ply(action) for action in self._this_round])

    def recorder(self, names: Sequence[str]) -> Callable[[], Record]:
        """Returns what writes the record of the match or single round that is over, also when the table has gone on."""
        opening, actions = self.opening, [action for each in self._rounds for action in each]
        return lambda: record_of(self.setup, opening, actions, single_round=self.by_rounds, agents=names, seed=self.seed)

    def record(self, names: Sequence[str]) -> Record:
        """Returns the record of the finished match or single round, with the players' ``names`` in seat order.

        Raises :class:`~nainjaune_env.core.errors.RecordError` before its end.
        """
        return self.recorder(names)()
