"""``evaluate --workers``, ``--shard`` and ``nainjaune merge``: the same files, resumed or put together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from nainjaune_agents.measure.distributed.identity import identity
from tests.agents.cli.command import Capture, nainjaune, output_of, refused
from tests.agents.measure.distributed.runs import plan_of
from tests.support.processes import running

TABLE = "--preset djeco --players 3 --deals 70 --seed 5 --chunk 16"
ENDINGS = [[signal.SIGINT], pytest.param([signal.SIGKILL, signal.SIGINT], marks=pytest.mark.long)]


def results(folder: str) -> tuple[dict[str, Any], bytes]:
    """The numbers of a tournament, without those of time."""
    payload = json.loads(Path(folder, "results.json").read_text(encoding="utf-8"))
    del payload["made"], payload["milliseconds_a_decision"]
    return payload, Path(folder, "results.csv").read_bytes()


def test_parts_of_a_tournament_merge_to_the_whole(capfd: Capture) -> None:
    words = f"evaluate --agents random lowest tally {TABLE} --out"
    assert nainjaune(capfd, f"{words} whole")[0] == 0
    status, out, _ = nainjaune(capfd, f"{words} parts --shard 2/2")
    assert (status, out) == (0, "Part 2 of 2: 17 shards, 242 deals. When all parts are there: nainjaune merge parts\n")
    refused(capfd, "merge parts", r"18 of 35 shards are missing in 'parts/shards', ")
    other = f"{words} parts --shard 1/2".replace("--seed 5", "--seed 6")
    refused(capfd, other, r"parts/shards belongs to another run: its seed is 5, not 6\.")
    assert nainjaune(capfd, f"{words} parts --shard 1/2")[0] == 0
    out = output_of(capfd, "merge parts")
    assert out.endswith("Report: parts/results.html\n")
    assert results("parts") == results("whole")
    assert not Path("parts/shards").exists()
    refused(capfd, "merge parts", r"'parts/results\.json' exists, and is not overwritten\.")
    assert results("parts") == results("whole")


def test_parts_of_a_comparison_merge_to_the_whole(capfd: Capture) -> None:
    words = "versus random lowest --preset djeco --players 3 --deals 600 --seed 5 --objective centred --out"
    status, whole, _ = nainjaune(capfd, f"{words} whole")
    assert status == 0
    for number in (3, 1, 2):
        assert nainjaune(capfd, f"{words} parts --shard {number}/3")[0] == 0
    status, out, err = nainjaune(capfd, "merge parts")
    assert (status, err) == (0, "")
    assert out == whole.replace("whole/", "parts/")
    assert out.startswith("Task: centred payoff")
    assert Path("parts/versus.json").read_bytes() == Path("whole/versus.json").read_bytes()


def begun(words: list[str]) -> subprocess.Popen[str]:
    """A command in a process group of its own."""
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def stopped_twice(driver: subprocess.Popen[str]) -> None:
    """Presses Ctrl-C twice in a terminal: all processes of the command receive it, and one sentence is printed."""
    for _ in range(2):
        os.killpg(driver.pid, signal.SIGINT)
        time.sleep(0.1)
    _, err = driver.communicate()
    assert (driver.returncode, err) == (130, "nainjaune evaluate: Stopped.\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no process groups")
def test_stopped_twice_while_workers_begin() -> None:
    driver = begun(["evaluate", "--agents", "random", "lowest", *TABLE.split(), "--workers", "2"])
    while not running("spawn_main", parent=driver.pid):
        assert driver.poll() is None
        time.sleep(0.01)
    time.sleep(0.3)
    stopped_twice(driver)


@pytest.mark.slow
@pytest.mark.parametrize("endings", ENDINGS, ids=["stopped", "killed before"])
def test_stopped_it_goes_on(capfd: Capture, endings: list[signal.Signals]) -> None:
    """And leaves no process."""
    words = ["evaluate", "--agents", "random", "lowest", *TABLE.replace("70", "2000").split(), "--out", "a", "--workers", "2"]
    for ending in endings:
        shards = len(list(Path("a/shards").glob("0*.json")))
        driver = begun(words)
        while len(list(Path("a/shards").glob("0*.json"))) < shards + 3:
            assert driver.poll() is None
            time.sleep(0.05)
        workers = running("spawn_main", parent=driver.pid)
        assert len(workers) == 2
        if ending == signal.SIGINT:
            stopped_twice(driver)
        else:
            driver.kill()
            driver.communicate()
        while set(running("spawn_main")) & set(workers):
            time.sleep(0.05)
    assert 3 <= len(list(Path("a/shards").glob("0*.json"))) < 250
    assert nainjaune(capfd, " ".join(words).replace("--workers 2", "--workers 1"))[0] == 0
    assert nainjaune(capfd, " ".join(words).replace("--out a --workers 2", "--out b"))[0] == 0
    assert results("a") == results("b")
    assert sorted(os.listdir("a")) == sorted(os.listdir("b"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"There is no description of a run at 'a/shards/run\.json'\."),
        ("{}", r"'a/shards/run\.json' is not a description of a run: .*the key 'kind' is missing"),
        (
            '{"kind": "x", "package": "", "weights": {}, "plan": {}}',
            r"Unknown kind of run 'x'\. .*Valid: tournament, comparison, study",
        ),
        ('{"kind": "study", "package": "", "weights": {}, "plan": {}}', r"'a/shards' has a damaged description of its run: "),
        ('{"kind": "study", "package": "", "weights": [], "plan": {}}', r"its 'weights' is \[\]\."),
    ],
)
def test_a_folder_without_a_run_is_an_error(content: str | None, says: str, capfd: Capture) -> None:
    if content is not None:
        Path("a/shards").mkdir(parents=True)
        Path("a/shards/run.json").write_text(content, encoding="utf-8")
    refused(capfd, "merge a", says)


def test_of_a_great_many_missing_shards_no_list_is_made(capfd: Capture) -> None:
    Path("a/shards").mkdir(parents=True)
    run = identity(structs.replace(plan_of(), deals=10**9, chunk=1))
    Path("a/shards/run.json").write_text(json.dumps(run), encoding="utf-8")
    refused(capfd, "merge a", "At least 100000 shards are missing in 'a/shards'")
