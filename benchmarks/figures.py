"""Shared by all benchmarks: the machine, rates over several repeats, the JSON files of figures, and tables in the docs."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.rules_docs import markdown_table

ROOT = Path(__file__).resolve().parents[1]
TAKEN = ROOT / "benchmarks" / "taken"
"""The figures in the docs, from the last measurement: one file per command."""
PAGE = ROOT / "docs" / "lab" / "speed.md"


@dataclass(frozen=True)
class Spread:
    """The minimum, median and maximum over repeats."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Returns those of one or more values."""
        ordered = sorted(values)
        return cls(ordered[0], statistics.median(ordered), ordered[-1])

    @classmethod
    def of_ratios(cls, ours: Sequence[float], theirs: Sequence[float]) -> Spread:
        """Returns those of the ratios within each repeat: a slow phase of the machine slows both, which are timed in turn."""
        return cls.of(our / their for our, their in zip(ours, theirs, strict=True))


def in_words(value: float) -> str:
    """Formats a rate with a readable unit: three digits, rounded down."""
    size, unit = (value / 1e6, "M") if value >= 1e6 else (value / 1e3, "k")
    digits = 2 if size < 10 else 1 if size < 100 else 0
    cut = int(size * 10**digits) / 10**digits
    return f"{cut:.{digits}f} {unit}"


def in_times(value: float) -> str:
    """Formats a ratio, rounded down."""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{int(value * 10**digits) / 10**digits:,.{digits}f}"


def cpu_model() -> str:
    """Returns the processor's name."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def git(*arguments: str) -> str:
    """Returns the commit of this checkout; empty outside a git repository."""
    done = subprocess.run(["git", "-C", ROOT, *arguments], check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def where_and_when(*packages: str) -> dict[str, Any]:
    """Returns date, machine, versions and commit."""
    changed = bool(git("status", "--porcelain", "--untracked-files=no", "--", "nainjaune_env", "agents", "benchmarks/*.py"))
    return {
        "date": datetime.now().astimezone().isoformat(timespec="minutes"),
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": list(os.getloadavg()),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in ("numpy", "numba", *packages)},
        "commit": git("rev-parse", "--short=12", "HEAD") + ("+changes" if changed else ""),
    }


def in_a_sentence(about: dict[str, Any]) -> str:
    """Returns the same as text."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"{about['date'][:10]}, commit {about['commit'] or 'unknown'}, {about['cpu']} ({about['cores']} cores), "
        f"{about['system']}, Python {about['python']}, {versions}; load average before: {about['load_before'][0]:.2f}."
    )


def read(path: Path) -> dict[str, Any]:
    """Reads the figures of a file; empty where there is none."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return results


def write(path: Path, results: dict[str, Any]) -> None:
    """Writes figures to a file; after an error there is no partial file."""
    write_text(path, json.dumps(results, indent=1) + "\n")


def put_between(page: Path, name: str, text: str) -> None:
    """Writes ``text`` into ``page`` between the comments ``<!-- name -->`` and ``<!-- /name -->``; ValueError without them."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise ValueError(f"{page} has {begin} once, and {end} once after it, around what {name!r} tells; it has not.")
    head, rest = old.split(begin)
    tail = rest.split(end)[1]
    write_text(page, f"{head}{begin}\n\n{text.strip()}\n\n{end}{tail}")


def add_output_options(parser: argparse.ArgumentParser, name: str, plot: Path) -> None:
    """Adds ``--json``, ``--markdown``, ``--page`` and ``--plot``; ``name`` is the command's section of the page."""
    taken = TAKEN / f"{name}.json"
    parser.add_argument("--json", type=Path, default=taken, metavar="FILE", help=f"all figures (benchmarks/taken/{name}.json)")
    parser.add_argument("--markdown", action="store_true", help="put the tables into --page, and the plot where that shows it")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help="the page (docs/lab/speed.md)")
    where = f"draw the plot there (with --markdown {plot.relative_to(ROOT).as_posix()})"
    parser.add_argument("--plot", type=Path, metavar="FILE", help=where)


def publish(options: argparse.Namespace, name: str, report: str, draw: Callable[[Path], object], plot: Path) -> None:
    """Prints ``report``, and writes it and the plot to where the options of :func:`add_output_options` say."""
    print(report)
    if options.markdown:
        put_between(options.page, name, report)
    if options.plot or options.markdown:
        draw(options.plot or plot)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table without a final line break."""
    return markdown_table(list(head), [list(row) for row in rows]).rstrip("\n")
