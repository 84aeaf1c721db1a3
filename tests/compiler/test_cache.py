"""The folder of compiled code, and the cache in it where processes meet, files are damaged and disks are full."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import caching, types
from numba.core.event import RecordingListener, install_listener

from nainjaune_env.compiler import cache
from nainjaune_env.compiler.cache import cache_folder, remove_unused
from nainjaune_env.compiler.jit import JIT_ENABLED, jit

compiled_only = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")


def double(x: int) -> int:
    return x + x


@pytest.fixture(autouse=True)
def _no_warning_yet(empty_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_warned", False)


def test_the_folder_is_the_users_unless_a_setting_names_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NAINJAUNE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder_of(double).parent == tmp_path / "xdg" / "nainjaune-env" / "compiled"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for caches in ("", "here"):  # a relative one is invalid
        monkeypatch.setenv("XDG_CACHE_HOME", caches)
        for own in ("", None):
            monkeypatch.delenv("NAINJAUNE_CACHE", raising=False) if own is None else monkeypatch.setenv("NAINJAUNE_CACHE", own)
            assert folder_of(double).parent == tmp_path / "home" / ".cache" / "nainjaune-env" / "compiled"
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "own"))
    assert folder_of(double).parent == tmp_path / "own" / "compiled"


def test_each_module_and_each_version_of_its_source_has_a_folder_with_a_short_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses paths of 260 characters, and numba adds up to 140 of its own to that of the folder."""
    name = folder_of(double).name
    assert len(name) == len("test_cache-") + 16
    monkeypatch.setattr(double, "__module__", f"{__name__}[another instance]")
    assert folder_of(double).name != name
    monkeypatch.undo()
    cache._open_folder.cache_clear()
    monkeypatch.setattr(cache, "source_hash", lambda *_: "of another version")
    assert folder_of(double).name != name


def test_a_relative_folder_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in another working folder would load what is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAINJAUNE_CACHE", "here")
    with pytest.warns(RuntimeWarning, match="not kept in here, .* is the path of a folder from the root on"):
        assert cache_folder(double) is None
    assert cache.why_not_kept().startswith("here: NAINJAUNE_CACHE is")
    assert list(tmp_path.iterdir()) == []


def folder_of(fn: Callable[..., Any]) -> Path:
    folder = cache_folder(fn)
    assert folder is not None
    assert folder.is_dir()
    return folder


def test_a_folder_that_cannot_be_written_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "file" / "below"))
    assert cache_folder(double) is None
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "good"))
    monkeypatch.setattr(cache.os, "access", lambda *_: False)
    assert cache_folder(double) is None


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing there")
@pytest.mark.parametrize("below", ["", "compiled", "module"])
@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str, mode: int
) -> None:
    """Its files are pickles, which can run any code."""
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "own"))
    mine = folder_of(double)
    assert {place.stat().st_mode & 0o777 for place in (mine, mine.parent, mine.parent.parent)} == {0o700}
    open_to_all = mine if below == "module" else tmp_path / "own" / below
    open_to_all.chmod(mode)
    cache._open_folder.cache_clear()
    with pytest.warns(
        RuntimeWarning, match=rf"not kept in {open_to_all}, .*others can write to it\. .* chmod 700 {open_to_all}$"
    ):
        assert cache_folder(double) is None


@pytest.mark.skipif(sys.platform == "win32", reason="owners go by other numbers there")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path / "own"))
    folder_of(double)
    cache._open_folder.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.warns(RuntimeWarning, match="the folder belongs to another user"):
        assert cache_folder(double) is None


def test_a_function_without_a_file_has_no_folder() -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x\n", space)
    assert cache_folder(space["f"]) is None


def test_unused_folders_are_removed_when_a_new_one_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path))
    long_ago = time.time() - 31 * 24 * 3600
    for name, used in (("old", long_ago), ("recent", time.time() - 29 * 24 * 3600)):
        (tmp_path / "compiled" / name).mkdir(parents=True)
        (tmp_path / "compiled" / name / "code.nbi").write_text("")
        os.utime(tmp_path / "compiled" / name, (used, used))
    os.utime(tmp_path, (long_ago, long_ago))
    mine = folder_of(double)
    assert sorted(path.name for path in mine.parent.iterdir()) == sorted(["recent", mine.name])
    os.utime(mine, (long_ago, long_ago))
    cache._open_folder.cache_clear()
    assert folder_of(double).stat().st_mtime > time.time() - 3600  # a use is noted


def test_a_folder_that_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").mkdir()
    os.utime(tmp_path / "old", (0, 0))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(os, "rmdir", refuse)
    remove_unused(tmp_path)
    assert (tmp_path / "old").is_dir()


def compilations(function: Any, *args: Any) -> tuple[Any, int]:
    """The result of a call, and how many functions were compiled for it."""
    listener = RecordingListener()
    with install_listener("numba:compile", listener):
        result = function(*args)
    return result, sum(event.is_start for _, event in listener.buffer)


def files(tmp_path: Path, ending: str) -> list[Path]:
    return sorted((tmp_path / "cache").rglob(f"*{ending}"))


@compiled_only
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("left", [0.0, 0.5, 0.99], ids=["empty", "half", "cut"])
def test_a_damaged_file_is_compiled_anew_and_kept(tmp_path: Path, ending: str, left: float) -> None:
    assert compilations(jit(double), 21) == (42, 1)
    assert compilations(jit(double), 21) == (42, 0)
    for file in files(tmp_path, ending):
        file.write_bytes(file.read_bytes()[: int(left * file.stat().st_size)])
    assert compilations(jit(double), 21) == (42, 1)
    assert compilations(jit(double), 21) == (42, 0)


