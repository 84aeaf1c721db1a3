"""Every game in Gymnasium's registry: ``NainJaune-v0`` and its like. Run by ``import nainjaune_env``; imports no game."""

from __future__ import annotations

import gymnasium

from nainjaune_env.registry import game_names


def environment_id(game: str) -> str:
    """What Gymnasium calls the game: its name in capitals as Gymnasium's own environments have them."""
    return "".join(word.capitalize() for word in game.split("_")) + "-v0"


def register() -> None:
    """Enter the games that are not there yet."""
    for game in game_names():
        name = environment_id(game)
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="nainjaune_env.envs.gymnasium_env:SeatEnv",
                vector_entry_point="nainjaune_env.envs.gymnasium_vector:SeatVectorEnv",
                kwargs={"game": game},
            )
