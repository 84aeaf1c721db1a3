"""Models of Stable-Baselines3 and sb3-contrib as players: ``sb3:model.zip``, from their weights alone, without unpickling.

PPO, A2C, MaskablePPO and DQN with ``MlpPolicy``, RecurrentPPO with ``MlpLstmPolicy``, and MaskablePPO with
``train.sb3.NetPolicy``. Illegal actions are masked, whatever the algorithm. The state of an LSTM is 0 when a round begins.

A file has ``data``, JSON, and ``policy.pth``, the weights. What is no JSON stands in ``data`` as a pickle, which is not loaded,
beside texts of the object's attributes: enough to tell the policy's class, its activation function, and the spaces. Of the pickle
of the last observations the bytes are read, without its instructions. torch loads the weights with ``weights_only``, which makes
tensors and nothing else.
"""

from __future__ import annotations

import base64
import io
import json
import pickletools
import re
import zipfile
from collections.abc import Callable, Mapping
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import AgentError, MissingLibraryError, as_sentence, quoted
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup
from nainjaune_env.envs.spaces import OBSERVATION_DTYPES

from ..networks.arch import read_arch
from ..networks.inference import NAMES, get_inference
from ..networks.policy_agent import PolicyAgent
from .sb3_nets import ACTIVATIONS, POLICIES, Policy, Weights, build_net

OUR_POLICY = "nainjaune_agents.train.sb3.NetPolicy"
EXTRACTOR = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
"""The text of the feature extractor that changes no vector."""
MAX_DATA = 1 << 26
"""Bytes of ``data`` in a file: far more than are readable in it."""
MAX_WEIGHTS = 1 << 30
"""Bytes of the weights, all of which are in memory at once."""
PYTHON_INSTEAD = "In Python it can play: name it bot.py:make_agent (docs/players.md)."

Compute = Callable[[NDArray[np.uint8], NDArray[np.float32] | None], NDArray[np.float32]]
"""Returns logits ``(K, A)`` for observations ``(K, size)``; overwrites the state ``(K, units)``, which is None without memory."""


class SB3Agent(PolicyAgent):
    """Plays by the logits of a model of Stable-Baselines3, or by its action values; plays rollouts where it has no memory."""

    def __init__(self, name: str, compute: Compute, units: int) -> None:
        super().__init__(name, units)
        self._compute = compute

    def logits(self, decisions: DecisionBatch) -> NDArray[np.float32]:
        """See :meth:`PolicyAgent.logits`."""
        return self._compute(decisions.observation, decisions.state if self._units else None)

    def scorer(self) -> SB3Scorer:
        """Returns the logits for rollouts; raises ValueError where the policy has memory."""
        self.check_scorer()
        return SB3Scorer(self._compute)


