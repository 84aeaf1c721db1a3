"""What every game tells a study: its columns are declared as they are written, and what is said to be seen is."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from nainjaune_env.analysis.feature_hook import SET, Column, FeatureHooks, Text, of_rivals, row_dtype, written
from nainjaune_env.analysis.stat_hook import columns
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game
from tests.support.contract import advance, all_setups, helper, single
from tests.support.games import games_with

every_game = pytest.mark.parametrize("name", games_with("features"))
every_setup = pytest.mark.parametrize("setup", all_setups("features"))


def study_of(setup: Setup) -> FeatureHooks:
    assert setup.game.features is not None
    return setup.game.features


def position_row(setup: Setup, table: Any, seat: int) -> Any:
    """The position, one record."""
    row = np.zeros(1, row_dtype(study_of(setup).POSITION))
    study_of(setup).position(table, setup.kernel_rules, seat, row[0])
    return row[0]


def chosen(setup: Setup, table: Any, action: int) -> Any:
    row = np.zeros(1, row_dtype(study_of(setup).ACTION))
    study_of(setup).action(table, setup.kernel_rules, action, row[0])
    return row[0]


def differing(one: Any, two: Any) -> set[str]:
    return {name for name in one.dtype.names if not np.array_equal(one[name], two[name])}


@every_setup
def test_what_a_seat_could_know_follows_from_what_it_may(setup: Setup) -> None:
    """From the table wiped for it, and from one with all that it does not know dealt anew."""
    study, rng = study_of(setup), random.Random(3)
    unseen = {c.name for c in (*study.POSITION, *study.ACTION) if isinstance(c, Column) and not c.seen}
    batch = single(setup, seed=5)
    for _ in range(6):
        for seat in range(setup.players):
            table = batch.tables[0]
            wiped = np.array([table])
            setup.game.kernel.redact(wiped[0], setup.kernel_rules, seat)
            mixed = helper(setup).reshuffle(setup, table, seat, rng)
            for other in (wiped[0], mixed):
                assert differing(position_row(setup, table, seat), position_row(setup, other, seat)) <= unseen
                if seat == table.seat:
                    for action in legal_actions(int(batch.legal[0])):
                        same = helper(setup).counterpart(setup, table, other, action) if other is mixed else action
                        if same is not None:
                            assert differing(chosen(setup, table, action), chosen(setup, other, same)) <= unseen
        advance(batch, 7, rng)
        if batch.done[0]:
            batch.reset()


@every_game
def test_what_is_hidden_could_not_be_told_from_what_is_seen(name: str) -> None:
    """Or it would be marked as hidden without a reason: each of these columns differs between tables that look the same."""
    result: set[str] = set()
    hidden: set[str] = set()
    for case in all_setups("features"):
        (setup,) = case.values
        if setup.game.name != name:
            continue
        study, rng, batch = study_of(setup), random.Random(4), single(setup, seed=6)
        hidden |= {c.name for c in (*study.POSITION, *study.ACTION) if isinstance(c, Column) and not c.seen}
        for _ in range(4):
            table, seat = batch.tables[0], int(batch.seat[0])
            other = helper(setup).reshuffle(setup, table, seat, rng)
            result |= differing(position_row(setup, table, seat), position_row(setup, other, seat))
            for action in set(legal_actions(int(batch.legal[0]))) & set(
                legal_actions(int(setup.game.kernel.legal(other, setup.kernel_rules)))
            ):
                result |= differing(chosen(setup, table, action), chosen(setup, other, action))
            advance(batch, 9, rng)
            if batch.done[0]:
                batch.reset()
    assert result == hidden
    assert hidden


@every_game
def test_columns_are_declared_as_they_are_written(name: str) -> None:
    game = get_game(name)
    study, measures = game.features, game.measures
    assert study is not None
    assert measures is not None
    for told_of in (study.POSITION, study.ACTION, study.COUNTED):
        for column in told_of:
            assert column.meaning.endswith("."), column.name
            if isinstance(column, Text):
                source = next(c for c in told_of if c.name == column.of)
                assert isinstance(source, Column)
                assert source.unit == SET
                assert len({bit for bit, _ in column.names}) == len(column.names)
    for column in study.COUNTED:
        assert len(columns(measures.TALLY, column.name)) == len(column.parts or [""])
    for players in (2, 3):
        names = [column.name.lower() for column, _, _ in written((*study.POSITION, *study.ACTION), players)]
        assert len(set(names)) == len(names), "SQL does not tell capitals from small letters"
        assert sum(name.endswith("_of_1") for name in names) > 0
        assert sum(name.endswith("_of_2") for name in names) == (players > 2) * sum(name.endswith("_of_1") for name in names)


def test_rows_and_files_have_the_columns_in_order() -> None:
    told_of = (
        Column("a", "bool", "", "A."),
        Text("text", "a", ((0, "x"),), "T."),
        Column("b", "int16", "chips", "B.", ("x", "y")),
        of_rivals("c", "int8", "cards", "C.", 3),
    )
    dtype = row_dtype(told_of)
    assert dtype.names == ("a", "b", "c")
    assert [dtype[name].base.name for name in dtype.names] == ["uint8", "int16", "int8"]
    assert [dtype[name].shape for name in dtype.names] == [(), (2,), (3,)]
    result = [(column.name, origin.name, part) for column, origin, part in written(told_of, 3)]
    assert result == [
        ("a", "a", None),
        ("text", "text", None),
        ("b_x", "b", 0),
        ("b_y", "b", 1),
        ("c_1", "c", 0),
        ("c_2", "c", 1),
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("a", "float32"), "the column 'a' has one of the types bool, int8, .* not 'float32'"),
        (("size", "int8"), "cannot be called 'size', as every NumPy record has one"),
    ],
)
def test_columns_that_cannot_be_are_refused(given: tuple[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Column(*given, "", "")
