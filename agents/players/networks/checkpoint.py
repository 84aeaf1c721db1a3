"""Checkpoints: a safetensors file with the tensors, and their description as JSON in its header.

Files are written atomically, and loading one cannot run code. The header also has the SHA-256 of tensors and description, which
is compared when a file is loaded.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import CheckpointError, as_sentence, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game

from ...base.task import Task, stored_task

FORMAT = "nainjaune-checkpoint"
VERSION = 2
FILE_NAME = "checkpoint.safetensors"
"""The name of the checkpoint in a run's folder."""
ABOUT_NAME = "run.json"
"""The file beside it with the provenance of the run."""
SB3_MODEL, ONNX_MODEL = "a zip archive of a Stable-Baselines3 model", "an ONNX model"
FOREIGN_PLAYERS = {SB3_MODEL: "sb3", ONNX_MODEL: "onnx"}
"""What begins the names of players in such files (``foreign.KINDS``)."""
FOREIGN_STARTS = (
    (b"\x89HDF", "an HDF5 file, such as Keras saves"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"GGUF", "a GGUF file"),
    (b"{", "text, perhaps JSON"),
)
"""What files begin with, and what they are then."""


@dataclass
class Checkpoint:
    """A network and all that is needed to continue its training."""

    algorithm: str
    game: str
    preset: str
    rules: dict[str, Any]
    players: int
    layout: str
    """Fingerprint of the network's observation layout."""
    actions: int
    arch: dict[str, Any]
    """The network, ``{name, **arguments}``, see ``networks.arch``."""
    iteration: int
    """Iterations done."""
    config: dict[str, Any]
    """The trainer's configuration, resolved."""
    common: bool = False
    """Whether ``layout`` is the game's common one: the network plays at any table of the game, and ``preset``, ``rules`` and
    ``players`` are defaults."""
    progress: dict[str, float] = field(default_factory=dict)
    """Running totals of the trainer: decisions, seconds."""
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    """``model.*``, which plays, ``optimizer.*``; with a privileged critic ``critic.*``, past selves ``past.<number>.*``, what
    actions share ``shared.*``, matches that go on ``starts.<number>.*``; where ``model.*`` is an average, ``learner.*`` are the
    last weights."""

    @property
    def task(self) -> Task:
        """The task that the network was trained at."""
        return stored_task(self.algorithm, self.config)

    @property
    def setup(self) -> Setup:
        """The setup that the network was trained under; for a network for all tables, that of its defaults."""
        table_setup = get_game(self.game).setup(self.preset, self.players)
        return replace(table_setup, rules=table_setup.rules.replace(**self.rules))


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes ``checkpoint`` to ``path`` atomically."""
    about = json.dumps({key: value for key, value in asdict(checkpoint).items() if key != "tensors"})
    tensors = {name: np.asarray(tensor, order="C") for name, tensor in checkpoint.tensors.items()}
    head = {"format": FORMAT, "version": str(VERSION), "about": about, "sha256": _digest(about, tensors)}
    with replacing(path) as temporary:
        try:
            save_file(tensors, temporary, metadata=head)
        except SafetensorError as error:  # a full disk, which is no OSError here
            raise CheckpointError(f"{str(path)!r} cannot be written: {as_sentence(error)}") from None


def load_checkpoint(path: Path) -> Checkpoint:
    """Returns the checkpoint at ``path``.

    Weights that are stored as float16, as :func:`in_half_precision` returns them, become float32.

    Raises :class:`CheckpointError` if there is none, or it is incomplete, was changed since it was written, or has weights that
    are NaN or infinite.
    """
    if path.is_dir():
        path = path / FILE_NAME
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint at {str(path)!r}.")
    try:
        with safe_open(path, framework="np") as opened:
            head = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - not a dict
            for tensor in tensors.values():
                if tensor.dtype.isbuiltin == 2:  # another library, such as onnx, has added it to NumPy
                    raise TypeError(f"{tensor.dtype} of {tensor.shape}")
    except (SafetensorError, OSError) as error:
        raise CheckpointError(_not_a_checkpoint(path, error)) from None
    except (TypeError, AttributeError) as error:
        raise CheckpointError(f"{str(path)!r} has a tensor of a dtype that NumPy lacks: {as_sentence(error)}") from None
    version = head.get("version")
    if head.get("format") == FORMAT and version == "1":
        raise CheckpointError(
            f"{str(path)!r} is of format version {version}; this version reads {VERSION}. "
            "It was written by an earlier commit: play it with that commit."
        )
    if head.get("format") != FORMAT or version != str(VERSION):
        raise CheckpointError(
            f"{str(path)!r} is not a {FORMAT} of version {VERSION}: "
            f"its head says {quoted(head.get('format'))}, version {quoted(version)}."
        )
    if "sha256" not in head:
        raise CheckpointError(
            f"{str(path)!r} has no SHA-256 in its head, so nothing shows that it is whole: "
            "it was written by an earlier commit, or changed since. Train it again."
        )
    if head["sha256"] != _digest(head.get("about", ""), tensors):
        raise CheckpointError(f"{str(path)!r} was changed since it was written: its SHA-256 is not the one in its head.")
    try:
        checkpoint = Checkpoint(**json.loads(head["about"]), tensors=tensors)
        _check_types(checkpoint)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(f"The head of {str(path)!r} does not describe a checkpoint: {as_sentence(error)}") from None
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise CheckpointError(f"{str(path)!r} has no sound weights: {quoted(name)} holds NaN or infinity.")
        if tensor.dtype == np.float16:
            tensors[name] = tensor.astype(np.float32)
    return checkpoint


def _not_a_checkpoint(path: Path, error: Exception) -> str:
    """Returns the sentence on a file that safetensors refuses by ``error``."""
    try:
        kind = foreign_kind(path)
    except PermissionError as denied:  # which safetensors takes for a missing file
        return f"{str(path)!r} cannot be read: {denied.strerror}."
    except (OSError, zipfile.BadZipFile):
        kind = None
    if kind is None:
        return f"{str(path)!r} is no whole safetensors file (cut short?): {as_sentence(error)}"
    prefix = FOREIGN_PLAYERS.get(kind)
    hint = f"The name of the player is '{prefix}:{path}'." if prefix else "docs/players.md says what can play."
    return f"{str(path)!r} is {kind}, and a run is a folder or a .safetensors file, as nainjaune train writes it. {hint}"


def playing_weights(checkpoint: Checkpoint) -> dict[str, NDArray[Any]]:
    """Returns the weights of the network that plays, by their names in it."""
    return {name.removeprefix("model."): array for name, array in checkpoint.tensors.items() if name.startswith("model.")}


def in_half_precision(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Returns ``tensors`` with every float32 matrix as float16, half the bytes; vectors and scalars, which are small, stay.

    A weight changes by at most one part in 2,048, or 2⁻²⁵; one that is too large becomes infinite, which no file may hold.
    """
    with np.errstate(over="ignore"):
        return {
            name: tensor.astype(np.float16) if tensor.dtype == np.float32 and tensor.ndim > 1 else tensor
            for name, tensor in tensors.items()
        }


