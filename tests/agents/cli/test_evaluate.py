"""``nainjaune evaluate``: what it prints and leaves, and that what it leaves is played once."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.measure.rows import ROW
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.players.zoo import player_registry
from nainjaune_env.records.record import read_records
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import Capture, nainjaune, output_of, refused
from tests.agents.measure.test_store import all_of
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small
from tests.support.processes import running

TABLE = "--preset djeco --players 3 --seed 5 --chunk 16 --deals"


def results(folder: str) -> tuple[dict[str, Any], bytes]:
    """The numbers of a report, without those of time."""
    payload = json.loads(Path(folder, "results.json").read_text(encoding="utf-8"))
    payload.pop("milliseconds_a_decision", None)
    del payload["made"]
    return payload, Path(folder, "results.csv").read_bytes()


@pytest.mark.slow
def test_end_to_end(capfd: Capture) -> None:
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(small()))
    words = "evaluate --agents random lowest runs/a --preset classic --players 3 --deals 40 --seed 5 --set max_rounds=2"
    out = output_of(capfd, f"{words} --one-table --out results/x")
    assert "classic, 3 players, 40 deals, seed 5" in out
    names = [line.split()[0] for line in out.splitlines() if " ± " in line]
    assert (names[:3], sorted(names[3:])) == (["random", "lowest", "a"], sorted(["random", "lowest", "a"] * 2))
    assert out.rstrip().endswith("Report: results/x/results.html")
    files = ["results.csv", "results.html", "results.json", "results.png", "results.txt", "rows"]
    assert sorted(os.listdir("results/x")) == files
    payload, _ = results("results/x")
    assert (payload["agents"], payload["deals"], payload["seed"]) == (["random", "lowest", "runs/a"], 40, 5)
    assert payload["rules"]["max_rounds"] == 2
    assert [edge["blocks"] for edge in payload["edges"]] == [40] * 6
    assert {entry["measure"] for entry in payload["edges"][0]["measures"]} > {"payoff", "captures_dealt"}
    assert mean_ci(payload["edges"][0]["mean"], payload["edges"][0]["ci95"]) in out
    assert {row["agent"] for row in payload["ranking"]} == {row["agent"] for row in payload["one_table"]} == {*payload["agents"]}


def test_repeated_it_plays_nothing_and_more_deals_are_seen_as_another_look(
    capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, real = list[int](), OwnGame.play
    monkeypatch.setattr(OwnGame, "play", lambda source, *rest, **more: played.append(rest[3]) or real(source, *rest, **more))
    words = f"evaluate --agents random tally {TABLE}"
    first = output_of(capfd, f"{words} 40 --out a")
    assert sum(played) == 2 * 40
    assert "at all looks at once" not in first
    again = output_of(capfd, f"{words} 40 --out a")
    assert (sum(played), again) == (2 * 40, first)
    more = output_of(capfd, f"{words} 64 --out a")
    assert sum(played) == 2 * 64
    assert re.search(r"half the difference of their edges: \S+ ± \S+, at all looks at once \S+ ± ", more)
    assert more.count("Results over 40 deals were reported before: ") == 1
    assert "--verify" not in more


def test_jobs_at_once_in_one_folder_are_one_run(capfd: Capture) -> None:
    words = f"evaluate --agents random lowest tally {TABLE} 40"
    assert nainjaune(capfd, f"{words} --out whole")[0] == 0
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", *words.split(), "--out", "parts", "--shard"]
    jobs = [subprocess.Popen([*command, f"{number}/3"], stdout=subprocess.PIPE, text=True) for number in (1, 2)]
    said = [job.communicate()[0] for job in jobs]
    assert said[1].startswith("Part 2 of 3: 3 units were missing and are played. When all parts are there, the same command")
    status, _, err = nainjaune(capfd, f"{words} --out parts --only-read")
    assert (status, err.endswith("3 units are missing in 'parts', and --only-read plays nothing.")) == (2, False)
    assert "3 units are missing in 'parts', and --only-read plays nothing." in err
    assert nainjaune(capfd, f"{words} --out parts --shard 3/3")[0] == 0
    assert output_of(capfd, f"{words} --out parts --only-read").endswith("Report: parts/results.html\n")
    assert results("parts") == results("whole")


def test_rows_played_again_show_one_that_changed(capfd: Capture) -> None:
    words = f"evaluate --agents lowest tally {TABLE} 40"
    assert nainjaune(capfd, f"{words} --out a")[0] == 0
    assert output_of(capfd, f"{words} --out a --verify 5") == "5 rows played again, all came out the same to the byte.\n"
    rows = all_of(Store(Path("a/rows")))
    rows[0].values[0] += 1
    with Store(Path("b/rows")) as store:
        store.add(rows)
    status, out, _ = nainjaune(capfd, f"{words} --out b --verify 99")
    assert (status, out.splitlines()[1:]) == (1, [f"  payoff, deals {rows[0].first} to {rows[0].end - 1}."])
    assert output_of(capfd, f"{words} --out c --verify 1") == "0 rows played again, none to compare.\n"


def test_until_decided(capfd: Capture) -> None:
    words = "evaluate --agents tally random --until-decided --preset classic --players 3 --bounds 0 2 --seed 3 --out results"
    out = output_of(capfd, words)
    payload, _ = results("results")
    advantage = payload["advantages"][0]
    assert payload["deals"] % ROW == 0
    assert (payload["test"]["outcome"], payload["test"]["llr"] > 2.9) == ("stronger", True)
    assert f"tally is stronger: {mean_ci(advantage['mean'], advantage['anytime95'])} ({payload['deals']} deals)." in out
    assert "The interval at all looks is valid whenever the test stops" in out
    page = Path("results/results.html").read_text(encoding="utf-8")
    assert "--until-decided --bounds 0 2" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("random tally --until-decided --bounds 0 2", r"random is not stronger by 2: −\d"),
        ("tally random --until-decided --deals 40 --bounds 8 8.1", r"Undecided at the cap: \+\d"),
        ("tally random --deals 300", r"tally is stronger\."),
        ("closer tally --deals 40", r"Neither is significantly stronger\."),
    ],
)
def test_the_last_word(words: str, said: str, capfd: Capture) -> None:
    out = output_of(capfd, f"evaluate --preset classic --players 3 --agents {words}")
    assert re.search(rf"\n{said}", out)
    assert ("valid whenever the test stops" in out) == ("--until-decided" in words)


@pytest.mark.parametrize("start", ["", " --start pots=9"])
def test_control_variates(start: str, capfd: Capture) -> None:
    words = f"evaluate --agents lowest tally run_pot --preset classic --players 3 --deals 30 --seed 3{start} --control-variates"
    out = output_of(capfd, words)
    number = r"[+−]\d+\.\d{3} " + (r"\(too few deals\)" if start else r"± \d+\.\d{3}")
    for rival in ("tally", "run_pot"):
        assert re.search(rf"\n  in a field of {rival}: {number}; duplicate play alone needs \d+\.\d times as many deals", out)


def test_runs_are_rated_under_their_own_rules(capfd: Capture) -> None:
    trained = small()
    save_checkpoint(Path("runs") / "a" / FILE_NAME, make(trained))
    words = "evaluate --deals 5 --agents lowest"
    out = output_of(capfd, f"{words} runs/a --out own")
    assert f"preset {trained.preset}, {trained.players} players" in out
    payload, _ = results("own")
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


def test_one_way_reports_the_edges_of_the_first_agent(capfd: Capture) -> None:
    table = output_of(capfd, f"evaluate --agents tally lowest random {TABLE} 12 --one-way --out whole")
    assert [line.split()[0] for line in table.splitlines() if "(too few deals)" in line][:1] == ["tally"]
    assert "\nlowest" not in table  # it is no hero
    page = Path("whole/results.html").read_text(encoding="utf-8")
    assert "<h1>tally in fields of 2 others</h1>" in page
    assert "--one-way" in page
    assert "In a field of random" in page
    assert "In a field of tally" not in page
    with Path("whole/results.csv").open(encoding="utf-8") as file:
        assert {row["hero"] for row in csv.DictReader(file)} == {"tally"}


def test_whole_matches(capfd: Capture) -> None:
    words = "evaluate --agents tally lowest --preset djeco --players 3 --deals 4 --episode match --rounds 2 --one-way --out a"
    out = output_of(capfd, words)
    assert re.match(r"Nain Jaune, preset djeco, 3 players, 4 matches, seed 0\n", out)
    assert re.search(r"\ntally +lowest +[+−]\d\S* ± — +2\.00\n", out)
    payload, _ = results("a")
    assert (payload["deals"], payload["most_rounds"], payload["episode"]) == (4, 2, "match")
    assert output_of(capfd, words).splitlines()[0] == out.splitlines()[0]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no process groups")
def test_stopped_or_killed_it_goes_on_and_leaves_no_process(capfd: Capture) -> None:
    words = f"evaluate --agents random lowest {TABLE} 2000 --out a"
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", *words.split(), "--workers", "2"]

    def lines() -> int:
        return sum(path.read_bytes().count(b"\n") for path in Path("a/rows").glob("*.jsonl"))

    for ending in (signal.SIGKILL, signal.SIGINT):
        before = lines()
        driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while lines() < before + 5:
            assert driver.poll() is None
            time.sleep(0.02)
        workers = running("spawn_main", parent=driver.pid)
        if ending == signal.SIGKILL:
            driver.kill()
        else:
            for _ in range(2):  # all processes of a terminal receive it
                os.killpg(driver.pid, signal.SIGINT)
                time.sleep(0.1)
        _, err = driver.communicate()
        assert ending == signal.SIGKILL or (driver.returncode, err) == (130, "nainjaune evaluate: Stopped.\n")
        while set(running("spawn_main")) & set(workers):
            time.sleep(0.05)
    kept = lines()
    assert nainjaune(capfd, words)[0] == 0
    assert 0 < kept < lines()
    assert nainjaune(capfd, words.replace("--out a", "--out b"))[0] == 0
    assert results("a") == results("b")
