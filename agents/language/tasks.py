"""Tasks: a table, its deal and the model's seat, in three splits that share no deal and no rules with random knobs."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from nainjaune_env.core.errors import RulesError, quoted
from nainjaune_env.core.random_rules import knob_samples, random_setups
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.validation import check_name, check_seed, check_whole
from nainjaune_env.registry import get_game, resolve_setup

from ..base.seeds import Stream, generator
from ..base.settings import Settings, convert
from ..players.heuristics import heuristics, yardstick
from .table import OpenTable

TRAIN, TEST, HELD_OUT = SPLITS = ("train", "test", "held_out")
SEED = 36
"""What all tasks are drawn from."""
MAX_INDEX = (1 << 32) - 1
DEAL_SEEDS = 1 << 51
"""Seeds of deals in a split: numbers of JSON are exact below 2**53."""
RANDOM_RULES = 0.5
"""The share of tasks with random knobs in the splits that have presets, too."""
TRIES = 200
"""Draws of random knobs before a task takes a preset, as a split of a small game may be without such rules; draws of tasks."""


class TextTask(Settings, frozen=True, dict=True):
    """One round to play; raises :class:`RulesError` for rules, and ``NainJauneError`` for other values, that are not allowed."""

    split: str
    """``train``, ``test`` or ``held_out``."""
    index: Annotated[int, Meta(ge=0, le=MAX_INDEX)]
    """Its number in the split, from 0."""
    game: str
    preset: str
    players: int
    knobs: dict[str, Any]
    """Over the preset."""
    seed: int
    """Of the deal, and of what the others draw."""
    seat: int
    """The model's."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name("split", self.split, SPLITS)
        check_seed(self.seed)
        check_whole("The model's seat", self.seat, 0, self.setup().players - 1)

    def setup(self) -> Setup:
        """Returns the rules of the table, of a match of one round."""
        return self._setup

    @cached_property
    def _setup(self) -> Setup:
        return _of_one_round(resolve_setup(self.game, self.preset, self.players, self.knobs))

    @classmethod
    def from_dict(cls, values: object) -> TextTask:
        """Returns the task that :meth:`to_dict` wrote; raises :class:`ConfigError` for missing or other keys and types."""
        return convert(cls, values, "A task")


def tasks(game: str, split: str, count: int, *, first: int = 0, knobs: Mapping[str, Any] | None = None) -> list[TextTask]:
    """Returns the tasks ``first .. first+count-1`` of a split; task i depends on the game, the split, ``knobs`` and i alone.

    ``knobs`` are the same in all of them, such as ``{"memory": "perfect"}``. In ``train`` and ``test`` half of the tasks have a
    preset, the others random knobs; in ``held_out`` some knob has a value of :func:`held_out_values`. The model's seat has at
    least one decision where the game's baseline plays the others. Raises :class:`RulesError` for an unknown game, split or knob,
    and for ``knobs`` that leave a split without rules.
    """
    spec = get_game(game)
    check_name("split", split, SPLITS)
    first = check_whole("The first task", first, 0, MAX_INDEX)
    count = check_whole("The number of tasks", count, 0, MAX_INDEX + 1 - first)
    given = dict(knobs or {})
    for knob in given:  # "preset" and "players" would be other arguments of setup()
        check_name("knob", knob, spec.presets[spec.default_preset].rules.names())
    tables = _tables(spec, given)
    if not tables:
        spec.presets[spec.default_preset].rules.replace(**given)  # an unknown knob or value has its own sentence
        raise RulesError(f"No preset of {spec.title} has tables with the knobs {quoted(given)}.")
    if split != HELD_OUT and _has_held_out_value(tables[0]):
        raise RulesError(f"The knobs {quoted(given)} are in the split {HELD_OUT!r} only.")
    return [_task(spec, split, index, tables, given) for index in range(first, first + count)]


@cache
def held_out_values(game: str) -> Mapping[str, Any]:
    """Returns, by knob, the value that no task of ``train`` and ``test`` has.

    It is the last of three or more values of random rules that no preset has; knobs without a part in a round have none.
    """
    spec = get_game(game)
    base = spec.presets[spec.default_preset].rules
    held_out: dict[str, Any] = {}
    for name, samples in knob_samples(spec).items():
        free = [value for value in samples if all(getattr(preset.rules, name) != value for preset in spec.presets.values())]
        if len(samples) >= 3 and free and spec.single_round(base.replace(**{name: free[-1]})) != spec.single_round(base):
            held_out[name] = free[-1]
    return MappingProxyType(held_out)


def split_of(setup: Setup) -> str | None:
    """Returns the split that rules with random knobs belong to; None for those of a round by a preset, which all splits share."""
    if _has_held_out_value(setup):
        return HELD_OUT
    if any(setup.same_round(table) for table in _preset_tables(setup.game.name)):
        return None
    rules = _of_one_round(setup).kernel_rules
    return (TRAIN, TEST)[hashlib.sha256(repr(rules).encode()).digest()[0] % 2]


def _task(spec: GameSpec, split: str, index: int, tables: Sequence[Setup], knobs: Mapping[str, Any]) -> TextTask:
    rng = generator(SEED, Stream.TEXT_TASKS, zlib.crc32(spec.name.encode()), SPLITS.index(split), index)
    field = heuristics(spec.name)[yardstick(spec.name)]
    for _ in range(TRIES):
        setup = None
        if split == HELD_OUT or rng.random() < RANDOM_RULES:
            setup = _random_rules(split, tables, knobs, rng)
        if setup is None:
            if split == HELD_OUT:
                raise RulesError(f"The knobs {quoted(dict(knobs))} leave no rules of {spec.title} for the split {split!r}.")
            setup = tables[int(rng.integers(len(tables)))]
        # a residue for each split, so that no two share a deal
        seed = len(SPLITS) * int(rng.integers(DEAL_SEEDS)) + SPLITS.index(split)
        task = TextTask(split, index, spec.name, setup.preset, setup.players, setup.knobs, seed, int(rng.integers(setup.players)))
        if not OpenTable(task.setup(), seed, task.seat, field).done:
            return task
    raise RulesError(f"Under the rules of {spec.title} with the knobs {quoted(dict(knobs))} a seat has no decisions.")


def _random_rules(split: str, tables: Sequence[Setup], knobs: Mapping[str, Any], rng: np.random.Generator) -> Setup | None:
    """Returns rules with random knobs that belong to a split; None where draws make none."""
    for _ in range(TRIES):
        setup = next(random_setups(tables, rng))
        if split_of(setup) == split and all(getattr(setup.rules, name) == value for name, value in knobs.items()):
            return setup
    return None


def _tables(spec: GameSpec, knobs: Mapping[str, Any]) -> list[Setup]:
    """Returns each preset with each number of seats, with ``knobs`` over it, as far as these go together."""
    tables = []
    for name, preset in spec.presets.items():
        for players in preset.players:
            with suppress(RulesError):
                tables.append(spec.setup(name, players, **knobs))
    return tables


@cache
def _preset_tables(game: str) -> tuple[Setup, ...]:
    return tuple(_tables(get_game(game), {}))


def _has_held_out_value(setup: Setup) -> bool:
    return any(getattr(setup.rules, name) == value for name, value in held_out_values(setup.game.name).items())


def _of_one_round(setup: Setup) -> Setup:
    return replace(setup, rules=setup.game.single_round(setup.rules))
