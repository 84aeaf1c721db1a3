"""Results that nobody has played: whatever shows without playing is refused by the command, in one sentence with the file."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.ladder.batches import check_batches
from nainjaune_agents.measure.stats.exact_sums import DifferenceSums
from nainjaune_env.core.errors import RecordError

from .ladders import contents, entry, ladder

PAIR, PROGRAM = "results/djeco-3/closer--tally.json", "results/djeco-2/broken--tally.json"
BROKEN = """#!/bin/sh
read line
echo '{"type": "ready", "protocol": 1, "id": 0, "name": "broken", "batch": 4096}'
read line
exit 3
"""
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of two heuristics and a program that ends at its first question, with some batches of each pair."""
    folder = ladder(tmp_path_factory.mktemp("ladder"), "closer", "tally")
    (folder / "ladder.toml").write_text((folder / "ladder.toml").read_text(encoding="utf-8").replace('"lowest"', '"tally"'))
    (folder / "entries" / "broken.sh").write_text(BROKEN, encoding="utf-8")
    entry(folder, "broken", "exec:sh broken.sh", tables='["djeco-2"]')
    assert main(["ladder", str(folder), "--deals", "1400"]) == 0
    assert len(batches_in(folder)) >= 3
    assert "faults" in batches_in(folder, PROGRAM)[0]
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


def batches_in(folder: Path, name: str = PAIR) -> list[dict[str, Any]]:
    batches: list[dict[str, Any]] = json.loads((folder / name).read_text(encoding="utf-8"))["batches"]
    return batches


def forge(folder: Path, change: Change, name: str = PAIR) -> None:
    """Changes the content of a result's file, with the SHA-256 that it then has."""
    path = folder / name
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    del content["sha256"]
    content["sha256"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
    path.write_text(json.dumps(content), encoding="utf-8")


def first(**values: Any) -> Change:
    return lambda content: content["batches"][0].update(values)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.update(batches=4 * c["batches"][:1]), "batch 2: expected 'first' to be 256, and it is 0"),
        (lambda c: c.update(batches=[[]]), "expected 'batches' to be a list of objects"),
        (first(faults=[{}, {"timeout": 1, "forfeited": 1}]), "batch 1: expected no faults of 'tally', which is no program"),
        (first(advantage=[256, 2, 8, float("nan"), 0, 0, 0]), "expected 'advantage' to be a list of 7 whole numbers"),
    ],
    ids=range(4),
)
def test_results_that_no_ladder_writes_are_refused(
    copy: Path, change: Change, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(copy, change)
    before = contents(copy)
    assert main(["ladder", str(copy), "--deals", "0"]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert re.fullmatch(r"nainjaune ladder: .*closer--tally\.json.*\. Remove the file to play the pair again\.\n", said)
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("batches", "says"),
    [
        ([{"first": False}], "'x', batch 1: expected 'first' to be 0, and it is False"),
        ([{"deals": 10**400}], "a whole number from 1 to 9223372036854775807, and it is a whole number of 1329 bits"),
        ([{"deals": 0}], "'x', batch 1: expected 'deals' to be a whole number from 1 to 9223372036854775807, and it is 0"),
        ([{}, {"first": 255}], "'x', batch 2: expected 'first' to be 256, and it is 255"),
        ([{"gains": "f" * 31}], "expected 'gains' to be 32 hexadecimal digits, and it is 'fff"),
        ([{"weight": 2}], "'x', batch 1: Unknown key 'weight'"),
        ([{"faults": []}], "expected 'faults' to be a list of 2 objects, not \\[\\]"),
        ([{"faults": [{"exit": 0, "forfeited": 0}, {}]}], "numbers of timeout, exit, .* and forfeited, not all 0"),
        ([{"faults": [{"exit": True, "forfeited": 1}, {}]}], "and they are {'exit': True, 'forfeited': 1}"),
        ([{"faults": [{"luck": 1, "forfeited": 1}, {}]}], "and they are {'luck': 1, 'forfeited': 1}"),
        ([{"advantage": [256, 0, 0, 0, 0, 0]}], "a list of 7 whole numbers"),
        ([{"advantage": [256, True, 1, 1, 0, 0, 0]}], "a list of 7 whole numbers"),
        *(
            ([{"advantage": numbers}], "no such numbers give")
            for numbers in (
                [1024, 2, 8, 32, 0, 0, 0], [256, 200, 200, 200, 57, 57, 57], [256, -2, 8, 32, 0, 0, 0], [256, 9, 8, 8, 0, 0, 0],
                [256, 0, 0, 0, 2, 8, 30], [256, 0, 0, 0, 2, 8, 52], [256, 0, 0, 0, 2, 8, 33],  # of 8 = 4 + 4 to 7 + 1
            )
        ),
    ],
    ids=range(19),
)  # fmt: skip
def test_batches_that_are_none_are_refused(batches: list[dict[str, Any]], says: str) -> None:
    whole = {"first": 0, "deals": 256, "advantage": [256, 0, 0, 0, 0, 0, 0], "gains": "0" * 32}
    with pytest.raises(RecordError, match=says):
        check_batches("'x'", [{**whole, **batch} for batch in batches], {"a": True, "b": True})


def test_batches_with_faults_are_named_and_others_are_played_again(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever gives batches faults only has others drawn in their place."""
    forge(copy, lambda c: [batch.update(faults=[{"timeout": 1, "forfeited": 1}, {}]) for batch in c["batches"]], PROGRAM)
    count = len(batches_in(copy, PROGRAM)) + len(batches_in(copy, "results/djeco-2/broken--closer.json"))
    others = len(batches_in(copy)) + len(batches_in(copy, PAIR.replace("-3", "-2")))
    assert main(["ladder", str(copy), "--check", "broken", "--seed", "1"]) == 0
    says = f"{min(others, 8)} drawn batches played again, all equal to the byte; {count} of the entry's batches have faults"
    assert says in capsys.readouterr().out


def test_entries_in_the_other_order_do_not_count(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The advantage is that of the first one."""
    forge(copy, lambda c: c.update(entries=dict(reversed(c["entries"].items()))))
    assert main(["ladder", str(copy), "--deals", "0"]) == 0
    numbers = json.loads((copy / "site" / "ratings.json").read_text(encoding="utf-8"))
    assert ("djeco-3", "closer") not in {(pair["table"], pair["a"]) for pair in numbers["pairs"]}


def test_sums_of_any_whole_numbers_count() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        deals = int(rng.integers(1, 40))
        sums = DifferenceSums(8)
        sums.add(rng.integers(-9, 10, deals) * (rng.random(deals) < rng.random()))
        batch = {"first": 0, "deals": deals, "advantage": sums.to_json(), "gains": "0" * 32}
        check_batches("'x'", [batch], {"a": False, "b": False})


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("results/times.json", {"closer": [1, 2]}, "expected calls, decisions and seconds of 'closer', and they are [1, 2]"),
        ("results/times.json", {"closer": [1, -2, 0.5]}, "and they are [1, -2, 0.5]"),
        ("results/times.json", [], "expected an object, not []"),
        ("results/times.json", {"closer": [1, 2, 10**308]}, "expected calls, decisions and seconds of 'closer', and they are"),
        ("results/next.json", {"djeco-3": [["closer", "tally", 0, 256.0]]}, "is not a list of batches as a ladder writes it"),
        ("checks/closer.json", {"entry": "closer"}, "is not a verification of an entry as --check writes it"),
        ("checks/closer.json", {"repeated": 1000}, "is not a verification of an entry as --check writes it"),
    ],
    ids=range(7),
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
