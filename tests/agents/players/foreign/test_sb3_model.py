"""Models of Stable-Baselines3 from their weights: equal to the library's own play; a hostile file is refused and runs nothing."""

from __future__ import annotations

import base64
import functools
import io
import json
import os
import pickle
import re
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from nainjaune_agents.players.foreign.sb3_model import MAX_DATA, MAX_WEIGHTS, load
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search import searching
from nainjaune_agents.train.sb3 import NetPolicy
from nainjaune_env.agent_adapters import as_agent
from nainjaune_env.core.errors import AgentError, MissingLibraryError
from nainjaune_env.core.extras import install_command
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv
from nainjaune_env.registry import make_setup
from tests.support.edges import edge_of
from tests.support.positions import asked

TABLES = 8
SETUP = make_setup("nain_jaune", "djeco", 3)


def venv(dtype: str = "uint8") -> SeatVecEnv:
    """Tables where an illegal action ends the episode, for algorithms without masks."""
    tables = SeatVecEnv(TABLES, "djeco", 3, opponents="lowest", illegal_reward=-5.0, dtype=dtype)
    tables.seed(3)
    return tables


SHORT = {"n_steps": 16, "batch_size": 64}
RELU = {"activation_fn": nn.ReLU, "net_arch": {"pi": [24], "vf": [7, 8]}}
LEAKY = {"activation_fn": nn.LeakyReLU, "lstm_hidden_size": 12, "n_lstm_layers": 2, "net_arch": [9], "enable_critic_lstm": False}
OURS = {"layout": SETUP.layout, "arch": {"name": "mlp", "hidden": [16]}}
KINDS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "ppo": (PPO, "MlpPolicy", SHORT),
    "ppo, relu": (PPO, "MlpPolicy", {**SHORT, "policy_kwargs": RELU}),
    "a2c, elu": (A2C, "MlpPolicy", {"policy_kwargs": {"activation_fn": nn.ELU, "net_arch": [16, 16, 16]}}),
    "maskable": (MaskablePPO, "MlpPolicy", SHORT),
    "dqn": (DQN, "MlpPolicy", {"learning_starts": 100, "buffer_size": 1000}),
    "recurrent": (RecurrentPPO, "MlpLstmPolicy", {**SHORT, "policy_kwargs": {"lstm_hidden_size": 20, "net_arch": []}}),
    "recurrent, two layers": (RecurrentPPO, "MlpLstmPolicy", {**SHORT, "policy_kwargs": LEAKY}),
    "ours": (MaskablePPO, NetPolicy, {**SHORT, "policy_kwargs": OURS}),
}
"""The algorithm, the policy, and other arguments."""


def trained(kind: str, tables: Any) -> Any:
    algorithm, policy, settings = KINDS[kind]
    return algorithm(policy, tables, seed=1, device="cpu", **settings).learn(130)


Saved = Callable[[str], tuple[Any, Path]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Trains a model of a kind, once; returns it and its file."""
    folder = tmp_path_factory.mktemp("sb3")

    @functools.cache
    def model_of(kind: str) -> tuple[Any, Path]:
        model, path = trained(kind, venv()), folder / f"{kind}.zip"
        model.save(path)
        return model, path

    return model_of


def logits_of(model: Any, observation: NDArray[np.uint8], state: Any, start: NDArray[np.bool_]) -> tuple[NDArray[Any], Any]:
    """By the library: normalised logits, or action values, and the state."""
    with torch.no_grad():
        seen, policy = torch.from_numpy(observation), model.policy
        if isinstance(model, DQN):
            return policy.q_net(seen).numpy(), None
        if isinstance(model, RecurrentPPO):
            zeros = torch.zeros(policy.lstm_hidden_state_shape).expand(-1, TABLES, -1).contiguous()
            distribution, state = policy.get_distribution(seen, state or (zeros, zeros), torch.from_numpy(start).float())
        else:
            distribution = policy.get_distribution(seen)
        return distribution.distribution.logits.numpy(), state


@pytest.mark.parametrize("kind", KINDS)
def test_it_plays_as_the_library_does(kind: str, saved: Saved) -> None:
    """Logits equal the library's, along episodes with their states."""
    model, path = saved(kind)
    agent = load(f"sb3:{path}", SETUP)
    tables, rng = venv(), np.random.default_rng(2)
    observation: Any = tables.reset()
    start, state = np.ones(TABLES, np.bool_), None
    seat_state = np.zeros((TABLES, *agent.state_dtype(SETUP).shape), np.float32)
    for _ in range(20):
        seat_state[start] = 0.0
        expected, state = logits_of(model, observation, state, start)
        logits = agent._compute(observation, seat_state if seat_state.size else None).astype(np.float64)
        if kind != "dqn":
            logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        assert logits == pytest.approx(expected, rel=2e-6, abs=2e-6)
        observation, _, start, _ = tables.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in tables.action_masks()]))
    assert np.ptp(expected) > 0.01


