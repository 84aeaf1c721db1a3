"""What a game may not be."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nainjaune_env import get_game, make_setup
from nainjaune_env.core.errors import GameError, RulesError


def test_a_field_that_numpy_would_hide_is_refused() -> None:
    game = get_game()
    fields = [(name, game.table.fields[name][0]) for name in game.table.names or () if game.table.fields]
    bad = np.dtype((np.record, [*fields, ("size", np.int16)]))
    with pytest.raises(GameError, match="cannot be called 'size'"):
        dataclasses.replace(game, table=bad)


FIELDS: list[Any] = [("rng", np.uint64), ("extra", np.int32), ("seat", np.int16), ("stage", np.int16)]


def table_of(fields: list[Any], align: bool = True) -> np.dtype[Any]:
    return np.dtype((np.record, np.dtype(fields, align=align)))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (table_of([("rng", np.uint64), ("seat", np.int16)], align=False), "aligned record of whole 8-byte words"),
        (table_of([("seat", np.int16)]), "aligned record of whole 8-byte words"),
        (np.dtype(FIELDS, align=True), r"aligned record of whole 8-byte words: np\.dtype\(\(np\.record, "),
        (
            table_of(FIELDS[:1] + FIELDS[2:]),
            r"no bytes between or behind .*: add a field of 4 bytes behind 'stage', such as \('spare', np\.uint8, \(4,\)\)$",
        ),
        (
            table_of([FIELDS[2], FIELDS[0], *FIELDS[1:2], FIELDS[3], ("more", np.uint8)]),
            r"add a field of 6 bytes behind 'seat' and of 1 byte behind 'more', such as \('spare', np\.uint8, \(6,\)\)$",
        ),
        (table_of([("random", np.uint64), *FIELDS[1:]]), r"expected a table to have the field 'rng' .*, not no such field"),
        (table_of([("rng", np.int64), *FIELDS[1:]]), r"the field 'rng' \(uint64\), not int64"),
        (table_of([*FIELDS[:2], ("seat", np.uint16), FIELDS[3]]), r"the field 'seat' \(signedinteger\), not uint16"),
        (table_of([*FIELDS[:1], FIELDS[2], ("stage", np.int16, (3,))]), r"the field 'stage' \(signedinteger\), not .*\(3,\)"),
    ],
)  # fmt: skip
def test_a_table_that_loops_cannot_use_is_refused(table: np.dtype[Any], says: str) -> None:
    with pytest.raises(GameError, match=f"^nain_jaune: .*{says}"):
        dataclasses.replace(get_game(), table=table)


def test_a_table_with_the_bytes_that_its_refusal_asks_for_is_accepted() -> None:
    fields = [*FIELDS[:1], FIELDS[2], FIELDS[1], FIELDS[3]]
    with pytest.raises(GameError, match="of 2 bytes behind 'seat' and of 6 bytes behind 'stage'"):
        dataclasses.replace(get_game(), table=table_of(fields))
    fields = [*fields[:2], ("spare", np.uint8, (2,)), *fields[2:], ("more", np.uint8, (6,))]
    dataclasses.replace(get_game(), table=table_of(fields))


def test_the_kernels_rules_know_the_number_of_players() -> None:
    game = dataclasses.replace(get_game(), compile_rules=lambda rules, players: (players,))
    with pytest.raises(GameError, match=r"^nain_jaune: expected compile_rules to return 4 as 'players', not \(4,\)\.$"):
        game.setup()


def test_knobs_are_numbers() -> None:
    knobs = get_game().setup("djeco", decline="always", starting_stack=None, end_on_default=True, stake=3).rules.numbers()
    assert (knobs.decline, knobs.starting_stack, knobs.end_on_default, knobs.stake) == (2, 0, 1, 3)
    assert knobs._fields == get_game().setup().rules.names()


def test_knobs_that_do_not_go_together_are_refused_in_the_games_sentence() -> None:
    def refuse(knobs: Any, rules: Any, whole_match: Any, details: Any) -> int:
        details[:2] = knobs.stake, rules.players
        return 2 if knobs.stake > 1 else 0

    game = dataclasses.replace(get_game(), refusals=("Not this.", "Stake {0} is too much for {1}."), refuse_rules=refuse)
    assert game.setup().players == 4
    with pytest.raises(RulesError, match=r"^Stake 5 is too much for 4\.$"):
        game.setup(stake=5)


def test_a_mask_is_one_word() -> None:
    game = get_game()
    with pytest.raises(GameError, match="at most 63 actions, not 64"):
        dataclasses.replace(game, actions=tuple(map(str, range(64))))


@pytest.mark.parametrize("given", [[], {}, 3, b"skip", np.array([0, 0]), np.array(["skip", "never"])], ids=str)
def test_a_name_of_another_type_is_unknown(given: Any) -> None:
    """Lists have no hash, and arrays no single truth value."""
    for make in (
        lambda: make_setup(given),
        lambda: make_setup(None, given),
        lambda: get_game().setup(given),
        lambda: get_game().setup("skip", decline=given),
    ):
        with pytest.raises(RulesError, match=r"^Unknown (game|preset|value for the knob 'decline':) .* Valid: "):
            make()


def test_knobs_given_as_numpy_values_are_kept_as_pythons_own() -> None:
    numpys = {"stake": np.int64(2), "max_rounds": np.uint8(3), "end_on_default": np.bool_(True), "decline": np.str_("never")}
    rules = get_game().setup("skip", **numpys).rules
    kept = rules.to_dict()
    assert [(type(kept[name]), kept[name]) for name in numpys] == [(int, 2), (int, 3), (bool, True), (str, "never")]
    assert rules == get_game().setup("skip", stake=2, max_rounds=3, end_on_default=True, decline="never").rules
