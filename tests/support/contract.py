"""What the contract tests share: every game's setups, and ways to play them that know no game.

A game adds one file, `tests/games/<name>/hidden.py`, or `hidden.py` in its package if that is another distribution's, with

    reshuffle(setup, table, seat, rng)   the table with all that `seat` does not know drawn anew, within what it knows
    counterpart(setup, one, two, action) the action at table `two` that shows what `action` shows at `one`, or None
    rotate(setup, table, by)             the same table with every seat's number moved on by `by`
    leaks(setup, redacted, seat)         names of fields of a redacted table that hold what `seat` may not know
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from dataclasses import fields
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from nainjaune_env import games
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import get_game
from tests.support.games import games_with, marks_of_seats

MAX_PLIES = 20_000
"""More than any round takes, however badly played."""


def all_setups(*hooks: str) -> list[Any]:
    """Every preset and number of seats of every game with these ``hooks``, as pytest parameters."""
    return [
        pytest.param(
            get_game(name).setup(preset_name, players),
            id=f"{name}-{preset_name}-{players}",
            marks=marks_of_seats(preset, players),
        )
        for name in games_with(*hooks)
        for preset_name, preset in get_game(name).presets.items()
        for players in preset.players
    ]


@st.composite
def any_setup(draw: st.DrawFn, *hooks: str) -> Setup:
    """Any preset and number of seats of any game with these ``hooks``, with some knobs turned at random."""
    game = get_game(draw(st.sampled_from(games_with(*hooks) or pytest.skip(f"no game has {', '.join(hooks)}"))))
    preset_name = draw(st.sampled_from(sorted(game.presets)))
    preset = game.presets[preset_name]
    players = draw(st.sampled_from(preset.players))
    knobs = {f.name: draw(knob_values(f)) for f in fields(preset.rules) if draw(st.booleans())}
    try:
        return game.setup(preset_name, players, **knobs)
    except RulesError:  # knobs that do not go together
        return game.setup(preset_name, players)


def knob_values(f: Any) -> st.SearchStrategy[Any]:
    """Values of one knob, by what it says of itself."""
    about = f.metadata
    if about["kind"] == "word":
        values = st.sampled_from(about["choices"])
    elif about["kind"] == "flag":
        return st.booleans()
    else:
        usual = [value for value in (30, 60) if value <= about["high"]] or [f.default]
        values = st.integers(about["low"], min(about["low"] + 3, about["high"])) | st.sampled_from(usual)
    return st.none() | values if about["optional"] else values


def helper(setup: Setup) -> ModuleType:
    """The game's own `hidden` file."""
    ours = setup.game.package.startswith(f"{games.__name__}.")
    return importlib.import_module(f"tests.games.{setup.game.name}.hidden" if ours else f"{setup.game.package}.hidden")


def has_matches(setup: Setup) -> bool:
    """Whether matches under these rules have an end."""
    try:
        setup.game.check_match(setup.rules)
    except RulesError:
        return False
    return True


def single(setup: Setup, seed: int = 0, **options: Any) -> Batch:
    """One table that shows every ply and rests at the end."""
    return Batch(setup, 1, **{"seed": seed, "skip_forced": False, "autoreset": False, **options})


Choice = Callable[[list[int], random.Random], int]
CHOICES: dict[str, Choice] = {
    "uniform": lambda legal, rng: rng.choice(legal),
    "lowest": lambda legal, rng: legal[0],
    "highest": lambda legal, rng: legal[-1],
    "mostly highest": lambda legal, rng: legal[-1] if rng.random() < 0.9 else rng.choice(legal),
}
"""The highest action is a pass in Nain Jaune: rounds of seats that would rather not play."""


def advance(batch: Batch, plies: int, rng: random.Random, choice: str = "uniform") -> list[int]:
    """Up to so many plies at a single table, not past its end; gives the actions."""
    actions: list[int] = []
    while len(actions) < plies and batch.legal[0]:
        actions.append(CHOICES[choice](legal_actions(int(batch.legal[0])), rng))
        batch.step([actions[-1]])
    return actions


def finish(batch: Batch, rng: random.Random, choice: str = "uniform") -> Any:
    """Plays a single table to its end; gives what each seat got in all from here."""
    total = np.zeros(batch.num_players, np.int64)
    for _ in range(MAX_PLIES):
        if not batch.legal[0]:
            return total
        advance(batch, 1, rng, choice)
        total += batch.reward[0]
    raise AssertionError(f"{batch.setup.to_dict()}: no end after {MAX_PLIES} plies")


def payoffs(batch: Batch, i: int = 0) -> list[int]:
    """The kernel's payoffs at table `i`."""
    out = np.zeros(batch.num_players, np.int32)
    batch.game.kernel.payoffs(batch.tables[i], batch.setup.kernel_rules, out)
    return [int(chips) for chips in out]


def everything(batch: Batch) -> bytes:
    """All that a batch holds, as bytes."""
    return b"".join(part.tobytes() for part in batch.save().values())
