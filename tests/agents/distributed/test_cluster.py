"""Units played on a real cluster of two nodes, one of which is killed, and a worker too."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.distributed.cluster import Cluster
from nainjaune_agents.distributed.identity import identity
from nainjaune_agents.distributed.units import Plan
from nainjaune_env.core.errors import WorkError
from tests.agents.distributed.runs import figures, plan_of, save_run
from tests.support.processes import running

cluster_utils = pytest.importorskip("ray.cluster_utils")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves pipes of its processes open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_no_cluster_on_this_machine_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(WorkError, match="There is no cluster to play on at 'auto': "):
        next(Cluster("auto").results(plan_of(), [], plan_of().units()))


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """One node with one processor, which stays."""
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": soon}
    made = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    yield made
    made.shutdown()


def test_results_are_those_of_one_process_though_a_node_and_a_worker_are_killed(local: Any) -> None:
    plan, done = plan_of(), []
    second = local.add_node(num_cpus=1)

    def kill(deals: int) -> None:
        done.append(deals)
        if len(done) == 6:
            os.kill(running("ray::_play")[0], signal.SIGKILL)
        if len(done) == 20:
            local.remove_node(second, allow_graceful=False)

    assert figures(plan, Cluster(local.address), kill) == figures(plan)
    assert len(done) == 60


def test_weights_come_to_workers_as_files(local: Any, tmp_path: Path) -> None:
    plan = plan_of("random", f"{save_run(tmp_path / 'run')}@sample", deals=8)
    assert figures(plan, Cluster(local.address)) == figures(plan)


def test_a_worker_of_another_version_is_an_error(local: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(plan: Plan) -> dict[str, Any]:
        return {**identity(plan), "package": "0.1 (sources 0)"}

    monkeypatch.setattr("nainjaune_agents.distributed.cluster.identity", other)
    with pytest.raises(WorkError, match=r"A worker has version .* of the package, and the run is of 0\.1 \(sources 0\): install"):
        next(Cluster(local.address).results(plan_of(), [], plan_of().units()))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("here", r"A cluster's address is host:port or auto, not 'here'\."),
        ("host:many", r"A cluster's address is host:port or auto, not 'host:many'\."),
        ("127.0.0.1:1", r"There is no cluster at '127\.0\.0\.1:1': .*\.$"),
        ("127.0.0.1:99999", r"There is no cluster at '127\.0\.0\.1:99999': .*\.$"),
    ],
)
def test_an_address_without_a_cluster_is_an_error(address: str, says: str) -> None:
    with pytest.raises(WorkError, match=says):
        next(Cluster(address).results(plan_of(), [], plan_of().units()))
