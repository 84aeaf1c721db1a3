"""Checkpoints: back bit for bit, or refused with a sentence; never half a network."""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors import SafetensorError
from safetensors.numpy import save_file

from nainjaune_agents.players.networks import checkpoint as checkpoint_files
from nainjaune_agents.players.networks.arch.mlp import MLP
from nainjaune_agents.players.networks.checkpoint import (
    FILE_NAME,
    Checkpoint,
    in_half_precision,
    load_checkpoint,
    save_checkpoint,
)
from nainjaune_agents.players.networks.net_agent import load_net_agent, playing_net
from nainjaune_agents.players.networks.torch_nets import build_net
from nainjaune_env.core.errors import CheckpointError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from tests.support.networks import mlp
from tests.support.positions import small


def fresh_net(setup: Setup, recurrent: int = 0) -> MLP:
    return mlp(setup, [6], recurrent=recurrent)


def make(setup: Setup, *, recurrent: int = 0, **other: Any) -> Checkpoint:
    """The checkpoint of a small net, with some fields set otherwise."""
    net = fresh_net(setup, recurrent)
    tensors = {f"model.{name}": tensor.numpy() for name, tensor in net.state_dict().items()}
    tensors["optimizer.0.step"] = np.array(7.0, np.float32)
    tensors["optimizer.0.exp_avg"] = np.array([1e-45, -0.0, np.finfo(np.float32).max, np.pi], np.float32)
    values: dict[str, Any] = {
        **setup.to_dict(),
        "algorithm": "ppo",
        "layout": setup.layout.fingerprint,
        "actions": len(setup.game.actions),
        "arch": net.arch,
        "iteration": 12,
        "config": {"rate": 0.1 + 0.2, "preset": None, "rules": {"stake": 2}},
        "progress": {"seconds": 1 / 3},
        "tensors": tensors,
    }
    return Checkpoint(**{**values, **other})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / FILE_NAME
    save_checkpoint(path, make(small()))
    return path


