"""A fixed stretch of play whose bytes are hashed, run compiled and as plain Python by `test_plain_python`.

NUMBA_DISABLE_JIT=1 python -W error -m tests.support.replay_for_plain PLIES
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import game_names, get_game
from tests.analysis.test_features import Played
from tests.support.contract import all_setups
from tests.support.tallied import play_rounds
from tests.twin.cells import random_knobs


def setups() -> list[tuple[str, Setup]]:
    """Every game's presets, at the fewest and the most seats, and some knobs of Nain Jaune."""
    result = []
    for name in game_names():
        game = get_game(name)
        for preset_name, preset in game.presets.items():
            for players in {preset.players[0]: 0, preset.players[-1]: 0}:
                result.append((f"{name} {preset_name} {players}", game.setup(preset_name, players)))
    for number in range(8):
        rng = random.Random(number)
        players = rng.randint(2, 8)
        knobs: dict[str, Any] = random_knobs(rng) | {"max_rounds": 3}
        result.append((f"knobs {number}", get_game("nain_jaune").setup("skip", players, **knobs)))
    return result


def digest(setup: Setup, plies: int) -> str:
    """A hash of all that a batch shows and holds over so many steps, of redacted tables, and of some of these resampled."""
    result = hashlib.sha256()
    for skip_forced in (False, True):
        batch = Batch(setup, 3, seed=3, episode="match", skip_forced=skip_forced)
        draws = streams(4, 3)
        for ply in range(plies):
            for part in batch.save().values():
                result.update(np.ascontiguousarray(part).tobytes())
            result.update(batch.redacted().tobytes())
            if ply == 3:  # later on there is too much to count for plain Python
                for memory in (0, 1 << 13):
                    result.update(resampled(setup, batch.redacted(), memory).tobytes())
            batch.step(batch.sample(draws))
        result.update(batch.observe(setup.players - 1).tobytes())
        batch.reset([1, 2])
        batch.set_tables(0, batch.tables[1])
        result.update(batch.tables.tobytes())
    return result.hexdigest()


def resampled(setup: Setup, rows: NDArray[Any], memory: int) -> NDArray[Any]:
    """What the seats to act may not know drawn anew, with so much memory to count in."""
    rows["rng"] = streams(5, len(rows))
    for i in range(len(rows)):
        setup.game.kernel.resample_many(rows[i : i + 1], setup.kernel_rules, int(rows[i].seat), np.zeros(memory))
    return rows


def digests(plies: int) -> dict[str, str]:
    """Hashes by what they are of: play of all :func:`setups`, and for some what is counted and told of it."""
    result = {name: digest(setup, plies) for name, setup in setups()}
    for case in all_setups("measures", "features")[::4]:
        (setup,) = case.values
        traced = Played(setup, 9, 2).trace(every_ply=True)
        parts = (traced.decisions, traced.positions, traced.choices, traced.seats, traced.dealt, traced.tallies)
        for name, analysed in (("counted", [play_rounds(setup, 4, 2, record=False).counted()]), ("told", parts)):
            result[f"{case.id}, {name}"] = hashlib.sha256(b"".join(part.tobytes() for part in analysed)).hexdigest()
    return result


def main() -> None:
    json.dump(digests(int(sys.argv[1])), sys.stdout)


if __name__ == "__main__":
    main()
