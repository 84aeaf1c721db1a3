"""Hidden cards drawn anew (B4), held against all that fits: short sets (B1.2) have little enough."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.batasaurus import SPEC
from nainjaune_env.games.batasaurus.belief.resample import resample
from nainjaune_env.games.batasaurus.kernel import redact
from tests.support.chi_square import surprising

DRAWS = 800


def redacted(setup: Setup, table: Any, seat: int) -> Any:
    rows = np.array([table])
    redact(rows[0], setup.kernel_rules, seat)
    return rows[0]


def filled_in(table: Any) -> tuple[int, ...]:
    """Where everybody's cards lie, what lies face down, and where there is a card."""
    layout = [int(value) for row in table.layout[:2, :3] for value in row]
    return (*layout, *map(int, table.hidden[:2]), *map(int, table.slots[:2]))


def fitting(setup: Setup, memory: str, known: Any, seat: int) -> set[tuple[int, ...]]:
    """All that the fields wiped could have held: every layout, every committed value and every set of full slots is tried."""
    result = set()
    layouts = list(itertools.permutations((1, 2, 3)))
    if memory == "perfect":
        layouts = [(1, 2, 3)]
    hidden = [range(4) if number else (0,) for number in known.hidden[:2]]
    for one, two in itertools.product(layouts, repeat=2):
        for committed in itertools.product(*hidden):
            rows = np.array([known])
            rows["layout"][0, :2, :3] = one, two
            rows["hidden"][0, :2] = committed
            for who, row in enumerate((one, two)):
                lying = [v for v in (1, 2, 3) if known.held[who] >> (v - 1) & 1 and v != committed[who]]
                rows["slots"][0, who] = sum(1 << slot for slot in range(3) if row[slot] in lying)
            kept = all(not value or known.held[who] >> (value - 1) & 1 for who, value in enumerate(committed))
            if kept and redacted(setup, rows[0], seat).tobytes() == known.tobytes():
                result.add(filled_in(rows[0]))
    return result


@pytest.mark.parametrize(("memory", "at_most"), [("glimpse", 36), ("perfect", 2)])
def test_b4_all_that_fits_is_drawn_alike(memory: str, at_most: int) -> None:
    setup = SPEC.setup(players=2, dinosaurs=3, memory=memory)
    most = 0
    for seed in range(3):
        rng = random.Random(seed)
        batch = Batch(setup, 1, seed=seed, skip_forced=False, autoreset=False)
        while batch.legal[0]:
            for seat in range(2):
                known = redacted(setup, batch.tables[0], seat)
                rows = np.repeat(np.array([known]), DRAWS)
                rows["rng"] = streams(seed, DRAWS)
                for row in rows:
                    resample(row, setup.kernel_rules, seat)
                fits = fitting(setup, memory, known, seat)
                assert not surprising(Counter(map(filled_in, rows)), dict.fromkeys(fits, 1))
                most = max(most, len(fits))
            batch.step([rng.choice(legal_actions(int(batch.legal[0])))])
    assert most == at_most
