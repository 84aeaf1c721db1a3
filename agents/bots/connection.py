"""The way of messages to a bot and back: what a process, a WebSocket and an HTTP address have in common."""

from __future__ import annotations

from typing import Protocol

from .faults import BotFault as BotFault

QUIT = b'{"type":"quit"}'
"""The last message to a bot."""
MAX_LINE = 1 << 24
"""Bytes of the longest message that is read."""
MAX_UNASKED = 1000
"""Messages that nobody asked for and that are ignored between two questions."""


class Connection(Protocol):
    """An open connection to one bot. A message is one JSON object as bytes, without the newline."""

    def ask(self, message: bytes, seconds: float | None) -> bytes:
        """Sends ``message`` and returns the next message of the bot; what it wrote before was not asked for and is dropped.

        Raises :class:`BotFault`: without an answer in ``seconds`` (None: no limit), at the end of the connection, or for too
        much output. A bot that does not read its input is a timeout.
        """

    def next(self, seconds: float | None) -> bytes:
        """Returns the message after the one that :meth:`ask` returned, as :meth:`ask` does."""

    def tell(self, message: bytes) -> None:
        """Sends a message without an answer; a bot that does not read it within a second misses it, without a fault."""

    def log(self) -> str:
        """Returns the end of what the bot wrote to its log (standard error), for messages of errors; empty if it has none."""

    def close(self) -> None:
        """Asks the bot to quit, and ends it after a second if it has not; all its processes. May be called again."""
