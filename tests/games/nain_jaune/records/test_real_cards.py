"""Real cards beside the kernel's kinds."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, ACTIONS
from nainjaune_env.games.nain_jaune.records.real_cards import RealCards


def word(*names: str) -> int:
    return sum(1 << ACTIONS.index(name) for name in names)


def test_n1_3_a_plain_play_shows_any_of_its_real_cards_equally_often() -> None:
    rng = np.random.default_rng(0)
    shown = [RealCards([["5s", "5d", "5c", "7d"]]).play(0, ACTIONS.index("5"), rng) for _ in range(3000)]
    counts = [shown.count(card) for card in ("5s", "5d", "5c")]
    assert sum(counts) == 3000
    assert all(900 < count < 1100 for count in counts)


def test_a_pot_card_is_never_shown_for_a_plain_one() -> None:
    rng = np.random.default_rng(0)
    assert {RealCards([["7h", "7d"]]).play(0, ACTIONS.index("7"), rng) for _ in range(50)} == {"7h"}


def test_nothing_is_drawn_where_one_card_will_do() -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    cards = RealCards([["5s", "7d", "8h"]])
    assert [cards.play(0, ACTIONS.index(name), rng) for name in ("5", "-", "7d~", "8")] == ["5s", "-", "7d~", "8h"]
    assert rng.bit_generator.state == before
    assert cards.played == [(0, "5s"), (0, "7d"), (0, "8h")]
    assert cards.hands() == [[]]


def test_moves_tell_like_cards_apart_and_put_the_pass_last() -> None:
    cards = RealCards([["8c", "7d", "7h", "7s", "As"], ["2h"]])
    assert cards.moves(0, word("7", "7d", "7d~", "-")) == ["7s", "7h", "7d", "7d~", "-"]
    assert cards.hand(0) == ["As", "7s", "7h", "7d", "8c"]
    assert cards.hand(1) == ["2h"]
    assert len(cards.talon()) == 46


def test_a_card_that_is_not_held_is_refused() -> None:
    cards = RealCards([["5s"], ["6s"]])
    with pytest.raises(IllegalActionError, match=r"Seat 0 has no 6 to play; it holds 5s\."):
        cards.play(0, ACTIONS.index("6"), np.random.default_rng(0))
    with pytest.raises(IllegalActionError, match=r"Seat 0 does not hold '6s'; it holds 5s\."):
        cards.put(0, "6s")


def test_every_move_has_its_action() -> None:
    assert len(ACTION_OF) == 52 + 1 + 5
    assert set(ACTION_OF.values()) == set(range(len(ACTIONS)))
