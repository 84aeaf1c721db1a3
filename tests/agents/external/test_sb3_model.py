"""Models of Stable-Baselines3 from their weights: equal to the library's own play; a hostile file is refused and runs nothing."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import re
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.wrappers import FrameStackObservation, NormalizeObservation
from numpy.typing import NDArray
from sb3_contrib import QRDQN, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize
from torch import nn

from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.external.sb3_file import MAX_DATA, MAX_WEIGHTS
from nainjaune_agents.external.sb3_model import load
from nainjaune_agents.loading import load_agent
from nainjaune_agents.search import searching
from nainjaune_agents.trainers.sb3 import NetPolicy
from nainjaune_env.agent_adapters import as_agent
from nainjaune_env.core.errors import AgentError, MissingLibraryError
from nainjaune_env.core.extras import install_command
from nainjaune_env.core.spec import Setup
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv
from nainjaune_env.registry import make_setup
from tests.support.positions import asked

TABLES = 8
SETUP = make_setup("nain_jaune", "djeco", 3)
ON_POLICY = {"n_steps": 16, "batch_size": 64}


def venv(dtype: str = "uint8") -> SeatVecEnv:
    """Tables where an illegal action ends the episode, for algorithms without masks."""
    tables = SeatVecEnv(TABLES, "djeco", 3, opponents="lowest", illegal_reward=-5.0, dtype=dtype)
    tables.seed(3)
    return tables


@dataclass
class Kind:
    """An algorithm with what its policy is made of."""

    algorithm: Any
    policy: Any = "MlpPolicy"
    settings: Any = None
    policy_kwargs: Any = None


def net_policy(name: str, **arguments: Any) -> Kind:
    """Our network as the policy."""
    return Kind(MaskablePPO, NetPolicy, ON_POLICY, {"layout": SETUP.layout, "arch": {"name": name, **arguments}})


LEAKY = {"activation_fn": nn.LeakyReLU, "lstm_hidden_size": 12, "n_lstm_layers": 2, "net_arch": [9]}
KINDS = {
    "ppo": Kind(PPO, settings=ON_POLICY),
    "ppo, relu": Kind(PPO, settings=ON_POLICY, policy_kwargs={"activation_fn": nn.ReLU, "net_arch": {"pi": [24], "vf": [7, 8]}}),
    "ppo, linear": Kind(PPO, settings=ON_POLICY, policy_kwargs={"net_arch": []}),
    "a2c": Kind(A2C),
    "maskable, elu": Kind(MaskablePPO, settings=ON_POLICY, policy_kwargs={"activation_fn": nn.ELU, "net_arch": [16, 16, 16]}),
    "dqn": Kind(DQN, settings={"learning_starts": 100, "buffer_size": 1000}),
    "dqn, tanh": Kind(DQN, settings={"learning_starts": 100, "buffer_size": 500}, policy_kwargs={"activation_fn": nn.Tanh}),
    "recurrent": Kind(RecurrentPPO, "MlpLstmPolicy", ON_POLICY, {"lstm_hidden_size": 20}),
    "recurrent, two layers": Kind(RecurrentPPO, "MlpLstmPolicy", ON_POLICY, {**LEAKY, "enable_critic_lstm": False}),
    "ours": net_policy("mlp", hidden=[16]),
    "ours, residual": net_policy("residual", width=16, blocks=1),
}  # fmt: skip

Saved = Callable[[str], tuple[Any, Path]]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Trains a model of a kind for a few hundred steps, once; returns it and its file."""
    folder, made = tmp_path_factory.mktemp("sb3"), {}

    def model_of(name: str) -> tuple[Any, Path]:
        if name not in made:
            kind = KINDS[name]
            model = kind.algorithm(
                kind.policy, venv(), seed=1, device="cpu", policy_kwargs=kind.policy_kwargs, **(kind.settings or {})
            )
            model.learn(300)
            path = folder / f"{len(made)}.zip"
            model.save(path)
            made[name] = model, path
        return made[name]

    return model_of


def logits_of(model: Any, observation: NDArray[np.uint8], state: Any, start: NDArray[np.bool_]) -> NDArray[Any]:
    """By the library: normalised logits, or action values."""
    with torch.no_grad():
        seen = torch.from_numpy(observation)
        if isinstance(model, DQN):
            return model.q_net(seen).numpy()
        if isinstance(model, RecurrentPPO):
            shape = model.policy.lstm_hidden_state_shape
            before = [np.zeros((shape[0], len(seen), shape[2]))] * 2 if state is None else state
            tensors = tuple(torch.tensor(part, dtype=torch.float32) for part in before)
            found, _ = model.policy.get_distribution(seen, tensors, torch.from_numpy(start).float())
            return found.distribution.logits.numpy()
        return model.policy.get_distribution(seen).distribution.logits.numpy()


