"""A chat-completions endpoint, which is not trusted: one call, what it answers or fails with, and no key in any of it."""

from __future__ import annotations

import json
import math
import os
import re
import ssl
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from nainjaune_env.core.errors import AgentError, MissingLibraryError, as_sentence, quoted
from nainjaune_env.core.validation import whole
from nainjaune_env.text.tokens import count_tokens

from ..bots.faults import Fault
from .settings import URL_VARIABLE, VENDOR
from .store import Completion

KEY_VARIABLE = "OPENAI_API_KEY"
MIN_KEY = 8
"""Characters of the shortest key that is a secret: local endpoints are asked with ``EMPTY`` and the like."""
BUSY = {408, 409, 429}
"""Statuses after which a request is made again, as after all from 500 on."""
REFUSED = {401, 402, 403, 404}
"""Statuses that another request would get too: they end the command."""
MAX_BYTES = 1 << 24
"""Of an answer that is read."""
MAX_TOLD = 300
"""Characters of an endpoint's message that a sentence quotes."""
MAX_URL = 2000
HOST = re.compile("[a-z0-9._-]+|[0-9a-f:.]+")
MAX_STATED = 10**9
"""Tokens of a question or an answer; what an endpoint states beyond is estimated."""


class Reply(NamedTuple):
    """What became of a call."""

    paid: Completion | None
    """None: nothing."""
    said: str = ""
    """Why there is no answer."""
    fault: Fault | None = None
    """None: there is an answer, or the request may be made again."""
    wait: float | None = None
    """The seconds that the endpoint asks to wait before."""


class Endpoint:
    """One model of an endpoint. No text from the endpoint is handed on with the key in it."""

    def __init__(self, base_url: str, model: str) -> None:
        """Raises :class:`AgentError` for a base URL that is none, and where the key is missing or cannot be one."""
        self.model, self.base_url = model, checked_url(base_url)
        self._key = os.environ.get(KEY_VARIABLE, "")
        if not self._key and self.base_url == VENDOR:
            raise AgentError(
                f"{quoted(f'chat:{model}')} asks {VENDOR}, which needs a key: set {KEY_VARIABLE} in the environment, or name "
                f"another endpoint by --chat base_url=URL or {URL_VARIABLE}."
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise AgentError(f"{KEY_VARIABLE} has characters that no key has.")
        # also as JSON may write its characters
        signs = (rf"(?:{re.escape(sign)}|\\u(?i:{ord(sign):04x}))" for sign in self._key)
        self._secret = re.compile("".join(signs)) if len(self._key) >= MIN_KEY else None
        try:
            import openai
        except ModuleNotFoundError:
            raise MissingLibraryError("A language model as a player", "openai", "chat") from None
        self._openai: Any = openai
        self._tls = ssl.create_default_context()

    def client(self) -> Any:
        """Returns a client for the event loop that runs."""
        http = self._openai.DefaultAsyncHttpxClient(
            follow_redirects=False, timeout=None, verify=self._tls, event_hooks={"response": [_hand_on]}
        )
        return self._openai.AsyncOpenAI(api_key=self._key or "none", base_url=self.base_url, max_retries=0, http_client=http)

    async def ask(self, client: Any, request: Mapping[str, Any], lost: Completion) -> Reply:
        """Makes one call; ``lost`` is what it costs by estimate if its answer breaks off or cannot be read.

        Raises :class:`AgentError` where the endpoint refuses the key or does not know the model.
        """
        body = bytearray()
        authorization = f"Bearer {self._key}" if self._key else self._openai.Omit()
        headers = {"User-Agent": "nainjaune-env", "Accept-Encoding": "identity", "Authorization": authorization}
        try:
            create = client.chat.completions.with_streaming_response.create
            async with create(**request, extra_headers=headers) as response:
                async for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MAX_BYTES:
                        return Reply(lost, f"Its answer has more than {MAX_BYTES} bytes.", Fault.FLOOD)
            status, wait = response.http_response.extensions["status"], retry_after(response.headers.get("Retry-After", ""))
        except Exception as error:  # of a client, and of three libraries below it, that read what may be anything
            paid = None if isinstance(error, self._openai.APIConnectionError) else lost  # that is before an answer begins
            cause = error.__cause__ if paid is None and isinstance(error.__cause__, Exception) else error
            return Reply(paid, self._hidden(f"The connection failed: {as_sentence(cause)}"))
        if status == 200:
            return self._read(bytes(body), lost)
        said = f"It answered with the HTTP status {status}: {self._message(bytes(body))}"
        if status in REFUSED:
            raise AgentError(f"The endpoint {self.base_url} refuses {quoted(f'chat:{self.model}')}. {said}")
        return Reply(None, said, None if status in BUSY or status >= 500 else Fault.INVALID, wait)

    def _read(self, body: bytes, lost: Completion) -> Reply:
        """Returns the answer in the body of a response; without text, such as a refusal or a call of a tool, it is empty."""
        try:
            message = json.loads(body.decode())
            choice = message["choices"][0]
            text, reason, usage = choice["message"].get("content"), choice.get("finish_reason"), message.get("usage")
            if not isinstance(text, str | None):
                raise TypeError
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            shown = self._hidden(body.decode(errors="replace"))
            paid = lost._replace(answer_tokens=min(count_tokens(shown), lost.answer_tokens))
            return Reply(paid, f"Expected a chat completion, not {quoted(shown)}.", Fault.INVALID)
        text = self._hidden((text or "").encode(errors="replace").decode())  # half of a surrogate pair cannot be written again
        stated = [whole(usage.get(f"{of}_tokens")) if isinstance(usage, dict) else None for of in ("prompt", "completion")]
        guesses = lost.prompt_tokens, min(count_tokens(text), lost.answer_tokens)
        counts = [
            guess if count is None or not 0 <= count <= MAX_STATED else count
            for count, guess in zip(stated, guesses, strict=True)
        ]
        return Reply(Completion(text, reason == "length", *counts))

    def _message(self, body: bytes) -> str:
        """Returns what an endpoint says of an error."""
        text = body.decode(errors="replace")
        try:
            error = json.loads(text)["error"]
            text = str(error["message"] if isinstance(error, dict) else error)
        except (ValueError, LookupError, TypeError, RecursionError):
            pass
        return as_sentence(ValueError(quoted(self._hidden(text)[:MAX_TOLD])))

    def _hidden(self, text: str) -> str:
        return text if self._secret is None else self._secret.sub("[key]", text)


async def _hand_on(response: Any) -> None:
    """Makes the client hand on any response as it comes: it would read all of an error, and unpack megabytes to gigabytes."""
    response.extensions["status"], response.status_code = response.status_code, 200
    response.headers.pop("Content-Encoding", None)


def checked_url(url: str) -> str:
    """Returns a base URL without a slash at its end; raises :class:`AgentError` if it is none."""
    what = "The base URL of an endpoint"
    try:
        parts = urlsplit(url)
        is_url = parts.port != 0 and HOST.fullmatch(parts.hostname or "") and not set(url) & set(" ?#")
        has_user = parts.username is not None
    except ValueError:
        is_url, has_user = None, "@" in url
    if has_user:
        raise AgentError(f"{what} has no user or password in it: results and reports would show them.")
    if not (is_url and parts.scheme in ("http", "https") and url.isascii() and url.isprintable() and len(url) <= MAX_URL):
        raise AgentError(f"{what} is like https://host/v1 or http://127.0.0.1:8000/v1, not {quoted(url)}.")
    return url.rstrip("/")


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
