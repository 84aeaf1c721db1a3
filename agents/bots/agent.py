"""A bot as an agent: its decisions are asked in turns, within its clocks, and its faults cost what the settings say."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup

from ..sampling import sample
from . import messages
from .connection import MAX_UNASKED, BotFault, Connection
from .faults import Fault, FaultCounts
from .messages import ACTIONS, PLIES, PROBABILITIES, Answer, Question, Ready
from .rows import Rows
from .settings import BotSettings

SEEDS = 1 << 53
"""Seeds are below it: a double holds each of them."""
MAX_LOG_SHOWN = 1000
"""Characters of the end of a bot's log in the sentence of an error."""


class BotAgent:
    """An agent that is another program. One question is put at a time, from whatever thread."""

    def __init__(self, name: str, setup: Setup, connect: Callable[[], Connection], settings: BotSettings) -> None:
        """Starts the bot and says hello; ``connect`` starts it, now and after faults.

        Raises :class:`AgentError` if it cannot be started, or refuses, or does not answer as it must.
        """
        self.name = name
        self.setup = setup
        self.faults = FaultCounts()
        self.values: list[float | None] = []
        """What the bot said that it expects, for each decision of the last :meth:`act`."""
        self.comments: list[str | None] = []
        """What it said to each decision of the last :meth:`act`."""
        self._connect = connect
        self._settings = settings
        self._lock = threading.Lock()
        self._number = 0
        self._connection: Connection | None = None
        self._process = os.getpid()
        try:
            self.ready = self._start()
        except BotFault as fault:
            raise self._error(fault, "did not start") from None
        self._rows = Rows(setup, self.ready.wants)
        self.needs_history = PLIES in self.ready.wants

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns what the bot answers, or a draw from it; ``(K,)``. Raises :class:`AgentError` for a fault of the bot."""
        count = len(decisions.index)
        with self._lock:
            seeds = None if self.ready.deterministic else (rng.random(count) * SEEDS).astype(np.int64)
            actions = np.empty(count, np.int64)
            logits: NDArray[np.float32] | None = None
            self.values, self.comments = [None] * count, [None] * count
            for at in range(0, count, self.ready.batch):
                which = np.arange(at, min(at + self.ready.batch, count))
                answer = self._ask(ACTIONS, decisions, which, seeds)
                self.values[at : at + len(which)] = answer.values
                self.comments[at : at + len(which)] = answer.comments
                if answer.actions is not None:
                    actions[which] = answer.actions
                    continue
                assert answer.probabilities is not None
                if logits is None:
                    logits = np.full((count, decisions.num_actions), -np.inf, np.float32)
                for k, row in zip(which.tolist(), answer.probabilities, strict=True):
                    with np.errstate(divide="ignore"):
                        logits[k, legal_actions(int(decisions.legal[k]))] = np.log(row)
                actions[which] = -1
            if logits is not None:
                drawn, _ = sample(np.where(actions[:, None] < 0, logits, 0), decisions.legal, rng)
                actions = np.where(actions < 0, drawn, actions)
        return actions

    def close(self) -> None:
        """Ends the bot; it is started again when it is asked."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _start(self) -> Ready:
        self._process = os.getpid()
        connection = self._connection = self._connect()
        line = connection.ask(messages.hello(self.setup, self._settings), self._settings.start_seconds)
        return messages.read_ready(self._answer_to(0, line, self._settings.start_seconds, time.monotonic()))

    def _answer_to(self, number: int, line: bytes, seconds: float | None, since: float) -> dict[str, Any]:
        """Returns the message with the ``id`` ``number``: ``line``, or one after it."""
        assert self._connection is not None
        for _ in range(MAX_UNASKED + 1):
            message = messages.read(line)
            if message.get("id") == number and not isinstance(message["id"], bool):
                return message
            left = None if seconds is None else max(seconds - (time.monotonic() - since), 0.0)
            line = self._connection.next(left)
        raise BotFault(Fault.FLOOD, f"More than {MAX_UNASKED} messages came that nobody asked for.")

    def _ask(self, answer: str, decisions: DecisionBatch, which: NDArray[np.int64], seeds: NDArray[np.int64] | None) -> Answer:
        question = Question(answer, decisions.index[which], decisions.seat[which], decisions.legal[which])
        try:
            if self._connection is None or self._process != os.getpid():
                self._start()
            assert self._connection is not None
            self._number += 1
            clock = self._settings.decision_seconds
            seconds = None if clock is None else clock * len(which)
            message = messages.turn(self._number, answer, self._rows.encode(decisions, which, seeds), seconds)
            since = time.monotonic()
            line = self._connection.ask(message, seconds)
            return messages.read_answer(self._answer_to(self._number, line, seconds, since), question, self.setup.game.actions)
        except BotFault as fault:
            first = f"at table {question.table[0]}, seat {question.seat[0]}"
            others = f" and {len(which) - 1} others" if len(which) > 1 else ""
            raise self._error(fault, f"was asked {first}{others}") from None

    def _error(self, fault: BotFault, what: str) -> AgentError:
        """Returns the error of a fault; the bot is ended."""
        connection, self._connection = self._connection, None
        log = ""
        if connection is not None:
            if fault.kind == Fault.TIMEOUT:
                connection.tell(messages.stop(self._number))
            log = connection.log().strip()
            connection.close()
        shown = f" The end of its log:\n{log[-MAX_LOG_SHOWN:]}" if log else ""
        return AgentError(f"The bot {quoted(self.name)} {what} ({fault.kind}): {fault}{shown}")


class DistributionBot(BotAgent):
    """A bot that can answer with the probabilities of its actions."""

    @classmethod
    def of(cls, bot: BotAgent) -> DistributionBot:
        """Returns ``bot``, which has said that it can."""
        bot.__class__ = cls
        assert isinstance(bot, cls)
        return bot

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns the probabilities of the bot's actions, ``(K, A)``; raises :class:`AgentError` for a fault of the bot."""
        result = np.zeros((len(decisions.index), decisions.num_actions))
        with self._lock:
            for at in range(0, len(result), self.ready.batch):
                which = np.arange(at, min(at + self.ready.batch, len(result)))
                answer = self._ask(PROBABILITIES, decisions, which, None)
                assert answer.probabilities is not None
                for k, row in zip(which.tolist(), answer.probabilities, strict=True):
                    result[k, legal_actions(int(decisions.legal[k]))] = np.array(row) / sum(row)
        return result