class SB3Scorer:
    """The logits of a model without memory."""

    def __init__(self, compute: Compute) -> None:
        self._compute = compute

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns logits ``(K, A)``, not masked, for ``observation (K, size)``."""
        return self._compute(observation, None)


def files(name: str) -> list[Path]:
    """Returns the file of the player called ``name``."""
    return [Path(name.removeprefix("sb3:"))]


def load(name: str, setup: Setup) -> SB3Agent:
    """Returns the player in the zip file that is called ``name``, for tables with ``setup``.

    Raises :class:`AgentError` for a file that is none or is too large, weights that are anything but finite numbers, a policy
    that only its own code knows, and a model of other tables, and :class:`MissingLibraryError` without torch.
    """
    where = quoted(name)
    content, stored = _parts(files(name)[0], where)
    try:
        # Python converts no long numbers, and advises to change its settings
        data = json.loads(content, parse_int=lambda digits: int(digits) if len(digits) < 20 else digits)
        written, space = data["policy_class"], dict(data["observation_space"])
        made = re.match(r"<function (\w+)\.", str(written.get("__init__", "")))
        policy_class = f"{written['__module__']}.{made[1] if made else '?'}"
        arguments = dict(data.get("policy_kwargs") or {})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise AgentError(f"The 'data' of {where} do not describe a model of Stable-Baselines3: {as_sentence(error)}") from None
    _check_space(space, setup.layout, where)
    _check_seen(data, setup.layout, where)
    policy = POLICIES.get(policy_class)
    if (policy is None and policy_class != OUR_POLICY) or arguments.get("features_extractor_class", EXTRACTOR) != EXTRACTOR:
        raise AgentError(
            f"{where} has a policy of the class {quoted(policy_class)}, or a feature extractor, whose network only its own code "
            f"knows: MlpPolicy and MlpLstmPolicy are read. {PYTHON_INSTEAD}"
        )
    weights = _weights(stored, where)
    try:
        return _ours(name, weights, arguments, setup) if policy is None else _theirs(name, weights, arguments, policy, setup)
    except (ValueError, KeyError, TypeError) as error:
        raise AgentError(
            f"The weights in {where} are not those of a network that is known here: {as_sentence(error)} {PYTHON_INSTEAD}"
        ) from None


def _theirs(name: str, weights: Weights, arguments: dict[str, Any], policy: Policy, setup: Setup) -> SB3Agent:
    """Returns the player with a network of Stable-Baselines3; raises what :func:`load` turns into a sentence."""
    given = arguments.get("activation_fn")
    written = re.fullmatch(r"<class 'torch\.nn\.modules\.activation\.(\w+)'>", str(given))
    activation = policy.activation if given is None else written[1] if written else ""
    if activation not in ACTIVATIONS:
        raise ValueError(f"the activation function is {quoted(given)}, and not one of {', '.join(ACTIVATIONS)}")
    net = build_net(weights, policy, activation)
    if (net.inputs, net.outputs) != (expected := (setup.layout.size, len(setup.game.actions))):
        raise ValueError(f"its inputs and outputs are {net.inputs} and {net.outputs}, and here there are {expected}")
    return SB3Agent(name, net, net.state_units)


def _ours(name: str, weights: Weights, arguments: dict[str, Any], setup: Setup) -> SB3Agent:
    """Returns the player with a network of ours, as its policy was; raises what :func:`load` turns into a sentence."""
    arch = arguments.get("arch")
    if not isinstance(arch, dict) or arch.get("name") not in NAMES:
        raise ValueError(f"the arch is {quoted(arch)}, and not {' or '.join(NAMES)}")
    weights = {key.removeprefix("net."): weight for key, weight in weights.items() if key.startswith("net.")}
    net = get_inference(arch["name"])(read_arch(arch), weights, setup.layout, len(setup.game.actions))
    return SB3Agent(name, lambda observation, state: net.evaluate(observation, state)[0], net.recurrent)


# ---- whether it was trained on other observations --------------------------------------------------------------------


def _check_space(space: dict[str, Any], layout: Layout, where: str) -> None:
    """Raises :class:`AgentError` for a ``space`` of observations, by its attributes or their texts, that is not of ``layout``."""
    dtype, shape = str(space.get("dtype")), space.get("_shape")
    changed = f"a wrapper changed them in training, or it is for other tables. {PYTHON_INSTEAD}"
    if dtype not in OBSERVATION_DTYPES or shape != [layout.size]:
        raise AgentError(
            f"{where} observes {quoted(dtype)} of the shape {quoted(shape)}, and a table's observations are "
            f"{' or '.join(OBSERVATION_DTYPES)} of the shape {[layout.size]}: {changed}"
        )
    if [*map(_numbers, (space.get("low"), space.get("high")))] != [[0] * layout.size, layout.high.tolist()]:
        raise AgentError(f"{where} observes {layout.size} bytes with other bounds than here: {changed}")


def _numbers(text: object) -> list[float] | None:
    """Returns the numbers in the text of an array; None if it is none, or was cut short."""
    try:
        return [float(word) for word in str(text).strip("[]").split()]
    except ValueError:
        return None


def _check_seen(data: Mapping[str, Any], layout: Layout, where: str) -> None:
    """Raises :class:`AgentError` where the last observations are no bytes of ``layout``: wrappers may leave the space as it is.

    NumPy pickles them as a dtype's text and bytes.
    """
    try:
        if (written := data.get("_last_obs")) is None:
            if data.get("_last_original_obs") is not None:
                raise ValueError("they were left out, beside others")
            return
        parts = [part for _, part, _ in pickletools.genops(base64.b64decode(written[":serialized:"]))]
        (code,) = [part for part in parts if isinstance(part, str) and re.fullmatch("[iuf][1248]", part)]
        seen = np.frombuffer(max((part for part in parts if isinstance(part, bytes | bytearray)), key=len), code)
    except (ValueError, TypeError, KeyError) as error:
        raise AgentError(
            f"The last observations in {where} cannot be read, which show whether a wrapper such as VecNormalize changed them in "
            f"training: {as_sentence(error)} {PYTHON_INSTEAD}"
        ) from None
    high = np.resize(layout.high, seen.size)  # of one environment after the other
    wrong = ~((seen >= 0) & (seen <= high) & (np.floor(seen) == seen))
    if wrong.any():
        raise AgentError(
            f"{where} observed {seen[wrong][0]:.3g} in training, and a table's observations are whole numbers from 0 "
            f"to {layout.high.max()}: a wrapper such as VecNormalize changed them, and the file has no statistics of it. "
            f"{PYTHON_INSTEAD}"
        )


# ---- the file --------------------------------------------------------------------------------------------------------


def _parts(path: Path, where: str) -> list[bytes]:
    """Returns ``data`` and ``policy.pth`` of a file; none is longer than what the archive says about it, or it is damaged."""
    if not isfile(path):
        raise AgentError(f"There is no file at {quoted(str(path))}, which the player {where} names.")
    parts = []
    try:
        with zipfile.ZipFile(path) as archive:
            for name, most in (("data", MAX_DATA), ("policy.pth", MAX_WEIGHTS)):
                if name not in archive.namelist():
                    raise AgentError(f"{where} is no model of Stable-Baselines3: the zip file has no {name!r}.")
                if (size := archive.getinfo(name).file_size) > most:
                    raise AgentError(f"{name!r} in {where} has {size:,} bytes; at most {most:,} are read.")
                parts.append(archive.read(name))
    except AgentError:
        raise
    except Exception as error:  # whatever a damaged or a hostile archive brings about
        raise AgentError(f"{where} is no zip file of Stable-Baselines3 that can be read: {as_sentence(error)}") from None
    return parts


def _weights(content: bytes, where: str) -> dict[str, NDArray[np.float32]]:
    """Returns the tensors of ``content``, which ``torch.save`` wrote, by name."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingLibraryError(f"The player {where}", str(error.name), "sb3") from None

    what = f"The weights in {where}"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:  # its parts may be compressed
            size = sum(part.file_size for part in archive.infolist())
        if size > MAX_WEIGHTS:
            raise AgentError(f"{what} have {size:,} bytes; at most {MAX_WEIGHTS:,} are read.")
        tensors = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        if not isinstance(tensors, Mapping) or not all(isinstance(tensor, torch.Tensor) for tensor in tensors.values()):
            raise AgentError(f"{what} are not tensors by name.")
        # large tensors may lie on a few bytes
        if sum(tensor.numel() for tensor in tensors.values()) > MAX_WEIGHTS // 4 or not all(
            tensor.is_floating_point() for tensor in tensors.values()
        ):
            raise AgentError(f"{what} are not at most {MAX_WEIGHTS // 4:,} floats.")
        weights = {str(name): tensor.detach().float().numpy() for name, tensor in tensors.items()}
    except AgentError:
        raise
    except Exception as error:  # whatever a damaged or a hostile pickle brings about
        kind = type(error).__name__  # without torch's message, which advises to unpickle
        raise AgentError(f"{what} cannot be read as tensors alone, and nothing else is loaded ({kind}).") from None
    if unsound := [name for name, weight in weights.items() if not np.isfinite(weight).all()]:
        raise AgentError(f"{what} are not sound: {quoted(unsound[0])} holds NaN or infinity.")
    return weights
