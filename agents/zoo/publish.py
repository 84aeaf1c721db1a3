"""Putting a run's network into the box: without what only training needs, rated, and with its card."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import CheckpointError, ConfigError
from nainjaune_env.core.spec import Setup

from ..arena.duplicate import Duplicate
from ..loading import load_agent
from ..nets.checkpoint import ABOUT_NAME, Checkpoint, check_fits, load_checkpoint, save_checkpoint
from . import Card, Rating, Shelf, save_card


@dataclass(frozen=True)
class Origin:
    """Where a network comes from: its own run and those that this began from, the first one first."""

    commands: list[str]
    commit: str | None
    machine: str
    seconds: float
    decisions: float


def origin(run: Path) -> Origin:
    """Of the run in the folder ``run``; raises :class:`CheckpointError` where the folder does not say."""
    checkpoint = load_checkpoint(run)
    try:
        about: dict[str, Any] = json.loads((run / ABOUT_NAME).read_text(encoding="utf-8"))
        program, *rest = about["command"]
        commit, machine = about["commit"], about["machine"]
    except (OSError, ValueError, KeyError) as error:
        raise CheckpointError(f"{str(run)!r} does not say how it was made ({ABOUT_NAME}): {error}.") from None
    began_from = checkpoint.config.get("init")
    words = ["python", "train.py", *rest] if Path(program).name == "train.py" else ["nainjaune", *rest]
    seconds, decisions = checkpoint.progress["seconds"], checkpoint.progress["decisions"]
    own = Origin([_told(words, run, began_from)], commit, machine, seconds, decisions)
    if began_from is None:
        return own
    before = origin(Path(began_from))
    return replace(
        own,
        commands=[*before.commands, *own.commands],
        seconds=before.seconds + own.seconds,
        decisions=before.decisions + own.decisions,
    )


def _told(words: list[str], run: Path, began_from: str | None) -> str:
    """The command that made ``run``, with runs in ``runs``: in which other folders they were made and kept says nothing."""
    told = list(words)
    for at, word in enumerate(words):
        key, equals, value = word.rpartition("=")
        if began_from is not None and value == began_from:
            told[at] = f"{key}{equals}runs/{Path(value).name}"
        elif word == "--out" and at + 1 < len(words):
            told[at + 1] = f"runs/{run.name}"
    return shlex.join(told)


def shelve(
    run: Path,
    name: str,
    setups: Sequence[Setup],
    *,
    against: Sequence[str],
    deals: int,
    seed: int,
    note: str,
    shelf: Shelf,
    progress: Callable[[int], object] | None = None,
) -> Path:
    """Rate the network of the finished ``run`` under ``setups`` and put it on the ``shelf`` as ``name``; gives its file's path.

    ``progress`` is told of deals done, of ``deals`` for each setup and each agent that it is rated ``against``. Raises
    :class:`ConfigError` where the player has a file for these tables already, and :class:`CheckpointError` where the run does
    not play at them.
    """
    checkpoint = load_checkpoint(run)
    made = origin(run)
    for setup in setups:
        check_fits(checkpoint, setup, repr(str(run)))
    path = shelf.folder / name / f"{_stem(checkpoint, setups[0])}.safetensors"
    if path.exists():
        raise ConfigError(f"{str(path)!r} exists, and is not overwritten: delete it and its card first.")
    ratings = [_rating(str(run), rival, setup, deals, seed, progress) for setup in setups for rival in against]
    bare = {key: tensor for key, tensor in checkpoint.tensors.items() if key.startswith("model.")}
    save_checkpoint(path, replace(checkpoint, tensors=bare))
    card = Card(
        game=checkpoint.game,
        preset=None if checkpoint.common else checkpoint.preset,
        players=None if checkpoint.common else checkpoint.players,
        knobs={} if checkpoint.common else setups[0].knobs,
        sha256=digest(path),
        note=note,
        algorithm=checkpoint.algorithm,
        made_by=made.commands,
        commit=made.commit,
        seconds=round(made.seconds, 1),
        decisions=made.decisions,
        machine=made.machine,
        ratings=ratings,
    )
    save_card(path.with_suffix(".json"), card)
    return path


def _stem(checkpoint: Checkpoint, setup: Setup) -> str:
    """The name of the file: the game alone where it plays at any table, else also what it was trained on."""
    if checkpoint.common:
        return checkpoint.game
    knobs = [f"{knob}-{value}" for knob, value in setup.knobs.items()]
    return "-".join([checkpoint.preset, str(checkpoint.players), *knobs])


def _rating(hero: str, rival: str, setup: Setup, deals: int, seed: int, progress: Callable[[int], object] | None) -> Rating:
    duplicate = Duplicate(setup, [load_agent(hero, setup), load_agent(rival, setup)], seed=seed)
    edge = duplicate.edge(0, 1, deals, progress=progress)
    return Rating(
        field=rival,
        preset=setup.preset,
        players=setup.players,
        knobs=setup.knobs,
        mean=round(edge.mean, 4),
        ci95=round(edge.ci95, 4),
        deals=deals,
        seed=seed,
    )
