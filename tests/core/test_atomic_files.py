"""Files are whole or not there, whatever goes wrong while they are written."""

from __future__ import annotations

import _pyio  # type: ignore[import-not-found]
import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from nainjaune_env.core import atomic_files
from nainjaune_env.core.atomic_files import locked, remove_leftovers, replacing, replacing_folder, write_bytes, write_text


def test_a_file_is_there_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "a.txt"
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        temporary.write_bytes(b"half")
        assert not path.exists()
        temporary.write_bytes(b"whole")
    assert path.read_bytes() == b"whole"
    assert os.listdir(path.parent) == ["a.txt"]


@pytest.mark.parametrize("wrong", [ValueError, KeyboardInterrupt, SystemExit])
def test_where_writing_fails_the_old_file_stays_and_nothing_else(tmp_path: Path, wrong: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise wrong

    with pytest.raises(wrong):
        fail()
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_disk_that_refuses_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_text_is_utf_8_and_keeps_its_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.linesep", "\r\n")  # Windows: its text files end lines so unless they are told otherwise
    monkeypatch.setattr("io.open", _pyio.open)  # the same in Python, which reads `linesep`
    write_text(tmp_path / "a.txt", "7♦ – manche\r\n\n")
    assert (tmp_path / "a.txt").read_bytes() == "7♦ – manche\r\n\n".encode()


@pytest.mark.parametrize("windows", [True, False])
def test_a_file_that_is_read_is_replaced_afterwards_on_windows(
    windows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text(tmp_path / "a.txt", "old")
    tries = []

    def while_open(source: Path, target: Path) -> None:  # what Windows raises; other systems raise it for a folder of others
        tries.append(source)
        if len(tries) < 3:
            raise PermissionError(errno.EACCES, "Access is denied")
        os.replace(source, target)

    monkeypatch.setattr("pathlib.Path.replace", while_open)
    monkeypatch.setattr(atomic_files, "WINDOWS", windows)
    if windows:
        write_text(tmp_path / "a.txt", "new")
    else:
        with pytest.raises(PermissionError):
            write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == ("new" if windows else "old")
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_file_that_is_read_for_long_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def while_open(source: Path, target: Path) -> None:
        raise PermissionError(errno.EACCES, "Access is denied")

    monkeypatch.setattr("pathlib.Path.replace", while_open)
    monkeypatch.setattr(atomic_files, "WINDOWS", True)
    monkeypatch.setattr(atomic_files, "READING", 0.1)
    with pytest.raises(PermissionError):
        write_text(tmp_path / "a.txt", "new")
    assert os.listdir(tmp_path) == []


def test_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_bytes(tmp_path / "new" / "file", b"a\r\n\xff")
    assert (tmp_path / "new" / "file").read_bytes() == b"a\r\n\xff"


def test_files_are_as_public_as_any_other(tmp_path: Path) -> None:
    """Also those of writers that put a private file of their own in place of ours."""
    write_text(tmp_path / "a.txt", "")
    with replacing(tmp_path / "b.txt") as temporary:
        temporary.unlink()
        temporary.touch(mode=0o600)
    (tmp_path / "c.txt").write_text("", encoding="utf-8")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.txt", "b.txt", "c.txt")}
    assert len(modes) == 1


def test_a_folder_is_there_when_all_of_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "study"
    with replacing_folder(path) as temporary:
        (temporary / "a.txt").write_text("a", encoding="utf-8")
        assert not path.exists()
    assert os.listdir(path) == ["a.txt"]
    assert os.listdir(path.parent) == ["study"]


@pytest.mark.parametrize("wrong", [ValueError, KeyboardInterrupt])
def test_where_a_folder_fails_nothing_is_left(tmp_path: Path, wrong: type[BaseException]) -> None:
    def fail() -> None:
        with replacing_folder(tmp_path / "study") as temporary:
            (temporary / "a.txt").write_text("half", encoding="utf-8")
            raise wrong

    with pytest.raises(wrong):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_folder_with_something_in_it_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "old.txt").touch()
    with pytest.raises(OSError, match="study"), replacing_folder(tmp_path / "study") as temporary:
        (temporary / "a.txt").touch()
    assert os.listdir(tmp_path) == ["study"]
    assert os.listdir(tmp_path / "study") == ["old.txt"]


def test_only_our_own_temporary_files_are_left_over(tmp_path: Path) -> None:
    kept = [".a.tmp", "a.0123456789abcdef.tmp", ".a.0123456789abcdeg.tmp", ".a.txt", "a.tmp"]
    for name in [*kept, ".a.0123456789abcdef.tmp", ".b.c.ffffffffffffffff.tmp"]:
        (tmp_path / name).touch()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / ".d.0000000000000000.tmp").touch()  # that of another process, such as one that rates the agent
    remove_leftovers(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "deep"])
    assert os.listdir(tmp_path / "deep") == [".d.0000000000000000.tmp"]
    remove_leftovers(tmp_path / "none")


def test_a_lock_is_held_once_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    with locked(path):
        with pytest.raises(TimeoutError), locked(path, wait=False):
            pass
        with locked(tmp_path / "new" / "b.txt", wait=False):
            assert sorted(os.listdir(path.parent)) == [".a.txt.lock", ".b.txt.lock"]
    assert os.listdir(path.parent) == []
    with locked(path, wait=False):
        pass


def test_a_lock_is_released_where_its_holder_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with locked(tmp_path / "a"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with locked(tmp_path / "a", wait=False):
        assert os.listdir(tmp_path) == [".a.lock"]


@pytest.mark.skipif(sys.platform == "win32", reason="there files are locked otherwise")
def test_a_lock_is_never_only_the_presence_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a file would stay after a process that was killed."""

    def missing(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", missing)
    with pytest.raises(OSError, match="not implemented"), locked(tmp_path / "a"):
        pass


def test_a_lock_that_is_a_link_is_refused_and_what_it_leads_to_is_untouched(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("theirs", encoding="utf-8")
    (tmp_path / ".a.lock").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="this is a symbolic link: remove it"), locked(tmp_path / "a"):
        pass
    assert (tmp_path / "other").read_text(encoding="utf-8") == "theirs"
