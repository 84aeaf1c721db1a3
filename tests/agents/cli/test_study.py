"""``nainjaune study``: what it prints and leaves."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.study.files import about
from tests.agents.cli.command import Capture, nainjaune, output_of, refused

NAMES = ("decisions.parquet", "rounds.parquet", "options.parquet")
SMALL = "--preset classic --players 3 --set max_rounds=2"


@pytest.mark.slow
def test_files_and_the_command_that_makes_them_again(capfd: Capture) -> None:
    words = f"--agents lowest random {SMALL} --matches 6 --seed 3 --first 2 --every-ply --search 4 --search-share 0.5 --out a/b"
    status, out, err = nainjaune(capfd, f"study {words}")
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


def test_rounds_with_pots_and_fixed_seats(capfd: Capture) -> None:
    words = f"--agents lowest tally random {SMALL} --rounds 5 --seating fixed --pots 9 0 0 0 0 --search 2 --search-by random"
    words += " --out s"
    status, _, err = nainjaune(capfd, f"study {words}")
    assert status == 0, err
    metadata = about(Path("s/rounds.parquet"))
    assert (metadata["seating"], metadata["pots"], metadata["search"]["by"]) == ("fixed", [9, 0, 0, 0, 0], "random")
    assert main([*shlex.split(metadata["command"])[1:]]) == 0
    assert Path("study/decisions.parquet").read_bytes() == Path("s/decisions.parquet").read_bytes()


def test_files_without_rows(capfd: Capture) -> None:
    """In rounds of one card nobody decides."""
    status, out, err = nainjaune(capfd, "study --agents lowest --preset skip --players 2 --set hand=1 --rounds 4 --out s")
    assert (status, err) == (0, "")
    assert out.splitlines()[1] == "s/decisions.parquet: 0 rows, 0.0 MB"


def test_columns_are_listed(capfd: Capture) -> None:
    out = output_of(capfd, f"study --columns {SMALL}")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines["pot_7d"].split("  ")[-1] == "Chips in the pot."
    assert "  hidden  Who holds the pot's card" in lines["holder_7d"]
    assert {"decisions.parquet", "rounds.parquet", "stack_of_2", "captured_7d"} <= lines.keys()
    assert not {"stack_of_3", "regret", "options.parquet"} & lines.keys()
    searched = {line.split()[0] for line in nainjaune(capfd, f"study --columns --search 2 {SMALL}")[1].splitlines()}
    assert {"regret", "options.parquet", "option_run"} <= searched
    assert os.listdir() == []


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def test_jobs_play_parts_of_the_whole(capfd: Capture) -> None:
    words = f"--agents lowest random {SMALL} --rounds 10 --seed 3 --chunk 4 --search 2 --out"
    assert nainjaune(capfd, f"study {words} whole")[0] == 0
    status, out, _ = nainjaune(capfd, f"study {words} parts --shard 2/2")
    then = "When all parts are there, the same command without --shard puts them together."
    assert (status, out) == (0, f"Part 2 of 2: 1 units, 4 rounds. {then}\n")
    refused(capfd, f"study {words} parts --only-read", "2 of 3 units are missing in 'parts/parts', and nothing is played here")
    refused(capfd, f"study {words} none --only-read", "3 of 3 units are missing in 'none/parts'")
    assert os.listdir("parts") == ["parts"]
    refused(capfd, f"study {words} parts --seed 4", "parts/parts belongs to another run: its seed is 3, not 4.")
    refused(capfd, f"study {words} parts --shard 1/2 --seed 4", "parts/parts belongs to another run: its seed is 3, not 4.")
    assert nainjaune(capfd, f"study {words} parts --shard 1/2")[0] == 0
    status, out, _ = nainjaune(capfd, f"study {words} parts --only-read")
    assert [line.split(":")[0] for line in out.splitlines()[1:]] == [f"parts/{name}" for name in NAMES]
    assert contents("parts") == contents("whole")
    assert not Path("parts/parts").exists()
    refused(capfd, f"study {words} parts", "'parts' exists, and is not overwritten: choose another folder.")
    assert sorted(os.listdir()) == ["parts", "whole"]


def test_the_whole_is_put_together_by_the_same_command_which_plays_what_is_missing(capfd: Capture) -> None:
    words = f"--agents lowest random {SMALL} --rounds 10 --seed 3 --chunk 4 --out"
    assert nainjaune(capfd, f"study {words} whole")[0] == 0
    Path("parts").mkdir()  # as a job that is stopped at once leaves it
    assert nainjaune(capfd, f"study {words} parts --shard 2/2")[0] == 0
    (segment,) = Path("parts/parts").iterdir()
    segment.write_bytes(segment.read_bytes()[:-40] + b"\n")
    status, _, err = nainjaune(capfd, f"study {words} parts")
    assert status == 0
    assert "has a damaged line, line 3: expected a JSON object with its SHA-256" in err
    assert contents("parts") == contents("whole")
    assert nainjaune(capfd, f"study {words} again --workers 1")[0] == 0
    assert contents("again") == contents("whole")
    Path("other").mkdir()
    Path("other/mine").touch()
    refused(capfd, f"study {words} other --workers 1", "'other' exists, and is not overwritten: choose another folder.")


@pytest.mark.parametrize("words", ["--workers 2", "--cluster auto", "--shard 1/2"])
def test_reading_only_is_no_playing(words: str, capfd: Capture) -> None:
    says = f"--only-read plays nothing: it cannot be combined with {words.split()[0]}."
    refused(capfd, f"study --agents lowest {SMALL} --rounds 10 --out a --only-read {words}", says)
