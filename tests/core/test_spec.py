"""What a game may not be."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nainjaune_env import get_game, make_setup
from nainjaune_env.core.errors import RulesError


def test_a_field_that_numpy_would_hide_is_refused() -> None:
    game = get_game()
    fields = [(name, game.table.fields[name][0]) for name in game.table.names or () if game.table.fields]
    bad = np.dtype((np.record, [*fields, ("size", np.int16)]))
    with pytest.raises(ValueError, match="cannot be called 'size'"):
        dataclasses.replace(game, table=bad)


@pytest.mark.parametrize(("fields", "align"), [([("rng", np.uint64), ("seat", np.int16)], False), ([("seat", np.int16)], True)])
def test_a_table_is_aligned_and_of_whole_words(fields: list[Any], align: bool) -> None:
    with pytest.raises(ValueError, match="aligned record of whole 8-byte words"):
        dataclasses.replace(get_game(), table=np.dtype((np.record, np.dtype(fields, align=align))))


def test_a_mask_is_one_word() -> None:
    game = get_game()
    with pytest.raises(ValueError, match="at most 63 actions, not 64"):
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
