"""The first cases of every fuzzer, and that the fuzzers see what they are there to see."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from nainjaune_env.core.errors import RecordError

from . import kills
from .fuzzers import FUZZERS
from .kills import Disk, Killed
from .mutations import damage_bytes, damage_value
from .oracle import Fault, check_nothing_lost, check_sentence, refused, tree

SEED = 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, fuzzer in FUZZERS.items() if fuzzer.short])
def test_a_few_cases(name: str, tmp_path: Path) -> None:
    fuzzer = FUZZERS[name](tmp_path)
    for number in range(fuzzer.short):
        try:
            fuzzer.run(SEED, number)
        except Exception as error:
            error.add_note(f"again: python -m tests.fuzz {name} --seed {SEED} --case {number}")
            raise


@pytest.mark.parametrize("message", ["", " ", "x" * 3000, "Traceback (most recent call last):\n  File", "a \x1b[2J b"])
def test_what_is_no_sentence(message: str) -> None:
    check_sentence("Expected a seat from 0 to 3, not 4.", "here")
    with pytest.raises(Fault):
        check_sentence(message, "here")


def test_only_the_kinds_named_are_refusals() -> None:
    def fail(error: Exception) -> None:
        raise error

    assert refused(lambda: None, where="here") is None
    assert isinstance(refused(lambda: fail(RecordError("No.")), where="here"), RecordError)
    for error in (ValueError("No."), RecordError("")):
        with pytest.raises(Fault):
            refused(lambda error=error: fail(error), where="here")


def test_what_is_lost_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("b")
    before = tree(tmp_path)
    (tmp_path / "c").write_text("new")
    check_nothing_lost(before, tree(tmp_path), "here")
    (tmp_path / "a" / "b").write_text("other")
    check_nothing_lost(before, tree(tmp_path), "here", may_change=[Path("a")])
    with pytest.raises(Fault, match="altered"):
        check_nothing_lost(before, tree(tmp_path), "here")
    (tmp_path / "a" / "b").unlink()
    with pytest.raises(Fault, match="gone"):
        check_nothing_lost(before, tree(tmp_path), "here")


def test_damage_is_of_many_kinds_and_spares_the_original() -> None:
    rng, data, value = random.Random(0), bytes(range(200)), {"a": [1, [2, 3]], "b": {"c": "d"}}
    assert len({damage_bytes(data, rng) for _ in range(200)}) > 150
    assert len({repr(damage_value(value, rng)) for _ in range(200)}) > 50
    assert value == {"a": [1, [2, 3]], "b": {"c": "d"}}


def test_a_killed_process_changes_no_file_any_more(tmp_path: Path) -> None:
    def work() -> None:
        try:
            (tmp_path / "one").write_text("1")
            (tmp_path / "two").write_text("2")
            os.rename(tmp_path / "two", tmp_path / "three")
        finally:
            (tmp_path / "one").unlink()

    with Disk.watch(tmp_path, kills.nothing):
        work()
        assert Disk.count == 4
    (tmp_path / "three").unlink()
    for at, left in ((1, []), (2, ["one"]), (3, ["one", "two"]), (4, ["one", "three"])):
        with pytest.raises(Killed), Disk.watch(tmp_path, kills.killing(at)):
            work()
        assert sorted(os.listdir(tmp_path)) == left
        for name in left:
            (tmp_path / name).unlink()
