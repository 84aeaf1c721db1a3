"""A game's knobs and presets as tables, of made-up rules and written out by hand."""

from __future__ import annotations

from dataclasses import dataclass

from nainjaune_env.core.rules import Preset, Rules, knob
from nainjaune_env.core.rules_docs import knob_table, preset_table


@dataclass(frozen=True)
class HouseRules(Rules):
    """A knob of each kind."""

    memory: str = knob("glimpse", "what is seen", "X1.1", choices=("glimpse", "perfect"))
    cards: int = knob(12, "cards a seat", "X1.2", low=2, high=12)
    stake: int = knob(1, "chips | ante", "X2.1", low=1)
    stack: int | None = knob(None, "chips at the start", "X2.2", low=1, optional=True)
    default: bool = knob(False, "a seat without chips is out", "X2.3")


def test_the_knobs() -> None:
    assert (
        knob_table(HouseRules)
        == r"""
| knob | values | meaning | article |
| --- | --- | --- | --- |
| `memory` | `glimpse`, `perfect` | what is seen | X1.1 |
| `cards` | a whole number from 2 to 12 | cards a seat | X1.2 |
| `stake` | a whole number from 1 | chips \| ante | X2.1 |
| `stack` | a whole number from 1, or `None` | chips at the start | X2.2 |
| `default` | `True`, `False` | a seat without chips is out | X2.3 |
""".removeprefix("\n")
    )


def test_the_presets() -> None:
    sheets = {"two": Preset(HouseRules(), range(2, 5), "a box"), "all": Preset(HouseRules(stack=60), range(3, 9), "a book")}
    assert (
        preset_table(sheets)
        == """
| knob | `two` | `all` |
| --- | --- | --- |
| players | 2–4 | 3–8 |
| `memory` | `glimpse` | `glimpse` |
| `cards` | `12` | `12` |
| `stake` | `1` | `1` |
| `stack` | `None` | `60` |
| `default` | `False` | `False` |
| sheet | a box | a book |
""".removeprefix("\n")
    )
