"""``nainjaune evaluate``: what it prints and leaves, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest

from nainjaune_agents.cli.evaluate import MOVED
from nainjaune_agents.cli.main import COMMANDS
from nainjaune_agents.nets.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.report.format_ci import mean_ci
from nainjaune_agents.zoo import player_registry
from nainjaune_env.records.record import read_records
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import Capture, nainjaune, refused
from tests.agents.nets.test_checkpoint import make
from tests.support.positions import small


@pytest.mark.slow
def test_end_to_end(capfd: Capture) -> None:
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(small()))
    words = "evaluate --agents random lowest runs/a --preset classic --players 3 --deals 40 --seed 5 --set max_rounds=2"
    status, out, err = nainjaune(capfd, f"{words} --out results/x")
    assert (status, err) == (0, "")
    assert "classic, 3 players, 40 deals, seed 5" in out
    assert [line.split()[0] for line in out.splitlines() if " ± " in line] == ["random", "lowest", "a"] * 2  # edges, and ratings
    assert out.rstrip().endswith("Report: results/x/results.html")
    assert sorted(os.listdir("results/x")) == ["results.csv", "results.html", "results.json", "results.txt"]
    held = json.loads(Path("results/x/results.json").read_text(encoding="utf-8"))
    assert (held["agents"], held["deals"], held["seed"]) == (["random", "lowest", "runs/a"], 40, 5)
    assert held["rules"]["max_rounds"] == 2
    assert [edge["blocks"] for edge in held["edges"]] == [40] * 6
    assert {entry["measure"] for entry in held["edges"][0]["measures"]} > {"payoff", "captures_dealt"}
    assert mean_ci(held["edges"][0]["mean"], held["edges"][0]["ci95"]) in out
    assert [row["agent"] for row in held["ratings"]["agents"]] == held["agents"]
    assert nainjaune(capfd, f"{words} --no-ratings --out results/y")[0] == 0
    plain = json.loads(Path("results/y/results.json").read_text(encoding="utf-8"))
    assert "ratings" not in plain
    assert [edge["mean"] for edge in plain["edges"]] == [edge["mean"] for edge in held["edges"]]

    before = Path("results/x/results.json").read_bytes()
    refused(capfd, f"{words} --out results/x", r"results\.json' exists, and is not overwritten: choose another --out\.")
    assert Path("results/x/results.json").read_bytes() == before


def test_runs_are_rated_under_their_own_rules(capfd: Capture) -> None:
    trained = small()
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(trained))
    words = "evaluate --deals 5 --agents lowest"
    status, out, err = nainjaune(capfd, f"{words} runs/a --out own")
    assert (status, err) == (0, "")
    assert f"preset {trained.preset}, {trained.players} players" in out
    held = json.loads(Path("own/results.json").read_text(encoding="utf-8"))
    assert (held["rules"], held["players"]) == (trained.rules.to_dict(), trained.players)
    table = f"--preset tableau --players {trained.players}"
    refused(capfd, f"{words} runs/a {table}", r"runs/a' was trained under .*payment=points.*, and this table has .*payment=cards")
    status, out, err = nainjaune(capfd, f"{words} runs/a@transfer {table}")
    assert (status, "preset tableau" in out, err) == (0, True, "")
    for_all_tables = str(player_registry().find("zoo:strong", make_setup(preset="djeco", players=2)).path)
    status, _, err = nainjaune(capfd, f"{words} {for_all_tables} {table}")
    assert (status, err) == (0, "")  # it was trained under these rules too


def test_it_says_the_same_for_the_same_seed(capfd: Capture) -> None:
    one, two, other = (
        nainjaune(capfd, f"evaluate --agents random longest --deals 30 --seed {seed}")[1] for seed in ("1", "1", "2")
    )
    assert one == two
    assert one.splitlines()[3:] != other.splitlines()[3:]


def test_records_verify(capfd: Capture) -> None:
    words = "evaluate --agents lowest random --preset=classic --players=3 --set=max_rounds=2 --deals=2 --seed=4 --matches=5"
    words += " --records=deep/m.jsonl"
    status, out, _ = nainjaune(capfd, words)
    assert status == 0
    assert out.startswith("Records of 5 matches: deep/m.jsonl\n")
    records = list(read_records("deep/m.jsonl"))
    assert [record["agents"] for record in records[:2]] == [["lowest", "random", "lowest"], ["random", "lowest", "random"]]
    status, out, _ = nainjaune(capfd, "record verify deep/m.jsonl")
    assert (status, out) == (0, "deep/m.jsonl: 5 matches, 10 rounds, all verified\n")
    refused(capfd, words, r"'deep/m\.jsonl' exists, and is not overwritten: choose another --records\.")


ONE_WAY = "evaluate --agents tally lowest random --preset djeco --players 3 --deals 12 --chunk 8 --one-way"


def test_one_way_reports_the_edges_of_the_first_agent(capfd: Capture) -> None:
    status, table, _ = nainjaune(capfd, f"{ONE_WAY} --out whole")
    assert status == 0
    assert [line.split()[0] for line in table.splitlines() if "±" in line or "differ" in line][:1] == ["tally"]
    assert "\nlowest" not in table  # it is no hero
    assert "rating" not in table
    page = Path("whole/results.html").read_text(encoding="utf-8")
    assert "<h1>tally in fields of 2 others</h1>" in page
    assert "--one-way --chunk 8" in page
    assert "In a field of random" in page
    assert "In a field of tally" not in page
    with Path("whole/results.csv").open(encoding="utf-8") as file:
        assert {row["hero"] for row in csv.DictReader(file)} == {"tally"}
    for number in (1, 2):
        assert nainjaune(capfd, f"{ONE_WAY} --out parts --shard {number}/2")[0] == 0
    assert "one_way" in json.loads(Path("parts/shards/run.json").read_text(encoding="utf-8"))["plan"]
    assert nainjaune(capfd, "merge parts")[0] == 0
    assert Path("parts/results.txt").read_text(encoding="utf-8") == Path("whole/results.txt").read_text(encoding="utf-8")


def test_whole_matches(capfd: Capture) -> None:
    words = "evaluate --agents tally lowest --preset djeco --players 3 --deals 4 --episode match --rounds 2 --one-way --out a"
    status, out, _ = nainjaune(capfd, words)
    assert status == 0
    assert re.match(r"Nain Jaune, preset djeco, 3 players, 4 matches, seed 0\n", out)
    assert "rounds a match" in out
    held = json.loads(Path("a/matches.json").read_text(encoding="utf-8"))
    assert [(edge["hero"], edge["field"]) for edge in held["edges"]] == [("tally", "lowest")]
    assert (held["matches"], held["most_rounds"], held["agents"], "commit" in held) == (4, 2, ["tally", "lowest"], True)
    refused(capfd, words, r"'a/matches\.json' exists, and is not overwritten")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", r"The following arguments are required: --agents"),
        ("--agents lowest", r"takes two or more agents"),
        ("--agents lowest --out new/out --records new/records.jsonl", r"takes two or more agents"),
        ("--agents lowest lowest", r"agents of different names, not \['lowest', 'lowest'\]"),
        ("--agents lowest lowset", r"Unknown agent 'lowset'\. Did you mean 'lowest'\?"),
        ("--agents lowest runs/none", r"There is no run or checkpoint at 'runs/none'"),
        ("--agents lowest random --preset clasic", r"Unknown preset 'clasic'\. Did you mean 'classic'\?"),
        ("--agents lowest random --game nain", r"Unknown game 'nain'\."),
        ("--agents lowest random --players 9", r"for 2 to 4 players, not 9"),
        ("--agents lowest random --set stak=2", r"Unknown knob 'stak'\. Did you mean 'stake'\?"),
        ("--agents lowest random --set preset=skip", r"Unknown knob 'preset'"),
        ("--agents lowest random --set stake=x", r"The knob 'stake' is a whole number from 1"),
        ("--agents lowest random --set stake", r"A setting is key=value, not 'stake'"),
        ("--agents lowest random --deals 1", r"Argument --deals: expected a whole number from 2 to 1000000000, not '1'\."),
        ("--agents lowest random --seed -1", r"Argument --seed: expected a whole number from 0 to \d{20}, not '-1'\."),
        ("--agents lowest random --records m.jsonl --matches 0", r"Argument --matches: expected a whole number from 1 to"),
        ("--agents lowest random --preset classic --set max_rounds=null --records m.jsonl", r"has no end"),
        ("--agents lowest random --rounds 3", r"--rounds is the length of matches: it goes with --episode match\."),
        ("--agents lowest random --episode match --records m", r"--episode match goes without --records\."),
        ("--agents lowest random --episode match --device cuda", r"--episode match goes without --device cuda\."),
        ("--agents lowest random --deals 2 --out file", r"File exists|Not a directory"),
        ("--agents lowest random --deals 2 --out file/deep", r"File exists|Not a directory"),
        ("--agents lowest random --deals 2 --records file/m.jsonl", r"File exists|Not a directory"),
        # former options
        ("--versus lowest random --until-decided", r"--versus is a command: nainjaune versus A B\."),
        ("--agents lowest random --control-variates", r"--control-variates are a command: nainjaune control --agents A B\."),
        ("--watch --agents lowest random", r"--watch is a command: nainjaune watch --agents A B\."),
        ("--list", r"--list is a command: nainjaune agents\."),
        ("--agents lowest random --pots 1 2 3 4 5", r"--pots is a start: --start pots=20 puts 20 chips into each pot\."),
    ],
)
def test_errors_are_a_sentence(words: str, says: str, capfd: Capture) -> None:
    Path("file").write_text("", encoding="utf-8")
    refused(capfd, f"evaluate {words}", says)


def test_former_options_name_commands_that_there_are() -> None:
    named = [name for sentence in MOVED.values() for name in re.findall(r"nainjaune (\w+)", sentence)]
    assert len(named) == 5
    assert set(named) <= {command.NAME for command in COMMANDS}
