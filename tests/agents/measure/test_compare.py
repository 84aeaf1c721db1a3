"""A cross table in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.errors import AgentError, ConfigError, DealError, DeviceError, RulesError
from nainjaune_env.registry import make_setup
from tests.agents.measure.stores import SOURCE, Counting, measurement, numbers

KNOWN = heuristics("nain_jaune")
PAIR = [KNOWN["lowest"], KNOWN["random"]]


def test_it_is_the_fold_of_a_measurement_and_goes_on_from_a_store(tmp_path: Path) -> None:
    task, reported, executor = Task("centred"), list[int](), Counting()
    expected = fold(measurement(("lowest", "random"), source=OwnGame(SOURCE.setup, 4, task)))
    for _ in range(2):
        with Store(tmp_path) as store:
            table = cross_table(
                SOURCE.setup, PAIR, deals=40, seed=4, task=task, chunk=16, store=store, executor=executor,
                progress=lambda so_far: reported.append(so_far.deals),
            )  # fmt: skip
        assert numbers(table) == numbers(expected)
    assert reported == [16, 32, 40] * 2
    assert len(executor.played) == 6


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"agents": PAIR[:1]}, AgentError, "two or more agents of different names"),
        ({"setup": "djeco"}, RulesError, "Expected the rules of a table"),
        ({"setup": make_setup("batasaurus"), "task": Task(start="carried")}, ConfigError, "nothing is carried"),
        ({"device": "tpu"}, (DeviceError, ConfigError), "nknown device 'tpu'"),
        ({"seed": -1}, (DealError, ConfigError), "'seed' to be a whole number|A seed is a whole number"),
        *[({"deals": deals}, (DealError, ConfigError), "'deals' to be a whole number") for deals in (0, -1, 1.5, True, None)],
        *[({"chunk": chunk}, ConfigError, "'unit' to be a whole number") for chunk in (-1, 1.5)],
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        cross_table(**{"setup": SOURCE.setup, "agents": PAIR, "deals": 4, "seed": 1, **change})
