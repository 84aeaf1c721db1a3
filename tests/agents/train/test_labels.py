"""Labels: files come back as they were, and what is not one is refused in a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.train.labels import LabelFile, Labels, load_labels, save_labels
from nainjaune_env.core.errors import LabelsError
from nainjaune_env.registry import make_setup

SETUP = make_setup("nain_jaune", "djeco", 3)
COUNT = 6
FILE = LabelFile("a run", 2, 1)


def some_labels(generation: int = 2, seed: int = 0) -> Labels:
    """Three legal actions at each decision, with random means."""
    rng = np.random.default_rng(seed)
    actions = len(SETUP.game.actions)
    legal = np.array([sum(1 << int(a) for a in rng.permutation(actions)[:3]) for _ in range(COUNT)], np.int64)
    mask = (legal[:, None] >> np.arange(actions) & 1).astype(bool)
    mean, error = (np.where(mask, rng.random(mask.shape), np.nan).astype(np.float32) for _ in range(2))
    return Labels(
        observation=rng.integers(0, 256, (COUNT, SETUP.layout.size), np.uint8),
        legal=legal,
        mean=mean,
        halves=np.stack([mean - 1, mean + 1], axis=1),
        error=error,
        earned=rng.random(COUNT, np.float32),
        seat=rng.integers(0, 3, COUNT, np.uint8),
        generation=np.full(COUNT, generation, np.int32),
    )


def equal(one: Labels, two: Labels) -> bool:
    pairs = [(getattr(one, f.name), getattr(two, f.name)) for f in dataclasses.fields(Labels)]
    return all((a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()) for a, b in pairs)


def load(path: Path, count: int = COUNT, **changes: Any) -> Labels:
    return load_labels(path, SETUP, dataclasses.replace(FILE, **changes), count=count)


def test_a_label_file_round_trips_and_equal_labels_give_equal_bytes(tmp_path: Path) -> None:
    labels = some_labels()
    for name in ("one", "two"):
        save_labels(tmp_path / "made" / f"{name}.npz", labels, SETUP, FILE)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["one.npz", "two.npz"]
    assert equal(load(tmp_path / "made" / "one.npz"), labels)
    assert (tmp_path / "made" / "one.npz").read_bytes() == (tmp_path / "made" / "two.npz").read_bytes()


class Trap:
    """Records that it was unpickled."""

    sprung: list[bool] = []  # noqa: RUF012 - one for all

    def __reduce__(self) -> tuple[Callable[[bool], None], tuple[bool]]:
        return self.sprung.append, (True,)


def test_nothing_in_a_label_file_can_run_code(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    arrays: dict[str, Any] = {f.name: getattr(some_labels(), f.name) for f in dataclasses.fields(Labels)}
    arrays["seat"] = np.array([Trap()] * COUNT, object)
    np.savez(path, layout=np.array(SETUP.layout.fingerprint), **arrays)
    with pytest.raises(LabelsError, match="is not a whole npz file of plain arrays"):
        load(path)
    assert Trap.sprung == []
    with np.load(path, allow_pickle=True) as file:
        assert file["layout"] == SETUP.layout.fingerprint


def test_a_label_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with pytest.raises(LabelsError, match="There are no labels at"):
        load(path)
    save_labels(path, some_labels(), SETUP, FILE)
    whole = path.read_bytes()
    with pytest.raises(LabelsError, match="are not all of generation 3"):
        load(path, generation=3)
    with pytest.raises(LabelsError, match=r"are of file 1, not 0: the file was copied or renamed\. Delete it, and --resume"):
        load(path, number=0)
    with pytest.raises(LabelsError, match=r"are of another run\. Delete them, and --resume makes them again\.$"):
        load(path, run="another run")
    with pytest.raises(LabelsError, match=r"has shape \(6, \d+\) of uint8, not \(7, \d+\) of uint8"):
        load(path, count=7)
    with pytest.raises(LabelsError, match="another observation layout"):
        load_labels(path, make_setup("nain_jaune", "djeco", 4), FILE, count=COUNT)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LabelsError, match="is not a whole npz file"):
        load(path)
    damaged = bytearray(whole)
    damaged[27] = 4  # the length of a name: zipfile's error quotes that number of bytes
    path.write_bytes(damaged)
    with pytest.raises(LabelsError, match=r"is not a whole npz file .{0,400}$"):
        load(path)
    arrays = {f.name: getattr(some_labels(), f.name) for f in dataclasses.fields(Labels) if f.name != "halves"}
    np.savez(path, layout=np.array(SETUP.layout.fingerprint), **arrays)
    with pytest.raises(LabelsError, match="of an earlier version, without halves, number, run"):
        load(path)
    np.savez(path, weights=np.zeros(3))
    with pytest.raises(LabelsError, match="is not a label file, which holds the arrays earned, error"):
        load(path)


def test_means_and_legal_actions_must_agree(tmp_path: Path) -> None:
    labels = some_labels()
    wrong = [labels.mean.copy() for _ in range(3)]
    wrong[0][~labels.mask] = 0
    wrong[1][labels.mask] = np.nan
    wrong[2][labels.mask] = np.inf
    halves = labels.halves.copy()
    halves[0, 1, labels.mask[0]] = np.nan
    for change in (*({"mean": mean} for mean in wrong), {"halves": halves}):
        save_labels(tmp_path / "x.npz", dataclasses.replace(labels, **change), SETUP, FILE)
        with pytest.raises(LabelsError, match="must have a finite mean for every legal action, and NaN for every other"):
            load(tmp_path / "x.npz")
