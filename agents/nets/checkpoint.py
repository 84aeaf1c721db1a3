"""Checkpoints: a safetensors file with the tensors, and their description as JSON in its header.

Files are written atomically, and loading one cannot run code.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import CheckpointError
from nainjaune_env.core.spec import Setup

from .common_layout import common_layout

FORMAT = "nainjaune-checkpoint"
VERSION = 1
FILE_NAME = "checkpoint.safetensors"
"""The name of the checkpoint in a run's folder."""
ABOUT_NAME = "run.json"
"""The file beside it with the provenance of the run."""


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
    hidden: list[int]
    iteration: int
    """Iterations done."""
    config: dict[str, Any]
    """The trainer's configuration, resolved."""
    arch: str = "mlp"
    """Architecture of the network, see ``nets.arch``; ``hidden`` and ``recurrent`` are its arguments."""
    recurrent: int = 0
    """Units of the network's memory; 0 = none."""
    common: bool = False
    """Whether ``layout`` is the game's common one: the network plays at any table of the game, and ``preset``, ``rules`` and
    ``players`` are defaults."""
    progress: dict[str, float] = field(default_factory=dict)
    """Running totals of the trainer: decisions, seconds."""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    """``model.*``, ``optimizer.*``; with a privileged critic ``critic.*``, a belief head ``belief.*``, past selves
    ``past.<number>.*``, what actions share ``shared.*``."""


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes ``checkpoint`` to ``path`` atomically."""
    about = {key: value for key, value in asdict(checkpoint).items() if key != "tensors"}
    head = {"format": FORMAT, "version": str(VERSION), "about": json.dumps(about)}
    tensors = {name: tensor.contiguous() for name, tensor in checkpoint.tensors.items()}
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata=head)


def load_checkpoint(path: Path) -> Checkpoint:
    """Returns the checkpoint at ``path``; raises :class:`CheckpointError` if there is none or it is not a complete one."""
    if path.is_dir():
        path = path / FILE_NAME
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint at {str(path)!r}.")
    try:
        with safe_open(path, framework="pt") as opened:
            head = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{str(path)!r} is no whole safetensors file (cut short?): {error}.") from None
    if head.get("format") != FORMAT or head.get("version") != str(VERSION):
        raise CheckpointError(
            f"{str(path)!r} is not a {FORMAT} of version {VERSION}: "
            f"its head says {head.get('format')!r}, version {head.get('version')!r}."
        )
    try:
        return Checkpoint(**json.loads(head["about"]), tensors=tensors)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"The head of {str(path)!r} does not describe a checkpoint: {error}.") from None


def check_fits(checkpoint: Checkpoint, setup: Setup, where: str) -> None:
    """Raises :class:`CheckpointError` if the network cannot play at a table with this ``setup``."""
    if checkpoint.game != setup.game.name:
        raise CheckpointError(f"{where} plays {checkpoint.game!r}, and this table is for {setup.game.name!r}.")
    if not checkpoint.common and checkpoint.players != setup.players:
        raise CheckpointError(f"{where} was trained with {checkpoint.players} players, and here there are {setup.players}.")
    layout = common_layout(setup.game) if checkpoint.common else setup.layout
    if checkpoint.layout != layout.fingerprint:
        raise CheckpointError(
            f"{where} was trained on another observation layout "
            f"({checkpoint.layout}, and here it is {layout.fingerprint}): train it again."
        )
    if checkpoint.actions != len(setup.game.actions):
        raise CheckpointError(
            f"{where} chooses among {checkpoint.actions} actions, and here there are {len(setup.game.actions)}."
        )