@pytest.mark.parametrize("name", KINDS)
def test_it_plays_as_the_library_does(name: str, saved: Saved) -> None:
    """Logits equal the library's to 1e-6, along episodes with their states; actions equal those of ``predict`` with its masks."""
    model, path = saved(name)
    agent = load(f"sb3:{path}", SETUP)
    tables, rng = venv(), np.random.default_rng(2)
    observation, start, state = tables.reset(), np.ones(TABLES, np.bool_), None
    units = agent.state_dtype(SETUP).shape[0]
    own = np.zeros((TABLES, units), np.float32)
    for _ in range(20):
        own[start] = 0.0
        expected = logits_of(model, observation, state, start)
        found = agent._compute(observation, own if units else None).astype(np.float64)
        if not isinstance(model, DQN):
            found -= np.log(np.exp(found).sum(axis=1, keepdims=True))
        assert found == pytest.approx(expected, rel=2e-6, abs=2e-6)
        masks = tables.action_masks()
        if isinstance(model, MaskablePPO):
            chosen, _ = model.predict(observation, deterministic=True, action_masks=masks)
            assert (np.where(masks, found, -np.inf).argmax(axis=1) == chosen).all()
        elif isinstance(model, RecurrentPPO):
            chosen, state = model.predict(observation, state=state, episode_start=start, deterministic=True)
            assert (found.argmax(axis=1) == chosen).all()
        else:
            chosen, _ = model.predict(observation, deterministic=True)
            assert (found.argmax(axis=1) == chosen).all()
        observation, _, start, _ = tables.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
    assert np.ptp(expected) > 0.01


@pytest.mark.parametrize("name", ["ppo", "dqn", "recurrent", "ours"])
def test_its_actions_are_legal(name: str, saved: Saved) -> None:
    """Also those of a model that never saw a mask; and they are those of ``act``, ``probabilities`` and ``@sample``."""
    path = saved(name)[1]
    agent, drawing = (load_agent(f"sb3:{path}{suffix}", SETUP) for suffix in ("", "@sample"))
    for turns in asked(SETUP, [agent, agent, drawing], 4, tables=16, steps=6):
        first, again, drawn = turns
        chosen = agent.act(first, np.random.default_rng(1))
        assert first.mask[range(16), chosen].all()
        assert (agent.probabilities(again).argmax(axis=1) == chosen).all()
        shares = drawing.probabilities(drawn)
        assert shares.sum(axis=1) == pytest.approx(1.0)
        assert not shares[~drawn.mask].any()
        assert ((shares > 0).sum(axis=1) > 1).any()


def test_it_is_rated_and_searched_over(saved: Saved) -> None:
    agent = load_agent(f"sb3:{saved('maskable, elu')[1]}", SETUP)
    duplicate = Duplicate(SETUP, [agent, searching(agent, 2, SETUP)], seed=2)
    assert duplicate.edge(1, 0, 3).moments.differing > 0
    assert Duplicate(SETUP, [load(f"sb3:{saved('recurrent')[1]}", SETUP), agent], seed=2).edge(0, 1, 5).moments.differing > 0


# ---- what is refused -------------------------------------------------------------------------------------------------


def changed(path: Path, out: Path, **parts: bytes | None) -> str:
    """The name of a copy of the file with other parts; None leaves one out."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {"policy.pth" if name == "policy" else name: part for name, part in parts.items()}  # type: ignore[misc]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in content.items():
            if part is not None:
                archive.writestr(name, part)
    return f"sb3:{out}"


def data_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        content: dict[str, Any] = json.loads(archive.read("data"))
    return content


def tensors_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        tensors: dict[str, Any] = torch.load(io.BytesIO(archive.read("policy.pth")), weights_only=True)
    return tensors


def stored(tensors: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return buffer.getvalue()


def of_torchscript() -> bytes:
    """Code that torch would compile."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):
        torch.jit.save(torch.jit.trace(nn.Linear(2, 2), torch.zeros(2)), buffer)
    return buffer.getvalue()


