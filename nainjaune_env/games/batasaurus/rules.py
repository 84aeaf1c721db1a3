"""The rules of Batasaurus: the knobs, the one preset, and both as integers for the kernel.

``RULES.md`` in this folder states the rules in numbered articles, with each reading chosen where the sheet is silent and the
reason for it. Comments and tests cite articles by these numbers (B2.3, for example).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, cast

from nainjaune_env.core.rules import Preset, Rules, knob
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.state import MAX_SEATS, SLOTS


class Memory(IntEnum):
    """The values of the knob ``memory`` (B4)."""

    GLIMPSE = 0
    PERFECT = 1


class Exhausted(IntEnum):
    """The values of the knob ``exhausted`` (B2.4)."""

    SPLIT = 0
    VOID = 1


@dataclass(frozen=True)
class BatasaurusRules(Rules):
    """Every house rule. The defaults are the preset's."""

    memory: str = knob(
        "glimpse",
        "whether a seat sees its own cards once, before the first trick, and must remember them, or always knows them",
        "B4.1, B4.2",
        choices=tuple(member.name.lower() for member in Memory),
    )
    exhausted: str = knob(
        "split",
        "who gets a trick whose tied seats have no card left: they share it equally, or nobody does",
        "B2.4",
        choices=tuple(member.name.lower() for member in Exhausted),
    )
    dinosaurs: int = knob(
        SLOTS, "values of each seat's set, from 1 up", "B1.2", low=2, high=SLOTS, extension=True, samples=(3, 5, 8, 12)
    )


PRESETS = {"batasaurus": Preset(BatasaurusRules(), range(2, MAX_SEATS + 1), "DJECO's box rules")}
"""The one sheet."""


class KernelRules(NamedTuple):
    """The rules of one table as integers."""

    players: int
    memory: int
    """A :class:`Memory`."""
    exhausted: int
    """An :class:`Exhausted`."""
    dinosaurs: int


def compile_rules(knobs: Any, players: Any) -> KernelRules:
    """Returns the rules as the kernel takes them; ``knobs`` are numbers (``Rules.numbers``)."""
    return KernelRules(players=players, memory=knobs.memory, exhausted=knobs.exhausted, dinosaurs=knobs.dinosaurs)


def rules_of(setup: Setup) -> KernelRules:
    """Returns ``setup.kernel_rules`` with the type that it has in this game."""
    return cast(KernelRules, setup.kernel_rules)
