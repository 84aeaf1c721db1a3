"""Rare events, constructed: few dinosaurs, cards worked out by hand, each test named after its article.

A script such as "0:5 1:5 0:2 1:3" says who plays which value. Where nothing must be remembered, cards are sorted.
Every script is played on the kernel and on the twin, which are compared after each ply.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.batasaurus import SPEC, kernel
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.records.replay import setup_table
from nainjaune_env.games.batasaurus.state import UNKNOWN, Phase
from tests.twin.batasaurus import Knobs, TwinGame
from tests.twin.compare_batasaurus import field_names, kernel_rows, twin_row
from tests.twin.mismatch import first_difference


def perfect(players: int, dinosaurs: int = 12, **knobs: Any) -> Setup:
    return SPEC.setup("batasaurus", players, **{"memory": "perfect", "dinosaurs": dinosaurs, **knobs})


def glimpse(players: int, dinosaurs: int = 12, **knobs: Any) -> Setup:
    return SPEC.setup("batasaurus", players, dinosaurs=dinosaurs, **knobs)


class Game:
    """A table on which a script is played by kernel and twin, every move of it legal."""

    def __init__(self, setup: Setup, script: str = "", *, leader: int = 0, layouts: list[list[int]] | None = None) -> None:
        self.rules, self.n, self.leader = setup.kernel_rules, setup.players, leader
        values = list(range(1, setup.rules.dinosaurs + 1))  # type: ignore[attr-defined]
        dealt = [values] * self.n if layouts is None else layouts
        self.table = setup_table(setup, dealt, leader=leader)
        self.twin = TwinGame(Knobs(**setup.rules.to_dict()), dealt, leader)
        if layouts is None:
            while self.table.phase == Phase.MEMORISING:
                self.act(MEMORISE)
        self.run(script)

    def run(self, script: str) -> Game:
        for play in script.split():
            seat, value = map(int, play.split(":"))
            assert self.table.seat == seat, f"seat {self.table.seat} is to act before {play}"
            self.act(self.table.layout[seat].tolist().index(value))
        return self

    def act(self, action: int) -> None:
        assert not self.over
        assert action in self.legal()
        kernel.step(self.table, self.rules, action)
        self.twin.play(action)
        word = 0 if self.over else int(kernel.legal(self.table, self.rules))
        expected = np.array([twin_row(self.twin, self.twin.legal(), self.leader)])
        rows = kernel_rows(np.array([self.table]), [word], np.array([self.piles]), self.n)
        assert first_difference(field_names(self.n), expected, rows) == (-1, "")

    def legal(self) -> list[int]:
        word = int(kernel.legal(self.table, self.rules))
        return [action for action in range(13) if word >> action & 1]

    @property
    def over(self) -> bool:
        return bool(self.table.stage != Stage.PLAYING)

    @property
    def piles(self) -> list[int]:
        out = np.zeros(self.n, np.int32)
        kernel.payoffs(self.table, self.rules, out)
        return out.tolist()

    @property
    def unshown(self) -> list[list[int]]:
        return [[value for value in range(1, 13) if int(kept) >> value - 1 & 1] for kept in self.table.held[: self.n]]

    @property
    def state(self) -> tuple[int, int]:
        """The phase and the seat to act."""
        return int(self.table.phase), int(self.table.seat)

    @property
    def battling(self) -> list[int]:
        return [seat for seat in range(self.n) if self.table.battling >> seat & 1]


# ---------------------------------------------------------------- B1 cards, seats, slots


@pytest.mark.parametrize("players", [1, 5])
def test_b1_two_to_four_seats(players: int) -> None:
    with pytest.raises(RulesError, match="for 2 to 4 players"):
        SPEC.setup("batasaurus", players)


def test_b1_1_cards_are_shuffled_into_slots_and_every_place_is_as_likely() -> None:
    batch = Batch(glimpse(3), 2000, seed=5)
    layouts = batch.tables["layout"]
    assert (np.sort(layouts[:, :3], axis=2) == np.arange(1, 13)).all()
    assert not layouts[:, 3].any()
    for seat in range(3):
        for slot in range(12):
            often = Counter(layouts[:, seat, slot].tolist())
            assert min(often.values()) > 110, (seat, slot)  # 167 expected, with a deviation of 12
            assert max(often.values()) < 230, (seat, slot)
    same = sum(np.array_equal(row[0], row[1]) for row in layouts)
    assert same == 0  # seats are shuffled apart


def test_b1_1_an_emptied_slot_stays_empty() -> None:
    game = Game(glimpse(2, 3), layouts=[[2, 3, 1], [1, 2, 3]])
    for action in (MEMORISE, MEMORISE, 1):
        game.act(action)
    assert game.table.shown[0] == 3
    assert game.legal() == [0, 1, 2]
    game.act(2)  # 3 and 3: a battle, from what is left
    assert game.legal() == [0, 2]
    game.act(0)
    assert game.legal() == [0, 1]


def test_b1_2_fewer_dinosaurs_have_the_lowest_values_and_as_many_slots() -> None:
    game = Game(perfect(4, 2))
    assert game.legal() == [0, 1]
    assert game.unshown == [[1, 2]] * 4
    assert game.table.layout.tolist() == [[1, 2, *[0] * 10]] * 4
    for number in (1, 13):
        with pytest.raises(RulesError, match="'dinosaurs' is a whole number from 2 to 12"):
            perfect(2, number)


# ---------------------------------------------------------------- B2 a trick


def test_b2_1_the_leader_then_each_seat_in_turn_face_up() -> None:
    game = Game(perfect(3, 4), leader=2)
    assert game.state == (Phase.TRICK, 2)
    game.run("2:2")
    assert (game.state, game.table.shown.tolist()) == ((Phase.TRICK, 0), [0, 0, 2, 0])
    game.run("0:3")
    assert (game.state, game.table.at_stake, game.piles) == ((Phase.TRICK, 1), 2, [0, 0, 0])
    assert game.unshown == [[1, 2, 4], [1, 2, 3, 4], [1, 3, 4]]


def test_b2_2_the_highest_takes_all_and_leads() -> None:
    game = Game(perfect(3, 4), "0:2 1:4 2:3")
    assert (game.piles, game.state, game.table.leader) == ([0, 3, 0], (Phase.TRICK, 1), 1)
    assert (game.table.shown.any(), game.table.at_stake, game.table.tricks) == (False, 0, 2)


@pytest.mark.parametrize("exhausted", ["split", "void"])
def test_b2_2_a_last_card_wins_like_any_other(exhausted: str) -> None:
    game = Game(perfect(2, 2, exhausted=exhausted), "0:1 1:2 1:1 0:2")
    assert (game.over, game.piles, game.table.leader) == (True, [2, 2], 0)


def test_b2_3_a_tie_below_the_highest_is_no_battle() -> None:
    game = Game(perfect(4, 4), "0:3 1:3 2:4 3:3")
    assert (game.piles, game.state, game.battling) == ([0, 0, 4, 0], (Phase.TRICK, 2), [])


def test_b2_3_tied_seats_commit_hidden_and_show_together() -> None:
    game = Game(perfect(3, 5), "1:5 2:4 0:5", leader=1)
    assert (game.battling, game.state) == ([0, 1], (Phase.BATTLE, 1))  # in order from the leader, past seat 2
    game.run("1:1")
    assert (game.state, game.table.hidden.tolist()) == ((Phase.BATTLE, 0), [0, 1, 0, 0])
    assert (game.table.shown.tolist(), game.unshown[1]) == ([5, 5, 4, 0], [1, 2, 3, 4])  # not shown, though gone from its slot
    assert (game.table.cards.tolist(), game.table.at_stake) == ([4, 3, 4, 0], 4)
    game.run("0:2")
    assert (game.piles, game.state) == ([5, 0, 0], (Phase.TRICK, 0))
    assert (game.table.hidden.any(), game.unshown) == (False, [[1, 3, 4], [2, 3, 4], [1, 2, 3, 5]])


def test_b2_3_who_is_not_tied_is_out_of_it_whatever_it_showed() -> None:
    # seat 2's 4 beats both cards of the battle, and is no part of it
    assert Game(perfect(3, 5), "0:5 1:5 2:4 0:2 1:1").piles == [5, 0, 0]


def test_b2_3_a_battle_on_a_battle_is_between_those_tied_in_it_alone() -> None:
    game = Game(perfect(4, 4), "0:4 1:4 2:4 3:1 0:3 1:2 2:3")
    assert (game.battling, game.state) == ([0, 2], (Phase.BATTLE, 0))
    game.run("0:1")
    assert game.state == (Phase.BATTLE, 2)
    game.run("2:2")
    assert (game.piles, game.state) == ([0, 0, 9, 0], (Phase.TRICK, 2))


def test_b2_4_a_tied_seat_without_a_card_drops_out_and_the_others_battle_on() -> None:
    # the battle of the first trick leaves seats 0 and 1 one card, the others two
    game = Game(perfect(4, 3), "0:3 1:3 2:1 3:1 0:1 1:2")
    assert (game.state, game.table.cards.tolist()) == ((Phase.TRICK, 1), [1, 1, 2, 2])
    game.run("1:1 2:2 3:2 0:2")  # seats 0, 2 and 3 tie, and seat 0 has played its last card
    assert (game.battling, game.state) == ([2, 3], (Phase.BATTLE, 2))
    game.run("2:3 3:3")
    assert (game.over, game.piles) == (True, [0, 6, 3, 3])  # seat 0 does not share: it was not tied last


def test_b2_4_the_one_seat_left_wins_without_adding_a_card() -> None:
    game = Game(perfect(3, 3), "0:3 1:3 2:1 0:2 1:1")
    assert game.state == (Phase.TRICK, 0)
    game.run("0:1 1:2 2:2")  # 1 has none left, 2 has one
    assert (game.over, game.piles) == (True, [5, 0, 3 + 1])


def test_b2_4_the_same_whoever_it_is() -> None:
    """The seat that is left is not the last or the first of those tied by chance: every seat in turn."""
    for shift in range(3):
        a, b, c = ((seat + shift) % 3 for seat in range(3))
        game = Game(perfect(3, 3), f"{a}:3 {b}:3 {c}:1 {a}:2 {b}:1 {a}:1 {b}:2 {c}:2", leader=a)
        assert (game.over, [game.piles[seat] for seat in (a, b, c)]) == (True, [5, 0, 4])


@pytest.mark.parametrize(("exhausted", "piles"), [("split", [2, 2]), ("void", [0, 0])])
def test_b2_4_exhausted_between_two(exhausted: str, piles: list[int]) -> None:
    game = Game(perfect(2, 2, exhausted=exhausted), "0:2 1:2 0:1 1:1")
    assert (game.over, game.piles) == (True, piles)


@pytest.mark.parametrize(
    ("dinosaurs", "script", "split", "left"),
    [
        (2, "0:2 1:2 2:1 0:1 1:1", [2, 2, 0], [0, 0, 1]),  # 5 cards, 2 each
        (3, "0:3 1:3 2:1 0:2 1:2 0:1 1:1", [3, 3, 0], [0, 0, 2]),  # 7 cards, 3 each
    ],
)
def test_b2_4_exhausted_with_a_remainder_that_is_nobodys(dinosaurs: int, script: str, split: list[int], left: list[int]) -> None:
    for exhausted, shares in (("split", split), ("void", [0, 0, 0])):
        game = Game(perfect(3, dinosaurs, exhausted=exhausted), script)
        assert (game.over, game.piles) == (True, [share + cards for share, cards in zip(shares, left, strict=True)])


def test_b2_4_exhausted_among_three_of_four() -> None:
    game = Game(perfect(4, 2), "3:2 0:1 1:2 2:2 3:1 1:1 2:1", leader=3)
    assert (game.over, game.piles) == (True, [1, 2, 2, 2])  # 7 cards between three, one nobody's; seat 0 kept one


@pytest.mark.parametrize("exhausted", ["split", "void"])
def test_b2_4_the_leader_of_an_exhausted_trick_leads_again(exhausted: str) -> None:
    game = Game(perfect(3, 2, exhausted=exhausted), "2:1 0:2 1:2 0:1 1:1", leader=2)
    assert (game.over, game.table.leader) == (True, 2)


# ---------------------------------------------------------------- B3 the end


def test_b3_1_the_game_stops_before_a_trick_for_which_a_seat_has_no_card() -> None:
    game = Game(perfect(3, 3), "0:3 1:3 2:3 0:2 1:2 2:1 0:1")
    assert not game.over
    game.run("1:1")  # exhausted: 8 cards between two
    assert (game.over, game.piles) == (True, [4, 4, 1])  # seat 2's last card is its own


def test_b3_1_the_last_card_may_win_and_leftovers_go_to_their_owners() -> None:
    game = Game(perfect(3, 3), "0:3 1:3 2:2 0:2 1:1")
    assert (game.piles, game.table.cards.tolist()) == ([5, 0, 0], [1, 1, 2, 0])
    game.run("0:1 1:2 2:3")
    assert (game.over, game.piles, game.table.pile.sum()) == (True, [5, 0, 3 + 1], 9)


def test_b3_1_a_battle_goes_on_with_last_cards() -> None:
    """A seat without a card stops the game before a trick, not within one."""
    game = Game(perfect(3, 2), "0:2 1:2 2:1 0:1")
    assert (game.over, game.table.cards.tolist()) == (False, [0, 1, 1, 0])


def test_b3_2_a_seats_payoff_is_its_cards() -> None:
    batch = Batch(glimpse(4), 50, seed=2, autoreset=False)
    rng = np.random.default_rng(1)
    total = np.zeros((50, 4), np.int64)
    while not batch.done.all():
        batch.step([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in batch.mask])
        total += batch.reward
    assert np.array_equal(total, batch.tables["pile"])
    assert (total.sum(axis=1) <= 48).all()
    assert (total.sum(axis=1) == 48).any()


def test_b3_3_the_first_leader_is_drawn() -> None:
    for players in (2, 3, 4):
        batch = Batch(perfect(players), 1200, seed=3)
        often = Counter(batch.tables["first"].tolist())
        assert set(often) == set(range(players))
        assert min(often.values()) > 0.8 * 1200 / players
        assert np.array_equal(batch.tables["leader"], batch.tables["first"])


# ---------------------------------------------------------------- B4 what a seat may know


def test_b4_1_with_perfect_memory_cards_are_sorted_and_nothing_is_memorised() -> None:
    batch = Batch(perfect(4), 20, seed=1)
    assert (batch.tables["layout"] == np.arange(1, 13)).all()
    assert (batch.tables["phase"] == Phase.TRICK).all()


def test_b4_1_its_owner_always_knows_its_own_cards() -> None:
    setup = perfect(2, 3)
    game = Game(setup, "0:3 1:3 0:1")
    for seat, layout, slots, hidden in ((0, [1, 2, 3], 0b010, 1), (1, [1, 2, 3], 0b011, UNKNOWN)):
        seen = game.table.copy()
        kernel.redact(seen, game.rules, seat)
        assert (seen.layout[seat][:3].tolist(), seen.slots[seat], seen.hidden[0]) == (layout, slots, hidden)
        assert not seen.layout[1 - seat].any()
        assert not seen.slots[1 - seat]


@pytest.mark.parametrize("leader", range(3))
def test_b4_2_each_seat_memorises_once_from_the_first_leader_on(leader: int) -> None:
    rng = random.Random(leader)
    layouts = [rng.sample(range(1, 13), 12) for _ in range(3)]
    game = Game(glimpse(3), layouts=layouts, leader=leader)
    for turn in range(3):
        actor = (leader + turn) % 3
        assert (game.state, game.legal()) == ((Phase.MEMORISING, actor), [MEMORISE])
        assert kernel.needs_decision(game.table, game.rules, np.int64(1 << MEMORISE))
        for seat in range(3):
            seen = game.table.copy()
            kernel.redact(seen, game.rules, seat)
            assert seen.layout[seat].tolist() == (layouts[seat] if seat == actor else [0] * 12)
        game.act(MEMORISE)
    assert (game.state, game.legal()) == ((Phase.TRICK, leader), list(range(12)))
    for seat in range(3):
        seen = game.table.copy()
        kernel.redact(seen, game.rules, seat)
        assert not seen.layout.any()
        assert seen.slots[seat] == 0xFFF


def test_b4_2_the_memorising_step_is_asked_for_where_forced_plies_are_not() -> None:
    batch = Batch(glimpse(2), 1, seed=1, autoreset=False)
    assert batch.legal[0] == 1 << MEMORISE
    batch.step([MEMORISE])
    assert batch.legal[0] == 1 << MEMORISE
    batch.step([MEMORISE])
    assert batch.legal[0] == 0xFFF


def test_b4_3_who_has_committed_is_public_and_what_is_not() -> None:
    game = Game(glimpse(3, 4), "0:4 1:4 2:4 0:1 1:2")
    for seat in range(3):
        seen = game.table.copy()
        kernel.redact(seen, game.rules, seat)
        assert seen.hidden[:3].tolist() == [UNKNOWN, UNKNOWN, 0]  # its own too: it lies face down
        assert np.array_equal(seen.held, game.table.held)  # what has not been shown, committed or not
        assert np.array_equal(seen.cards, game.table.cards)
