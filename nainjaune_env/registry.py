"""Games by name: every folder in ``nainjaune_env.games`` whose package defines ``SPEC``."""

from __future__ import annotations

import copyreg
import functools
import importlib
import pkgutil

from nainjaune_env import games
from nainjaune_env.core.errors import KeywordError, choose_one
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
    sheets = {sheet: name for name in game_names() for sheet in get_game(name).presets}
    return get_game(DEFAULT_GAME if preset is None else sheets[check_name("preset", preset, sheets)])


def make_setup(game: str | None = None, preset: str | None = None, players: int | None = None, **knobs: object) -> Setup:
    """Returns :meth:`GameSpec.setup` of the game called ``game``; None: the game that has the preset.

    Raises :class:`KeywordError`, which is a ``TypeError`` too, for a keyword that is no knob of the game.
    """
    spec = game_with(preset) if game is None else get_game(game)
    names = spec.presets[spec.default_preset].rules.names()
    for name in knobs:
        if name not in names:
            # TorchRL and others look for these three words in a TypeError, and leave the argument out
            what = f"There is an unexpected keyword argument {name!r}."
            near = choose_one("knob", name, (*names, "game", "preset", "players"))
            hint = "Did you mean 'players'?" if name == "num_players" else near
            raise KeywordError(f"{what} {hint}")
    return spec.setup(preset, players, **knobs)


# a game consists of modules and compiled functions, which cannot be pickled, so its name is
copyreg.pickle(GameSpec, lambda game: (get_game, (game.name,)))
