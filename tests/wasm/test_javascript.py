"""The JavaScript wrapper in Node.js: the same games as the compiled loops of this machine, and sentences where it refuses."""

import json
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search.rollouts import rollouts_by
from nainjaune_agents.players.wasm.network import write_network
from nainjaune_env import Batch, get_game, make_setup
from nainjaune_env.core.errors import RulesError
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.engine.options import EpisodeOptions
from tests.wasm.conftest import GAMES, SMALL, node

HERE = Path(__file__).parent
OPTIONS = ", ".join(EpisodeOptions._fields)


@pytest.mark.parametrize("game", GAMES)
def test_matches_are_equal(game: str, folder_of: Callable[[str], Path]) -> None:
    """Plies, observations, the last table and what was won; and a match taken back to its third ply."""
    played = matches(game, folder_of(game))
    presets = make_setup(game).game.presets
    assert [(each["preset"], each["players"]) for each in played] == [
        (name, n) for name in presets for n in presets[name].players
    ]
    for each in played:
        batch = Batch(make_setup(game, each["preset"], each["players"]), 1, episode="match", autoreset=False, log=True)
        batch.reset(seeds=np.array([(each["players"] << 60) % 2**64], np.uint64))
        observations = iter(each["observations"])
        while not batch.done[0]:
            assert batch.observation[0].tolist() == next(observations)
            seat, action = each["plies"][batch.log.count[0]]
            assert batch.seat[0] == seat
            batch.step([action])
        _, seats, actions = batch.log.episode(0)
        assert np.stack([seats, actions], axis=1).tolist() == each["plies"]
        assert batch.reward[0].tolist() == each["reward"]
        assert {name: as_numbers(value) for name, value in each["table"].items()} == {
            name: batch.tables[0][name].ravel().tolist() if batch.tables.dtype[name].ndim else int(batch.tables[0][name])
            for name in batch.tables.dtype.names
        }
        assert each["third"][:3] == each["plies"][:3]
        assert len(each["third"]) < len(each["plies"])


def as_numbers(value: Any) -> Any:
    """Returns a field as Python has it; 64-bit numbers come as text."""
    return [int(one) for one in value] if isinstance(value, list) else int(value)


