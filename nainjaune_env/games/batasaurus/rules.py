"""The rules of Batasaurus as knobs, the sheet as a preset, and both as integers for the kernel.

``RULES.md`` in this folder restates the rules in numbered articles, with every reading we chose where the
sheet is silent and why. An article's number (B2.3, say) means the same in comments and tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from nainjaune_env.core.rules import Preset, Rules, knob
from nainjaune_env.games.batasaurus.state import MAX_SEATS, SLOTS

MEMORY = ("glimpse", "perfect")
EXHAUSTED = ("split", "void")


@dataclass(frozen=True)
class BatasaurusRules(Rules):
    """Every house rule. The defaults are the sheet's."""

    memory: str = knob(
        "glimpse",
        "whether a seat sees its own cards once, before the first trick, and must remember them, or always knows them",
        "B4.1, B4.2",
        choices=MEMORY,
    )
    exhausted: str = knob(
        "split",
        "who gets a trick whose tied seats have no card left: they share it equally, or nobody does",
        "B2.4",
        choices=EXHAUSTED,
    )
    dinosaurs: int = knob(SLOTS, "values of each seat's set, from 1 up", "B1.2", low=2, high=SLOTS, extension=True)


PRESETS = {"batasaurus": Preset(BatasaurusRules(), range(2, MAX_SEATS + 1), "DJECO's box rules")}
"""The one sheet."""


class KernelRules(NamedTuple):
    """The rules of one table as integers. A knob that is a word is its place in the tuple of choices above."""

    players: int
    memory: int
    exhausted: int
    dinosaurs: int


def compile_rules(rules: Any, players: int) -> KernelRules:
    """The named tuple that the kernel takes."""
    return KernelRules(
        players=players,
        memory=MEMORY.index(rules.memory),
        exhausted=EXHAUSTED.index(rules.exhausted),
        dinosaurs=int(rules.dinosaurs),
    )


def check_match(rules: Any) -> None:
    """Every game has an end: nothing is refused."""


def single_round(rules: Any) -> Any:
    """A game is one round already."""
    return rules
