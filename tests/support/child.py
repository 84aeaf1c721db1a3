"""Python in a process of its own, for what is settled when it starts: whether the compiler is on."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from typing import Any

from tests.support.example import run_example
from tests.support.source import ROOT


def compiled_and_plain(code: str) -> tuple[Any, Any]:
    """The JSON that ``code`` prints in this process, and in one without the compiler, where warnings are errors."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run_example(code, "in this process")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(printed.getvalue()), json.loads(done.stdout)
