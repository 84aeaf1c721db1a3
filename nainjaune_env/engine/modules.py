"""Games as WebAssembly modules: the functions of ``engine.interface``, and how a session lies in memory."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.spec import GameSpec
from nainjaune_env.engine.compiled import instance_of, loops_of, numbers_of
from nainjaune_env.engine.log_arrays import LogArrays

PLIES = 1 << 14
"""Plies of an episode that a session has space for."""
WORLDS = 64
"""Determinizations that are drawn at a time."""
MEMORY = 1 << 16


class Sizes(NamedTuple):
    """The lengths of the fields of a session, the largest over all seats."""

    numbers: int
    actions: int
    observation: int
    seats: int
    start_values: int
    plies: int
    worlds: int
    memory: int


def sizes_of(game: GameSpec) -> Sizes:
    """Returns the sizes that all presets and seats of ``game`` fit in."""
    seats = sorted({players for preset in game.presets.values() for players in preset.players})
    setup = game.setup()
    return Sizes(
        numbers=len(numbers_of(setup)),
        actions=len(game.actions),
        observation=max(game.layout(players).size for players in seats),
        seats=seats[-1],
        start_values=sum(game.start_values.values()),
        plies=PLIES,
        worlds=WORLDS,
        memory=MEMORY,
    )


def session_dtype(game: GameSpec) -> np.dtype[Any]:
    """Returns the layout of a session of ``game`` in memory."""
    size = sizes_of(game)
    fields: list[Any] = [
        ("numbers", np.int64, (size.numbers,)),  # packed rules and options (``compiled.numbers_of``)
        ("tables", game.table, (1,)),
        ("log_tables", game.table, (1, 2)),
        ("log_marks", np.int64, (2, 3)),
        ("legal", np.int64, (1,)),
        ("deals", np.int64, (1,)),
        ("memory", np.float64, (size.memory,)),
        ("worlds", game.table, (size.worlds,)),
        ("start_values", np.int32, (max(size.start_values, 1),)),
        ("reward", np.int32, (1, size.seats)),
        ("credited", np.int32, (1, size.seats)),
        ("scratch", np.int32, (size.seats,)),
        ("log_plies", np.int8, (1, size.plies, 2)),
        ("observation", np.uint8, (1, size.observation)),
        ("mask", np.bool_, (1, size.actions)),
        ("done", np.bool_, (1,)),
    ]
    return np.dtype(fields, align=True)


def interface_of(game: GameSpec) -> Any:
    """Returns ``engine.interface`` for ``game``."""
    layout = session_dtype(game)
    assert layout.fields is not None
    offsets = {name: int(layout.fields[name][1]) for name in layout.names or ()}
    at = namedtuple("Offsets", offsets)(**offsets)
    setup = game.setup()
    return instance_of(
        setup, "nainjaune_env.engine.interface", "module", loops=loops_of(setup), table_dtype=game.table, at=at, size=sizes_of(game)
    )