def lines(game: str, folder: Path) -> list[Any]:
    files = [str(folder / f"{game}.{kind}") for kind in ("wasm", "json")]
    result = subprocess.run([node(), str(HERE / "play.mjs"), *files], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def matches(game: str, folder: Path) -> list[dict[str, Any]]:
    return [line for line in lines(game, folder) if isinstance(line, dict)]


def test_what_is_wrong_is_said_in_a_sentence(folder_of: Callable[[str], Path]) -> None:
    folder = folder_of(SMALL)
    assert [line for line in lines(SMALL, folder) if isinstance(line, str)] == [
        'RangeError: Expected a preset of Signal Lamps (lamps), not "none".',
        'RangeError: The preset "lamps" is for 2 players, not 99.',
        'RangeError: The preset "lamps" is for 2 players, not 2.',
        f"RangeError: Expected options ({OPTIONS}), each 0 or 1, not speed: 1.",
        f"RangeError: Expected options ({OPTIONS}), each 0 or 1, not whole_match: true.",
        'RangeError: Expected the game\'s start values, or none, not "1".',
        "RangeError: Expected a session in use, not one that was freed.",
        "RangeError: Expected a legal action, not 0.",
        "RangeError: Expected a legal action, not 62.",
        "RangeError: Expected a legal action, not 0.",
        "RangeError: Expected a seat from 0 to 1, not 8.",
        "RangeError: Expected a number of plies that have been made, not 1000.",
        "RangeError: Expected 1 to 64 tables of a round in play, not 0.",
        f"The module is {SMALL} {version('nainjaune-env')}, and its description is of {SMALL} 0.0.0: build both together.",
    ]


@pytest.mark.long
def test_players(folder_of: Callable[[str], Path], tmp_path: Path) -> None:
    """Advice and a network, on the page and through messages to a worker, and sentences where something is not allowed."""
    setup = make_setup()
    write_network(tmp_path / "strong.bin", load_agent("zoo:strong", setup), setup)
    files = [str(folder_of("nain_jaune") / f"nain_jaune.{kind}") for kind in ("wasm", "json")]
    command = [node(), str(HERE / "players.mjs"), *files, str(tmp_path / "strong.bin")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    advice, refusals, outdated, played, remote = map(json.loads, result.stdout.splitlines())

    batch = Batch(setup, 1, episode="match", autoreset=False, log=True)
    batch.reset(seeds=np.array([11], np.uint64))
    assert advice["legal"] == np.flatnonzero(batch.mask[0]).tolist()
    worlds = determinize(setup, batch.redacted(np.zeros(1, np.int64)), np.zeros(128, np.int64), np.array([3], np.uint64))
    outcomes = rollouts_by(load_agent("closer", setup), setup).values(worlds, np.repeat(batch.legal, 128))
    outcomes -= np.array(batch.tables[0].stack[batch.seat[0]] - batch.tables[0].before[batch.seat[0]])
    means = outcomes.mean(axis=0)
    best = max(advice["legal"], key=lambda action: means[action])
    assert [value["action"] for value in advice["values"]] == sorted(
        advice["legal"], key=lambda action: (action != best, -means[action])
    )
    for value in advice["values"]:
        ahead = outcomes[:, best] - outcomes[:, value["action"]]
        spread = [column.std(ddof=1) / 128**0.5 for column in (outcomes[:, value["action"]], ahead)]
        given = [value[name] for name in ("count", "mean", "behind", "error", "behindError")]
        assert np.allclose(given, [128, means[value["action"]], ahead.mean(), *spread])
    assert advice["halfWidth"] > 0

    legal = "legal actions, a number of determinizations above 0, and rules under which players need not remember"
    names = ", ".join(heuristics("nain_jaune"))
    players = f'RangeError: Expected a player of Nain Jaune ({names}), not "nobody".'
    size = (tmp_path / "strong.bin").read_bytes()
    weights = len(size) - size.index(b"\n") - 1
    knobs = ", ".join(setup.rules.names())
    actions = ", ".join(map(str, advice["legal"]))
    assert refusals == [
        players,
        players,
        f"RangeError: Expected {legal}, not actions {actions}, 0 determinizations.",
        f"RangeError: Expected {legal}, not actions -1, 1 determinizations.",
        "RangeError: Expected a table with a decision, not one without.",
        "RangeError: The network zoo:strong is for 4 seats of nain_jaune, not for this table.",
        f"RangeError: Expected {weights} bytes of weights after the header, not {weights - 4}: the file is damaged.",
        "RangeError: Expected the file of a network, as `nainjaune network` writes it.",
        "RangeError: Expected a network of version 1, not 2.",
        "RangeError: The network zoo:strong is of nain_jaune as another version has it, not of this nain_jaune.",
        f'RangeError: Unknown knob "colour". Valid: {knobs}.',
        'RangeError: The knob "stake" is a whole number from 1 to 1000000, not 0.',
        'RangeError: The knob "stake" is a whole number from 1 to 1000000, not "1".',
        'RangeError: The knob "decline" is one of never, entry, always, not "often".',
        'RangeError: The knob "end_on_default" is true or false, not 1.',
        *(f"RangeError: {refusal(*ask)}" for ask in NOT_TOGETHER),
    ]
    assert outdated == "RangeError: Since this advice was begun, the table has changed or other advice was."

    assert played["equal"]
    assert len(played["plies"]) > 20
    assert remote["state"]["legal"] == advice["legal"]
    assert remote["hidden"] == ["0", "0", "0"]
    assert remote["steps"] > 1
    assert remote["shown"] in (2, 3)
    assert remote["error"] == "RangeError: Expected a legal action, not -1."
    assert len(remote["plies"]) >= 1
    assert remote["leaked"] == 0


NOT_TOGETHER: list[tuple[str, int, dict[str, Any]]] = [
    ("djeco", 4, {"starting_stack": 14}),
    ("djeco", 4, {"starting_stack": None, "max_rounds": None}),
    ("skip", 8, {"hand": 7}),
]


def refusal(preset: str, players: int, knobs: dict[str, Any]) -> str:
    """Returns why these rules are refused natively."""
    with pytest.raises(RulesError) as caught:
        get_game("nain_jaune").check_match(make_setup("nain_jaune", preset, players, **knobs).rules)
    return str(caught.value)
