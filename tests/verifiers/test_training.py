"""What of the GRPO configuration can be run without a GPU: its classes read it, and the trainer's way to a round is played."""

from __future__ import annotations

import asyncio
import tomllib
from typing import Any

import pytest
import verifiers.v1 as vf
from nainjaune import RoundEnv
from verifiers.v1.serve.client import EnvClient
from verifiers.v1.serve.server import EnvServer

from nainjaune_agents.language.tasks import SPLITS
from nainjaune_env.records.record import parse_record, verify_record
from tests.agents.players.chat.conftest import Local
from tests.support.source import ROOT


def grpo() -> dict[str, Any]:
    """The configuration, read again: verifiers changes what it resolves."""
    return tomllib.loads((ROOT / "examples" / "verifiers" / "grpo.toml").read_text(encoding="utf-8"))


def sources() -> dict[str, dict[str, Any]]:
    """The environments of the configuration, by their names."""
    orchestrator = grpo()["orchestrator"]
    return {source["name"]: source["env"] for source in (*orchestrator["train"]["source"], *orchestrator["eval"]["source"])}


@pytest.mark.parametrize("split", SPLITS)
def test_the_environments_of_the_configuration_load(split: str) -> None:
    env = vf.load_environment(vf.resolve_env_config(sources()[split]))
    assert isinstance(env, RoundEnv)
    (task,) = env.taskset.take(1)
    assert task.data.round["split"] == split
    assert task.config.reward == "regret"


def test_the_trainers_own_classes_read_the_configuration() -> None:
    """They are on no index: the folder ``packages/prime-rl-configs/src`` of prime-rl has to be on the path."""
    rl = pytest.importorskip("prime_rl.configs.rl")
    config = rl.RLConfig.model_validate(grpo())
    assert config.orchestrator.algo.type == "grpo"
    assert [type(source.env).__name__ for source in config.orchestrator.train.source] == ["RoundEnvConfig"]


def test_a_round_is_played_by_a_server_of_environments_as_the_trainer_asks_for_it(local: Local) -> None:
    block = sources()["train"]
    block["taskset"]["task"] = {"reward": "edge"}
    config = vf.resolve_env_config(block)
    (task,) = vf.load_taskset(config.taskset).take(1)

    async def serve_and_play() -> list[vf.WireEpisode]:
        server = EnvServer(config, "tcp://127.0.0.1:0")
        serving = asyncio.create_task(server.run())
        client = EnvClient(server.address)
        try:
            await client.wait_for_server_startup(timeout=30)
            arguments = {
                "task_data": task.data.model_dump(),
                "client": vf.EvalClientConfig(base_url=local.url),
                "model": "closer",
                "sampling": vf.SamplingConfig(temperature=1.0),
            }
            return [await client.run(**arguments) for _ in range(2)]
        finally:
            await client.close()
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    first, second = asyncio.run(serve_and_play())
    for episode in (first, second):
        assert episode.ok, episode.errors
        (trace,) = episode.traces
        assert trace.rewards["edge"].score == 0
        verify_record(parse_record(trace.info["record"]))
        (branch,) = trace.branches
        assert branch.trainable
    assert first.traces[0].info == second.traces[0].info
