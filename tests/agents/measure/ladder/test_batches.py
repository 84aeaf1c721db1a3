"""Results that nobody has played: what shows without playing is named in a sentence, and not believed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.distributed.segments import Segments
from nainjaune_agents.measure.ladder.batches import check_batch
from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_agents.measure.ladder.results import Results
from nainjaune_agents.measure.rows import Key, Row
from nainjaune_agents.measure.stats.exact_sums import DifferenceSums
from nainjaune_env.core.errors import RecordError

from .ladders import ROWS, contents, entry, forge, ladder, of_pair, rows

PAIR, PROGRAM = ("djeco-3", "closer", "tally"), ("djeco-2", "broken", "closer")
BROKEN = """#!/bin/sh
read line
echo '{"type": "ready", "protocol": 1, "id": 0, "name": "broken", "batch": 4096}'
read line
exit 3
"""
ROW = Row(Key("s", "a", "b", "summary"), 0, 256, np.zeros((0, 0), np.int64), np.zeros(0, np.int64))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of two heuristics and a program that ends at its first question, with some batches of each pair."""
    folder = ladder(tmp_path_factory.mktemp("ladder"), "closer", "tally")
    (folder / "ladder.toml").write_text((folder / "ladder.toml").read_text(encoding="utf-8").replace('"lowest"', '"tally"'))
    (folder / "entries" / "broken.sh").write_text(BROKEN, encoding="utf-8")
    entry(folder, "broken", "exec:sh broken.sh", tables='["djeco-2"]')
    assert main(["ladder", str(folder), "--deals", "1400"]) == 0
    assert len(of_pair(folder, *PAIR)) >= 2
    assert all(row["bots"] for row in of_pair(folder, *PROGRAM))
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sums": {"advantage": [256, 2, 8, 33, 0, 0, 0], "gains": "0" * 32}}, "and no such numbers give (256, 2, 8, 33,"),
        ({"bots": {"bots": {"tally": {"decisions": 1, "forfeited": 1, "faults": {}}}}}, "expected no faults of 'tally', which"),
        ({"made": {"clocks": {"tally": [1, -2, 0.5]}}}, "a whole number from 0 to 9223372036854775807, not -2."),
    ],
    ids=range(3),
)
def test_rows_that_no_ladder_writes_are_refused(
    copy: Path, change: dict[str, Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(copy, lambda row: row.update(change), *PAIR)
    before = contents(copy)
    assert main(["ladder", str(copy), "--deals", "1400"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"nainjaune ladder: '{copy / 'results'}', closer and tally at djeco-3 from deal 0: ")
    assert says in said
    assert contents(copy) == before


def test_a_damaged_line_is_named_and_played_again(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, path = contents(copy), copy / ROWS
    path.write_bytes(path.read_bytes().replace(b'"advantage":[256', b'"advantage":[255', 1))
    for arguments, status in ((["--check", "tally"], 2), (["--deals", "1400"], 0)):
        assert main(["ladder", str(copy), *arguments]) == status
        assert "has a damaged line" in capsys.readouterr().err
    assert contents(copy)[ROWS][0] == before[ROWS][0]
    assert main(["ladder", str(copy), "--check", "tally"]) == 0


def test_rows_that_contradict_each_other_are_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row, *_), nothing = of_pair(copy, *PAIR), {"advantage": [256, 0, 0, 0, 0, 0, 0], "gains": "0" * 32}
    with Segments(copy / "results", "other") as segments:
        segments.append({**row, "sums": nothing})
    assert main(["ladder", str(copy), "--deals", "0"]) == 2
    assert "The deals 0 to 255 of a cell came out otherwise in" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(first=row["first"] + 256),
        lambda row: row.update(deals=128),
        lambda row: row.update(hero=row["field"], field=row["hero"]),  # the advantage is that of the first one
    ],
    ids=["after a gap", "of other deals", "the other way"],
)
def test_rows_that_do_not_count(copy: Path, change: Callable[[dict[str, Any]], object]) -> None:
    forge(copy, change, *PAIR)
    assert Results(read_ladder(copy)).pairings[PAIR].batches == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sums": {"gains": "f" * 31}}, "expected 'sums.gains' to be"),
        ({"sums": {"weight": 2}}, "Unknown key 'sums.weight'"),
        ({"bots": []}, "expected 'bots' to be"),
        ({"bots": {"bots": {"a": {"decisions": 1, "forfeited": 0, "faults": {"exit": 0}}}}}, "expected faults of 'a', as it is"),
        ({"bots": {"bots": {"a": {"decisions": 1, "forfeited": 1, "faults": {"luck": 1}}}}}, "luck"),
        ({"bots": {"bots": {"c": {"decisions": 1, "forfeited": 1, "faults": {}}}}}, "no faults of 'c', which is no program"),
        ({"made": {"clocks": {"a": [1, 2]}}}, "expected 'made.clocks"),
        ({"made": {"clocks": {"a": [1, 2, float("nan")]}}}, "'made.clocks.a"),
        ({"sums": {"advantage": [256, 0, 0, 0, 0, 0]}}, "expected 'sums.advantage' to be"),
        ({"sums": {"advantage": [256, True, 1, 1, 0, 0, 0]}}, "expected 'sums.advantage"),
        *(
            ({"sums": {"advantage": numbers}}, "no such numbers give")
            for numbers in (
                [1024, 2, 8, 32, 0, 0, 0], [256, 200, 200, 200, 57, 57, 57], [256, -2, 8, 32, 0, 0, 0], [256, 9, 8, 8, 0, 0, 0],
                [256, 0, 0, 0, 2, 8, 30], [256, 0, 0, 0, 2, 8, 52], [256, 0, 0, 0, 2, 8, 33],  # of 8 = 4 + 4 to 7 + 1
            )
        ),
    ],
    ids=range(17),
)  # fmt: skip
def test_rows_that_are_none_are_refused(change: dict[str, Any], says: str) -> None:
    sums = {"advantage": [256, 0, 0, 0, 0, 0, 0], "gains": "0" * 32}
    row = replace(ROW, **{**change, "sums": {**sums, **change.get("sums", {})}})
    check_batch("'x'", replace(ROW, sums=sums), {"a": True, "b": True})
    with pytest.raises(RecordError, match=f"^'x': .*{re.escape(says)}"):
        check_batch("'x'", row, {"a": True, "b": True})


