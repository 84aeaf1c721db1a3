"""An adaptor whose library is not installed says what to install."""

from __future__ import annotations

import importlib
import re
import sys

import pytest

from nainjaune_env.core.extras import install_command


@pytest.mark.parametrize(
    ("module", "library", "extra", "said"),
    [
        ("open_spiel", "pyspiel", "openspiel", "not installed: {}."),
        ("sb3_vec_env", "stable_baselines3", "sb3", "'stable_baselines3', which is not installed: {}."),
        ("torchrl_env", "torchrl.data", "torchrl", "'torchrl', which is not installed: {}."),
        ("rllib", "ray", "rllib", ": {}"),
        ("pufferlib_env", "pufferlib", "pufferlib", "which is not installed: {}, then PufferLib itself, without the "),
    ],
)
def test_an_adaptor_says_what_to_install(
    module: str, library: str, extra: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"nainjaune_env.envs.{module}"
    for known in [known for known in sys.modules if known == library or known.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match=re.escape(said.format(install_command(extra)))):
        importlib.import_module(name)
