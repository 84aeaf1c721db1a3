"""The JavaScript wrapper in Node.js: the same games as the compiled loops of this machine, and sentences where it refuses."""

import json
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_env import Batch, make_setup
from tests.wasm.conftest import GAMES, SMALL, node

HERE = Path(__file__).parent


@pytest.mark.parametrize("game", GAMES)
def test_matches_are_equal(game: str, folder_of: Callable[[str], Path]) -> None:
    """Plies, observations, the last table and what was won; and a match taken back to its third ply."""
    found = matches(game, folder_of(game))
    presets = make_setup(game).game.presets
    assert [(each["preset"], each["players"]) for each in found] == [(name, n) for name in presets for n in presets[name].players]
    for each in found:
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
        "RangeError: Expected a legal action, not 0.",
        "RangeError: Expected a legal action, not 62.",
        "RangeError: Expected a legal action, not 0.",
        "RangeError: Expected a seat from 0 to 1, not 8.",
        "RangeError: Expected a number of plies that have been made, not 1000.",
        "RangeError: Expected 1 to 64 tables of a round in play, not 0.",
        f"The module is {SMALL} {version('nainjaune-env')}, and its description is of {SMALL} 0.0.0: build both together.",
    ]
