"""An adaptor whose library is not installed says what to install."""

from __future__ import annotations

import importlib
import re
import sys

import pytest

from nainjaune_env.core.extras import install_command


@pytest.mark.parametrize(
    ("module", "library", "said"),
    [
        ("open_spiel", "pyspiel", f"not installed: {install_command('openspiel')}."),
        (
            "sb3_vec_env",
            "stable_baselines3",
            f"'stable_baselines3', which is not installed: {install_command('sb3')}.",
        ),
        ("torchrl_env", "torchrl.data", f"'torchrl', which is not installed: {install_command('torchrl')}."),
        ("rllib", "ray", f": {install_command('rllib')}"),
        (
            "pufferlib_env",
            "pufferlib",
            f"The PufferLib adaptor needs the package 'pufferlib', which is not installed: {install_command('pufferlib')}, "
            "then PufferLib itself, without the versions that it pins, as docs/adaptors/pufferlib.md shows.",
        ),
    ],
)
def test_an_adaptor_says_what_to_install(module: str, library: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"nainjaune_env.envs.{module}"
    for known in [known for known in sys.modules if known == library or known.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match=re.escape(said)):
        importlib.import_module(name)
