"""What a kernel must have, and what it is completed with."""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nainjaune_env import get_game
from nainjaune_env.core.errors import GameError
from nainjaune_env.core.kernel import OPTIONAL, REQUIRED, Kernel, complete_kernel, join_kernel


def module(name: str, *functions: str) -> ModuleType:
    """A module with functions of these names, each of which gives the module's name."""
    made = ModuleType(name)
    for function in functions:
        setattr(made, function, lambda *_: name)
    return made


def test_a_kernel_that_lacks_functions_is_refused_with_their_names() -> None:
    with pytest.raises(ValueError, match=r"^g: the kernel k lacks the functions step, resample\.$"):
        complete_kernel(
            "g", module("k", *(name for name in REQUIRED if name not in ("step", "resample"))), has_start_values=False
        )
    with pytest.raises(ValueError, match=r"lacks the functions set_start_values\.$"):
        complete_kernel("g", module("k", *REQUIRED), has_start_values=True)
    broken = module("k", *REQUIRED)
    broken.__dict__["legal"] = 3
    with pytest.raises(ValueError, match=r"lacks the functions legal\.$"):
        complete_kernel("g", broken, has_start_values=False)
    with pytest.raises(ValueError, match=r"^nain_jaune: the kernel empty lacks the functions start, deal, legal,"):
        dataclasses.replace(get_game(), kernel=ModuleType("empty"))


def test_a_complete_kernel_is_taken_as_it_is() -> None:
    whole = module("k", *REQUIRED, *OPTIONAL)
    assert complete_kernel("g", whole, has_start_values=True) is whole


def test_of_joined_modules_the_first_that_has_a_name_counts() -> None:
    joined: Any = join_kernel(module("one", "start", "deal"), module("two", "deal", "legal", "other"))
    assert (joined.start(), joined.deal(), joined.legal()) == ("one", "one", "two")
    assert not hasattr(joined, "other")
    assert [part.__name__ for part in joined.__modules__] == ["one", "two"]


def test_defaults_make_single_plies_and_ask_where_there_is_a_choice() -> None:
    calls: list[Any] = []
    bare = module("k", *REQUIRED)
    bare.__dict__.update(
        step=lambda table, rules, action: calls.append((table, rules, int(action))),
        resample=lambda table, rules, seat: calls.append((int(table.rng), rules, seat)),
    )
    from nainjaune_env.compiler import jit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "JIT_ENABLED", False)
        kernel: Any = complete_kernel("bare", bare, has_start_values=False)
    assert [bool(kernel.needs_decision(None, None, np.int64(bits))) for bits in (0b1, 0b1000, 0b11, 0b1010)] == [0, 0, 1, 1]
    kernel.play_forced("table", "rules", np.int64(0b1000))
    rows = np.zeros(2, np.dtype((np.record, [("stage", np.int64), ("rng", np.uint64)])))
    rows["rng"] = 5, 6
    kernel.resample_many(rows, "rules", 1, np.zeros(1))
    kernel.set_start_values("table", "rules", np.zeros(0, np.int32))
    assert calls == [("table", "rules", 3), (5, "rules", 1), (6, "rules", 1)]


def test_a_game_that_tells_its_events_says_what_is_hidden() -> None:
    with pytest.raises(GameError, match=r"g: the kernel k has the function tell, so it also needs hide: what a viewer may know"):
        complete_kernel("g", module("k", *REQUIRED, "tell"), has_start_values=False)


def test_the_protocol_names_every_function() -> None:
    assert {name for name in vars(Kernel) if not name.startswith("_")} == {*REQUIRED, *OPTIONAL}
