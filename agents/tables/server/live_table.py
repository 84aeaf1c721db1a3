"""A table that is being played: its plies in order, and what follows from them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng, is_recurrent
from nainjaune_env.core.errors import ConfigError, IllegalActionError
from nainjaune_env.core.illegal import action_name
from nainjaune_env.core.speech import Utterance
from nainjaune_env.records.record import Record

from ...base.seeds import Stream, generator
from ..terminal.match_table import MatchTable
from .players import OneAtATime, Said
from .protocol import Refusal
from .settings import TableSettings
from .store import DEAL


class LiveTable:
    """The state of a table, which the replay of its plies gives again.

    ``number`` is that of the last ply: every change adds one. ``keep(number, action)`` stores a ply before it is made.
    """

    def __init__(
        self,
        settings: TableSettings,
        agents: Sequence[OneAtATime | None],
        keep: Callable[[int, int], object],
        *,
        stand_in: OneAtATime | None = None,
    ) -> None:
        """``agents (n,)`` are by seat, None for a person; ``stand_in`` plays for persons who are absent."""
        self.settings = settings
        self.absent: set[int] = set()
        """Seats of persons for whom the stand-in plays."""
        self.said: dict[int, Said] = {}
        """By seat: what its agent said to its last decision of this round, where it said anything."""
        self._decided: list[int] = []
        """The number of plies before each decision of a person in this round."""
        self.number = 0
        self.rounds = 0
        """Rounds that are over."""
        self._finished: list[Callable[[], Record]] = []
        """Write the record of the match, or of each single round, that is over."""
        self.totals = np.zeros(settings.setup.players, np.int64)
        """Each seat's payoffs in the rounds that are over, shape (n,)."""
        self._agents = agents
        self._seated = [agent or stand_in for agent in agents]
        self._keep = keep
        self.table = MatchTable(
            settings.setup, self._seated, seed=settings.seed, rng=self._rng, by_rounds=settings.rounds is not None
        )
        self._listeners: dict[tuple[int, str, int | None], Listener] = {}

    def _rng(self, agent: int, index: NDArray[np.int64]) -> Rng:
        """The generator of a decision depends on its number alone, so that replay need not repeat those before it."""
        return generator(self.settings.seed, Stream.SERVE, self.number)

    @property
    def over(self) -> bool:
        """Whether everything is played."""
        if self.settings.rounds is None:
            return self.table.match_over
        return self.table.round_over and self.rounds == self.settings.rounds

    @property
    def persons_turn(self) -> bool:
        """Whether a person is to act."""
        table = self.table
        if table.round_over or self.settings.agents[table.at_turn] is not None or table.at_turn in self.absent:
            return False
        return self.settings.every_ply or table.needs_decision

    @property
    def goes_by_itself(self) -> bool:
        """Whether the next ply is an agent's or a forced one."""
        return not self.table.round_over and not self.persons_turn

    @property
    def agent_is_free(self) -> bool:
        """Whether no other thread uses the agent at turn, and it is none that may wait for long; True at a person's turn."""
        agent = self._seated[self.table.at_turn]
        return agent is None or not (agent.is_busy or agent.may_wait)

    def replay(self, plies: Sequence[int]) -> None:
        """Makes the plies of a table that goes on. Agents that remember decide again, for their memory's sake.

        Raises :class:`ConfigError` if one is illegal: the rules or the file have changed.
        """
        for action in plies:
            table = self.table
            legal = not self.over if action == DEAL and table.round_over else not table.round_over and action in table.legal
            if not legal:
                ply = f"ply {self.number + 1} is illegal when it is repeated: {self._named(action)}"
                raise ConfigError(f"The table cannot go on: its {ply}.")
            if action != DEAL and self._remembers(self._agents[table.at_turn]):
                table.agents_action()
            self._apply(action)

    def _remembers(self, agent: Agent | None) -> bool:
        return agent is not None and is_recurrent(agent, self.settings.setup)

    def play(self, seat: int, action: int) -> None:
        """Makes a person's ply; raises :class:`Refusal`, and changes nothing, where the seat may not play it."""
        if not self.persons_turn or self.table.at_turn != seat:
            raise Refusal("not_your_turn")
        if action not in self.table.legal:
            raise Refusal("illegal")
        self._make(action)

    def decide(self) -> tuple[int, Said | None]:
        """Returns the action of the agent at turn, or of a forced ply, and what the agent said to a decision."""
        decides, agent = self.table.needs_decision, self._seated[self.table.at_turn]
        action = self.table.agents_action()
        return action, agent.said() if decides and agent is not None else None

    def go_on(self, action: int, said: Said | None = None) -> None:
        """Makes the ply of an agent, or a forced one, that :meth:`decide` gave, with what the agent ``said``."""
        if action not in self.table.legal:
            name = self.settings.names[self.table.at_turn]
            raise IllegalActionError(f"The agent {name!r} chose the illegal action {self._named(action)}.")
        seat, decides = self.table.at_turn, self.table.needs_decision
        self._make(action)
        if decides:
            self.said.pop(seat, None)
            if said is not None:
                self.said[seat] = said

    def deal(self) -> None:
        """Deals the next round; raises :class:`Refusal` while one is played or where none follows."""
        if not self.table.round_over or self.over:
            raise Refusal("no_deal")
        self._make(DEAL)

    def _named(self, action: int) -> str:
        return "a deal" if action == DEAL else action_name(action, self.settings.setup.game.actions)

    def _make(self, action: int) -> None:
        self._keep(self.number + 1, action)
        self._apply(action)

    @property
    def number_to_undo(self) -> int | None:
        """The number of plies that are left when the last decision of the table's only person is taken back.

        None where nothing can be taken back: the round is over, or several persons play.
        """
        if self.table.round_over or len(self.settings.persons) != 1 or not self._decided:
            return None
        return self._decided[-1]

    def _apply(self, action: int) -> None:
        if action == DEAL:
            self._decided.clear()
            self.said.clear()
        elif self.persons_turn and len(self.table.legal) > 1:
            self._decided.append(self.number)
        self.number += 1
        if action == DEAL:
            new_match = self.table.match_over
            self.table.deal()
            for listener in self._listeners.values():
                listener.dealt(self.number, self.table if new_match else None)
            return
        self.table.make_ply(action)
        for listener in self._listeners.values():
            listener.ply(self.number, action)
        if self.table.round_over:
            self.rounds += 1
            self.totals += self.table.payoff
            if self.table.match_over:
                self._finished.append(functools.cache(self.table.recorder(self.settings.names)))

    @property
    def num_records(self) -> int:
        """The number of records: one of the match, or one of each single round, that is over."""
        return len(self._finished)

    @property
    def records(self) -> list[Record]:
        """These records. For long matches the first call takes some tenths of a second."""
        return [write() for write in self._finished]

    def listener(self, seat: int, language: str, you: int | None) -> Listener:
        """Returns the listener of ``seat`` in a language, which the first call makes; ``you`` is the seat of its reader."""
        key = seat, language, you
        if key not in self._listeners:
            self._listeners[key] = Listener(self.table, seat, language, self.settings.names, you, self.number)
        return self._listeners[key]

    def events(self, seat: int | None, language: str, you: int | None) -> list[dict[str, Any]]:
        """Returns the events of the round for ``seat``; None, a spectator, gets each ply's events as another seat does."""
        if seat is not None:
            return [_event(*each) for each in self.listener(seat, language, you).events]
        n = self.settings.setup.players
        each_seats = [self.listener(other, language, you).events for other in range(n)]
        return [_event(*each_seats[(each[0][1] + 1) % n][k]) for k, each in enumerate(zip(*each_seats, strict=True))]


