"""``TextRound``: one round, in which a seat is played by texts and the others by an agent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import record_of_episode
from nainjaune_env.text.answers import Dialogue
from nainjaune_env.text.seat import Prompt, TextSeat
from nainjaune_env.text.words import texts_of

from ..heuristics import yardstick
from ..loading import load_agent
from ..seeds import Stream, generator
from .regret import check_regret
from .settings import REGRET, TextEnvSettings
from .tasks import TextTask

MODEL = "model"
"""The name of the player of texts in records."""
EMPTY = -1
"""A seat without an agent, for ``SeatAssignment``."""


class TextRound:
    """The round of a task. It is one conversation: each situation tells what was played since the one before."""

    def __init__(self, task: TextTask, settings: TextEnvSettings) -> None:
        """Deals, and plays until the model's seat has a decision.

        Raises :class:`AgentError` for a field or an adviser that cannot play there, and where nothing gives the regret.
        """
        self.task = task
        self.settings = settings
        self.setup = task.setup()
        self.decisions = 0
        """Moves of the model's seat where there was a choice, forfeited ones too."""
        self.calls = 0
        """Answers read."""
        self.refused = 0
        """Answers that meant no legal move."""
        self.forfeits = 0
        """Moves made for the model: the lowest legal action, after its last retry."""
        if settings.reward == REGRET:
            check_regret(self.setup, settings)  # before a player is paid for answers
        self._text = TextSeat(self.setup, language=settings.language, form=settings.form)
        self._batch = dealt(task)
        rngs = field_rngs(task)
        seats = np.arange(self.setup.players)[None, :]
        seats[0, task.seat] = EMPTY
        self._field = SeatAssignment(self._batch, field_agents(self.setup, settings), seats, lambda seat, _: rngs[seat])
        self._chips = self._batch.reward[0].astype(np.int64)
        self._told = 0
        """Plies that the conversation has told."""
        self._messages: list[dict[str, str]] = []
        """The conversation before the decision that is being made."""
        self._forfeit: str | None = None
        """What is said of the last decision, if it was forfeited."""
        self._prompt: Prompt | None = None
        self._dialogue: Dialogue | None = None
        self._play_on()

    @property
    def prompt(self) -> Prompt | None:
        """The decision of the model's seat; None when the round is over."""
        return self._prompt

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation so far, as chat-completions endpoints take it: the rules (``system``), situations, and answers.

        Users and assistants take turns.
        """
        current = [] if self._dialogue is None else self._dialogue.messages[1:]
        return [{"role": "system", "content": self._text.rules}, *self._messages, *current]

    @property
    def done(self) -> bool:
        """Whether the round is over."""
        return bool(self._batch.done[0])

    @property
    def payoff(self) -> float:
        """What the model's seat has won, less what it has paid, in the game's unit, so far or at the end."""
        return float(self._chips[self.task.seat])

    def answer(self, text: str, *, is_cut: bool = False) -> None:
        """Reads an answer, which may be cut. If it means no legal move, the sentence why is the last of ``messages``, and ``prompt`` is the same.

        After the last retry the lowest legal action is made. Raises :class:`AgentError` when the round is over.
        """
        if self._dialogue is None:
            raise AgentError("The round is over, so no answer is read.")
        self.calls += 1
        refused = len(self._dialogue.faults)
        action = self._dialogue.answer(text, is_cut=is_cut)
        self.refused += len(self._dialogue.faults) - refused
        if action is None:
            return
        self._end_decision(self._dialogue, action)
        self._step(action)
        self._play_on()

    def give_up(self) -> None:
        """Forfeits all moves that are left: for a model that can be asked no more."""
        while self._dialogue is not None:
            self.forfeits += 1
            action = min(self._dialogue.legal)
            self._end_decision(self._dialogue, action)
            self._step(action)
            self._play_on()

    def record(self, name: str = MODEL) -> Record:
        """Returns the record of the round, with ``name`` in the model's seat; raises :class:`RecordError` before its end."""
        names = [agent.name for agent in self._field.agents]
        names[self.task.seat] = name
        return record_of_episode(self._batch, 0, agents=names, seed=self.task.seed)

    def _end_decision(self, dialogue: Dialogue, action: int) -> None:
        assert self._prompt is not None
        assert self._batch.log is not None
        self.decisions += 1
        self._messages += dialogue.messages[1:]
        self._forfeit = None
        if dialogue.forfeited:  # nothing more is asked, and the next message is the user's again
            self.forfeits += 1
            self._messages.pop()
            made = self._prompt.names[self._prompt.legal.index(action)]
            self._forfeit = texts_of(self.settings.language).forfeited.format(move=made)
        self._told = int(self._batch.log.count[0])  # so the next situation begins with the move that was made
        self._prompt = self._dialogue = None

    def _play_on(self) -> None:
        """Plays the other seats until the model's has a decision or the round is over."""
        table = np.zeros(1, np.int64)
        while not self.done and self._field.at_turn(table)[0] != EMPTY:
            self._step(int(self._field.actions(table)[0]))
        if self.done:
            return
        assert self._batch.log is not None
        prompt = self._text.prompt(self._batch.tables[0], self._batch.log.round(0), since=self._told)
        if self._forfeit is not None:
            prompt = replace(prompt, situation=f"{self._forfeit}\n{prompt.situation}")
        self._prompt, self._dialogue = prompt, prompt.dialogue(self.settings.retries)

    def _step(self, action: int) -> None:
        self._batch.step(np.array([action]))
        self._field.stepped()
        self._chips += self._batch.reward[0]


def dealt(task: TextTask) -> Batch:
    """Returns the table of a task, as it was dealt, in a batch with a log that stops at the end of the round."""
    return Batch(task.setup(), 1, seed=task.seed, autoreset=False, log=True)


def field_name(setup: Setup, settings: TextEnvSettings) -> str:
    """Returns the name of the agent in the other seats."""
    return yardstick(setup.game.name) if settings.field is None else settings.field


def field_agents(setup: Setup, settings: TextEnvSettings) -> list[Agent]:
    """Returns the field's agent once for each seat, ``(n,)``; raises ``NainJauneError`` where it cannot play."""
    return [load_agent(field_name(setup, settings), setup)] * setup.players


def field_rngs(task: TextTask) -> list[np.random.Generator]:
    """Returns a generator for each seat, so that what one draws does not depend on how often another one has to."""
    return [generator(task.seed, Stream.TEXT_FIELD, seat) for seat in range(task.players)]
