"""One observation layout for all tables of a game, whatever the number of seats and the house rules.

The layout of a setup grows with its seats. The common layout is that of the most seats any preset allows, followed by slots
that say how many seats there are and what the rules are; where a table has fewer seats, what would be about the others
stands at its slot's ``zero``, which a network sees as 0. Nothing here knows a game: which slots are about seats follows from
the game's layouts with few and with many of them, and the rules' slots from the declarations of the knobs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.rules import Rules
from nainjaune_env.core.spec import GameSpec, Setup

SEATS = "seats"
"""The slot that says how many seats there are."""
TOP = 255
"""The largest byte: a knob that may be as large is coded, see :func:`number_code`; others stand as they are."""
STEPS = 32
"""Codes an octave of such a knob."""


def common_layout(game: GameSpec) -> Layout:
    """The slots of an observation at any table of ``game``."""
    counts = seat_counts(game)
    seats = Feature(SEATS, (len(counts),), f"one-hot: seats at the table, from {counts[0]} to {counts[-1]}")
    return Layout((*game.layout(counts[-1]).slots, seats, *rule_slots(game)))


def seat_counts(game: GameSpec) -> range:
    """From the fewest to the most seats that a preset of ``game`` allows."""
    sheets = game.presets.values()
    return range(min(sheet.players[0] for sheet in sheets), max(sheet.players[-1] for sheet in sheets) + 1)


class CommonView:
    """The observations of one setup, as the common layout of its game has them."""

    def __init__(self, setup: Setup, *, omniscient: bool = False) -> None:
        """``omniscient``: of what a critic sees in training (``Batch.omniscient``), not of what seats observe."""
        own, whole = setup.layout, common_layout(setup.game)
        if omniscient:
            own, whole = own.omniscient(setup.players), whole.omniscient(seat_counts(setup.game)[-1])
        self.layout = whole
        """The common layout, of ``size`` bytes."""
        self.places = places(own, whole)
        """Where each byte of the setup's own observations stands in it, shape ``(own size,) int64``."""
        self.rest: NDArray[np.uint8] = whole.zero.astype(np.uint8)
        """What stands everywhere else, shape ``(size,) uint8``: seats and rules, and zeros for the seats that are not there."""
        for name, value in _table_bytes(setup):
            whole.view(self.rest, name)[...] = value

    def __call__(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """``observation (K, own size)`` in the common layout, ``(K, size)``."""
        seen = np.tile(self.rest, (len(observation), 1))
        seen[:, self.places] = observation
        return seen


def places(part: Layout, whole: Layout) -> NDArray[np.int64]:
    """Where the bytes of ``part`` stand in ``whole``, shape ``(part.size,)``: both have its slots, ``whole`` perhaps longer.

    Along every axis that is longer, ``part`` takes the first places: relative seats count from the observer on. Raises
    ValueError where a slot is not the same thing in both.
    """
    found = [np.arange(0)]
    for slot in part:
        large = whole[slot.name]
        same = dataclasses.replace(large, shape=slot.shape, meaning=slot.meaning) == slot
        if not same or len(slot.shape) != len(large.shape) or any(a > b for a, b in zip(slot.shape, large.shape, strict=True)):
            raise ValueError(f"slot {slot.name!r} is {slot} in one layout and {large} in the other: no part of it")
        span = whole.where(slot.name)
        numbers = np.arange(span.start, span.stop).reshape(large.shape)
        found.append(numbers[tuple(slice(size) for size in slot.shape)].ravel())
    return np.concatenate(found)


def rule_slots(game: GameSpec) -> tuple[Feature, ...]:
    """Slots for the knobs of ``game`` that reach its kernel, in order of declaration.

    A knob that is a word has a byte for each of its choices, so that the layout's fingerprint tells when one is added or they
    change places; a number that may be None has one that says so, and one for the number.
    """
    slots: list[Feature] = []
    for f in dataclasses.fields(_usual_rules(game)):
        if not reaches_play(game, f.name):
            continue
        about, name = f.metadata, f"rules.{f.name}"
        if about["kind"] == "word":
            slots += [
                Feature(f"{name}={choice}", (1,), f"whether it is {choice!r}: {about['meaning']}") for choice in about["choices"]
            ]
        elif about["kind"] == "flag":
            slots.append(Feature(name, (1,), about["meaning"]))
        else:
            if about["optional"]:
                slots.append(Feature(f"{name}=None", (1,), f"whether it is None: {about['meaning']}"))
            if about["high"] < TOP:
                slots.append(Feature(name, (1,), about["meaning"], high=about["high"], scale=float(about["high"])))
            else:
                coded = f"exact below {2 * STEPS}, then in steps of 1/{STEPS} octave, up to {TOP}"
                slots.append(Feature(name, (1,), f"{about['meaning']}; {coded}", high=TOP, scale=float(STEPS)))
    return tuple(slots)


def number_code(number: int) -> int:
    """``number >= 0`` as a byte, log-linear: exact below 64, then 32 codes an octave, cut off at 255 (from 4032 up)."""
    octaves = max(number.bit_length() - (2 * STEPS - 1).bit_length(), 0)
    return min(octaves * STEPS + (number >> octaves), TOP)


def reaches_play(game: GameSpec, knob: str) -> bool:
    """Whether the kernel is told of a knob; one that only says how the table is drawn it is not. A number counts as told."""
    rules, players = _usual_rules(game), game.default_players
    about = type(rules).__dataclass_fields__[knob].metadata
    if about["kind"] == "number":
        return True
    try:
        told = {game.compile_rules(rules.replace(**{knob: value}), players) for value in about["choices"] or (False, True)}
    except RulesError:  # other knobs would have to change with it: it is no matter of drawing
        return True
    return len(told) > 1


def _usual_rules(game: GameSpec) -> Rules:
    return game.presets[game.default_preset].rules


def _table_bytes(setup: Setup) -> Iterator[tuple[str, Any]]:
    """The slots beyond the observation, by name, and what they hold at a table with this ``setup``."""
    yield SEATS, np.array(seat_counts(setup.game)) == setup.players
    for slot in rule_slots(setup.game):
        knob, equals, value = slot.name.removeprefix("rules.").partition("=")
        held = getattr(setup.rules, knob)
        if equals:
            yield slot.name, str(held) == value
        elif held is None:
            yield slot.name, 0
        else:
            yield slot.name, number_code(held) if slot.high == TOP else held
