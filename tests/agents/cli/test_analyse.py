"""``nainjaune analyse``: what its arguments do, and errors as sentences."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from nainjaune_agents.arena.matches import record_matches
from nainjaune_agents.loading import load_agent
from nainjaune_env.records.record import write_records
from tests.agents.cli.command import status_of
from tests.support.positions import small


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    setup = small(4, max_rounds=2)
    agents = [load_agent(name, setup) for name in ("lowest", "tally", "lowest", "random")]
    path = tmp_path_factory.mktemp("records") / "matches.jsonl"
    write_records(path, record_matches(setup, agents, 2, seed=3))
    return path


def analyse(capfd: pytest.CaptureFixture[str], words: str) -> tuple[int, str, str]:
    status = status_of(["analyse", *words.split()])
    out, err = capfd.readouterr()
    return status, out, err.strip()


QUICK = "--model tally --choosing 40 --measuring 100"


def test_a_file(capfd: pytest.CaptureFixture[str], file: Path, tmp_path: Path) -> None:
    out_file = tmp_path / "review.csv"
    status, out, err = analyse(capfd, f"{file} {QUICK} --out {out_file}")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == ["decisions", "mistakes", "chips", "lost", "a", "round"]
    assert "The costliest mistakes" in out
    assert f"nainjaune advise --record {file} --match " in out
    rows = list(csv.DictReader(out_file.read_text(encoding="utf-8").splitlines()))
    assert {row["match"] for row in rows} == {"1", "2"}
    again, _, err = analyse(capfd, f"{file} {QUICK} --out {out_file}")
    assert again == 2
    assert "is not overwritten: choose another --out." in err


def test_parts_of_a_file_as_json(capfd: pytest.CaptureFixture[str], file: Path) -> None:
    whole = json.loads(analyse(capfd, f"{file} {QUICK} --json")[1])
    assert whole["model"] == {"classic, 4": ["tally"] * 4}
    assert set(whole["players"]) == {"lowest", "tally", "random"}
    match = json.loads(analyse(capfd, f"{file} {QUICK} --json --match 2")[1])
    assert match["decisions"] == [one for one in whole["decisions"] if one["match"] == 2] != []
    player = json.loads(analyse(capfd, f"{file} {QUICK} --json --player random")[1])
    assert [one["regret"] for one in player["decisions"]] == [
        one["regret"] for one in whole["decisions"] if one["player"] == "random"
    ]
    seat = json.loads(analyse(capfd, f"{file} {QUICK} --json --seat 0")[1])
    assert {one["seat"] for one in seat["decisions"]} == {0}


def test_units_give_the_same_output(capfd: pytest.CaptureFixture[str], file: Path, tmp_path: Path) -> None:
    words = f"{file} {QUICK} --player tally --out {tmp_path}"
    alone = analyse(capfd, f"{words}/a")
    assert alone[::2] == (0, "")
    assert analyse(capfd, f"{words}/b --workers 1")[1].replace("/b", "/a") == alone[1]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert analyse(capfd, f"{file} {QUICK} --json --workers 1")[1] == analyse(capfd, f"{file} {QUICK} --json")[1]


def test_in_french(capfd: pytest.CaptureFixture[str], file: Path) -> None:
    status, out, _ = analyse(capfd, f"{file} {QUICK} --lang fr --match 1 --worst 1")
    assert status == 0
    assert "jetons perdus" in out
    assert out.count("nainjaune advise --lang fr") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("{file} --seat 7", "has no such decision: there are 2 matches, seats 0 to 3, and the players "),
        ("{file} --player me", "has no such decision"),
        ("{file} --match 3", "holds 2 matches, so there is no match 3."),
        ("{file} --workers 2 --cluster auto", "--cluster is another place to play"),
        ("{file} --choosing 1", "Argument --choosing: expected a whole number from 2 to 10000000, not '1'."),
        ("{file} --model tally lowest", "Expected 1 or 4 agents at a table with 4 seats, not 2."),
        ("{file} --seed -1", "Argument --seed: expected a whole number from 0 to 18446744073709551615, not '-1'."),
        ("nowhere.jsonl", "No such file or directory"),
        ("{empty}", "has no such decision: it is empty."),
    ],
)
def test_errors_are_sentences(capfd: pytest.CaptureFixture[str], file: Path, tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "empty.jsonl").touch()
    status, out, err = analyse(capfd, words.replace("{file}", str(file)).replace("{empty}", str(tmp_path / "empty.jsonl")))
    assert (status, out) == (2, "")
    assert err.startswith("nainjaune analyse: ")
    assert said in err
