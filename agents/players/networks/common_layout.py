"""One observation layout for all tables of a game, whatever the seats and house rules, and the unit of values at a table.

The common layout is that of the most seats that a preset allows, followed by features for the number of seats and the rules. At a
table with fewer seats, bytes about missing seats have their feature's ``zero``, which is 0 to a network. Everything derives from
the game's layouts for different numbers of seats and from the declarations of its knobs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.prng import streams
from nainjaune_env.core.rules import Rules
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Batch

SEATS = "seats"
"""Name of the feature for the number of seats."""
TOP = 255
"""The largest byte: a knob that may reach it is coded by :func:`number_code`; others are written as they are."""
STEPS = 32
"""Codes for each octave of such a knob."""
PAYOFF_ROUNDS = 1024
PAYOFF_SEED = 271_828
"""The seed of deals and play; like ``PAYOFF_ROUNDS`` it fixes the unit of the values in checkpoints."""


def common_layout(game: GameSpec) -> Layout:
    """Returns the layout of observations at any table of ``game``."""
    counts = seat_counts(game)
    seats = Feature(SEATS, (len(counts),), f"one-hot: seats at the table, from {counts[0]} to {counts[-1]}")
    return Layout((*game.layout(counts[-1]).features, seats, *rule_features(game)))


def seat_counts(game: GameSpec) -> range:
    """Returns the range from the fewest to the most seats that a preset of ``game`` allows."""
    presets = game.presets.values()
    return range(min(preset.players[0] for preset in presets), max(preset.players[-1] for preset in presets) + 1)


class CommonView:
    """Converts the observations of one setup to the common layout of its game."""

    def __init__(self, setup: Setup, *, omniscient: bool = False) -> None:
        """``omniscient``: converts a critic's observations (``Batch.omniscient``) instead of seats'."""
        setup_layout, common = setup.layout, common_layout(setup.game)
        if omniscient:
            setup_layout, common = setup_layout.omniscient(setup.players), common.omniscient(seat_counts(setup.game)[-1])
        self.layout = common
        """The common layout, of ``size`` bytes."""
        self.places = places(setup_layout, common)
        """The index in it of each byte of the setup's own observations, ``(own size,) int64``."""
        self.rest: NDArray[np.uint8] = common.zero.astype(np.uint8)
        """The values of all other bytes, ``(size,) uint8``: seats, rules, and ``zero`` for missing seats."""
        for name, value in _table_bytes(setup):
            common.view(self.rest, name)[...] = value

    def __call__(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns ``observation (K, own size)`` in the common layout, ``(K, size)``."""
        seen = np.tile(self.rest, (len(observation), 1))
        seen[:, self.places] = observation
        return seen


def places(part: Layout, whole: Layout) -> NDArray[np.int64]:
    """Returns the indices in ``whole`` of the bytes of ``part``, ``(part.size,)``.

    A feature of ``part`` may have longer axes in ``whole``; it then takes the first places, as relative seats count from the
    observer on. Raises ``ValueError`` for a feature that differs otherwise.
    """
    indices = [np.arange(0)]
    for feature in part:
        large = whole[feature.name]
        same = dataclasses.replace(large, shape=feature.shape, meaning=feature.meaning) == feature
        if (
            not same
            or len(feature.shape) != len(large.shape)
            or any(a > b for a, b in zip(feature.shape, large.shape, strict=True))
        ):
            raise ValueError(f"feature {feature.name!r} is {feature} in one layout and {large} in the other: no part of it")
        span = whole.where(feature.name)
        numbers = np.arange(span.start, span.stop).reshape(large.shape)
        indices.append(numbers[tuple(slice(size) for size in feature.shape)].ravel())
    return np.concatenate(indices)


def rule_features(game: GameSpec) -> tuple[Feature, ...]:
    """Returns the features for the knobs of ``game`` that reach its kernel, in order of declaration.

    A knob that is a word has a byte for each choice, so that the fingerprint changes when a choice is added or moved. A number
    that may be None has a byte for that and one for the number.
    """
    features: list[Feature] = []
    for f in dataclasses.fields(_usual_rules(game)):
        if not reaches_play(game, f.name):
            continue
        about, name = f.metadata, f"rules.{f.name}"
        if about["kind"] == "word":
            features += [
                Feature(f"{name}={choice}", (1,), f"whether it is {choice!r}: {about['meaning']}") for choice in about["choices"]
            ]
        elif about["kind"] == "flag":
            features.append(Feature(name, (1,), about["meaning"]))
        else:
            if about["optional"]:
                features.append(Feature(f"{name}=None", (1,), f"whether it is None: {about['meaning']}"))
            if about["high"] < TOP:
                features.append(Feature(name, (1,), about["meaning"], high=about["high"], scale=float(about["high"])))
            else:
                coded = f"exact below {2 * STEPS}, then in steps of 1/{STEPS} octave, up to {TOP}"
                features.append(Feature(name, (1,), f"{about['meaning']}; {coded}", high=TOP, scale=float(STEPS)))
    return tuple(features)


def number_code(number: int) -> int:
    """Returns ``number >= 0`` as a byte, log-linear: exact below 64, then 32 codes an octave, cut off at 255 (from 4032 up)."""
    octaves = max(number.bit_length() - (2 * STEPS - 1).bit_length(), 0)
    return min(octaves * STEPS + (number >> octaves), TOP)


def reaches_play(game: GameSpec, knob: str) -> bool:
    """Returns whether a knob reaches the kernel: every number does, other knobs if their values compile to different rules."""
    rules, players = _usual_rules(game), game.default_players
    about = type(rules).__dataclass_fields__[knob].metadata
    if about["kind"] == "number":
        return True
    try:
        compiled = {game.kernel_rules(rules.replace(**{knob: value}), players) for value in about["choices"] or (False, True)}
    except RulesError:  # other knobs would have to change with it, so it is no matter of display
        return True
    return len(compiled) > 1


def _usual_rules(game: GameSpec) -> Rules:
    return game.presets[game.default_preset].rules


def _table_bytes(setup: Setup) -> Iterator[tuple[str, Any]]:
    """Yields the names of the features beyond the observation and their values at a table with this ``setup``."""
    yield SEATS, np.array(seat_counts(setup.game)) == setup.players
    for feature in rule_features(setup.game):
        knob, equals, value = feature.name.removeprefix("rules.").partition("=")
        setting = getattr(setup.rules, knob)
        if equals:
            yield feature.name, str(setting) == value
        elif setting is None:
            yield feature.name, 0
        else:
            yield feature.name, number_code(setting) if feature.high == TOP else setting


def random_payoff_scale(setup: Setup) -> float:
    """Returns the standard deviation of a seat's payoff less the table's mean in uniformly random play; at least 1.

    In the game's unit (chips, cards), the same number every time. It takes milliseconds and no network, so that a network trained
    at many setups has a unit for its values at any other.
    """
    batch = Batch(setup, PAYOFF_ROUNDS, seed=PAYOFF_SEED, autoreset=False, observe=False)
    payoff = batch.reward.astype(np.int64)
    rng_states = streams(PAYOFF_SEED, PAYOFF_ROUNDS, stream=1)
    while not batch.done.all():
        batch.step(batch.sample(rng_states))
        payoff += batch.reward
    return max(float((payoff - payoff.mean(axis=1, keepdims=True)).std()), 1.0)
