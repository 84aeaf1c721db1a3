"""Registers every game with Gymnasium and PettingZoo, where they are installed; ``import nainjaune_env`` calls it.

No game is imported. Since version 1.0 Gymnasium has no entry points for environments: packages register them at import.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from nainjaune_env.registry import game_names

PETTINGZOO = {
    "aec": "nainjaune_env.envs.pettingzoo_aec:env",
    "parallel": "nainjaune_env.envs.pettingzoo_parallel:parallel_env",
}
"""PettingZoo's interfaces, and the function or class that makes an environment with each."""


def environment_id(game: str) -> str:
    """Returns the game's name in Gymnasium, in the camel case of Gymnasium's own environments."""
    return "".join(word.capitalize() for word in game.split("_")) + "-v0"


def pettingzoo_id(game: str) -> str:
    """Returns the game's name in PettingZoo, in snake case as PettingZoo's own environments have it."""
    return f"nainjaune/{game}-v0"


def pettingzoo_spec(interface: str, game: str, arguments: Mapping[str, Any]) -> Any:
    """Returns PettingZoo's ``EnvSpec`` of an environment with these arguments; None for versions without a registry."""
    import pettingzoo

    if not hasattr(pettingzoo, "EnvSpec"):
        return None
    return pettingzoo.EnvSpec(pettingzoo_id(game), PETTINGZOO[interface], {**arguments, "game": game})


def register() -> None:
    """Registers the games that Gymnasium and PettingZoo do not have yet, where these are installed."""
    for library, enter in (("gymnasium", _register_with_gymnasium), ("pettingzoo", _register_with_pettingzoo)):
        if find_spec(library) is not None:
            for game in game_names():
                enter(game)


def _register_with_gymnasium(game: str) -> None:
    import gymnasium

    name = environment_id(game)
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="nainjaune_env.envs.gymnasium_env:SeatEnv",
            vector_entry_point="nainjaune_env.envs.gymnasium_vector:SeatVectorEnv",
            kwargs={"game": game},
        )


def _register_with_pettingzoo(game: str) -> None:
    import pettingzoo

    for interface, entry_point in PETTINGZOO.items() if hasattr(pettingzoo, "register") else ():  # older versions have none
        registry = pettingzoo.aec_registry if interface == "aec" else pettingzoo.parallel_registry
        if pettingzoo_id(game) not in registry:
            pettingzoo.register(interface, pettingzoo_id(game), entry_point, kwargs={"game": game})
