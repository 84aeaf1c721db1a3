"""The round of a task, with texts or an agent in the model's seat."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import record_of_episode
from nainjaune_env.text.answers import Dialogue
from nainjaune_env.text.seat import Prompt, TextSeat
from nainjaune_env.text.words import texts_of

from ..players.heuristics import yardstick
from ..players.loading import load_agent
from ..players.program.settings import BotSettings
from .regret import check_regret
from .settings import ADVANTAGE, REGRET, TextEnvSettings
from .table import OpenTable, dealt, seat_rngs
from .tasks import TextTask

MODEL = "model"
"""The name of the player of texts in records."""


class TextRound:
    """The round of a task. It is one conversation: each situation tells what was played since the one before."""

    def __init__(self, task: TextTask, settings: TextEnvSettings) -> None:
        """Deals, and plays until the model's seat has a decision.

        Raises :class:`AgentError` for a field or an adviser that cannot play there, and where nothing gives the regret.
        """
        self.task = task
        self.settings = settings
        self.setup = task.setup()
        self.field = field_agent(self.setup, settings)
        """The agent in all other seats."""
        if settings.reward in (REGRET, ADVANTAGE):
            check_regret(self.setup, settings)  # before a player is paid for answers
        self.decisions = 0
        """Moves of the model's seat where it was asked, forfeited ones too."""
        self.calls = 0
        """Answers read."""
        self.refused = 0
        """Answers that meant no legal move."""
        self.forfeits = 0
        """Moves made for the model: the lowest legal action, after its last retry."""
        self.table = OpenTable(self.setup, task.seed, task.seat, self.field)
        """What is hidden from the model, too."""
        self._text = TextSeat(self.setup, language=settings.language, form=settings.form)
        self._before: list[dict[str, str]] = [{"role": "system", "content": self._text.rules}]
        """The conversation before the decision that is being made."""
        self._prompt: Prompt | None = None
        self._dialogue: Dialogue | None = None
        self._ask(0, None)

    @property
    def prompt(self) -> Prompt | None:
        """The decision of the model's seat; None when the round is over."""
        return self._prompt

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation so far, as chat-completions endpoints take it: the rules (``system``), situations, and answers.

        User and assistant take turns.
        """
        return self._before + ([] if self._dialogue is None else self._dialogue.messages[1:])

    @property
    def done(self) -> bool:
        """Whether the round is over."""
        return self.table.done

    @property
    def payoff(self) -> float:
        """What the model's seat has won, less what it has paid, in the game's unit, so far or at the end."""
        return self.table.payoff

    def answer(self, text: str, *, is_cut: bool = False) -> None:
        """Reads an answer, which may be cut. If it means no legal move, the sentence why is the last of ``messages``.

        ``prompt`` is then the same. After the last retry the lowest legal action is made. Raises :class:`AgentError` when the
        round is over, and for an answer that is no text.
        """
        if self._dialogue is None:
            raise AgentError("The round is over, so no answer is read.")
        if not isinstance(text, str):
            raise AgentError(f"An answer is a text, not {quoted(text)}.")
        self.calls += 1
        refused = len(self._dialogue.faults)
        action = self._dialogue.answer(text, is_cut=is_cut)
        self.refused += len(self._dialogue.faults) - refused
        if action is not None:
            self._end_decision(self._dialogue, action)

    def give_up(self) -> None:
        """Forfeits all moves that are left: for a model that can be asked no more."""
        while self._dialogue is not None:
            self.forfeits += 1
            self._end_decision(self._dialogue, min(self._dialogue.legal))

    def record(self, name: str = MODEL) -> Record:
        """Returns the record of the round, with ``name`` in the model's seat; raises :class:`RecordError` before its end."""
        names = [self.field.name] * self.setup.players
        names[self.task.seat] = name
        return record_of_episode(self.table.batch, 0, agents=names, seed=self.task.seed)

    def _end_decision(self, dialogue: Dialogue, action: int) -> None:
        assert self._prompt is not None
        self.decisions += 1
        self._before += dialogue.messages[1:]
        notice = None
        if dialogue.forfeited:
            self.forfeits += 1
            self._before.pop()  # it asks for another answer
            made = self._prompt.names[self._prompt.legal.index(action)]
            notice = texts_of(self.settings.language).forfeited.format(move=made)
        since = self.table.count
        self.table.step(action)
        self._ask(since, notice)

    def _ask(self, since: int, notice: str | None) -> None:
        """Makes the next prompt: plies from number ``since`` on, the move just made too, after a ``notice``."""
        self._prompt = self._dialogue = None
        if self.done:
            return
        prompt = self._text.prompt(self.table.batch.tables[0], self.table.log.round(0), since=since)
        if notice is not None:
            prompt = replace(prompt, situation=f"{notice}\n{prompt.situation}")
        self._prompt, self._dialogue = prompt, prompt.dialogue(self.settings.retries)


def field_agent(setup: Setup, settings: TextEnvSettings, bots: BotSettings | None = None) -> Agent:
    """Returns the agent in the other seats; raises ``NainJauneError`` where it cannot play there.

    ``bots`` says how a bot is asked (None: as by default).
    """
    return load_agent(yardstick(setup.game.name) if settings.field is None else settings.field, setup, bots=bots)


class AgentRound(NamedTuple):
    """A finished round with an agent in the model's seat. No text is made for agents that read none."""

    payoff: float
    """What the agent's seat has won, less what it has paid, in the game's unit."""
    decisions: int
    """Moves of the agent's seat where there was a choice."""
    batch: Batch
    """The table, with the log of all plies."""
    names: list[str]
    """Of the agents, in seat order."""
    seed: int
    """Of the deal."""

    def record(self) -> Record:
        """Returns the record of the round."""
        return record_of_episode(self.batch, 0, agents=self.names, seed=self.seed)


def play_task(task: TextTask, agent: Agent, field: Agent) -> AgentRound:
    """Returns the round of ``task`` with ``agent`` in the model's seat and ``field`` in all others.

    Deal and draws are those of a :class:`TextRound`. Raises :class:`~nainjaune_env.core.errors.AgentError` for an illegal action.
    """
    setup = task.setup()
    agents = [field] * setup.players
    agents[task.seat] = agent
    batch, rngs, table = dealt(setup, task.seed), seat_rngs(setup, task.seed), np.zeros(1, np.int64)
    seated = SeatAssignment(batch, agents, np.arange(setup.players)[None, :], lambda seat, _: rngs[seat])
    payoff, decisions = int(batch.reward[0, task.seat]), 0
    while not batch.done[0]:
        decisions += int(seated.at_turn(table)[0]) == task.seat
        batch.step(seated.actions(table))
        seated.stepped()
        payoff += int(batch.reward[0, task.seat])
    return AgentRound(float(payoff), decisions, batch, [one.name for one in agents], task.seed)
