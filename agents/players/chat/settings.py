"""How language models are asked: the endpoint, the form of the text, and what it may cost. A part of the settings of bots."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from nainjaune_env.core.errors import ConfigError, quoted

from ...base.options import has_type, option

VENDOR = "https://api.openai.com/v1"
URL_VARIABLE = "OPENAI_BASE_URL"
ANSWERS_DEPEND_ON = ("base_url", "form", "language", "temperature", "answer_tokens", "retries")


@dataclass(frozen=True)
class ChatSettings:
    """What holds for every language model. Raises :class:`ConfigError` for a value of another type, or out of bounds."""

    base_url: str = option("", f"the address before /chat/completions (none: {URL_VARIABLE}, else OpenAI's)")
    form: str = option("short", "of the text: short or long")
    language: str = option("en", "of the text")
    temperature: float = option(0.0, "as the endpoint takes it", low=0, high=100)
    answer_tokens: int = option(1024, "the most tokens of an answer, which is cut there", low=1, high=10**9)
    retries: int = option(2, "answers to a decision after one that is no legal move", low=0, high=1000)
    at_once: int = option(8, "conversations at the same time", low=1, high=256)
    cache: str | None = option(None, "the folder with all answers, and what they have cost (none: in the user's for caches)")
    transcripts: str | None = option(None, "the file that gets a line for each decision (none: beside results, OUT.chat.jsonl)")
    tokens: int | None = option(None, "the most that all answers in the cache may cost (none: no limit)", low=0, high=10**15)

    def __post_init__(self) -> None:
        if self.base_url == "":
            object.__setattr__(self, "base_url", os.environ.get(URL_VARIABLE) or VENDOR)
        hints = get_type_hints(ChatSettings)
        for name, metadata in ((one.name, one.metadata) for one in fields(self)):
            value, hint = getattr(self, name), hints[name]
            if not has_type(value, hint) or (isinstance(value, str) and "\0" in value):
                raise ConfigError(f"{name} is of the type {self.__annotations__[name]}, not {quoted(value)}.")
            low, high = metadata["low"], metadata["high"]
            if low is None or value is None:
                continue
            if not low <= value <= high:
                raise ConfigError(f"{name} is a number from {low} to {high}, not {quoted(value)}.")
            object.__setattr__(self, name, float(value) if hint is float else int(value))  # equal settings, equal requests

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON values."""
        return asdict(self)

    def to_words(self) -> list[str]:
        """Returns the arguments of commands that say what answers depend on, where it differs from the defaults."""
        usual = ChatSettings(base_url=VENDOR)
        pairs = [(name, getattr(self, name)) for name in ANSWERS_DEPEND_ON]
        words = [f"{name}={value}" for name, value in pairs if value != getattr(usual, name)]
        return ["--chat", *words] if words else []


def what_counts(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns those of the ``settings``, as ``to_dict`` writes them, that answers depend on."""
    return {name: settings.get(name) for name in ANSWERS_DEPEND_ON}


def transcripts_beside(out: Path) -> str:
    """Returns the file of transcripts beside the results of a command."""
    return str(out.with_name(f"{out.name}.chat.jsonl"))
