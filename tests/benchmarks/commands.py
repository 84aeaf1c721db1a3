"""What the tests of the benchmarks share: their commands and their modules."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.support.script import run_main
from tests.support.source import ROOT

BENCHMARKS = ROOT / "benchmarks"


def command(script: str, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """``python benchmarks/<script>.py`` with these options, in this process."""
    return run_main(module(script).main, *options)


def module(name: str) -> ModuleType:
    """A file of ``benchmarks/``, imported as they import each other."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    return importlib.import_module(name)
