"""Our AEC environments for `check_no_leak`: what an agent does not know dealt again, and the game's pictures."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from nainjaune_env.core.spec import Setup
from nainjaune_env.envs.pettingzoo_aec import raw_env
from tests.support.contract import helper


def opened(setup: Setup, kind: type[raw_env] = raw_env) -> Any:
    """The setup's environment with every ply of it."""
    knobs = {name: getattr(setup.rules, name) for name in type(setup.rules).__dataclass_fields__}
    return kind(setup.preset, setup.players, game=setup.game.name, skip_forced=False, **knobs)


def redeal(env: Any, agent: str, rng: np.random.Generator) -> None:
    """Deals again what `agent` does not know, and brings the dictionaries up to date."""
    raw = env.unwrapped
    batch, setup = raw._batch, raw.setup
    chance = random.Random(int(rng.integers(1 << 32)))
    batch.set_tables(0, helper(setup).reshuffle(setup, batch.tables[0], raw._seat_of[agent], chance), trusted=True)
    raw._refresh(batch.at_turn)


def picture_of(setup: Setup) -> Callable[[Any, str], Any] | None:
    """The game's SVG document and text of a table alone: its history was played with the cards as they were."""
    pictures, text = setup.game.pictures, setup.game.render_text
    if pictures is None or text is None:
        return None

    def picture(env: Any, agent: str) -> Any:
        table, seat = env.unwrapped._batch.tables[0], env.unwrapped._seat_of[agent]
        return pictures.svg(setup, table, seat), text(setup, table, seat)

    return picture
