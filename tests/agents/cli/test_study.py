"""``nainjaune study``: what it prints and leaves."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.study.files import about
from nainjaune_env.core.extras import install_command
from tests.agents.cli.command import status_of


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(capfd: pytest.CaptureFixture[str], words: str) -> tuple[int, str, str]:
    status = status_of(["study", *shlex.split(words)])
    out, err = capfd.readouterr()
    return status, out, err


NAMES = ("decisions.parquet", "rounds.parquet", "options.parquet")
SMALL = "--preset classic --players 3 --set max_rounds=2"


@pytest.mark.slow
def test_files_and_the_command_that_makes_them_again(capfd: pytest.CaptureFixture[str]) -> None:
    words = f"--agents lowest random {SMALL} --matches 6 --seed 3 --first 2 --every-ply --search 4 --search-share 0.5 --out a/b"
    status, out, err = study(capfd, words)
    assert status == 0, err
    metadata = about(Path("a/b/decisions.parquet"))
    assert (metadata["episode"], metadata["episodes"], metadata["first"], metadata["every_ply"]) == ("match", 6, 2, True)
    assert metadata["search"] == {"by": "lowest", "deals": 4, "share": 0.5}
    lines = out.splitlines()
    assert re.fullmatch(r"6 matches in \d+\.\d s, [\d,]+ a second", lines[0])
    assert [line.split(":")[0] for line in lines[1:]] == [f"a/b/{name}" for name in NAMES]
    assert "36 rows" in lines[2]
    again = shlex.split(metadata["command"])
    assert again[:2] == ["nainjaune", "study"]
    assert main(again[1:]) == 0
    for name in NAMES:
        assert Path("study", name).read_bytes() == Path("a/b", name).read_bytes()


def test_rounds_with_pots_and_fixed_seats(capfd: pytest.CaptureFixture[str]) -> None:
    words = f"--agents lowest tally random {SMALL} --rounds 5 --seating fixed --pots 9 0 0 0 0 --search 2 --search-by random"
    words += " --out s"
    status, _, err = study(capfd, words)
    assert status == 0, err
    metadata = about(Path("s/rounds.parquet"))
    assert (metadata["seating"], metadata["pots"], metadata["search"]["by"]) == ("fixed", [9, 0, 0, 0, 0], "random")
    assert main([*shlex.split(metadata["command"])[1:]]) == 0
    assert Path("study/decisions.parquet").read_bytes() == Path("s/decisions.parquet").read_bytes()


def test_files_without_rows(capfd: pytest.CaptureFixture[str]) -> None:
    """In rounds of one card nobody decides."""
    words = "--agents lowest --preset skip --players 2 --set hand=1 --rounds 4"
    assert study(capfd, f"{words} --out parts --shard 1/1")[0] == status_of(["merge", "parts"]) == 0
    merged = capfd.readouterr().out.splitlines()
    status, out, err = study(capfd, f"{words} --out parts/whole")
    assert status == 0, err
    for lines in (merged, out.replace("parts/whole", "parts").splitlines()[1:]):
        assert lines[0] == "parts/decisions.parquet: 0 rows, 0.0 MB"
        assert re.fullmatch(r"parts/rounds\.parquet: 8 rows, .* bytes a row", lines[1])


def test_columns_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = study(capfd, f"--columns {SMALL}")
    assert status == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines["pot_7d"].split("  ")[-1] == "Chips in the pot."
    assert "  hidden  Who holds the pot's card" in lines["holder_7d"]
    assert {"decisions.parquet", "rounds.parquet", "stack_of_2", "captured_7d"} <= lines.keys()
    assert not {"stack_of_3", "regret", "options.parquet"} & lines.keys()
    searched = {line.split()[0] for line in study(capfd, f"--columns --search 2 {SMALL}")[1].splitlines()}
    assert {"regret", "options.parquet", "option_run"} <= searched
    assert os.listdir() == []


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def test_parts_merge_to_the_whole(capfd: pytest.CaptureFixture[str]) -> None:
    words = f"--agents lowest random {SMALL} --rounds 10 --seed 3 --chunk 4 --search 2 --out"
    assert study(capfd, f"{words} whole")[0] == 0
    status, out, _ = study(capfd, f"{words} parts --shard 2/2")
    assert (status, out) == (0, "Part 2 of 2: 1 shards, 4 rounds. When all parts are there: nainjaune merge parts\n")
    status = status_of(["merge", "parts"])
    assert (status, os.listdir("parts")) == (2, ["shards"])
    assert "2 of 3 shards are missing in 'parts/shards'" in capfd.readouterr().err
    status, _, err = study(capfd, f"{words} parts --shard 1/2 --seed 4")
    assert status == 2
    assert "parts/shards belongs to another run: its seed is 3, not 4." in err
    assert study(capfd, f"{words} parts --shard 1/2")[0] == 0
    assert status_of(["merge", "parts"]) == 0
    assert [line.split(":")[0] for line in capfd.readouterr().out.splitlines()] == [f"parts/{name}" for name in NAMES]
    assert contents("parts") == contents("whole")
    assert not Path("parts/shards").exists()
    assert status_of(["merge", "parts"]) == 2
    assert "'parts/decisions.parquet' exists, and is not overwritten" in capfd.readouterr().err


def test_workers_leave_the_same_files_and_go_on_from_finished_parts(capfd: pytest.CaptureFixture[str]) -> None:
    words = f"--agents lowest random {SMALL} --rounds 10 --seed 3 --chunk 4 --out"
    assert study(capfd, f"{words} whole")[0] == study(capfd, f"{words} a --shard 2/2")[0] == 0
    before = {path.name: path.stat().st_mtime_ns for path in Path("a/shards").iterdir()}
    status, out, _ = study(capfd, f"{words} a --workers 1")
    assert status == 0
    assert re.match(r"10 rounds in \d+\.\d s", out)
    assert len(before) == 2
    assert contents("a") == contents("whole")
    assert not Path("a/shards").exists()
    status, _, err = study(capfd, f"{words} a --workers 1")
    assert status == 2
    assert "'a' exists, and is not overwritten" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--rounds 5 --out s", "Expected agents that play, as in --agents tally lowest"),
        (
            "--agents lowest --out s",
            "Expected a number of rounds or matches and a folder, as in --rounds 10000 --out studies/first",
        ),
        ("--agents lowest --rounds 5", "Expected a number of rounds or matches and a folder"),
        ("--agents lowest --rounds 0 --out s", "--rounds: expected a whole number from 1 to"),
        ("--agents lowest --rounds 5 --out .", "exists, and is not overwritten"),
        ("--agents lowest --rounds 5 --out . --workers 2", "exists, and is not overwritten"),
        ("--agents lowest --rounds 5 --out s --workers 2 --cluster auto", "--cluster is another place to play"),
        ("--agents lowest --rounds 5 --out s --chunk 0", "--chunk: expected a whole number from 1 to 100000, not '0'."),
        (
            "--agents lowest --rounds 5 --out s --seed -1",
            "--seed: expected a whole number from 0 to",
        ),
        (
            "--agents lowest --rounds 5 --out s --threads 0",
            "--threads: expected a whole number from 1 to 1024, not '0'.",
        ),
        (
            "--agents lowest --rounds 5 --out s --search 1",
            "--search: expected a whole number from 2 to 100000, not '1'.",
        ),
        ("--agents lowest --rounds 5 --out s --search-share 0.5", "--search-by and --search-share need --search K"),
        ("--agents lowest --rounds 5 --out s --search-by tally", "--search-by and --search-share need --search K"),
        ("--agents lowest tally --rounds 5 --out s --seating fixed", "one agent, or 3 in the order of the seats, not 2"),
        ("--agents nobody --rounds 5 --out s", "'nobody'"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(words: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = study(capfd, f"{words} {SMALL}")
    assert (status, out) == (2, "")
    assert says in err.partition("nainjaune study: ")[2]
    assert os.listdir() == []


@pytest.mark.parametrize("library", ["pyarrow", "pyarrow.parquet"])
def test_the_extra_is_named_where_a_library_is_missing(
    library: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "nainjaune_agents.study.files", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    status, _, err = study(capfd, f"--agents lowest --rounds 5 --out s {SMALL}")
    assert status == 2
    assert f"nainjaune study: This command needs the package 'pyarrow', which is not installed: {install_command('study')}" in err
    assert os.listdir() == []
