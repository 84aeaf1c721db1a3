"""Setups with random knobs, for training under any rules and for tests of players under rules that they have not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import GameSpec, Setup

MAX_TRIES = 1000
"""Draws in a row that make no new setup before :func:`random_setups` gives up: not every combination makes a table."""


def knob_samples(game: GameSpec) -> dict[str, tuple[Any, ...]]:
    """Returns the values that random rules of ``game`` take, by knob, in order of declaration."""
    return {f.name: f.metadata["samples"] for f in fields(game.presets[game.default_preset].rules)}


def random_setups(
    setups: Sequence[Setup],
    rng: np.random.Generator,
    *,
    knobs: Sequence[int] | None = (1, 2, 3, 4),
    values: Mapping[str, Sequence[Any]] | None = None,
) -> Iterator[Setup]:
    """Yields different setups: each is one of ``setups``, of one game, in which a number of ``knobs`` have random other values.

    With None for ``knobs`` each knob has a random value, which may be the usual one. ``values`` are those of each knob, by
    default :func:`knob_samples`. All draws are uniform. Raises :class:`RulesError` where no further setup turns up in
    ``MAX_TRIES`` draws.
    """
    samples = knob_samples(setups[0].game) if values is None else values
    seen: list[Setup] = []
    while True:
        for _ in range(MAX_TRIES):
            setup = _other_rules(setups[int(rng.integers(len(setups)))], samples, rng, knobs)
            if setup is not None and setup not in seen:
                break
        else:
            raise RulesError(f"After {len(seen)} setups with random knobs, {MAX_TRIES} draws made no other one.")
        seen.append(setup)
        yield setup


def _other_rules(
    setup: Setup, samples: Mapping[str, Sequence[Any]], rng: np.random.Generator, counts: Sequence[int] | None
) -> Setup | None:
    """Returns ``setup`` with some knobs changed; None where a draw changes nothing, or the knobs do not go together."""
    names: Sequence[str] = sorted(samples)
    if counts is not None:
        count = counts[int(rng.integers(len(counts)))] if len(counts) > 1 else counts[0]
        names = rng.choice(names, min(count, len(samples)), replace=False).tolist()
    knobs = {name: samples[name][int(rng.integers(len(samples[name])))] for name in names}
    if counts is not None and any(getattr(setup.rules, name) == value for name, value in knobs.items()):
        return None
    try:
        return Setup(setup.game, setup.preset, setup.rules.replace(**knobs), setup.players)
    except RulesError:
        return None
