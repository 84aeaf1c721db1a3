"""What the notebooks share: how much is played, what is kept between runs, and how figures look.

A notebook says every amount twice, ``sized(full, small)``. The environment variable ``NAINJAUNE_NOTEBOOKS`` chooses: ``full``,
unless told otherwise, is what figures are taken from; ``small`` is for the tests, which only see that everything runs.

What takes long is kept in ``runs/notebooks`` (or ``NAINJAUNE_NOTEBOOKS_KEPT``) under a name made of its settings, whole or not
at all: a notebook that was interrupted, or whose figures are drawn anew, goes on from there. Delete the folder to begin again,
as one must after a change of the rules or of an agent.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython.display import Markdown, display

from nainjaune_agents.arena.duplicate import Duplicate, Edge
from nainjaune_agents.cli.main import main as nainjaune
from nainjaune_agents.loading import load_agent, use_threads
from nainjaune_agents.report.format_ci import format_ci
from nainjaune_agents.stats.intervals import Moments
from nainjaune_agents.stats.ratio_estimate import Estimate
from nainjaune_env import make_setup
from nainjaune_env.core import atomic_files
from nainjaune_env.core.errors import ConfigError, choose_one
from nainjaune_env.core.spec import Setup

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
SIZES = ("full", "small")

warnings.simplefilter("error")  # as in the tests
warnings.filterwarnings("ignore", module="ipykernel")  # what runs the notebook, and no part of it
use_threads(1)

matplotlib.use("agg")
COLOURS = ("#1f6f8b", "#d1495b", "#edae49", "#66a182", "#6a4c93", "#8d6b4f", "#2e4057")
plt.rcParams.update(
    {
        "figure.figsize": (7.2, 4.0),
        "figure.dpi": 110,
        "figure.constrained_layout.use": True,
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "errorbar.capsize": 3,
        "legend.frameon": False,
        "axes.prop_cycle": cycler(color=COLOURS),
    }
)


@cache
def size() -> str:
    """How much is played: ``full`` or ``small``. Raises :class:`ConfigError` where the environment says anything else."""
    chosen = os.environ.get("NAINJAUNE_NOTEBOOKS", SIZES[0])
    if chosen not in SIZES:
        raise ConfigError(choose_one("value of NAINJAUNE_NOTEBOOKS", chosen, SIZES))
    return chosen


def sized(full: T, small: T) -> T:
    """The one that is asked for."""
    return full if size() == "full" else small


def kept_at(kind: str, **settings: Any) -> Path:
    """Where work of a ``kind`` with these settings is kept: they are in its name by a digest."""
    folder = Path(os.environ.get("NAINJAUNE_NOTEBOOKS_KEPT", ROOT / "runs" / "notebooks"))
    text = json.dumps(settings, sort_keys=True)
    return folder / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def kept(work: Callable[..., Any], **settings: Any) -> Any:
    """What ``work(**settings)`` gave, now or in an earlier run; it gives what JSON can hold, and is given such too.

    A change of the function's own text makes it work again; a change of what it calls does not.
    """
    path = kept_at(work.__name__, settings=settings, work=inspect.getsource(work)).with_suffix(".json")
    if not path.exists():
        atomic_files.write_text(path, json.dumps({"settings": settings, "result": work(**settings)}))
    return json.loads(path.read_text(encoding="utf-8"))["result"]


def study(*words: str) -> Path:
    """The folder of the study that ``nainjaune study WORDS --out FOLDER`` writes (docs/study.md)."""
    path = kept_at("study", words=words)
    if not path.exists():
        _command("study", *words, "--out", str(path))
    return path


def trained(config: str, **settings: Any) -> Path:
    """The run of ``nainjaune train CONFIG --set KEY=VALUE … --out RUN``; one that was interrupted goes on.

    ``config`` is a file by its path from the root of the repository.
    """
    path = kept_at("run", config=config, text=(ROOT / config).read_text(encoding="utf-8"), **settings)
    done = path / "trained"
    if not done.exists():
        sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        resume = ["--resume"] if (path / "config.yaml").exists() else []
        _command("train", str(ROOT / config), *sets, *resume, "--out", str(path))
        done.touch()
    return path


def _command(*words: str) -> None:
    """A command of ours without what it prints: paths and times are no part of a notebook."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = nainjaune(list(words))
    if code:
        raise ConfigError(f"nainjaune {' '.join(words)} ended with {code}: {said.getvalue()}")


def edge(hero: str, field: str, setup: Setup, *, deals: int, seed: int) -> Estimate:
    """What ``hero`` makes a round over ``field`` in a field of it (docs/evaluation.md), with half of its 95 % interval."""
    found = kept(duplicate_edge, hero=hero, field=field, setup=setup.to_dict(), deals=deals, seed=seed)
    return Estimate(*found)


def duplicate_edge(hero: str, field: str, setup: dict[str, Any], deals: int, seed: int) -> tuple[float, float]:
    """The same for :func:`kept`."""
    table = setup_of(setup)
    found = Duplicate(table, [load_agent(hero, table), load_agent(field, table)], seed=seed).edge(0, 1, deals)
    return found.mean, found.ci95


def setup_of(told: dict[str, Any]) -> Setup:
    """The setup that :meth:`Setup.to_dict` told of."""
    return make_setup(told["game"], preset=told["preset"], players=told["players"], **told["rules"])


def mean_of(values: Sequence[float] | np.ndarray[Any, Any]) -> Estimate:
    """The mean of independent values with half of its 95 % interval."""
    moments = Moments()
    moments.add(values)
    return Estimate(moments.mean, moments.half_width)


def show(picture: matplotlib.figure.Figure | str, told: str) -> None:
    """Display a figure, or a picture that is SVG; ``told`` is what it shows in words, for who cannot see it.

    The bytes are the same each time: no date and no version is written into them.
    """
    if isinstance(picture, str):
        display({"image/svg+xml": picture, "text/plain": told}, raw=True)
        return
    pixels = io.BytesIO()
    picture.savefig(pixels, format="png", metadata={"Software": None})
    plt.close(picture)
    display({"image/png": pixels.getvalue(), "text/plain": told}, raw=True)


def say(text: str) -> None:
    """Display Markdown: a sentence with figures in it, so that they are those that were found."""
    display(Markdown(text))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Display a table; an estimate in it, or an edge, as figure and interval."""
    lines = [head, ["---"] * len(head), *rows]
    display(Markdown("\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)))


def cell(value: object) -> str:
    """What stands in a table."""
    return signed(value) if isinstance(value, Estimate | Edge) else str(value)


def signed(found: Estimate | Edge) -> str:
    """``+0.25 ± 0.04``."""
    return format_ci(Estimate(found.mean, found.ci95), "", signed=True)
