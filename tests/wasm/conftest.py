"""The modules of games, built once a session. They need the extra ``wasm``, Node.js and wasmtime: ``make wasm`` installs them."""

import functools
from pathlib import Path

import pytest

from nainjaune_env import get_game
from nainjaune_env.engine.modules import build

SMALL = "signal_lamps"
GAMES = (SMALL, *(pytest.param(game, marks=pytest.mark.long) for game in ("nain_jaune", "batasaurus")))
"""The small one always: to compile the two others takes a minute."""


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> "functools._lru_cache_wrapper[Path]":
    """Returns the folder with the module of a game, by its name."""

    @functools.cache
    def built(game: str) -> Path:
        pytest.importorskip("ziglang")
        folder = tmp_path_factory.mktemp("wasm")
        build(get_game(game), folder)
        return folder

    return built
