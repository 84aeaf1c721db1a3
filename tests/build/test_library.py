"""The library of a small game by ctypes: the same tables as ``Batch``, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players.heuristics import heuristics_module
from nainjaune_env import Batch, get_game, make_setup
from nainjaune_env.build.library import build_library, functions_of, parts_of
from nainjaune_env.build.wasm import WORLDS, describe
from nainjaune_env.compiler.platforms import platform_names
from nainjaune_env.core.errors import MissingLibraryError, NainJauneError
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.compiled import loops_of, numbers_of
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.engine.options import EpisodeOptions
from nainjaune_env.engine.start_values import MAX_START_VALUE
from tests.support.libraries import EXTENSIONS, Library, Tables, library_of

pytestmark = pytest.mark.scripts
GAMES = ("signal_lamps", *(pytest.param(game, marks=pytest.mark.long) for game in ("nain_jaune", "batasaurus")))
"""The small one always: to compile the two others takes a minute."""


@pytest.fixture(scope="module", params=GAMES)
def library(request: pytest.FixtureRequest) -> Library:
    return Library(library_of(request.param), request.param)


def test_files_fit_the_library(library: Library) -> None:
    game = library.game
    folder = library_of(game.name).parent
    made = parts_of(game, functions_of(game, EXTENSIONS), EXTENSIONS)
    assert library.function("fingerprint")() == made.fingerprint
    assert json.loads((folder / f"{game.name}.json").read_text()) == describe(game, EXTENSIONS)
    assert f"_FINGERPRINT {made.fingerprint}\n" in (folder / f"{game.name}.h").read_text()


def test_a_session_is_a_table_of_a_batch(library: Library) -> None:
    """Matches ply by ply, taken back, and determinizations."""
    session, rng = library.session, np.random.default_rng(1)
    for name, preset in library.game.presets.items():
        for players in preset.players:
            setup = make_setup(library.game.name, name, players)
            batch = Batch(setup, 1, episode="match", autoreset=False, deal=False)
            batch.reset(seeds=np.array([players], np.uint64))
            session["knobs"][: len(setup.rules.numbers())] = setup.rules.numbers()
            session["numbers"][-5:] = batch.options
            assert library("pack", players) == 0
            assert session["numbers"].tolist() == batch.numbers.tolist()
            assert library("begin", players, 0) == 0
            while not batch.done[0]:
                assert session["tables"][0].tobytes() == batch.tables[0].tobytes()
                assert session["observation"][0, : setup.layout.size].tobytes() == batch.observation[0].tobytes()
                action = int(rng.choice(np.flatnonzero(batch.mask[0])))
                batch.step([action])
                assert library("step", action) == 0
                assert session["reward"][0, :players].tolist() == batch.reward[0].tolist()
            last = session["tables"].tobytes()
            assert library("rewind", 0) == 0
            seat, table = int(session["tables"]["seat"][0]), session["tables"].copy()
            assert library("resample", 9, WORLDS) == 0
            redacted = table.copy()
            loops_of(setup).redact_tables(redacted, numbers_of(setup), np.array([seat]))
            worlds = determinize(setup, redacted, np.zeros(WORLDS, np.int64), np.array([9], np.uint64))
            assert session["worlds"].tobytes() == worlds.tobytes()
            assert last != table.tobytes()


@pytest.mark.parametrize("autoreset", [False, True])
def test_many_tables_are_those_of_a_batch(library: Library, autoreset: bool) -> None:
    for name, preset in library.game.presets.items():
        for players in preset.players:
            setup = make_setup(library.game.name, name, players)
            batch = Batch(setup, 5, deal=False, autoreset=autoreset)
            tables = Tables(library, 5, batch.numbers, players)
            states, choices = np.arange(5, dtype=np.uint64), streams(1, 5, 7)
            batch.reset(seeds=states)
            assert tables("reset_tables", states) == 0
            for step in range(60):
                for field in ("tables", "legal", "observation", "mask", "reward", "deals", "done"):
                    assert getattr(tables, field).tobytes() == getattr(batch, field).tobytes(), (step, field)
                if batch.done.all() and not autoreset:
                    break
                actions = batch.sample(choices).astype(np.int32)
                batch.step(actions)
                assert tables("step_tables", actions) == 0


def test_an_illegal_action_is_named_and_changes_nothing(library: Library) -> None:
    setup = library.game.setup()
    tables = Tables(library, 3, Batch(setup, 1, autoreset=False).numbers, setup.players)
    assert tables("reset_tables", np.arange(3, dtype=np.uint64)) == 0
    before = tables.tables.tobytes()
    legal = tables.mask.argmax(axis=1).astype(np.int32)
    for action in (-1, 63, 1 << 30, -(1 << 31), int(tables.mask[2].argmin())):
        assert tables("step_tables", np.array([*legal[:2], action], np.int32)) == -3
    assert tables.tables.tobytes() == before
    assert tables("step_tables", legal) == 0


def test_what_is_no_batch_is_refused(library: Library) -> None:
    setup = library.game.setup()
    numbers, states = numbers_of(setup).copy(), np.arange(2, dtype=np.uint64)
    for place, number in ((0, 0), (0, 1), (0, 99), (0, -1)):
        numbers[place] = number
        tables = Tables(library, 2, numbers, setup.players)
        assert tables("reset_tables", states) == tables("observe_tables") == -1
        assert tables("step_tables", states.astype(np.int32)) == -1
    tables = Tables(library, 2, numbers_of(setup), setup.players)
    tables.count = -1
    assert tables("reset_tables", states) == tables("step_tables", states.astype(np.int32)) == tables("observe_tables") == -1
    tables.count = 2
    values = sum(library.game.start_values.values())
    for value in (-1, MAX_START_VALUE + 1, MAX_START_VALUE):
        tables.start_values = np.full((2, max(values, 1)), value, np.int32)
        assert tables("reset_tables", states) == (0 if value == MAX_START_VALUE or not values else -1)


def test_heuristics_decide_at_all_tables(library: Library) -> None:
    setup = library.game.setup()
    module: Any = heuristics_module(library.game.name)
    memory = getattr(module, "MEMORY", 0)
    tables = Tables(library, 4, numbers_of(setup, EpisodeOptions(0, 0, 1, 0, 1)), setup.players)
    states, actions = np.arange(4, dtype=np.uint64), np.zeros(4, np.int32)
    hidden = np.zeros((4, setup.players, max(memory, 1)), np.uint8)
    tables("reset_tables", states)
    for agent in range(-1, len(describe(library.game, EXTENSIONS)["agents"]) - 1):
        assert tables("decide_tables", agent, states, hidden, actions) == 0
        assert tables.mask[np.arange(4), actions].all()
        if agent >= 0:
            seats = tables.tables["seat"]
            for i in range(4):
                expected = module.decide(agent, tables.tables[i], setup.kernel_rules, tables.legal[i], hidden[i, seats[i]])
                assert actions[i] == expected
    for agent in (-2, 99):
        assert tables("decide_tables", agent, states, hidden, actions) == -1


def test_a_session_without_rules_or_with_autoreset_is_refused(library: Library) -> None:
    """With autoreset the log would be written beyond its end."""
    library.block[:] = 0
    for name, args in {
        "begin": (1, 0),
        "place": (0,),
        "ply": (0,),
        "deal": (),
        "step": (0,),
        "rewind": (0,),
        "observe": (0,),
    }.items():
        assert library(name, *args) == -1
    assert library("resample", 1, 1) == -1
    setup = library.game.setup()
    options = EpisodeOptions(whole_match=0, carry=0, skip_forced=1, autoreset=1, observe=1)
    library.session["numbers"][:] = numbers_of(setup, options)
    assert library("begin", 1, 0) == library("place", 0) == -1
    library.session["numbers"][:] = numbers_of(setup, options._replace(autoreset=0))
    assert library("rewind", 0) == -1
    assert library("begin", 1, 0) == 0
    assert library("rewind", 0) == 0


def test_what_cannot_be_built_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    game = get_game("signal_lamps")
    with pytest.raises(NainJauneError, match=r"(?i)unknown platform 'linux-arm'.*linux-aarch64"):
        build_library([game], tmp_path / "x", ["linux-arm"])
    assert not (tmp_path / "x").exists()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r"needs the package 'ziglang'.*wasm"):
        build_library([game], tmp_path, platform_names()[-1:])
