"""Hand-worked tests of the twin, named after the articles of RULES.md (B1-B4), with as few dinosaurs as will do."""

from __future__ import annotations

import random
from typing import Any

import pytest

from .batasaurus import MEMORISE, Knobs, TwinGame


def begin(players: int, dinosaurs: int, leader: int = 0, **over: Any) -> TwinGame:
    """A game with sorted layouts and nothing to memorise, so that slot k holds the value k + 1."""
    knobs = Knobs(**{"memory": "perfect", "dinosaurs": dinosaurs, **over})
    return TwinGame(knobs, [range(1, dinosaurs + 1)] * players, leader)


def run(g: TwinGame, script: str) -> TwinGame:
    """Play a script such as "0:5 2:5 1:3": who plays which value."""
    for step in script.split():
        seat, value = map(int, step.split(":"))
        assert g.seat() == seat, f"seat {g.seat()} is to act, not {seat}"
        g.play(g.slots[seat].index(value))
    return g


# ---------------------------------------------------------------- B1


def test_b1_each_seat_has_the_same_dinosaurs() -> None:
    g = begin(4, 12)
    assert [g.unshown(seat) for seat in range(4)] == [list(range(1, 13))] * 4
    with pytest.raises(ValueError, match="Seat 1"):
        TwinGame(Knobs(dinosaurs=2), [[1, 2], [2, 2]], 0)


def test_b1_a_slot_holds_what_was_laid_there_and_stays_empty() -> None:
    g = TwinGame(Knobs(dinosaurs=4), [[3, 1, 4, 2], [4, 3, 2, 1]], 0)
    g.play(MEMORISE)
    g.play(MEMORISE)
    assert g.legal() == [0, 1, 2, 3]
    g.play(0)
    assert (g.shown(0), g.unshown(0), g.cards_left(0)) == ([3], [1, 2, 4], 3)
    g.play(2)  # 2 against 3
    assert (g.piles, g.seat(), g.legal()) == ([2, 0], 0, [1, 2, 3])
    with pytest.raises(ValueError, match="not legal"):
        g.play(0)


@pytest.mark.parametrize("players", [1, 5])
def test_b1_two_to_four_players(players: int) -> None:
    with pytest.raises(ValueError, match="2 to 4 players"):
        begin(players, 12)


def test_b_knobs_refuse_an_unknown_value() -> None:
    with pytest.raises(ValueError, match="exhausted"):
        Knobs(exhausted="keep")
    with pytest.raises(ValueError, match="dinosaurs"):
        Knobs(dinosaurs=13)
    with pytest.raises(ValueError, match="leader"):
        begin(2, 3, leader=2)


# ---------------------------------------------------------------- B2


def test_b2_1_the_leader_then_each_seat_in_turn_face_up() -> None:
    g = begin(3, 4, leader=2)
    assert (g.phase(), g.seat()) == ("trick", 2)
    run(g, "2:2")
    assert (g.seat(), g.shown(2), g.unshown(2), g.at_stake()) == (0, [2], [1, 3, 4], 1)
    run(g, "0:3")
    assert (g.seat(), g.shown(0), g.at_stake()) == (1, [3], 2)
    assert not any(g.committed(seat) for seat in range(3))


def test_b2_2_the_highest_takes_the_trick_and_leads() -> None:
    g = run(begin(3, 4), "0:2 1:4 2:3")
    assert (g.piles, g.leader, g.seat(), g.at_stake()) == ([0, 3, 0], 1, 1, 0)
    assert [g.shown(seat) for seat in range(3)] == [[], [], []]
    assert run(g, "1:1 2:1 0:4").piles == [3, 3, 0]
    assert g.seat() == 0


def test_b2_3_a_tie_below_the_highest_is_no_battle() -> None:
    g = run(begin(3, 4), "0:2 1:4 2:2")
    assert (g.phase(), g.piles, g.seat()) == ("trick", [0, 3, 0], 1)


def test_b2_3_each_tied_seat_commits_one_card_hidden_until_all_have() -> None:
    g = run(begin(2, 5), "0:4 1:4")
    assert (g.phase(), g.battling, g.seat(), g.legal()) == ("battle", [0, 1], 0, [0, 1, 2, 4])
    run(g, "0:3")
    assert (g.shown(0), g.committed(0), g.committed(1), g.at_stake()) == ([4], True, False, 3)
    assert (g.unshown(0), g.cards_left(0)) == ([1, 2, 3, 5], 3)  # the hidden one is among them
    run(g, "1:1")
    assert (g.piles, g.phase(), g.seat()) == ([4, 0], "trick", 0)
    assert (g.unshown(0), g.unshown(1)) == ([1, 2, 5], [2, 3, 5])


def test_b2_3_they_commit_in_order_from_the_leader_and_nobody_else_does() -> None:
    g = run(begin(4, 5, leader=1), "1:4 2:2 3:4 0:4")
    assert (g.battling, g.leader) == ([1, 3, 0], 1)
    run(g, "1:1 3:2")
    assert g.seat() == 0
    assert [g.committed(seat) for seat in range(4)] == [False, True, False, True]
    assert run(g, "0:1").piles == [0, 0, 0, 7]
    assert g.leader == 3


