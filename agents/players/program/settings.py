"""How bots are asked: the two clocks, what a fault costs, and how language models are asked. An argument of ``load_agent``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nainjaune_env.core.errors import ConfigError, quoted, unknown_name_message
from nainjaune_env.core.validation import finite

from ...base.options import build
from ..chat.settings import ChatSettings

STOP, FORFEIT = "stop", "forfeit"
ON_FAULT = (STOP, FORFEIT)
MAX_SECONDS = 10_000_000
"""The longest clock, some four months."""


@dataclass(frozen=True)
class BotSettings:
    """What holds for the bots that are loaded with it."""

    on_fault: str = STOP
    """``"stop"``: a fault ends the command with a sentence. ``"forfeit"``: it costs the bot the decisions that were asked, which
    are then the lowest legal actions; the fault is counted, and the bot started again; after ``program.faults.MAX_FAULTS`` faults
    it is not asked any more and forfeits all its decisions."""
    start_seconds: float | None = 10.0
    """Time to start and to answer ``hello``; None: no limit."""
    decision_seconds: float | None = 5.0
    """Time for each decision, latency included; a message with K decisions has K times as much. None: no limit."""
    chat: ChatSettings | None = None
    """How language models are asked; None: as by default, where one plays at all."""

    def __post_init__(self) -> None:
        if self.on_fault not in ON_FAULT:
            raise ConfigError(unknown_name_message("on_fault", self.on_fault, ON_FAULT))
        chat: Any = self.chat
        if not isinstance(chat, ChatSettings | None):
            raise ConfigError(f"chat: expected ChatSettings or None, not {quoted(chat)}.")
        for name in ("start_seconds", "decision_seconds"):
            value = getattr(self, name)
            if value is not None and (finite(value) is None or not 0 < value <= MAX_SECONDS):
                most = f"above 0, at most {MAX_SECONDS}"
                raise ConfigError(f"{name} is a number of seconds {most}, or None for no limit, not {quoted(value)}.")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> BotSettings:
        """Returns the settings that :meth:`to_dict` wrote; what is missing is as by default.

        Raises :class:`ConfigError` for an unknown setting, or a value of the wrong type or out of bounds.
        """
        chat = values.get("chat")
        if chat is not None and not isinstance(chat, Mapping):
            raise ConfigError(f"The configuration key 'bots.chat' takes keys and values or null, not {quoted(chat)}.")
        settings = None if chat is None else build(ChatSettings, chat, prefix="bots.chat.")
        return build(cls, {**values, "chat": settings}, prefix="bots.")

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON values; those of language models only where they are set."""
        values = asdict(self)
        if self.chat is None:
            del values["chat"]
        return values

    def to_words(self) -> list[str]:
        """Returns the arguments of commands that say what differs from the defaults."""
        # --bot-seconds 0 stops the clock of the start, too
        usual, words = BotSettings(start_seconds=None) if self.decision_seconds is None else BotSettings(), []
        if self.on_fault != usual.on_fault:
            words += ["--on-fault", self.on_fault]
        # language models have more time by default than other bots
        if self.decision_seconds != usual.decision_seconds or self.chat is not None:
            words += ["--bot-seconds", f"{self.decision_seconds or 0:g}"]
        if self.start_seconds != usual.start_seconds:
            words += ["--bot-start-seconds", f"{self.start_seconds or 0:g}"]
        return words + (self.chat.to_words() if self.chat is not None else [])
