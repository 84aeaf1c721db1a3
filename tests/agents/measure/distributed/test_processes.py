"""Units played by processes, which are killed: the same results."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pytest

from nainjaune_agents.measure.distributed.processes import MAX_LOSSES, THREADS, Processes
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.core.errors import WorkError
from tests.agents.measure.distributed.runs import figures, plan_of, save_run


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, pytest.param(7, marks=pytest.mark.long)])
def test_results_are_those_of_one_process_though_a_worker_is_killed(workers: int) -> None:
    plan, before = plan_of(), dict(os.environ)
    reports: list[str] = []
    done: list[int] = []

    def kill(deals: int) -> None:
        done.append(deals)
        if len(done) == 9:
            os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)  # type: ignore[arg-type]

    assert figures(plan, Processes(workers, reports.append), kill) == figures(plan)
    assert len(done) == 60
    assert reports[0].startswith(f"{workers} workers, oldest shard ")
    assert dict(os.environ) == before
    assert not multiprocessing.active_children()


def test_windows_has_fewer_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    Processes(61)
    with pytest.raises(WorkError, match="On Windows there are at most 61 workers, not 62"):
        Processes(62)


@pytest.mark.slow
def test_what_cannot_be_played_is_an_error_and_leaves_no_process(tmp_path: Path) -> None:
    """And a worker has one thread."""
    run = save_run(tmp_path / "run")
    plan = plan_of("lowest", run)
    results = Processes(1).results(plan, [], plan.units())
    next(results)
    (child,) = multiprocessing.active_children()
    environment = Path(f"/proc/{child.pid}/environ").read_text(encoding="utf-8").split("\0")
    assert {f"{name}=1" for name in THREADS} <= set(environment)
    save_run(tmp_path / "run", iteration=1)  # a worker that begins now finds other weights
    os.kill(child.pid, signal.SIGKILL)  # type: ignore[arg-type]
    with pytest.raises(WorkError, match=r"A worker has other weights of '.*run': SHA-256 [0-9a-f]{64}, and the run is of"):
        list(results)
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_workers_that_end_again_and_again_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")  # no process can start
    plan = plan_of()
    with pytest.raises(WorkError, match=rf"Workers ended {MAX_LOSSES} times without finishing a shard"):
        next(Processes(1).results(plan, [load_agent(name, plan.setup) for name in plan.agents], plan.units()))
