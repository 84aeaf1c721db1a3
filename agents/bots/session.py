"""One bot from its start to its end: hello, and questions whose answers are found by their numbers."""

from __future__ import annotations

import time
from typing import Any

from nainjaune_env.core.errors import quoted
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from . import messages
from .connection import MAX_UNASKED, BotFault, Connection
from .faults import Fault
from .messages import Choice, Question, Ready
from .settings import BotSettings

MAX_LOG_SHOWN = 1000
"""Characters of the end of a bot's log in a sentence."""


class BotSession:
    """A conversation over one connection."""

    def __init__(self, connection: Connection, setup: Setup) -> None:
        """``connection`` was just made; :meth:`greet` comes first."""
        self.ready = Ready("")
        """What the bot says of itself."""
        self._connection = connection
        self._setup = setup
        self._number = 0

    def greet(self, settings: BotSettings) -> None:
        """Says hello; raises :class:`BotFault` unless the bot is ready to play."""
        hello = messages.hello(self._setup, settings)
        self.ready = messages.read_ready(self._answer(hello, settings.start_seconds))

    def ask(self, question: Question, rows: list[bytes], seconds: float | None) -> list[Choice]:
        """Returns the answers to a question, whose decisions are ``rows``; raises :class:`BotFault` without them in time."""
        self._number += 1
        message = messages.turn(self._number, question.answer, rows, seconds)
        return messages.read_answer(self._answer(message, seconds), question, self._setup.game.actions)

    def _answer(self, message: bytes, seconds: float | None) -> dict[str, Any]:
        """Sends a message with the number of this question; returns the message with the same number."""
        deadline = None if seconds is None else time.monotonic() + seconds
        line = self._connection.ask(message, seconds)
        for _ in range(MAX_UNASKED):
            answer = messages.read(line)
            if type(answer.get("id")) is int and answer["id"] == self._number:
                return answer
            last = answer
            try:
                line = self._connection.next(None if deadline is None else max(deadline - time.monotonic(), 0.0))
            except BotFault as fault:
                other = f"'id' {quoted(last.get('id'))}, not {self._number}"
                raise BotFault(fault.kind, f"{fault} The last message had the {other}.") from None
        raise BotFault(Fault.FLOOD, f"More than {MAX_UNASKED} messages came that nobody asked for.")

    def end(self, fault: BotFault | None = None) -> str:
        """Ends the bot, perhaps after a ``fault``; returns the end of its log as the end of a sentence, if there is one."""
        if fault is not None and fault.kind == Fault.TIMEOUT:
            self._connection.tell(messages.stop(self._number))
        log = self._connection.log().strip()[-MAX_LOG_SHOWN:]
        self._connection.close()
        return " The end of its log:\n" + "\n".join(map(printable, log.splitlines())) if log else ""
