"""A study in units: the same files whatever plays them and in whatever order."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nainjaune_agents.measure.distributed.identity import identity, run_id
from nainjaune_agents.measure.distributed.resumed import FOLDER, Resumed
from nainjaune_agents.measure.distributed.segments import Segments
from nainjaune_agents.measure.distributed.units import Executor, WorkUnit
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.files import write_study
from nainjaune_agents.study.parts import write_parts
from nainjaune_agents.study.units import StudyPlan
from nainjaune_env.core.errors import ConfigError, WorkError
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.positions import small

SEARCHED: dict[str, Any] = {"search": ("tally", 4), "share": 0.5, "every_ply": True, "episode": "match", "seating": "fixed"}


def plan_of(**options: Any) -> StudyPlan:
    setup = small(3, max_rounds=2)
    return StudyPlan(setup, ("lowest", "random", "lowest"), **{"seed": 3, "first": 5, "episodes": 23, "chunk": 4, **options})


def whole(folder: Path, plan: StudyPlan) -> dict[str, bytes]:
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    write_study(folder, plan.playing(agents), plan.episodes, first=plan.first, chunk=plan.chunk, command=plan.command)
    return files(folder)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def played(folder: Path, plan: StudyPlan, executor: Executor, share: tuple[int, int] | None = None) -> list[WorkUnit]:
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    return [unit for unit, _ in Resumed(folder / FOLDER, executor, share).results(plan, agents, plan.units())]


@pytest.mark.parametrize("options", [{"command": "nainjaune study", "pots": (9, 0, 0, 0, 0)}, SEARCHED])
@pytest.mark.parametrize("at_once", [2, 7])
def test_files_are_equal_in_whatever_order_units_are_finished(tmp_path: Path, options: dict[str, Any], at_once: int) -> None:
    plan, executor = plan_of(**options), Shuffled(at_once, at_once)
    units = played(tmp_path / "parts", plan, executor)
    assert units != sorted(units)
    assert [tuple(unit) for unit in sorted(units)][:2] == [(0, 5, 4), (0, 9, 4)]
    rows = write_parts(tmp_path / "parts", plan)
    assert files(tmp_path / "parts") == whole(tmp_path / "whole", plan)
    assert rows.keys() == ({"decisions", "rounds", "options"} if plan.search else {"decisions", "rounds"})


def test_files_that_are_there_are_not_overwritten(tmp_path: Path) -> None:
    plan = plan_of(episodes=8)
    played(tmp_path, plan, Shuffled(1, 1))
    (tmp_path / "decisions.parquet").write_bytes(b"mine")
    with pytest.raises(ConfigError, match="exists, and is not overwritten"):
        write_parts(tmp_path, plan)
    assert files(tmp_path) == {"decisions.parquet": b"mine"}


def stream(schema: Any) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema):
        pass
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({}, "Expected the rows of a study as an Arrow stream in base64"),
        ({"decisions": base64.b64encode(b"no stream").decode()}, "Expected the rows of a study as an Arrow stream in base64"),
        ({"decisions": stream(pa.schema([("x", pa.int8())]))}, "A part has other columns than its study"),
    ],
)
def test_a_part_of_other_content_is_refused(tmp_path: Path, content: dict[str, str], says: str) -> None:
    plan = plan_of(episodes=4)
    with Segments(tmp_path / FOLDER) as made:
        made.append({"run": run_id(identity(plan)), "unit": next(plan.units()), "payload": content})
    with pytest.raises(WorkError, match=says):
        write_parts(tmp_path, plan)
    assert files(tmp_path) == {}


def test_missing_parts_leave_no_files(tmp_path: Path) -> None:
    plan = plan_of()
    played(tmp_path, plan, Shuffled(1, 1), (1, 2))
    with pytest.raises(WorkError, match=r"3 of 6 units are missing in '.*parts'"):
        write_parts(tmp_path, plan)
    assert files(tmp_path) == {}
    played(tmp_path, plan, Shuffled(1, 1))
    write_parts(tmp_path, plan)
    assert files(tmp_path) == whole(tmp_path / "whole", plan)
