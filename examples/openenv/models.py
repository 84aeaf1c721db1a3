"""What clients and the server send each other."""

from __future__ import annotations

from typing import Any

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field, field_validator


class NainJauneAction(Action):
    """An answer of the model."""

    text: str = Field(description="the model's answer, as it is")

    @field_validator("text", mode="before")
    @classmethod
    def _without_lone_surrogates(cls, text: Any) -> Any:
        """Returns ``text`` with question marks for halves of characters: an answer may be cut, and they cannot be sent."""
        return text.encode(errors="replace").decode() if isinstance(text, str) else text


class NainJauneObservation(Observation):
    """The conversation, and at the end of the round what it was worth.

    ``reward`` is 0 before. At the end ``metadata`` has ``payoff``, the net chips, ``error``, the standard error of the reward
    (0 for chips and edge), and ``exact``.
    """

    messages: list[dict[str, str]] = Field(description="the whole chat so far, as chat-completions endpoints take it")


class NainJauneState(State):
    """The task, and counts of the round so far; ``step_count`` are the answers read."""

    split: str | None = Field(default=None, description="of the task; None before the first reset")
    index: int | None = Field(default=None, description="of the task in its split")
    decisions: int = Field(default=0, description="moves of the model's seat where there was a choice, forfeited ones too")
    refused: int = Field(default=0, description="answers that meant no legal move")
    forfeits: int = Field(default=0, description="moves made for the model after its last retry: the lowest legal action")
