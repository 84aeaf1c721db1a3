"""Shards as files: what is resumed, what is shared out, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.measure.distributed import shards
from nainjaune_agents.measure.distributed.identity import identity
from nainjaune_agents.measure.distributed.shards import RUN_NAME, FinishedShards, Shards, file_name
from nainjaune_agents.measure.distributed.units import InProcess, Results, WorkPlan, WorkUnit
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import WorkError
from tests.agents.measure.distributed.runs import figures, plan_of


class Counting(InProcess):
    """Plays some units, and is then interrupted."""

    def __init__(self, most: int = 10**9) -> None:
        self.most = most
        self.played: list[WorkUnit] = []

    def results(self, plan: WorkPlan, agents: Sequence[Any], units: Iterable[WorkUnit]) -> Results:
        for unit, result in super().results(plan, agents, units):
            self.played.append(unit)
            yield unit, result
            if len(self.played) == self.most:
                raise KeyboardInterrupt


def play(folder: Path, executor: Any, share: tuple[int, int] | None = None, **options: Any) -> list[WorkUnit]:
    plan = plan_of(**options)
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    return [unit for unit, _ in Shards(folder, executor, share).results(plan, agents, plan.units())]


def test_a_run_goes_on_from_its_finished_shards(tmp_path: Path) -> None:
    first, second = Counting(23), Counting()
    with pytest.raises(KeyboardInterrupt):
        figures(plan_of(), Shards(tmp_path, first))
    assert len(list(tmp_path.glob("*.json"))) == 23 + 1
    assert figures(plan_of(), Shards(tmp_path, second)) == figures(plan_of())
    assert len(second.played) == 60 - 23
    assert not {*first.played} & {*second.played}


def test_jobs_share_a_run_out(tmp_path: Path) -> None:
    parts = [play(tmp_path, InProcess(), (number, 3)) for number in (3, 1, 2)]
    assert [len(part) for part in parts] == [20, 20, 20]
    assert sorted(unit for part in parts for unit in part) == sorted(plan_of().units())
    assert figures(plan_of(), FinishedShards(tmp_path)) == figures(plan_of())
    assert play(tmp_path, Counting(1), (2, 3)) == parts[2]  # nothing is played again


@pytest.mark.parametrize("last", [False, True])
def test_a_unit_that_another_job_finishes_meanwhile_is_read(tmp_path: Path, last: bool) -> None:
    """The other job plays every fourth unit while this one plays its first one, or all that this one does not reach."""

    class Other(Counting):
        def results(self, plan: WorkPlan, agents: Sequence[Any], units: Iterable[WorkUnit]) -> Results:
            for unit, result in super().results(plan, agents, units):
                yield unit, result
                if len(self.played) == 1:
                    play(tmp_path, InProcess(), None if last else (4, 4))

    executor = Other()
    assert figures(plan_of(), Shards(tmp_path, executor)) == figures(plan_of())
    assert len(executor.played) == (1 if last else 45)


@pytest.mark.parametrize("number", [3, 61])
def test_a_full_disk_is_an_error_also_at_the_last_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Shards are written in another thread, after run.json; there are 60."""
    written: list[Path] = []

    def write(path: Path, text: str) -> None:
        written.append(path)
        if len(written) == number:
            raise OSError("No space left on device")
        write_text(path, text)

    executor = Counting()
    monkeypatch.setattr(shards, "write_text", write)
    with pytest.raises(OSError, match="No space left"):
        play(tmp_path / "run", executor)
    assert len(executor.played) <= number + 1


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    play(folder, InProcess(), deals=8)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "shards"))


def refused(folder: Path, says: str, **options: Any) -> None:
    with pytest.raises(WorkError, match=says):
        figures(plan_of(**{"deals": 8, **options}), FinishedShards(folder))


def test_a_shard_of_another_run_is_refused(folder: Path, tmp_path: Path) -> None:
    name = file_name(WorkUnit(2, 4, 4))
    play(tmp_path / "other", InProcess(), deals=8, seed=2)
    shutil.copy(tmp_path / "other" / name, folder / name)
    refused(folder, rf"{name}' belongs to another run than the run\.json beside it\.$")
    with pytest.raises(WorkError, match="belongs to another run than the run"):
        play(folder, InProcess(), deals=8)


def test_a_shard_that_is_there_twice_or_missing_is_named(folder: Path) -> None:
    shutil.copy(folder / file_name(WorkUnit(1, 4, 4)), folder / "copy.json")
    refused(folder, r"The deals 4 to 7 of part 1 are there twice, and also in '.*copy\.json': keep one file for them\.$")
    shutil.move(folder / file_name(WorkUnit(1, 4, 4)), folder / "moved.json")
    refused(folder, r"The deals 4 to 7 of part 1 should be in '0001-0000000004\.json', and are in '.*copy\.json'")
    (folder / "copy.json").unlink()
    (folder / "moved.json").unlink()
    (folder / file_name(WorkUnit(5, 0, 4))).unlink()
    refused(folder, r"2 of 12 shards are missing in '.*shards', the first is '0001-0000000004\.json': run the jobs")


def test_a_shard_under_the_name_of_another_is_refused(folder: Path) -> None:
    shutil.copy(folder / file_name(WorkUnit(1, 4, 4)), folder / file_name(WorkUnit(3, 0, 4)))
    says = r"0003-0000000000\.json' holds the deals 4 to 7 of part 1, not 0 to 3 of part 3: it was copied or renamed\. Remove it"
    refused(folder, says)
    with pytest.raises(WorkError, match=says):  # a run that goes on from it too
        play(folder, InProcess(), deals=8)
    (folder / file_name(WorkUnit(3, 0, 4))).unlink()
    assert figures(plan_of(deals=8), Shards(folder, InProcess())) == figures(plan_of(deals=8))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text[:-20], "is not a shard of a run: "),
        (lambda text: text.replace('"count": 4', '"count": 5', 1), r"is damaged: its content does not"),
        (lambda text: shards.shard_text(json.loads(text)["run"], (1, 4), {}), "expected 'unit' to be a list of 3 whole numbers"),
        (lambda text: text.replace('{"run"', '{"run": "", "run"'), "Expected each key once, and 'run' comes 2 times"),
    ],
)
def test_a_damaged_shard_is_refused(damage: Any, says: str, folder: Path) -> None:
    path = folder / file_name(WorkUnit(1, 4, 4))
    text = path.read_text(encoding="utf-8")
    assert damage(text) != text
    path.write_text(damage(text), encoding="utf-8")
    refused(folder, says)


def test_a_folder_of_another_run_is_refused(folder: Path) -> None:
    before = sorted(path.read_bytes() for path in folder.iterdir())
    for options, says in (({"deals": 9}, "its deals is 8, not 9"), ({"seed": 4}, "its seed is 1, not 4")):
        with pytest.raises(WorkError, match=rf"shards belongs to another run: {says}\.$"):
            play(folder, InProcess(), **{"deals": 8, **options})
    assert sorted(path.read_bytes() for path in folder.iterdir()) == before
    run = json.loads((folder / RUN_NAME).read_text(encoding="utf-8"))
    assert run == identity(plan_of(deals=8))
    (folder / RUN_NAME).write_text(json.dumps({**run, "package": "0.1"}), encoding="utf-8")
    refused(folder, r"was made with version '0\.1' of the package, and this is ")
    (folder / RUN_NAME).unlink()
    refused(folder, "There is no description of a run at ")