@compiled_only
@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
def test_files_that_cannot_be_read_now_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Another process may read them, and no later start compiles again."""

    def fail(*_: object) -> Any:
        raise error

    jit(double)(21)
    jit(double)(2.5)
    with monkeypatch.context() as failing:
        failing.setattr(caching.IndexDataCacheFile, "load", fail)
        assert compilations(jit(double), 21) == (42, 1)
    assert compilations(jit(double), 21) == (42, 0)
    assert compilations(jit(double), 2.5) == (5.0, 0)


@compiled_only
def test_a_damaged_file_takes_all_files_of_its_source_with_it(tmp_path: Path) -> None:
    """An index that began anew would give a signature a data file that still has another's code."""
    jit(double)(21)
    jit(double)(2.5)
    (index,) = files(tmp_path, ".nbi")
    index.write_bytes(b"")
    assert compilations(jit(double), 2.5) == (5.0, 1)
    assert compilations(jit(double), 2.5) == (5.0, 0)
    assert [file.suffixes[-2] for file in files(tmp_path, ".nbc")] == [".1"]
    assert compilations(jit(double), 21) == (42, 1)
    assert compilations(jit(double), 2.5) == (5.0, 0)


@compiled_only
def test_two_processes_that_save_at_once_do_not_take_the_same_data_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits, after it has read the index, until the other has read it too; under the lock the other cannot."""
    functions = [jit(double), jit(double)]
    signatures = [(types.int64,), (types.float64,)]
    results = [numba.njit(double, _nrt=False).get_compile_result(types.int64(types.int64))]
    results.append(numba.njit(double, _nrt=False).get_compile_result(types.float64(types.float64)))
    meeting = threading.Barrier(2)
    save_index = caching.IndexDataCacheFile._save_index

    def meet_and_save(self: Any, overloads: Any) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):  # the other waits for the lock
            meeting.wait(timeout=0.5)
        save_index(self, overloads)

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_index", meet_and_save)
    saving = [
        threading.Thread(target=function._cache.save_overload, args=arguments)
        for function, *arguments in zip(functions, signatures, results, strict=True)
    ]
    for thread in saving:
        thread.start()
    for thread in saving:
        thread.join()
    names = functions[0]._cache._cache_file._load_index().values()
    assert len(set(names)) == len(names) == 2
    assert compilations(jit(double), 21) == (42, 0)
    assert compilations(jit(double), 2.5) == (5.0, 0)


FULL = OSError(errno.ENOSPC, "No space left on device")


def full(*_: object, **__: object) -> Any:
    raise FULL


@compiled_only
def test_code_that_does_not_fit_into_memory_as_a_pickle_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", fail)
    with pytest.warns(RuntimeWarning, match=r"compiles again: MemoryError$"):
        assert jit(double)(21) == 42


@compiled_only
@pytest.mark.parametrize("method", ["_save_index", "_save_data"])
def test_a_full_disk_is_told_once_and_the_code_runs(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(caching.IndexDataCacheFile, method, full)
    function = jit(double)
    with pytest.warns(RuntimeWarning, match=r"^Compiled code is not kept in .* compiles again: .*No space left"):
        assert function(21) == 42
    assert function(2.5) == 5.0  # without a second warning, which would be an error here


@compiled_only
@pytest.mark.parametrize("where", ["mkdir", "lock", "locator"])
def test_a_disk_that_is_full_before_the_first_file_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "mkdir":
        monkeypatch.setattr(Path, "mkdir", full)
    elif where == "lock":
        opened = Path.open

        def only_to_read(path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:
            return opened(path, mode, *rest, **options) if mode in ("r", "rb") else full()

        monkeypatch.setattr(Path, "open", only_to_read)
    else:  # numba would use another folder, which instances of a template share
        public = "UserProvidedCacheLocator"  # numba 0.60 has it with an underscore
        locator = getattr(caching, public if hasattr(caching, public) else f"_{public}")
        monkeypatch.setattr(locator, "ensure_cache_path", full)
    with pytest.warns(RuntimeWarning, match=r"^Compiled code is not kept in ") as warned:
        assert jit(double)(21) == 42
    assert len(warned) == 1
    monkeypatch.undo()
    assert not list(itertools.chain(tmp_path.rglob("*.nb?"), Path(__file__).parent.rglob("test_cache*.nb?")))


def test_numbas_setting_is_that_of_one_function_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Settings:
        CACHE_DIR = "the user's"

    class Function:
        _cache = None

        def __init__(self, fn: Any) -> None:
            self.py_func = fn

        def enable_caching(self) -> None:
            before = Settings.CACHE_DIR
            time.sleep(0.01)
            assert before == Settings.CACHE_DIR == str(tmp_path / self.py_func.__name__)
            raise OSError("nothing is written in this test")

    monkeypatch.setattr(cache, "cache_folder", lambda fn: tmp_path / fn.__name__)
    monkeypatch.setattr(cache, "warn_uncached", lambda folder, reason: None)
    functions = [double, compilations, full]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda fn: cache.keep_on_disk(Function(fn), Settings), functions))
    assert Settings.CACHE_DIR == "the user's"
