"""Without OpenEnv its environment says what to install; with it, ``tests/openenv`` tests it."""

from __future__ import annotations

import importlib
import re
import sys

import pytest

from nainjaune_env.core.errors import MissingLibraryError
from nainjaune_env.core.extras import install_command


def test_the_environment_for_openenv_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openenv", None)
    with pytest.raises(MissingLibraryError, match=re.escape(f"'openenv', which is not installed: {install_command('openenv')}.")):
        importlib.import_module("nainjaune_agents.text_envs.openenv.server")
