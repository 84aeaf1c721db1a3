"""Functions that the notebooks share: amounts of play, a cache between runs, and the look of figures.

A notebook gives every amount twice, ``sized(full, small)``. The environment variable ``NAINJAUNE_NOTEBOOKS`` chooses: ``full``,
the default, for the figures; ``small`` for the tests, which only check that everything runs.

Slow work is cached in ``runs/notebooks`` (or ``NAINJAUNE_NOTEBOOKS_KEPT``) under a name made of its settings, whole or not at
all: an interrupted notebook continues from there, and figures can be redrawn. Delete the folder to start again; this is necessary
after a change of the rules or of an agent.
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

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.cli.main import main as nainjaune
from nainjaune_agents.measure.edges import Edge, FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.report.format_ci import format_ci
from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup
from nainjaune_env.core import atomic_files
from nainjaune_env.core.errors import ConfigError, unknown_name_message
from nainjaune_env.core.spec import Setup

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
SIZES = ("full", "small")

warnings.simplefilter("error")  # as in the tests
warnings.filterwarnings("ignore", module="ipykernel")  # it runs the notebook and is no part of it
set_torch_threads(1)

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
    """Returns the size of the run, ``full`` or ``small``. Raises :class:`ConfigError` if the environment has another value."""
    chosen = os.environ.get("NAINJAUNE_NOTEBOOKS", SIZES[0])
    if chosen not in SIZES:
        raise ConfigError(unknown_name_message("value of NAINJAUNE_NOTEBOOKS", chosen, SIZES))
    return chosen


def sized(full: T, small: T) -> T:
    """Returns the amount for the size of this run."""
    return full if size() == "full" else small


def kept_at(kind: str, **settings: Any) -> Path:
    """Returns the cache path of work of a ``kind`` with these settings, whose digest is in the name."""
    folder = Path(os.environ.get("NAINJAUNE_NOTEBOOKS_KEPT", ROOT / "runs" / "notebooks"))
    text = json.dumps(settings, sort_keys=True)
    return folder / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def kept(work: Callable[..., Any], **settings: Any) -> Any:
    """Returns the result of ``work(**settings)``, computed now or in an earlier run; arguments and result are JSON values.

    A change of the function's own source computes it again; a change of the functions that it calls does not.
    """
    path = kept_at(work.__name__, settings=settings, work=inspect.getsource(work)).with_suffix(".json")
    if not path.exists():
        atomic_files.write_text(path, json.dumps({"settings": settings, "result": work(**settings)}))
    return json.loads(path.read_text(encoding="utf-8"))["result"]


def study(*words: str) -> Path:
    """Returns the folder of the study that ``nainjaune study WORDS --out FOLDER`` writes (docs/study.md)."""
    path = kept_at("study", words=words)
    if not path.exists():
        _command("study", *words, "--out", str(path))
    return path


def trained(config: str, **settings: Any) -> Path:
    """Returns the run of ``nainjaune train CONFIG --set KEY=VALUE … --out RUN``; an interrupted run is resumed.

    ``config`` is a path from the root of the repository.
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
    """Runs a ``nainjaune`` command without its output: paths and times do not belong in a notebook."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = nainjaune(list(words))
    if code:
        raise ConfigError(f"nainjaune {' '.join(words)} ended with {code}: {said.getvalue()}")


def edge(hero: str, field: str, setup: Setup, *, deals: int, seed: int) -> Estimate:
    """Returns the edge of ``hero`` in a field of ``field`` (docs/evaluation.md), with half of its 95 % interval."""
    found = kept(duplicate_edge, hero=hero, field=field, setup=setup.to_dict(), deals=deals, seed=seed)
    return Estimate(*found)


def duplicate_edge(hero: str, field: str, setup: dict[str, Any], deals: int, seed: int) -> tuple[float, float]:
    """The same for :func:`kept`."""
    table = setup_of(setup)
    found = FieldAlone(OwnGame(table, seed), load_agent(field, table), deals).edge(load_agent(hero, table))
    return found.mean, found.ci95


def setup_of(fields: dict[str, Any]) -> Setup:
    """Returns the setup that :meth:`Setup.to_dict` describes."""
    return make_setup(fields["game"], preset=fields["preset"], players=fields["players"], **fields["rules"])


def mean_of(values: Sequence[float] | np.ndarray[Any, Any]) -> Estimate:
    """Returns the mean of independent values, with half of its 95 % interval."""
    moments = Moments()
    moments.add(values)
    return Estimate(moments.mean, moments.half_width)


def show(picture: matplotlib.figure.Figure | str, words: str) -> None:
    """Displays a figure, or a picture as SVG; ``words`` describe it for readers who cannot see it.

    The bytes are the same each time: they contain no date and no version.
    """
    if isinstance(picture, str):
        display({"image/svg+xml": picture, "text/plain": words}, raw=True)
        return
    pixels = io.BytesIO()
    picture.savefig(pixels, format="png", metadata={"Software": None})
    plt.close(picture)
    display({"image/png": pixels.getvalue(), "text/plain": words}, raw=True)


def say(text: str) -> None:
    """Displays Markdown: a sentence whose numbers come from the computation."""
    display(Markdown(text))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Displays a table; estimates and edges appear as value and interval."""
    lines = [head, ["---"] * len(head), *rows]
    display(Markdown("\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)))


def cell(value: object) -> str:
    """Returns the text of a table's cell."""
    return signed(value) if isinstance(value, Estimate | Edge) else str(value)


def signed(found: Estimate | Edge) -> str:
    """Returns an estimate as text, such as ``+0.25 ± 0.04``."""
    return format_ci(Estimate(found.mean, found.ci95), "", signed=True)
