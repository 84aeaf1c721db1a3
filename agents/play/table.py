"""A table at which one seat is a person's: dealt, stepped ply by ply, told, drawn, taken back and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Said, Speaker
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch, legal_actions, loops_of
from nainjaune_env.records.record import Record, record_of

from ..seeds import Stream, generator


class _Before(NamedTuple):
    """Where the table stood before the person's last decision."""

    batch: dict[str, NDArray[Any]]
    payoff: NDArray[np.int64]
    plies: int
    """Made in the round until then."""


class PersonsTable:
    """One table, on which every ply is made by itself: the rounds of one match, or with ``by_rounds`` rounds by themselves.

    The first deal is that of ``Batch(setup, 1, seed=seed)``, as through every other door; agents draw from generators of the
    seed, too. Agents are asked where the game asks them, and so is the person; other plies are made without asking.
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
        """``others`` are the agents in the other seats, in seat order. With ``every_ply`` the person is asked also where there is
        nothing to choose.

        Raises :class:`RulesError` where the game has no words, a match would have no end, or the seat is not there.
        """
        game, n = setup.game, setup.players
        if game.speaker is None or game.draw is None:
            raise RulesError(f"{game.title} has no words or no picture, so no person can play it.")
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
        """What each seat has made of this round, shape (n,)."""
        self._batch = Batch(setup, 1, seed=seed, skip_forced=False, autoreset=False)
        sits = np.array([[-1 if s == seat else s - (s > seat) for s in range(n)]])
        chance = [generator(seed, Stream.PERSON, number) for number in range(n - 1)]
        self._seating = SeatAssignment(self._batch, others, sits, lambda number, _: chance[number])
        self._begin()
        self._before: list[_Before] = []
        """The decisions that may still be taken back, first to last."""

    def _begin(self) -> None:
        """The batch has dealt the first round of a match."""
        self._opening = self._batch.tables[0].copy()
        self._rounds: list[list[int]] = [[]]
        """The plies of each round of this match."""
        self.speaker = self._new_speaker()
        """Tells the person of it."""

    def _new_speaker(self) -> Speaker:
        assert self.setup.game.speaker is not None
        return self.setup.game.speaker(self.setup, self._opening, self.seat, self.language, self._like_cards())

    def deal(self) -> None:
        """The next round, when one is over: of the match, or of a new match where that is over, or by itself."""
        if self.match_over:
            self._batch.reset()
            self._begin()
        else:
            rows = self._batch.tables.copy()
            loops_of(self.setup.game).deal_one(rows, self.setup.kernel_rules, 0)
            self._batch.set_tables(0, rows)
            self._rounds.append([])
            self.speaker.dealt()
        self._seating.stepped()
        self._before.clear()
        self.payoff[:] = 0

    def _like_cards(self) -> np.random.Generator:
        """What draws which of several like cards is shown: begun anew, the same cards everywhere."""
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
    def _asked(self) -> bool:
        """Whether the seat to act is to be asked."""
        needs_decision = self.setup.game.kernel.needs_decision
        return bool(needs_decision(self._batch.tables[0], self.setup.kernel_rules, np.int64(self._batch.legal[0])))

    @property
    def waits(self) -> bool:
        """Whether the person is to act, and to be asked."""
        return not self.round_over and self.at_turn == self.seat and (self.every_ply or self._asked)

    @property
    def looks(self) -> bool:
        """Whether the game asks the person though there is but one thing to do: to see what will not be seen again."""
        return self.waits and self._asked and len(self.legal) == 1

    def run_on(self) -> list[Said]:
        """Go on to the person's next decision, or the end of the round; gives what is to be told of it."""
        told: list[Said] = []
        while not self.round_over and not self.waits:
            if self.at_turn != self.seat:
                self._before.clear()  # the person sees something of another's: from here on nothing is taken back
            action = int(self._seating.actions(np.array([0]))[0]) if self._asked else self.legal[0]
            told += self._step(action)
        return told

    def play(self, action: int) -> list[Said]:
        """The person's decision, which must be legal; gives what is to be told of it."""
        reveals = self.speaker.reveals(action)
        before = _Before(self._batch.save(), self.payoff.copy(), len(self._rounds[-1]))
        told = self._step(action)
        self._before.append(before)
        if reveals or self.round_over:
            self._before.clear()
        return told

    def _step(self, action: int) -> list[Said]:
        self._batch.step([action])
        told = self.speaker.ply(action)
        self._seating.stepped()
        self._rounds[-1].append(action)
        self.payoff += self._batch.reward[0]
        return told

    def undo(self) -> bool:
        """Take the person's last decision back; False, and nothing changes, where that would be unfair.

        It is fair as long as no other seat has made a ply since, and the person has seen nothing that he could not know before.
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
        """The table as the person's seat sees it; ``everything``: as a spectator does, when the round is over."""
        assert self.setup.game.draw is not None
        seat = None if everything and self.round_over else self.seat
        return self.setup.game.draw(
            self.setup, self._batch.tables[0], seat, language=self.language, color=color, opening=self._opening,
            actions=self._actions, every_ply=True, rng=self._like_cards(),
        )  # fmt: skip

    @property
    def _actions(self) -> list[int]:
        return [action for actions in self._rounds for action in actions]

    def record(self, names: Sequence[str]) -> Record:
        """The finished match, or round by itself, with the ``names`` of who sat in each seat.

        Raises :class:`~nainjaune_env.core.errors.RecordError` while it goes on.
        """
        return record_of(
            self.setup, self._opening, self._actions, self._like_cards(), every_ply=True, single_round=self.by_rounds,
            agents=names, seed=self.seed,
        )  # fmt: skip