def _event(number: int, seat: int, said: list[Utterance]) -> dict[str, Any]:
    return {"number": number, "said": [list(part) for part in said]}


class Listener:
    """The words of the game for one seat, in one language, ply by ply."""

    def __init__(self, table: MatchTable, seat: int, language: str, names: Sequence[str], you: int | None, number: int) -> None:
        """``names`` and ``you`` as in ``MatchTable.commentary``; ``number`` is that of the last ply made."""
        self._seat, self._language, self._table = seat, language, table
        self._names, self._you = names, you
        self._begin(table, number)

    def _begin(self, table: MatchTable, number: int) -> None:
        commentary = table.commentary(self._seat, self._language, names=self._names, you=self._you)
        self.speaker = commentary.speaker
        self.begun = commentary.begun
        """The lines on the deal."""
        first = number - len(commentary.plies) + 1
        seats = table.seats_of_round
        self.events = [(first + k, seats[k], said) for k, said in enumerate(commentary.plies)]
        """By ply of the round: its number, the seat that made it, and the events."""

    def ply(self, number: int, action: int) -> None:
        """Notes a ply that was made."""
        self.events.append((number, self._table.seats_of_round[-1], self.speaker.ply(action)))

    def dealt(self, number: int, new_match: MatchTable | None) -> None:
        """Notes a deal, which begins ``new_match`` if it is given."""
        if new_match is not None:
            self._begin(new_match, number)
            return
        self.speaker.dealt()
        self.begun, self.events = self.speaker.begun(), []
