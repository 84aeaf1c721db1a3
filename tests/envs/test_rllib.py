"""Without RLlib, which Ray alone does not include, the adaptor says so; with it, ``tests/rllib`` is run by ``make rllib``."""

from __future__ import annotations

import importlib
import importlib.util
import re

import pytest

from nainjaune_env.core.errors import MissingLibraryError
from nainjaune_env.core.extras import install_command


@pytest.mark.skipif(importlib.util.find_spec("tree") is not None, reason="RLlib is here")
def test_without_rllib_a_sentence_says_what_to_install() -> None:
    with pytest.raises(
        MissingLibraryError, match=f"The RLlib adaptor needs the package 'ray', .*: {re.escape(install_command('rllib'))}"
    ):
        importlib.import_module("nainjaune_env.envs.rllib")
