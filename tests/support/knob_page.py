"""Compares the page of a changed copy of Nain Jaune, which plays in WebAssembly, with the copy's Python.

python -m tests.support.knob_page FOLDER [KNOB [VALUE]]   the copy in FOLDER has the knob; without a value it does not

``tests/project/test_knob_recipe.py`` makes the copy, and runs this with the folder first on the path.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np

import nainjaune_env
from nainjaune_agents.players import wasm
from nainjaune_agents.tables.site.build import PACKAGE, STATIC
from nainjaune_agents.tables.site.data import setup_data, text_data
from nainjaune_env.build.wasm import build
from nainjaune_env.registry import get_game, make_setup
from tests.wasm.site.test_views import check_page, played_table


def check(folder: Path, knobs: dict[str, int]) -> None:
    """Builds the module and the worker's files of the copy in ``folder``, and plays tables under ``knobs`` on both sides.

    The site as a whole has networks, which a copy with another layout would have to train.
    """
    assert Path(nainjaune_env.__file__).is_relative_to(folder)
    game, site = get_game("nain_jaune"), folder / "site"
    build(game, folder / "modules", [wasm.__name__])
    shutil.copytree(STATIC, site)
    shutil.copytree(PACKAGE, site / "wasm")
    files = site / "games" / game.name
    files.mkdir(parents=True)
    shutil.copy(folder / "modules" / f"{game.name}.wasm", files / "module.wasm")
    shutil.copy(folder / "modules" / f"{game.name}.json", files / "description.json")
    for name, data in {"setup": setup_data(game, {}), "texts": text_data(game)}.items():
        (files / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    rng = np.random.default_rng(1)
    setups = [make_setup(game.name, preset, 4, **knobs) for preset in ("djeco", "skip", "tableau") for _ in range(2)]
    check_page(site, [played_table(setup, rng) for setup in setups])


if __name__ == "__main__":
    check(Path(sys.argv[1]), {sys.argv[2]: int(sys.argv[3])} if len(sys.argv) > 3 else {})
