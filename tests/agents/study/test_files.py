"""A study's files: what stands in them, that they are whole, and the same for the same seed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nainjaune_agents.study import files
from nainjaune_agents.study.columns import decision_columns, option_columns, round_columns
from nainjaune_agents.study.files import DECISIONS, OPTIONS, ROUNDS, about, write_study
from nainjaune_agents.study.playing import play
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.registry import make_setup
from tests.support.positions import small

from .studies import plan_of, study

SETUPS = [small(), make_setup("batasaurus", players=3)]


def read(folder: Path, name: str = DECISIONS) -> dict[str, list[Any]]:
    return pq.read_table(folder / f"{name}.parquet").to_pydict()  # type: ignore[no-any-return]


@pytest.mark.parametrize("setup", SETUPS)
def test_files_hold_what_was_played(tmp_path: Path, setup: Any) -> None:
    plan = plan_of(setup, ("random", "random"))
    rows = write_study(tmp_path / "study", plan, 9)
    (chunk,) = play(plan, 9)
    traced = chunk.trace
    columns, seats = read(tmp_path / "study"), read(tmp_path / "study", ROUNDS)
    assert list(columns) == [column.name for column in decision_columns(setup)]
    assert list(seats) == [column.name for column in round_columns(setup)]
    assert rows == {DECISIONS: len(traced.decisions), ROUNDS: len(traced.seats)}
    for name in ("ply", "seat", "legal", "action", "earned", "to_come", "payoff"):
        assert columns[name] == traced.decisions[name].tolist()
    assert columns["deal"] == traced.episode.tolist()
    assert columns["move"] == [setup.game.actions[number] for number in traced.decisions["action"]]
    assert columns["forced"] == [False] * len(traced.decisions)
    assert columns["best"] == pytest.approx([1 / k if k else 0 for k in traced.decisions["sharing"].tolist()])
    assert set(columns["preset"]) == {setup.preset}
    assert set(columns["seed"]) == {2}
    assert seats["payoff"] == traced.seats["payoff"].tolist()
    share = np.array(seats["best"]).reshape(9, -1).sum(axis=1)
    assert share == pytest.approx(1)
    # what came of a decision is what came of its seat's round
    of_seat = dict(zip(zip(seats["deal"], seats["seat"], strict=True), seats["payoff"], strict=True))
    assert columns["payoff"] == [of_seat[key] for key in zip(columns["deal"], columns["seat"], strict=True)]
    assert [earned + rest for earned, rest in zip(columns["earned"], columns["to_come"], strict=True)] == columns["payoff"]


def test_numbers_that_stand_for_nothing_are_null_and_parts_have_columns(tmp_path: Path) -> None:
    plan = plan_of()
    write_study(tmp_path / "study", plan, 30)
    traced = next(play(plan, 30)).trace
    columns = read(tmp_path / "study")
    assert columns["required"] == [rank or None for rank in traced.positions["required"].tolist()]
    assert columns["holder_7d"] == [None if seat < 0 else seat for seat in traced.positions["holder"][:, 4].tolist()]
    assert columns["pot_7d"] == traced.positions["pot"][:, 4].tolist()
    assert columns["holds_7d"] == traced.positions["holds"][:, 4].astype(bool).tolist()
    assert "cards_of_2" in columns
    assert "cards_of_3" not in columns
    assert None in columns["pot_card"]
    assert {card for card in columns["pot_card"] if card} <= {"Td", "Jc", "Qs", "Kh", "7d"}
    for hand, count, move in zip(columns["hand"], columns["cards"], columns["move"], strict=True):
        assert len(hand.split()) == count
        assert move == "-" or move in hand.split()
    seats = read(tmp_path / "study", ROUNDS)
    chips = np.array([seats[name] for name in seats if name.startswith("chips_")])
    assert chips.shape == (7, 90)
    assert chips.sum(axis=0).tolist() == seats["payoff"]
    assert sum(seats["out"]) == 30


def test_what_was_searched_stands_by_the_decisions(tmp_path: Path) -> None:
    plan = plan_of(search=5, share=0.5)
    write_study(tmp_path / "study", plan, 20)
    chunk = next(play(plan, 20))
    columns, values = read(tmp_path / "study"), chunk.values
    assert values is not None
    where = [row for row, moves in enumerate(columns["search_move"]) if moves is not None]
    assert where == chunk.trace.kept_row.tolist()
    assert 0 < len(where) < len(columns["deal"])
    actions = plan.setup.game.actions
    for k, row in enumerate(where):
        legal = [action for action in range(len(actions)) if columns["legal"][row] >> action & 1]
        assert columns["search_move"][row] == [actions[action] for action in legal]
        assert columns["search_mean"][row] == values.mean[k, legal].tolist()
        assert columns["search_error"][row] == values.error[k, legal].tolist()
        assert columns["search_best"][row] == actions[values.action[k]]
        assert columns["regret"][row] == values.behind[k, columns["action"][row]]
    for row in set(range(len(columns["deal"]))) - set(where):
        assert {columns[name][row] for name in ("search_mean", "search_error", "search_best", "regret")} == {None}


@pytest.mark.parametrize("setup", SETUPS)
def test_every_action_that_was_tried_has_a_row(tmp_path: Path, setup: Any) -> None:
    """What the game tells of it is what it would tell had it been taken."""
    names = ("random",)
    folder = study(tmp_path / "study", 8, setup=setup, names=names, search=4, share=0.5)
    table, options = pq.read_table(folder / f"{DECISIONS}.parquet").to_pylist(), read(folder, OPTIONS)
    assert list(options) == [column.name for column in option_columns(setup)]
    own = [name.removeprefix("option_") for name in options if name.startswith("option_")]
    shared_names = [name for name in own if name in table[0]]
    at = 0
    for row in table:
        for move, mean, error in zip(*((row[f"search_{name}"] or []) for name in ("move", "mean", "error")), strict=True):
            option = {name: values[at] for name, values in options.items()}
            assert all(option[key] == row[key] for key in ("preset", "players", "seed", "deal", "round_number", "ply"))
            assert (option["option"], option["option_mean"], option["option_error"]) == (move, mean, error)
            assert option["option_taken"] == (move == row["move"])
            if option["option_taken"]:
                assert option["option_behind"] == row["regret"]
                assert {name: option[f"option_{name}"] for name in shared_names} == {name: row[name] for name in shared_names}
            at += 1
    assert at == len(options["deal"]) > 20
    hidden = {column.name for column in decision_columns(setup) if not column.seen}
    assert not hidden & set(own)
    assert not (study(tmp_path / "without", 2, setup=setup, names=names) / f"{OPTIONS}.parquet").exists()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = study(tmp_path / "one", search=4), study(tmp_path / "two", search=4)
    monkeypatch.setattr(files, "ROW_GROUP", 100)
    three, four = study(tmp_path / "three", search=4), study(tmp_path / "four", seed=3, search=4)
    for name in (f"{DECISIONS}.parquet", f"{ROUNDS}.parquet"):
        assert (one / name).read_bytes() == (two / name).read_bytes()
        assert pq.read_table(one / name).equals(pq.read_table(three / name))
        assert not pq.read_table(one / name).equals(pq.read_table(four / name))
    assert pq.ParquetFile(one / f"{DECISIONS}.parquet").num_row_groups == 1


def test_every_seed_that_a_command_takes_is_written(tmp_path: Path) -> None:
    rounds = pq.read_table(study(tmp_path / "last", 2, seed=(1 << 64) - 1) / f"{ROUNDS}.parquet")
    assert set(rounds["seed"].to_pylist()) == {(1 << 64) - 1}


def test_rows_are_written_as_they_are_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So memory does not grow with them."""
    monkeypatch.setattr(files, "ROW_GROUP", 200)
    monkeypatch.setattr("nainjaune_agents.study.playing.TABLES", {"round": 20, "match": 20})
    done: list[int] = []
    write_study(tmp_path / "study", plan_of(), 150, progress=done.append)
    groups = pq.ParquetFile(tmp_path / "study" / f"{DECISIONS}.parquet").metadata
    sizes = [groups.row_group(k).num_rows for k in range(groups.num_row_groups)]
    assert len(sizes) > 2
    assert all(200 <= size < 500 for size in sizes[:-1])
    assert done == [20] * 7 + [10]


