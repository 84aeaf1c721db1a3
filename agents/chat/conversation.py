"""One decision of a language model: its dialogue over the text seat, from kept answers and calls, within its time and budget."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nainjaune_env.core.errors import AgentError
from nainjaune_env.text.answers import ILLEGAL, Dialogue, whole_lines
from nainjaune_env.text.seat import Prompt
from nainjaune_env.text.tokens import BYTES_PER_TOKEN, count_tokens

from ..bots.connection import BotFault
from ..bots.faults import Fault
from ..bots.messages import MAX_COMMENT
from .endpoint import Endpoint, PaidFault
from .settings import ChatSettings
from .store import AnswerStore, Completion
from .transcripts import Transcripts

SAY = {
    "en": ("Say", "Only a line “Say:” of your answer, where you write one, is read by the table."),
    "fr": ("Dire", "Seule une ligne « Dire : » de votre réponse, si vous en écrivez une, est lue par la table."),
}
"""By language: what stands before a comment, and the sentence after the rules. What else a model writes may tell its cards."""


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
    """Conversations with one model, in any number of threads."""

    def __init__(self, endpoint: Endpoint, settings: ChatSettings, store: AnswerStore) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._store = store
        keyword, self._sentence = SAY[settings.language]
        self._comment = re.compile(rf"^[^\w\n]*{keyword}[^\w\n]*:(.*\S.*)$", re.IGNORECASE | re.MULTILINE)
        self._transcripts = None if settings.transcripts is None else Transcripts(Path(settings.transcripts))

    def decide(self, prompt: Prompt, shown: Sequence[Prompt], seat: int, seconds: float) -> Outcome:
        """Returns the model's decision, which is the lowest legal action after a fault; ``shown`` is as of ``Prompt.dialogue``.

        Raises :class:`AgentError` at the end of a budget, and where the endpoint refuses the model or its key.
        """
        dialogue = prompt.dialogue(self._settings.retries, shown)
        dialogue.messages[0]["content"] += f"\n{self._sentence}"
        outcome = Outcome(min(prompt.legal))
        try:
            text = self._finish(dialogue, outcome, seconds)
        except BotFault as fault:
            outcome.fault = fault
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
            self._write(dialogue, seat, outcome)
        return outcome

    def renew(self) -> None:
        """Says that all calls under way still are: to be called every ``store.RENEWAL`` seconds meanwhile."""
        self._store.renew()

    def close(self) -> None:
        """Closes connections and files."""
        self._endpoint.close()
        self._store.close()

    def _finish(self, dialogue: Dialogue, outcome: Outcome, seconds: float) -> str:
        """Asks until there is a move; returns what was read of the last answer."""
        text = ""
        while dialogue.action is None:
            completion = self._complete(dialogue, outcome, seconds)
            outcome.costs.update(calls=1, prompt_tokens=completion.prompt_tokens, answer_tokens=completion.answer_tokens)
            text = whole_lines(completion.text) if completion.is_cut else completion.text
            dialogue.answer(completion.text, is_cut=completion.is_cut)
        return text

    def _complete(self, dialogue: Dialogue, outcome: Outcome, seconds: float) -> Completion:
        body = {
            "model": self._endpoint.model,
            "messages": dialogue.messages,
            "max_completion_tokens": self._settings.answer_tokens,
            "temperature": self._settings.temperature,
        }
        request = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        digest = hashlib.sha256(self._endpoint.base_url.encode() + b"\n" + request).digest()
        kept = self._store.get_or_claim(digest)
        if kept is not None:
            return kept
        try:
            return self._asked(request, digest, outcome, seconds)
        finally:
            self._store.release(digest)

    def _asked(self, request: bytes, digest: bytes, outcome: Outcome, seconds: float) -> Completion:
        def count_broken(received: int) -> None:
            answer_tokens = min(received // BYTES_PER_TOKEN, self._settings.answer_tokens)  # it writes no more than is asked for
            self._store.count(self._endpoint.model, count_tokens(request.decode()), answer_tokens)

        since = time.monotonic()
        try:
            completion, taken = self._endpoint.complete(request, seconds - outcome.seconds, self._check_budget, count_broken)
        except BotFault as fault:
            outcome.seconds = min(outcome.seconds + time.monotonic() - since, seconds)
            if isinstance(fault, PaidFault):
                self._store.count(self._endpoint.model, *fault.tokens)
            raise
        outcome.seconds += taken
        return self._store.add(self._endpoint.model, digest, completion)

    def _check_budget(self) -> None:
        settings = self._settings
        if settings.tokens is None and settings.money is None:
            return
        spent = self._store.spent()
        total, money = spent.prompt_tokens + spent.answer_tokens, settings.cost(spent.prompt_tokens, spent.answer_tokens)
        over = None
        if settings.tokens is not None and total >= settings.tokens:
            over = f"{settings.tokens:,} tokens is spent", "--chat-tokens"
        elif settings.money is not None and money is not None and money >= settings.money:
            over = f"{settings.money:g} is spent", "--chat-money"
        if over is not None:
            cost = "" if money is None else f" ({money:.4g} by the prices given)"
            raise AgentError(
                f"The budget of {over[0]}: {spent.calls:,} calls have cost {total:,} tokens{cost}. Their answers are kept in "
                f"{str(self._store.folder)!r} and cost nothing again: a larger {over[1]} goes on from there."
            )

    def _write(self, dialogue: Dialogue, seat: int, outcome: Outcome) -> None:
        assert self._transcripts is not None
        self._transcripts.add(
            {
                "model": self._endpoint.model,
                "seat": seat,
                "messages": dialogue.messages,
                "action": outcome.action,
                "refused": dialogue.faults,
                "fault": None if outcome.fault is None else {"kind": outcome.fault.kind, "sentence": str(outcome.fault)},
                **{name: outcome.costs[name] for name in ("calls", "prompt_tokens", "answer_tokens")},
            }
        )
