"""Pictures of a table, and of a record ply by ply.

The module as a whole is the game's ``nainjaune_env.core.spec.Pictures``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.view.scene import Scene, scene
from nainjaune_env.games.nain_jaune.view.svg import drawing
from nainjaune_env.games.nain_jaune.view.text import seen_by

__all__ = ["film", "svg"]


def svg(
    setup: Setup,
    table: Any,
    seat: int | None = None,
    *,
    language: str = "en",
    names: Sequence[str] | None = None,
    opening: Any = None,
    actions: Sequence[int] = (),
    every_ply: bool = False,
    rng: np.random.Generator | None = None,
) -> str:
    """The table as SVG as ``seat`` sees it; None is a spectator, who sees every hand. What else is told is as in ``draw``."""
    seen = seen_by(setup, table, seat, opening=opening, actions=actions, every_ply=every_ply, rng=rng)
    return drawing(seen, language=language, names=names)


def film(
    setup: Setup,
    body: Mapping[str, Any],
    seat: int | None = None,
    *,
    part: int | None = None,
    language: str = "en",
    names: Sequence[str] | None = None,
) -> Iterator[str]:
    """The deal of each round and every move of a verified record, as ``seat`` sees them; ``part``: one round only, from 1.

    Raises :class:`RecordError` for a round that is not there.
    """
    rounds = body["rounds"]
    if part is not None and not 1 <= part <= len(rounds):
        raise RecordError(f"The record has rounds 1 to {len(rounds)}, and no round {part!r}.")
    for number, written in enumerate(rounds, 1):
        if part in (None, number):
            for seen in _scenes(setup, written, number, seat):
                yield drawing(seen, language=language, names=names)


def _scenes(setup: Setup, written: Mapping[str, Any], number: int, seat: int | None) -> Iterator[Scene]:
    start = {name: written[name] for name in ("dealer", "stacks", "pots")}
    replay = Replay(setup, setup_table(setup, written["hands"], rounds_before=number - 1, **start))
    moves: list[tuple[int, str]] = []
    yield scene(setup, replay.table, seat, hands=replay.cards.hands(), moves=moves)
    for mover, move in written["moves"]:
        replay.play(move)
        moves.append((mover, move))
        yield scene(setup, replay.table, seat, hands=replay.cards.hands(), moves=moves)
