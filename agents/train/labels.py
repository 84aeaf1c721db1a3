"""Labels: decisions with the action values that a search found, kept in label files, npz files of plain arrays.

A label file is written atomically and never changed, so an existing one need not be made again. Loading one cannot run code:
pickles are neither written nor read.
"""

from __future__ import annotations

import base64
import binascii
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import LabelsError, quoted
from nainjaune_env.core.spec import Setup

LEVEL = 2
"""zlib's level of compression."""


@dataclass(frozen=True)
class Labels:
    """K decisions."""

    observation: NDArray[np.uint8]  # (K, size) of the seat to act
    legal: NDArray[np.int64]  # (K,) bits of its legal actions, at least two each
    mean: NDArray[np.float32]  # (K, A) mean payoff of the whole round after each action, in the game's unit; NaN if illegal
    halves: NDArray[np.float32]  # (K, 2, A) the same mean over each half of the determinizations, drawn independently
    error: NDArray[np.float32]  # (K, A) standard error of the mean; NaN if illegal, or tried once
    earned: NDArray[np.float32]  # (K,) part of that payoff that the seat had netted before the decision
    seat: NDArray[np.uint8]  # (K,) of the decision
    generation: NDArray[np.int32]  # (K,) of the player of the round

    def __len__(self) -> int:
        return len(self.legal)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Legal actions, ``(K, A)``."""
        return ~np.isnan(self.mean)


@dataclass(frozen=True)
class LabelFile:
    """Identifies a label file."""

    run: str
    """SHA-256 of the part of the run's configuration that labels depend on."""
    generation: int
    number: int
    """Within the generation."""


def save_labels(path: Path, labels: Labels, setup: Setup, label_file: LabelFile) -> None:
    """Writes ``labels`` of decisions under ``setup`` to ``path``, atomically; the same labels give the same bytes."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        _write(file, labels, setup, label_file)


def labels_text(labels: Labels, setup: Setup, label_file: LabelFile) -> str:
    """Returns the bytes that :func:`save_labels` writes as text, in base64."""
    file = io.BytesIO()
    _write(file, labels, setup, label_file)
    return base64.b64encode(file.getvalue()).decode()


def _write(file: IO[bytes], labels: Labels, setup: Setup, label_file: LabelFile) -> None:
    about = {"layout": setup.layout.fingerprint, "run": label_file.run, "number": label_file.number}
    arrays = {name: np.array(value) for name, value in about.items()} | {f.name: getattr(labels, f.name) for f in fields(Labels)}
    # np.savez_compressed has no level, and its own takes four times as long for files that are a fifth smaller
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def load_labels(path: Path, setup: Setup, label_file: LabelFile, *, count: int) -> Labels:
    """Reads the ``label_file`` of ``count`` labels, made under ``setup``.

    Raises :class:`LabelsError` if it is missing, damaged or another one, or holds other labels.
    """
    try:
        with path.open("rb") as file:
            return _read(file, str(path), setup, label_file, count)
    except FileNotFoundError:
        raise LabelsError(f"There are no labels at {str(path)!r}.") from None


def labels_from_text(text: str, setup: Setup, label_file: LabelFile, *, count: int) -> tuple[Labels, bytes]:
    """Returns the labels that :func:`labels_text` wrote, and the bytes of their file.

    Raises :class:`LabelsError` as :func:`load_labels` does.
    """
    where = "what a worker returned"
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError, binascii.Error):
        raise LabelsError(f"Expected the labels of a file in base64, and {where} is something else.") from None
    return _read(io.BytesIO(data), where, setup, label_file, count), data


def _read(file: IO[bytes], path: str, setup: Setup, label_file: LabelFile, count: int) -> Labels:
    try:
        with np.lib.npyio.NpzFile(file, allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
    except (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        # a damaged zip file may name compressions that there are not (NotImplementedError) or ask for a password (RuntimeError)
        raise LabelsError(
            f"{path!r} is not a whole npz file of plain arrays (cut short?): {quoted(str(error))}. "
            "Delete it, and --resume makes it again."
        ) from None
    names = {"layout", "run", "number", *(f.name for f in fields(Labels))}
    if {"layout", "mean", "generation"} <= arrays.keys() < names:
        raise LabelsError(
            f"The labels at {path!r} are of an earlier version, without {', '.join(sorted(names - arrays.keys()))}. "
            "Delete them, and --resume makes them again."
        )
    if arrays.keys() != names:
        raise LabelsError(f"{path!r} is not a label file, which holds the arrays {', '.join(sorted(names))}.")
    layout = str(arrays.pop("layout"))
    if layout != setup.layout.fingerprint:
        raise LabelsError(
            f"The labels at {path!r} are of another observation layout "
            f"({layout}, and here it is {setup.layout.fingerprint}): make them again."
        )
    run, number = str(arrays.pop("run")), quoted(arrays.pop("number").tolist())
    if run != label_file.run:
        raise LabelsError(f"The labels at {path!r} are of another run. Delete them, and --resume makes them again.")
    if number != str(label_file.number):
        raise LabelsError(
            f"The labels at {path!r} are of file {number}, not {label_file.number}: the file was copied or renamed. "
            "Delete it, and --resume makes it again."
        )
    actions = len(setup.game.actions)
    expected = {
        "observation": ((count, setup.layout.size), "uint8"),
        "legal": ((count,), "int64"),
        "mean": ((count, actions), "float32"),
        "halves": ((count, 2, actions), "float32"),
        "error": ((count, actions), "float32"),
        "earned": ((count,), "float32"),
        "seat": ((count,), "uint8"),
        "generation": ((count,), "int32"),
    }
    for name, (shape, dtype) in expected.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != dtype:
            raise LabelsError(
                f"{name!r} of the labels at {path!r} has shape {array.shape} of {array.dtype}, not {shape} of {dtype}."
            )
    labels = Labels(**arrays)
    if (labels.generation != label_file.generation).any():
        raise LabelsError(f"The labels at {path!r} are not all of generation {label_file.generation}.")
    means = np.concatenate([labels.mean[:, None], labels.halves], axis=1)
    legal = labels.legal[:, None, None] >> np.arange(actions) & 1
    if (~np.isnan(means) != legal).any() or np.isinf(means).any():
        raise LabelsError(f"The labels at {path!r} must have a finite mean for every legal action, and NaN for every other.")
    return labels


def concatenate_labels(parts: Sequence[Labels]) -> Labels:
    """Returns the labels of several files, in order."""
    return Labels(**{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Labels)})
