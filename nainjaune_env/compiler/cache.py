"""numba's cache on disk: a private folder for each module, safe for several processes, damaged files and full disks.

numba writes an index and a data file one after the other, without a lock: two processes that add to one index at once can
give two signatures the same data file, and then one loads the other's code. So both are read and written under a lock.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import shutil
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from nainjaune_env.compiler.sources import resolved, source_hash

# the system's locks, which end with their process; the package filelock takes a third of a start's time to import
if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        while True:
            try:
                return msvcrt.locking(file, msvcrt.LK_LOCK, 1)
            except OSError as error:  # it gives up after ten seconds, and another process may compile for longer
                if error.errno != errno.EDEADLK:
                    raise

    def _unlock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


UNUSED_DAYS = 30
"""Folders that no process has used for this many days are removed."""

RELATIVE = "NAINJAUNE_CACHE is the path of a folder from the root on, as each working folder would have its own code."


def cache_folder(fn: Callable[..., Any]) -> Path | None:
    """The folder for the compiled code of the module of ``fn``, made where it does not exist.

    Returns None where none can be used.

    Each instance of a template has a folder of its own: numba tells functions in a cache apart by file and line, which instances
    share, so that two games would load each other's code. The parent is :func:`cache_root`. Its files are pickles, which can run
    any code when they are loaded: a folder is used only if it and those in it belong to the user and nobody else can write to
    them. A ``RuntimeWarning`` names one that fails this, or a full disk.
    """
    return _open_folder(cache_root(), fn.__module__, resolved(fn.__code__.co_filename))


def cache_root() -> Path:
    """The folder that ``NAINJAUNE_CACHE`` names; by default ``nainjaune-env`` in ``XDG_CACHE_HOME`` or ``~/.cache``.

    An empty variable counts as unset, as does a relative ``XDG_CACHE_HOME``, which its specification calls invalid.
    """
    root = os.environ.get("NAINJAUNE_CACHE")
    if root:
        return Path(root)
    caches = os.environ.get("XDG_CACHE_HOME", "")
    return Path(caches if os.path.isabs(caches) else os.path.expanduser("~/.cache"), "nainjaune-env")


@functools.cache
def _open_folder(root: Path, module: str, file: Path) -> Path | None:
    if not file.is_file():  # typed at a prompt, or executed from a string
        return None
    if not root.is_absolute():
        warn_uncached(root, RELATIVE)
        return None
    names = hashlib.sha256(f"{module} {source_hash(file, sys.modules.get(module))}".encode())
    folder = root / "compiled" / f"{file.stem}-{names.hexdigest()[:16]}"  # short: Windows refuses a path of 260 characters
    try:
        fresh = not folder.exists()
        root.parent.mkdir(parents=True, exist_ok=True)
        for place in chain((root, folder.parent, folder), folder.glob("**/")):  # with numba's own, of the pickles
            if open_to := _made_private(place):
                warn_uncached(place, open_to)
                return None
        if fresh:
            remove_unused(folder.parent)
        os.utime(folder)  # its last use
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            warn_uncached(folder, str(error))
        return None
    return folder if os.access(folder, os.W_OK) else None


def why_not_kept() -> str:
    """Says why compiled code is not kept on disk, in :func:`cache_root`; empty where it is."""
    root = cache_root()
    if not root.is_absolute():
        return f"{root}: {RELATIVE}"
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        for place in (root, root / "compiled"):
            if open_to := _made_private(place):
                return f"{place}: {open_to}"
            if not os.access(place, os.W_OK):
                return f"{place}: it cannot be written to."
    except OSError as error:
        return f"{error}. NAINJAUNE_CACHE can name another folder."
    return ""


def _made_private(place: Path) -> str:
    """Makes the folder where it does not exist; returns :func:`_open_to_others` of it."""
    place.mkdir(mode=0o700, exist_ok=True)
    return _open_to_others(place)


def _open_to_others(folder: Path) -> str:
    """Says why files in ``folder`` may be somebody else's; empty where they are the user's."""
    if sys.platform == "win32":  # folders of a user's profile are private there, and modes say nothing
        return ""
    about = folder.stat()
    if about.st_uid != os.geteuid():
        return "the folder belongs to another user. NAINJAUNE_CACHE can name another one."
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to it. Empty it, and make it yours alone: chmod 700 {folder}"
    return ""


def remove_unused(parent: Path) -> None:
    """Removes the folders in ``parent`` that were last used more than ``UNUSED_DAYS`` ago; one that cannot be removed stays."""
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    for folder in parent.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process removes it at the same time
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


_SETTING = threading.Lock()
"""Held while numba's setting ``CACHE_DIR`` is ours. No other lock is taken within it: functions are compiled outside."""


def keep_on_disk(dispatcher: Any, settings: Any) -> None:
    """Has ``dispatcher`` keep its code in the :func:`cache_folder` of its function, or warns where it cannot.

    ``settings`` are numba's or numba-cuda's, whichever made the dispatcher.
    """
    folder = cache_folder(dispatcher.py_func)
    if folder is None:
        return
    uncached = dispatcher._cache
    try:
        with _SETTING:
            before = settings.CACHE_DIR
            settings.CACHE_DIR = str(folder)  # numba reads it when a cache is made
            try:
                dispatcher.enable_caching()
            finally:
                settings.CACHE_DIR = before
        numba_folder = Path(dispatcher._cache.cache_path)
        if not numba_folder.is_relative_to(folder):  # numba's own choice, which instances would share
            raise RuntimeError(f"numba keeps it in {numba_folder}")
        numba_folder.chmod(
            0o700
        )  # numba makes it as the umask says, and the next start refuses a folder that others can write to
    except (OSError, RuntimeError) as error:  # nothing can be written
        dispatcher._cache = uncached
        warn_uncached(folder, str(error))
    else:
        _lock_cache(dispatcher._cache, folder)


def _lock_cache(cache: Any, folder: Path) -> None:
    """Has ``cache`` read and write under the lock of ``folder``.

    A file that cannot be read counts as absent, so its function is compiled again. Where nothing can be written, the code is
    only kept in memory, after one ``RuntimeWarning``.
    """
    load, save = cache.load_overload, cache.save_overload

    def load_or_remove(sig: Any, target_context: Any) -> Any:
        try:
            return load(sig, target_context)
        except (OSError, MemoryError):  # says nothing of the files
            return None
        except Exception:  # a damaged pickle can raise any
            # data files too: a new index numbers them from 1 again
            shutil.rmtree(cache.cache_path, ignore_errors=True)
            return None

    cache.load_overload = functools.partial(_under_lock, folder, load_or_remove)
    cache.save_overload = functools.partial(_under_lock, folder, save)


def _under_lock(folder: Path, work: Callable[..., Any], *arguments: Any) -> Any:
    """Returns ``work(*arguments)``, done while no other process uses ``folder``; None where a file or memory fails it."""
    try:
        with (folder / "lock").open("ab") as file:
            _lock(file.fileno())
            try:
                return work(*arguments)
            finally:
                _unlock(file.fileno())  # closing is not enough where a forked process has the file open, too
    except (OSError, MemoryError) as error:
        warn_uncached(folder, str(error) or type(error).__name__)
        return None


_warned = False


def warn_uncached(folder: Path, reason: str) -> None:
    """Warns, once in a process, that ``folder`` does not keep compiled code."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(f"Compiled code is not kept in {folder}, so the next start compiles again: {reason}", RuntimeWarning, 2)
