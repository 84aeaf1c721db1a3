"""A chat-completions endpoint: requests within a time, made again where the endpoint is busy, and answers with strict checks.

This speaks HTTP itself. The ``openai`` client has no limit for the whole of an answer (its time-out starts again with every byte
read), and comes with fourteen packages; a test holds what is sent here against what that client sends.
"""

from __future__ import annotations

import json
import math
import os
import time
import weakref
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

from nainjaune_env.core.errors import AgentError, as_sentence, quoted
from nainjaune_env.core.validation import whole
from nainjaune_env.text.tokens import count_tokens

from ..bots.address import split_address
from ..bots.connection import BotFault
from ..bots.faults import Fault
from ..bots.http import HttpConnection, Response
from .settings import KEY_VARIABLE, URL_VARIABLE, VENDOR
from .store import Completion

ATTEMPTS = 6
FIRST_WAIT = 0.5
"""Seconds before the second attempt; each further wait is twice as long."""
MAX_WAIT = 120.0
"""The longest wait in seconds that an endpoint may ask for by ``Retry-After``."""
BUSY = {408, 409, 429}
"""Statuses after which a request is made again, as after all from 500 on."""
REFUSED = {401, 402, 403, 404}
"""Statuses that another request would get too: they end the command."""
MAX_TOLD = 300
"""Characters of an endpoint's message that a sentence quotes."""


class PaidFault(BotFault):
    """An answer that cannot be read, but was paid: by estimate ``prompt_tokens`` and ``answer_tokens``."""

    def __init__(self, sentence: str, prompt_tokens: int, answer_tokens: int) -> None:
        super().__init__(Fault.INVALID, sentence)
        self.tokens = prompt_tokens, answer_tokens


class Endpoint:
    """An endpoint, for any number of threads: each call has a connection of its own, which is kept for later ones."""

    def __init__(self, base_url: str, model: str) -> None:
        """Raises :class:`AgentError` for a base URL that is none, and where the key is missing or cannot be one."""
        self.model = model
        self.base_url = base_url.rstrip("/")
        if split_address(self.base_url, "The base URL of an endpoint").scheme not in ("http", "https"):
            raise AgentError(f"The base URL of an endpoint begins with http:// or https://, unlike {quoted(base_url)}.")
        key = os.environ.get(KEY_VARIABLE, "")
        if not key and self.base_url == VENDOR:
            raise AgentError(
                f"{quoted(f'chat:{model}')} asks {VENDOR}, which needs a key: set {KEY_VARIABLE} in the environment, or name "
                f"another endpoint by --base-url or {URL_VARIABLE}."
            )
        if not (key.isascii() and key.isprintable()):
            raise AgentError(f"{KEY_VARIABLE} has characters that no key has.")
        self._headers = {"User-Agent": "nainjaune-env", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._idle: list[HttpConnection] = []
        self._process = os.getpid()
        self.close = weakref.finalize(self, _close, self._idle)
        """Closes the connections that are not in use."""

    def complete(
        self, request: bytes, seconds: float, before: Callable[[], None], broken: Callable[[int], None]
    ) -> tuple[Completion, float]:
        """Returns the answer to ``request``, a JSON body, and the seconds that the endpoint took.

        Waits between attempts take none of the time. Raises :class:`BotFault` without a valid answer in ``seconds``, and after
        ``ATTEMPTS`` of them, and :class:`AgentError` where the endpoint refuses the key or does not know the model.

        ``before`` is called before each attempt, and ``broken`` after each that may be paid without a whole answer, with the
        bytes that came.
        """
        taken, wait = 0.0, FIRST_WAIT
        for attempt in range(1, ATTEMPTS + 1):
            before()
            connection, since = self._connection(), time.monotonic()
            asked: float | None = None
            try:
                response = connection.exchange(request, None if math.isinf(seconds) else max(seconds - taken, 0.0))
            except BotFault as fault:
                if connection.received or fault.kind == Fault.TIMEOUT:
                    broken(connection.received)
                if fault.kind == Fault.TIMEOUT:
                    raise BotFault(fault.kind, f"No answer came within {seconds:g} seconds (--bot-seconds).") from None
                if fault.kind != Fault.EXIT:
                    raise
                said = str(fault)
            else:
                self._idle.append(connection)
                if response.status == 200:
                    return read_completion(request, response.body), taken + time.monotonic() - since
                said = f"It answered with the HTTP status {response.status}: {_message(response.body)}"
                if response.status in REFUSED:
                    raise AgentError(f"The endpoint {self.base_url} refuses {quoted(f'chat:{self.model}')}. {said}")
                if response.status not in BUSY and response.status < 500:
                    raise BotFault(Fault.INVALID, said)
                asked = retry_after(response)
            taken += time.monotonic() - since
            if attempt == ATTEMPTS or (asked or 0.0) > MAX_WAIT:
                break
            time.sleep(wait if asked is None else asked)
            wait *= 2
        often = f"{attempt} times" if attempt > 1 else "once"
        raise BotFault(Fault.EXIT, f"The endpoint {self.base_url} was asked {often} in vain. {said}")

    def _connection(self) -> HttpConnection:
        if self._process != os.getpid():  # a fork leaves the connections to its parent
            self._idle.clear()
            self._process = os.getpid()
        try:
            return self._idle.pop()
        except IndexError:
            return HttpConnection(f"{self.base_url}/chat/completions", self._headers)


def _close(connections: list[HttpConnection]) -> None:
    while connections:
        connections.pop().close()


def retry_after(response: Response) -> float | None:
    """Returns how many seconds the endpoint asks to wait; None where it does not say so, or not as HTTP has it."""
    given = response.headers.get("Retry-After", "").strip()
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def read_completion(request: bytes, body: bytes) -> Completion:
    """Returns the answer in the ``body`` of a response; raises :class:`PaidFault` unless it is one.

    An answer without text, such as a refusal or a call of a tool, is empty. Tokens that it does not state are estimated.
    """
    estimate = count_tokens(request.decode()), count_tokens(body.decode(errors="replace"))
    try:
        message = json.loads(body.decode())
        choice = message["choices"][0]
        text, reason, usage = choice["message"].get("content"), choice.get("finish_reason"), message.get("usage")
        if not isinstance(text, str | None):
            raise TypeError
        text = (text or "").encode(errors="replace").decode()  # half of a surrogate pair cannot be written again
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        shown = quoted(body.decode(errors="replace"))
        raise PaidFault(f"Expected a chat completion, not {shown}.", *estimate) from None
    tokens = [_tokens(usage, name) for name in ("prompt_tokens", "completion_tokens")]
    counted = [
        guess if number is None else number for number, guess in zip(tokens, (estimate[0], count_tokens(text)), strict=True)
    ]
    return Completion(text, reason == "length", *counted)


def _tokens(usage: Any, name: str) -> int | None:
    number = whole(usage.get(name)) if isinstance(usage, dict) else None
    return number if number is not None and 0 <= number < 1 << 53 else None


def _message(body: bytes) -> str:
    """Returns what an endpoint says of an error."""
    text = body.decode(errors="replace")
    try:
        error = json.loads(text)["error"]
        text = error["message"] if isinstance(error, dict) else error
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    return as_sentence(ValueError(quoted(str(text)[:MAX_TOLD])))
