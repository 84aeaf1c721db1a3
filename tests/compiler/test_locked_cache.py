"""The cache on disk where processes meet, files are damaged and disks are full."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import caching, types
from numba.core.event import RecordingListener, install_listener

from nainjaune_env.compiler import code_cache, locked_cache
from nainjaune_env.compiler.jit import JIT_ENABLED, jit

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")


def double(x: int) -> int:
    return x + x


@pytest.fixture(autouse=True)
def _no_warning_yet(empty_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locked_cache, "_warned", False)


def compilations(function: Any, *args: Any) -> tuple[Any, int]:
    """The result of a call, and how many functions were compiled for it."""
    listener = RecordingListener()
    with install_listener("numba:compile", listener):
        result = function(*args)
    return result, sum(event.is_start for _, event in listener.buffer)


def files(tmp_path: Path, ending: str) -> list[Path]:
    return sorted((tmp_path / "cache").rglob(f"*{ending}"))


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("left", [0.0, 0.5, 0.99], ids=["empty", "half", "cut"])
def test_a_damaged_file_is_compiled_anew_and_kept(tmp_path: Path, ending: str, left: float) -> None:
    assert compilations(jit(double), 21) == (42, 1)
    assert compilations(jit(double), 21) == (42, 0)
    for file in files(tmp_path, ending):
        file.write_bytes(file.read_bytes()[: int(left * file.stat().st_size)])
    assert compilations(jit(double), 21) == (42, 1)
    assert compilations(jit(double), 21) == (42, 0)


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


def test_code_that_does_not_fit_into_memory_as_a_pickle_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", fail)
    with pytest.warns(RuntimeWarning, match=r"compiles again: MemoryError$"):
        assert jit(double)(21) == 42


@pytest.mark.parametrize("method", ["_save_index", "_save_data"])
def test_a_full_disk_is_told_once_and_the_code_runs(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(caching.IndexDataCacheFile, method, full)
    function = jit(double)
    with pytest.warns(RuntimeWarning, match=r"^Compiled code is not kept in .* compiles again: .*No space left"):
        assert function(21) == 42
    assert function(2.5) == 5.0  # without a second warning, which would be an error here


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
    assert not list(itertools.chain(tmp_path.rglob("*.nb?"), Path(__file__).parent.rglob("test_locked_cache*.nb?")))


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing there")
def test_the_folder_with_the_pickles_is_the_users_alone(tmp_path: Path) -> None:
    before = os.umask(0o002)  # the default of many systems
    try:
        jit(double)(21)
    finally:
        os.umask(before)
    (pickles,) = {file.parent for file in files(tmp_path, ".nbc")}
    assert pickles.stat().st_mode & 0o777 == 0o700
    pickles.chmod(0o777)
    code_cache._open_folder.cache_clear()
    with pytest.warns(RuntimeWarning, match=rf"not kept in {pickles}, .*others can write to it\."):
        assert compilations(jit(double), 21) == (42, 1)
