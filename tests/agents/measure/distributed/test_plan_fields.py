"""Plans read from files that say anything: a plan, or a sentence."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.distributed.plan_fields import read_plan
from nainjaune_agents.measure.ladder.plan import LadderPlan, PairDeals
from nainjaune_agents.measure.plan import Cell, MeasurePlan
from nainjaune_agents.study.advice.review_units import ReviewPlan
from nainjaune_agents.study.units import StudyPlan
from nainjaune_agents.train.labelling import LabelPlan
from nainjaune_env.core.errors import ConfigError, DealError, WorkError
from tests.support.positions import small

PAIR = ("random", "lowest")
PLANS: list[Any] = [
    MeasurePlan(
        small(), PAIR, 1, 4, 2, Task("centred", {"pots": [0, 6]}), parts=((Cell(0, 1), Cell(1, 1, "behaviour")),), unit=2
    ),
    MeasurePlan(small(), PAIR, 2**64 - 1, 4, episode="match", rounds=3, device="cuda", purpose="choosing"),
    LadderPlan(small(), PAIR, (PairDeals(0, 1, 1, 0, 256),)),
    StudyPlan(small(), PAIR, 1, 0, 4, pots=(1, 2), search=("lowest", 2), share=0.5),
    ReviewPlan(small(), PAIR, 10, 20, 1, ((1, {"plies": [1, 2]}, (0, 3)),)),
    LabelPlan(small(), PAIR, {"shards": 3, "rate": 0.5}, 2),
]
MEASURE, STUDY = PLANS[0], PLANS[3]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.KIND)
def test_a_plan_is_read_as_it_was_written(plan: Any) -> None:
    written = json.dumps(plan.to_dict())
    assert [*plan.to_dict()] == [*plan.__struct_fields__]
    assert read_plan(type(plan), json.loads(written), "Here") == plan


@pytest.mark.parametrize(
    ("plan", "change", "says"),
    [
        (MEASURE, {"deals": 10**400}, "expected 'deals' to be a whole number from 1 to 1000000000, not a whole number of"),
        (MEASURE, {"deals": True}, "expected 'deals' to be a whole number from 1 to 1000000000, not True."),
        (MEASURE, {"seed": 2**64}, "A seed is a whole number from 0 to 18446744073709551615, not 18446744073709551616."),
        (MEASURE, {"unit": 0}, "expected 'unit' to be a whole number from 1 to 1000000000, not 0."),
        (MEASURE, {"agents": ["x"] * 2000}, "expected 'agents' to be a list, at most 1000 long, not"),
        (MEASURE, {"parts": [[[0, "x", "payoff"]]]}, "expected 'parts[0][0][1]' to be "),
        (MEASURE, {"device": "cdua"}, "Unknown device 'cdua'. Did you mean 'cuda'?"),
        (MEASURE, {"dals": 3}, "Unknown key 'dals'. Did you mean 'deals'?"),
        (MEASURE, {"task": {"strat": "fresh"}}, "Unknown key 'task.strat'. Did you mean 'task.start'?"),
        (MEASURE, {"task": {"start": {"pots": [2, 1]}}}, "The bounds of the start value 'pots' are [low, high]"),
        (MEASURE, {"setup": 3}, "expected 'setup' to be keys and values, not 3."),
        (MEASURE, {"setup": {}}, "The key 'setup.game' is missing."),
        (MEASURE, {"setup": {**small().to_dict(), "rules": {"self": 1}}}, "Unknown knob 'self'."),
        (MEASURE, {"setup": {**small().to_dict(), "players": True}}, "expected 'setup.players' to be a whole number"),
        (STUDY, {"share": math.nan}, "expected 'share' to be a finite number, not nan."),
        (STUDY, {"first": -1}, "expected 'first' to be a whole number from 0 to 4611686018427387904, not -1."),
        (STUDY, {"search": ["lowest"]}, "expected 'search' to be a list"),
        (STUDY, {"pots": ["x"]}, "expected 'pots[0]' to be a whole number, at least 0, not 'x'."),
    ],
)
def test_any_other_value_is_a_sentence(plan: Any, change: dict[str, Any], says: str) -> None:
    content = {**json.loads(json.dumps(plan.to_dict())), **change}
    with pytest.raises(WorkError, match=re.escape(f"Here has a damaged description of its run: {says}")):
        read_plan(type(plan), content, "Here")


@pytest.mark.parametrize("content", ["x", [], None, {}, {3: 4}])
def test_what_is_no_plan_is_a_sentence(content: object) -> None:
    with pytest.raises(WorkError, match=r"^Here has a damaged description of its run: "):
        read_plan(MeasurePlan, content, "Here")


def test_a_plan_in_python_has_the_same_bounds() -> None:
    assert MeasurePlan(small(), PAIR, np.uint64(1), np.int64(4)) == MeasurePlan(small(), PAIR, 1, 4)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="MeasurePlan: expected 'deals' to be a whole number from 1 to 1000000000, not -1"):
        MeasurePlan(small(), PAIR, 1, -1)
    with pytest.raises(DealError, match="A seed is a whole number"):
        MeasurePlan(small(), PAIR, 2**64, 1)
