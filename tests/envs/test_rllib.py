"""RLlib is not in this environment, and says so; with it, ``tests/rllib`` is run by ``make rllib``."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

from nainjaune_env.core.errors import MissingLibraryError


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="RLlib is here")
def test_without_rllib_a_sentence_says_what_to_install() -> None:
    with pytest.raises(MissingLibraryError, match=r"The RLlib adaptor needs the package 'ray', .*'nainjaune-env\[rllib\]'"):
        importlib.import_module("nainjaune_env.envs.rllib")
