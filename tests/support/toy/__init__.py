"""A toy game that only memory solves, to see whether an agent or a trainer remembers.

Each of two seats is shown one of four symbols in a first step, which it is asked for though it has one action. Then come plies
without meaning, some of them forced, and at last it must name the symbol: 1 where it is right, else 0. Nothing in
what it observes then tells. Symbol 0 is shown by no lamp at all, so that whoever does not forget the round
before answers with the symbol of that one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.rules import Preset, Rules, knob
from nainjaune_env.core.spec import GameSpec, Setup
from tests.support.toy import kernel
from tests.support.toy.kernel import LAMPS, LOOK, SEATS, SYMBOLS


@dataclass(frozen=True)
class ToyRules(Rules):
    idle: int = knob(3, "plies of each seat between looking and naming, half of them forced", "-", low=0)
    rounds: int = knob(5, "rounds of a match", "-", low=1)


class KernelRules(NamedTuple):
    players: int
    idle: int
    rounds: int


def layout(players: int) -> Layout:
    return Layout(
        (
            Feature("lamps", (LAMPS,), "which symbol, one-hot; none for symbol 0 and when not looking", private=True),
            Feature("noise", (2,), "anything"),
            Feature("name", (1,), "whether to name the symbol now"),
        )
    )


TABLE_FIELDS: list[tuple[object, ...]] = [
    ("rng", np.uint64),
    ("symbol", np.int16, (SEATS,)),
    ("won", np.int16, (SEATS,)),
    ("first", np.int16),
    ("plies", np.int16),
    ("forced", np.int16),
    ("noise", np.int16),
    ("rounds", np.int16),
    ("seat", np.int16),
    ("stage", np.int16),
]

# The loops are cached by the game's name, and would not notice that this kernel, which is none of the package's, has changed.
_SOURCE = hashlib.sha256(Path(kernel.__file__).read_bytes()).hexdigest()[:12]

SPEC = GameSpec(
    name=f"toy_{_SOURCE}",
    title="Toy",
    presets={"toy": Preset(ToyRules(), range(SEATS, SEATS + 1), "-")},
    default_preset="toy",
    default_players=SEATS,
    kernel=kernel,
    table=np.dtype((np.record, np.dtype(TABLE_FIELDS, align=True))),
    actions=(*(f"symbol {number}" for number in range(SYMBOLS)), "look"),
    unit="symbols",
    start_values={},
    compile_rules=lambda rules, players: KernelRules(players, rules.idle, rules.rounds),
    layout=layout,
    check_match=lambda rules: None,
    single_round=lambda rules: rules.replace(rounds=1),
    transcriber=SimpleNamespace(BODY=()),  # type: ignore[arg-type]
)
assert SPEC.actions[LOOK] == "look"


def toy(**knobs: Any) -> Setup:
    """The toy with some knobs turned."""
    return SPEC.setup(**knobs)
