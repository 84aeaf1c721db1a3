"""Files of other libraries where a checkpoint is expected."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_env.core.errors import CheckpointError


def zipped(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return content.getvalue()


def of_torch() -> bytes:
    content = io.BytesIO()
    torch.save({"weight": torch.zeros(2)}, content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (zipped("data", "policy.pth", "policy.optimizer.pth"), "a zip archive of a Stable-Baselines3 model"),
        (zipped("a", "b"), "a zip archive"),
        (of_torch(), r"a pickle of torch\.save \(\.pt, \.pth\)"),
        (pickle.dumps({"weight": 3}, 2), "a pickle, as older releases"),
        (b"\x08\x07\x12\x07pytorch\x1a\x05", "an ONNX model"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (np.arange(3, dtype=np.int64).tobytes(), None),
        (b"", None),
    ],
)
def test_a_file_of_another_library_is_named(tmp_path: Path, content: bytes, kind: str | None) -> None:
    path = tmp_path / "mine"
    path.write_bytes(content)
    says = r"is no whole safetensors file \(cut short\?\)" if kind is None else rf"is {kind}.*, and a run is a folder or"
    with pytest.raises(CheckpointError, match=rf"mine' {says}"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("content", "prefix"), [(zipped("data", "policy.pth"), "sb3"), (b"\x08\x07\x12\x07pytorch", "onnx")], ids=["sb3", "onnx"]
)
def test_a_file_that_plays_by_another_name_says_so(tmp_path: Path, content: bytes, prefix: str) -> None:
    path = tmp_path / "mine"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"The name of the player is '{prefix}:{path}'\.$"):
        load_checkpoint(path)


@pytest.mark.parametrize("length", [0x108, 0x7B, 0x50, 0x80])
def test_a_checkpoint_that_is_cut_short_is_not_taken_for_another_file(tmp_path: Path, length: int) -> None:
    (tmp_path / "cut").write_bytes(length.to_bytes(8, "little") + b'{"a": ')
    with pytest.raises(CheckpointError, match="cut short"):
        load_checkpoint(tmp_path / "cut")
