"""A program as a player: its decisions are asked in turns, within its clocks, and its faults cost what the settings say."""

from __future__ import annotations

import hashlib
import os
import shlex
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.bits import legal_actions, lowest
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ...base.sampling import sample
from . import protocol
from .faults import MAX_FAULTS, BotFault, Fault, FaultCounts
from .process import MAX_MESSAGES, Program
from .protocol import ACTIONS, PLIES, PROBABILITIES, Choice, Question, Ready, Rows
from .settings import STOP, BotSettings

PREFIX = "exec:"
SEEDS = 1 << 53
"""Seeds are below it: a double has room for all of them."""
MAX_LOG_SHOWN = 1000
"""Characters of the end of a bot's log in a sentence."""


def load(name: str, setup: Setup, settings: BotSettings) -> BotAgent:
    """Returns the bot called ``name``, which was started and has said that it plays at tables with ``setup``.

    Raises :class:`AgentError` if it cannot be started, refuses, does not answer as it must, or wants what the game has not.
    """
    try:
        session = Session(name, setup, settings)
    except BotFault as fault:
        raise AgentError(f"The bot {quoted(name)} cannot play {setup.game.title}. {fault}") from None
    except AgentError as error:
        raise AgentError(f"The bot {quoted(name)} cannot be started. {error}") from None
    kind = DistributionBot if session.ready.distribution else BotAgent
    try:
        return kind(name, setup, settings, session)
    except AgentError as error:
        session.close()
        raise AgentError(f"The bot {quoted(name)} cannot play {setup.game.title}. {error}") from None


def files(name: str) -> list[Path]:
    """Returns the files that the command of a bot names: its program, if it is a path, and its arguments."""
    program, *others = shlex.split(name.removeprefix(PREFIX))
    words = [*([program] if os.sep in program else []), *others]
    paths = [Path(text) for word in words for text in (word, word.partition("=")[2]) if text]
    return [path for path in dict.fromkeys(paths) if os.path.isfile(path)]


