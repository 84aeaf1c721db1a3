"""Games by name: the folders in ``nainjaune_env.games``, and the games that other distributions offer by an entry point."""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from nainjaune_env import games
from nainjaune_env.core.errors import GameError, KeywordError, RulesError, quoted, unknown_name_message
from nainjaune_env.core.hooks import described, located
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.validation import check_name
from nainjaune_env.games import DEFAULT_GAME

GROUP = "nainjaune_env.games"
"""The entry points with which other distributions offer games: ``name = "package:SPEC"``."""


@functools.cache
def _offers() -> dict[str, list[EntryPoint]]:
    """Returns who offers a game, by the game's name, in alphabetical order: the folder first. Imports no game."""
    packages = [module.name for module in pkgutil.iter_modules(games.__path__) if module.ispkg]
    ours = [EntryPoint(name, f"{games.__name__}.{name}:SPEC", GROUP) for name in packages]
    offers: dict[str, list[EntryPoint]] = {}
    for offer in sorted((*ours, *entry_points(group=GROUP)), key=lambda offer: offer.name):
        offers.setdefault(offer.name, []).append(offer)
    return offers


def game_names() -> tuple[str, ...]:
    """Returns the names of all games, sorted."""
    return tuple(_offers())


def get_game(name: str = DEFAULT_GAME) -> GameSpec:
    """Returns the game called ``name``.

    Raises :class:`RulesError` for an unknown name, and :class:`GameError`, which names the game's folder, if it cannot be loaded.
    """
    return _import_game(check_name("game", name, game_names()))


@functools.cache
def _import_game(name: str) -> GameSpec:
    offer, *others = _offers()[name]
    if others:
        homes = " and ".join(located(offer.module) for offer in (offer, *others))
        raise GameError(f"Expected one game called {name!r}, not {homes}.")
    try:
        spec = offer.load()
    except Exception as error:
        raise GameError(f"The game {located(offer.module)} cannot be loaded: {described(error)}") from error
    if not isinstance(spec, GameSpec) or spec.name != name:
        raise GameError(f"Expected a GameSpec of the name {name!r} from {located(offer.module)}, not {quoted(spec)}.")
    return spec


def game_with(preset: str | None) -> GameSpec:
    """Returns the game with the preset ``preset``, whose name is unique among games; for None, the default game.

    Raises :class:`RulesError` for an unknown preset, and :class:`GameError` for one that two games have.
    """
    if preset is None:
        return get_game(DEFAULT_GAME)
    games_of = _game_of_presets()
    return get_game(games_of[check_name("preset", preset, games_of)])


def _game_of_presets() -> dict[str, str]:
    """Returns the name of the game of every preset; raises :class:`GameError` if two games have the same one."""
    games_of: dict[str, str] = {}
    for game in game_names():
        for preset in get_game(game).presets:
            if games_of.setdefault(preset, game) != game:
                both = " and ".join(located(get_game(one).package) for one in (games_of[preset], game))
                raise GameError(f"Expected a preset {preset!r} of one game, not of the games {both}.")
    return games_of


def make_setup(game: str | None = None, preset: str | None = None, players: int | None = None, **knobs: object) -> Setup:
    """Returns the rules of a table: a game's ``preset``, its number of ``players``, and ``knobs`` set over the preset.

    ``game`` None is the game that has the preset, ``preset`` and ``players`` None are the game's defaults. Raises
    :class:`RulesError` for an unknown game or preset, and for a number of players or a value of a knob that the rules do not
    have, and :class:`KeywordError`, which is a ``TypeError`` too, for a keyword that is no knob of the game.
    """
    return _checked_setup(make_setup, game, preset, players, knobs)


def resolve_setup(game: str | None, preset: str | None, players: int | None, rules: Mapping[str, Any]) -> Setup:
    """Returns :func:`make_setup` with the knobs ``rules`` over the preset's; of ``Setup.to_dict`` it makes the same setup again.

    Raises its errors, and :class:`RulesError` for a name that is no knob, whatever a file has for it: :func:`make_setup` would
    take one called ``preset`` for its argument.
    """
    setup = make_setup(game, preset, players)
    for name in rules:
        check_name("knob", name, setup.rules.names())
    return dataclasses.replace(setup, rules=setup.rules.replace(**rules))


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
            near = unknown_name_message("argument or knob", name, (*_own_arguments(function), *names))
            hint = "Did you mean 'players'?" if name == "num_players" else near
            raise KeywordError(f"{what} {hint}")
    return spec.setup(preset, players, **knobs)


def _own_arguments(function: Callable[..., object]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and one.name != "self"]


# a game consists of modules and compiled functions, which cannot be pickled, so its name is
copyreg.pickle(GameSpec, lambda game: (get_game, (game.name,)))
