"""The tables that rounds of duplicate play begin with: cards of the deal, chips of the task, independent of how many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.base.task import MATCH_ROUNDS, Task
from nainjaune_agents.measure.arena.openings import most_chips_at_start, opening_tables
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.prng import streams
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup

CLASSIC = make_setup("nain_jaune", "classic", 3)
RULES = heuristics("nain_jaune")
PAIR = [RULES["random"], RULES["lowest"]]
CARRIED = Task(start="carried")
POTS = Task(start={"pots": [0, 40]})


def opened(task: Task, first: int, count: int, agents: Sequence[int] = (0, 0, 0)) -> np.ndarray:
    tables = opening_tables(CLASSIC, task, 5, first, count, PAIR, np.broadcast_to(agents, (count, 3)))
    assert tables is not None
    return tables


@pytest.mark.parametrize("task", [CARRIED, POTS], ids=str)
def test_a_deal_does_not_depend_on_those_played_with_it(task: Task) -> None:
    whole = opened(task, 0, 26)
    assert (whole["stage"] == Stage.PLAYING).all()
    assert (whole["played"] == 0).all()
    for at, count in ((3, 1), (7, 14)):
        assert opened(task, at, count).tobytes() == whole[at : at + count].tobytes()


def test_drawn_pots_are_those_of_the_task_whoever_plays() -> None:
    dealt = Batch(CLASSIC, 30, skip_forced=False, autoreset=False)
    dealt.reset(seeds=streams(5, 30))
    tables = opened(POTS, 0, 30)
    assert (tables["hand"] == dealt.tables["hand"]).all()
    assert (tables["pot"] - dealt.tables["pot"] == POTS.start_values(CLASSIC, streams(5, 30))["pots"]).all()
    assert opened(POTS, 0, 30, (1, 1, 1)).tobytes() == tables.tobytes()


def test_carried_deals_are_of_all_rounds_of_matches_that_the_field_played() -> None:
    tables = opened(CARRIED, 0, 3 * MATCH_ROUNDS)
    assert tables["rounds"].tolist() == [*range(1, MATCH_ROUNDS + 1)] * 3
    antes = 3 * np.array([1, 2, 3, 4, 5])
    carried = tables["pot"] - antes
    assert (carried >= 0).all()
    assert not carried[::MATCH_ROUNDS].any()
    assert carried.any(axis=1).mean() > 0.5
    # chips are conserved
    assert (tables["stack"].sum(axis=1) + tables["pot"].sum(axis=1) == 0).all()
    other = opened(CARRIED, 0, 3 * MATCH_ROUNDS, (1, 1, 1))
    assert (other["rounds"] == tables["rounds"]).all()
    assert (other["stack"] != tables["stack"]).any(axis=1).sum() > 20  # other agents leave other chips


@pytest.mark.parametrize(
    ("start", "chips"), [("fresh", 60), ("carried", 720), ({"pots": [0, 20]}, 160), ({"pots": [60, 60]}, 360)]
)
def test_no_round_begins_with_more_chips_in_its_pots(start: Any, chips: int) -> None:
    """Antes are 1 to 5 chips of each of four seats (N2.1)."""
    setup, task = make_setup(preset="tableau", players=4), Task(start=start)
    assert most_chips_at_start(setup, task) == chips
    pair = [heuristics("nain_jaune")[name] for name in ("closer", "tally")]
    tables = opening_tables(setup, task, 3, 0, 200, pair, np.zeros((200, 4), np.int64))
    if tables is not None:
        assert chips / 4 < tables["pot"].sum(axis=1).max() <= chips
    assert most_chips_at_start(make_setup("batasaurus", players=2), Task()) == 0
