"""``nainjaune evaluate``: what it prints and leaves, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest

from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.players.zoo import player_registry
from nainjaune_env.records.record import read_records
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import Capture, nainjaune, output_of, refused
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small


@pytest.mark.slow
def test_end_to_end(capfd: Capture) -> None:
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(small()))
    words = "evaluate --agents random lowest runs/a --preset classic --players 3 --deals 40 --seed 5 --set max_rounds=2"
    out = output_of(capfd, f"{words} --out results/x")
    assert "classic, 3 players, 40 deals, seed 5" in out
    assert [line.split()[0] for line in out.splitlines() if " ± " in line] == ["random", "lowest", "a"] * 2  # edges, and ratings
    assert out.rstrip().endswith("Report: results/x/results.html")
    assert sorted(os.listdir("results/x")) == ["results.csv", "results.html", "results.json", "results.png", "results.txt"]
    payload = json.loads(Path("results/x/results.json").read_text(encoding="utf-8"))
    assert (payload["agents"], payload["deals"], payload["seed"]) == (["random", "lowest", "runs/a"], 40, 5)
    assert payload["rules"]["max_rounds"] == 2
    assert [edge["blocks"] for edge in payload["edges"]] == [40] * 6
    assert {entry["measure"] for entry in payload["edges"][0]["measures"]} > {"payoff", "captures_dealt"}
    assert mean_ci(payload["edges"][0]["mean"], payload["edges"][0]["ci95"]) in out
    assert [row["agent"] for row in payload["ratings"]["agents"]] == payload["agents"]
    assert nainjaune(capfd, f"{words} --no-ratings --out results/y")[0] == 0
    plain = json.loads(Path("results/y/results.json").read_text(encoding="utf-8"))
    assert "ratings" not in plain
    assert [edge["mean"] for edge in plain["edges"]] == [edge["mean"] for edge in payload["edges"]]
    refused(capfd, f"{words} --out results/x", r"results\.json' exists, and is not overwritten: choose another --out\.")
    assert json.loads(Path("results/x/results.json").read_text(encoding="utf-8")) == payload


def test_runs_are_rated_under_their_own_rules(capfd: Capture) -> None:
    trained = small()
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(trained))
    words = "evaluate --deals 5 --agents lowest"
    out = output_of(capfd, f"{words} runs/a --out own")
    assert f"preset {trained.preset}, {trained.players} players" in out
    payload = json.loads(Path("own/results.json").read_text(encoding="utf-8"))
    assert (payload["rules"], payload["players"]) == (trained.rules.to_dict(), trained.players)
    table = f"--preset tableau --players {trained.players}"
    refused(capfd, f"{words} runs/a {table}", r"runs/a' was trained under .*payment=points.*, and this table has .*payment=cards")
    status, out, err = nainjaune(capfd, f"{words} runs/a@transfer {table}")
    assert (status, "preset tableau" in out, err) == (0, True, "")
    for_all_tables = str(player_registry().find("zoo:strong", make_setup(preset="djeco", players=2)).path)
    status, _, err = nainjaune(capfd, f"{words} {for_all_tables} {table}")
    assert (status, err) == (0, "")  # it was trained under these rules too


def test_records_verify(capfd: Capture) -> None:
    words = "evaluate --agents lowest random --preset=classic --players=3 --set=max_rounds=2 --deals=2 --seed=4 --matches=5"
    words += " --records=deep/m.jsonl"
    out = output_of(capfd, words)
    assert out.startswith("Records of 5 matches: deep/m.jsonl\n")
    records = list(read_records("deep/m.jsonl"))
    assert [record["agents"] for record in records[:2]] == [["lowest", "random", "lowest"], ["random", "lowest", "random"]]
    status, out, _ = nainjaune(capfd, "record verify deep/m.jsonl")
    assert (status, out) == (0, "deep/m.jsonl: 5 matches, 10 rounds, all verified\n")
    refused(capfd, words, r"'deep/m\.jsonl' exists, and is not overwritten: choose another --records\.")


ONE_WAY = "evaluate --agents tally lowest random --preset djeco --players 3 --deals 12 --chunk 8 --one-way"


def test_one_way_reports_the_edges_of_the_first_agent(capfd: Capture) -> None:
    table = output_of(capfd, f"{ONE_WAY} --out whole")
    assert [line.split()[0] for line in table.splitlines() if "(too few deals)" in line][:1] == ["tally"]
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
    out = output_of(capfd, words)
    assert re.match(r"Nain Jaune, preset djeco, 3 players, 4 matches, seed 0\n", out)
    heads, _, row = out.splitlines()[3:6]
    assert " ".join(heads.split()).endswith("chips a match chips a round rounds a match")
    assert re.search(r"[+−]\d\S* \(too few matches\) +[+−]\d\S* ± — +2\.00$", row)
    payload = json.loads(Path("a/matches.json").read_text(encoding="utf-8"))
    assert [(edge["hero"], edge["field"]) for edge in payload["edges"]] == [("tally", "lowest")]
    assert (payload["matches"], payload["most_rounds"], payload["agents"]) == (4, 2, ["tally", "lowest"])
    refused(capfd, words, r"'a/matches\.json' exists, and is not overwritten")