def test_b2_3_the_cards_of_a_battle_alone_decide_it() -> None:
    """2 is below all three opening cards and takes them."""
    assert run(begin(3, 5), "0:5 1:4 2:5 0:1 2:2").piles == [0, 0, 5]


def test_b2_3_a_tie_below_the_highest_of_a_battle_is_no_further_battle() -> None:
    g = run(begin(3, 5), "0:5 1:5 2:5 0:1 1:3 2:1")
    assert (g.phase(), g.piles, g.seat()) == ("trick", [0, 6, 0], 1)


def test_b2_3_those_tied_at_the_new_highest_battle_on() -> None:
    g = run(begin(4, 6, leader=2), "2:5 3:5 0:5 1:5 2:4 3:3 0:4 1:4")
    assert (g.phase(), g.battling, g.at_stake()) == ("battle", [2, 0, 1], 8)
    assert [g.shown(seat) for seat in range(4)] == [[5, 4], [5, 4], [5, 4], [5, 3]]
    run(g, "2:2 0:3 1:3")
    assert (g.battling, g.at_stake()) == ([0, 1], 11)
    assert run(g, "0:1 1:2").piles == [0, 13, 0, 0]
    assert (g.leader, [g.cards_left(seat) for seat in range(4)]) == (1, [2, 2, 3, 4])


def test_b2_4_of_three_tied_seats_one_without_a_card_drops_out() -> None:
    g = run(begin(3, 5), "0:4 1:4 2:1 0:1 1:2  1:1 2:3 0:3 2:4 0:2")
    assert ([g.unshown(seat) for seat in range(3)], g.piles) == ([[5], [3, 5], [2, 5]], [0, 5, 5])
    run(g, "2:5 0:5 1:5")
    assert (g.phase(), g.battling, g.trick.dropped) == ("battle", [2, 1], [0])
    assert run(g, "2:2 1:3").piles == [0, 10, 5]
    assert (g.over, g.winners()) == (True, [1])


@pytest.mark.parametrize(("exhausted", "piles"), [("split", [0, 7, 7]), ("void", [0, 5, 5])])
def test_b2_4_who_dropped_out_before_has_no_share(exhausted: str, piles: list[int]) -> None:
    """Three tied, one without a card; the other two tie on their last. Five cards: two each, one to nobody."""
    g = run(begin(3, 5, exhausted=exhausted), "0:4 1:4 2:1 0:1 1:3  1:1 2:3 0:3 2:4 0:2  2:5 0:5 1:5 2:2")
    assert (g.seat(), g.at_stake()) == (1, 4)
    run(g, "1:2")
    assert (g.over, g.piles, g.winners()) == (True, piles, [1, 2])
    assert (g.done_tricks[-1].dropped, g.done_tricks[-1].exhausted) == ([0], [2, 1])


def test_b2_4_the_one_seat_left_wins_without_another_card() -> None:
    g = run(begin(3, 3), "0:3 1:3 2:1 0:2 1:1  0:1 1:2 2:2")
    assert g.done_tricks[-1].winner == 2
    assert (g.over, g.leader, g.piles) == (True, 2, [5, 0, 3 + 1])


@pytest.mark.parametrize(("exhausted", "piles"), [("split", [1, 1, 3]), ("void", [0, 0, 3])])
def test_b2_4_two_of_three_cannot_add_a_card(exhausted: str, piles: list[int]) -> None:
    """Three cards for two seats: one each, one to nobody."""
    g = run(begin(3, 2, exhausted=exhausted), "0:1 1:1 2:2  2:1 0:2 1:2")
    assert (g.over, g.piles, g.winners()) == (True, piles, [2])


@pytest.mark.parametrize(("exhausted", "piles"), [("split", [1, 1, 1, 4]), ("void", [0, 0, 0, 4])])
def test_b2_4_three_of_four_cannot_add_a_card(exhausted: str, piles: list[int]) -> None:
    """Four cards for three seats: one each, one to nobody."""
    g = run(begin(4, 2, exhausted=exhausted), "0:1 1:1 2:1 3:2  3:1 0:2 1:2 2:2")
    assert (g.over, g.piles) == (True, piles)


@pytest.mark.parametrize(("exhausted", "each"), [("split", 2), ("void", 0)])
def test_b2_4_all_three_cannot_add_a_card_after_a_battle(exhausted: str, each: int) -> None:
    g = run(begin(3, 2, exhausted=exhausted), "0:2 1:2 2:2 0:1 1:1 2:1")
    assert (g.over, g.piles, g.winners()) == (True, [each] * 3, [0, 1, 2])


def test_b2_4_after_that_the_leader_of_the_trick_leads_again() -> None:
    """Though it had no part in the tie. There is no trick to lead any more: the tied seats have no card (B3.1)."""
    g = run(begin(4, 2), "0:1 1:1 2:1 3:2  3:1 0:2 1:2 2:2")
    assert (g.leader, g.over, g.done_tricks[-1].leader) == (3, True, 3)


# ---------------------------------------------------------------- B3


