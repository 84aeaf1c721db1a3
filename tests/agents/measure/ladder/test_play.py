"""A ladder is played, stopped, continued and played again: the same files; only what has changed is played."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.distributed.processes import Processes
from nainjaune_agents.measure.distributed.units import Executor, InProcess
from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_agents.measure.ladder.play import NEXT, Players, build, deals_an_entry, play
from nainjaune_agents.measure.ladder.results import Pairing, Results
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.core.errors import AgentError

from .ladders import ROWS, contents, entry, ladder, rows

DEALS = 1600


def played(folder: Path, deals: int = DEALS, executor: Executor | None = None) -> list[tuple[str, str, str]]:
    read = read_ladder(folder)
    results, batches = Results(read), list[tuple[str, str, str]]()

    def progress(pairing: Pairing, _: int) -> None:
        batches.append((pairing.table, pairing.one, pairing.other))

    play(results, Players(read), executor or InProcess(), deals=deals, progress=progress)
    return batches


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = ladder(tmp_path_factory.mktemp("ladder"))
    assert played(folder)
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


def test_every_pair_has_met_and_nothing_is_played_twice(finished: Path) -> None:
    results = Results(read_ladder(finished))
    assert all(pairing.deals >= 256 for pairing in results.pairings.values())
    assert deals_an_entry(results) >= DEALS
    assert played(finished) == []


def test_the_same_folder_gives_the_same_files_on_processes_too(tmp_path: Path) -> None:
    for name, executor in (("one", InProcess()), ("two", Processes(2))):
        assert len(played(ladder(tmp_path / name, "lowest", "pots"), 768, executor)) > 4
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def test_a_comparison_repeats_the_result_of_a_pair(finished: Path) -> None:
    read = read_ladder(finished)
    pairing = Results(read).pairings["djeco-2", "closer", "tally"]
    setup = read.tables["djeco-2"]
    agents = [load_agent(name, setup) for name in ("closer", "tally")]
    table = cross_table(setup, agents, deals=pairing.deals, seed=pairing.seed)
    assert replace(table.advantage("closer", "tally"), outlier=0.0) == pairing.advantage(2)  # a ladder decides nothing


def test_a_ladder_that_was_killed_goes_on_to_the_same_files(finished: Path, tmp_path: Path) -> None:
    folder = ladder(tmp_path / "killed")
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", "ladder", str(folder), "--deals", str(DEALS)]
    environment = {**os.environ, "NAINJAUNE_QUIET": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    results = folder / "results"
    while len(rows(folder)) < 4 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (results / NEXT).exists(), "it was killed before its end"
    played(folder)
    assert contents(folder) == contents(finished)


def test_only_pairs_of_a_changed_entry_are_played_again(copy: Path) -> None:
    before, old = contents(copy), Results(read_ladder(copy)).identities["djeco-2"]["tally"]
    entry(copy, "tally", "patient")
    batches = played(copy)
    assert batches
    first = batches[:6]
    assert all("tally" in pair for pair in first), "its first meetings"
    after = contents(copy)
    assert [row for row in before[ROWS] if row in after[ROWS]], "others are not played again"
    assert not [row for row in after[ROWS] if old in (row["hero"], row["field"])], "its rows are dropped"
    entry(copy, "tally", "tally")
    assert Results(read_ladder(copy)).pairings["djeco-2", "closer", "tally"].deals == 0


def test_a_build_is_known_by_its_sources(copy: Path) -> None:
    sources, shell = copy / "entries" / "bot.txt", "#!/bin/sh\nexec sed -un '/\"hello\"/ q'\n"
    sources.write_text(shell, encoding="utf-8")
    entry(copy, "built", "exec:./bot.sh", build='"cp bot.txt bot.sh"')
    before = Results(read_ladder(copy)).identities["djeco-2"]["built"]
    with pytest.raises(AgentError, match=r"'built' at the table .* It is built by --build\."):
        Players(read_ladder(copy))("djeco-2", "built")
    build([*read_ladder(copy).entries.values()])
    assert (copy / "entries" / "bot.sh").read_text(encoding="utf-8") == shell
    assert Results(read_ladder(copy)).identities["djeco-2"]["built"] == before
    sources.write_text(shell + "#\n", encoding="utf-8")
    assert Results(read_ladder(copy)).identities["djeco-2"]["built"] != before
    entry(copy, "built", "exec:./bot.sh", build='"false"')
    with pytest.raises(AgentError, match="names no file"):
        Results(read_ladder(copy))
    with pytest.raises(AgentError, match="was not built: 'false' ended with status 1"):
        build([*read_ladder(copy).entries.values()])
    (copy / "entries" / "build.sh").write_text("echo 'error: no bot.c' >&2; echo 'terminated.' >&2; exit 1", encoding="utf-8")
    entry(copy, "built", "exec:./bot.sh", build='"sh build.sh"')
    with pytest.raises(AgentError, match=r"status 1, 'error: no bot\.c'"):
        build([*read_ladder(copy).entries.values()])


def test_a_build_has_a_time_limit_and_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setattr("nainjaune_agents.measure.ladder.play.BUILD_SECONDS", 0.5)
    folder = ladder(tmp_path, "lowest", "random") / "entries"
    (folder / "build.sh").write_text("env > env.txt; sleep 100 & echo $! > child.txt; sleep 100", encoding="utf-8")
    entry(tmp_path, "slow", "exec:./bot.sh", build='"sh build.sh"')
    since = time.monotonic()
    with pytest.raises(AgentError, match=r"'slow' was not built: 'sh build\.sh' is not over after 0\.5 seconds\.$"):
        build([*read_ladder(tmp_path).entries.values()])
    assert time.monotonic() - since < 20
    assert "PATH=" in (folder / "env.txt").read_text(encoding="utf-8")
    assert "secret" not in (folder / "env.txt").read_text(encoding="utf-8")
    assert has_ended(int((folder / "child.txt").read_text(encoding="utf-8")))
    (folder / "build.sh").write_text("$(command -v setsid) sleep 100 & echo $! > child.txt", encoding="utf-8")
    monkeypatch.setattr("nainjaune_agents.measure.ladder.play.BUILD_SECONDS", 20)
    build([*read_ladder(tmp_path).entries.values()])
    assert has_ended(int((folder / "child.txt").read_text(encoding="utf-8")))


def has_ended(process: int) -> bool:
    """Whether a process ends within seconds; it may wait for ever for its parent to look."""
    for _ in range(500):
        status = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], stdout=subprocess.PIPE, text=True).stdout
        if status.strip()[:1] in ("", "Z"):
            return True
        time.sleep(0.01)
    return False


def test_faults_are_forfeits_and_are_kept_by_workers_too(tmp_path: Path) -> None:
    """A program that ends at once: it plays the lowest legal actions, and nobody else's results depend on it."""
    folder = ladder(tmp_path, "lowest", "random")
    bot = """#!/bin/sh\nread line
echo '{"type": "ready", "protocol": 1, "id": 0, "name": "broken", "batch": 4096}'\nread line\nexit 3\n"""
    (folder / "entries" / "broken.sh").write_text(bot, encoding="utf-8")
    entry(folder, "broken", "exec:sh broken.sh")
    assert main(["ladder", str(folder), "--deals", "512", "--workers", "2"]) == 0
    pairings = Results(read_ladder(folder)).pairings
    row = pairings["djeco-2", "broken", "lowest"].batches[0]
    assert [*row.bots["bots"]] == ["broken"]
    assert row.bots["bots"]["broken"]["faults"]["exit"] >= 1
    assert row.bots["bots"]["broken"]["forfeited"] > 1000
    assert pairings["djeco-2", "lowest", "random"].batches[0].bots == {}


def test_a_wave_of_another_ladder_is_dropped(copy: Path) -> None:
    (copy / "results" / NEXT).write_text(json.dumps({"table": "djeco-9", "batches": [["a", "b", 0]]}), encoding="utf-8")
    assert played(copy) == []
    assert not (copy / "results" / NEXT).exists()


def test_an_entry_that_cannot_play_is_named(tmp_path: Path) -> None:
    folder = ladder(tmp_path, "lowest")
    entry(folder, "other", "nobody")
    with pytest.raises(AgentError, match="The entry 'other' at the table 'djeco-3': Unknown agent 'nobody'"):
        played(folder)
    entry(folder, "other", "sb3:model.zip")
    with pytest.raises(AgentError, match=r"model\.zip"):
        played(folder)
