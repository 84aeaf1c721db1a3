"""A language model as an agent: the decisions of a batch are asked at the same time, and faults cost what those of bots do."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.text.seat import Prompt, TextSeat

from ..bots.clocks import allowed_seconds, clock_dtype
from ..bots.faults import MAX_FAULTS, Fault, FaultCounts
from ..bots.settings import STOP, BotSettings
from .conversation import Conversations, Outcome
from .memory import memory_fields, remember, remembered
from .store import RENEWAL

OF_THE_ANSWER = (Fault.INVALID, Fault.ILLEGAL)
"""Faults of a model that can still be asked: any number of them."""


class ChatAgent:
    """An agent that is a language model. Equal texts are asked once, and have one answer."""

    def __init__(self, name: str, seat: TextSeat, settings: BotSettings, at_once: int, conversations: Conversations) -> None:
        """``seat`` makes the texts; at most ``at_once`` conversations go on at the same time."""
        self.name = name
        self.setup = seat.setup
        self.faults = FaultCounts()
        self.last_fault: str | None = None
        """The sentence of the last fault."""
        self.needs_history = seat.setup.game.rewind is not None
        """Where every seat sees every ply, the text tells them."""
        self._settings = settings
        self._seat = seat
        self._at_once = at_once
        self._conversations = conversations
        self._lock = threading.Lock()
        self._last = threading.local()
        self._lost = 0

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of what is known of a seat's round: its seconds, if these are limited, and what it was shown once."""
        clock = clock_dtype(self._settings)
        return np.dtype([*((name, clock[name]) for name in clock.names or ()), *memory_fields(setup)])

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
        """Closes connections and files; they are not opened again."""
        self._conversations.close()

    def _outcomes(self, decisions: DecisionBatch) -> list[Outcome]:
        count = len(decisions.index)
        prompts, shown = self._seat.prompts(decisions), remembered(self._seat, decisions)
        seconds = allowed_seconds(self._settings, decisions, np.arange(count))
        texts = [tuple(one.situation for one in (*before, prompt)) for prompt, before in zip(prompts, shown, strict=True)]
        first: dict[tuple[str, ...], int] = {}
        for k, prompt in enumerate(prompts):
            if seconds[k] > 0 and len(prompt.legal) > 1:
                first.setdefault(texts[k], k)
        asked = [] if self._lost >= MAX_FAULTS else [*first.values()]
        seats = decisions.seat.tolist()
        new = self._decided([(prompts[k], shown[k], seats[k], float(seconds[k])) for k in asked])
        by_text = {texts[k]: outcome for k, outcome in zip(asked, new, strict=True)}
        outcomes = []
        for k, prompt in enumerate(prompts):
            outcome = by_text.get(texts[k]) if seconds[k] > 0 else None
            outcomes.append(outcome or Outcome(min(prompt.legal)))
            if len(prompt.legal) > 1:
                self.faults.forfeited += outcome is None or outcome.fault is not None
            if outcome is not None:
                self.faults.costs.update(outcome.costs)
        self.faults.decisions += count
        remember(decisions)
        for outcome in new:
            self._count(outcome)
        return outcomes

    def _decided(self, questions: list[tuple[Prompt, tuple[Prompt, ...], int, float]]) -> list[Outcome]:
        """Returns the outcomes of conversations that go on at the same time."""
        if not questions:
            return []
        # a thread for one, too: Ctrl-C interrupts the main thread
        with ThreadPoolExecutor(min(self._at_once, len(questions)), "chat") as pool:
            futures = [pool.submit(self._conversations.decide, *each) for each in questions]
            try:
                self._wait_for(futures, FIRST_EXCEPTION)
                return [future.result() for future in futures]
            finally:  # after an error or Ctrl-C those that have begun are finished, and their answers kept
                self._wait_for([future for future in futures if not future.cancel()], ALL_COMPLETED)

    def _wait_for(self, futures: Sequence[Future[Outcome]], until: str) -> None:
        """Waits ``until`` all are completed, or one has an error."""
        pending = {*futures}
        while pending:
            done, pending = wait(pending, RENEWAL, until)
            if until == FIRST_EXCEPTION and any(future.exception() for future in done):
                return
            if pending:
                self._conversations.renew()

    def _count(self, outcome: Outcome) -> None:
        """Counts a fault, if there was one; raises :class:`AgentError` where a fault ends everything."""
        fault = outcome.fault
        if fault is None:
            return
        self.last_fault = f"The language model {quoted(self.name)}: {fault.kind}. {fault}"
        self.faults.faults[fault.kind] += 1
        self._lost += fault.kind not in OF_THE_ANSWER
        if self._settings.on_fault == STOP:
            raise AgentError(self.last_fault)
