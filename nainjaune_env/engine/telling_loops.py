"""The compiled function that tells what happens at a ply; ``engine.telling`` binds a game's kernel."""

# ruff: noqa: F821  (`game` and `unpack` are bound when this is instantiated)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.events import OMNISCIENT
from nainjaune_env.core.kernel import Kernel

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
unpack: Callable[[Any], Any]
"""Returns the rules and the options of the packed numbers; bound by ``jit.instantiate``."""


@jit
def tell_ply(table: Any, rules: Any, action: Any, events: Any, viewer: Any) -> Any:
    """Makes one ply, or with ``OPENING`` none, and writes its rows to ``events`` as ``viewer`` may see them.

    Returns their number; one above ``events.rows.shape[0]`` says that rows are missing.
    """
    events.written[0] = 0
    game.tell(table, rules, action, events)
    if viewer != OMNISCIENT:
        for k in range(min(events.written[0], events.rows.shape[0])):
            game.hide(events.rows[k], rules, viewer)
    return events.written[0]


@jit
def tell_at(tables: Any, packed: Any, action: Any, events: Any, viewer: Any) -> Any:
    """:func:`tell_ply` at the only table of ``tables (1,)``, for Python."""
    rules, _ = unpack(packed)
    return tell_ply(tables[0], rules, np.int64(action), events, np.int64(viewer))
