"""The same stretch of play through ``Batch`` on any device, as bytes; run under CUDA's simulator by `test_simulator`.

NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 python -W error -m tests.engine.cuda.playing STEPS
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.registry import game_names, get_game
from tests.support.source import ROOT

MODES: dict[str, dict[str, Any]] = {
    "matches": {"episode": "match"},
    "all plies": {"skip_forced": False, "autoreset": False},
    "carried": {"start": "carried", "observe": False},
}
"""Options of a batch, so that each has each of its values."""


def cases() -> Iterator[tuple[str, Setup, dict[str, Any]]]:
    """Every game's presets in every mode, at the fewest seats and the most in turn."""
    number = 0
    for name in game_names():
        game = get_game(name)
        for preset, sheet in game.presets.items():
            for mode, options in MODES.items():
                players = sheet.players[0 if number % 2 else -1]
                yield f"{name} {preset} {players}, {mode}", game.setup(preset, players), options
                number += 1


def play(batch: Batch, steps: int) -> Iterator[tuple[str, bytes]]:
    """All that a batch holds, shows and gives, step by step, and what it was."""

    def named(what: str, array: Any) -> tuple[str, bytes]:
        return what, np.ascontiguousarray(batch.fetch(array)).tobytes()

    draws = batch.place(streams(4, batch.num_tables))
    for step in range(steps):
        for name, part in batch.save().items():
            yield f"{name} before step {step}", part.tobytes()
        actions = batch.sample(draws)
        yield named(f"actions of step {step}", actions)
        batch.step(actions)
    batch.step(batch.fetch(batch.sample(draws))[[1]], np.array([1]))
    yield named("steps played out", batch.play_out(draws))
    yield named("rewards of all of them", batch.reward)
    batch.reset(seed=9)
    yield named("seat", batch.seat)
    yield named("observe", batch.observe(1))
    yield named("observe some", batch.observe([1, 0], [2, 0]))
    yield named("omniscient", batch.omniscient([0, 2]))
    yield named("redacted", batch.redacted())
    batch.reset([1])
    batch.reset([2], seeds=np.array([7], np.uint64))
    if batch.options.carry:
        batch.reset([0, 1], seeds=streams(8, 2), carry=True)
        yield named("tables that went on with their matches", batch.tables)
    if batch.game.start_values:
        batch.set_start({name: np.arange(3 * size).reshape(3, size) for name, size in batch.game.start_values.items()})
        batch.reset(seeds=streams(9, 3))
        yield named("tables with start values", batch.tables)
    rows = batch.fetch(batch.tables)
    batch.set_tables([0], rows[2])
    for name, part in batch.save().items():
        yield f"{name} in the end", part.tobytes()


def examples() -> list[str]:
    """The Python in the docs, block by block."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "cuda.md").read_text(encoding="utf-8"), re.DOTALL)


def digests(steps: int, **options: Any) -> dict[str, list[str]]:
    """For each case, every piece of three tables' play and its hash."""
    return {
        case: [f"{what}: {hashlib.sha256(piece).hexdigest()[:12]}" for what, piece in play(batch, steps)]
        for case, setup, mode in cases()
        for batch in [make_batch(setup, 3, seed=3, **mode, **options)]
    }


def main() -> None:
    json.dump(digests(int(sys.argv[1]), device="cuda"), sys.stdout)


if __name__ == "__main__":
    main()
