"""The games that a test is about: all, or those that offer some hooks."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from nainjaune_env.core.rules import Preset
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import game_names, get_game

ONLY = os.environ.get("TEST_GAME")
"""The one game that the contract tests are about, such as one of another distribution."""


def games_with(*hooks: str) -> tuple[str, ...]:
    """Names of the games whose spec has all these ``hooks`` (``pictures``, ``speaker``, ...); at least one of all games."""
    names = game_names() if ONLY is None else [ONLY]
    result = tuple(name for name in names if all(getattr(get_game(name), hook) is not None for hook in hooks))
    assert result or ONLY, f"no game has {', '.join(hooks)}"
    return result


def without(setup: Setup, *hooks: str) -> Setup:
    """The same setup of a copy of its game that lacks these ``hooks``."""
    game = replace(setup.game)
    vars(game).update(dict.fromkeys(hooks))
    return replace(setup, game=game)


def seats_at_most(game: str, players: int) -> int:
    """``players``, or the most seats of the game's default preset where it has fewer."""
    spec = get_game(game)
    return min(players, spec.presets[spec.default_preset].players[-1])


def marks_of_seats(preset: Preset, players: int) -> list[Any]:
    """Marks of a case with that many seats: ``make test`` plays at the fewest and the most of a preset, ``make long`` at all."""
    return [] if players in (preset.players[0], preset.players[-1]) else [pytest.mark.long]
