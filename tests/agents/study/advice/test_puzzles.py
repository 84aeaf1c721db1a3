"""Puzzles: positions of records at which one move clearly leads."""

import json
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.games.nain_jaune.records.replay import open_recorded
from nainjaune_env.records.record import read_records, setup_of, verify_record

RECORDS = Path("tests/golden/djeco.jsonl")


def made(out: Path, *words: str) -> list[dict[str, object]]:
    command = ["puzzles", str(RECORDS), "--out", str(out), "--model", "lowest", "--searching", "40", "--deals", "60"]
    assert main([*command, "--threads", "1", *words]) == 0
    puzzles: list[dict[str, object]] = json.loads(out.read_text(encoding="utf-8"))
    return puzzles


@pytest.mark.slow
def test_the_best_move_leads_in_both_searches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    puzzles = made(tmp_path / "puzzles.json", "--lead", "0.5", "--most", "2")
    assert puzzles
    assert f"{len(puzzles)} puzzles" in capsys.readouterr().out
    (record,) = read_records(RECORDS)
    for puzzle in puzzles:
        assert verify_record(puzzle["record"]) == len(record["rounds"])
        number, move = puzzle["round"], puzzle["move"]
        replay = open_recorded(setup_of(record), record["rounds"][number - 1], number)
        for _, made_move in record["rounds"][number - 1]["moves"][: move - 1]:
            replay.play(made_move)
        actions, means = zip(*puzzle["values"], strict=True)
        assert sorted(actions) == legal_actions(replay.legal_bits())
        assert means[0] - means[1] >= 0.5
    assert made(tmp_path / "none.json", "--lead", "900") == []
    assert main(["puzzles", str(RECORDS), "--out", str(tmp_path / "none.json")]) == 2  # the file exists
