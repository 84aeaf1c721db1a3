"""What every benchmark shares: where it ran, rates of several repeats, figures in a file, and tables of them in the docs."""

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
"""Figures that the docs show, as they were taken last: a file for each command."""
PAGE = ROOT / "docs" / "speed.md"


@dataclass(frozen=True)
class Spread:
    """The least, the median and the most of some repeats."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Of one or more values."""
        found = sorted(values)
        return cls(found[0], statistics.median(found), found[-1])

    @classmethod
    def of_ratios(cls, ours: Sequence[float], theirs: Sequence[float]) -> Spread:
        """Of the ratios within each repeat, in which both were timed in turn: what slows the machine for a while slows both."""
        return cls.of(our / their for our, their in zip(ours, theirs, strict=True))


def in_words(value: float) -> str:
    """A rate with a unit fit for people: three figures, cut off and never rounded up."""
    size, unit = (value / 1e6, "M") if value >= 1e6 else (value / 1e3, "k")
    digits = 2 if size < 10 else 1 if size < 100 else 0
    cut = int(size * 10**digits) / 10**digits
    return f"{cut:.{digits}f} {unit}"


def in_times(value: float) -> str:
    """A ratio, cut off and never rounded up."""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{int(value * 10**digits) / 10**digits:,.{digits}f}"


def cpu_model() -> str:
    """What the processor calls itself."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def git(*arguments: str) -> str:
    """What git says of this checkout; nothing where it is none."""
    done = subprocess.run(["git", "-C", ROOT, *arguments], check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def where_and_when(*packages: str) -> dict[str, Any]:
    """Date, machine, versions and commit: what a figure means nothing without."""
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
    """The same for people."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"{about['date'][:10]}, commit {about['commit'] or 'unknown'}, {about['cpu']} ({about['cores']} cores), "
        f"{about['system']}, Python {about['python']}, {versions}; load average before: {about['load_before'][0]:.2f}."
    )


def read(path: Path) -> dict[str, Any]:
    """The figures of a file; none where there is no file."""
    held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return held


def write(path: Path, held: dict[str, Any]) -> None:
    """Figures into a file, whole or not at all."""
    write_text(path, json.dumps(held, indent=1) + "\n")


def put_between(page: Path, name: str, text: str) -> None:
    """``text`` into ``page``, between the comments ``<!-- name -->`` and ``<!-- /name -->``; ValueError where they are not."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise ValueError(f"{page} has {begin} once, and {end} once after it, around what {name!r} tells; it has not.")
    head, rest = old.split(begin)
    tail = rest.split(end)[1]
    write_text(page, f"{head}{begin}\n\n{text.strip()}\n\n{end}{tail}")


def add_output_options(parser: argparse.ArgumentParser, name: str, plot: Path) -> None:
    """``--json``, ``--markdown``, ``--page`` and ``--plot``: where figures go. ``name`` is the command's part of the page."""
    taken = TAKEN / f"{name}.json"
    parser.add_argument("--json", type=Path, default=taken, metavar="FILE", help=f"all figures (benchmarks/taken/{name}.json)")
    parser.add_argument("--markdown", action="store_true", help="put the tables into --page, and the plot where that shows it")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help="the page (docs/speed.md)")
    where = f"draw the plot there (with --markdown {plot.relative_to(ROOT).as_posix()})"
    parser.add_argument("--plot", type=Path, metavar="FILE", help=where)


def tell(options: argparse.Namespace, name: str, told: str, draw: Callable[[Path], object], plot: Path) -> None:
    """Print what is ``told``, and put it and the plot where the options of :func:`add_output_options` say."""
    print(told)
    if options.markdown:
        put_between(options.page, name, told)
    if options.plot or options.markdown:
        draw(options.plot or plot)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of the docs, without a line's end after it."""
    return markdown_table(list(head), [list(row) for row in rows]).rstrip("\n")