def test_files_say_what_they_hold(tmp_path: Path) -> None:
    setup = small(4)
    study(tmp_path / "study", 5, first=7, setup=setup, search=3, share=0.5)
    metadata = about(tmp_path / "study" / f"{DECISIONS}.parquet")
    assert metadata["agents"] == ["lowest", "random"]
    assert (metadata["seed"], metadata["first"], metadata["episodes"], metadata["players"]) == (2, 7, 5, 4)
    assert metadata["rules"] == setup.rules.to_dict()
    assert metadata["search"] == {"by": "lowest", "deals": 3, "share": 0.5}
    assert metadata["versions"]["pyarrow"] == pa.__version__
    assert metadata["actions"] == list(setup.game.actions)
    assert "commit" in metadata
    pot = metadata["columns"]["pot_7d"]
    assert pot == {"type": "int32", "meaning": "Chips in the pot.", "unit": "chips", "seen": "yes"}
    assert metadata["columns"]["holder_7d"]["seen"] == "no"
    assert about(tmp_path / "study" / f"{ROUNDS}.parquet")["file"] == ROUNDS


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no study at"):
        about(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("no", encoding="utf-8")
    with pytest.raises(ConfigError, match="is no Parquet file"):
        about(tmp_path / "text.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(ConfigError, match="is a Parquet file, but not of a study"):
        about(tmp_path / "other.parquet")


def test_nothing_is_overwritten_and_what_fails_leaves_nothing(tmp_path: Path) -> None:
    folder = study(tmp_path / "study", 2)
    with pytest.raises(ConfigError, match="exists, and is not overwritten"):
        study(folder, 2)
    for episodes, first in ((0, 0), (1, -1)):
        with pytest.raises(ConfigError, match=f"at least 1 episode, .* not {episodes} from {first}"):
            write_study(tmp_path / "none", plan_of(), episodes, first=first)

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_study(tmp_path / "none", plan_of(), 3, progress=stop)
    assert os.listdir(tmp_path) == ["study"]
