"""Hand-worked tests of the twin, named after the articles of RULES.md, with hands as short as will do."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import Any

import pytest

from .nain_jaune import DECK, HAND_SIZES, POT_CARDS, RANKS, SUITS, Knobs, TwinMatch, TwinRound, rank_of

PLAIN = Knobs(
    decline="never",
    blocked="restart",
    payment="cards",
    stranded="none",
    grand_opera="first_turn",
    announce="automatic",
    unannounced=0,
    stake=1,
    starting_stack=None,
    end_on_default=False,
    max_rounds=12,
)
DJECO = dataclasses.replace(PLAIN, decline="entry", starting_stack=49, max_rounds=None)
CLASSIC = dataclasses.replace(PLAIN, payment="points", stranded="match_pot")
SKIP = dataclasses.replace(
    CLASSIC,
    blocked="skip",
    grand_opera="single_turn",
    starting_stack=60,
    end_on_default=True,
    max_rounds=None,
)
TABLEAU = dataclasses.replace(
    PLAIN, stranded="twice_pot", grand_opera="no_rival_card", unannounced=1, direction="counterclockwise"
)
PRESETS = {"djeco": DJECO, "classic": CLASSIC, "skip": SKIP, "tableau": TABLEAU}

POT_START = [1, 2, 3, 4, 5]  # one seat's antes at stake 1


def begin(*hands: str, stacks: list[int] | None = None, pots: list[int] | None = None, **over: Any) -> TwinRound:
    """A round in which seat 0 has the lead; hands are written 'As 2h'."""
    given = [hand.split() for hand in hands]
    start = 100 if over.get("starting_stack") else 0
    return TwinRound(
        dataclasses.replace(PLAIN, **over),
        given,
        len(given) - 1,
        stacks or [start] * len(given),
        pots or [0] * 5,
    )


def run(r: TwinRound, moves: str) -> TwinRound:
    for move in moves.split():
        r.play(move)
    return r


# ---------------------------------------------------------------- N1


def test_n1_1_deck_has_52_cards_of_13_ranks() -> None:
    assert len(DECK) == len(set(DECK)) == 52
    assert [rank_of(rank + "s") for rank in RANKS] == list(range(1, 14))
    assert set(SUITS) == {card[1] for card in DECK}


def test_n1_2_pot_order() -> None:
    assert POT_CARDS == ("Td", "Jc", "Qs", "Kh", "7d")


def test_n1_4_hand_sizes_leave_the_talon() -> None:
    assert [52 - players * size for players, size in HAND_SIZES.items()] == [8, 7, 4, 7, 4, 3, 4]


def test_n1_5_direction_changes_nothing() -> None:
    one = run(begin("3s 4s", "4h 6h", "4d 2c"), "3s 4s")
    other = run(begin("3s 4s", "4h 6h", "4d 2c", direction="counterclockwise"), "3s 4s")
    assert (one.stacks, one.pots, one.winner) == (other.stacks, other.pots, other.winner)


def test_n1_knobs_refuse_an_unknown_value() -> None:
    with pytest.raises(ValueError, match="blocked"):
        dataclasses.replace(PLAIN, blocked="jump")


# ---------------------------------------------------------------- N2


def test_n2_1_antes_at_stake_two_on_top_of_what_is_left() -> None:
    r = begin("3s", "4s", stacks=[100, 40], pots=[1, 0, 0, 0, 7], stake=2, starting_stack=50)
    assert r.stacks == [70, 10]
    assert r.pots == [5, 8, 12, 16, 27]


def test_n2_1_a_seat_that_cannot_ante_is_an_error_with_stacks_only() -> None:
    with pytest.raises(ValueError, match="Seat 1"):
        begin("3s", "4s", stacks=[100, 14], starting_stack=49)
    assert begin("3s", "4s", stacks=[100, 15], starting_stack=49).stacks == [85, 0]
    assert begin("3s", "4s", stacks=[0, -40]).stacks == [-15, -55]


@pytest.mark.parametrize(("dealer", "leader"), [(0, 1), (1, 2), (2, 0)])
def test_n2_2_the_seat_after_the_dealer_leads(dealer: int, leader: int) -> None:
    r = TwinRound(PLAIN, [["3s"], ["4s"], ["5s"]], dealer, [0, 0, 0], [0] * 5)
    assert (r.seat, r.last_player, r.required) == (leader, leader, 0)


def test_n2_3_the_lead_is_any_card_and_never_a_pass() -> None:
    r = begin("3s 9d Kc", "4s 2c", decline="always")
    assert r.legal() == ["3s", "9d", "Kc"]
    with pytest.raises(ValueError, match="Seat 0"):
        r.play("-")


def test_n2_3_a_king_gives_the_same_seat_the_lead_again() -> None:
    r = run(begin("Kc 2h 9d", "4s 2c"), "Kc")
    assert (r.seat, r.required, r.legal()) == (0, 0, ["2h", "9d"])


def test_n2_3_required_is_the_next_rank() -> None:
    r = run(begin("Qc Ks 2d", "4s 2c"), "Qc")
    assert (r.seat, r.required, r.legal()) == (0, 13, ["Ks"])


@pytest.mark.parametrize(("decline", "may_stop"), [("never", False), ("entry", False), ("always", True)])
def test_n2_4_going_on_is_forced_unless_decline_is_always(decline: str, may_stop: bool) -> None:
    r = run(begin("6s 7d 7s Kc", "4s 2c", decline=decline), "6s")
    assert r.legal() == ["7d", "7s"] + (["-"] if may_stop else [])


@pytest.mark.parametrize(("decline", "may_pass"), [("never", False), ("entry", True), ("always", True)])
def test_n2_5_taking_over_is_forced_only_under_never(decline: str, may_pass: bool) -> None:
    r = run(begin("6s Kc", "7h 2c", decline=decline), "6s")
    assert r.legal() == ["-"]
    r.play("-")
    assert (r.seat, r.required, r.last_player) == (1, 7, 0)
    assert r.legal() == ["7h"] + (["-"] if may_pass else [])


def test_n2_5_once_in_a_seat_must_go_on_under_entry() -> None:
    r = run(begin("6s Kc", "7h 8c 2c", decline="entry"), "6s - 7h")
    assert (r.seat, r.last_player, r.required, r.legal()) == (1, 1, 8, ["8c"])


def test_n2_5_the_next_seat_in_turn_gets_the_next_chance() -> None:
    r = run(begin("6s Kc", "9h 2c", "7c Jh"), "6s - -")
    assert (r.seat, r.legal(), r.passes) == (2, ["7c"], 2)


def test_n2_6_blocked_restart_gives_the_last_player_the_lead() -> None:
    r = run(begin("6s Kc", "9h 2c", "Tc Jh"), "6s - - -")
    assert (r.seat, r.required, r.last_player, r.passes) == (0, 0, 0, 0)
    assert r.legal() == ["Kc"]


def test_n2_6_the_circle_is_counted_from_the_seat_that_played_last() -> None:
    r = run(begin("6s Kc", "7h 2c", "Tc Jh"), "6s - 7h - -")
    assert (r.seat, r.required) == (0, 8)  # seat 0 passes as well before seat 1 leads
    r.play("-")
    assert (r.seat, r.required, r.legal()) == (1, 0, ["2c"])


def test_n2_6_blocked_by_refusals_changes_nothing() -> None:
    r = run(begin("6s 7s Kc", "7h 2c", decline="always"), "6s - -")
    assert (r.seat, r.required, r.legal()) == (0, 0, ["7s", "Kc"])


def test_n2_6_blocked_skip_gives_the_last_player_the_next_rank() -> None:
    r = run(begin("6s 8c Kc", "8h 2c", blocked="skip"), "6s - -")
    assert (r.seat, r.required, r.last_player) == (0, 8, 0)
    assert r.legal() == ["8c"]  # the last player, not seat 1, has the first right
    run(r, "8c -")
    assert (r.seat, r.required) == (1, 9)


def test_n2_6_blocked_skip_lets_the_others_take_over_in_turn() -> None:
    r = run(begin("6s Kc", "9c 2c", "8h 3c", blocked="skip"), "6s - - - - -")
    assert (r.seat, r.required, r.legal(), r.last_player) == (2, 8, ["8h"], 0)
    run(r, "8h - -")
    assert (r.seat, r.required, r.legal()) == (1, 9, ["9c"])


def test_n2_6_blocked_skip_runs_to_the_king() -> None:
    r = begin("9s 2c 4c", "3h 2h", blocked="skip")
    run(r, "9s")
    for required in (10, 11, 12, 13):
        assert (r.seat, r.required, r.legal()) == (0, required, ["-"])
        run(r, "-")
        assert (r.seat, r.required, r.legal()) == (1, required, ["-"])
        run(r, "-")
    assert (r.seat, r.required, r.last_player, r.legal()) == (0, 0, 0, ["2c", "4c"])


def test_n2_6_blocked_skip_on_a_required_king_gives_the_lead() -> None:
    r = run(begin("Qc 2d", "4s 2c", blocked="skip"), "Qc - -")
    assert (r.seat, r.required) == (0, 0)


def test_n2_6_blocked_skip_under_entry_binds_the_last_player_only() -> None:
    r = run(begin("6s 8c Kc", "8h 7c", blocked="skip", decline="entry"), "6s - -")
    assert (r.seat, r.required, r.legal()) == (0, 8, ["8c"])


def test_n2_6_blocked_skip_under_always_may_be_refused_again() -> None:
    r = run(begin("6s 8c Kc", "8h 7c", blocked="skip", decline="always"), "6s - -")
    assert (r.seat, r.required, r.legal()) == (0, 8, ["8c", "-"])
    run(r, "- -")
    assert (r.seat, r.required) == (0, 9)


def test_n2_7_capture_takes_the_whole_pot() -> None:
    r = run(begin("7d 2c", "3s", pots=[0, 0, 0, 0, 6]), "7d")
    assert r.stacks == [-15 + 16, -15]
    assert r.pots == [2, 4, 6, 8, 0]


@pytest.mark.parametrize("pot", range(5))
def test_n2_7_each_pot_has_its_card(pot: int) -> None:
    r = run(begin(f"{POT_CARDS[pot]} As", "2s"), POT_CARDS[pot])
    assert r.pots == [0 if other == pot else 2 * ante for other, ante in enumerate(POT_START)]
    assert r.stacks[0] == -15 + 2 * POT_START[pot]


def test_n2_7_explicit_lists_the_silent_play_next_to_the_announced_one() -> None:
    r = begin("6s 7d 7s Jc", "3s", announce="explicit", decline="always")
    assert r.legal() == ["6s", "7d", "7d~", "7s", "Jc", "Jc~"]
    assert run(r, "6s").legal() == ["7d", "7d~", "7s", "-"]
    with pytest.raises(ValueError, match="'7s~'"):
        r.play("7s~")


def test_n2_7_automatic_has_no_silent_play() -> None:
    r = begin("7d 2c", "3s")
    assert r.legal() == ["7d", "2c"]
    with pytest.raises(ValueError, match="'7d~'"):
        r.play("7d~")


@pytest.mark.parametrize(("unannounced", "pot_after"), [(0, 10), (1, 20), (2, 30)])
def test_n2_7_a_silent_play_takes_nothing_and_adds_to_the_pot(unannounced: int, pot_after: int) -> None:
    r = run(begin("7d 2c", "3s", announce="explicit", unannounced=unannounced), "7d~")
    assert r.pots[4] == pot_after
    assert r.stacks[0] == -15 - (pot_after - 10)
    assert (r.seat, r.required, r.hands[0], r.defaults) == (0, 8, ["2c"], [])


def test_n2_7_an_announced_play_captures() -> None:
    r = run(begin("7d 2c", "3s", announce="explicit", unannounced=2), "7d")
    assert (r.pots[4], r.stacks[0]) == (0, -5)


def test_n2_8_a_last_pot_card_captures_first() -> None:
    r = run(begin("As 7d", "6c 8s 9s", "Ts Js"), "As - - -")
    assert r.seat == 0
    run(r, "7d")
    assert (r.over, r.winner, r.grand_opera) == (True, 0, False)
    assert r.pots == [3, 6, 9, 12, 0]
    assert r.stacks == [-15 + 15 + 3 + 2, -15 - 3, -15 - 2]


def test_n2_8_a_silent_last_card_pays_before_the_settlement() -> None:
    silent: dict[str, Any] = {"announce": "explicit", "unannounced": 2}
    r = run(begin("As 7d", "6c 7s 8s", **silent), "As - - 7d~")
    assert (r.over, r.grand_opera, r.pots) == (True, False, [2, 4, 6, 8, 30])
    assert r.stacks == [-15 - 20 + 3, -15 - 3]
    r = run(begin("6c 7d", "Ts", **silent), "6c 7d~")  # with an opéra he takes back what he just paid
    assert (r.grand_opera, r.pots, r.stacks) == (True, [0] * 5, [-15 - 20 + 50 + 1, -15 - 1])


def test_n2_8_a_last_king_ends_the_round() -> None:
    r = run(begin("Qc Ks", "4s 2c"), "Qc Ks")
    assert (r.over, r.winner, r.legal()) == (True, 0, [])
    with pytest.raises(ValueError, match="over"):
        r.play("4s")


# ---------------------------------------------------------------- N2.9 and N3.1: turns and grand opéra


def opera(moves: str, *hands: str, **over: Any) -> dict[str, bool]:
    """Whether the same play is a grand opéra, by kind."""
    kinds = ("first_turn", "single_turn", "no_rival_card")
    rounds = {kind: run(begin(*hands, grand_opera=kind, **over), moves) for kind in kinds}
    assert all(r.over for r in rounds.values())
    return {kind: r.grand_opera for kind, r in rounds.items()}


def test_n3_1_all_in_the_first_turn_with_the_lead() -> None:
    verdict = opera("Qc Ks 3c 4c", "Qc Ks 3c 4c", "9s 2c")  # the King's new lead is the same turn
    assert verdict == {"first_turn": True, "single_turn": True, "no_rival_card": True}


def test_n3_1_any_seat_can_in_its_first_turn() -> None:
    verdict = opera("3c - 4c 5c", "3c 9c", "4c 5c", "Ks")
    assert verdict == {"first_turn": True, "single_turn": True, "no_rival_card": False}


def test_n3_1_a_pass_before_is_a_first_turn_already() -> None:
    #        0 leads 3, 1 has no 4 and passes, 2 plays 4, 0 has no 5, 1 plays 5 and 6 and is out
    verdict = opera("3c - - 4c - - 5c 6c", "3c 9c", "5c 6c", "4c Ks")
    assert verdict == {"first_turn": False, "single_turn": True, "no_rival_card": False}


def test_n2_9_the_turn_after_a_blocked_restart_is_a_new_one() -> None:
    verdict = opera("3c - - 8c 9c", "3c 8c 9c", "Ks 2c")
    assert verdict == {"first_turn": False, "single_turn": False, "no_rival_card": True}


def test_n2_9_the_turn_after_a_blocked_skip_is_a_new_one() -> None:
    verdict = opera("3c - - 5c", "3c 5c", "Ks 2c", blocked="skip")
    assert verdict == {"first_turn": False, "single_turn": False, "no_rival_card": True}


def test_n3_1_a_last_single_card_is_no_opera_when_more_were_dealt() -> None:
    verdict = opera("3c - 4c - 5c", "3c 5c", "4c Ks")
    assert verdict == {"first_turn": False, "single_turn": False, "no_rival_card": False}


def test_n3_1_a_refused_entry_uses_up_the_first_turn() -> None:
    #        1 could have taken over with its 4 and would not; the second time it does
    verdict = opera("3c - - 3h - 4h 5h", "3c 3h Ac", "4h 5h", decline="entry")
    assert verdict == {"first_turn": False, "single_turn": True, "no_rival_card": False}


def test_n3_1_a_grand_opera_takes_every_pot_wherever_its_card_is() -> None:
    r = run(begin("3c 4c", "7d 2c", "Kh Jc", pots=[1, 1, 1, 1, 1]), "3c 4c")
    assert r.grand_opera
    assert r.pots == [0] * 5
    assert r.stacks == [-15 + 45 + 5 + 4, -17, -17]


# ---------------------------------------------------------------- N3.2 to N3.4


@pytest.mark.parametrize(("payment", "paid"), [("cards", 5), ("points", 1 + 9 + 10 + 10 + 10)])
def test_n3_2_payment(payment: str, paid: int) -> None:
    r = run(begin("3c 8c", "As 9s Ts Js Ks", payment=payment), "3c - - 8c")
    assert not r.grand_opera
    assert r.stacks == [-15 + paid, -15 - paid]


def test_n3_2_payment_is_not_multiplied_by_the_stake() -> None:
    r = run(begin("3c 8c", "As 9s", stake=3), "3c - - 8c")
    assert r.stacks == [-45 + 2, -45 - 2]


@pytest.mark.parametrize(("stranded", "added"), [("none", 0), ("match_pot", 20), ("twice_pot", 40), ("twice_ante", 20)])
def test_n3_3_stranded(stranded: str, added: int) -> None:
    r = run(begin("3c 8c", "7d As", stranded=stranded, stake=2), "3c - - 8c")
    assert r.pots == [4, 8, 12, 16, 20 + added]
    assert r.stacks == [-30 + 2, -30 - 2 - added]


@pytest.mark.parametrize(("stranded", "added"), [("match_pot", 0), ("twice_pot", 0), ("twice_ante", 10)])
def test_n3_3_after_a_grand_opera_the_pots_are_empty(stranded: str, added: int) -> None:
    r = run(begin("3c 4c", "7d As", stranded=stranded), "3c 4c")
    assert r.grand_opera
    assert r.pots == [0, 0, 0, 0, added]


def test_n3_3_each_pot_of_one_hand() -> None:
    r = run(begin("3c 8c", "7d Td As", "Qs 2c", stranded="match_pot"), "3c - - - 8c")
    assert r.pots == [6, 6, 18, 12, 30]
    assert r.stacks == [-15 + 5, -15 - 3 - 3 - 15, -15 - 2 - 9]


def test_n3_4_a_pot_whose_card_is_in_the_talon_stays() -> None:
    r = run(begin("3c 8c", "Ts As", stranded="twice_pot"), "3c - - 8c")
    assert r.pots == [2, 4, 6, 8, 10]


# ---------------------------------------------------------------- N4


def test_n4_1_unlimited_credit_never_defaults() -> None:
    r = run(begin("3c 8c", "7d Ks", payment="points", stranded="twice_pot"), "3c - - 8c")
    assert r.stacks == [-15 + 17, -15 - 17 - 20]
    assert r.defaults == []


def test_n4_2_payment_before_stranded_and_nobody_pays_more_than_he_has() -> None:
    # seat 1 has 12 left after the antes: 9 to the winner, 3 of the 15 for the pot; seat 2 has 5 of 10.
    r = begin(
        "3c 8c",
        "7d 2c",
        "Ks Kc",
        stacks=[50, 27, 20],
        payment="points",
        stranded="match_pot",
        starting_stack=49,
    )
    run(r, "3c - - - 8c")
    assert r.stacks == [35 + 9 + 5, 0, 0]
    assert r.pots == [3, 6, 9, 12, 15 + 3]
    assert r.defaults == [1, 2]


def test_n4_2_paying_the_last_chip_in_full_is_no_default() -> None:
    r = run(begin("3c 8c", "2h 2c", stacks=[50, 17], starting_stack=49), "3c - - 8c")
    assert (r.stacks, r.defaults) == ([37, 0], [])


def test_n4_2_a_silent_play_can_default() -> None:
    r = begin("7d 2c", "3s", stacks=[19, 50], announce="explicit", unannounced=1, starting_stack=49)
    run(r, "7d~")
    assert (r.stacks, r.pots[4], r.defaults, r.over) == ([0, 35], 14, [0], False)


def test_n4_3_a_match_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="no end"):
        TwinMatch(dataclasses.replace(PLAIN, max_rounds=None), 3, 0)


def test_n4_3_ends_after_max_rounds_and_n4_4_the_lead_moves_on() -> None:
    m = TwinMatch(dataclasses.replace(PLAIN, max_rounds=2), 3, 1)
    assert (m.stacks, m.pots, m.rounds_played, m.over) == ([0, 0, 0], [0] * 5, 0, False)
    first = m.new_round([["2c"], ["3s"], ["4s", "8h"]])
    assert first.seat == 2
    run(first, "4s - - -")
    with pytest.raises(ValueError, match="not over"):
        m.finish_round(first)
    run(first, "8h")
    m.finish_round(first)
    assert (m.dealer, m.rounds_played, m.over) == (2, 1, False)
    assert (m.stacks, m.pots) == ([-16, -16, -13], [3, 6, 9, 12, 15])
    second = m.new_round([["2c"], ["3s", "Ks"], ["5h", "8h"]])
    assert second.seat == 0
    run(second, "2c")
    assert second.grand_opera  # one card dealt, one card played
    m.finish_round(second)
    assert (m.dealer, m.rounds_played, m.over, m.winners) == (0, 2, True, [0])
    with pytest.raises(ValueError, match="over"):
        m.new_round([["2c"], ["3s"], ["4s"]])
    with pytest.raises(ValueError, match="finished"):
        m.finish_round(second)


def test_n4_3_ends_when_a_seat_cannot_ante() -> None:
    m = TwinMatch(dataclasses.replace(PLAIN, starting_stack=30, max_rounds=None), 2, 1)
    r = run(m.new_round([["3c", "8c"], ["As"]]), "3c - - 8c")
    assert (r.stacks, r.defaults) == ([16, 14], [])
    m.finish_round(r)
    assert (m.over, m.winners) == (True, [0])


def test_n4_3_ends_on_a_default_only_with_the_knob() -> None:
    for ends in (False, True):
        knobs = dataclasses.replace(PLAIN, starting_stack=40, end_on_default=ends, announce="explicit", unannounced=4)
        m = TwinMatch(knobs, 2, 1)
        # Seat 0 owes 40 for its silence and pays all of its 25; the opéra then takes 20 + 35 from the pots.
        r = run(m.new_round([["7d"], ["As"]]), "7d~")
        assert (r.defaults, r.grand_opera, r.stacks) == ([0], True, [0 + 20 + 35 + 1, 24])
        m.finish_round(r)
        assert (m.over, m.winners) == (ends, [0] if ends else [])


def test_n4_3_a_starting_stack_below_the_antes_is_over_before_the_first_round() -> None:
    m = TwinMatch(dataclasses.replace(PLAIN, starting_stack=14), 2, 0)
    assert (m.over, m.winners, m.rounds_played) == (True, [0, 1], 0)
    assert not TwinMatch(dataclasses.replace(PLAIN, starting_stack=15), 2, 0).over


def test_n4_6_equal_seats_share() -> None:
    m = TwinMatch(dataclasses.replace(PLAIN, max_rounds=1), 2, 1)
    # Seat 1 captures the 2 of the 10♦ and pays 1 of them to seat 0, which goes out.
    r = run(m.new_round([["9c", "Jh"], ["Td", "As"]]), "9c - Td - Jh")
    m.finish_round(r)
    assert (m.stacks, m.winners) == ([-14, -14], [0, 1])


# ---------------------------------------------------------------- N6


@pytest.mark.parametrize(
    ("decline", "voids"),
    [("never", [{7}, {7}, set()]), ("entry", [{7}, set(), set()]), ("always", [set()] * 3)],
)
def test_n6_voids_need_a_duty_to_play(decline: str, voids: list[set[int]]) -> None:
    r = run(begin("6s Kc", "9h 2c", "7c Jh", decline=decline), "6s - -")
    assert r.voids == voids


def test_n6_voids_last_for_the_round_and_grow_on_skips() -> None:
    r = run(begin("Ts 2c 4c", "3h 2h", blocked="skip", decline="entry"), "Ts - - - - - -")
    assert r.voids == [{11, 12, 13}, set()]
    run(r, "2c -")
    assert r.voids == [{11, 12, 13, 3}, set()]


def test_an_illegal_move_changes_nothing() -> None:
    r = run(begin("6s Kc 7d", "9h 2c"), "6s")
    before = repr(vars(r))
    for move in ("-", "Kc", "9h", "7d~", "7s", "", "zz", "7d "):
        with pytest.raises(ValueError):
            r.play(move)
        assert repr(vars(r)) == before


@pytest.mark.parametrize(
    ("hands", "dealer"),
    [([["3c"]], 0), ([["3c"], ["3c"]], 0), ([["3c"], ["1c"]], 0), ([["3c"], []], 0), ([["3c"], ["4c"]], 2)],
)
def test_a_table_that_cannot_be_is_refused(hands: list[list[str]], dealer: int) -> None:
    with pytest.raises(ValueError):
        TwinRound(PLAIN, hands, dealer, [0] * len(hands), [0] * 5)


# ---------------------------------------------------------------- random play


def deal(rng: random.Random, players: int) -> list[list[str]]:
    cards = list(DECK)
    rng.shuffle(cards)
    size = HAND_SIZES[players]
    return [cards[seat * size : (seat + 1) * size] for seat in range(players)]


def random_knobs(rng: random.Random) -> Knobs:
    return Knobs(
        decline=rng.choice(["never", "entry", "always"]),
        blocked=rng.choice(["restart", "skip"]),
        payment=rng.choice(["cards", "points"]),
        stranded=rng.choice(["none", "match_pot", "twice_pot", "twice_ante"]),
        grand_opera=rng.choice(["first_turn", "single_turn", "no_rival_card"]),
        announce=rng.choice(["automatic", "explicit"]),
        unannounced=rng.choice([0, 1, 2]),
        stake=rng.choice([1, 2]),
        starting_stack=rng.choice([None, 30, 49, 60, 200]),
        end_on_default=rng.choice([False, True]),
        max_rounds=rng.choice([1, 3]),
        direction=rng.choice(["clockwise", "counterclockwise"]),
    )


def play_out(r: TwinRound, rng: random.Random) -> None:
    """Random play to the end, with what must hold at every step."""
    chips = sum(r.stacks) + sum(r.pots)
    while not r.over:
        moves = r.legal()
        assert moves
        assert len(set(moves)) == len(moves)
        assert r.knobs.starting_stack is None or min(r.stacks) >= 0  # N4.2
        for seat, void in enumerate(r.voids):
            assert not void & {rank_of(card) for card in r.hands[seat]}
        assert 0 <= r.passes < r.players
        if r.required == 0:
            assert (r.seat, r.passes) == (r.last_player, 0)
        else:
            assert r.seat == (r.last_player + r.passes) % r.players
        r.play(rng.choice(moves))
        assert sum(r.stacks) + sum(r.pots) == chips  # N4.5
    assert r.winner is not None
    assert r.hands[r.winner] == []
    assert sum(not hand for hand in r.hands) == 1
    assert r.defaults == sorted(set(r.defaults))
    assert r.knobs.starting_stack is not None or not r.defaults


@pytest.mark.parametrize("seed", range(150))
def test_n4_5_chips_are_conserved_over_random_matches(seed: int) -> None:
    rng = random.Random(seed)
    players = rng.choice(list(HAND_SIZES))
    knobs = random_knobs(rng)
    m = TwinMatch(knobs, players, rng.randrange(players))
    chips = sum(m.stacks)
    while not m.over:
        leader = (m.dealer + 1) % players
        r = m.new_round(deal(rng, players))
        assert r.seat == leader
        play_out(r, rng)
        m.finish_round(r)
        assert m.dealer == leader
        assert sum(m.stacks) + sum(m.pots) == chips
    assert m.winners
    assert {m.stacks[seat] for seat in m.winners} == {max(m.stacks)}


def test_presets_play_to_the_end() -> None:
    for (name, knobs), seed in itertools.product(PRESETS.items(), range(3)):
        rng = random.Random(f"{name} {seed}")
        m = TwinMatch(knobs, 4, 0)
        while not m.over and m.rounds_played < 20:
            r = m.new_round(deal(rng, 4))
            play_out(r, rng)
            m.finish_round(r)
        assert m.rounds_played >= 1
        assert m.over or name == "djeco"
