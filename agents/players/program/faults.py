"""What bots do wrong, by kind, and how often."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from nainjaune_env.core.errors import NainJauneError

MAX_FAULTS = 10
"""Faults of a bot after which it is not asked any more."""


class Fault(StrEnum):
    """The kinds of faults."""

    TIMEOUT = "timeout"
    """No answer in time."""
    EXIT = "exit"
    """The program ended, or the connection was closed."""
    INVALID = "invalid"
    """An answer that is none: no JSON, missing keys, wrong lengths or types."""
    ILLEGAL = "illegal"
    """An illegal action."""
    FLOOD = "flood"
    """More than the protocol allows: too long a line, or too many messages that nobody asked for."""


class BotFault(NainJauneError):
    """A bot did something wrong: what kind, and a sentence without the bot's name."""

    def __init__(self, kind: Fault, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


@dataclass
class FaultCounts:
    """The faults of one bot."""

    faults: Counter[str] = field(default_factory=Counter)
    """By :class:`Fault`."""
    decisions: int = 0
    """Decisions that the bot was to make."""
    forfeited: int = 0
    """Decisions that were made for it."""
    costs: Counter[str] = field(default_factory=Counter)
    """What the answers to its decisions cost: ``calls``, ``prompt_tokens`` and ``answer_tokens`` of a language model, those
    included that were kept from earlier and paid only then."""

    def add(self, other: FaultCounts) -> None:
        """Adds the counts of ``other``."""
        self.faults.update(other.faults)
        self.decisions += other.decisions
        self.forfeited += other.forfeited
        self.costs.update(other.costs)

    def taken(self) -> FaultCounts:
        """Returns the counts since this was last called, and begins again."""
        counts = FaultCounts(self.faults, self.decisions, self.forfeited, self.costs)
        self.faults, self.decisions, self.forfeited, self.costs = Counter(), 0, 0, Counter()
        return counts
