"""Units that are kept in a folder: what is resumed, what is shared out, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from nainjaune_agents.measure.distributed import segments
from nainjaune_agents.measure.distributed.identity import identity, run_id
from nainjaune_agents.measure.distributed.resumed import Resumed
from nainjaune_agents.measure.distributed.segments import Segments
from nainjaune_agents.measure.distributed.units import InProcess, Results, WorkPlan, WorkUnit
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env.core.errors import WorkError
from tests.agents.measure.distributed.runs import Shuffled, figures, plan_of


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
    return [unit for unit, _ in Resumed(folder, executor, share).results(plan, agents, plan.units())]


def test_a_run_goes_on_from_its_finished_units(tmp_path: Path) -> None:
    folder, first, second = tmp_path / "parts", Counting(23), Counting()
    with pytest.raises(KeyboardInterrupt):
        figures(plan_of(), Resumed(folder, first))
    parts = Resumed(folder, second)
    assert figures(plan_of(), parts) == figures(plan_of())
    assert (len(second.played), parts.finished) == (60 - 23, 60)
    assert not {*first.played} & {*second.played}
    assert len(list(folder.iterdir())) == 2  # of two processes
    assert figures(plan_of(), Resumed(folder, None)) == figures(plan_of())
    assert play(folder, Counting(1)) == [*plan_of().units()]
    assert len(list(folder.iterdir())) == 2  # nothing was played


def test_jobs_share_a_run_out_in_whatever_order_and_place(tmp_path: Path) -> None:
    executors = (Shuffled(1, 5), InProcess(), Shuffled(2, 7))
    shares = [play(tmp_path, executor, (number, 3)) for number, executor in zip((3, 1, 2), executors, strict=True)]
    assert [len(units) for units in shares] == [20, 20, 20]
    assert sorted(unit for units in shares for unit in units) == sorted(plan_of().units())
    assert figures(plan_of(), Resumed(tmp_path, None)) == figures(plan_of())
    assert play(tmp_path, Counting(1), (2, 5)) == [*plan_of().units()][1::5]  # also as another number of jobs


def test_a_unit_that_two_jobs_have_played_counts_once(tmp_path: Path) -> None:
    class Other(Counting):
        def results(self, plan: WorkPlan, agents: Sequence[Any], units: Iterable[WorkUnit]) -> Results:
            for unit, result in super().results(plan, agents, units):
                yield unit, result
                if len(self.played) == 1:
                    play(tmp_path, InProcess(), (4, 4))

    assert figures(plan_of(), Resumed(tmp_path, Other())) == figures(plan_of())
    assert sum("unit" in content for _, content in Segments(tmp_path).read()) == 60 + 15
    assert figures(plan_of(), Resumed(tmp_path, None)) == figures(plan_of())


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    play(folder, InProcess(), deals=8)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "parts"))


def refused(folder: Path, says: str, executor: Any = None, **options: Any) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(WorkError, match=says):
        figures(plan_of(**{"deals": 8, **options}), Resumed(folder, executor))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_of_another_run_is_refused(folder: Path, tmp_path: Path) -> None:
    refused(folder, r"parts belongs to another run: its deals is 8, not 9\.$", InProcess(), deals=9)
    refused(folder, r"parts belongs to another run: its seed is 1, not 4\.$", InProcess(), seed=4)
    play(tmp_path / "other", InProcess(), deals=8, seed=2)
    shutil.copytree(tmp_path / "other", folder, dirs_exist_ok=True)
    refused(folder, r"parts belongs to another run: its seed is 2, not 1\.$")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"package": "0.1"}, r"parts was made with version '0\.1' of the package, and this is "),
        ({"weights": {"tally": "00"}}, "parts was made with other weights of 'tally': SHA-256 '00', and here it is None"),
        ({"weights": []}, "expected 'weights' to be "),
        ({"more": 1}, "nknown key 'more'"),
    ],
)
def test_another_identity_is_refused(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    run = {**identity(plan_of(deals=8)), **change}
    with Segments(tmp_path / "parts") as made:
        made.append({"run": run_id(run), "identity": run})
    refused(tmp_path / "parts", says, InProcess())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"unit": [0, 0, 4], "payload": {}}, "is no file of a run's units: .*the key 'run' is missing"),
        ({"run": "other", "unit": [0, 0, 4], "payload": {}}, r"belongs to another run\.$"),
        ({"unit": [0, 4], "payload": {}}, "expected 'unit' to be a list of 3 whole numbers"),
        ({"unit": [0, 0, 4]}, "the key 'payload' is missing"),
        ({"unit": [0, 0, 4], "payload": {}, "found": 1}, "Unknown key 'found'"),
    ],
)
def test_a_line_of_something_else_is_refused(content: dict[str, Any], says: str, folder: Path) -> None:
    run = {} if "'run'" in says or "run" in content else {"run": run_id(identity(plan_of(deals=8)))}
    with Segments(folder) as made:
        made.append({**run, **content})
    refused(folder, says, InProcess())


def test_missing_units_are_counted_where_nothing_is_played(folder: Path, tmp_path: Path) -> None:
    says = "12 of 12 units are missing in '.*none', and nothing is played here: play them first"
    with pytest.raises(WorkError, match=says):
        figures(plan_of(deals=8), Resumed(tmp_path / "none", None))
    assert not (tmp_path / "none").exists()
    path = next(folder.iterdir())
    path.write_bytes(path.read_bytes()[:-1])
    refused(folder, "1 of 12 units are missing")
    plan = structs.replace(plan_of(), deals=10**9, unit=1)
    with pytest.raises(WorkError, match="At least 100,000 units are missing"):
        next(Resumed(tmp_path / "none", None).results(plan, [], plan.units()))


def test_damaged_units_are_named_and_played_again(folder: Path) -> None:
    path = next(folder.iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"payload":{', b'"payload":{"more":1,', 1)
    path.write_bytes(b"".join(lines))
    shutil.copy(path, folder / "copy.jsonl")
    notes: list[str] = []
    executor = Counting()
    plan = plan_of(deals=8)
    assert figures(plan, Resumed(folder, executor, note=notes.append)) == figures(plan)
    assert executor.played == [WorkUnit(*json.loads(lines[3])["unit"])]
    assert [note.endswith(". Units that are missing without it are played again.") for note in notes] == [True, True]
    assert any("has a damaged line, line 4: " in note for note in notes)
    assert any("copy.jsonl' was copied, renamed or damaged" in note for note in notes)


def test_settings_of_bots_do_not_count_where_none_plays(tmp_path: Path) -> None:
    plan = plan_of(deals=8)
    agents = [load_agent(name, plan.setup) for name in plan.agents]
    for bots in (BotSettings(on_fault="forfeit"), None):
        units = [unit for unit, _ in Resumed(tmp_path, InProcess(), bots=bots).results(plan, agents, plan.units())]
        assert units == [*plan.units()]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("number", [1, 2, 13])
def test_a_full_disk_is_an_error_also_at_the_last_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Lines are written in another thread, after that of the run; there are 12 units."""
    real, written = segments.AppendedFile.append, list[bytes]()

    def append(file: Any, lines: bytes) -> None:
        written.append(lines)
        if len(written) == number:
            raise OSError(28, "No space left on device")
        real(file, lines)

    executor = Counting()
    monkeypatch.setattr(segments.AppendedFile, "append", append)
    with pytest.raises(WorkError, match=r"No space left on device\. What was appended to it before is safe"):
        play(tmp_path, executor, deals=8)
    assert len(executor.played) <= number + 1
    assert len(play(tmp_path, executor, deals=8)) == 12
