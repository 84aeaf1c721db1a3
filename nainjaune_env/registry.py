"""Games by name: every folder in ``nainjaune_env.games`` whose package defines ``SPEC``."""

from __future__ import annotations

import copyreg
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any

from nainjaune_env import games
from nainjaune_env.core.errors import KeywordError, RulesError, choose_one
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.validation import check_name
from nainjaune_env.games import DEFAULT_GAME


@functools.cache
def game_names() -> tuple[str, ...]:
    """Returns the names of all games, sorted."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(games.__path__) if found.ispkg))


def get_game(name: str = DEFAULT_GAME) -> GameSpec:
    """Returns the game called ``name``; raises :class:`RulesError` for an unknown name."""
    return _import_game(check_name("game", name, game_names()))


@functools.cache
def _import_game(name: str) -> GameSpec:
    spec = importlib.import_module(f"{games.__name__}.{name}").SPEC
    assert isinstance(spec, GameSpec)
    return spec


def game_with(preset: str | None) -> GameSpec:
    """Returns the game with the preset ``preset``, whose name is unique among games; for None, the default game.

    Raises :class:`RulesError` for an unknown preset.
    """
    sheets = _game_of_presets()
    return get_game(DEFAULT_GAME if preset is None else sheets[check_name("preset", preset, sheets)])


def _game_of_presets() -> dict[str, str]:
    """Returns the name of the game of every preset."""
    return {sheet: name for name in game_names() for sheet in get_game(name).presets}


def make_setup(game: str | None = None, preset: str | None = None, players: int | None = None, **knobs: object) -> Setup:
    """Returns the rules of a table: a game's ``preset``, its number of ``players``, and ``knobs`` set over the preset.

    ``game`` None is the game that has the preset, ``preset`` and ``players`` None are the game's defaults. Raises
    :class:`RulesError` for an unknown game or preset, and for a number of players or a value of a knob that the rules do not
    have, and :class:`KeywordError`, which is a ``TypeError`` too, for a keyword that is no knob of the game.
    """
    return _checked_setup(make_setup, game, preset, players, knobs)


def adaptor_setup(
    adaptor: type[object], game: str | None, preset: str | None, players: int | None, knobs: Mapping[str, Any]
) -> Setup:
    """Returns :func:`make_setup` for the class ``adaptor``, whose constructor takes ``knobs`` beside its own arguments.

    Raises its errors; that for an unknown keyword names the constructor's arguments too.
    """
    return _checked_setup(adaptor.__init__, game, preset, players, knobs)


def _checked_setup(
    function: Callable[..., object], game: str | None, preset: str | None, players: int | None, knobs: Mapping[str, Any]
) -> Setup:
    if isinstance(game, str) and game not in game_names() and game in _game_of_presets():
        raise RulesError(f"{game!r} is a preset, not a game: preset={game!r} is enough.")
    spec = game_with(preset) if game is None else get_game(game)
    names = spec.presets[spec.default_preset].rules.names()
    for name in knobs:
        if name not in names:
            # TorchRL and others look for these three words in a TypeError, and leave the argument out
            what = f"There is an unexpected keyword argument {name!r}."
            near = choose_one("argument or knob", name, (*_own_arguments(function), *names))
            hint = "Did you mean 'players'?" if name == "num_players" else near
            raise KeywordError(f"{what} {hint}")
    return spec.setup(preset, players, **knobs)


def _own_arguments(function: Callable[..., object]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and one.name != "self"]


# a game consists of modules and compiled functions, which cannot be pickled, so its name is
copyreg.pickle(GameSpec, lambda game: (get_game, (game.name,)))