def _digest(about: str, tensors: Mapping[str, NDArray[Any]]) -> str:
    """Returns the SHA-256 of the description and of names, dtypes, shapes and bytes of the tensors.

    Dtypes have their names in torch, which wrote the first files.
    """
    digest = hashlib.sha256(about.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\0{name}\0torch.{tensor.dtype.name}\0{tensor.shape}\0".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()


def _check_types(checkpoint: Checkpoint) -> None:
    """Raises ``TypeError`` for a field of another type than declared. What networks take is checked when one is built."""
    for name, hint in get_type_hints(Checkpoint).items():
        value, expected = getattr(checkpoint, name), get_origin(hint) or hint
        if type(value) is not expected:
            raise TypeError(f"{name!r} is of the type {expected.__name__}, not {quoted(value)}")
    for name, value in checkpoint.progress.items():
        if type(value) not in (int, float):
            raise TypeError(f"{name!r} of 'progress' is a number, not {quoted(value)}")
    if min(checkpoint.iteration, checkpoint.players, checkpoint.actions) < 0:
        raise ValueError("'iteration', 'players' and 'actions' are at least 0")


def check_objective(checkpoint: Checkpoint, objective: str | None, where: str) -> None:
    """Raises :class:`CheckpointError` if the network's values are for another objective than ``objective``; None allows any."""
    stored = checkpoint.task.objective
    if objective not in (None, stored):
        raise CheckpointError(
            f"{where} was trained for the {stored} payoff, and this is for the {objective} one: its values do not fit. "
            f"Choose objective={stored}, or another network."
        )


def foreign_kind(path: Path) -> str | None:
    """Returns what the file at ``path`` is, such as "a zip archive"; None where its first bytes tell nothing.

    Raises ``OSError`` where it cannot be read. Nothing in it is run.
    """
    with path.open("rb") as file:
        head = file.read(16)
    if head[8:9] == b"{":  # after eight bytes of its length, the header of a safetensors file
        return None
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if {"policy.pth", "data"} <= set(names):
            return SB3_MODEL
        if any(name.endswith("/data.pkl") or name == "data.pkl" for name in names):
            return "a pickle of torch.save (.pt, .pth)"
        return "a zip archive"
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        return "a pickle, as older releases of torch.save wrote (.pt, .pth)"
    if head[:1] == b"\x08" and head[2:3] == b"\x12":  # the version of the format, and then the name of the program
        return ONNX_MODEL
    return next((kind for start, kind in FOREIGN_STARTS if head.startswith(start)), None)
