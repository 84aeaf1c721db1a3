"""Registers every game with Gymnasium, as ``NainJaune-v0`` and so on; ``import nainjaune_env`` calls it. Imports no game."""

from __future__ import annotations

import gymnasium

from nainjaune_env.registry import game_names


def environment_id(game: str) -> str:
    """Return the game's name in Gymnasium, in the camel case of Gymnasium's own environments."""
    return "".join(word.capitalize() for word in game.split("_")) + "-v0"


def register() -> None:
    """Register the games that Gymnasium does not have yet."""
    for game in game_names():
        name = environment_id(game)
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="nainjaune_env.envs.gymnasium_env:SeatEnv",
                vector_entry_point="nainjaune_env.envs.gymnasium_vector:SeatVectorEnv",
                kwargs={"game": game},
            )
