"""Adds the network of a run to the zoo: without the training state, with ratings and a model card; or rates a player again.

Several runs that began from the same network can be added as the mean of their weights: Wortsman et al., "Model soups", 2022.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple

import numpy as np

from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import CheckpointError, ConfigError, as_sentence, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import read_json
from nainjaune_env.registry import get_game

from ..base.task import DEFAULT_TASK, Task
from ..measure.cross_table import fold
from ..measure.own_game import OwnGame
from ..measure.plan import Measurement, make_plan
from ..measure.store import Store
from ..players.loading import TRANSFERRED, base_name, external_players, load_agent
from ..players.mixed import explicit_name
from ..players.networks.checkpoint import ABOUT_NAME, FILE_NAME, Checkpoint, in_half_precision, load_checkpoint, save_checkpoint
from ..players.networks.fit import check_fits
from ..players.zoo import HouseRules, ModelCard, Player, PlayerRegistry, Rating, load_card, save_card
from ..players.zoo.model_card import LOCAL_CHANGES
from ..players.zoo.registry import check_player_name, is_zoo_name, player_registry
from .config import LENGTH_KEYS


class First(NamedTuple):
    """The first network of a chain of runs."""

    name: str
    """The zoo player, or the folder of the run."""
    seconds: float
    decisions: float


@dataclass(frozen=True)
class Origin:
    """How a network was made: its own run and those it was initialised from, the first one first.

    Where the first of them was initialised from a zoo player, the commands begin with it, since the player's file comes with the
    checkout, and the time and the decisions include what its card says.
    """

    commands: list[str]
    commit: str | None
    """Of its own run; with ``+`` if files differed from it in any of the runs."""
    machine: str
    seconds: float
    decisions: float
    first: First
    """What all of it began from."""


def origin(run: Path) -> Origin:
    """Returns the origin of the run in the folder ``run``; raises :class:`CheckpointError` if the folder does not record it."""
    checkpoint = load_checkpoint(run)
    about = read_json(run / ABOUT_NAME, "record of how a run was made", CheckpointError)
    try:
        program, *rest = about["command"]
        commit, machine = about["commit"], about["machine"]
        changes = [(change["iteration"], change["keys"], change["commit"]) for change in about.get("changed", [])]
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{str(run)!r} has no record of how it was made in {ABOUT_NAME}: {as_sentence(error)}") from None
    initialised_from = checkpoint.config.get("init")
    arguments = ["python", "train.py", *rest] if Path(program).name == "train.py" else ["nainjaune", *rest]
    seconds, decisions = checkpoint.progress["seconds"], checkpoint.progress["decisions"]
    commands = [_canonical_command(arguments, run, initialised_from)]
    for iteration, keys, changed_at in changes:
        if not any(key in keys and keys[key][0] == iteration for key in LENGTH_KEYS):  # it was not at its end
            commands[-1] += f"  # stopped after iteration {iteration}"
        values = [word for key, (_, new) in keys.items() for word in ("--set", f"{key}={json.dumps(new)}")]
        commands.append(shlex.join(["python", "train.py", "--resume", "--out", f"runs/{run.name}", *values]))
        commit = _with_local_changes(commit, changed_at)
    first = First(str(run.resolve()), seconds, decisions)
    origin_of_run = Origin(commands, commit, machine, seconds, decisions, first)
    if initialised_from is None:
        return origin_of_run
    if is_zoo_name(initialised_from):
        player = base_name(initialised_from)
        card = player_registry().find(player, checkpoint.setup, anywhere=checkpoint.common, any_rules=True).card
        first = First(initialised_from, card.seconds, card.decisions)
        return replace(origin_of_run, seconds=card.seconds + seconds, decisions=card.decisions + decisions, first=first)
    path = Path(initialised_from)
    before = _origin_on_card(path, run) if path.is_file() else origin(path)
    return replace(
        origin_of_run,
        commit=_with_local_changes(commit, before.commit),
        commands=[*before.commands, *origin_of_run.commands],
        seconds=before.seconds + origin_of_run.seconds,
        decisions=before.decisions + origin_of_run.decisions,
        first=before.first,
    )


def _origin_on_card(path: Path, run: Path) -> Origin:
    """Returns the origin of a file that ``run`` began from, by its model card; raises :class:`CheckpointError` without one."""
    beside = path.with_suffix(".json")
    if not beside.exists() or (card := load_card(beside)).sha256 != digest(path):
        raise CheckpointError(
            f"The run {str(run)!r} began from the file {quoted(str(path))}, which has no model card of it beside it. "
            "Begin from a run's folder, or from a zoo player by its name (init=zoo:NAME)."
        )
    first = First(str(path.resolve()), card.seconds, card.decisions)
    return Origin([*card.made_by], card.commit, card.machine, card.seconds, card.decisions, first)


def _origin_of_all(runs: Sequence[Path]) -> Origin:
    """Returns the origin of the mean of several runs: commands of all, the commit of the first, and sums.

    What all began from counts once.

    Raises :class:`ConfigError` for runs of several commits, and for runs that did not begin from one network: the mean of
    unrelated weights plays badly.
    """
    first, *others = (origin(run) for run in runs)
    if not others:
        return first
    commit = first.commit
    for run, other in zip(runs[1:], others, strict=True):
        if other.first.name != first.first.name:
            raise ConfigError(
                f"Runs whose mean is added began from the same network (init), not from {quoted(first.first.name)} and, as "
                f"{quoted(str(run))}, from {quoted(other.first.name)}."
            )
        if (other.commit or "").removesuffix(LOCAL_CHANGES) != (first.commit or "").removesuffix(LOCAL_CHANGES):
            raise ConfigError(f"Runs whose mean is added were made at one commit, not at {first.commit} and {other.commit}.")
        commit = _with_local_changes(commit, other.commit)
    commands = [*dict.fromkeys(command for made in (first, *others) for command in made.commands)]
    mean = f"# the mean of the weights of {', '.join(f'runs/{run.name}' for run in runs)}"
    return replace(
        first,
        commands=[*commands, mean],
        commit=commit,
        seconds=first.seconds + sum(made.seconds - made.first.seconds for made in others),
        decisions=first.decisions + sum(made.decisions - made.first.decisions for made in others),
    )


def mean_network(runs: Sequence[Path], checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    """Returns the first of ``checkpoints``, those of ``runs``, with the mean of the weights that play, and no training state.

    Raises :class:`ConfigError` for networks that do not fit together.
    """
    first, *others = checkpoints
    for run, other in zip(runs[1:], others, strict=True):
        if (first.arch, first.layout, first.preset, first.common) != (other.arch, other.layout, other.preset, other.common):
            raise ConfigError(
                f"The networks of {quoted(str(runs[0]))} and {quoted(str(run))} are not of one kind for the same tables."
            )
    names = [name for name in first.tensors if name.startswith("model.")]
    mean = {name: np.mean([one.tensors[name] for one in checkpoints], axis=0, dtype=np.float64) for name in names}
    return replace(first, tensors={name: mean[name].astype(first.tensors[name].dtype) for name in names})


def _with_local_changes(commit: str | None, other: str | None) -> str | None:
    """Returns ``commit``, marked as one with local changes if it or ``other`` is."""
    changed = any(each is not None and each.endswith(LOCAL_CHANGES) for each in (commit, other))
    return commit if commit is None or not changed else commit.removesuffix(LOCAL_CHANGES) + LOCAL_CHANGES


def _canonical_command(arguments: list[str], run: Path, initialised_from: str | None) -> str:
    """Returns the command that made ``run``, with the folders of runs replaced by ``runs/NAME``; zoo players keep their names."""
    canonical = list(arguments)
    for at, word in enumerate(arguments):
        key, equals, value = word.rpartition("=")
        if initialised_from is not None and value == initialised_from and not is_zoo_name(value):
            canonical[at] = f"{key}{equals}runs/{Path(value).name}"
        elif word == "--out" and at + 1 < len(arguments):
            canonical[at + 1] = f"runs/{run.name}"
    return shlex.join(canonical)


def publish(
    runs: Sequence[Path],
    name: str,
    setups: Sequence[Setup],
    *,
    against: Sequence[str],
    deals: int,
    seed: int,
    note: str,
    registry: PlayerRegistry,
    tasks: Sequence[Task] = (DEFAULT_TASK,),
    local_changes: bool = False,
    store: Store | None = None,
    progress: Callable[[int], object] | None = None,
) -> Path:
    """Rates the network of finished ``runs`` under ``setups`` and adds it to ``registry`` as ``name``; returns its path.

    That of several runs is the mean of their weights, see :func:`mean_network`.
    Weights are stored, and rated, in half precision.

    ``store`` has what was played before, and gets the rest. ``progress`` is called with the number of deals done, in all twice
    ``deals`` for each setup, each of the ``tasks`` and each agent it is rated ``against``.
    Raises :class:`AgentError` for a ``name`` that cannot be a folder's, :class:`ConfigError` if the player has a file for these
    tables already, if too few deals differ for an interval, if an agent in ``against`` stands twice or comes from elsewhere, or
    if the run was made with files that differ from its commit, unless ``local_changes`` allows it (nobody could make it again),
    and :class:`CheckpointError` if the run is not finished or does not play there.
    """
    check_player_name(name)
    checkpoints = [load_checkpoint(run) for run in runs]
    for run, each in zip(runs, checkpoints, strict=True):
        check_finished(run, each)
    checkpoint = mean_network(runs, checkpoints)
    check_rivals(against)
    made = _origin_of_all(runs)
    if made.commit is not None and made.commit.endswith(LOCAL_CHANGES) and not local_changes:
        raise ConfigError(
            f"The run {quoted(str(runs[0]))} was made at commit {made.commit.removesuffix(LOCAL_CHANGES)} with local changes, so "
            "its commands do not make it again. Commit the changes and train again, or add it with --local-changes: its card "
            "says so."
        )
    for setup in setups:
        check_fits(checkpoint, setup, repr(str(runs[0])))
    path = registry.folder / name / f"{_stem(checkpoint, setups[0])}.safetensors"
    if path.exists():
        raise ConfigError(f"{str(path)!r} exists, and is not overwritten: delete it and its card first.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=path.parent):  # an error must come before the rating, which may take hours
        pass
    player = replace(checkpoint, tensors=in_half_precision(checkpoint.tensors))
    with TemporaryDirectory() as folder:  # what is rated is the player as it is stored
        rated = Path(folder) / FILE_NAME
        save_checkpoint(rated, player)
        ratings = [
            _rating(str(rated), rival, setup, task, deals, seed, store, progress)
            for setup in setups
            for task in tasks
            for rival in against
        ]
    save_checkpoint(path, player)
    card = ModelCard(
        game=checkpoint.game,
        preset=None if checkpoint.common else checkpoint.preset,
        players=None if checkpoint.common else checkpoint.players,
        knobs={} if checkpoint.common else setups[0].knobs,
        house_rules=_trained_at(setups) if checkpoint.common else [],
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


def rate(
    player: Player,
    *,
    against: Sequence[str],
    deals: int,
    seed: int,
    tasks: Sequence[Task] = (DEFAULT_TASK,),
    store: Store | None = None,
    progress: Callable[[int], object] | None = None,
) -> ModelCard:
    """Returns the card of ``player`` with ratings at each table at which it has some: of ``tasks``, and the agents ``against``.

    They replace ratings at the same table and task in the same field. ``store``, ``progress``: as in :func:`publish`. Raises
    :class:`AgentError` for an agent that does not play at all of these tables, before anything is played, and
    :class:`ConfigError` as :func:`publish` does, and :class:`CheckpointError` if the file does not match its card.
    """
    check_rivals(against)
    player.check()
    setups = rated_setups(player.card)
    for setup in setups:
        for rival in against:
            load_agent(rival, setup)
    ratings = [
        _rating(str(player.path), rival, setup, task, deals, seed, store, progress)
        for setup in setups
        for task in tasks
        for rival in against
    ]
    again = [(rating.field, rating.table) for rating in ratings]
    kept = [rating for rating in player.card.ratings if (rating.field, rating.table) not in again]
    return replace(player.card, ratings=[*kept, *ratings])


def rated_setups(card: ModelCard) -> list[Setup]:
    """Returns the setups of the ratings on ``card``, each once."""
    setups: list[Setup] = []
    for rating in card.ratings:
        setup = get_game(card.game).setup(rating.preset, rating.players, **rating.knobs)
        if setup not in setups:
            setups.append(setup)
    return setups


def check_rivals(against: Sequence[str]) -> None:
    """Raises :class:`ConfigError` if an agent in ``against`` stands twice or comes from elsewhere."""
    if len(set(against)) < len(against):
        raise ConfigError(f"Expected different agents to rate it against, not {[*against]!r}.")
    for rival in against:
        if external_players(rival):
            raise ConfigError(f"A card rates a player against those that everybody has, not {quoted(rival)}.")


def check_finished(run: Path, checkpoint: Checkpoint) -> None:
    """Raises :class:`CheckpointError` if the ``run`` has not reached the length in its configuration."""
    length = next(key for key in LENGTH_KEYS if key in checkpoint.config)
    if (whole := checkpoint.config[length]) != checkpoint.iteration:
        raise CheckpointError(
            f"The run {quoted(str(run))} has done {checkpoint.iteration} of {whole} {length}, and its command would go on to the "
            f"last one: resume it to its end, or end it where it is by --resume --set {length}={checkpoint.iteration}."
        )


def _trained_at(setups: Sequence[Setup]) -> list[HouseRules]:
    """Returns ``setups`` as house rules, those that differ in the seats only together."""
    tables: dict[str, HouseRules] = {}
    for setup in setups:
        knobs = {knob: [value] for knob, value in setup.knobs.items()}
        tables.setdefault(repr((setup.preset, knobs)), HouseRules(setup.preset, [], knobs)).players.append(setup.players)
    return [*tables.values()]


def _stem(checkpoint: Checkpoint, setup: Setup) -> str:
    """Returns the stem of the file's name: the game if it plays at any table, else the preset, seats and knobs."""
    if checkpoint.common:
        return checkpoint.game
    knobs = [f"{knob}-{value}" for knob, value in setup.knobs.items()]
    return "-".join([checkpoint.preset, str(checkpoint.players), *knobs])


def _rating(
    hero: str,
    rival: str,
    setup: Setup,
    task: Task,
    deals: int,
    seed: int,
    store: Store | None,
    progress: Callable[[int], object] | None,
) -> Rating:
    pair = [load_agent(hero + TRANSFERRED, setup), load_agent(rival, setup)]
    plan = make_plan(OwnGame(setup, seed, task), pair, deals, one_way=True)
    (edge,) = fold(Measurement(plan, pair, store=store, progress=progress), one_way=True).edges
    if math.isnan(edge.ci95):
        differ = f"{edge.moments.differing} of {deals} deals differ in a field of {rival!r}"
        raise ConfigError(f"Too few deals for an interval, which a rating has: {differ}. Rate it on more deals (--deals).")
    return Rating(
        field=explicit_name(rival, setup),
        preset=setup.preset,
        players=setup.players,
        knobs=setup.knobs,
        mean=round(edge.mean, 4),
        ci95=round(edge.ci95, 4),
        deals=deals,
        seed=seed,
        **task.to_dict(),
    )
