"""The server: what is wrong gets one sentence and ends nothing; tasks are listed; OpenEnv's own checks pass."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from nain_jaune_env.client import NainJauneEnv
from nain_jaune_env.models import NainJauneAction
from nain_jaune_env.server.app import make_app
from openenv.core.sync_client import SyncEnvClient
from openenv.validation.graders import Subject
from openenv.validation.graders.runtime import ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimePlan
from websockets.sync.client import connect

from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.language.tasks import HELD_OUT, TEST, TRAIN, tasks
from nainjaune_env.core.errors import RulesError
from tests.openenv.conftest import running
from tests.support.source import ROOT

FOLDER = ROOT / "examples" / "openenv"


@pytest.fixture
def env(url: str) -> Iterator[SyncEnvClient]:
    with NainJauneEnv(base_url=url).sync() as client:
        yield client


@pytest.mark.parametrize(
    ("reset", "says"),
    [
        ({"split": "validation"}, "Unknown split 'validation'. Valid: train, test, held_out."),
        ({"split": ["train"]}, r"Unknown split \['train'\]."),
        ({"index": -1}, "The index of a task is from 0 to 4294967295, not -1."),
        ({"index": 2**32}, "The index of a task is from 0 to 4294967295, not 4294967296."),
        ({"index": 1.5}, "The index of a task is a whole number, not 1.5."),
        ({"index": "3"}, "The index of a task is a whole number, not '3'."),
        ({"seed": True}, "The index of a task is a whole number, not True."),
        ({"indx": 3}, "Unknown argument of reset 'indx'. Did you mean 'index'?"),
        ({"episode_id": 7}, "An episode_id is a text, not 7."),
    ],
)
def test_a_bad_reset_gets_a_sentence_and_the_round_goes_on(reset: dict[str, Any], says: str, env: SyncEnvClient) -> None:
    before = env.reset(index=1, episode_id="first").observation.messages
    with pytest.raises(RuntimeError, match=f"^Server error: {says}.* \\(code: EXECUTION_ERROR\\)$"):
        env.reset(**reset)
    assert (env.state().episode_id, env.state().index, env.state().step_count) == ("first", 1, 0)
    assert env.step(NainJauneAction(text="")).observation.messages[: len(before)] == before


def test_a_step_needs_a_round_that_goes_on(env: SyncEnvClient) -> None:
    assert env.state().model_dump() == {
        "episode_id": None, "step_count": 0, "split": None, "index": None, "decisions": 0, "refused": 0, "forfeits": 0,
    }  # fmt: skip
    with pytest.raises(RuntimeError, match="There is no round yet: reset begins one"):
        env.step(NainJauneAction(text="Move: 1"))
    result = env.reset()
    while not result.done:
        result = env.step(NainJauneAction(text=""))
    counts = env.state()
    with pytest.raises(RuntimeError, match="The round is over, so no answer is read"):
        env.step(NainJauneAction(text="Move: 1"))
    assert env.state() == counts
    assert not env.reset().done


@pytest.mark.parametrize("data", [{}, {"text": 3}, {"text": None}, {"text": "Move: 1", "move": 1}, {"text": ["Move: 1"]}])
def test_what_is_no_answer_is_not_read(data: dict[str, Any], url: str) -> None:
    with connect(f"{url.replace('http', 'ws')}/ws") as socket:
        said = []
        for message in ({"type": "reset", "data": {}}, {"type": "step", "data": data}, {"type": "state"}):
            socket.send(json.dumps(message))
            said.append(json.loads(socket.recv()))
    assert [one["type"] for one in said] == ["observation", "error", "state"]
    assert said[1]["data"]["code"] == "VALIDATION_ERROR"
    assert {error["loc"][0] for error in said[1]["data"]["errors"]} <= {"text", "move"}
    assert said[2]["data"]["step_count"] == 0


def test_more_sessions_than_there_are_places_get_a_sentence(tmp_path: Path) -> None:
    code = "from nain_jaune_env.server import app; app.MAX_SESSIONS = 1; app.serve(app.make_app('nain_jaune'))"
    with running(tmp_path / "log", "-c", code, "--port", "0") as url, NainJauneEnv(base_url=url).sync() as first:
        first.reset()
        with (
            NainJauneEnv(base_url=url).sync() as second,
            pytest.raises(RuntimeError, match=r"1/1 sessions active\. Cannot accept"),
        ):
            second.reset()
        assert not first.step(NainJauneAction(text="")).done


def test_tasks_are_listed(url: str) -> None:
    assert httpx.get(f"{url}/list_environments").json() == ["nain_jaune_env"]

    def listed(route: str, **data: Any) -> Any:
        return httpx.post(f"{url}/nain_jaune_env/{route}", json=data).json()

    splits = httpx.get(f"{url}/nain_jaune_env/splits").json()
    assert splits == [{"name": TRAIN, "type": TRAIN}, {"name": TEST, "type": TEST}, {"name": HELD_OUT, "type": TEST}]
    assert listed("num_tasks", split=HELD_OUT) == {"num_tasks": 2**32}
    of_core = [task.to_dict() for task in tasks("nain_jaune", TEST, 100)]
    assert listed("tasks", split=TEST)["tasks"] == of_core
    assert listed("task", split=TEST, index=99) == {"task": of_core[99]}
    assert listed("task_range", split=TEST, start=3, stop=5) == {"tasks": of_core[3:5]}
    assert listed("task_range", split=TEST, start=-1) == {"tasks": [tasks("nain_jaune", TEST, 1, first=2**32 - 1)[0].to_dict()]}


def test_bad_requests_without_a_session_get_a_sentence(url: str) -> None:
    for route, data, says in (
        ("nain_jaune_env/num_tasks", {"split": "all"}, "Unknown split 'all'. Valid: train, test, held_out."),
        ("nain_jaune_env/tasks", {"split": "all"}, "Unknown split 'all'. Valid: train, test, held_out."),
        ("nain_jaune_env/task", {"split": TEST, "index": -1}, "The index of a task is from 0 to 4294967295, not -1."),
        ("nain_jaune_env/task_range", {"split": TEST}, "At most 100 tasks are listed at a time, not 4,294,967,296."),
        ("reset", {"split": "all"}, "Unknown split 'all'. Valid: train, test, held_out."),
        ("step", {"action": {"text": "Move: 1"}}, "There is no round yet: reset begins one."),
    ):
        answer = httpx.post(f"{url}/{route}", json=data)
        assert (answer.status_code, answer.json()) == (400, {"detail": says})


def test_an_unknown_game_is_refused_at_once() -> None:
    with pytest.raises(RulesError, match="chess"):
        make_app("chess")


def openenv(*words: str, **options: Any) -> str:
    done = subprocess.run([sys.executable, "-m", "openenv.cli", *words], check=False, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_openenv_validates_the_folder_and_the_server(url: str) -> None:
    assert "Verdict: PASS" in openenv("validate", str(FOLDER), "--level", "static")
    said = openenv("validate", str(FOLDER))  # what needs a container is skipped
    assert "FAIL" not in said
    assert "Verdict: WARN" in said
    assert "Verdict: PASS" in openenv("validate", "--url", url)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in its client of WebSockets
def test_openenvs_checks_of_a_running_container_hold_for_the_server(rewarding: tuple[str, TextEnvSettings]) -> None:
    plan = RuntimePlan.model_validate(
        {
            "plan_schema_version": "1",
            "reset": {"episode_id": "probe", "seed": 3, "options": {"split": "test", "index": 7}},
            "actions": [{"text": text} for text in ("Move: 1", "", "Ignore all rules.") * 33],
        }
    )
    evidence = collect_runtime_evidence(rewarding[0], plan, episode_timeout_s=60)
    assert evidence.failure_reason is None
    assert json.loads(evidence.exchanges[-2].response_json)["data"]["done"]
    manifest = OpenEnvYamlParser().parse(FOLDER)
    subject = Subject(root=FOLDER, manifest=manifest, image_ref=None, running=None, outputs_dir=FOLDER, runtime_evidence=evidence)
    for grader in (RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()):
        assert grader.run(subject).status.value == "pass", grader.run(subject).evidence


def test_the_folder_installs_and_is_found_by_name(tmp_path: Path) -> None:
    """As ``openenv push`` takes it: AutoEnv finds the client, and the server runs with the page that a hub switches on."""
    folder, site = tmp_path / "folder", tmp_path / "site"
    shutil.copytree(FOLDER, folder)  # pip leaves folders beside what it builds
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(site)]
    subprocess.run([*pip, str(folder)], check=True)
    environment = {**os.environ, "PYTHONPATH": f"{site}:{ROOT}", "XDG_CACHE_HOME": str(tmp_path), "ENABLE_WEB_INTERFACE": "true"}
    code = "from openenv import AutoAction, AutoEnv; print(AutoEnv.get_env_class('nain_jaune').__name__, "
    code += "AutoAction.from_env('nain_jaune').__name__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split()[-2:] == ["NainJauneEnv", "NainJauneAction"]
    command = ("-m", "nain_jaune_env.server.app", "--port", "0")
    with running(tmp_path / "log", *command, env=environment, cwd=tmp_path) as url:
        assert httpx.get(f"{url}/web", follow_redirects=True).status_code == 200
        with NainJauneEnv(base_url=url).sync() as env:
            assert len(env.reset().observation.messages) == 2
