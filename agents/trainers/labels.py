"""Labels: decisions with what a search found each action to be worth, kept as npz shards that hold plain arrays alone.

A shard is written whole or not at all and is never changed, so one that is there need not be made again. Nothing in it can run
code: there are no pickles, neither written nor read.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import LabelsError
from nainjaune_env.core.spec import Setup


@dataclass(frozen=True)
class Labels:
    """K decisions."""

    observation: NDArray[np.uint8]  # (K, size) what the seat to act saw
    legal: NDArray[np.int64]  # (K,) its legal actions as words, at least two each
    mean: NDArray[np.float32]  # (K, A) its payoff of the round by each action, in the game's unit; NaN where not legal
    error: NDArray[np.float32]  # (K, A) the standard error of that; NaN where not legal or tried once
    earned: NDArray[np.float32]  # (K,) what of the payoff it had netted when it decided
    seat: NDArray[np.uint8]  # (K,)
    generation: NDArray[np.int32]  # (K,) of the player whose rounds these are

    def __len__(self) -> int:
        return len(self.legal)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The legal actions as rows, ``(K, A)``."""
        return ~np.isnan(self.mean)


def save_labels(path: Path, labels: Labels, setup: Setup) -> None:
    """Write ``labels`` of decisions under ``setup`` to ``path``, whole or not at all; the same labels give the same bytes."""
    arrays = {f.name: getattr(labels, f.name) for f in fields(Labels)}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, layout=np.array(setup.layout.fingerprint), **arrays)


def load_labels(path: Path, setup: Setup, *, generation: int, count: int) -> Labels:
    """Read a shard of ``count`` labels of ``generation``, made under ``setup``.

    Raises :class:`LabelsError` where it is missing, cut short or something else, or its labels are others.
    """
    try:
        with path.open("rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
    except FileNotFoundError:
        raise LabelsError(f"There are no labels at {str(path)!r}.") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise LabelsError(f"{str(path)!r} is no whole npz file of plain arrays (cut short?): {error}.") from None
    kept = {"layout", *(f.name for f in fields(Labels))}
    if arrays.keys() != kept:
        raise LabelsError(f"{str(path)!r} is no shard of labels: one holds the arrays {', '.join(sorted(kept))}.")
    layout = str(arrays.pop("layout"))
    if layout != setup.layout.fingerprint:
        raise LabelsError(
            f"The labels at {str(path)!r} are of another observation layout "
            f"({layout}, and here it is {setup.layout.fingerprint}): make them again."
        )
    actions = len(setup.game.actions)
    expected = {
        "observation": ((count, setup.layout.size), "uint8"),
        "legal": ((count,), "int64"),
        "mean": ((count, actions), "float32"),
        "error": ((count, actions), "float32"),
        "earned": ((count,), "float32"),
        "seat": ((count,), "uint8"),
        "generation": ((count,), "int32"),
    }
    for name, (shape, dtype) in expected.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != dtype:
            raise LabelsError(
                f"{name!r} of the labels at {str(path)!r} has shape {array.shape} of {array.dtype}, not {shape} of {dtype}."
            )
    labels = Labels(**arrays)
    if (labels.generation != generation).any():
        raise LabelsError(f"The labels at {str(path)!r} are not all of generation {generation}.")
    if (labels.mask != (labels.legal[:, None] >> np.arange(actions) & 1)).any() or np.isinf(labels.mean).any():
        raise LabelsError(f"The labels at {str(path)!r} do not say of each legal action, and of no other, what it is worth.")
    return labels


def all_labels(parts: Sequence[Labels]) -> Labels:
    """The labels of several shards, one after the other."""
    return Labels(**{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Labels)})