class Payload:
    """A pickle of it makes a folder when it is loaded."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._path),)


def test_pickles_in_the_data_are_not_loaded(saved: Saved, tmp_path: Path) -> None:
    """What the library itself would run, when it loads the same file, is left alone: the player plays as before."""
    path, trap = saved("ppo, relu")[1], tmp_path / "trap"
    pickled = base64.b64encode(pickle.dumps(Payload(trap))).decode()
    data = data_of(path)
    for key, value in data.items():
        if isinstance(value, dict) and ":serialized:" in value and key != "_last_obs":
            value[":serialized:"] = pickled
    name = changed(path, tmp_path / "x.zip", data=json.dumps(data).encode())
    observation = venv().reset()
    assert (load(name, SETUP)._compute(observation, None) == load(f"sb3:{path}", SETUP)._compute(observation, None)).all()
    data["_last_obs"][":serialized:"] = pickled  # the bytes of this one are read, without its instructions
    with pytest.raises(AgentError, match=r"^The last observations in 'sb3:.*x\.zip' cannot be read, .* In Python it can play"):
        load(changed(path, tmp_path / "x.zip", data=json.dumps(data).encode()), SETUP)
    assert not trap.exists()
    pickle.loads(base64.b64decode(pickled))
    assert trap.exists()


@pytest.mark.parametrize("old_format", [False, True])
def test_pickles_in_the_weights_are_refused(saved: Saved, tmp_path: Path, old_format: bool) -> None:
    path, trap = saved("ppo")[1], tmp_path / "trap"
    tensors = {**tensors_of(path), "trap": Payload(trap)}
    content = pickle.dumps(tensors) if old_format else stored(tensors)
    with pytest.raises(
        AgentError, match=r"^The weights in '.*x\.zip' cannot be read as tensors alone, and nothing else"
    ) as caught:
        load(changed(path, tmp_path / "x.zip", policy=content), SETUP)
    assert "\n" not in str(caught.value)
    assert "weights_only" not in str(caught.value)  # which torch advises to set to False
    assert not trap.exists()


def test_too_much_content_is_refused_before_it_is_read(saved: Saved, tmp_path: Path) -> None:
    """Of either part, of the weights within their part, and where a head says less than there is."""
    path, out = saved("ppo")[1], tmp_path / "x.zip"
    with pytest.raises(AgentError, match=rf"^'data' in 'sb3:.*' has {MAX_DATA + 1:,} bytes; at most {MAX_DATA:,} are read\."):
        load(changed(path, out, data=bytes(MAX_DATA + 1)), SETUP)
    lying = bytearray(out.read_bytes())
    size = struct.pack("<L", MAX_DATA + 1)
    assert lying.count(size) == 2
    out.write_bytes(lying.replace(size, struct.pack("<L", 1000)))
    with pytest.raises(AgentError, match="is no zip file of Stable-Baselines3 that can be read: Bad CRC-32"):
        load(f"sb3:{out}", SETUP)
    inner, little = io.BytesIO(), b"x" * 12345
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("archive/data/0", little)
    large = inner.getvalue().replace(struct.pack("<L", len(little)), struct.pack("<L", MAX_WEIGHTS + 1))
    with pytest.raises(AgentError, match=rf"have {MAX_WEIGHTS + 1:,} bytes; at most {MAX_WEIGHTS:,} are read\."):
        load(changed(path, out, policy=large), SETUP)
    wide = {**tensors_of(path), "action_net.weight": torch.zeros(1).expand(1 << 14, 1 << 15)}
    with pytest.raises(AgentError, match="are not at most 268,435,456 floats"):
        load(changed(path, out, policy=stored(wide)), SETUP)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: {**t, "action_net.bias": torch.full((24,), torch.nan)}, "'action_net.bias' holds NaN or infinity"),
        (lambda t: {**t, "action_net.bias": torch.zeros(24, dtype=torch.int64)}, r"are not at most [\d,]+ floats"),
        (lambda t: {**t, "action_net.bias": torch.zeros(24, device="meta")}, "cannot be read as tensors alone"),
        (lambda t: {**t, "action_net.bias": torch.zeros(24).to_sparse()}, "cannot be read as tensors alone"),
        (lambda t: {**t, "action_net.bias": "zeros"}, "are not tensors by name"),
        (lambda t: [*t.values()], "are not tensors by name"),
        (lambda t: {**t, "action_net.bias": torch.zeros(9)}, r"action_net\.weight of the shape \(24, 64\) has no bias that fits"),
        (lambda t: {**t, "action_net.weight": torch.zeros(24, 5)}, r"a layer of 64 outputs is followed by one of 5 inputs"),
        (lambda t: {k: v for k, v in t.items() if k != "action_net.weight"}, r"'action_net\.weight'\. In Python it can play"),
        (lambda t: {**t, "features_extractor.0.weight": torch.zeros(3, 3)}, r"there is features_extractor\.0\.weight\. In"),
        (lambda t: {**t, "mlp_extractor.policy_net.0.weight": torch.zeros(64, 9)}, r"inputs and outputs are 9 and 24, and here"),
    ],
    ids=range(11),
)  # fmt: skip
def test_other_weights_are_refused(change: Callable[[Any], Any], says: str, saved: Saved, tmp_path: Path) -> None:
    path = saved("ppo")[1]
    with pytest.raises(AgentError, match=says) as caught:
        load(changed(path, tmp_path / "x.zip", policy=stored(change(tensors_of(path)))), SETUP)
    assert "x.zip'" in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"data": None}, r"'sb3:.*' is no model of Stable-Baselines3: the zip file has no 'data'\."),
        ({"policy": None}, r"the zip file has no 'policy\.pth'\."),
        ({"data": b"[" * 10**5}, r"The 'data' of 'sb3:.*' do not describe a model of Stable-Baselines3: "),
        ({"data": b"{}"}, r"do not describe a model of Stable-Baselines3: 'policy_class'\."),
        ({"policy": b"x"}, r"cannot be read as tensors alone, .* \(BadZipFile\)\."),
        ({"policy": of_torchscript()}, r"cannot be read as tensors alone, "),
    ],
    ids=range(6),
)
def test_other_files_are_refused(parts: Any, says: str, saved: Saved, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=says):
        load(changed(saved("ppo")[1], tmp_path / "x.zip", **parts), SETUP)


def test_no_file_and_no_zip(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"^There is no file at '.*none\.zip', which the player 'sb3:.*none\.zip' names\.$"):
        load(f"sb3:{tmp_path / 'none.zip'}", SETUP)
    (tmp_path / "text.zip").write_text("hello", encoding="utf-8")
    with pytest.raises(AgentError, match="is no zip file of Stable-Baselines3 that can be read: File is not a zip file"):
        load(f"sb3:{tmp_path / 'text.zip'}", SETUP)


def test_torch_is_named_where_it_is_missing(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved("ppo")[1]
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingLibraryError, match=re.escape(f"'torch', which is not installed: {install_command('sb3')}.")):
        load(f"sb3:{path}", SETUP)


def single() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("NainJaune-v0", preset="djeco", players=3, opponents="lowest", illegal_reward=-5.0)


class Halves(BaseFeaturesExtractor):
    """A feature extractor without weights: nothing in the weights shows it."""

    def __init__(self, space: gymnasium.Space[Any]) -> None:
        super().__init__(space, space.shape[0])  # type: ignore[index]

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return observation / 2


class Wrapped(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Observations as floats."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(0, 1, env.observation_space.shape, np.float32)

    def observation(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        return observation / np.float32(255)


def test_policies_that_only_their_code_knows(tmp_path: Path) -> None:
    quick: dict[str, Any] = {"device": "cpu"}
    tables = venv()
    partial = {"activation_fn": lambda: nn.LeakyReLU(0.5)}
    models = [
        (PPO("MlpPolicy", tables, policy_kwargs={"features_extractor_class": Halves}, **quick), "or a feature extractor"),
        (PPO("MlpPolicy", tables, policy_kwargs=partial, **quick), "the activation function is .*, and not one of ReLU, Tanh"),
        (PPO("MlpPolicy", tables, policy_kwargs={"activation_fn": nn.GELU}, **quick), "the activation function is .*GELU"),
        (QRDQN("MlpPolicy", tables, buffer_size=100, **quick), "a policy of the class 'sb3_contrib.qrdqn.policies.QRDQNPolicy'"),
        (PPO("MlpPolicy", Wrapped(single()), **quick), "observes 128 bytes with other bounds than here: a wrapper"),
        (RecurrentPPO("MlpLstmPolicy", tables, policy_kwargs={"lstm_kwargs": {"bias": False}, "lstm_hidden_size": 4}, **quick),
         "lstm_actor.weight_ih_l0 of the shape .* has no bias that fits"),
    ]  # fmt: skip
    for model, says in models:
        model.save(tmp_path / "x.zip")
        with pytest.raises(AgentError, match=rf"{says}.* In Python it can play: name it bot\.py:make_agent"):
            load(f"sb3:{tmp_path / 'x.zip'}", SETUP)


def trained(algorithm: Any, tables: Any) -> Any:
    """A model that has observed something."""
    kind = next(kind for kind in KINDS.values() if kind.algorithm is algorithm)
    model = algorithm(kind.policy, tables, seed=1, device="cpu", **(kind.settings or {}))
    return model.learn(130)


@pytest.mark.parametrize(
    "algorithm", [PPO, DQN, pytest.param(RecurrentPPO, marks=pytest.mark.long)], ids=lambda one: one.__name__
)
def test_normalized_observations_are_refused(algorithm: Any, tmp_path: Path) -> None:
    """The space of observations stays as it was, and statistics are in another file; normalized rewards change nothing here."""
    path, name = tmp_path / "x.zip", f"sb3:{tmp_path / 'x.zip'}"
    for dtype in ("uint8", "float32"):
        trained(algorithm, VecNormalize(venv(dtype))).save(path)
        with pytest.raises(AgentError, match=r"x\.zip' observed -?[\d.e-]+ in training, .* wrapper such as VecNormalize changed"):
            load(name, SETUP)
    data = data_of(path)
    data["_last_obs"] = None
    with pytest.raises(AgentError, match=r"y\.zip' cannot be read, .* VecNormalize changed them in training: they were left out"):
        load(changed(path, tmp_path / "y.zip", data=json.dumps(data).encode()), SETUP)
    trained(algorithm, VecNormalize(venv(), norm_obs=False)).save(path)
    assert load(name, SETUP).name == name


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (
            lambda: VecFrameStack(venv(), 3),
            r"of the shape \[384\], and a table's observations are .* \[128\]: a wrapper",
        ),
        (lambda: DummyVecEnv(TABLES * [lambda: FrameStackObservation(single(), 2)]), r"of the shape \[2, 128\], and a table's"),
        (
            lambda: DummyVecEnv(TABLES * [lambda: NormalizeObservation(single())]),
            "observes 128 bytes with other bounds than here",
        ),
    ],
    ids=["stack", "gymnasium's stack", "gymnasium's normalization"],
)
def test_stacks_and_other_wrappers_are_refused(tables: Callable[[], Any], says: str, tmp_path: Path) -> None:
    PPO("MlpPolicy", tables(), seed=1, device="cpu", **ON_POLICY).save(tmp_path / "x.zip")
    with pytest.raises(AgentError, match=rf"{says}.*In Python it can play: name it bot\.py:make_agent"):
        load(f"sb3:{tmp_path / 'x.zip'}", SETUP)


def test_observations_of_floats_give_the_same_player(tmp_path: Path) -> None:
    names = []
    for dtype in ("uint8", "float32"):
        PPO("MlpPolicy", venv(dtype), seed=1, device="cpu", n_steps=16, batch_size=64).learn(130).save(tmp_path / f"{dtype}.zip")
        names.append(f"sb3:{tmp_path / dtype}.zip")
    observation = venv().reset()
    one, other = (load(name, SETUP)._compute(observation, None) for name in names)
    assert (one == other).all()


def test_a_model_in_memory_observes_what_its_vec_normalize_gives(tmp_path: Path) -> None:
    tables = VecNormalize(venv("float32"))
    model = trained(MaskablePPO, tables)
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
    with pytest.raises(AgentError, match=r"The model 'PPO' was tried with observations of shape \(\d, 128\), and raised"):
        as_agent(trained(PPO, VecFrameStack(venv(), 2)), SETUP)


@pytest.mark.parametrize(
    "setup", [make_setup("nain_jaune", "djeco", 4), make_setup("batasaurus", None, 2)], ids=["seats", "game"]
)
def test_other_tables_are_refused(setup: Setup, saved: Saved) -> None:
    with pytest.raises(AgentError, match=r"of the shape \[\d+\], and a table's .*: .*, or it is for other tables"):
        load(f"sb3:{saved('ppo')[1]}", setup)


@pytest.mark.parametrize("high", [None, 9, [9], "9" * 5000, int("9" * 4000), {"a": [4]}], ids=lambda high: type(high).__name__)
def test_as_many_bytes_of_another_meaning_are_refused(high: Any, saved: Saved, tmp_path: Path) -> None:
    path = saved("ppo")[1]
    data = data_of(path)
    space = data["observation_space"]
    space["high"] = space["high"].replace("4", "9") if high is None else high
    with pytest.raises(AgentError, match=r"observes 128 bytes with other bounds than here: .*, or it is for other tables\."):
        load(changed(path, tmp_path / "x.zip", data=json.dumps(data).encode()), SETUP)
