"""numba's cache on disk, made safe for several processes, damaged files and full disks.

numba writes an index and a data file one after the other, without a lock: two processes that add to one index at once can
give two signatures the same data file, and then one loads the other's code.
"""

from __future__ import annotations

import functools
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# the system's locks, which end with their process; the package filelock takes a third of a start's time to import
if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)

    def _unlock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


_warned = False


def lock_cache(cache: Any, folder: Path) -> None:
    """Makes ``cache``, a function's cache of numba or numba-cuda in ``folder``, a :class:`LockedCache`."""
    cache.folder = folder
    # a subclass of its own class, as numba-cuda asks for that
    cache.__class__ = type(f"Locked{type(cache).__name__}", (LockedCache, type(cache)), {})


class LockedCache:
    """The part of a cache that reads and writes under its folder's lock, and goes on without the folder where that fails.

    A file that cannot be read counts as absent, so its function is compiled again. Where nothing can be written, the code is
    only kept in memory, after one ``RuntimeWarning``.
    """

    folder: Path
    cache_path: str

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Returns the code for a signature, or None where there is none that can be read."""
        load: Callable[..., Any] = super().load_overload  # type: ignore[misc]

        def load_or_remove() -> Any:
            try:
                return load(sig, target_context)
            except (OSError, MemoryError):  # says nothing of the files
                return None
            except Exception:  # a damaged pickle can raise any
                # data files too: a new index numbers them from 1 again
                shutil.rmtree(self.cache_path, ignore_errors=True)
                return None

        return self._under_lock(load_or_remove)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps the code for a signature, if it can be written."""
        self._under_lock(functools.partial(super().save_overload, sig, data))  # type: ignore[misc]

    def _under_lock(self, work: Callable[[], Any]) -> Any:
        """Returns ``work()``, done while no other process reads or writes in the folder; None where a file or memory fails it."""
        try:
            with (self.folder / "lock").open("ab") as file:
                _lock(file.fileno())
                try:
                    return work()
                finally:
                    _unlock(file.fileno())  # closing is not enough where a forked process has the file open, too
        except (OSError, MemoryError) as error:
            warn_uncached(self.folder, str(error) or type(error).__name__)
            return None


def warn_uncached(folder: Path, reason: str) -> None:
    """Warns, once in a process, that ``folder`` does not keep compiled code."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(f"Compiled code is not kept in {folder}, so the next start compiles again: {reason}", RuntimeWarning, 2)
