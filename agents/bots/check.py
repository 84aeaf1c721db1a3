"""Plays every message of the bot protocol at a bot, and says in sentences what it does wrong and how to mend it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nainjaune_env.agent import SeatAssignment
from nainjaune_env.core.errors import AgentError, RulesError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

from . import messages
from .check_decisions import SentDecisions
from .connection import QUIT, BotFault, Connection
from .faults import Fault
from .messages import ACTIONS, PLIES, PROBABILITIES, Choice, Ready
from .players import connector, load
from .process import arguments
from .settings import BotSettings

MANY = 4096
"""The most decisions in a turn of the check."""
FEW = 16
"""Decisions in a turn that is stopped: it fits into a pipe."""
SPEED_TURNS = 3
MATCH_SECONDS = 20.0
"""How long a match goes on at most."""
QUIT_SECONDS = 1.0
UNKNOWN = {"list": [1, [2, {"a": "]}"}]], "text": 'a "quoted" \\ text', "nothing": None}
"""The content of fields that no version of the protocol has."""
MEND = {
    Fault.TIMEOUT: "Answer every question once, with its id, in one message; a program flushes its output after the line.",
    Fault.EXIT: "A bot goes on until 'quit' or the end of its input.",
    Fault.INVALID: "docs/protocol.md shows the message.",
    Fault.ILLEGAL: "Choose one of 'legal' by its number, not by its place in the list.",
    Fault.FLOOD: "Write one message for each question, and nothing else.",
}
"""What to look at, by the kind of fault."""
NOT_JSON = "The output of a program is for answers alone, one JSON object a line; a log goes to standard error."


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    what: str
    """What was checked, in a few words."""
    problem: str | None = None
    """What is wrong and how to mend it, in sentences; None if nothing is."""
    note: str = ""
    """What else there is to say."""
    log: str = ""
    """The end of the bot's log where something is wrong."""


class _Problem(Exception):
    """What is wrong, in sentences."""


def check_bot(name: str, setup: Setup, settings: BotSettings) -> Iterator[Finding]:
    """Yields what is found of the bot called ``name`` at tables with ``setup``, check by check, with the clocks of ``settings``.

    If it does not start, no other check follows. Raises :class:`~nainjaune_env.core.errors.AgentError` where there is no such
    program or address.
    """
    check = _Check(name, setup, settings)
    try:
        first = check.run("hello", check.start)
        yield first
        if first.problem is None:
            for what, step in check.steps():
                yield check.run(what, step)
    finally:
        check.close()


