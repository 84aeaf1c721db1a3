"""The knobs of the game, its one preset, and the rules as integers for the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from nainjaune_env.core.rules import Preset, Rules, knob

SEATS = 2
SYMBOLS = 4


@dataclass(frozen=True)
class LampRules(Rules):
    """Every house rule."""

    idle: int = knob(3, "plies of each seat between looking and naming", "L2.2", low=0, high=100, samples=(0, 3, 10))
    rounds: int = knob(5, "rounds of a match", "L3.2", low=1, high=1000, samples=(1, 5))


PRESETS = {"lamps": Preset(LampRules(), range(SEATS, SEATS + 1), "made up for this project")}


class KernelRules(NamedTuple):
    """The rules of one table."""

    players: int
    idle: int
    rounds: int


def compile_rules(knobs: Any, players: Any) -> KernelRules:
    """Returns the named tuple that the kernel takes; ``knobs`` are numbers (``Rules.numbers``)."""
    return KernelRules(players, knobs.idle, knobs.rounds)
