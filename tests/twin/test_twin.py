"""The twin's matches; its rounds are in ``tests/games/nain_jaune/test_rules.py``, whose scripts it plays beside the kernel."""

from __future__ import annotations

from typing import Any

from .nain_jaune import Knobs, TwinMatch, TwinRound


def match(players: int, dealer: int, **knobs: Any) -> TwinMatch:
    """A match under the least eventful rules, with some knobs set otherwise."""
    plain: dict[str, Any] = {
        "decline": "never", "blocked": "restart", "payment": "cards", "stranded": "none", "grand_opera": "first_turn",
        "announce": "automatic", "unannounced": 0, "stake": 1, "starting_stack": None, "end_on_default": False,
    }  # fmt: skip
    return TwinMatch(Knobs(**{**plain, "max_rounds": 12, **knobs}), players, dealer)


def run(r: TwinRound, moves: str) -> TwinRound:
    for move in moves.split():
        r.play(move)
    return r


def test_n4_3_ends_after_max_rounds_and_n4_4_the_lead_moves_on() -> None:
    m = match(3, 1, max_rounds=2)
    assert (m.stacks, m.pots, m.rounds_played, m.over) == ([0, 0, 0], [0] * 5, 0, False)
    first = m.new_round([["2c"], ["3s"], ["4s", "8h"]])
    assert first.seat == 2
    m.finish_round(run(first, "4s - - - 8h"))
    assert (m.dealer, m.rounds_played, m.over) == (2, 1, False)
    assert (m.stacks, m.pots) == ([-16, -16, -13], [3, 6, 9, 12, 15])
    second = m.new_round([["2c"], ["3s", "Ks"], ["5h", "8h"]])
    assert second.seat == 0
    m.finish_round(run(second, "2c"))
    assert second.grand_opera  # one card dealt, one card played
    assert (m.dealer, m.rounds_played, m.over, m.winners) == (0, 2, True, [0])


def test_n4_3_ends_when_a_seat_cannot_ante() -> None:
    m = match(2, 1, starting_stack=30, max_rounds=None)
    r = run(m.new_round([["3c", "8c"], ["As"]]), "3c - - 8c")
    assert (r.stacks, r.defaults) == ([16, 14], [])
    m.finish_round(r)
    assert (m.over, m.winners) == (True, [0])


def test_n4_3_ends_on_a_default_only_with_the_knob() -> None:
    for ends in (False, True):
        m = match(2, 1, starting_stack=40, end_on_default=ends, announce="explicit", unannounced=4)
        # Seat 0 owes 40 for its silence and pays all of its 25; the opéra then takes 20 + 35 from the pots.
        r = run(m.new_round([["7d"], ["As"]]), "7d~")
        assert (r.defaults, r.grand_opera, r.stacks) == ([0], True, [0 + 20 + 35 + 1, 24])
        m.finish_round(r)
        assert (m.over, m.winners) == (ends, [0] if ends else [])


def test_n4_6_equal_seats_share() -> None:
    m = match(2, 1, max_rounds=1)
    # Seat 1 captures the 2 of the 10♦ and pays 1 of them to seat 0, which goes out.
    r = run(m.new_round([["9c", "Jh"], ["Td", "As"]]), "9c - Td - Jh")
    m.finish_round(r)
    assert (m.stacks, m.winners) == ([-14, -14], [0, 1])
