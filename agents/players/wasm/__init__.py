"""Players in the WebAssembly module or the library of a game: a ``nainjaune_env.build.wasm.Extension``.

It gets the game's heuristics, advice by playouts, and the forward pass of a trained network (``interface``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nainjaune_env.build.wasm import Functions, sizes_of
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.engine.compiled import instance_of, loops_of
from nainjaune_env.engine.learner_loops import UNIFORM

from ..heuristics import about, heuristics, heuristics_module, yardstick
from ..search.rollouts import loops_for
from . import interface, tables_interface


def memory_of(game: GameSpec) -> int:
    """Returns the bytes of recurrent state that a seat of the game's heuristics has."""
    memory: int = getattr(heuristics_module(game.name), "MEMORY", 0)
    return memory


def fields(game: GameSpec) -> list[Any]:
    """Returns the fields of a session for players."""
    size = sizes_of(game)
    actions = size.actions
    return [
        # advice, since its fields were set to 0: of each action, and of each action minus each other one
        ("sum", np.float64, (actions,)),
        ("squares", np.float64, (actions,)),
        ("difference", np.float64, (actions, actions)),
        ("difference_squares", np.float64, (actions, actions)),
        ("count", np.int64, (actions,)),
        # scratch
        ("value", np.float64, (size.worlds, actions)),
        ("tried", np.int64, (size.worlds,)),
        ("playing", game.table, (1,)),
        ("outputs", np.float32, (actions + 1,)),  # of a network: the logits of all actions, and the value
        ("hidden_state", np.uint8, (max(memory_of(game), 1),)),
    ]


def functions(game: GameSpec, base: Any) -> Functions:
    """Returns the functions of ``interface`` for ``game``."""
    setup, module = game.setup(), heuristics_module(game.name)
    bound = {name: getattr(base, name) for name in ("at", "size", "table_dtype")}
    bound |= {"base": base, "loops": loops_of(setup), "rollouts": loops_for(setup)}
    bound |= {"heuristic_decide": getattr(module, "decide", interface.no_heuristic)}
    bound |= {"remembers": getattr(module, "remembers", interface.remembers_nothing)}
    bound |= {"heuristics": len(heuristics(game.name)) - 1, "memory": memory_of(game)}
    made: Functions = instance_of(setup, interface.__name__, "module", **bound).FUNCTIONS
    return made


def table_functions(game: GameSpec, base: Any) -> Functions:
    """Returns the functions of ``tables_interface`` for ``game``."""
    setup, module = game.setup(), heuristics_module(game.name)
    bound = {"base": base, "memory": memory_of(game), "heuristics": len(heuristics(game.name)) - 1, "size": base.size}
    bound |= {"heuristic_decide": getattr(module, "decide", interface.no_heuristic)}
    made: Functions = instance_of(setup, tables_interface.__name__, "library", **bound).FUNCTIONS
    return made


def description(game: GameSpec) -> Mapping[str, Any]:
    """Returns the numbers of the game's players by name, with a line on each."""
    lines = about(game.name).lines
    agents = {
        name: {"number": number, "about": lines[name][0] if name in lines else ""}
        for number, name in enumerate(heuristics(game.name), UNIFORM)
    }
    return {"agents": agents, "yardstick": yardstick(game.name)}
