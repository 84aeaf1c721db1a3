"""Which runs are the same, and what a worker refuses."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.measure.distributed.identity import (
    check_same,
    identity,
    package_version,
    run_id,
    worker_player,
)
from nainjaune_agents.measure.plan import MeasurePlan
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import FILE_NAME
from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import WorkError
from tests.agents.measure.distributed.runs import plan_of, save_run


def test_a_run_is_its_plan_the_package_and_the_weights(tmp_path: Path) -> None:
    name = save_run(tmp_path / "run")
    run = identity(plan_of("lowest", f"{name}@sample"))
    assert run["weights"] == {f"{name}@sample": digest(tmp_path / "run" / FILE_NAME)}
    assert run["package"] == package_version()
    assert run_id(run) == run_id(identity(plan_of("lowest", f"{name}@sample")))
    assert run_id(run) != run_id(identity(plan_of("lowest", f"{name}@sample", seed=2)))
    save_run(tmp_path / "run", iteration=1)
    assert run_id(run) != run_id(identity(plan_of("lowest", f"{name}@sample")))


def test_the_agent_of_rollouts_is_compared_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_run(Path("run"))
    run = identity(plan_of("lowest", "closer@search=2,rollouts=run", "mixed:tally+closer@search=2,rollouts=run"))
    assert run["weights"] == {"run": digest(Path("run") / FILE_NAME)}
    worker_player(MeasurePlan, run)
    save_run(Path("run"), iteration=1)
    with pytest.raises(WorkError, match="A worker has other weights of 'run'"):
        worker_player(MeasurePlan, run)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"package": "0.1 (sources 0)"}, r"^here was made with version '0\.1 \(sources 0\)' of the package, and this is .+\.$"),
        ({"weights": {"a": "00"}}, r"^here was made with other weights of 'a': SHA-256 '00', and here it is None\.$"),
        ({"kind": "\x1b[2J"}, r"^here belongs to another run: its kind is '\\x1b\[2J', not 'measurement'\.$"),
        ({"plan": {"seed": 2}}, r"^here belongs to another run: its seed is 2, not 1\.$"),
        ({"more": 1}, r"^here belongs to another run\.$"),
    ],
)
def test_the_first_difference_is_named(change: dict[str, Any], says: str) -> None:
    here = identity(plan_of())
    there = copy.deepcopy(here)
    for key, value in change.items():
        there[key] = {**there[key], **value} if isinstance(value, dict) else value
    check_same("here", here, here)
    with pytest.raises(WorkError, match=says):
        check_same("here", there, here)


def test_a_worker_refuses_another_version_and_other_weights(tmp_path: Path) -> None:
    name = save_run(tmp_path / "run")
    run = identity(plan_of("lowest", name))
    worker_player(MeasurePlan, run)
    with pytest.raises(WorkError, match=r"A worker has version .* of the package, and the run is of 9\.9: install the same"):
        worker_player(MeasurePlan, {**run, "package": "9.9"})
    sent = tmp_path / "sent.safetensors"
    sent.write_bytes((tmp_path / "run" / FILE_NAME).read_bytes())
    save_run(tmp_path / "run", iteration=1)
    with pytest.raises(WorkError, match=r"A worker has other weights of '.*run': SHA-256 [0-9a-f]{64}, and the run is of"):
        worker_player(MeasurePlan, run)
    (tmp_path / "run" / FILE_NAME).unlink()
    worker_player(MeasurePlan, run, {run["weights"][name]: sent})
    sent.write_bytes(sent.read_bytes()[:-1])
    with pytest.raises(WorkError, match="A worker has other weights"):
        worker_player(MeasurePlan, run, {run["weights"][name]: sent})


@pytest.mark.parametrize("ending", ["", "@sample", "@search=2"])
def test_weights_that_were_sent_play_as_those_at_home(ending: str, tmp_path: Path) -> None:
    name = save_run(tmp_path / "run") + ending
    plan = plan_of("random", name, deals=4)
    run, unit = identity(plan), next(plan.units())
    sent = tmp_path / "sent.safetensors"
    sent.write_bytes((tmp_path / "run" / FILE_NAME).read_bytes())
    result = worker_player(MeasurePlan, run, {run["weights"][name]: sent})(unit)
    expected = plan.player([load_agent(each, plan.setup) for each in plan.agents])(unit)
    assert {**result, "clocks": None} == {**expected, "clocks": None}
