"""A notebook's cells, run one after the other in this process, on small settings: a kernel of its own takes seconds to start."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from tests.support.script import load_script
from tests.support.source import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.ipynb"))


@cache
def regenerate() -> ModuleType:
    """``notebooks/regenerate.py``."""
    return load_script(FOLDER / "regenerate.py", "notebooks_regenerate")


def kinds(outputs: list[dict[str, Any]]) -> list[list[str]]:
    """What a cell shows, by kind: the MIME types of each output, or the name of a stream."""
    return sorted(sorted(output.get("data", [output.get("name")])) for output in outputs)


def run_cells(path: Path, kept: Path) -> Iterator[tuple[list[list[str]], list[list[str]]]]:
    """Runs the code cells of a notebook; yields for each the :func:`kinds` that are stored in it and those that it shows."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    with _shell(kept) as shell:
        for cell in cells:
            with capture_output() as shown:
                result = shell.run_cell("".join(cell["source"]))
            result.raise_error()
            assert shown.stderr == ""
            matches = [{"data": output.data} for output in shown.outputs]
            yield kinds(cell["outputs"]), kinds([*matches, *([{"name": "stdout"}] if shown.stdout else [])])


@contextmanager
def as_in_a_notebook(kept: Path, size: str = "small") -> Iterator[None]:
    """In the notebooks' folder, where ``workbench`` is imported anew and keeps its work in ``kept``; nothing of it stays."""
    with pytest.MonkeyPatch.context() as patch, matplotlib.rc_context():
        patch.setenv("NAINJAUNE_NOTEBOOKS", size)
        patch.setenv("NAINJAUNE_NOTEBOOKS_KEPT", str(kept))
        patch.syspath_prepend(FOLDER)
        patch.chdir(FOLDER)
        patch.delitem(sys.modules, "workbench", raising=False)
        try:
            yield
        finally:
            sys.modules.pop("workbench", None)


@contextmanager
def _shell(kept: Path) -> Iterator[InteractiveShell]:
    with pytest.MonkeyPatch.context() as patch, as_in_a_notebook(kept):
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # IPython puts its own there
        try:
            yield InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
        finally:
            InteractiveShell.clear_instance()
