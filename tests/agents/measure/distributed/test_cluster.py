"""Units played on a real cluster of two nodes, one of which is killed, and a worker too."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nainjaune_agents.measure.distributed.identity import identity
from nainjaune_agents.measure.distributed.units import WorkPlan
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_agents.train.sweeps.grid import read_results
from nainjaune_agents.train.sweeps.training import train_all
from nainjaune_env.core.errors import ConfigError, WorkError
from tests.agents.measure.distributed.runs import figures, plan_of, save_run
from tests.agents.train.sweeps.test_grid import TINY as TINY_RUN
from tests.agents.train.sweeps.test_grid import grid_of
from tests.support.processes import running

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

from nainjaune_agents.measure.distributed import cluster  # noqa: E402
from nainjaune_agents.measure.distributed.cluster import Cluster, connected  # noqa: E402
from nainjaune_agents.train.sweeps import cluster as sweep_cluster  # noqa: E402
from tests.agents.train.sweeps.test_cluster import weights  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves pipes of its processes open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_no_cluster_on_this_machine_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(WorkError, match="The cluster at 'auto' cannot be used: "):
        next(Cluster("auto").results(plan_of(), [], plan_of().units()))


def test_a_cluster_that_no_longer_answers_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself ends the process after a minute, without an error that could be caught."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr("ray.get_runtime_context", lambda: SimpleNamespace(gcs_address=address))
        monkeypatch.setattr(cluster, "LOST_SECONDS", 0.1)
        cluster.await_answer()
    with pytest.raises(WorkError, match=rf"The cluster at '{address}' has not answered .* repeat the command"):
        cluster.processors()


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """One node with one processor, which stays."""
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": soon}
    made = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    yield made
    made.shutdown()


def test_weights_come_to_workers_as_files_and_a_player_that_is_a_file_plays_where_it_is_the_same(
    local: Any, tmp_path: Path
) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("def f(observation, mask):\n    return mask.argmax(axis=-1)\n", encoding="utf-8")
    plan = plan_of(f"{bot}:f", f"{save_run(tmp_path / 'run')}@sample", deals=8)
    before = signal.getsignal(signal.SIGTERM)
    assert figures(plan, Cluster(local.address)) == figures(plan)
    run = identity(plan)
    run["files"] = {f"{bot}:f": ["00"]}
    with connected(local.address):
        assert signal.getsignal(signal.SIGTERM) is before
        about = ray.put((type(plan), run, {}))
        text = ray.get(ray.remote(cluster._play).remote([about], "another run", tuple(next(plan.units()))))
    assert json.loads(text).startswith(f"A worker has other files of {str(bot) + ':f'!r} than the run")


def test_results_are_those_of_one_process_though_a_node_and_a_worker_are_killed(local: Any) -> None:
    plan, done, killed = plan_of(), [], []
    second = local.add_node(num_cpus=1)

    def kill(deals: int) -> None:
        done.append(deals)
        if len(done) >= 6 and not killed:
            killed.extend(running("ray::_play")[:1])  # none, where all are done before their results are read
            if killed:
                os.kill(killed[0], signal.SIGKILL)
        if len(done) == 20:
            local.remove_node(second, allow_graceful=False)

    assert figures(plan, Cluster(local.address), kill) == figures(plan)
    assert len(done) == 60
    assert killed


def test_runs_of_a_sweep_are_those_of_one_process(local: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_cluster, "CALL_SECONDS", 0.0)  # each call trains an iteration
    runs, alone = (grid_of(TINY_RUN, [], range(1), tmp_path / name) for name in ("cluster", "alone"))
    reached: list[int] = []
    for _ in range(2):  # the second time nothing is trained again
        assert sweep_cluster.train_on_cluster(local.address, runs, lambda _, completed: reached.append(completed)) == {}
    assert reached == [1, 2, 3, 4, 4]
    assert train_all(alone, 1, lambda *_: None) == {}
    assert [weights(unit) for unit in runs] == [weights(unit) for unit in alone]
    assert [one.edge for one in read_results(runs, {})] == [one.edge for one in read_results(alone, {})]


def test_a_run_that_no_machine_can_take_is_an_error(local: Any, tmp_path: Path) -> None:
    runs = grid_of({**TINY_RUN, "threads": 2}, [], range(1), tmp_path)
    with pytest.raises(ConfigError, match=r"A run takes 2 processors \('threads'\), and the largest machine .* has 1\."):
        sweep_cluster.train_on_cluster(local.address, runs, lambda *_: None)
    assert list(tmp_path.iterdir()) == []


def test_a_worker_of_another_version_is_an_error(local: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(plan: WorkPlan, bots: BotSettings) -> dict[str, Any]:
        return {**identity(plan, bots), "package": "0.1 (sources 0)"}

    monkeypatch.setattr("nainjaune_agents.measure.distributed.cluster.identity", other)
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
