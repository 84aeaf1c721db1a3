"""Without PufferLib, which pins an older NumPy, its adaptor says what to do; ``make pufferlib`` tests it where PufferLib is."""

from __future__ import annotations

import importlib
import re
import sys

import pytest

from nainjaune_env.core.errors import MissingLibraryError
from nainjaune_env.core.extras import install_command


def test_without_the_library_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pufferlib", None)
    monkeypatch.delitem(sys.modules, "nainjaune_env.envs.pufferlib_env", raising=False)
    wanted = (
        f"The PufferLib adaptor needs the package 'pufferlib', which is not installed: {install_command('pufferlib')}, "
        "then PufferLib itself, without the versions that it pins, as docs/adaptors/pufferlib.md shows."
    )
    with pytest.raises(MissingLibraryError, match=f"^{re.escape(wanted)}$"):
        importlib.import_module("nainjaune_env.envs.pufferlib_env")
