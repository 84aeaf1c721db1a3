"""Scripts as modules of this process, and their ``main`` run here: a process of its own would import numba and torch anew."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType


def run_main(main: Callable[[list[str]], object], *words: object) -> subprocess.CompletedProcess[str]:
    """Returns what ``main(words)`` exits with and prints; an exception other than ``SystemExit`` is raised."""
    arguments, out, err = [str(word) for word in words], io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(arguments)
        except SystemExit as stopped:
            status = stopped.code
            if isinstance(status, str):  # as the interpreter does
                print(status, file=err)
                status = 1
    return subprocess.CompletedProcess(arguments, status if isinstance(status, int) else 0, out.getvalue(), err.getvalue())


def load_script(path: Path, name: str) -> ModuleType:
    """Returns the file ``path``, which is in no package, as a new module called ``name``."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
