"""OpenSpiel's own checkers, run on our games: its simulations, the API suites that its wheel ships, its playthroughs.

Where a suite keeps a table of what it expects of each game (how many states there are), ours is counted by
``nainjaune_agents.players.exact``, which writes the same games out in another way.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.integration_tests import api_test
from open_spiel.python.tests import games_sim_test

import nainjaune_env.envs.open_spiel  # noqa: F401  (enters the games)
from nainjaune_agents.study.exact.tree import Openings, Tree, build_tree
from nainjaune_env.registry import get_game
from tests.envs import playthroughs
from tests.support.games import games_with

NAMES = [f"python_{name}" for name in games_with("chance")]
BASE = [
    f"python_{name}(preset={preset},players={players})"
    for name in games_with("chance")
    for preset, sheet in get_game(name).presets.items()
    for players in {sheet.players[0], sheet.players[-1]}
]
TURNED = [
    "python_nain_jaune(preset=classic,players=5,decline=always,starting_stack=30,end_on_default=yes,skip_forced=False)",
    "python_nain_jaune(preset=tableau,announce=explicit,stake=2,returns=net)",
    "python_nain_jaune(players=2,ranks=5,suits=2,hand=4,chance=deal)",
    "python_batasaurus(players=3,exhausted=void,memory=perfect,returns=net)",
    "python_batasaurus(dinosaurs=3,chance=deal,skip_forced=False)",
]
FULL_TREES = [
    "python_nain_jaune(players=2,ranks=4,suits=1,hand=2,chance=deal)",
    "python_nain_jaune(players=3,ranks=6,suits=1,hand=2,chance=deal,preset=classic)",
    "python_batasaurus(dinosaurs=3,memory=perfect,chance=deal,returns=net)",
    "python_batasaurus(dinosaurs=2,chance=deal,exhausted=void)",
]


def tree_of(game: Any) -> Tree:
    """The same game written out by ``nainjaune_agents.players.exact``."""
    listed = list(game.chance.openings(game.setup))
    ways = np.array([number for _, number in listed], np.float64)
    tables = np.array([game.chance.opening(game.setup, drawn) for drawn, _ in listed], game.spec.table)
    return build_tree(game.setup, Openings(tables, ways / ways.sum()))


# ---------------------------------------------------------------- simulations


@pytest.mark.parametrize("game", sorted({*NAMES, *BASE, *TURNED}))
def test_random_sim_test(game: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(game), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("game", [*NAMES, *TURNED])
def test_games_sim_test(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np.random, "choice", np.random.RandomState(1).choice)  # it draws from the global generator
    games_sim_test.GamesSimTest().sim_game(pyspiel.load_game(game))


@pytest.mark.parametrize("name", NAMES)
def test_its_registry_knows_what_a_game_of_default_parameters_is(name: str) -> None:
    (registered,) = [entry for entry in pyspiel.registered_games() if entry.short_name == name]
    made = pyspiel.load_game(name).get_type()
    assert registered == made
    assert pyspiel.load_game(str(pyspiel.load_game(name))).get_parameters() == registered.parameter_specification


# ---------------------------------------------------------------- API suites


def run_suite(base: Any, game_string: str, name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every test of a suite of ``api_test`` on one game; gives their names."""
    suite = type("Suite", (base,), {"game_name": name, "game": pyspiel.load_game(game_string)})
    monkeypatch.setattr(random, "choice", random.Random(2).choice)  # its sample of states comes from the global generator
    suite.setUpClass()
    names = [test for test in dir(suite) if test.startswith("test_")]
    for test in names:
        getattr(suite(test), test)()
    return names


@pytest.mark.parametrize("game", [*NAMES, *TURNED])
def test_api_on_a_partial_tree(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run_suite(api_test.EnforceAPIOnPartialTreeBase, game, game.partition("(")[0], monkeypatch)
    assert len(ran) >= 5


@pytest.mark.parametrize("game", FULL_TREES)
def test_api_on_a_full_tree(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(pyspiel.load_game(game))
    monkeypatch.setitem(api_test.TOTAL_NUM_STATES, game, (1, tree.decision_nodes, tree.size - tree.decision_nodes))
    monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, game, tree.num_infosets)
    ran = run_suite(api_test.EnforceAPIOnFullTreeBase, game, game, monkeypatch)
    assert {"test_number_of_nodes", "test_game_is_perfect_recall", "test_constant_sum"} <= set(ran)


# ---------------------------------------------------------------- playthroughs


@pytest.mark.parametrize("name", playthroughs.CASES)
def test_a_golden_playthrough_is_played_again_to_the_letter(name: str) -> None:
    path = playthroughs.FOLDER / f"{name}.txt"
    assert path.exists(), f"{path.name} is missing; `python -m tests.envs.playthroughs` writes it"
    kept, again = playthroughs.replay(name)
    assert again == kept
    assert playthroughs.play(name) == kept


def test_there_is_a_playthrough_of_every_game_and_no_other() -> None:
    assert {game.partition("(")[0] for game in playthroughs.CASES.values()} == set(NAMES)
    assert {path.stem for path in playthroughs.FOLDER.glob("*")} == set(playthroughs.CASES)
