"""A model behind a chat-completions endpoint: its answers, kept or paid, within a time and a budget.

The endpoint is not trusted: no answer that it may give is more than a fault, and nothing that it says is handed on with the key.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import math
import os
import re
import ssl
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from nainjaune_env.core.errors import AgentError, MissingLibraryError, as_sentence, quoted
from nainjaune_env.core.validation import whole
from nainjaune_env.text.tokens import BYTES_PER_TOKEN, count_tokens

from ..program.faults import BotFault, Fault
from .settings import URL_VARIABLE, VENDOR, ChatSettings
from .store import AnswerStore, Completion

URL = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?(/[^\s?#@\\]*)?", re.ASCII | re.IGNORECASE)
KEY_VARIABLE = "OPENAI_API_KEY"
MIN_KEY = 8  # characters of a key that is a secret: local endpoints are asked with `EMPTY` and the like
ATTEMPTS = 6
FIRST_WAIT = 0.5  # seconds before the second attempt; each further wait is twice as long
MAX_WAIT = 120.0  # the longest wait in seconds that an endpoint may ask for
BUSY = {408, 409, 429}  # after these statuses, as after all from 500 on, a request is made again
REFUSED = {401, 402, 403, 404}  # another request would get these, too: they end the command
MAX_BYTES = 1 << 24  # of an answer
MAX_TOLD = 300  # characters of an endpoint's message in a sentence
MAX_STATED = 10**9  # tokens that an endpoint states for a question or an answer; beyond, they are estimated
tls = functools.cache(ssl.create_default_context)


@dataclass
class Clock:
    """The time of one decision."""

    seconds: float | None
    """Without the waits between attempts; None: no limit."""
    used: float = 0.0


class Unanswered(BotFault):
    """No whole answer came: a fault, which is final unless it is :attr:`Fault.EXIT`."""

    def __init__(self, kind: Fault, sentence: str, *, is_paid: bool = True) -> None:
        super().__init__(kind, sentence)
        self.is_paid = is_paid


class Endpoint:
    """One model of an endpoint."""

    def __init__(self, model: str, settings: ChatSettings) -> None:
        """Raises :class:`AgentError` for a base URL that is none, and where the key is missing or cannot be one."""
        self.model, self._settings, self._url = model, settings, settings.base_url.rstrip("/")
        self._key = os.environ.get(KEY_VARIABLE, "").strip()
        try:
            valid = URL.fullmatch(settings.base_url) and urlsplit(settings.base_url).port != 0
        except ValueError:  # no port, or no IPv6 address
            valid = False
        if not valid:
            shown = quoted(re.split("[?#]", settings.base_url.rpartition("@")[2])[0])  # without passwords
            raise AgentError(f"A base URL is like https://host/v1, with no user, password, query or fragment in it, not {shown}.")
        if not self._key and self._url == VENDOR:
            raise AgentError(
                f"{quoted(f'chat:{model}')} asks {VENDOR}, which needs a key: set {KEY_VARIABLE} in the environment, or name "
                f"another endpoint by --chat base_url=URL or {URL_VARIABLE}."
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise AgentError(f"{KEY_VARIABLE} has characters that no key has.")
        # as it is, and as JSON may write it
        signs = [rf"(?:\\*{re.escape(sign)}|\\+u(?i:{ord(sign):04x}))" for sign in self._key]
        self._secret = re.compile("".join(signs) if len(signs) >= MIN_KEY else "(?!)")
        try:
            import openai
        except ModuleNotFoundError:
            raise MissingLibraryError("A language model as a player", "openai", "chat") from None
        self._openai: Any = openai
        self._client: Any = None
        self.store = AnswerStore(settings.cache)
        self.stopped = False
        """Whether no call is begun any more."""

    async def close_client(self) -> None:
        """Closes all connections, which belong to the event loop that runs."""
        if self._client is not None:
            await self._client.close()
        self._client = None

    async def complete(self, messages: list[dict[str, str]], clock: Clock) -> Completion:
        """Returns the answer to ``messages``, a kept one if there is one.

        Raises :class:`BotFault` without a valid answer in the time, and after ``ATTEMPTS`` of them, and :class:`AgentError` at
        the end of the budget, and where the endpoint refuses the key or does not know the model.
        """
        most, temperature = self._settings.answer_tokens, self._settings.temperature
        request = {"model": self.model, "messages": messages, "max_completion_tokens": most, "temperature": temperature}
        question = json.dumps(request, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(f"{self._url}\n{question}".encode()).digest()
        if (kept := self.store.get(digest)) is not None:
            return kept
        lost = Completion(None, False, count_tokens(question), most)
        for attempt in range(1, ATTEMPTS + 1):
            self._check()
            try:
                status, body, asked = await self._call(request, clock)
            except Unanswered as error:
                if error.is_paid:
                    self.store.add(self.model, digest, lost)
                if error.kind != Fault.EXIT:
                    raise
                said, asked = str(error), None
            except asyncio.CancelledError:  # by a second Ctrl-C
                self.store.add(self.model, digest, lost)
                raise
            else:
                if status == 200:
                    completion = self._read(body, lost)
                    kept = self.store.add(self.model, digest, completion)
                    if completion.text is None:
                        shown = quoted(self._hidden(body.decode(errors="replace")))
                        raise BotFault(Fault.INVALID, f"Expected a chat completion, not {shown}.")
                    return kept
                said = f"It answered with the HTTP status {status}: {self._message(body)}"
                if status in REFUSED:
                    raise AgentError(f"The endpoint {self._url} refuses {quoted(f'chat:{self.model}')}. {said}")
                if status not in BUSY and status < 500:
                    raise BotFault(Fault.INVALID, said)
            if attempt == ATTEMPTS or (asked or 0.0) > MAX_WAIT:
                break
            until = time.monotonic() + (FIRST_WAIT * 2 ** (attempt - 1) if asked is None else asked)
            while not self.stopped and (left := until - time.monotonic()) > 0:
                await asyncio.sleep(min(left, 1.0))
        often = f"{attempt} times" if attempt > 1 else "once"
        raise BotFault(Fault.EXIT, f"The endpoint {self._url} was asked {often} in vain. {said}")

    def _check(self) -> None:
        """Raises :class:`AgentError` at the end of the budget, and ``CancelledError`` where all is to end."""
        if self.stopped:
            raise asyncio.CancelledError
        if self._settings.tokens is None:
            return
        calls, tokens = self.store.spent()
        if tokens >= self._settings.tokens:
            raise AgentError(
                f"The budget of {self._settings.tokens:,} tokens is spent: {calls:,} calls have cost {tokens:,} tokens. Their "
                f"answers are kept in {str(self.store.folder)!r} and cost nothing again: with more --chat tokens=N it goes on."
            )

    async def _call(self, request: dict[str, Any], clock: Clock) -> tuple[int, bytes, float | None]:
        """Returns the status and the body of the answer to one request, and the seconds that it asks to wait."""
        if self._client is None:
            self._client = self._new_client()
        create = self._client.chat.completions.with_streaming_response.create
        authorization = f"Bearer {self._key}" if self._key else self._openai.Omit()
        headers = {"User-Agent": "nainjaune-env", "Accept-Encoding": "identity", "Authorization": authorization}
        since, body = time.monotonic(), bytearray()
        try:
            async with (
                asyncio.timeout(None if clock.seconds is None else clock.seconds - clock.used),
                create(**request, extra_headers=headers) as response,
            ):
                async for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MAX_BYTES:
                        raise Unanswered(Fault.FLOOD, f"Its answer has more than {MAX_BYTES} bytes.")
            asked = retry_after(response.headers.get("Retry-After", ""))
            return response.http_response.extensions["status"], bytes(body), asked
        except Unanswered:
            raise
        except TimeoutError:
            raise Unanswered(Fault.TIMEOUT, f"No answer came within {clock.seconds:g} seconds (--bot-seconds).") from None
        except self._openai.APIConnectionError as error:  # before an answer began
            said = self._hidden(as_sentence(error.__cause__ or error))
            raise Unanswered(Fault.EXIT, f"The connection failed: {said}", is_paid=False) from None
        except Exception as error:  # three libraries read here what may be anything
            raise Unanswered(Fault.EXIT, f"The connection failed: {self._hidden(as_sentence(error))}") from None
        finally:
            clock.used += time.monotonic() - since

    def _new_client(self) -> Any:
        try:
            http = self._openai.DefaultAsyncHttpxClient(
                follow_redirects=False, timeout=None, verify=tls(), event_hooks={"response": [_hand_on]}
            )
            key = self._key or "none"  # which is not sent
            return self._openai.AsyncOpenAI(api_key=key, base_url=self._url, max_retries=0, http_client=http)
        except Exception as error:  # of a proxy that the environment names wrongly, in three libraries
            raise AgentError(f"The endpoint {self._url} cannot be asked. {self._hidden(as_sentence(error))}") from None

    def _read(self, body: bytes, lost: Completion) -> Completion:
        """Returns the answer in the body of a response; without text, such as a refusal or a call of a tool, it is empty."""
        try:
            message = json.loads(body.decode())
            choice = message["choices"][0]
            content, reason, usage = choice["message"].get("content"), choice.get("finish_reason"), message.get("usage")
            text = "" if content is None else content.encode(errors="replace").decode()  # it may have half of a surrogate pair
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return lost._replace(answer_tokens=min(len(body) // BYTES_PER_TOKEN + 1, lost.answer_tokens))
        counts = [lost.prompt_tokens, min(count_tokens(text), lost.answer_tokens)]
        for place, name in enumerate(("prompt_tokens", "completion_tokens")):
            stated = whole(usage.get(name)) if isinstance(usage, dict) else None
            if stated is not None and 0 <= stated <= MAX_STATED:
                counts[place] = stated
        return Completion(self._hidden(text), reason == "length", *counts)

    def _message(self, body: bytes) -> str:
        """Returns what an endpoint says of an error: its message, else all that it sent."""
        text = body.decode(errors="replace")
        with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
            error = json.loads(text)["error"]
            text = str(error["message"] if isinstance(error, dict) else error)
        return f"{quoted(self._hidden(text)[:MAX_TOLD])}."

    def _hidden(self, text: str) -> str:
        return self._secret.sub("[key]", text)


async def _hand_on(response: Any) -> None:
    """Makes the client hand on any response as it comes: it would read all of an error, and unpack megabytes to gigabytes."""
    response.extensions["status"], response.status_code = response.status_code, 200
    response.headers.pop("Content-Encoding", None)


def retry_after(given: str) -> float | None:
    """Returns how many seconds ``Retry-After`` asks to wait; None where it does not say so, or not as HTTP has it."""
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
