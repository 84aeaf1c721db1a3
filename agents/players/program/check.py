"""Plays every message of the bot protocol at a program, and says in sentences what it does wrong and how to mend it."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import AgentError, RulesError, quoted
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

from . import protocol
from .faults import BotFault, Fault
from .player import PREFIX, load
from .process import QUIT, Program
from .protocol import ACTIONS, PLIES, PROBABILITIES, Choice, Question, Rows
from .settings import BotSettings

MANY = 4096
"""The most decisions in a turn of the check."""
FEW = 16
"""Decisions in a turn that is stopped."""
PLIES_BEFORE = 8
"""Random decisions at each table before those that are asked."""
SPEED_TURNS = 3
MAX_TURN_SECONDS = 600.0
"""The longest clock of a turn of many decisions."""
MATCH_SECONDS = 20.0
"""How long a match goes on at most."""
QUIT_SECONDS = 1.0
UNKNOWN = {"list": [1, [2, {"a": "]}"}]], "text": 'a "quoted" \\ text', "nothing": None}
"""The content of fields that no version of the protocol has."""
MEND = {
    Fault.TIMEOUT: "Answer every question once, with its id, in one line, and flush the output after it.",
    Fault.EXIT: "A bot goes on until 'quit' or the end of its input.",
    Fault.INVALID: "docs/protocol.md shows the message; the output is for answers alone, and a log goes to standard error.",
    Fault.ILLEGAL: "Choose one of 'legal' by its number, not by its place in the list.",
    Fault.FLOOD: "Write one message for each question, and nothing else.",
}
"""What to look at, by the kind of fault."""
HINTS = {
    "unknown fields": "Ignore fields that you do not know, in any order, with any white space.",
    "unknown type": "Ignore messages of types that you do not know.",
    "stop": "'stop' has no answer: go on with the next question.",
}
"""What to look at after a fault in some of the checks."""


class Finding(NamedTuple):
    """The result of one check."""

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


class _Turn(NamedTuple):
    """Decisions at different tables in the middle of rounds, as they are sent."""

    rows: list[bytes]
    table: NDArray[np.int64]
    seat: NDArray[np.int64]
    legal: NDArray[np.int64]

    def part(self, which: slice) -> _Turn:
        return _Turn(self.rows[which], self.table[which], self.seat[which], self.legal[which])


def check_bot(name: str, setup: Setup, settings: BotSettings | None = None) -> Iterator[Finding]:
    """Yields the results of all checks of the bot called ``name`` at tables with ``setup``, one by one.

    If it does not start, or gives no answer in time, no other check follows. Raises :class:`AgentError` where there is no such
    program.
    """
    check = _Check(name, setup, settings or BotSettings())
    try:
        yield (hello := check.run("hello", check.hello))
        for what, step in check.steps() if hello.problem is None else ():
            if not check.is_silent:
                yield check.run(what, step)
    finally:
        check.close()


class _Check:
    def __init__(self, name: str, setup: Setup, settings: BotSettings) -> None:
        self._name, self._setup, self._settings = name, setup, settings
        self._program: Program | None = None
        self._number = 0
        self.is_silent = False
        """Whether a question had no answer in time: each other check might wait as long."""

    def run(self, what: str, step: Callable[[], str | None]) -> Finding:
        try:
            return Finding(what, note=step() or "")
        except _Problem as problem:
            return Finding(what, str(problem))
        except BotFault as fault:
            log = "" if self._program is None else self._program.log().strip()
            self.close()
            self.is_silent = fault.kind == Fault.TIMEOUT
            return Finding(what, f"{fault} {HINTS.get(what, MEND[fault.kind])}", log=log)

    def close(self) -> None:
        if self._program is not None:
            self._program.close()
            self._program = None

    def _running(self) -> Program:
        if self._program is None:
            self._open()
        assert self._program is not None
        return self._program

    def _open(self, number: int = 0, **more: Any) -> None:
        """Starts the bot; ``more`` fields are added to ``hello``."""
        self.close()
        began, self._program = time.perf_counter(), Program(self._name.removeprefix(PREFIX))
        message = {**more, **json.loads(protocol.hello(self._setup, self._settings)), "id": number}
        self.ready = protocol.read_ready(self._answer(protocol.dumps(message), number, self._settings.start_seconds))
        self._started_in = time.perf_counter() - began

    def _answer(self, message: bytes, number: int, seconds: float | None, late: int | None = None) -> bytes:
        """Returns the answer to the question ``number``; before it may come one to the question ``late``."""
        line = self._running().ask(message, seconds)
        if late is not None and bytes(protocol.read(line).id) == b"%d" % late:
            line = self._running().next(seconds)
        if (given := bytes(protocol.read(line).id)) != b"%d" % number:
            raise _Problem(f"The question had the id {number}, and the answer {given.decode()}. An answer has its question's id.")
        return line

    def _turn(self, turn: _Turn, answer: str = ACTIONS, **more: Any) -> tuple[bytes, float | None]:
        """Returns the next question and its seconds; ``more`` fields are added to it and to each decision."""
        limit = self._settings.decision_seconds
        seconds = None if limit is None else min(limit * len(turn.rows), MAX_TURN_SECONDS)
        self._number += 1
        message = json.loads(protocol.turn(self._number, answer, turn.rows, seconds))
        message["decisions"] = [{**more, **row} for row in message["decisions"]]
        return protocol.dumps({**more, **message}), seconds

    def _ask(self, turn: _Turn, answer: str = ACTIONS, late: int | None = None, **more: Any) -> list[Choice]:
        message, seconds = self._turn(turn, answer, **more)
        line = self._answer(message, self._number, seconds, late)
        return protocol.read_answer(line, Question(answer, *turn[1:]), self._setup.game.actions)

    def _compare(self, before: list[Choice], after: list[Choice], when: str) -> None:
        """Raises a problem unless two answers are equal."""
        hint = "It says that it is deterministic: an answer depends on the decision alone."
        if not self.ready.deterministic:
            hint = "An answer depends on the decision and its 'seed' alone."
        for one, other in zip(before, after, strict=True):
            if one[:2] != other[:2]:
                said = " and then ".join(quoted(choice.probabilities or choice.action) for choice in (one, other))
                raise _Problem(f"{when}, it answered {said}. {hint}")

    # ------------------------------------------------------------ the checks

    def hello(self) -> str:
        try:
            self._open()
        except protocol.Refused as refused:
            raise _Problem(f"{refused} Check it at tables that it plays: --game, --preset, --players, --set.") from None
        except BotFault as fault:
            example = '{"type": "ready", "protocol": 1, "id": 0, "name": "my bot"}'
            raise BotFault(fault.kind, f"It was sent 'hello'. {fault} A bot answers with a line such as {example}.") from None
        ready = self.ready
        batch = Batch(self._setup, min(ready.batch, MANY), seed=1, log=PLIES in ready.wants)
        random_streams = streams(2, batch.num_tables)
        for _ in range(PLIES_BEFORE):
            batch.step(batch.sample(random_streams))
        decisions = DecisionBatch(batch, np.arange(batch.num_tables), None, PLIES in ready.wants)
        seeds = None if ready.deterministic else np.random.default_rng(3).integers(0, 1 << 53, batch.num_tables)
        try:
            rows = Rows(self._setup, ready.wants)
        except AgentError as error:  # it wants what the game does not have
            raise _Problem(str(error)) from None
        self._many = _Turn(rows.encode(decisions, seeds), decisions.index, decisions.seat, decisions.legal)
        self._seedless = self._many._replace(rows=rows.encode(decisions, None))
        self._one = self._many.part(slice(1))
        by = f" by {ready.author}" if ready.author else ""
        flags = [flag for flag in ("distribution", "deterministic") if getattr(ready, flag)]
        wants = f"wants {', '.join(ready.wants) or 'nothing more'}"
        name = f"{ready.name} {ready.version}".strip() + by
        return "; ".join([name, wants, f"batch {ready.batch}", *flags, f"ready in {self._started_in:.2g} s"])

    def steps(self) -> Iterator[tuple[str, Callable[[], str | None]]]:
        """Yields the checks of a bot that has started, by name."""
        yield "one decision", self.one_decision
        if self.ready.batch > 1:
            yield f"{len(self._many.rows)} decisions", self.many_decisions
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
        yield "quit", self.quit
        yield "end of input", self.end_of_input

    def one_decision(self) -> None:
        self._ask(self._one)

    def many_decisions(self) -> str:
        seconds = []
        for _ in range(SPEED_TURNS):
            began = time.perf_counter()
            self._ask(self._many)
            seconds.append(time.perf_counter() - began)
        return f"{len(self._many.rows) / min(seconds):,.0f} decisions a second"

    def asked_again(self) -> None:
        self._compare(self._ask(self._many), self._ask(self._many), "Asked the same twice")

    def another_order(self) -> None:
        turned = self._ask(self._many.part(slice(None, None, -1)))
        self._compare(self._ask(self._many), turned[::-1], "Asked the same decisions in another order")

    def probabilities(self) -> None:
        first, second = (self._ask(self._seedless, PROBABILITIES) for _ in range(2))
        self._compare(first, second, "Asked the same twice")

    def started_again(self) -> str:
        before = self._ask(self._many)
        self._open()
        self._compare(before, self._ask(self._many), "Started again and asked the same")
        return "in the middle of rounds" + ", with all their plies" * (PLIES in self.ready.wants)

    def unknown_fields(self) -> None:
        before = self._ask(self._many)
        self._open(7, x_check=UNKNOWN)
        after = self._ask(self._many, x_check=UNKNOWN)
        self._compare(before, after, "Asked the same, with an unknown field in the messages")

    def unknown_type(self) -> None:
        self._running().tell(protocol.dumps({"type": "x_check", "id": 1 << 20, **UNKNOWN}))
        self._ask(self._one, late=1 << 20)

    def stop(self) -> None:
        """A turn that is stopped while the bot may be thinking, and one that was answered long ago."""
        self._running().tell(self._turn(self._many.part(slice(FEW)))[0])
        stopped = self._number
        self._running().tell(protocol.stop(stopped))
        self._ask(self._one, late=stopped)
        self._running().tell(protocol.stop(stopped))
        self._ask(self._one)

    def match(self) -> str:
        """The bot in all seats, one decision a turn, for a round where matches have no end."""
        self.close()
        try:
            bot = load(self._name, self._setup, self._settings)
            batch = Batch(self._setup, 1, seed=1, autoreset=False, log=bot.needs_history)
            with contextlib.suppress(RulesError):
                batch = Batch(self._setup, 1, seed=1, episode="match", autoreset=False, log=bot.needs_history)
            rng, only, began = np.random.default_rng(1), np.zeros(1, np.int64), time.perf_counter()
            with contextlib.closing(bot):
                while not batch.done[0] and time.perf_counter() - began < MATCH_SECONDS:
                    batch.step(bot.act(DecisionBatch(batch, only, None, bot.needs_history), rng))
        except AgentError as error:
            raise _Problem(str(error)) from None
        left = "" if batch.done[0] else f", and left after {MATCH_SECONDS:g} s"
        rate = bot.faults.decisions / (time.perf_counter() - began)
        return f"{bot.faults.decisions} decisions{left}; {rate:,.0f} a second, one at a time"

    def quit(self) -> None:
        self._ask(self._one)
        self._running().tell(QUIT)
        self._ends("'quit'", "End at once when it comes.")

    def end_of_input(self) -> None:
        """What happens when the host is killed."""
        self._open()
        self._running().end_input()
        self._ends("the end of its input", "End when a read says so, or bots are left behind when their host is killed.")

    def _ends(self, after: str, hint: str) -> None:
        try:
            self._running().next(QUIT_SECONDS)
        except BotFault as fault:
            if fault.kind == Fault.TIMEOUT:
                raise _Problem(f"It is still there a second after {after}. {hint}") from None
            if fault.kind != Fault.EXIT:
                raise
        else:
            raise _Problem(f"It answered {after}, which has no answer. {hint}")
        finally:
            self.close()
