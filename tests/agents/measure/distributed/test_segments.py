"""Append-only folders: what survives kills, full disks and damage, and what is not believed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.measure.distributed import segments
from nainjaune_agents.measure.distributed.segments import Segments, digest
from nainjaune_env.core.errors import WorkError
from tests.support.source import ROOT

OPERATIONS = ("open", "write", "fsync", "ftruncate", "mkdir")


def contents(folder: Path) -> list[dict[str, Any]]:
    """The lines of a folder without damage; each is read again at its place."""
    read = Segments(folder)
    lines = []
    for place, content in read.read():
        assert read.at(place) == content
        assert content.pop("sha256") == digest(content)
        lines.append(content)
    assert read.damaged == []
    return lines


def numbers(folder: Path) -> list[int]:
    return [content["number"] for content in contents(folder)]


def filled(folder: Path, writer: str | None = "a", count: int = 4) -> Path:
    """Makes a segment with a line for each number; returns its path."""
    with Segments(folder, writer) as made:
        made.append(*({"number": number, "made": {"seconds": 0.5}} for number in range(count)))
    return sorted(folder.iterdir())[-1]


def test_lines_come_back_in_order_with_what_they_hold(tmp_path: Path) -> None:
    held = [{"b": [1, 2.5, None], "a": {"z": "7♦", "y": True}}, {10: "ten", 9: "nine"}, {}]
    with Segments(tmp_path / "new" / "deep") as made:
        assert not (tmp_path / "new").exists()
        made.append()
        assert not (tmp_path / "new").exists()
        made.append(held[0])
        made.append(*held[1:])
    assert contents(tmp_path / "new" / "deep") == [held[0], {"10": "ten", "9": "nine"}, {}]
    assert list(contents(tmp_path / "new" / "deep")[0]["a"]) == ["z", "y"]
    assert contents(tmp_path / "none") == []
    with Segments(tmp_path / "again") as made:
        made.append(*(content for _, content in Segments(tmp_path / "new" / "deep").read()))
    assert contents(tmp_path / "again") == contents(tmp_path / "new" / "deep")


def test_each_process_has_a_file_and_how_a_line_was_made_is_not_in_its_digest(tmp_path: Path) -> None:
    with Segments(tmp_path) as one, Segments(tmp_path) as other:
        one.append({"number": 1, "made": {"seconds": 1.0}})
        other.append({"made": {"seconds": 2.0}, "number": 1})
    assert len(list(tmp_path.iterdir())) == 2
    assert all(f"-{os.getpid()}-" in path.name for path in tmp_path.iterdir())
    assert len({content["sha256"] for _, content in Segments(tmp_path).read()}) == 1
    assert len({content["made"]["seconds"] for content in contents(tmp_path)}) == 2


def test_what_is_appended_is_as_it_was_when_it_was_given(tmp_path: Path) -> None:
    content = {"number": 1}
    with Segments(tmp_path) as made:
        made.append(content)
        content["number"] = 2
        made.append(content)
        made.append()  # waits
        assert numbers(tmp_path) == [1, 2]
        with pytest.raises(ValueError, match="Out of range float values"):
            made.append({"number": float("nan")})


def test_a_named_segment_goes_on_without_its_torn_end(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"number": 4, "sha256')
    assert numbers(tmp_path) == [0, 1, 2, 3]
    with Segments(tmp_path, "a") as made:
        made.append({"number": 5})
        made.append()
        with Segments(tmp_path, "a") as other:
            other.append({"number": 6})
            with pytest.raises(WorkError, match="is written to by another process: wait"):
                other.append()
    assert numbers(tmp_path) == [0, 1, 2, 3, 5]
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("left", [0, 1, 40])
def test_a_named_segment_that_was_cut_in_its_first_line_begins_again(left: int, tmp_path: Path) -> None:
    path = filled(tmp_path)
    path.write_bytes(path.read_bytes()[:left])
    assert numbers(tmp_path) == []
    assert numbers(filled(tmp_path).parent) == [0, 1, 2, 3]


def test_every_byte_that_flips_and_every_cut_is_seen(tmp_path: Path) -> None:
    path = filled(tmp_path, count=2)
    whole = path.read_bytes()
    right = [content for _, content in Segments(tmp_path).read()]
    bare = [{key: value for key, value in content.items() if key != "made"} for content in right]
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    made = [at for number in range(2) for at in range(whole.index(b'"made"', ends[number]), whole.index(b"}", ends[number]))]
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        read = Segments(tmp_path)
        there = [{key: value for key, value in content.items() if key != "made"} for _, content in read.read()]
        assert all(content in bare for content in there), at
        if at not in made:
            assert len(there) < 2
            assert bool(read.damaged) != (at == len(whole) - 1), at  # without its end, the last line is torn
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        read = Segments(tmp_path)
        assert [content for _, content in read.read()] == right[: max(0, sum(end < size for end in ends) - 1)]
        assert read.damaged == []


@pytest.mark.parametrize("move", [shutil.copy, shutil.move])
def test_a_copied_or_renamed_segment_is_named_and_not_believed(tmp_path: Path, move: Callable[[Path, Path], object]) -> None:
    move(filled(tmp_path), tmp_path / "b.jsonl")
    read = Segments(tmp_path)
    assert len(list(read.read())) == (4 if move is shutil.copy else 0)
    assert len(read.damaged) == 1
    assert 'b.jsonl\' was copied, renamed or damaged, and is not read: b\'{"segment":"a.jsonl"' in read.damaged[0]
    with pytest.raises(WorkError, match=r"b\.jsonl' was copied, renamed or damaged, and is not continued"):
        filled(tmp_path, "b")


def test_damage_is_named_once_a_file_and_the_other_lines_are_believed(tmp_path: Path) -> None:
    path = filled(tmp_path, count=5)
    lines = path.read_bytes().splitlines(keepends=True)
    edited = lines[2].replace(b'"number":1', b'"number":7')
    path.write_bytes(b"".join([lines[0], lines[1], edited, b"[]\n", b"\xff\n", b"[" * 10**5 + b"\n", *lines[3:]]))
    read = Segments(tmp_path)
    assert [content["number"] for _, content in read.read()] == [0, 2, 3, 4]
    assert len(read.damaged) == 1
    says = "a.jsonl' has 4 damaged lines, the first of them, line 3: expected a JSON object with its SHA-256, not b'{\"number\":7"
    assert says in read.damaged[0]
    list(read.read())
    assert len(read.damaged) == 1


def test_a_line_is_checked_again_at_its_place(tmp_path: Path) -> None:
    path = filled(tmp_path)
    read = Segments(tmp_path)
    place, _ = list(read.read())[2]
    path.write_bytes(path.read_bytes().replace(b'"number":2', b'"number":3'))
    with pytest.raises(WorkError, match=rf"a\.jsonl' changed at byte {place.offset} since it was read: expected a JSON object"):
        read.at(place)
    path.unlink()
    with pytest.raises(WorkError, match=r"since it was read: .*No such file"):
        read.at(place)


def test_long_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path)
    with path.open("ab") as file:
        file.write(b'"' + b"x" * 500 + b'"\n')
    monkeypatch.setattr(segments, "MAX_LINE", 300)
    read = Segments(tmp_path)
    assert [content["number"] for _, content in read.read()] == [0, 1, 2, 3]
    assert "has a damaged line, line 6: expected a JSON object" in read.damaged[0]
    with pytest.raises(WorkError, match="Expected at most 300 bytes in a line, and one has 4"), Segments(tmp_path) as made:
        made.append({"text": "x" * 400})


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(WorkError, match=r"a\.jsonl' cannot be read: .*directory"):
        list(Segments(tmp_path).read())


class Failing:
    """Lets the ``at``-th file operation of an appended file fail, and, where it ``lasts``, all later ones."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, *, lasts: bool) -> None:
        self.at, self.lasts, self.count = at, lasts, 0
        for name in OPERATIONS:
            patch.setattr(os, name, self._failing(name, getattr(os, name)))

    def _failing(self, name: str, call: Any) -> Any:
        def failing(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.count == self.at or (self.lasts and self.count > self.at):
                if name == "write":  # a part of it has room
                    call(arguments[0], arguments[1][: len(arguments[1]) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return call(*arguments, **options)

        return failing


@pytest.mark.parametrize("lasts", [False, True])
@pytest.mark.parametrize("writer", [None, "a"])
def test_a_full_disk_is_an_error_and_the_same_process_goes_on_later(tmp_path: Path, lasts: bool, writer: str | None) -> None:
    at, count = 0, 1
    while count > at:
        at, errors = at + 1, list[str]()
        folder = tmp_path / str(at) / "deep"
        with Segments(folder, writer) as made:
            with pytest.MonkeyPatch.context() as patch:
                failing = Failing(patch, at, lasts=lasts)
                safe: list[int] = []
                for number in range(3):
                    made.append({"number": number})
                    try:
                        made.append()
                        safe.append(number)
                    except WorkError as error:
                        errors.append(str(error))
            says = "cannot be written to: [Errno 28] No space left on device. What was appended"
            assert all(says in error for error in errors)
            assert numbers(folder) in ([safe, [*safe, len(safe)]] if lasts else [safe])  # where it is not cut off either
            made.append({"number": 3})
            made.append()
            assert numbers(folder) == [*safe, 3]
        assert len(list(folder.iterdir())) == 1
        count = failing.count
    assert at > 8


def test_an_error_is_raised_by_the_next_call_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Segments(tmp_path) as made:
        made.append({"number": 0})
        made.append()
        Failing(monkeypatch, 1, lasts=False)
        made.append({"number": 1}, {"number": 2})
        with pytest.raises(WorkError, match=r"is safe, and 2 lines more did not get there\.$"):
            made.append({"number": 3})
        made.append({"number": 4})
    assert numbers(tmp_path) == [0, 4]


def test_the_disk_has_all_of_a_line_that_was_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the system writes a few bytes at a time."""
    write, fsync, synced = os.write, os.fsync, list[int]()

    def noting(handle: int) -> None:
        fsync(handle)
        synced.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:7]))
    monkeypatch.setattr(os, "fsync", noting)
    with Segments(tmp_path, "a") as made:
        made.append({"number": 0})
        made.append()
        made.append({"number": 1})
        made.append()
        assert numbers(tmp_path) == [0, 1]
        assert synced[-1] == (tmp_path / "a.jsonl").stat().st_size
        assert len(synced) == 3  # the first time, the folder too


KILLS = """
import os, signal, sys
from pathlib import Path
from nainjaune_agents.measure.distributed.segments import Segments

folder, writer = sys.argv[1], sys.argv[2] or None
real = {name: getattr(os, name) for name in ("open", "write", "fsync", "ftruncate", "mkdir")}

def child(at, acknowledge):
    count = 0
    def counting(name):
        def call(*arguments, **options):
            nonlocal count
            count += 1
            if count == at:
                if name == "write":
                    real[name](arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real[name](*arguments, **options)
        return call
    for name in real:
        setattr(os, name, counting(name))
    for start in range(2):  # of one process after another
        with Segments(Path(folder, str(at), "deep"), writer) as segments:
            for number in range(4):
                segments.append({"number": 8 * start + 2 * number}, {"number": 8 * start + 2 * number + 1})
                segments.append()
                real["write"](acknowledge, b".")

at, killed = 0, True
while killed:
    at += 1
    reading, acknowledge = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            child(at, acknowledge)
        finally:
            os._exit(0)
    os.close(acknowledge)
    killed = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
    print(len(os.read(reading, 100)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has neither fork nor SIGKILL")
@pytest.mark.parametrize("writer", ["", "a"])
def test_a_process_killed_at_any_file_operation_loses_only_what_it_is_appending(tmp_path: Path, writer: str) -> None:
    command = [sys.executable, "-c", KILLS, str(tmp_path), writer]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    acknowledged = [*map(int, done.stdout.split())]
    assert acknowledged[-1] == 8
    assert len(acknowledged) > 20
    for at, count in enumerate(acknowledged, 1):
        folder = tmp_path / str(at) / "deep"
        there = sorted(numbers(folder))
        assert there == [*range(len(there))]
        assert 2 * count <= len(there) <= 2 * count + 2
        with Segments(folder, writer or None) as made:
            made.append({"number": 99})
        assert sorted(numbers(folder)) == [*there, 99]


APPENDING = """
import sys
from pathlib import Path
from nainjaune_agents.measure.distributed.segments import Segments
with Segments(Path(sys.argv[1])) as segments:
    sys.stdin.readline()
    for number in range(200):
        segments.append({"number": number, "text": "x" * 1000})
"""


def test_processes_append_to_one_folder_while_another_reads(tmp_path: Path) -> None:
    commands = [
        subprocess.Popen([sys.executable, "-c", APPENDING, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for command in commands:
        assert command.stdin is not None
        command.stdin.write("go\n")
        command.stdin.close()
    while any(command.poll() is None for command in commands):
        contents(tmp_path)
    assert [command.returncode for command in commands] == [0, 0]
    assert numbers(tmp_path) == [*range(200)] * 2
    assert len({json.loads(path.read_text().splitlines()[0])["segment"] for path in tmp_path.iterdir()}) == 2
