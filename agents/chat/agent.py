"""A language model as an agent: the decisions of a batch are asked at the same time, and faults cost what those of bots do."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.text.seat import TextSeat

from ..bots.faults import MAX_FAULTS, Fault, FaultCounts
from ..bots.settings import STOP, BotSettings
from .conversation import Conversations, Outcome, Question
from .endpoint import Endpoint
from .memory import memory_fields, remember, remembered
from .settings import ChatSettings
from .store import AnswerStore


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
        self._endpoint = Endpoint(self._chat.base_url, model)
        self._store = AnswerStore(self._chat.cache)
        self._lock = threading.Lock()
        self._last = threading.local()
        self._lost = 0

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of what is known of a seat's round: what it was shown once."""
        return np.dtype(memory_fields(setup))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns legal actions, ``(K,)``: those that the model answers, which is not asked where there is one; it draws nothing.

        After a fault one is the lowest legal action, or it raises :class:`AgentError`, as the settings of bots say. Raises
        :class:`AgentError` also at the end of a budget, and where the endpoint refuses the model or the key.
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
        self._store.close()

    def _outcomes(self, decisions: DecisionBatch) -> list[Outcome]:
        prompts, shown, seats = self._seat.prompts(decisions), remembered(self._seat, decisions), decisions.seat.tolist()
        texts = [tuple(one.situation for one in (*before, prompt)) for prompt, before in zip(prompts, shown, strict=True)]
        questions: dict[tuple[str, ...], Question] = {}
        if self._lost < MAX_FAULTS:
            for text, *question in zip(texts, prompts, shown, seats, strict=True):
                if len(question[0].legal) > 1:
                    questions.setdefault(text, Question(*question))
        new: list[Outcome] = []
        if questions:
            talks = Conversations(self._endpoint, self._chat, self._store, self._settings.decision_seconds)
            new = talks.run([*questions.values()])
        by_text = dict(zip(questions, new, strict=True))
        outcomes = [by_text.get(text) or Outcome(min(prompt.legal)) for text, prompt in zip(texts, prompts, strict=True)]
        for text, prompt, outcome in zip(texts, prompts, outcomes, strict=True):
            self.faults.forfeited += len(prompt.legal) > 1 and (text not in by_text or outcome.fault is not None)
            self.faults.costs.update(outcome.costs)
        self.faults.decisions += len(outcomes)
        remember(decisions)
        for outcome in new:
            self._count(outcome)
        return outcomes

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
