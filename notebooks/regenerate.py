"""Run notebooks and store their figures: `make notebooks`.

  python notebooks/regenerate.py                      # all of them, at full size
  python notebooks/regenerate.py tour memory          # those whose names contain one of these words
  python notebooks/regenerate.py --small --into out   # as the tests do: seconds, into another folder

A notebook runs from its top in a process of its own. It is written at its end, whole or not at all, with the outputs of its
cells and nothing that another run would change: no execution counts, no times. Its metadata has the size of the run and a digest
of the code; a test compares the digest with the code in the notebook.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from nainjaune_env.core.atomic_files import write_text

FOLDER = Path(__file__).resolve().parent
MARK = "nainjaune"
"""The key of our part of a notebook's metadata."""

SETUP = """\
# On Colab, install the package; elsewhere do nothing
import sys

if "google.colab" in sys.modules:
    !git clone --quiet --depth 1 https://github.com/OWNER/nainjaune-env
    %pip install --quiet "./nainjaune-env[numba,{extra}]"
    %cd nainjaune-env/notebooks
    %env NAINJAUNE_NOTEBOOKS=small"""
"""The first code cell of every notebook. No figure depends on it, so it is not in the digest."""
WITH_TORCH = ("02_train_and_rate", "08_algorithms")
"""Notebooks that need torch: they install more on Colab, and do not run on Binder."""


def main(words: list[str] | None = None) -> int:
    """Runs the command. Returns 1 if a cell fails, after printing which."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="WORD", help="part of a notebook's name (none: all)")
    parser.add_argument("--small", action="store_true", help="small amounts, only to see that it runs")
    parser.add_argument("--into", type=Path, help="folder for the notebooks and for cached work (default: their own folder)")
    args = parser.parse_args(words)
    if args.small and args.into is None:
        parser.error("--small needs --into FOLDER: figures of small runs do not replace the full ones.")
    paths = [path for path in notebooks() if not args.names or any(word in path.stem for word in args.names)]
    if not paths:
        names = ", ".join(path.stem for path in notebooks())
        parser.error(f"No notebook has {' or '.join(map(repr, args.names))} in its name: {names}.")
    os.environ["NAINJAUNE_NOTEBOOKS"] = size = "small" if args.small else "full"
    if args.into is not None:
        os.environ["NAINJAUNE_NOTEBOOKS_KEPT"] = str(args.into.resolve() / "kept")
    os.environ["TQDM_DISABLE"] = "1"  # a progress bar would be stored, with times
    os.environ["NAINJAUNE_QUIET"] = "1"  # and so would the notice of compilation, with a path
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # two beside another busy process are many times slower
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        try:
            execute(notebook, path.stem, size)
        except CellExecutionError as error:
            print(f"\n{error}", file=sys.stderr)
            return 1
        write_text((args.into or path.parent) / path.name, text_of(notebook))
    return 0


def notebooks() -> list[Path]:
    """Returns the paths of all notebooks, in order."""
    return sorted(FOLDER.glob("[0-9]*.ipynb"))


def setup_of(name: str) -> str:
    """Returns the first code cell of the notebook ``name``."""
    return SETUP.format(extra="notebooks,openspiel" if name in WITH_TORCH else "players,study")


def execute(notebook: nbformat.NotebookNode, name: str, size: str) -> None:
    """Runs ``notebook`` in place, prints the progress, and sets its metadata.

    Raises :class:`CellExecutionError` if a cell fails.
    """
    code = sum(one.cell_type == "code" for one in notebook.cells)
    began, done = time.monotonic(), 0

    def progress(**_: Any) -> None:
        nonlocal done
        done += 1
        print(f"\r{name}: {done} of {code} cells, {time.monotonic() - began:.0f} s", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:
        client(notebook, Path(folder), progress).execute()
    print(file=sys.stderr)
    for one in notebook.cells:
        one.metadata.clear()
        if one.cell_type == "code":
            one.execution_count = None
            for output in one.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = None
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            MARK: {"code": code_digest(notebook), "size": size},
        }
    )


def client(notebook: nbformat.NotebookNode, folder: Path, progress: Callable[..., None]) -> NotebookClient:
    """Returns a client that runs ``notebook`` in the notebooks' folder.

    On POSIX systems its kernel is reached through sockets in ``folder``, because other users of the machine could reach a port.
    """
    pipes = {"transport": "ipc", "ip": str(folder / "kernel")} if os.name == "posix" else {}
    return NotebookClient(
        notebook,
        timeout=None,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(FOLDER)}},
        on_cell_complete=progress,
        config=Config(KernelManager=pipes),
    )


def code_digest(notebook: nbformat.NotebookNode) -> str:
    """Returns the SHA-256 digest of all code cells but that of ``SETUP``, as 64 hexadecimal digits."""
    head = SETUP.partition("\n")[0]
    text = "\0".join(one.source for one in notebook.cells if one.cell_type == "code" and not one.source.startswith(head))
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(notebook: nbformat.NotebookNode) -> str:
    """Returns the text of a notebook's file."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


if __name__ == "__main__":
    sys.exit(main())
