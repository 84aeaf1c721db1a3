"""How language models are asked: the endpoint, the form of the text, and what it may cost. A part of the settings of bots."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, structs

from ...base.settings import Settings

VENDOR = "https://api.openai.com/v1"
URL_VARIABLE = "OPENAI_BASE_URL"
ANSWERS_DEPEND_ON = ("base_url", "form", "language", "temperature", "answer_tokens", "retries")

Language = Literal["en", "fr"]
Form = Literal["short", "long"]
Text = Annotated[str, Meta(pattern=r"^[^\0]*\Z", description="a text without NUL")]
Tokens = Annotated[int, Meta(ge=0, le=10**15)]


class ChatSettings(Settings, frozen=True):
    """What holds for every language model. Raises :class:`ConfigError` for a value of another type, or out of bounds."""

    base_url: Annotated[Text, f"the address before /chat/completions (none: {URL_VARIABLE}, else OpenAI's)"] = ""
    form: Annotated[Form, "of the text: short or long"] = "short"
    language: Annotated[Language, "of the text"] = "en"
    temperature: Annotated[float, Meta(ge=0, le=100), "as the endpoint takes it"] = 0.0
    answer_tokens: Annotated[int, Meta(ge=1, le=10**9), "the most tokens of an answer, which is cut there"] = 1024
    retries: Annotated[int, Meta(ge=0, le=1000), "answers to a decision after one that is no legal move"] = 2
    at_once: Annotated[int, Meta(ge=1, le=256), "conversations at the same time"] = 8
    cache: Annotated[Text | None, "the folder with all answers, and what they have cost (none: in the user's for caches)"] = None
    transcripts: Annotated[Text | None, "the file with a line for each decision (none: beside results, OUT.chat.jsonl)"] = None
    tokens: Annotated[Tokens | None, "the most that all answers in the cache may cost (none: no limit)"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base_url == "":
            structs.force_setattr(self, "base_url", os.environ.get(URL_VARIABLE) or VENDOR)

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