@pytest.mark.parametrize("kind", ["ppo", "recurrent"])
def test_its_actions_are_legal(kind: str, saved: Saved) -> None:
    """Also those of a model that never saw a mask."""
    agent, drawing = (load_agent(f"sb3:{saved(kind)[1]}{suffix}", SETUP) for suffix in ("", "@sample"))
    for first, again, drawn in asked(SETUP, [agent, agent, drawing], 4, tables=16, steps=6):
        chosen = agent.act(first, np.random.default_rng(1))
        assert first.mask[range(16), chosen].all()
        assert (agent.probabilities(again).argmax(axis=1) == chosen).all()
        assert not drawing.probabilities(drawn)[~drawn.mask].any()


def test_it_plays_rollouts_where_it_has_no_memory(saved: Saved) -> None:
    agent = load(f"sb3:{saved('maskable')[1]}", SETUP)
    assert edge_of(SETUP, [agent, searching(agent, 2, SETUP)], 3, seed=2, hero=1, field=0).moments.differing > 0
    with pytest.raises(ValueError, match="memory"):
        load(f"sb3:{saved('recurrent')[1]}", SETUP).scorer()


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(saved: Saved) -> dict[str, bytes]:
    """Those of a zip file, by name."""
    with zipfile.ZipFile(saved("ppo, relu")[1]) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def refused(parts: dict[str, bytes], out: Path, says: str) -> str:
    """Loads a zip file of these ``parts``; returns the sentence that refuses it."""
    with pytest.raises(AgentError, match=says) as caught:
        load(written(parts, out), SETUP)
    assert out.name in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def written(parts: dict[str, bytes], out: Path) -> str:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return f"sb3:{out}"


