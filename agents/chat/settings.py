"""How language models are asked: the endpoint, the form of the text, and what it may cost.

They are a part of the settings of bots (``bots.settings``), and reach workers with these.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import ConfigError, quoted
from nainjaune_env.core.validation import check_whole, finite

VENDOR = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
MAX_AT_ONCE = 256
MILLION = 1_000_000
OPTIONS = {
    "--base-url": "base_url",
    "--chat-form": "form",
    "--chat-language": "language",
    "--chat-temperature": "temperature",
    "--chat-answer": "answer_tokens",
    "--chat-retries": "retries",
}
"""The arguments of commands for what answers depend on, and the settings."""


@dataclass(frozen=True)
class ChatSettings:
    """What holds for every language model."""

    base_url: str = field(default_factory=lambda: os.environ.get(URL_VARIABLE) or VENDOR)
    """The address before ``/chat/completions``."""
    form: str = "short"
    """Of the text, as ``language``: see ``TextSeat``."""
    language: str = "en"
    temperature: float = 0.0
    answer_tokens: int = 1024
    """The most tokens of an answer; a longer one is cut."""
    retries: int = 2
    """How often a model may answer a decision again after an answer that is no legal move."""
    at_once: int = 8
    """Calls that are made at the same time."""
    cache: str | None = None
    """The folder with all answers, and with what they have cost; None: in the user's folder for caches."""
    transcripts: str | None = None
    """The file that gets a line for each decision."""
    tokens: int | None = None
    """The most tokens that the answers in ``cache`` may cost together, questions included; None: no limit."""
    money: float | None = None
    """The most money, by ``prices``."""
    prices: tuple[float, float] | None = None
    """Of a million tokens of questions, and of answers."""

    def __post_init__(self) -> None:
        if self.prices is not None:
            object.__setattr__(self, "prices", tuple(self.prices))  # JSON has lists
        numbers = [("temperature", self.temperature), ("money", self.money)]
        for name, value in [*numbers, *(("prices", price) for price in self.prices or ())]:
            if value is not None and (finite(value) is None or value < 0):
                raise ConfigError(f"{name}: expected a number from 0, not {quoted(value)}.")
        check_whole("answer_tokens", self.answer_tokens, 1)
        check_whole("retries", self.retries, 0)
        check_whole("at_once", self.at_once, 1, MAX_AT_ONCE)
        if self.tokens is not None:
            check_whole("tokens", self.tokens, 0)
        if self.prices is not None and len(self.prices) != 2:
            raise ConfigError(f"prices: expected two numbers, of questions and of answers, not {quoted(self.prices)}.")
        if self.money is not None and self.prices is None:
            raise ConfigError("A budget of money needs prices: --chat-prices IN OUT, of a million tokens each.")

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON values."""
        return asdict(self)

    def cost(self, prompt_tokens: int, answer_tokens: int) -> float | None:
        """Returns what tokens cost; None without prices."""
        if self.prices is None:
            return None
        return (prompt_tokens * self.prices[0] + answer_tokens * self.prices[1]) / MILLION

    def to_words(self) -> list[str]:
        """Returns the arguments of commands that say what answers depend on, where it differs from the defaults."""
        usual, words = ChatSettings(base_url=VENDOR), []
        for option, name in OPTIONS.items():
            value = getattr(self, name)
            if value != getattr(usual, name):
                words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
        return words


def what_counts(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns those of the ``settings``, as ``to_dict`` writes them, that answers depend on."""
    return {name: settings.get(name) for name in OPTIONS.values()}


def transcripts_beside(out: Path) -> str:
    """Returns the file of transcripts beside the results of a command."""
    return str(out.with_name(f"{out.name}.chat.jsonl"))