def test_batches_with_faults_are_named_and_others_are_played_again(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever gives batches faults only has others drawn in their place."""
    count = sum(len(of_pair(copy, "djeco-2", "broken", other)) for other in ("closer", "tally"))
    others = len(rows(copy)) - count
    assert main(["ladder", str(copy), "--check", "broken", "--seed", "1"]) == 0
    says = f"{min(others, 8)} drawn batches played again, all equal to the byte; {count} of the entry's batches have faults"
    assert says in capsys.readouterr().out


def test_sums_of_any_whole_numbers_count() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        deals = int(rng.integers(1, 40))
        sums = DifferenceSums(8)
        sums.add(rng.integers(-9, 10, deals) * (rng.random(deals) < rng.random()))
        check_batch("'x'", replace(ROW, deals=deals, sums={"advantage": sums.to_json(), "gains": "0" * 32}), {})


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("results/next.json", {"djeco-3": [["closer", "tally", 0]]}, "is not a list of batches as a ladder writes it"),
        ("results/next.json", {"table": "djeco-3", "batches": [["closer", "tally", -1]]}, "a whole number, at least 0, not -1"),
        ("checks/closer.json", {"entry": "closer"}, "is not a verification of an entry as --check writes it"),
        ("checks/closer.json", {"repeated": 1000}, "is not a verification of an entry as --check writes it"),
    ],
    ids=range(4),
)
def test_other_files_of_a_ladder_are_checked(
    copy: Path, name: str, content: Any, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "repeated" in content:
        content = {"entry": "closer", "identity": "x", "seed": 1, "rounds": 4, "differing": [], "uncertain": 0, **content}
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text(json.dumps(content), encoding="utf-8")
    assert main(["ladder", str(copy), "--deals", "1400" if name.endswith("next.json") else "0"]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert Path(name).name in said


def test_a_round_of_another_seed_is_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = (copy / "results" / "games").glob("djeco-3-*.jsonl")
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "seed": 7, "agents": ["x", "y", "z"]}) + "\n", encoding="utf-8")
    assert main(["ladder", str(copy), "--deals", "0"]) == 2
    assert f"expected one round of the table 'djeco-3' from the seed {record['seed']}" in capsys.readouterr().err
    path.write_text(json.dumps({**record, "agents": ["x", "y", "z"]}) + "\n", encoding="utf-8")
    assert main(["ladder", str(copy), "--deals", "0"]) == 0
    (page,) = (copy / "site" / "games").glob("djeco-3-*.html")
    assert '"y"' not in page.read_text(encoding="utf-8"), "names are those of the entries"
