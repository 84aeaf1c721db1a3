"""Plans read from files that say anything: a plan, or a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from nainjaune_agents.measure.arena.tournament import TournamentPlan
from nainjaune_agents.measure.arena.versus import VersusPlan
from nainjaune_agents.measure.distributed.plan_fields import read_plan
from nainjaune_agents.study.units import StudyPlan
from nainjaune_env.core.errors import ConfigError, WorkError
from tests.support.positions import small

PLANS: list[Any] = [
    TournamentPlan(small(), ("random", "lowest"), 4, 1, chunk=2),
    VersusPlan(small(), ("random", "lowest"), 4, 1),
    StudyPlan(small(), ("random", "lowest"), 1, 0, 4, search=("lowest", 2)),
]
WRONG: dict[str, list[Any]] = {
    "deals": ["x", None, 0, -1, 10**15, 1.5, True, [4]],
    "episodes": ["x", 0, 10**15],
    "seed": [-1, 2**64, "1", None],
    "first": [-1, 1e3],
    "chunk": [0, -4, "x", False],
    "share": ["x", 2, float("nan")],
    "agents": ["xy", [1, 2], None, {"a": 1}, ["x"] * 2000],
    "names": ["xy", [1, 2], None],
    "pots": [{"x": 1}, ["x"], 3],
    "search": [["lowest"], ["lowest", "x"], "x"],
    "episode": ["x", 1, []],
    "seating": ["x"],
    "device": ["x", 3],
    "measure": [1, "x", None],
    "every_ply": [0],
    "command": [3],
    "setup": [3, None, {}, {"game": [], "preset": "djeco", "players": 3, "rules": {}}],
    "task": [[], None, {"x": 1}, {"objective": 3, "start": "fresh"}],
    "no such field": [1],
}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.KIND)
def test_a_plan_is_read_as_it_was_written_and_any_other_value_is_a_sentence(plan: Any) -> None:
    written = json.loads(json.dumps(plan.to_dict()))
    assert read_plan(type(plan), written, "Here") == plan
    wrong = [{**written, name: value} for name in [*written, "no such field"] for value in WRONG.get(name, [])]
    for content in (*wrong, "x", [], None, {}):
        with pytest.raises(WorkError, match=r"^Here has a damaged description of its run: .*\.$") as refusal:
            read_plan(type(plan), content, "Here")
        assert not re.search(r"' object|__init__|argument", str(refusal.value)), "Python's words are no sentence on a file"
    assert written.keys() - WRONG.keys() <= {"rated", "one_way"}  # a new field has its values above


def test_a_plan_in_python_has_the_same_bounds() -> None:
    with pytest.raises(ConfigError, match="'deals' of a tournament is from 1 to 1000000000, not -1"):
        TournamentPlan(small(), ("random", "lowest"), -1, 1)
    with pytest.raises(ConfigError, match=r"'deals' of a comparison is a whole number, not 1\.5"):
        VersusPlan(small(), ("random", "lowest"), 1.5, 1)  # type: ignore[arg-type]
