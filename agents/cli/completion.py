"""Completion by the shell: what may follow, as ``argcomplete`` asks for it."""

from __future__ import annotations

import argparse
import glob
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nainjaune_env.registry import game_names, get_game


def complete(parser: argparse.ArgumentParser) -> None:
    """Answers the shell and exits, if the shell has called the command for completions."""
    import argcomplete

    for action in _actions(parser):
        completer = COMPLETERS.get(str(action.metavar or action.dest))
        if completer is not None:
            action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)


def _actions(parser: argparse.ArgumentParser) -> Iterable[argparse.Action]:
    """Yields the arguments of a parser and of its subcommands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from _actions(sub)


def _games(**_: Any) -> Iterable[str]:
    return game_names()


def _presets(**_: Any) -> Iterable[str]:
    """Returns the presets of all games; a preset says which game."""
    return [preset for name in game_names() for preset in get_game(name).presets]


def _knobs(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    """Returns the knobs of the game of the arguments so far, each with its ``=``."""
    from .setups import game_of

    return [f"{name}=" for name in game_of(parsed_args).setup().rules.to_dict()]


def _agents(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    """Returns the heuristics, solutions and zoo players of the game of the arguments so far, and the folders that fit."""
    from ..loading import kept_checkpoints, named_agents
    from .setups import game_of

    folders = [Path(name) for name in glob.glob(f"{glob.escape(prefix.partition('@')[0])}*/")]
    checkpoints = [name for folder in folders for name in kept_checkpoints(folder)]
    return [*named_agents(game_of(parsed_args).name), *_players(), *(f"{folder}/" for folder in folders), *checkpoints]


def _players(**_: Any) -> Iterable[str]:
    from ..zoo import PREFIX, player_registry

    return [PREFIX + name for name in player_registry().names()]


def _registered(**_: Any) -> Iterable[str]:
    """Returns the names of the zoo's players, with and without the prefix."""
    from ..zoo import player_registry

    return [*player_registry().names(), *_players()]


COMPLETERS: dict[str, Callable[..., Iterable[str]]] = {
    "game": _games,
    "preset": _presets,
    "KNOB=VALUE": _knobs,
    "AGENT": _agents,
    "PLAYER": _registered,
}
"""By an argument's placeholder in the help, or its name if it has none."""
