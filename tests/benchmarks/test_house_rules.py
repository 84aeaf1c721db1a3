"""The rating of a player under every house rule: what is played, resumed, summed up, and written into a model card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.players.zoo import HouseRules, load_card
from nainjaune_env import get_game, make_setup
from tests.agents.players.zoo.boxes import put
from tests.benchmarks.commands import BENCHMARKS, command, module
from tests.support.source import ROOT

house_rules = module("house_rules")
GAME = get_game("nain_jaune")
TAKEN = BENCHMARKS / "taken" / "house_rules.jsonl"
DRAWN = BENCHMARKS / "taken" / "drawn_rules.jsonl"


def row(knobs: dict[str, Any], mean: float, players: int = 3) -> dict[str, Any]:
    return {"preset": "classic", "players": players, "knobs": knobs, "mean": mean, "ci95": 1.0}


def test_a_run_continues_and_is_summed_up(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    line = "--agent tally --field lowest --preset djeco --players 2 --deals 3 --pairs 2"
    words = [*line.split(), "--out", out]
    assert command("house_rules", *words).returncode == 0
    whole = out.read_text()
    rows = house_rules.rows_of(out)
    assert [len(one["knobs"]) for one in rows] == [0] + [1] * (len(rows) - 3) + [2, 2]
    assert {"decline": "always"} in [one["knobs"] for one in rows]
    out.write_text("".join(whole.splitlines(keepends=True)[:-4]))
    assert command("house_rules", *words).returncode == 0
    assert out.read_text() == whole
    assert "has results of other agents" in command("house_rules", *words, "--seed", "3").stderr
    table = command("house_rules", "--markdown", "--out", out).stdout
    assert table.count("\n| ") == len({repr(one["knobs"]) for one in rows[:-2]}) + 1
    assert "| two random knobs | 2 |" in table


def test_settings_with_one_to_four_random_knobs_are_those_of_their_seed(tmp_path: Path) -> None:
    line = "--agent tally --field lowest --preset djeco --deals 2 --random 20 --rules-seed"
    of_seed = []
    for name, seed in (("one", "5"), ("again", "5"), ("other", "6")):
        assert command("house_rules", *line.split(), seed, "--out", tmp_path / name).returncode == 0
        of_seed.append([(row["players"], row["knobs"]) for row in house_rules.rows_of(tmp_path / name)])
    assert of_seed[0] == of_seed[1] != of_seed[2]
    assert {len(knobs) for _, knobs in of_seed[0]} == {1, 2, 3, 4}


def test_every_knob_of_drawn_settings_is_drawn_from_the_ranges(tmp_path: Path) -> None:
    out = tmp_path / "drawn.jsonl"
    line = "--agent tally --field lowest --deals 2 --drawn 30 --rules-seed 5 --out"
    assert command("house_rules", *line.split(), out).returncode == 0
    setups = [make_setup("nain_jaune", one["preset"], one["players"], **one["knobs"]) for one in house_rules.rows_of(out)]
    assert len(setups) == 30
    for setup in setups:
        assert all(getattr(setup.rules, knob) in values for knob, values in house_rules.RANGES.items())
    assert min(len(setup.knobs) for setup in setups) > 4


def test_house_rules_are_those_clearly_above_zero_in_all_results() -> None:
    rows = [
        row({}, 2.0), row({"stake": 2}, 2.0), row({"stake": 5}, 2.0), row({"stake": 20}, 0.5), row({"decline": "always"}, 2.0),
        row({"max_rounds": 1}, 2.0), row({"stake": 2, "decline": "entry"}, 2.0),
        row({}, 2.0, players=4), row({"stake": 5}, 2.0, players=4), row({}, 0.9, players=5), row({"stake": 2}, 2.0, players=5),
    ]  # fmt: skip
    others = [one for one in rows if one["knobs"] != {"decline": "always"}]
    expected = [HouseRules("classic", [3], {"stake": [1, 2, 5]}), HouseRules("classic", [4], {"stake": [1, 5]})]
    assert house_rules.house_rules(GAME, [rows, others], presets=True) == expected
    alone = house_rules.house_rules(GAME, [rows], presets=False)
    assert alone[0] == HouseRules("classic", [3], {"decline": ["never", "always"], "stake": [1, 2, 5]})
    assert alone[1:] == [expected[1], HouseRules("classic", [5], {"stake": [1, 2]})]


@pytest.mark.parametrize(
    ("tried", "good", "usual", "listed"),
    [
        (["never", "entry"], ["entry"], "always", ["always", "entry"]),
        ([None, 49, 60, 200], [None, 60, 200], 49, [49, None, 60, 200]),
        ([None, 60, 200], [None, 200], 49, [49, None]),
        ([49, 60, 200, 1000], [49, 200, 1000], None, [None, 200, 1000]),
        ([False, True], [True], False, [False, True]),
    ],
)
def test_numbers_on_a_card_have_no_bad_one_between_them(tried: list[Any], good: list[Any], usual: Any, listed: list[Any]) -> None:
    assert house_rules.without_gaps(tried, good, usual) == listed


def test_they_are_written_into_a_card(tmp_path: Path) -> None:
    card = put(tmp_path, "strong", make_setup(preset="classic", players=3), "nain_jaune", anywhere=True).with_suffix(".json")
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(one) + "\n" for one in (row({}, 2.0), row({"stake": 2}, 2.0))))
    assert command("house_rules", "--card", card, "--results", results).returncode == 0
    assert load_card(card).house_rules == [HouseRules("classic", [3], {"stake": [1, 2]})]


@pytest.mark.parametrize(
    ("means", "plays"),
    [([2.0] * 97 + [0.5] * 3, True), ([2.0] * 96 + [0.5] * 4, False), ([2.0] * 99 + [-1.5], False), ([2.0] * 99, False)],
)
def test_a_player_for_any_rules_is_rarely_in_between_and_never_below(tmp_path: Path, means: list[float], plays: bool) -> None:
    card = put(tmp_path, "any", make_setup(preset="classic", players=3), "nain_jaune", anywhere=True).with_suffix(".json")
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(row({}, mean)) + "\n" for mean in means))
    assert command("house_rules", "--drawn", "100", "--card", card, "--results", results).returncode == 0
    assert load_card(card).fallback is plays


def test_a_refusal_is_not_above_zero() -> None:
    rows = [row({}, 2.0)] * 97 + [{"refused": "It plays elsewhere."}] * 3
    assert house_rules.plays_any(rows, 100)
    assert not house_rules.plays_any([*rows, {"refused": "It plays elsewhere."}], 100)


def test_the_page_has_the_table_of_drawn_settings_and_the_card_says_what_it_shows() -> None:
    rows = house_rules.rows_of(DRAWN)
    assert house_rules.markdown(rows, drawn=True) in (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
    assert house_rules.plays_any(rows, 300)
    assert load_card(ROOT / "agents" / "players" / "zoo" / "strong-any" / "nain_jaune.json").fallback


def test_the_page_has_the_table_of_the_results_and_nothing_below_zero() -> None:
    rows = house_rules.rows_of(TAKEN)
    assert house_rules.markdown(rows) in (ROOT / "docs" / "lab" / "zoo.md").read_text(encoding="utf-8")
    assert len(rows) >= 300
    assert not [one for one in rows if one.get("mean", 0.0) < -one.get("ci95", 0.0)]


@pytest.mark.parametrize(
    "rated", [one for taken in (TAKEN, DRAWN) for one in house_rules.rows_of(taken)[::40] if "file" in one], ids=str
)
def test_the_registry_still_chooses_the_file_that_was_rated(rated: dict[str, Any]) -> None:
    setup = make_setup("nain_jaune", rated["preset"], rated["players"], **rated["knobs"])
    assert house_rules.checkpoint_path(rated["agent"], setup).stem == rated["file"]
