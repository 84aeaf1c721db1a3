"""Records that JavaScript writes and reads: the same bytes as native ones, and sentences where one is damaged."""

import dataclasses
import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_env import Batch, get_game, make_setup
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import format_record, parse_record, verify_record
from nainjaune_env.records.recorder import record_of_episode
from tests.wasm.conftest import node

HERE = Path(__file__).parent
GAMES = ("nain_jaune", "batasaurus")


def in_javascript(folder: Path, game: str, lines: list[Any]) -> list[Any]:
    """Returns what ``records.mjs`` prints for each line."""
    files = [str(folder / f"{game}.{kind}") for kind in ("wasm", "json")]
    given = "".join(json.dumps(line) + "\n" for line in lines)
    result = subprocess.run([node(), str(HERE / "records.mjs"), *files], input=given, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def random_knobs(game: str, rng: random.Random) -> dict[str, Any]:
    """Returns some knobs with random values, small where they are numbers, as matches of a thousand rounds say no more."""
    knobs: dict[str, Any] = {}
    for f in dataclasses.fields(get_game(game).setup().rules):
        about = f.metadata
        if rng.random() < 0.4:
            values = about["choices"] or (False, True)
            if about["kind"] == "number":
                low = about["low"]
                values = [low, low + 1, min(low + rng.randrange(40), about["high"]), *([None] if about["optional"] else [])]
            knobs[f.name] = rng.choice(list(values))
    return knobs


def settings(game: str, rng: random.Random) -> tuple[Setup, bool, dict[str, Any]]:
    """Returns a setup that may play, whether a whole match is played, and both as JavaScript takes them."""
    while True:
        preset = rng.choice(list(get_game(game).presets))
        players = rng.choice(list(get_game(game).presets[preset].players))
        whole, knobs = rng.random() < 0.7, random_knobs(game, rng)
        if game == "nain_jaune" and whole:
            knobs["max_rounds"] = rng.randrange(1, 5)
        try:
            setup = make_setup(game, preset, players, **knobs)
        except RulesError:
            continue
        return setup, whole, {"preset": preset, "players": players, "knobs": knobs, "options": {"whole_match": int(whole)}}


def native(setup: Setup, whole: bool, state: int, plies: list[list[int]], agents: list[str], seed: int | None) -> str:
    """Returns the record of the same episode, from a batch."""
    batch = Batch(setup, 1, episode="match" if whole else "round", autoreset=False, log=True, skip_forced=False)
    batch.reset(seeds=np.array([state], np.uint64))
    for _, action in plies:
        batch.step([action])
    return format_record(record_of_episode(batch, 0, agents=agents, seed=seed))


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("count", [200, 10_000])
def test_records_are_equal_byte_by_byte(game: str, count: int, folder_of: Callable[[str], Path]) -> None:
    """Over presets, seats and random knobs; each verifies, and JavaScript reads and writes it again."""
    rng = random.Random(f"{game} {count}")
    played = [settings(game, rng) for _ in range(count)]
    names = ["random", "zoo:strong", 'Élodie "7"', "a\tb\x7f", "", "🂡", "x", "y"]
    asked = []
    for setup, _, given in played:
        seed = rng.choice([None, 0, 7, 2**53 - 1])
        asked.append({"settings": given, "agents": names[: setup.players], "seed": seed, "state": str(rng.getrandbits(64))})
    written = in_javascript(folder_of(game), game, asked)
    for (setup, whole, _), ask, line in zip(played, asked, written, strict=True):
        expected = native(setup, whole, int(ask["state"]), line["plies"], ask["agents"], ask["seed"])
        assert line["record"] == expected
        assert verify_record(parse_record(expected)) >= 1
    again = in_javascript(folder_of(game), game, [line["record"] for line in written])
    assert [line["record"] for line in again] == [line["record"] for line in written]


def damaged(record: str, change: Callable[[dict[str, Any]], object]) -> str:
    changed = json.loads(record)
    change(changed)
    return json.dumps(changed)


def without_legal(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the first round, without the optional lists of legal moves."""
    del record["rounds"][0]["legal"]
    first: dict[str, Any] = record["rounds"][0]
    return first


DAMAGES: dict[str, list[tuple[Callable[[dict[str, Any]], object], str]]] = {
    "nain_jaune": [
        (lambda r: r.update(version=2), "of version 1, and it is of version 2: it was written by a newer version"),
        (lambda r: r.update(format="x"), 'with the format "nainjaune-record", and it has "x"'),
        (lambda r: r.update(game="batasaurus"), 'a record of nain_jaune, and it is of "batasaurus"'),
        (lambda r: r.update(more=1), "unknown keys more"),
        (lambda r: r.pop("pots"), "expected the keys pots"),
        (lambda r: r.update(preset="none"), 'Expected a preset of Nain Jaune .* not "none"'),
        (lambda r: r["rules"].update(stake=0), 'knob "stake" is a whole number from 1 to 1000000, not 0'),
        (lambda r: r["rules"].update(colour="red"), "rules: unknown keys colour"),
        (lambda r: r["rules"].update(starting_stack=3), "must cover one round's antes, 15 chips at stake 1, and it is 3"),
        (lambda r: r.update(agents=["a"]), "expected 'agents' to be a list of 4"),
        (lambda r: r.update(seed=-1), "expected 'seed' to be a whole number"),
        (lambda r: r["rounds"][0]["hands"][0].append("As"), r"Round 1: expected 'hands\[0\]' to be a list of 12"),
        (lambda r: r["rounds"][0]["hands"][0].__setitem__(0, r["rounds"][0]["hands"][1][0]), "Round 1: the deal is no deck"),
        (lambda r: r["rounds"][0]["talon"].pop(), "Round 1: expected the talon to be the cards left"),
        (lambda r: without_legal(r)["moves"].pop(), "Round 1: expected a move .* and the moves end"),
        (lambda r: without_legal(r)["moves"].append([0, "-"]), "Round 1, move .*: expected no more moves"),
        (lambda r: r["rounds"][0]["moves"].__setitem__(0, [9, "-"]), r"Round 1, move 1: expected \[.*\], and the move is \[9"),
        (lambda r: r["rounds"][0]["legal"].__setitem__(0, []), "Round 1, move 1: expected 'legal' to hold exactly"),
        (lambda r: r["rounds"][0].update(winner=3 - r["rounds"][0]["winner"]), "Round 1: expected 'winner' to be"),
        (lambda r: r["rounds"][1].update(dealer=9), "Round 2: expected 'dealer' to be"),
        (lambda r: r["rounds"].append(r["rounds"][0]), "expected no more rounds, for the match was over after round 2"),
        (lambda r: r["rounds"].pop(), "expected a round 2, for the match is not over"),
        (lambda r: r.update(winners=[]), r"The end: expected 'winners' to be"),
    ],
    "batasaurus": [
        (
            lambda r: r["layouts"][0].__setitem__(0, r["layouts"][0][1]),
            "expected layout 0 to hold each of the values",
        ),
        (lambda r: r.update(leader=4), "expected 'leader' to be a seat from 0 to 1, not 4"),
        (lambda r: r["moves"].pop(), "expected a move .* and the moves end"),
        (lambda r: r["moves"].append([0, 1]), "expected no more moves"),
        (lambda r: r["moves"].__setitem__(0, [0, 12]), r"Move 1: expected \[.*\], and the move is \[0,12\]"),
        (lambda r: r.update(piles=[24, 0]), "The end: expected 'piles' to be"),
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_damage_is_said_in_a_sentence(game: str, folder_of: Callable[[str], Path]) -> None:
    folder = folder_of(game)
    knobs = {"max_rounds": 2} if game == "nain_jaune" else {}
    setup = make_setup(game, **knobs)
    ask = {"settings": {"knobs": knobs}, "agents": ["a"] * setup.players, "seed": None, "state": "5"}
    ((_, record),) = [line.values() for line in in_javascript(folder, game, [ask])]
    changes, expected = zip(*DAMAGES[game], strict=True)
    sentences = in_javascript(folder, game, [*(damaged(record, change) for change in changes), record[:-5]])
    for sentence, pattern in zip(sentences, [*expected, "Expected a record as JSON"], strict=True):
        assert re.match(rf"^RangeError: .*{pattern}", sentence), (pattern, sentence)


@pytest.mark.long
def test_a_seed_of_64_bits_stays_as_it_is(folder_of: Callable[[str], Path]) -> None:
    ask = {"settings": {}, "agents": ["a", "b"], "seed": 1, "state": "5"}
    (line,) = in_javascript(folder_of("batasaurus"), "batasaurus", [ask])
    record = line["record"].replace('"seed":1', f'"seed":{2**64 - 1}')
    (again,) = in_javascript(folder_of("batasaurus"), "batasaurus", [record])
    assert again["record"] == record
