"""Nain Jaune, and its like, as environments for learning agents.

Everything public is named here and loaded when it is first used, so that importing the package costs
next to nothing. ``env``, ``raw_env`` and ``parallel_env`` are PettingZoo environments, ``gymnasium.make("NainJaune-v0")`` makes
one of Gymnasium's; ``Batch`` is what they are made of.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nainjaune_env.core import machine as _machine  # noqa: F401  (first: it says where nothing here can run)
from nainjaune_env.envs.registration import register

if TYPE_CHECKING:
    from nainjaune_env.agent_adapters import as_agent
    from nainjaune_env.core.errors import NainJauneError
    from nainjaune_env.engine.batch import Batch, make_batch
    from nainjaune_env.envs.leak_check import check_no_leak
    from nainjaune_env.envs.opponents import Pool
    from nainjaune_env.envs.pettingzoo_aec import env, raw_env
    from nainjaune_env.envs.pettingzoo_parallel import parallel_env
    from nainjaune_env.registry import game_names, get_game, make_setup
    from nainjaune_env.text.seat import TextSeat

    __version__: str

__all__ = [
    "Batch",
    "NainJauneError",
    "Pool",
    "TextSeat",
    "__version__",
    "as_agent",
    "check_no_leak",
    "env",
    "game_names",
    "get_game",
    "make_batch",
    "make_setup",
    "parallel_env",
    "raw_env",
]

_HOMES = {
    "Batch": "engine.batch",
    "NainJauneError": "core.errors",
    "Pool": "envs.opponents",
    "TextSeat": "text.seat",
    "as_agent": "agent_adapters",
    "check_no_leak": "envs.leak_check",
    "env": "envs.pettingzoo_aec",
    "game_names": "registry",
    "get_game": "registry",
    "make_batch": "engine.batch",
    "make_setup": "registry",
    "parallel_env": "envs.pettingzoo_parallel",
    "raw_env": "envs.pettingzoo_aec",
}
"""Public name -> the module of this package that defines it."""

# gymnasium.make finds environments in its registry only
register()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("nainjaune-env")
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