def test_b3_1_cards_in_front_of_a_seat_go_to_its_own_pile_three_seats() -> None:
    g = run(begin(3, 3), "0:3 1:3 2:1 0:2 1:1  0:1 1:2 2:3")
    assert (g.over, g.piles, g.winners()) == (True, [5, 0, 3 + 1], [0])
    assert (g.left_over, [g.cards_left(seat) for seat in range(3)]) == ([0, 0, 1], [0, 0, 0])


def test_b3_1_cards_in_front_of_a_seat_go_to_its_own_pile_four_seats() -> None:
    g = run(begin(4, 3), "0:3 1:3 2:1 3:1 0:2 1:1")
    assert (g.over, [g.cards_left(seat) for seat in range(4)]) == (False, [1, 1, 2, 2])
    run(g, "0:1 1:2 2:3 3:2")
    assert (g.over, g.piles, g.winners()) == (True, [6, 0, 4 + 1, 1], [0])


def test_b3_1_it_stops_although_the_winner_of_the_trick_has_cards() -> None:
    g = run(begin(3, 4), "0:4 1:4 2:1 0:3 1:3 0:2 1:2 0:1 1:1")
    assert (g.over, g.piles, g.legal(), g.phase()) == (True, [4, 4, 3], [], "over")  # 9 cards for two: 4 each
    with pytest.raises(ValueError, match="over"):
        g.seat()
    with pytest.raises(ValueError, match="not legal"):
        g.play(1)


def test_b3_1_no_cards_are_left_over_with_two_seats() -> None:
    rng = random.Random(2)
    for _ in range(50):
        g = play_out(begin(2, 12), rng)
        assert g.over
        assert all(len(one) == 2 for trick in g.done_tricks for one in trick.rounds)


@pytest.mark.parametrize(("exhausted", "piles"), [("split", [3, 3]), ("void", [2, 2])])
def test_b3_2_two_seats_tie_on_the_last_trick_and_share(exhausted: str, piles: list[int]) -> None:
    g = run(begin(2, 3, exhausted=exhausted), "0:1 1:2  1:1 0:2")
    with pytest.raises(ValueError, match="not over"):
        g.winners()
    run(g, "0:3 1:3")
    assert (g.over, g.piles, g.winners(), g.leader) == (True, piles, [0, 1], 0)


def test_b3_2_most_cards_wins() -> None:
    assert run(begin(2, 3), "0:3 1:2 0:2 1:1 0:1 1:3").winners() == [0]


# ---------------------------------------------------------------- B4


def test_b4_under_glimpse_each_seat_memorises_once_from_the_first_leader() -> None:
    g = TwinGame(Knobs(dinosaurs=2), [[2, 1]] * 3, 1)
    for seat in (1, 2, 0):
        assert (g.phase(), g.seat(), g.legal()) == ("memorise", seat, [MEMORISE])
        with pytest.raises(ValueError, match="not legal"):
            g.play(0)
        g.play(MEMORISE)
    assert (g.phase(), g.seat(), g.legal()) == ("trick", 1, [0, 1])
    with pytest.raises(ValueError, match="not legal"):
        g.play(MEMORISE)


def test_b4_under_perfect_there_is_no_memorising_and_the_layout_is_sorted() -> None:
    g = TwinGame(Knobs(memory="perfect", dinosaurs=3), [[3, 1, 2]] * 2, 1)
    assert (g.phase(), g.seat(), g.slots) == ("trick", 1, [[1, 2, 3]] * 2)


# ---------------------------------------------------------------- whole games


def play_out(g: TwinGame, rng: random.Random) -> TwinGame:
    while not g.over:
        g.play(rng.choice(g.legal()))
    return g


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("exhausted", ["split", "void"])
def test_every_card_ends_in_a_pile_or_with_nobody(players: int, exhausted: str) -> None:
    rng = random.Random(players)
    for _ in range(100):
        g = play_out(begin(players, rng.randint(2, 12), exhausted=exhausted), rng)
        lost = [trick for trick in g.done_tricks if trick.winner is None]
        nobodys = sum(trick.cards() % len(trick.exhausted) if exhausted == "split" else trick.cards() for trick in lost)
        assert sum(g.piles) + nobodys == players * g.knobs.dinosaurs
        assert len(lost) <= 1  # the tied seats have no card then, so it was the last trick


@pytest.mark.parametrize(("players", "battles", "exhausted"), [(2, 1.01, 0.087), (3, 1.41, 0.056), (4, 1.82, 0.050)])
def test_battles_are_as_often_as_was_counted_elsewhere(players: int, battles: float, exhausted: float) -> None:
    """A count that shares nothing with this one, of games at random; each tie at the highest is a battle there."""
    rng = random.Random(0)
    games = [play_out(begin(players, 12), rng) for _ in range(2000)]
    laid = [list(one.values()) for g in games for trick in g.done_tricks for one in trick.rounds]
    assert sum(values.count(max(values)) > 1 for values in laid) / len(games) == pytest.approx(battles, abs=0.07)
    assert sum(bool(g.done_tricks[-1].exhausted) for g in games) / len(games) == pytest.approx(exhausted, abs=0.02)