def seeds_of(draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns a seed for each of ``draws (K,)``, below :data:`SEEDS`, from which the draw cannot be computed.

    Two draws of a SplitMix64 are enough to compute its state, and the seed of everything behind it, the deals among them.
    """
    words = draws.astype("<f8").tobytes()
    hashed = b"".join(hashlib.blake2b(words[at : at + 8], digest_size=8).digest() for at in range(0, len(words), 8))
    return (np.frombuffer(hashed, "<u8") % SEEDS).astype(np.int64)


class Session:
    """One run of a program, from ``hello`` on: questions, whose answers have their numbers."""

    def __init__(self, name: str, setup: Setup, settings: BotSettings) -> None:
        """Starts the program. Raises :class:`AgentError` where there is none, and :class:`BotFault` unless it is ready."""
        self.program = Program(name.removeprefix(PREFIX))
        self.process = os.getpid()
        self._number = 0
        try:
            self.ready = protocol.read_ready(self._answer(protocol.hello(setup, settings), settings.start_seconds))
        except BotFault as fault:
            raise BotFault(fault.kind, f"{fault}{self.close()}") from None

    def ask(self, question: Question, rows: list[bytes], seconds: float | None, actions: Sequence[str]) -> list[Choice]:
        """Returns the answers to a question, whose decisions are ``rows``; raises :class:`BotFault` without them in time."""
        self._number += 1
        message = protocol.turn(self._number, question.answer, rows, seconds)
        return protocol.read_answer(self._answer(message, seconds), question, actions)

    def stop(self) -> None:
        """Tells the program that the last answer is not needed any more."""
        self.program.tell(protocol.stop(self._number))

    def close(self) -> str:
        """Ends the program; returns the end of its log as the end of a sentence, if there is one."""
        log = self.program.log().strip()[-MAX_LOG_SHOWN:]
        self.program.close()
        return " The end of its log:\n" + "\n".join(map(printable, log.splitlines())) if log else ""

    def _answer(self, message: bytes, seconds: float | None) -> bytes:
        """Sends a message with the number of this question; returns the message with the same number."""
        deadline = None if seconds is None else time.monotonic() + seconds
        line = self.program.ask(message, seconds)
        for _ in range(MAX_MESSAGES):
            if (number := bytes(protocol.read(line).id)) == b"%d" % self._number:
                return line
            try:
                line = self.program.next(None if deadline is None else max(deadline - time.monotonic(), 0.0))
            except BotFault as fault:
                other = f"The last message had the 'id' {number.decode()}, not {self._number}."
                raise BotFault(fault.kind, f"{fault} {other}") from None
        raise BotFault(Fault.FLOOD, f"More than {MAX_MESSAGES} messages came that nobody asked for.")


class BotAgent:
    """An agent that is another program. One question is put at a time, from whatever thread.

    A deterministic bot is asked the equal decisions of a batch, those of which it is sent the same, once. Answers are not kept
    for later batches: which decisions a fault costs would depend on what else the process has played.
    """

    def __init__(self, name: str, setup: Setup, settings: BotSettings, session: Session) -> None:
        """``session`` is the bot, ready to play; :func:`load` makes one."""
        self.name = name
        self.setup = setup
        self.ready: Ready = session.ready
        """What the bot says of itself."""
        self.faults = FaultCounts()
        self.last_fault: str | None = None
        """The sentence of the last fault."""
        self.questions = 0
        """Decisions that the bot was asked, fewer than it was to make where some were equal."""
        self.needs_history = PLIES in self.ready.wants
        self._settings = settings
        self._rows = Rows(setup, self.ready.wants)
        self._session: Session | None = session
        self._lock = threading.Lock()
        self._last = threading.local()
        self._faults = 0

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns legal actions, ``(K,)``: those that the bot answers, or draws by its probabilities.

        After a fault they are the lowest legal actions, or it raises :class:`AgentError`, as the settings say.
        """
        seeds = None if self.ready.deterministic else seeds_of(rng.random(len(decisions.index)))
        self._last.choices = choices = self._choices(ACTIONS, decisions, seeds)
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
                self._session.close()
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
        """Returns the bot's choices at all decisions, in turns of its size."""
        with self._lock:
            rows = self._rows.encode(decisions, seeds)
            if self.ready.deterministic:
                first: dict[bytes, int] = {}
                for k, row in enumerate(rows):
                    first.setdefault(row, k)
                by_row = dict(zip(first, self._asked(kind, decisions, [*first.values()], rows), strict=True))
                choices = [by_row[row] for row in rows]
            else:
                choices = self._asked(kind, decisions, range(len(rows)), rows)
            self.faults.decisions += len(rows)
            self.faults.forfeited += sum(choice.forfeited for choice in choices)
        return choices

    def _asked(self, kind: str, decisions: DecisionBatch, which: Sequence[int], rows: list[bytes]) -> list[Choice]:
        """Asks the decisions number ``which`` in turns of the bot's size."""
        choices: list[Choice] = []
        for at in range(0, len(which), self.ready.batch):
            choices += self._turn(kind, decisions, [*which[at : at + self.ready.batch]], rows)
        return choices

    def _turn(self, kind: str, decisions: DecisionBatch, which: list[int], rows: list[bytes]) -> list[Choice]:
        """Asks the decisions number ``which`` at once; they are forfeited after a fault, and after too many."""
        question = Question(kind, decisions.index[which], decisions.seat[which], decisions.legal[which])
        if self._faults < MAX_FAULTS:
            limit = self._settings.decision_seconds
            seconds = None if limit is None else limit * len(which)
            try:
                session = self._running()
                self.questions += len(which)
                return session.ask(question, [rows[k] for k in which], seconds, self.setup.game.actions)
            except BotFault as fault:
                self._count(fault, question)
        return [Choice(lowest(bits), forfeited=True) for bits in question.legal.tolist()]

    def _running(self) -> Session:
        """Returns the bot; starts it after a fault, and in a process that was forked from the one that did."""
        if self._session is None or self._session.process != os.getpid():
            try:
                self._session = Session(self.name, self.setup, self._settings)
            except AgentError as error:  # it could be started before
                raise BotFault(Fault.EXIT, str(error)) from None
            if self._session.ready != self.ready:
                raise BotFault(
                    Fault.INVALID,
                    f"Started again, it is {quoted(self._session.ready)}, and it was {quoted(self.ready)} before.",
                )
        return self._session

    def _count(self, fault: BotFault, question: Question) -> None:
        """Counts a fault and ends the bot; raises :class:`AgentError` where a fault ends everything."""
        session, self._session, log = self._session, None, ""
        if session is not None and session.process == os.getpid():
            if fault.kind == Fault.TIMEOUT:
                session.stop()
            log = session.close()
        others = f" and {len(question.table) - 1} more" if len(question.table) > 1 else ""
        asked = f"asked for {question.answer} at table {question.table[0]}, seat {question.seat[0]}{others}"
        self.last_fault = f"The bot {quoted(self.name)}, {asked}: {fault.kind}. {fault}{log}"
        self.faults.faults[fault.kind] += 1
        self._faults += 1
        if self._settings.on_fault == STOP:
            raise AgentError(self.last_fault)


class DistributionBot(BotAgent):
    """A bot that can answer with the probabilities of its actions."""

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns the probabilities of the bot's actions, ``(K, A)``; after a fault as :meth:`act`."""
        return self._table(self._choices(PROBABILITIES, decisions, None), decisions)
