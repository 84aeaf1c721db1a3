"""Models that Stable-Baselines3 and sb3-contrib save as zip files, read without unpickling.

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
from collections.abc import Mapping
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError, MissingLibraryError, as_sentence, quoted

MAX_DATA = 1 << 26
"""Bytes of ``data`` in a file: far more than are readable in it."""
MAX_WEIGHTS = 1 << 30
"""Bytes of the weights, all of which are in memory at once."""
PYTHON_INSTEAD = "In Python it can play: name it bot.py:make_agent (docs/players.md)."


@dataclass
class SavedModel:
    """What a file says about a model, and its weights."""

    policy: str
    """The class of its policy, with its module."""
    arguments: dict[str, Any]
    """Those of the policy: numbers, lists and texts as they are; the text of what is none of these."""
    observation: dict[str, Any]
    """Attributes of the space of observations, or their texts."""
    seen: NDArray[Any] | None
    """The numbers that it observed last, of all environments; None if it never observed anything. A ``VecNormalize`` and other
    wrappers may leave the space as it is, and change these."""
    weights: dict[str, NDArray[np.float32]]


def read_model(path: Path, where: str) -> SavedModel:
    """Returns the model in the file ``path``.

    Raises :class:`AgentError`, a sentence about ``where``, for a file that is none, that is too large, or whose weights are
    anything but finite numbers, and :class:`MissingLibraryError` without torch.
    """
    if not isfile(path):
        raise AgentError(f"There is no file at {quoted(str(path))}, which the player {where} names.")
    try:
        with zipfile.ZipFile(path) as archive:
            parts = {name: _part(archive, name, most, where) for name, most in (("data", MAX_DATA), ("policy.pth", MAX_WEIGHTS))}
    except AgentError:
        raise
    except Exception as error:  # whatever a damaged or a hostile archive brings about
        raise AgentError(f"{where} is no zip file of Stable-Baselines3 that can be read: {as_sentence(error)}") from None
    try:
        data = json.loads(parts["data"])
        written, observation = data["policy_class"], dict(data["observation_space"])
        made = re.match(r"<function (\w+)\.", str(written.get("__init__", "")))
        policy = f"{written['__module__']}.{made[1] if made else '?'}"
        arguments = dict(data.get("policy_kwargs") or {})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise AgentError(f"The 'data' of {where} do not describe a model of Stable-Baselines3: {as_sentence(error)}") from None
    return SavedModel(policy, arguments, observation, _seen(data, where), _weights(parts["policy.pth"], where))


def _seen(data: Mapping[str, Any], where: str) -> NDArray[Any] | None:
    """Returns the numbers in the pickle of the last observations, which NumPy writes as a dtype's text and bytes."""
    try:
        if (written := data.get("_last_obs")) is None:
            if data.get("_last_original_obs") is not None:
                raise ValueError("they were left out, beside others")
            return None
        parts = [part for _, part, _ in pickletools.genops(base64.b64decode(written[":serialized:"]))]
        (code,) = [part for part in parts if isinstance(part, str) and re.fullmatch("[iuf][1248]", part)]
        return np.frombuffer(max((part for part in parts if isinstance(part, bytes | bytearray)), key=len), code)
    except (ValueError, TypeError, KeyError) as error:
        raise AgentError(
            f"The last observations in {where} cannot be read, which show whether a wrapper such as VecNormalize changed them in "
            f"training: {as_sentence(error)} {PYTHON_INSTEAD}"
        ) from None


def _part(archive: zipfile.ZipFile, name: str, most: int, where: str) -> bytes:
    """Returns the content of a part of an ``archive``; it is no longer than what the archive says about it, or damaged."""
    if name not in archive.namelist():
        raise AgentError(f"{where} is no model of Stable-Baselines3: the zip file has no {name!r}.")
    if (size := archive.getinfo(name).file_size) > most:
        raise AgentError(f"{name!r} in {where} has {size:,} bytes; at most {most:,} are read.")
    return archive.read(name)


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
