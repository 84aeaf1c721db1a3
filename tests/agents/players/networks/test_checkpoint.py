"""Checkpoints: back bit for bit, or refused with a sentence; never half a network."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pickle
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
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


def test_a_weight_too_large_for_half_precision_is_refused(tmp_path: Path) -> None:
    tensors = make(small()).tensors
    tensors["model.body.0.weight"][0, 0] = 1e5
    save_checkpoint(tmp_path / "half", make(small(), tensors=in_half_precision(tensors)))
    with pytest.raises(CheckpointError, match=r"no sound weights: 'model\.body\.0\.weight' holds NaN or infinity"):
        load_checkpoint(tmp_path / "half")


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


def test_its_bytes_and_digest_are_those_of_files_that_torch_wrote(saved: Path, tmp_path: Path) -> None:
    with safe_open(saved, framework="pt") as opened:
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - not a dict
        head = opened.metadata()
    digest = hashlib.sha256(head["about"].encode())
    for name in sorted(tensors):
        digest.update(f"\0{name}\0{tensors[name].dtype}\0{tuple(tensors[name].shape)}\0".encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    assert head["sha256"] == digest.hexdigest()
    safetensors.torch.save_file(tensors, tmp_path / "by_torch", metadata=head)
    by_torch, by_numpy = (path.read_bytes() for path in (tmp_path / "by_torch", saved))  # the strings of a head are in no order
    assert by_torch[8 + struct.unpack("<Q", by_torch[:8])[0] :] == by_numpy[8 + struct.unpack("<Q", by_numpy[:8])[0] :]


def test_cut_short_anywhere_it_is_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    header = 8 + struct.unpack("<Q", whole[:8])[0]
    lengths = {0, 1, 7, 8, 9, header - 1, header, header + 1, len(whole) - 4, len(whole) - 1, *range(10, len(whole), 97)}
    cut = tmp_path / "cut"
    for length in sorted(lengths):
        cut.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"cut' is no whole safetensors file"):
            load_checkpoint(cut)


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


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"PK\x03\x04",
        random.Random(0).randbytes(64),
        b"{}",
        b"\xff" * 200,
        pickle.dumps({"a": 1}),
        struct.pack("<Q", 2) + b"[]",
        b"\0" * 99,
    ],
)
def test_garbage_is_refused(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / "junk").write_bytes(garbage)
    with pytest.raises(CheckpointError, match="junk"):
        load_checkpoint(tmp_path / "junk")


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


@pytest.mark.parametrize("make_net", [build_net, playing_net])
@pytest.mark.parametrize("change", ["lack", "more", "shape"])
def test_tensors_that_are_not_the_nets_are_refused(change: str, make_net: Callable[..., object]) -> None:
    checkpoint = make(small())
    name = "model.policy.weight"
    if change == "lack":
        del checkpoint.tensors[name]
    elif change == "more":
        checkpoint.tensors["model.extra"] = np.zeros(1, np.float32)
    else:
        checkpoint.tensors[name] = checkpoint.tensors[name][:-1]
    with pytest.raises(CheckpointError, match=r"policy|extra"):
        make_net(checkpoint, small(), "it")


def test_where_writing_fails_the_old_checkpoint_stays(saved: Path) -> None:
    before = saved.read_bytes()
    broken = make(small(), config={"x": object()})
    with pytest.raises(TypeError):
        save_checkpoint(saved, broken)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [FILE_NAME]


def test_a_checkpoint_is_as_public_as_any_file(saved: Path) -> None:
    (saved.parent / "plain").write_bytes(b"")
    assert saved.stat().st_mode == (saved.parent / "plain").stat().st_mode


def test_the_head_can_be_read_without_this_package(saved: Path) -> None:
    """Eight bytes of length, JSON, tensors: what other tools will see."""
    raw = saved.read_bytes()
    head = json.loads(raw[8 : 8 + struct.unpack("<Q", raw[:8])[0]])["__metadata__"]
    assert (head["format"], head["version"]) == ("nainjaune-checkpoint", "2")
    assert json.loads(head["about"])["players"] == 3


# ---------------------------------------------------------------- damage


def with_head(path: Path, change: Callable[[dict[str, str]], object]) -> None:
    """Rewrites the file at ``path`` with the strings of its head changed."""
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8 : 8 + length])
    change(head["__metadata__"])
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])


def test_a_flipped_bit_anywhere_is_refused(saved: Path) -> None:
    """Spaces that fill up the header may become other ones; then what is loaded is what was saved."""
    whole, rng = saved.read_bytes(), random.Random(4)
    length = struct.unpack("<Q", whole[:8])[0]
    places = [
        *range(8 * 8),
        *(rng.randrange(8 * len(whole)) for _ in range(150)),
        *(rng.randrange(64, 8 * (8 + length)) for _ in range(400)),
    ]
    before, loaded = make(small()), 0
    for place in places:
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        saved.write_bytes(changed)
        try:
            after = load_checkpoint(saved)
        except CheckpointError:
            continue
        loaded += 1
        assert dataclasses.replace(after, tensors={}) == dataclasses.replace(before, tensors={})
        assert all(np.array_equal(tensor, after.tensors[name]) for name, tensor in before.tensors.items())
    assert loaded < 20


def test_a_changed_description_is_refused(saved: Path) -> None:
    with_head(saved, lambda head: head.update(about=head["about"].replace('"iteration": 12', '"iteration": 13')))
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
