"""What the package offers under its own name."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import nainjaune_env
from nainjaune_env import registry
from nainjaune_env.core import errors
from nainjaune_env.engine import batch
from nainjaune_env.envs import opponents, pettingzoo_aec, pettingzoo_parallel


def test_exports() -> None:
    assert nainjaune_env.__all__ == [
        "Batch",
        "NainJauneError",
        "Pool",
        "__version__",
        "env",
        "game_names",
        "get_game",
        "make_batch",
        "make_setup",
        "parallel_env",
        "raw_env",
    ]
    assert nainjaune_env.Batch is batch.Batch
    assert nainjaune_env.NainJauneError is errors.NainJauneError
    assert nainjaune_env.__version__ == importlib.metadata.version("nainjaune-env")
    assert nainjaune_env.env is pettingzoo_aec.env
    assert nainjaune_env.raw_env is pettingzoo_aec.raw_env
    assert nainjaune_env.parallel_env is pettingzoo_parallel.parallel_env
    assert nainjaune_env.game_names is registry.game_names
    assert nainjaune_env.Pool is opponents.Pool
    assert nainjaune_env.get_game is registry.get_game
    assert nainjaune_env.make_setup is registry.make_setup
    assert set(nainjaune_env.__all__) <= set(dir(nainjaune_env))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'enw'"):
        nainjaune_env.enw  # noqa: B018  (looking it up is the test)


def test_importing_registers_the_games_with_gymnasium_and_pettingzoo() -> None:
    code = """import nainjaune_env, gymnasium, pettingzoo
print("NainJaune-v0" in gymnasium.registry, *("nainjaune/nain_jaune-v0" in registry for registry in
      (pettingzoo.aec_registry, pettingzoo.parallel_registry)))"""
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.split() == ["True"] * 3