def stored(tensors: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return buffer.getvalue()


class Payload:
    """A pickle of it makes a folder when it is loaded."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._path),)


def test_pickles_in_the_data_are_not_loaded(parts: dict[str, bytes], saved: Saved, tmp_path: Path) -> None:
    """What the library itself would run, when it loads the same file, is left alone: the player plays as before."""
    trap = tmp_path / "trap"
    pickled = base64.b64encode(pickle.dumps(Payload(trap))).decode()
    data = json.loads(parts["data"])
    for key, value in data.items():
        if isinstance(value, dict) and ":serialized:" in value and key != "_last_obs":
            value[":serialized:"] = pickled
    changed, whole = written({**parts, "data": json.dumps(data).encode()}, tmp_path / "x.zip"), f"sb3:{saved('ppo, relu')[1]}"
    observation = venv().reset()
    assert (load(changed, SETUP)._compute(observation, None) == load(whole, SETUP)._compute(observation, None)).all()
    data["_last_obs"][":serialized:"] = pickled  # the bytes of this one are read, without its instructions
    says = r"^The last observations in 'sb3:.*x\.zip' cannot be read, .* In Python it can play"
    refused({**parts, "data": json.dumps(data).encode()}, tmp_path / "x.zip", says)
    assert not trap.exists()
    pickle.loads(base64.b64decode(pickled))
    assert trap.exists()


@pytest.mark.parametrize("write", [pickle.dumps, stored], ids=["pickle", "zip"])
def test_pickles_in_the_weights_are_refused(write: Callable[[object], bytes], parts: dict[str, bytes], tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    says = r"^The weights in '.*x\.zip' cannot be read as tensors alone, and nothing else"
    sentence = refused({**parts, "policy.pth": write({"trap": Payload(trap)})}, tmp_path / "x.zip", says)
    assert "weights_only" not in sentence  # which torch advises to set to False
    assert not trap.exists()


def test_too_much_content_is_refused_before_it_is_read(parts: dict[str, bytes], tmp_path: Path) -> None:
    """Of either part, and of the weights within their part."""
    out = tmp_path / "x.zip"
    refused({**parts, "data": bytes(MAX_DATA + 1)}, out, rf"^'data' in '.*' has {MAX_DATA + 1:,} bytes; at most {MAX_DATA:,} are")
    weights, inner = b"x" * 12345, io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("archive/data/0", weights)
    large = inner.getvalue().replace(struct.pack("<L", len(weights)), struct.pack("<L", MAX_WEIGHTS + 1))
    refused({**parts, "policy.pth": large}, out, rf"have {MAX_WEIGHTS + 1:,} bytes; at most {MAX_WEIGHTS:,} are read\.")
    wide = {"weight": torch.zeros(1).expand(1 << 14, 1 << 15)}
    refused({**parts, "policy.pth": stored(wide)}, out, "are not at most 268,435,456 floats")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"action_net.bias": torch.full((24,), torch.nan)}, "'action_net.bias' holds NaN or infinity"),
        ({"action_net.bias": torch.zeros(24, dtype=torch.int64)}, r"are not at most [\d,]+ floats"),
        ({"action_net.bias": "zeros"}, "are not tensors by name"),
        ({"action_net.bias": torch.zeros(9)}, r"action_net\.weight of the shape \(24, 24\) has no bias that fits"),
        ({"action_net.weight": torch.zeros(24, 5)}, r"a layer of 24 outputs is followed by one of 5 inputs"),
        ({"action_net.weight": None}, r"'action_net\.weight'\. In Python it can play"),
        ({"features_extractor.0.weight": torch.zeros(3, 3)}, r"there is features_extractor\.0\.weight\. In"),
        ({"mlp_extractor.policy_net.0.weight": torch.zeros(24, 9)}, r"inputs and outputs are 9 and 24, and here"),
    ],
    ids=range(8),
)
def test_other_weights_are_refused(change: dict[str, Any], says: str, parts: dict[str, bytes], tmp_path: Path) -> None:
    tensors = {**torch.load(io.BytesIO(parts["policy.pth"]), weights_only=True), **change}
    content = stored({name: tensor for name, tensor in tensors.items() if tensor is not None})
    refused({**parts, "policy.pth": content}, tmp_path / "x.zip", says)


def test_other_files_are_refused(parts: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "x.zip"
    for others, says in [
        ({"policy.pth": b""}, r"'sb3:.*' is no model of Stable-Baselines3: the zip file has no 'data'\."),
        ({**parts, "data": b"[" * 10**5}, r"The 'data' of 'sb3:.*' do not describe a model of Stable-Baselines3: "),
        ({**parts, "data": b"{}"}, r"do not describe a model of Stable-Baselines3: 'policy_class'\."),
        ({**parts, "policy.pth": stored([torch.zeros(3)])}, "are not tensors by name"),
        ({**parts, "policy.pth": b"x"}, r"cannot be read as tensors alone, .* \(BadZipFile\)\."),
    ]:
        refused(others, out, says)
    out.write_bytes(b"hello")
    with pytest.raises(AgentError, match="is no zip file of Stable-Baselines3 that can be read: File is not a zip file"):
        load(f"sb3:{out}", SETUP)
    with pytest.raises(AgentError, match=r"^There is no file at '.*', which the player 'sb3:.*' names\.$"):
        load(f"sb3:{tmp_path}", SETUP)


def test_torch_is_named_where_it_is_missing(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved("ppo")[1]
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingLibraryError, match=re.escape(f"'torch', which is not installed: {install_command('sb3')}.")):
        load(f"sb3:{path}", SETUP)


OTHER_POLICY = {"__module__": "sb3_contrib.qrdqn.policies", "__init__": "<function QRDQNPolicy.__init__ at 0x7f>"}
BOUNDS = "observes 128 bytes with other bounds than here: "


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("policy_class", OTHER_POLICY, "a policy of the class 'sb3_contrib.qrdqn.policies.QRDQNPolicy'"),
        ("policy_kwargs", {"features_extractor_class": "<class 'bot.Halves'>"}, "or a feature extractor"),
        ("policy_kwargs", {"activation_fn": "<class 'torch.nn.modules.activation.GELU'>"}, "the activation function is .*GELU"),
        ("_last_obs", None, "cannot be read, .* VecNormalize changed them in training: they were left out"),
        ("observation_space", {"_shape": [2, 128]}, r"of the shape \[2, 128\], and a table's .* or it is for other tables"),
        ("observation_space", {"dtype": "float64"}, r"observes 'float64' of the shape \[128\], and a table's"),
        ("observation_space", {"high": str([9] * 128)}, BOUNDS),
    ],
    ids=range(7),
)
def test_other_data_are_refused(part: str, value: Any, says: str, parts: dict[str, bytes], tmp_path: Path) -> None:
    data = json.loads(parts["data"]) | {"_last_original_obs": 1}
    data[part] = {**data[part], **value} if value else None
    refused(
        {**parts, "data": json.dumps(data).encode()},
        tmp_path / "x.zip",
        rf"{says}.* In Python it can play: name it bot\.py:make_agent",
    )


@pytest.mark.parametrize("kind", ["ppo", "dqn"])
def test_normalized_observations_are_refused(kind: str, tmp_path: Path) -> None:
    """The space of observations stays as it was, and statistics are in another file; normalized rewards change nothing here."""
    name = f"sb3:{tmp_path / 'x.zip'}"
    for dtype in ("uint8", "float32"):
        trained(kind, VecNormalize(venv(dtype))).save(tmp_path / "x.zip")
        with pytest.raises(AgentError, match=r"x\.zip' observed -?[\d.e-]+ in training, .* wrapper such as VecNormalize changed"):
            load(name, SETUP)
        trained(kind, VecNormalize(venv(dtype), norm_obs=False)).save(tmp_path / "x.zip")
        assert load(name, SETUP).name == name


def test_a_model_in_memory_observes_what_its_vec_normalize_gives(tmp_path: Path) -> None:
    tables = VecNormalize(venv("float32"))
    model = trained("maskable", tables)
    tables.training = False
    agent, changed = as_agent(model, SETUP), 0
    for (decisions,) in asked(SETUP, [agent], 1, steps=20):
        expected, _ = model.predict(tables.normalize_obs(decisions.observation), action_masks=decisions.mask, deterministic=True)
        plain, _ = model.predict(decisions.observation, action_masks=decisions.mask, deterministic=True)
        assert (agent.act(decisions, np.random.default_rng(1)) == expected).all()
        changed += (plain != expected).sum()
    assert changed
    model.save(tmp_path / "normalized.zip")
    with pytest.raises(AgentError, match=r"'MaskablePPO' observed through a VecNormalize in training, and is without it here"):
        as_agent(MaskablePPO.load(tmp_path / "normalized.zip"), SETUP)
    assert as_agent(MaskablePPO.load(tmp_path / "normalized.zip", env=tables), SETUP).name == "MaskablePPO"
