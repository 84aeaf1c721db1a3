"""What a game may not be."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nainjaune_env import get_game


def test_a_field_that_numpy_would_hide_is_refused() -> None:
    game = get_game()
    fields = [(name, game.table.fields[name][0]) for name in game.table.names or () if game.table.fields]
    bad = np.dtype((np.record, [*fields, ("size", np.int16)]))
    with pytest.raises(ValueError, match="cannot be called 'size'"):
        dataclasses.replace(game, table=bad)


def test_a_mask_is_one_word() -> None:
    game = get_game()
    with pytest.raises(ValueError, match="at most 63 actions, not 64"):
        dataclasses.replace(game, actions=tuple(map(str, range(64))))
