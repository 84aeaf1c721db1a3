"""Installs the wheel in an empty virtual environment for each extra: seconds, megabytes, and what a first step takes.

The wheel is built from this checkout, or taken from --dist. pip downloads what it does not have in its cache, so a second run is
faster than a first. Megabytes are those of all files that are installed, byte code included, without pip's. The import and the
first step (`gymnasium.make`, `reset`, `step`) are seconds of the processor in a process of their own; the cache of compiled code
is empty at the first step, and filled at the next start's.

  python benchmarks/installs.py                                        each extra for users
  python benchmarks/installs.py --extras none sb3 --markdown           these two, and into docs/lab/speed.md
  python benchmarks/installs.py --dist dist --extras none --check      also whether what is installed works (install_check.py)

Measuring needs nothing but Python, also on Windows; writing the page needs this package.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CHECK = ROOT / "benchmarks" / "install_check.py"
NONE = "none"
EXTRAS = (
    NONE, "numba", "players", "report", "train", "onnx", "sb3", "openspiel", "torchrl", "render", "study", "serve", "chat", "mcp",
    "ray", "optuna", "wandb", "mlflow", "notebooks", "all",
)  # fmt: skip
"""The extras for users; ``none`` is the package alone."""
PROGRAM = """
import time
import gymnasium, nainjaune_env
imported = time.process_time()
env = gymnasium.make("NainJaune-v0", preset="djeco", players=4)
_, info = env.reset(seed=1)
env.step(info["action_mask"].argmax())
print(imported, time.process_time() - imported)
"""


def run(*words: str | Path, folder: Path, **variables: str) -> str:
    """Returns what a program prints that is run in ``folder``; a failure ends this one, with what it said."""
    variables = {**os.environ, **variables}
    done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} ended with the status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def megabytes(folder: Path) -> float:
    """Returns the size of all files below ``folder``, in MB of 10**6 bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def wheels(dist: Path | None, folder: Path) -> Path:
    """Returns the folder of the wheels: ``dist``, or one below ``folder`` with that built from this checkout."""
    if dist is None:
        dist = folder / "dist"
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", dist, ROOT, folder=folder)
    if not list(dist.glob("nainjaune_env-*.whl")):
        raise SystemExit(f"There is no wheel of nainjaune-env in {str(dist)!r}; `make dist` puts one into dist.")
    return dist.resolve()


def installed(extra: str, dist: Path, constraint: Path | None, check: bool) -> dict[str, Any]:
    """Returns what is measured of the package with ``extra``, in a new environment, which is removed."""
    version = next(dist.glob("nainjaune_env-*.whl")).name.split("-")[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
        python = next(
            path for path in (folder / "venv" / "Scripts" / "python.exe", folder / "venv" / "bin" / "python") if path.exists()
        )
        before = megabytes(folder / "venv")
        extras = [] if extra == NONE else [extra]
        if all(wheel.name.endswith("-none-any.whl") for wheel in dist.glob("nainjaune_env-*.whl")):
            extras.append("numba")  # a wheel for all machines has no compiled loops
        package = f"nainjaune-env[{','.join(extras)}]=={version}"
        limits = () if constraint is None else ("--constraint", constraint.resolve())
        begun = time.perf_counter()
        run(python, "-m", "pip", "install", "--quiet", "--find-links", dist, *limits, package, folder=folder)
        row = {"extra": extra, "install": time.perf_counter() - begun, "megabytes": megabytes(folder / "venv") - before}
        cache = {"NAINJAUNE_CACHE": str(folder / "cache"), "NAINJAUNE_QUIET": "1"}
        for first, imported in (("first", "import"), ("next", "")):
            times = [float(text) for text in run(python, "-c", PROGRAM, folder=folder, **cache).split()]
            row |= {first: times[1]} | ({imported: times[0]} if imported else {})
        if check:
            print(
                run(python, "-P", CHECK, *(() if extra == NONE else extra.split(",")), folder=folder, **cache), end="", flush=True
            )
    return row


def line(row: dict[str, Any]) -> str:
    """Returns a row as text."""
    return (
        f"{row['extra']:12} installed in {row['install']:6.1f} s, {row['megabytes']:7.1f} MB; import {row['import']:.2f} s, "
        f"first step {row['first']:.2f} s, next start's {row['next']:.2f} s"
    )


def report(results: dict[str, Any]) -> str:
    """Returns the table as Markdown."""
    import figures  # needs this package, and measuring does not

    head = ["extra", "s to install", "MB", "import, s", "first step, s", "the next start's, s"]
    rows = [
        [
            "none" if row["extra"] == NONE else f"`{row['extra']}`", f"{row['install']:.1f}", f"{row['megabytes']:,.0f}",
            *(f"{row[name]:.2f}" for name in ("import", "first", "next")),
        ]
        for row in results["rows"]
    ]  # fmt: skip
    return f"{figures.in_a_sentence(results['about'])}\n\n{figures.table(head, rows)}"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", nargs="+", default=EXTRAS, metavar="EXTRA", help="extras, or some with commas between them")
    parser.add_argument("--dist", type=Path, metavar="DIR", help="the folder of the wheels (default: one is built)")
    parser.add_argument("--constraint", type=Path, metavar="FILE", help="versions, as pip's --constraint takes them")
    parser.add_argument("--check", action="store_true", help="also check that what is installed works")
    parser.add_argument("--markdown", action="store_true", help="keep the figures, and put the table into --page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures (benchmarks/taken/installs.json)")
    parser.add_argument("--page", type=Path, metavar="FILE", help="the page (docs/lab/speed.md)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Measures, and prints a line an extra."""
    options = parse(arguments)
    with tempfile.TemporaryDirectory() as name:
        dist, rows = wheels(options.dist, Path(name)), []
        for extra in options.extras:
            rows.append(installed(extra, dist, options.constraint, options.check))
            print(line(rows[-1]), flush=True)
    if options.markdown:
        import figures  # likewise

        results = {"about": figures.where_and_when(), "rows": rows}
        figures.write(options.json or figures.TAKEN / "installs.json", results)
        figures.put_between(options.page or figures.PAGE, "installs", report(results))


if __name__ == "__main__":
    main()
