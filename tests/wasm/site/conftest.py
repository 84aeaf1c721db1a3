"""The static site, built once a session with the modules of the other tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nainjaune_agents.tables.site.build import GAMES, build_site


@pytest.fixture(scope="session")
def site(folder_of: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    modules, folder = tmp_path_factory.mktemp("modules"), tmp_path_factory.mktemp("site") / "play"
    for game in GAMES:
        for kind in ("wasm", "json"):
            (modules / f"{game}.{kind}").write_bytes((folder_of(game) / f"{game}.{kind}").read_bytes())
    build_site(folder, modules)
    return folder
