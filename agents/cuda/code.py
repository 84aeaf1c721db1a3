"""The kernels of this room for one setup."""

from __future__ import annotations

import hashlib
from types import ModuleType

from nainjaune_env.core.jit import instantiate
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import loops_of

from ..heuristics import rules_of_thumb
from ..search.rollouts import compiled_for

UNIFORM = -1
"""In place of the number of a rule of thumb: every legal action alike."""


def kernels_of(setup: Setup, rule: int = UNIFORM) -> ModuleType:
    """``kernels`` for one setup, with rollouts by the rule of thumb number ``rule``: rules of the game and rule are constants."""
    about = repr((setup.kernel_rules, rule))  # the same text in every process
    return instantiate(
        f"{__package__}.kernels",
        f"{setup.game.name}-{hashlib.sha256(about.encode()).hexdigest()[:16]}",
        game=setup.game.kernel,
        loops=loops_of(setup.game),
        rules_of_thumb=rules_of_thumb(setup.game.name),
        searching=compiled_for(setup.game),
        rules=setup.kernel_rules,
        TABLE=setup.game.table,
        WORDS=setup.game.table.itemsize // 8,
        SEATS=setup.players,
        ACTIONS=len(setup.game.actions),
        RULE=rule,
    )
