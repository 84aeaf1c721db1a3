"""The tasks are those of the core, as verifiers loads, selects and serves them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from nainjaune import ChatHarness, RoundEnv, RoundTaskset
from pydantic import ValidationError
from verifiers.v1.cli.init import scaffold
from verifiers.v1.configs.cli.init import InitConfig

from nainjaune_agents.language.round import TextRound
from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.language.tasks import SPLITS, TextTask, tasks
from tests.support.source import ROOT

PACKAGE = ROOT / "examples" / "verifiers"


def taskset(**config: Any) -> RoundTaskset:
    return vf.load_environment(vf.resolve_env_config({"taskset": {"id": "nainjaune", **config}})).taskset


def test_the_name_of_the_package_finds_taskset_harness_and_environment() -> None:
    config = vf.resolve_env_config({"taskset": {"id": "owner/nainjaune@0.1.0"}})
    env = vf.load_environment(config)
    assert (type(env), type(env.taskset)) == (RoundEnv, RoundTaskset)
    (harness,) = config.agent_harnesses().values()
    assert isinstance(vf.load_harness(harness), ChatHarness)
    assert config.agent.runtime.type == "subprocess"


def test_the_package_is_one_as_the_release_scaffolds_it(tmp_path: Path) -> None:
    theirs = tomllib.loads((scaffold(InitConfig(name="nainjaune", path=str(tmp_path))) / "pyproject.toml").read_text())
    ours = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    assert theirs["project"].keys() <= ours["project"].keys()
    assert ours["project"]["name"] == theirs["project"]["name"]
    assert ours["build-system"] == theirs["build-system"]
    assert ours["tool"] == theirs["tool"]
    assert (PACKAGE / ours["project"]["readme"]).is_file()


@pytest.mark.parametrize("split", SPLITS)
def test_tasks_are_those_of_the_core_but_for_rounds_without_a_decision(split: str) -> None:
    made = list(taskset(split=split).take(12))
    rounds = [TextTask.from_dict(task.data.round) for task in made]
    last = rounds[-1].index
    with_decisions = [task for task in tasks("nain_jaune", split, last + 1) if not TextRound(task, TextEnvSettings()).done]
    assert rounds == with_decisions
    assert [task.data.name for task in made] == [f"nain_jaune-{split}-{task.index}" for task in rounds]
    for task in made:
        assert task.data.system_prompt == task.dealt().messages[0]["content"]
        assert task.data.prompt is None


def test_tasks_are_the_same_again_and_after_the_wire() -> None:
    first, again = (list(taskset(split="test").take(8)) for _ in range(2))
    assert [task.key for task in first] == [task.key for task in again]
    sent = [type(task.data).model_validate(task.data.model_dump()) for task in first]
    assert [data.round for data in sent] == [task.data.round for task in first]
    assert [task.data.idx for task in taskset(split="test").exclude(idx=["0:5"]).take(3)] == [5, 6, 7]


def test_the_options_of_rounds_are_those_of_the_core() -> None:
    config = vf.taskset_config_type("nainjaune")().task
    assert config.settings() == TextEnvSettings()
    assert config.model_dump().keys() >= {*TextEnvSettings.__struct_fields__}
    (task,) = taskset(game="batasaurus", knobs={"memory": "perfect"}, task={"language": "fr", "form": "long"}).take(1)
    assert task.data.round["knobs"]["memory"] == "perfect"
    assert task.dealt().settings == TextEnvSettings(language="fr", form="long")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"split": "validation"}, "Input should be 'train', 'test' or 'held_out'"),
        ({"task": {"reward": "wins"}}, "Input should be 'regret', 'advantage', 'edge' or 'chips'"),
        ({"task": {"measuring": 1}}, "measuring"),
        ({"task": {"temperature": 1}}, "Extra inputs are not permitted"),
    ],
)
def test_settings_that_are_not_there_are_refused_with_a_sentence(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        taskset(**config)
    assert message in str(caught.value)


def test_the_command_refuses_a_game_that_is_not_there_with_a_sentence(evaluate: Any, tmp_path: Path) -> None:
    done = evaluate(tmp_path, "closer", 1, "--env.taskset.game", "chess").done
    assert done.returncode != 0
    assert "'chess'" in done.stderr.strip().splitlines()[-1]