class _Check:
    def __init__(self, name: str, setup: Setup, settings: BotSettings) -> None:
        self._name, self._setup, self._settings = name, setup, settings
        self._connect = connector(name)
        self._is_program = name.startswith("exec:")
        self._is_session = not name.startswith("http")
        self._connection: Connection | None = None
        self._number = 0
        self.ready = Ready("")

    # ------------------------------------------------------------ the connection

    def run(self, what: str, step: Callable[[], str]) -> Finding:
        try:
            return Finding(what, note=step())
        except _Problem as problem:
            return Finding(what, str(problem))
        except BotFault as fault:
            log = "" if self._connection is None else self._connection.log().strip()
            self.close()
            return Finding(what, f"{fault} {MEND[fault.kind]}", log=log)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self, **more: Any) -> Ready:
        """Starts the bot again; ``more`` fields are added to ``hello``."""
        self.close()
        hello = json.loads(messages.hello(self._setup, self._settings))
        message = json.dumps({**more, **hello, "id": more.get("id", 0)}).encode()
        began = time.perf_counter()
        self._connection = self._connect()
        answer = self._put(message, more.get("id", 0), self._settings.start_seconds)
        self._start_seconds = time.perf_counter() - began
        try:
            return messages.read_ready(answer)
        except BotFault as fault:
            if answer["type"] != "refuse":
                raise
            raise _Problem(f"{fault} Check it at tables that it plays: --game, --preset, --players, --set.") from None

    def _put(self, message: bytes, number: int, seconds: float | None, *, late: tuple[int, ...] = ()) -> dict[str, Any]:
        """Returns the answer to the question ``number``; before it may come answers to ``late`` ones."""
        if self._connection is None:
            self._open()
        assert self._connection is not None
        line = self._connection.ask(message, seconds)
        while (answer := _read(line)).get("id") in late:
            line = self._connection.next(seconds)
        if answer.get("id") != number or isinstance(answer["id"], bool):
            said = f"the id {quoted(answer['id'])}" if "id" in answer else "no id"
            raise _Problem(f"The question had the id {number}, and the answer had {said}. An answer has the id of its question.")
        return answer

    def _ask(self, decisions: SentDecisions, answer: str = ACTIONS, *, late: tuple[int, ...] = (), **more: Any) -> list[Choice]:
        """Asks a turn; ``more`` fields are added to it and to each decision."""
        message = self._turn(decisions, answer, **more)
        seconds = self._seconds(len(decisions.rows))
        said = self._put(message, self._number, seconds, late=late)
        return messages.read_answer(said, decisions.question(answer), self._setup.game.actions)

    def _turn(self, decisions: SentDecisions, answer: str = ACTIONS, **more: Any) -> bytes:
        self._number += 1
        message = messages.turn(self._number, answer, decisions.rows, self._seconds(len(decisions.rows)))
        if not more:
            return message
        changed = json.loads(message)
        changed["decisions"] = [{**more, **row} for row in changed["decisions"]]
        return json.dumps({**more, **changed}).encode()

    def _seconds(self, decisions: int) -> float | None:
        each = self._settings.decision_seconds
        return None if each is None else each * decisions

    # ------------------------------------------------------------ the checks

    def start(self) -> str:
        try:
            ready = self.ready = self._open()
        except BotFault as fault:
            if fault.kind == Fault.TIMEOUT:
                shown = '{"type": "ready", "protocol": 1, "id": 0, "name": "my bot"}'
                raise BotFault(fault.kind, f"It was sent 'hello'. {fault} A bot answers with a line such as {shown}.") from None
            raise
        try:
            self._decisions = SentDecisions.some(self._setup, ready, min(ready.batch, MANY))
        except AgentError as error:  # it wants what the game does not have
            raise _Problem(str(error)) from None
        self._one = self._decisions.taken(slice(0, 1))
        said = f"{ready.name} {ready.version}".strip() + (f" by {ready.author}" if ready.author else "")
        flags = [flag for flag in ("distribution", "deterministic") if getattr(ready, flag)]
        wants = f"wants {', '.join(ready.wants)}" if ready.wants else "wants nothing more"
        about = [said, wants, f"batch {ready.batch}", *flags, f"ready in {self._start_seconds:.2g} s"]
        return "; ".join(about)

    def steps(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """Yields the checks of a bot that has started, by name."""
        yield "one decision", self.one_decision
        if self.ready.batch > 1:
            yield f"{len(self._decisions.rows)} decisions", self.many_decisions
        yield "asked again", self.asked_again
        if self.ready.batch > 1:
            yield "another order", self.another_order
        if self.ready.distribution:
            yield "probabilities", self.probabilities
        yield "started again", self.started_again
        yield "unknown fields", self.unknown_fields
        yield "unknown type", self.unknown_type
        yield "stop", self.stop
        yield "a match", self.match
        if self._is_session:
            yield "quit", self.quit
        if self._is_program:
            yield "end of input", self.end_of_input

    def one_decision(self) -> str:
        self._ask(self._one)
        return ""

    def many_decisions(self) -> str:
        seconds = []
        for _ in range(SPEED_TURNS):
            began = time.perf_counter()
            self._ask(self._decisions)
            seconds.append(time.perf_counter() - began)
        return f"{len(self._decisions.rows) / min(seconds):,.0f} decisions a second"

    def asked_again(self) -> str:
        self._same(self._ask(self._decisions), self._ask(self._decisions), "Asked the same twice")
        return ""

    def another_order(self) -> str:
        turned = self._ask(self._decisions.taken(slice(None, None, -1)))
        self._same(self._ask(self._decisions), turned[::-1], "Asked the same decisions in another order")
        return ""

    def probabilities(self) -> str:
        asked = [self._ask(self._decisions.without_seeds(), PROBABILITIES) for _ in range(2)]
        if [choice.probabilities for choice in asked[0]] != [choice.probabilities for choice in asked[1]]:
            raise _Problem("Asked the same twice, it gave other probabilities. They depend on the decision alone.")
        return ""

    def started_again(self) -> str:
        before = self._ask(self._decisions)
        self._open()
        self._same(before, self._ask(self._decisions), "Started again and asked the same")
        return "in the middle of rounds, with all their plies" if PLIES in self.ready.wants else "in the middle of rounds"

    def unknown_fields(self) -> str:
        before = self._ask(self._decisions)
        try:
            self._open(id=7, x_check=UNKNOWN)
            after = self._ask(self._decisions, x_check=UNKNOWN)
        except BotFault as fault:
            hint = "Ignore fields that you do not know, and expect any white space and order of fields that JSON allows."
            raise BotFault(fault.kind, f"It was sent an unknown field. {fault} {hint}") from None
        self._same(before, after, "Asked the same, with an unknown field in the messages")
        return ""

    def unknown_type(self) -> str:
        if self._connection is None:
            self._open()
        assert self._connection is not None
        self._connection.tell(messages.dumps({"type": "x_check", "id": self._number + 1000, **UNKNOWN}))
        try:
            self._ask(self._one, late=(self._number + 1000,))
        except BotFault as fault:
            raise BotFault(fault.kind, f"It was sent a message of an unknown type. {fault} Ignore such messages.") from None
        return ""

    def stop(self) -> str:
        """A turn that is stopped while the bot may be thinking, and one that has long been answered."""
        if self._connection is None:
            self._open()
        assert self._connection is not None
        try:
            self._connection.tell(self._turn(self._decisions.taken(slice(0, FEW))))
            stopped = self._number
            self._connection.tell(messages.stop(stopped))
            self._ask(self._one, late=(stopped,))
            self._connection.tell(messages.stop(stopped))
            self._ask(self._one)
        except BotFault as fault:
            hint = "'stop' has no answer: go on with the next question."
            raise BotFault(fault.kind, f"It was sent 'stop' and then a turn. {fault} {hint}") from None
        return ""

    def match(self) -> str:
        """The bot in all seats, one decision a turn."""
        self.close()
        try:
            bot = load(self._name, self._setup, self._settings)
        except AgentError as error:
            raise _Problem(str(error)) from None
        batch = self._table(bot.needs_history)
        rng = np.random.default_rng(1)
        seats = np.zeros((1, self._setup.players), np.int64)
        table = SeatAssignment(batch, [bot], seats, lambda number, index: rng)
        decisions, began = 0, time.perf_counter()
        try:
            while not batch.done[0] and time.perf_counter() - began < MATCH_SECONDS:
                batch.step(table.actions(np.zeros(1, np.int64)))
                table.stepped()
                decisions += 1
        except AgentError as error:
            raise _Problem(str(error)) from None
        finally:
            bot.close()
        rate = decisions / (time.perf_counter() - began)
        ended = "" if batch.done[0] else f", and left after {MATCH_SECONDS:g} s"
        return f"{decisions} decisions{ended}; {rate:,.0f} a second, one at a time"

    def _table(self, log: bool) -> Batch:
        """Returns a table for a match, or for a round where matches have no end."""
        with contextlib.suppress(RulesError):
            return Batch(self._setup, 1, seed=1, episode="match", autoreset=False, log=log)
        return Batch(self._setup, 1, seed=1, autoreset=False, log=log)

    def quit(self) -> str:
        self._ask(self._one)
        assert self._connection is not None
        self._connection.tell(QUIT)
        try:
            self._connection.next(QUIT_SECONDS)
        except BotFault as fault:
            if fault.kind == Fault.EXIT:
                return ""
            self.close()
            if fault.kind == Fault.TIMEOUT:
                raise _Problem("It is still there a second after 'quit'. End at once when it comes.") from None
            raise
        raise _Problem("It answered 'quit', which has no answer. End at once when it comes.")

    def end_of_input(self) -> str:
        """What happens when the host dies."""
        with tempfile.TemporaryFile() as hello:
            hello.write(messages.hello(self._setup, self._settings) + b"\n")
            hello.seek(0)
            quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
            process = subprocess.Popen(arguments(self._name.removeprefix("exec:")), stdin=hello, **quiet)
        start = self._settings.start_seconds
        try:
            process.wait(None if start is None else start + QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            hint = "End when a read says so, or bots are left behind when their host is killed."
            raise _Problem(f"It is still running a second after the end of its input. {hint}") from None
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return ""

    def _same(self, before: list[Choice], after: list[Choice], when: str) -> None:
        """Raises a problem unless two answers are equal."""
        if self.ready.deterministic:
            hint = "It says that it is deterministic: let answers depend on the decision alone, or leave 'deterministic' out."
        else:
            hint = "Let answers depend on the decision alone, and draw from its 'seed' alone."
        for one, other in zip(before, after, strict=True):
            if (one.action, one.probabilities) != (other.action, other.probabilities):
                said = " and then ".join(quoted(choice.probabilities or choice.action) for choice in (one, other))
                raise _Problem(f"{when}, it answered {said}. {hint}")


def _read(line: bytes) -> dict[str, Any]:
    try:
        return messages.read(line)
    except BotFault as fault:
        raise _Problem(f"{fault} {NOT_JSON}") from None
