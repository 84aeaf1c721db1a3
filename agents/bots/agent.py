"""A bot as an agent: its decisions are asked in turns, within its clocks, and its faults cost what the settings say."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.bits import legal_actions, lowest
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup

from ..sampling import sample
from .clocks import allowed_seconds, clock_dtype
from .connection import BotFault, Connection
from .faults import MAX_FAULTS, Fault, FaultCounts
from .messages import ACTIONS, PLIES, PROBABILITIES, Choice, Question
from .rows import Rows
from .session import BotSession
from .settings import STOP, BotSettings

SEEDS = 1 << 53
"""Seeds are below it: a double holds each of them."""
MAX_CACHED = 1 << 16
"""The most decisions whose answers are kept; if there are more, the older half is forgotten."""


def seeds_of(draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns a seed for each of ``draws (K,)``, below :data:`SEEDS`, from which the draw cannot be found.

    Two draws of a SplitMix64 are enough to find its state, and the seed of everything behind it, the deals among them.
    """
    words = draws.astype("<f8").tobytes()
    hashed = b"".join(hashlib.blake2b(words[at : at + 8], digest_size=8).digest() for at in range(0, len(words), 8))
    return (np.frombuffer(hashed, "<u8") % SEEDS).astype(np.int64)


class BotAgent:
    """An agent that is another program. One question is put at a time, from whatever thread.

    Answers of a deterministic bot are kept for equal decisions: those of which it is sent the same.
    """

    def __init__(
        self, name: str, setup: Setup, connect: Callable[[], Connection], settings: BotSettings, session: BotSession
    ) -> None:
        """``session`` is the bot, ready to play; ``connect`` starts it again. :func:`bot_agent` makes one."""
        self.name = name
        self.setup = setup
        self.ready = session.ready
        """What the bot says of itself."""
        self.faults = FaultCounts()
        self.last_fault: str | None = None
        """The sentence of the last fault."""
        self.questions = 0
        """Decisions that the bot was asked, which are less than it was to make where answers were kept."""
        self.needs_history = PLIES in self.ready.wants
        self._rows = Rows(setup, self.ready.wants)
        self._connect = connect
        self._settings = settings
        self._lock = threading.Lock()
        self._last = threading.local()
        self._session: BotSession | None = session
        self._process = os.getpid()
        self._all_faults = 0
        self._cache: dict[tuple[str, bytes], Choice] = {}

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of what is known of a seat's round: nothing."""
        return clock_dtype(self._settings)

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns legal actions, ``(K,)``: those that the bot answers, or draws by its probabilities.

        After a fault they are the lowest legal actions, or it raises :class:`AgentError`, as the settings say.
        """
        seeds = None if self.ready.deterministic else seeds_of(rng.random(len(decisions.index)))
        choices = self._choices(ACTIONS, decisions, seeds)
        self._last.choices = choices
        actions = np.array([choice.action for choice in choices], np.int64)
        if actions.min(initial=0) < 0:
            with np.errstate(divide="ignore"):
                logits = np.log(self._table(choices, decisions)).astype(np.float32)
            actions = sample(logits, decisions.legal, rng)[0]
        return actions

    @property
    def values(self) -> list[float | None]:
        """What the bot expects to win, for each decision of the last :meth:`act` of this thread, where it said so."""
        return [choice.value for choice in getattr(self._last, "choices", ())]

    @property
    def comments(self) -> list[str | None]:
        """What the bot said to each decision of the last :meth:`act` of this thread, if anything."""
        return [choice.comment for choice in getattr(self._last, "choices", ())]

    def close(self) -> None:
        """Ends the bot; it is started again when it is asked."""
        with self._lock:
            if self._session is not None:
                self._session.end()
                self._session = None

    def _table(self, choices: list[Choice], decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns choices as probabilities ``(K, A)``."""
        table = np.zeros((len(choices), decisions.num_actions))
        for row, choice, legal in zip(table, choices, decisions.legal.tolist(), strict=True):
            if choice.probabilities is None:
                row[choice.action] = 1.0
            else:
                row[legal_actions(legal)] = choice.probabilities
        table /= table.sum(axis=1, keepdims=True)
        return table

    def _choices(self, kind: str, decisions: DecisionBatch, seeds: NDArray[np.int64] | None) -> list[Choice]:
        """Returns the bot's choices at all decisions; those that it would answer the same are asked once."""
        count = len(decisions.index)
        with self._lock:
            rows = self._rows.encode(decisions, np.arange(count), seeds)
            if not self.ready.deterministic:
                choices = self._asked(kind, decisions, np.arange(count), rows)
            else:
                keys = [(kind, row) for row in rows]
                known = {key: choice for key in keys if (choice := self._cache.get(key)) is not None}
                first: dict[tuple[str, bytes], int] = {}
                allowed = allowed_seconds(self._settings, decisions, np.arange(count))
                for k, key in enumerate(keys):
                    if key not in known and allowed[first.setdefault(key, k)] <= 0 < allowed[k]:
                        first[key] = k  # a seat that has no time left asks for nobody else
                asked = self._asked(kind, decisions, np.array([*first.values()], np.int64), rows)
                new = dict(zip(first, asked, strict=True))
                self._keep(new)
                known |= new
                choices = [known[key] for key in keys]
            self.faults.decisions += count
            self.faults.forfeited += sum(choice.forfeited for choice in choices)
        return choices

    def _keep(self, choices: dict[tuple[str, bytes], Choice]) -> None:
        self._cache.update((key, choice) for key, choice in choices.items() if not choice.forfeited)
        if len(self._cache) > MAX_CACHED:
            for key in [*islice(self._cache, len(self._cache) - MAX_CACHED // 2)]:
                del self._cache[key]

    def _asked(self, kind: str, decisions: DecisionBatch, which: NDArray[np.int64], rows: list[bytes]) -> list[Choice]:
        """Asks the decisions number ``which`` in turns of the bot's size; returns the choices in this order.

        ``rows`` are all decisions as they are sent.
        """
        choices: list[Choice] = []
        for at in range(0, len(which), self.ready.batch):
            part = which[at : at + self.ready.batch]
            allowed = allowed_seconds(self._settings, decisions, part)
            in_time = np.flatnonzero(allowed > 0)
            answered = self._turn(kind, decisions, part[in_time], rows, allowed[in_time])
            if len(in_time) == len(part) and answered is not None:
                choices += answered
                continue
            some = [Choice(lowest(bits), forfeited=True) for bits in decisions.legal[part].tolist()]
            for k, choice in zip(in_time.tolist(), answered or (), strict=answered is not None):
                some[k] = choice
            choices += some
        return choices

    def _turn(
        self,
        kind: str,
        decisions: DecisionBatch,
        which: NDArray[np.int64],
        rows: list[bytes],
        allowed: NDArray[np.float64],
    ) -> list[Choice] | None:
        """Asks some decisions at once; returns None where they are forfeited: after a fault, and after too many."""
        if self._all_faults >= MAX_FAULTS:
            return None
        if not which.size:
            return []
        question = Question(kind, decisions.index[which], decisions.seat[which], decisions.legal[which])
        total = float(allowed.sum())
        seconds = total if np.isfinite(total) else None
        answer = None
        try:
            session = self._running()
            self.questions += len(which)
            answer = session.ask(question, [rows[k] for k in which.tolist()], seconds)
        except BotFault as fault:
            self._count(fault, question)
        return answer

    def _running(self) -> BotSession:
        """Returns the bot; starts it after a fault, and in a process that was forked from the one that did."""
        if self._session is not None and self._process == os.getpid():
            return self._session
        try:
            self._session = BotSession(self._connect(), self.setup)
        except AgentError as error:  # it could be started before
            raise BotFault(Fault.EXIT, str(error)) from None
        self._process = os.getpid()
        self._session.greet(self._settings)
        if self._session.ready != self.ready:
            came = quoted(self._session.ready)
            raise BotFault(Fault.INVALID, f"Started again, it is {came}, and it was {quoted(self.ready)} before.")
        return self._session

    def _count(self, fault: BotFault, question: Question) -> None:
        """Counts a fault and ends the bot; raises :class:`AgentError` where a fault ends everything."""
        session, self._session = self._session, None
        log = "" if session is None else session.end(fault)
        others = f" and {len(question.table) - 1} more" if len(question.table) > 1 else ""
        asked = f"asked for {question.answer} at table {question.table[0]}, seat {question.seat[0]}{others}"
        self.last_fault = f"The bot {quoted(self.name)}, {asked}: {fault.kind}. {fault}{log}"
        self.faults.faults[fault.kind] += 1
        self._all_faults += 1
        if self._settings.on_fault == STOP:
            raise AgentError(self.last_fault)


class DistributionBot(BotAgent):
    """A bot that can answer with the probabilities of its actions."""

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns the probabilities of the bot's actions, ``(K, A)``; after a fault as :meth:`act`."""
        return self._table(self._choices(PROBABILITIES, decisions, None), decisions)


def bot_agent(name: str, setup: Setup, connect: Callable[[], Connection], settings: BotSettings) -> BotAgent:
    """Starts the bot called ``name`` by ``connect`` and returns it as an agent.

    Raises :class:`AgentError` if it cannot be started, refuses, does not answer as it must, or wants what the game has not.
    """
    try:
        session = BotSession(connect(), setup)
    except (BotFault, AgentError) as error:
        raise AgentError(f"The bot {quoted(name)} cannot be started. {error}") from None
    try:
        session.greet(settings)
        kind = DistributionBot if session.ready.distribution else BotAgent
        return kind(name, setup, connect, settings, session)
    except (BotFault, AgentError) as error:
        log = session.end(error if isinstance(error, BotFault) else None)
        raise AgentError(f"The bot {quoted(name)} cannot play {setup.game.title}. {error}{log}") from None
