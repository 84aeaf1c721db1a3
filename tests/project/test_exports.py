"""What the package offers under its own name."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import nainjaune_env
from nainjaune_env import agent_adapters, registry
from nainjaune_env.core import errors
from nainjaune_env.engine import batch
from nainjaune_env.envs import leak_check, opponents, pettingzoo_aec, pettingzoo_parallel
from nainjaune_env.text import seat

EXPORTS = {
    "Batch": batch, "NainJauneError": errors, "Pool": opponents, "env": pettingzoo_aec, "game_names": registry,
    "get_game": registry, "make_batch": nainjaune_env, "make_setup": registry, "parallel_env": pettingzoo_parallel,
    "raw_env": pettingzoo_aec, "as_agent": agent_adapters, "TextSeat": seat, "check_no_leak": leak_check,
}  # fmt: skip
"""By public name: the module that it comes from."""


def test_exports() -> None:
    assert nainjaune_env.__all__ == sorted([*EXPORTS, "__version__"])
    for name, module in EXPORTS.items():
        assert getattr(nainjaune_env, name) is getattr(module, name)
    assert nainjaune_env.__version__ == importlib.metadata.version("nainjaune-env")
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
