"""Completion by the shell: what may follow, as ``argcomplete`` asks for it."""

from __future__ import annotations

import argparse
import glob
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nainjaune_env.registry import game_names, get_game

from .setups import game_of


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


def _agents(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    """Returns the heuristics, solutions and zoo players of the game of the arguments so far, and the folders that fit."""
    from ..players.loading import kept_checkpoints, named_agents

    folders = [Path(name) for name in glob.glob(f"{glob.escape(prefix.partition('@')[0])}*/")]
    checkpoints = [name for folder in folders for name in kept_checkpoints(folder)]
    return [*named_agents(game_of(parsed_args).name), *_players(), *(f"{folder}/" for folder in folders), *checkpoints]


def _players() -> list[str]:
    """Returns the zoo's players with their prefix."""
    from ..players.zoo import PREFIX, player_registry

    return [PREFIX + name for name in player_registry().names()]


COMPLETERS: dict[str, Callable[..., Iterable[str]]] = {
    "game": lambda **_: game_names(),
    "preset": lambda **_: [preset for name in game_names() for preset in get_game(name).presets],  # a preset says which game
    "KNOB=VALUE": lambda parsed_args, **_: [f"{name}=" for name in game_of(parsed_args).setup().rules.to_dict()],
    "AGENT": _agents,
    "PLAYER": lambda **_: [*(player.partition(":")[2] for player in _players()), *_players()],
}
"""By an argument's placeholder in the help, or its name if it has none."""