def test_a_full_disk_is_a_sentence_and_leaves_the_last_checkpoint(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(tensors: object, path: Path, metadata: object) -> None:
        path.write_bytes(b"half of it")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    whole = saved.read_bytes()
    monkeypatch.setattr("nainjaune_agents.players.networks.checkpoint.save_file", full)
    with pytest.raises(CheckpointError, match=r"cannot be written: .* No space left on device"):
        save_checkpoint(saved, make(small()))
    assert saved.read_bytes() == whole
    assert os.listdir(saved.parent) == [FILE_NAME]


def test_back_bit_for_bit(saved: Path) -> None:
    before, after = make(small()), load_checkpoint(saved)
    assert dataclasses.replace(after, tensors={}) == dataclasses.replace(before, tensors={})
    assert after.tensors.keys() == before.tensors.keys()
    for name, tensor in before.tensors.items():
        assert after.tensors[name].dtype == tensor.dtype
        assert after.tensors[name].tobytes() == tensor.tobytes()


def test_matrices_in_half_precision_come_back_as_float32(saved: Path, tmp_path: Path) -> None:
    """Each weight to one part in 2,048; vectors, scalars and what is no float32 as they were."""
    before = load_checkpoint(saved).tensors | {"counts": np.arange(6).reshape(2, 3)}
    half = in_half_precision(before)
    save_checkpoint(tmp_path / "half", make(small(), tensors=half))
    after = load_checkpoint(tmp_path / "half").tensors
    assert {name for name in half if half[name].dtype == np.float16} == {
        name for name, tensor in before.items() if name != "counts" and tensor.ndim > 1
    }
    for name, tensor in before.items():
        assert after[name].dtype == tensor.dtype
        if half[name].dtype == np.float16:
            assert np.all(np.abs(after[name] - tensor) <= np.abs(tensor) / 2048 + 2.0**-25)
        else:
            assert np.array_equal(after[name], tensor)


def test_parts_of_tensors_and_turned_ones_are_saved_as_they_look(tmp_path: Path) -> None:
    wide = np.arange(12.0).reshape(3, 4)
    save_checkpoint(tmp_path / "c", make(small(), tensors={"a": wide.T, "b": wide[:, 1]}))
    found = load_checkpoint(tmp_path / "c").tensors
    assert np.array_equal(found["a"], wide.T)
    assert np.array_equal(found["b"], wide[:, 1])


@pytest.mark.parametrize("recurrent", [0, 5])
def test_the_net_plays_as_it_did(tmp_path: Path, recurrent: int) -> None:
    setup = small()
    save_checkpoint(tmp_path / "c", make(setup, recurrent=recurrent))
    checkpoint, fresh = load_checkpoint(tmp_path / "c"), fresh_net(setup, recurrent)
    loaded = build_net(checkpoint, setup, "it")
    assert loaded.recurrent == recurrent
    observation = Batch(setup, 20).observation
    one, two, three = (np.ones((20, recurrent), np.float32) for _ in range(3))
    expected = fresh.evaluate(observation, two)[0]
    assert np.array_equal(loaded.evaluate(observation, one)[0], expected)
    assert np.array_equal(one, two)
    assert not loaded.training
    assert playing_net(checkpoint, setup, "it").evaluate(observation, three)[0] == pytest.approx(expected, abs=1e-6)
    assert three == pytest.approx(two, abs=1e-6)


def test_a_dtype_that_numpy_lacks_is_refused(tmp_path: Path) -> None:
    safetensors.torch.save_file({"a": torch.zeros(2, dtype=torch.bfloat16)}, tmp_path / "f")
    with pytest.raises(CheckpointError, match=r"'.*f' has a tensor of a dtype that NumPy lacks: "):
        load_checkpoint(tmp_path / "f")


def test_one_that_may_not_be_read_is_not_called_missing(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Safetensors says then that there is no such file. The superuser may read all, so the refusal is made up."""

    def refuse(path: Path, *_: Any, **__: Any) -> Any:
        raise FileNotFoundError(f"No such file or directory: {path}")

    def denied(path: Path, *_: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(checkpoint_files, "safe_open", refuse)
    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(CheckpointError, match=r"' cannot be read: Permission denied\.$"):
        load_checkpoint(saved)


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    """`torch.save` writes pickles, and pickles run code."""
    fired = tmp_path / "fired"

    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(fired),)

    torch.save(Bomb(), tmp_path / "bomb.pt")
    (tmp_path / "raw").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pt", "raw"):
        with pytest.raises(CheckpointError):
            load_checkpoint(tmp_path / name)
    assert not fired.exists()


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (None, "its head says None, version None"),
        ({"format": "other", "version": "1"}, "its head says 'other', version '1'"),
        ({"format": "nainjaune-checkpoint", "version": "3"}, "is not a .* of version 2: its head says .* version '3'"),
        (
            {"format": "nainjaune-checkpoint", "version": "1"},
            r"is of format version 1; this version reads 2\. It was written by an earlier commit: play it with that commit\.$",
        ),
        ({"format": "nainjaune-checkpoint", "version": "2"}, "has no SHA-256 in its head, so nothing shows that it is whole"),
    ],
)
def test_other_safetensors_files_are_refused(tmp_path: Path, head: dict[str, str] | None, says: str) -> None:
    save_file({"a": np.zeros(2)}, tmp_path / "f", metadata=head)
    with pytest.raises(CheckpointError, match=says):
        load_checkpoint(tmp_path / "f")


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ("{", "Expecting property name"),
        ("[]", ""),
        ('{"game": "x", "config": {}}', "missing"),
        ('{"gmae": "x", "config": {}}', "unexpected keyword argument 'gmae'"),
        ("[" * 200_000, ""),
    ],
    ids=range(5),
)
def test_a_head_that_describes_no_checkpoint_is_refused(tmp_path: Path, about: str, says: str) -> None:
    tensors = {"a": np.zeros(2, np.float32)}
    head = {"format": "nainjaune-checkpoint", "version": "2", "about": about}
    save_file(tensors, tmp_path / "f", metadata={**head, "sha256": checkpoint_files._digest(about, tensors)})
    with pytest.raises(CheckpointError, match=rf"does not describe a checkpoint: .*{says}"):
        load_checkpoint(tmp_path / "f")


def test_where_there_is_none(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "nowhere" / FILE_NAME):
        with pytest.raises(CheckpointError, match="There is no checkpoint at"):
            load_checkpoint(path)


@pytest.mark.parametrize(
    "arch",
    [
        *({"name": "mlp", "hidden": hidden} for hidden in ([7], [6, 6], [], ["x"], [None], 6)),
        {"name": "residual"}, {"name": "transformer"}, {"name": "mlp", "width": 6}, {"hidden": [6]}, {},
    ],
    ids=str,
)  # fmt: skip
def test_a_head_that_lies_about_the_net_is_refused(tmp_path: Path, arch: dict[str, Any]) -> None:
    save_checkpoint(tmp_path / "c", make(small(), arch=arch))
    if arch.get("name") in ("mlp", "residual"):
        says = "The tensors of .*c' are not those of its network"
    else:
        says = "The network of .*c' is of the arch (None|'transformer'), and here there are mlp, residual: its file is missing"
    with pytest.raises(CheckpointError, match=says):
        load_net_agent(tmp_path / "c", small(), "c")


@pytest.mark.parametrize(("kept", "said"), [(0, 5), (5, 0), (5, 4), (5, "x"), (0, -1), (5, 2.5), (5, [5])])
def test_a_head_that_lies_about_its_memory_is_refused(tmp_path: Path, kept: int, said: Any) -> None:
    checkpoint = make(small(), recurrent=kept)
    save_checkpoint(tmp_path / "c", dataclasses.replace(checkpoint, arch={**checkpoint.arch, "recurrent": said}))
    with pytest.raises(CheckpointError, match=r"The tensors of .*c' are not those of its network"):
        load_net_agent(tmp_path / "c", small(), "c")


# ---------------------------------------------------------------- damage


def test_a_changed_description_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole.replace(rb"\"iteration\": 12", rb"\"iteration\": 13"))
    assert saved.read_bytes() != whole
    with pytest.raises(CheckpointError, match="its SHA-256 is not the one in its head"):
        load_checkpoint(saved)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused(saved: Path, wrong: float) -> None:
    checkpoint = make(small())
    checkpoint.tensors["model.policy.bias"][2] = wrong
    save_checkpoint(saved, checkpoint)
    with pytest.raises(CheckpointError, match=r"has no sound weights: 'model\.policy\.bias' holds NaN or infinity\."):
        load_checkpoint(saved)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("algorithm", 1), ("game", None), ("preset", ["djeco"]), ("rules", []), ("rules", "x"), ("players", "3"),
        ("players", 3.0), ("players", True), ("layout", 5), ("actions", None), ("arch", "mlp"), ("arch", [6]),
        ("iteration", "12"), ("iteration", -1), ("config", [1]), ("arch", 3), ("common", 0), ("progress", []),
        ("progress", {"seconds": "long"}),
    ],
    ids=str,
)  # fmt: skip
def test_a_head_of_wrong_types_is_refused(tmp_path: Path, field: str, wrong: Any) -> None:
    save_checkpoint(tmp_path / "c", make(small(), **{field: wrong}))
    with pytest.raises(
        CheckpointError, match=rf"The head of '.*c' does not describe a checkpoint: '{field}'|of 'progress'|'iteration', "
    ):
        load_checkpoint(tmp_path / "c")


# ---------------------------------------------------------------- files of other libraries


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
        (zipped("data", "policy.pth"), "a zip archive of a Stable-Baselines3 model.* The name of the player is 'sb3:.*mine'"),
        (zipped("a", "b"), "a zip archive"),
        (of_torch(), r"a pickle of torch\.save \(\.pt, \.pth\)"),
        (pickle.dumps({"weight": 3}, 2), "a pickle, as older releases"),
        (b"\x08\x07\x12\x07pytorch", "an ONNX model.* The name of the player is 'onnx:.*mine'"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (np.arange(3, dtype=np.int64).tobytes(), None),
        (b"", None),
    ],
)
def test_a_file_of_another_library_is_named(tmp_path: Path, content: bytes, kind: str | None) -> None:
    path = tmp_path / "mine"
    path.write_bytes(content)
    says = r"is no whole safetensors file \(cut short\?\)" if kind is None else rf"is {kind}"
    with pytest.raises(CheckpointError, match=rf"mine' {says}"):
        load_checkpoint(path)


@pytest.mark.parametrize("length", [0x108, 0x7B, 0x50, 0x80])
def test_a_checkpoint_that_is_cut_short_is_not_taken_for_another_file(tmp_path: Path, length: int) -> None:
    (tmp_path / "cut").write_bytes(length.to_bytes(8, "little") + b'{"a": ')
    with pytest.raises(CheckpointError, match="cut short"):
        load_checkpoint(tmp_path / "cut")
