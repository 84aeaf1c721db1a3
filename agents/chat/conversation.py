"""Decisions of a language model: dialogues over the text seat, from kept answers and calls, within their time and budget."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from nainjaune_env.core.errors import AgentError
from nainjaune_env.text.answers import ILLEGAL, Dialogue, whole_lines
from nainjaune_env.text.seat import Prompt
from nainjaune_env.text.tokens import count_tokens

from ..bots.faults import BotFault, Fault
from .endpoint import Endpoint, Reply
from .settings import ChatSettings
from .store import AnswerStore, Completion
from .transcripts import Transcripts

ATTEMPTS = 6
FIRST_WAIT = 0.5
"""Seconds before the second attempt; each further wait is twice as long."""
MAX_WAIT = 120.0
"""The longest wait in seconds that an endpoint may ask for by ``Retry-After``."""
MAX_COMMENT = 500
"""Characters."""
SAY = {
    "en": ("Say", "Only a line “Say:” of your answer, where you write one, is read by the table."),
    "fr": ("Dire", "Seule une ligne « Dire : » de votre réponse, si vous en écrivez une, est lue par la table."),
}
"""By language: what stands before a comment, and the sentence after the rules. What else a model writes may tell its cards."""


class Question(NamedTuple):
    """A decision to be asked; ``shown`` is as of ``Prompt.dialogue``."""

    prompt: Prompt
    shown: Sequence[Prompt]
    seat: int


@dataclass
class Outcome:
    """How a decision came about."""

    action: int
    comment: str | None = None
    fault: BotFault | None = None
    """Why the action was made for the model."""
    seconds: float = 0.0
    """That the endpoint took."""
    costs: Counter[str] = field(default_factory=Counter)


class Conversations:
    """Conversations that go on at the same time."""

    def __init__(self, endpoint: Endpoint, settings: ChatSettings, store: AnswerStore, seconds: float | None) -> None:
        """``seconds`` is the time of the endpoint for each of them; None: no limit."""
        self._endpoint, self._settings, self._store, self._seconds = endpoint, settings, store, seconds
        keyword, self._sentence = SAY[settings.language]
        self._comment = re.compile(rf"^[^\w\n]*{keyword}[^\w\n]*:(.*\S.*)$", re.IGNORECASE | re.MULTILINE)
        self._transcripts = None if settings.transcripts is None else Transcripts(Path(settings.transcripts))
        self._calls: set[asyncio.Task[Reply]] = set()
        self._client: Any = None

    def run(self, questions: Sequence[Question]) -> list[Outcome]:
        """Returns the model's decisions. After an error or Ctrl-C calls under way are finished, and their answers kept.

        Another Ctrl-C ends these, too. Raises :class:`AgentError` at the end of a budget, and where the endpoint refuses the
        model or its key.
        """
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()
        with ThreadPoolExecutor(1, "chat") as pool:  # this thread may have a loop that runs, as in a notebook
            running = pool.submit(asyncio.run, self._all(questions, started))
            while not running.done():
                try:
                    wait([running], 1.0)  # on Windows Ctrl-C only comes between
                except KeyboardInterrupt:
                    loop, task = started.result()
                    with contextlib.suppress(RuntimeError):  # it has just ended
                        loop.call_soon_threadsafe(task.cancel)
            try:
                return running.result()
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None

    async def _all(self, questions: Sequence[Question], started: Future[Any]) -> list[Outcome]:
        started.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        gate = asyncio.Semaphore(self._settings.at_once)

        async def decide(question: Question) -> Outcome:
            async with gate:
                return await self._decide(question)

        tasks = [asyncio.create_task(decide(question)) for question in questions]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            try:
                await asyncio.gather(*tasks, *self._calls, return_exceptions=True)
            finally:
                if self._client is not None:
                    await self._client.close()

    async def _decide(self, question: Question) -> Outcome:
        """Returns the model's decision, which is the lowest legal action after a fault."""
        prompt = question.prompt
        dialogue = prompt.dialogue(self._settings.retries, question.shown)
        dialogue.messages[0]["content"] += f"\n{self._sentence}"
        outcome = Outcome(min(prompt.legal))
        try:
            text = await self._finish(dialogue, outcome)
        except BotFault as error:
            outcome.fault = error
        else:
            assert dialogue.action is not None
            outcome.action = dialogue.action
            if dialogue.forfeited:
                kind = Fault.ILLEGAL if dialogue.faults[-1] == ILLEGAL else Fault.INVALID
                often = f"{len(dialogue.faults)} answers" if len(dialogue.faults) > 1 else "Its answer"
                outcome.fault = BotFault(kind, f"{often} meant no legal move. {dialogue.messages[-1]['content']}")
            elif said := self._comment.search(text):
                outcome.comment = said[1].strip()[:MAX_COMMENT]
        if self._transcripts is not None:
            fault = outcome.fault
            row = {
                "model": self._endpoint.model,
                "seat": question.seat,
                "messages": dialogue.messages,
                "action": outcome.action,
                "refused": dialogue.faults,
                "fault": None if fault is None else {"kind": fault.kind, "sentence": str(fault)},
            }
            self._transcripts.add(row | {name: outcome.costs[name] for name in ("calls", "prompt_tokens", "answer_tokens")})
        return outcome

    async def _finish(self, dialogue: Dialogue, outcome: Outcome) -> str:
        """Asks until there is a move; returns what was read of the last answer."""
        read = ""
        while dialogue.action is None:
            completion = await self._complete(dialogue.messages, outcome)
            text = completion.text or ""
            outcome.costs.update(calls=1, prompt_tokens=completion.prompt_tokens, answer_tokens=completion.answer_tokens)
            read = whole_lines(text) if completion.is_cut else text
            dialogue.answer(text, is_cut=completion.is_cut)
        return read

    async def _complete(self, messages: list[dict[str, str]], outcome: Outcome) -> Completion:
        """Returns the answer to ``messages``, a kept one if there is one; raises :class:`BotFault` without a valid one."""
        request = {
            "model": self._endpoint.model,
            "messages": messages,
            "max_completion_tokens": self._settings.answer_tokens,
            "temperature": self._settings.temperature,
        }
        body = json.dumps(request, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(f"{self._endpoint.base_url}\n{body}".encode()).digest()
        lost = Completion(None, False, count_tokens(body), self._settings.answer_tokens)
        if (kept := self._store.get(digest)) is not None:
            return kept
        for attempt in range(1, ATTEMPTS + 1):
            self._check_budget()
            call = asyncio.create_task(self._call(request, digest, lost, outcome))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
            reply = await asyncio.shield(call)  # a call that has begun is paid
            if reply.fault is not None:
                raise BotFault(reply.fault, reply.said)
            if not reply.said:
                assert reply.paid is not None
                return reply.paid
            if attempt == ATTEMPTS or (reply.wait or 0.0) > MAX_WAIT:
                break
            await asyncio.sleep(FIRST_WAIT * 2 ** (attempt - 1) if reply.wait is None else reply.wait)
        often = f"{attempt} times" if attempt > 1 else "once"
        raise BotFault(Fault.EXIT, f"The endpoint {self._endpoint.base_url} was asked {often} in vain. {reply.said}")

    async def _call(self, request: dict[str, Any], digest: bytes, lost: Completion, outcome: Outcome) -> Reply:
        """Makes one call within the time that is left of the decision, and keeps its answer and what it cost."""
        if self._client is None:
            self._client = self._endpoint.client()
        since, left = time.monotonic(), None if self._seconds is None else self._seconds - outcome.seconds
        try:
            reply = await asyncio.wait_for(self._endpoint.ask(self._client, request, lost), left)
        except TimeoutError:
            reply = Reply(lost, f"No answer came within {self._seconds:g} seconds (--bot-seconds).", Fault.TIMEOUT)
        except asyncio.CancelledError:
            self._store.add(self._endpoint.model, digest, lost)
            raise
        finally:
            outcome.seconds += time.monotonic() - since
        if reply.paid is None:
            return reply
        return reply._replace(paid=self._store.add(self._endpoint.model, digest, reply.paid))

    def _check_budget(self) -> None:
        if self._settings.tokens is None:
            return
        calls, tokens = self._store.spent()
        if tokens >= self._settings.tokens:
            raise AgentError(
                f"The budget of {self._settings.tokens:,} tokens is spent: {calls:,} calls have cost {tokens:,} tokens. Their "
                f"answers are kept in {str(self._store.folder)!r} and cost nothing again: with more --chat tokens=N it goes on."
            )
