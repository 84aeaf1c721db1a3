"""Files of models with random damage: each still loads, or is refused in one line; nothing is printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from nainjaune_agents.players.foreign import onnx_model, sb3_model
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.onnx_export import write_onnx
from nainjaune_env.core.errors import AgentError
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv
from tests.agents.players.networks.test_onnx_export import net_of

ENDS = 1500
"""Bytes at both ends of a file, where its heads are."""


@pytest.mark.parametrize("kind", ["onnx", "sb3"])
def test_damage_is_found_or_does_no_harm(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    venv, path = SeatVecEnv(1, "djeco", 3), tmp_path / "whole"
    if kind == "onnx":
        write_onnx(path, NetAgent("net", net_of({"name": "mlp", "hidden": [8]}, venv.setup)), venv.setup)
    else:
        MaskablePPO("MlpPolicy", venv, policy_kwargs={"net_arch": [8]}, device="cpu").save(path)
        path = path.with_suffix(".zip")
    whole, rng = np.frombuffer(path.read_bytes(), np.uint8), np.random.default_rng(1)
    load = (onnx_model if kind == "onnx" else sb3_model).load
    load(f"{kind}:{path}", venv.setup)
    said: list[str] = []
    for _ in range(150):
        damaged = whole[: rng.integers(1, len(whole))].copy() if rng.random() < 0.2 else whole.copy()
        end = min(ENDS, len(damaged))
        for where in (rng.integers(end), len(damaged) - 1 - rng.integers(end), rng.integers(len(damaged))):
            if rng.random() < 0.5:
                damaged[where] = rng.integers(256)
        (tmp_path / "damaged").write_bytes(damaged.tobytes())
        try:
            load(f"{kind}:{tmp_path / 'damaged'}", venv.setup)
        except AgentError as error:
            said.append(str(error))
    assert 60 < len(said) < 150
    assert not any("\n" in sentence for sentence in said)
    assert capfd.readouterr() == ("", "")
