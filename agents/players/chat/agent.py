"""A language model as an agent: the decisions of a batch are asked at the same time, and faults cost what those of bots do."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.text.answers import ILLEGAL, Dialogue, whole_lines
from nainjaune_env.text.seat import Prompt, TextSeat

from ..program.faults import MAX_FAULTS, BotFault, Fault, FaultCounts
from ..program.settings import STOP, BotSettings
from .endpoint import Clock, Endpoint
from .memory import memory_fields, remember, remembered
from .settings import ChatSettings
from .transcripts import Transcripts

MAX_COMMENT = 500  # characters
SAY = {
    "en": ("Say", "Only a line “Say:” of your answer, where you write one, is read by the table."),
    "fr": ("Dire", "Seule une ligne « Dire : » de votre réponse, si vous en écrivez une, est lue par la table."),
}
"""By language: what stands before a comment, and the sentence after the rules. What else a model writes may tell its cards."""
Question = tuple[Prompt, Sequence[Prompt], int]
"""A decision to be asked: its prompt, what the seat was shown before it in its round, and the seat."""


@dataclass
class Outcome:
    """How a decision came about."""

    action: int
    comment: str | None = None
    fault: BotFault | None = None
    """Why the action was made for the model."""
    costs: Counter[str] = field(default_factory=Counter)


class ChatAgent:
    """The language model called ``name``. Equal texts are asked once, and have one answer."""

    def __init__(self, name: str, setup: Setup, settings: BotSettings) -> None:
        """Asks nothing yet.

        Raises :class:`AgentError` for a base URL that is none, and without the key that the endpoint needs.
        """
        model = name.partition(":")[2]
        if not model or not model.isprintable():
            raise AgentError(f"After 'chat:' comes the name of a model, as its endpoint calls it, not {quoted(model)}.")
        self.name = name
        self.setup = setup
        self.faults = FaultCounts()
        self.last_fault: str | None = None
        """The sentence of the last fault."""
        self.needs_history = setup.game.rewind is not None
        """Where every seat sees every ply, the text tells them."""
        self._settings = settings
        self._chat = settings.chat or ChatSettings()
        self._seat = TextSeat(setup, language=self._chat.language, form=self._chat.form)
        self._endpoint = Endpoint(model, self._chat)
        self._lock = threading.Lock()
        self._last = threading.local()
        self._lost = 0

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of what is known of a seat's round: what it was shown once."""
        return np.dtype(memory_fields(setup))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns legal actions, ``(K,)``: those that the model answers, which is not asked where there is one; it draws nothing.

        After a fault one is the lowest legal action, or it raises :class:`AgentError`, as the settings of bots say. Raises
        :class:`AgentError` also at the end of a budget, and where the endpoint refuses the model or the key. After such an error
        or Ctrl-C calls under way are finished, and their answers kept; another ``KeyboardInterrupt`` ends them.
        """
        with self._lock:
            outcomes = self._outcomes(decisions)
        self._last.comments = [outcome.comment for outcome in outcomes]
        return np.array([outcome.action for outcome in outcomes], np.int64)

    @property
    def comments(self) -> list[str | None]:
        """What the model said to the table at each decision of the last :meth:`act` of this thread, if anything."""
        return list(getattr(self._last, "comments", ()))

    def close(self) -> None:
        """Closes the file of answers; it is not opened again."""
        self._endpoint.store.close()

    def _outcomes(self, decisions: DecisionBatch) -> list[Outcome]:
        prompts, shown, seats = self._seat.prompts(decisions), remembered(self._seat, decisions), decisions.seat.tolist()
        texts = [tuple(one.situation for one in (*before, prompt)) for prompt, before in zip(prompts, shown, strict=True)]
        questions: dict[tuple[str, ...], Question] = {}
        if self._lost < MAX_FAULTS:
            for text, prompt, before, seat in zip(texts, prompts, shown, seats, strict=True):
                if len(prompt.legal) > 1:
                    questions.setdefault(text, (prompt, before, seat))
        by_text = dict(zip(questions, self._decided([*questions.values()]), strict=True))
        outcomes = [by_text.get(text) or Outcome(min(prompt.legal)) for text, prompt in zip(texts, prompts, strict=True)]
        for text, prompt, outcome in zip(texts, prompts, outcomes, strict=True):
            self.faults.forfeited += len(prompt.legal) > 1 and (text not in by_text or outcome.fault is not None)
            self.faults.costs.update(outcome.costs)
        self.faults.decisions += len(outcomes)
        remember(decisions)
        for outcome in by_text.values():
            self._count(outcome)
        return outcomes

    def _decided(self, questions: Sequence[Question]) -> list[Outcome]:
        """Returns the outcomes of conversations that go on at the same time."""
        if not questions:
            return []
        outcomes: list[Any] = []
        errors: list[BaseException] = []
        under_way: list[Any] = []
        ended = threading.Event()
        self._endpoint.stopped = False

        async def converse() -> None:
            under_way.append((asyncio.get_running_loop(), asyncio.current_task()))
            gate = asyncio.Semaphore(self._chat.at_once)

            async def one(question: Question) -> Outcome:
                async with gate:
                    try:
                        return await self._decide(*question)
                    except BaseException as error:
                        self._endpoint.stopped = True
                        errors.append(error)
                        raise

            try:
                outcomes.extend(await asyncio.gather(*map(one, questions), return_exceptions=True))
            finally:
                await self._endpoint.close_client()

        def talk() -> None:
            try:
                asyncio.run(converse())
            except BaseException as error:
                errors.append(error)
            ended.set()

        # in a thread of its own: this one may have a loop that runs, as in a notebook
        threading.Thread(target=talk, name="chat", daemon=True).start()
        while not ended.is_set():
            try:
                ended.wait(1.0)  # on Windows Ctrl-C comes only between
            except KeyboardInterrupt as error:
                if self._endpoint.stopped and under_way:
                    loop, task = under_way.pop()
                    loop.call_soon_threadsafe(task.cancel)
                self._endpoint.stopped = True
                errors.insert(0, error)
        if errors:
            raise errors[0]
        return outcomes

    async def _decide(self, prompt: Prompt, shown: Sequence[Prompt], seat: int) -> Outcome:
        """Returns the model's decision, which is the lowest legal action after a fault."""
        keyword, sentence = SAY[self._chat.language]
        dialogue = prompt.dialogue(self._chat.retries, shown)
        dialogue.messages[0]["content"] += f"\n{sentence}"
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
            elif said := re.search(rf"^[^\w\n]*{keyword}[^\w\n]*:(.*\S.*)$", text, re.IGNORECASE | re.MULTILINE):
                outcome.comment = said[1].strip()[:MAX_COMMENT]
        if self._chat.transcripts is not None:
            fault = outcome.fault
            row = {
                "model": self._endpoint.model,
                "seat": seat,
                "messages": dialogue.messages,
                "action": outcome.action,
                "refused": dialogue.faults,
                "fault": None if fault is None else {"kind": fault.kind, "sentence": str(fault)},
                **{name: outcome.costs[name] for name in ("calls", "prompt_tokens", "answer_tokens")},
            }
            Transcripts(Path(self._chat.transcripts)).add(row)
        return outcome

    async def _finish(self, dialogue: Dialogue, outcome: Outcome) -> str:
        """Asks until there is a move; returns what was read of the last answer."""
        text, clock = "", Clock(self._settings.decision_seconds)
        while dialogue.action is None:
            completion = await self._endpoint.complete(dialogue.messages, clock)
            outcome.costs.update(calls=1, prompt_tokens=completion.prompt_tokens, answer_tokens=completion.answer_tokens)
            answer = completion.text or ""
            text = whole_lines(answer) if completion.is_cut else answer
            dialogue.answer(answer, is_cut=completion.is_cut)
        return text

    def _count(self, outcome: Outcome) -> None:
        """Counts a fault, if there was one; raises :class:`AgentError` where a fault ends everything."""
        fault = outcome.fault
        if fault is None:
            return
        self.last_fault = f"The language model {quoted(self.name)}: {fault.kind}. {fault}"
        self.faults.faults[fault.kind] += 1
        self._lost += fault.kind not in (Fault.INVALID, Fault.ILLEGAL)  # after these it can still be asked: any number of them
        if self._settings.on_fault == STOP:
            raise AgentError(self.last_fault)
