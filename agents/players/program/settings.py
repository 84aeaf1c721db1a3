"""How bots are asked: the two clocks, what a fault costs, and how language models are asked. An argument of ``load_agent``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from ...base.settings import Settings, convert
from ..chat.settings import ChatSettings

OnFault = Literal["stop", "forfeit"]
STOP, FORFEIT = ON_FAULT = get_args(OnFault)
Seconds = Annotated[float, Meta(gt=0, le=10_000_000)]
"""A clock: at most some four months."""


class BotSettings(Settings, frozen=True):
    """What holds for the bots that are loaded with it."""

    on_fault: OnFault = STOP
    """``"stop"``: a fault ends the command with a sentence. ``"forfeit"``: it costs the bot the decisions that were asked, which
    are then the lowest legal actions; the fault is counted, and the bot started again; after ``program.faults.MAX_FAULTS`` faults
    it is not asked any more and forfeits all its decisions."""
    start_seconds: Seconds | None = 10.0
    """Time to start and to answer ``hello``; None: no limit."""
    decision_seconds: Seconds | None = 5.0
    """Time for each decision, latency included; a message with K decisions has K times as much. None: no limit."""
    chat: ChatSettings | None = None
    """How language models are asked; None: as by default, where one plays at all."""

    @classmethod
    def from_dict(cls, values: object) -> BotSettings:
        """Returns the settings that :meth:`to_dict` wrote; what is missing is as by default.

        Raises :class:`ConfigError` for an unknown setting, or a value of the wrong type or out of bounds.
        """
        return convert(cls, values, "The settings of bots", key="bots")

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON values; those of language models only where they are set."""
        values = super().to_dict()
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
