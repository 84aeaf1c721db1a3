"""Modules of elsewhere as algorithms."""

from __future__ import annotations

from types import ModuleType

import pytest

from nainjaune_agents import train as trainers
from nainjaune_agents.train import get_trainer, register, trainer_names
from nainjaune_env.core.errors import ConfigError


def test_a_registered_module_is_an_algorithm_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainers, "_registered", {})
    module = ModuleType("elsewhere")
    with pytest.raises(ConfigError, match="Unknown algorithm 'elsewhere'"):
        get_trainer("elsewhere")
    register("elsewhere", module)
    register("elsewhere", module)  # a script that is imported twice
    assert get_trainer("elsewhere") is module
    assert "elsewhere" not in trainer_names()  # pages and tests of the package's own


@pytest.mark.parametrize("name", ["ppo", "elsewhere"])
def test_a_name_that_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(trainers, "_registered", {"elsewhere": ModuleType("elsewhere")})
    with pytest.raises(ConfigError, match=f"There is an algorithm '{name}' already"):
        register(name, ModuleType("another"))
