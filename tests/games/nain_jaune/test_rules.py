"""Rare events, constructed: real deals of full size, exact chips worked out by hand, each named after its article.

Every script is played on the kernel and on the twin, compared after each ply, and once more in a batch.
With 8 seats there are 6 cards each and a talon of 4; antes make the pots 8 16 24 32 40 (120 in all) and take
15 from every stack, which starts at 0 where there is unlimited credit.
"""

from __future__ import annotations

import pytest

from nainjaune_env.core.errors import RulesError
from nainjaune_env.games.nain_jaune import SPEC
from tests.twin.nain_jaune import POT_CARDS

from .both import Played, deal, plain, play

KINDS = ("first_turn", "single_turn", "no_rival_card")
RUN = "8c 9c Ts Js Qh Ks"
ANTED = [8, 16, 24, 32, 40]


def operas(script: str, hands: list[list[str]], **knobs: object) -> dict[str, Played]:
    """The same round under each kind of grand opéra."""
    played = {kind: play(plain(8, grand_opera=kind, **knobs), hands, script) for kind in KINDS}
    assert all(end.over for end in played.values())
    return played


def verdict(played: dict[str, Played]) -> list[str]:
    return [kind for kind, end in played.items() if end.opera]


# ---------------------------------------------------------------- N1 seats


@pytest.mark.parametrize(
    ("preset", "players", "allowed"), [("djeco", 5, "2 to 4"), ("classic", 2, "3 to 8"), ("skip", 9, "2 to 8")]
)
def test_n1_6_the_preset_says_how_many_may_play(preset: str, players: int, allowed: str) -> None:
    with pytest.raises(RulesError, match=f"The preset '{preset}' is for {allowed} players, not {players}"):
        SPEC.setup(preset, players)


# ---------------------------------------------------------------- N2 a round


def test_n2_1_antes_with_two_seats() -> None:
    end = play(plain(2, stake=3), deal(2, {}), "", pots=[1, 0, 0, 0, 7])
    # 2 seats x 3 x (1 2 3 4 5), on top of what was there
    assert end.pots == [7, 12, 18, 24, 37]
    assert end.stacks == [-45, -45]


@pytest.mark.parametrize(("players", "dealer", "leader"), [(2, 0, 1), (2, 1, 0), (8, 7, 0), (8, 3, 4)])
def test_n2_2_the_seat_after_the_dealer_leads(players: int, dealer: int, leader: int) -> None:
    end = play(plain(players), deal(players, {}), "", dealer=dealer)
    assert (end.seat, end.required, "-" in end.legal) == (leader, 0, False)


def test_n2_4_both_the_pot_card_and_a_plain_one_of_the_required_rank() -> None:
    hands = deal(8, {0: "6c 7d 7s 7c Ac Ad"})
    before = play(plain(8), hands, "0:6c")
    assert before.legal == {"7d", "7s", "7c"}
    # either choice asks for an 8; only the pot card takes the 40 chips of its pot
    pot, other = play(plain(8), hands, "0:6c 0:7d"), play(plain(8), hands, "0:6c 0:7s")
    assert (pot.stacks[0], pot.pots[4], pot.required) == (-15 + 40, 0, 8)
    assert (other.stacks[0], other.pots[4], other.required) == (-15, 40, 8)


@pytest.mark.parametrize(("decline", "may_stop", "may_pass"), [("never", 0, 0), ("entry", 0, 1), ("always", 1, 1)])
def test_n2_4_who_must_go_on_and_n2_5_who_must_take_over(decline: str, may_stop: bool, may_pass: bool) -> None:
    hands = deal(8, {0: "6c 7s Ac Ad As Ah", 1: "8h 9h Kc 2c 2d 2s"}, talon="8s 8d 8c")
    setup = plain(8, decline=decline)
    assert play(setup, hands, "0:6c").legal == {"7s"} | ({"-"} if may_stop else set())
    assert play(setup, hands, "0:6c 0:7s").legal == {"-"}  # it has no 8
    assert play(setup, hands, "0:6c 0:7s 0:-").legal == {"8h"} | ({"-"} if may_pass else set())
    # once in, a seat goes on as the leader does
    assert play(setup, hands, "0:6c 0:7s 0:- 1:8h").legal == {"9h"} | ({"-"} if may_stop else set())


def test_n2_6_the_circle_is_counted_from_the_seat_that_played_last() -> None:
    hands = deal(8, {0: "6s", 1: "7h"}, talon="8s 8h 8d 8c")
    end = play(plain(8), hands, "0:6s 0:- 1:7h 1:- 7:-")
    assert (end.seat, end.required) == (0, 8)  # seat 0 passes as well before seat 1 leads
    end = play(plain(8), hands, "0:6s 0:- 1:7h 1:- 7:- 0:-")
    assert (end.seat, end.required) == (1, 0)


def test_n2_6_skip_lets_the_others_take_over_in_turn() -> None:
    hands = deal(8, {0: "6s", 1: "9c", 2: "8h"}, talon="7s 7h 7d 7c")
    setup = plain(8, blocked="skip", decline="entry")
    end = play(setup, hands, "0:6s 0:- 7:- 0:- 1:-")
    assert (end.seat, end.required, end.legal) == (2, 8, {"8h", "-"})
    end = play(setup, hands, "0:6s 0:- 7:- 0:- 1:- 2:8h 2:- 7:- 0:-")
    assert (end.seat, end.required, end.legal) == (1, 9, {"9c", "-"})


def test_n2_6_restart_after_everyone_declined_under_entry() -> None:
    # every other seat holds a 6 or not, and declines; seat 0 has none, so its stop is forced
    hands = deal(8, {0: "5c Ks 9c 2c 3c Ac", 1: "6c", 2: "6s"})
    end = play(plain(8, decline="entry"), hands, "0:5c 0:- 0:Ks")
    assert (end.seat, end.required, end.moves.count("-")) == (0, 0, 8)
    assert end.voids == [{6}, *[set()] * 7]


def test_n2_6_restart_after_everyone_declined_under_always() -> None:
    hands = deal(8, {0: "5c 6h Ks 9c 2c Ac", 1: "6c", 2: "6s"})
    end = play(plain(8, decline="always"), hands, "0:5c 0:- 7:-")
    assert (end.seat, end.required) == (0, 0)
    assert "6h" in end.legal  # the card it refused may be its lead
    assert "-" not in end.legal
    assert end.voids == [set()] * 8


def test_n2_6_skip_after_everyone_declined_binds_the_last_player_under_entry() -> None:
    hands = deal(8, {0: "5c 7h Ks 9c 2c Ac", 1: "6c 7c", 2: "6s"})
    knobs = {"decline": "entry", "blocked": "skip"}
    end = play(plain(8, **knobs), hands, "0:5c 0:- 7:-")
    assert (end.seat, end.required, end.legal) == (0, 7, {"7h"})
    end = play(plain(8, decline="always", blocked="skip"), hands, "0:5c 0:- 7:-")
    assert end.legal == {"7h", "-"}
    # after seat 0 has refused its 7 too, seat 1 may take over with its own or decline
    end = play(plain(8, decline="always", blocked="skip"), hands, "0:5c 0:- 7:- 0:-")
    assert (end.seat, end.required, end.legal) == (1, 7, {"7c", "-"})


def test_n2_6_skip_runs_to_the_king_and_gives_the_lead() -> None:
    # two seats: all Queens and Kings lie in the talon (8 cards), so a Jack blocks twice
    queens_and_kings = "Qs Qh Qd Qc Ks Kh Kd Kc"
    hands = deal(2, {0: "Jc As"}, talon=queens_and_kings)
    setup = plain(2, blocked="skip")
    end = play(setup, hands, "0:Jc 0:- 1:-")
    assert (end.seat, end.required, end.legal) == (0, 13, {"-"})
    end = play(setup, hands, "0:Jc 0:- 1:- 0:- 1:-")
    assert (end.seat, end.required, "As" in end.legal, "-" in end.legal) == (0, 0, True, False)
    assert end.voids == [{12, 13}, {12, 13}]
    # by restart the lead is there at once
    end = play(plain(2), hands, "0:Jc 0:- 1:-")
    assert (end.seat, end.required) == (0, 0)


def test_n2_6_skip_on_a_required_king_gives_the_lead() -> None:
    end = play(plain(8, blocked="skip"), deal(8, {0: "Qh As"}, talon="Ks Kh Kd Kc"), "0:Qh 0:- 7:-")
    assert (end.seat, end.required) == (0, 0)


@pytest.mark.parametrize("pot", range(5))
def test_n2_7_each_pot_has_its_card_which_takes_all_of_it(pot: int) -> None:
    end = play(plain(8), deal(8, {0: POT_CARDS[pot]}), f"0:{POT_CARDS[pot]}", pots=[3] * 5)
    assert end.pots == [0 if other == pot else 3 + chips for other, chips in enumerate(ANTED)]
    assert end.stacks[0] == -15 + 3 + ANTED[pot]


def test_n2_7_a_silent_play_takes_nothing_and_costs() -> None:
    setup = plain(8, announce="explicit", unannounced=2)
    hands = deal(8, {0: "7d As", 1: "8c"})
    end = play(setup, hands, "0:7d~")
    # takes nothing, adds 2 x 40 to the 40 that are there
    assert (end.pots[4], end.stacks[0], end.required) == (120, -15 - 80, 8)
    assert play(setup, hands, "0:7d").stacks[0] == -15 + 40
    assert {"7d", "7d~"} <= play(setup, hands, "").legal
    assert "7d~" not in play(plain(8), hands, "").legal


def test_n2_7_a_silent_play_is_free_where_unannounced_is_0() -> None:
    end = play(plain(8, announce="explicit"), deal(8, {0: "7d As"}), "0:7d~")
    assert (end.pots, end.stacks) == (ANTED, [-15] * 8)


def test_n2_8_a_last_card_that_is_a_pot_card() -> None:
    # the 4s are in the talon: the Ace-2-3 stops, and the lead plays 5 6 and the nain jaune
    hands = deal(8, {0: "Ac 2c 3c 5c 6c 7d"}, talon="4s 4h 4d 4c")
    end = play(plain(8), hands, "0:Ac 0:2c 0:3c 0:- 0:5c 0:6c 0:7d")
    assert (end.over, end.winner, end.opera) == (True, 0, False)
    # 40 from the pot, then 1 for each of 7 x 6 cards
    assert end.stacks == [-15 + 40 + 42] + [-15 - 6] * 7
    assert end.pots == [8, 16, 24, 32, 0]


def test_n2_8_a_last_card_that_is_a_king_gives_no_lead() -> None:
    hands = deal(8, {0: "Ac 2c 3c Jh Qh Ks"}, talon="4s 4h 4d 4c")
    end = play(plain(8), hands, "0:Ac 0:2c 0:3c 0:- 0:Jh 0:Qh 0:Ks")
    assert (end.over, end.winner) == (True, 0)
    assert end.stacks == [-15 + 42] + [-21] * 7
    assert end.pots == ANTED


def test_n2_8_a_last_card_that_is_the_king_of_hearts() -> None:
    hands = deal(8, {0: "Ac 2c 3c Jh Qh Kh"}, talon="4s 4h 4d 4c")
    end = play(plain(8), hands, "0:Ac 0:2c 0:3c 0:- 0:Jh 0:Qh 0:Kh")
    assert end.stacks == [-15 + 32 + 42] + [-21] * 7
    assert end.pots == [8, 16, 24, 0, 40]


def test_n2_8_a_silent_last_card_pays_before_the_settlement() -> None:
    hands = deal(8, {0: "2c 3c 4c 5c 6c 7d"})
    knobs = {"announce": "explicit", "unannounced": 1}
    script = "0:2c 0:3c 0:4c 0:5c 0:6c 0:7d~"
    # all in the first turn: he pays 40 into the pot, and takes it back with all the others: 120 + 40
    end = play(plain(8, **knobs), hands, script)
    assert end.opera
    assert end.stacks == [-15 - 40 + 160 + 42] + [-21] * 7
    # with stacks of 20 he has 5 left to pay, a default, though he wins 120 + 5 a moment later
    end = play(plain(8, **knobs, starting_stack=60), hands, script, stacks=[20] * 8)
    assert end.defaults == [0, *range(1, 8)]
    assert end.stacks == [0 + 125 + 7 * 5] + [0] * 7  # each loser pays 5 of the 6 due


# ---------------------------------------------------------------- N2.9 and N3.1 grand opéra


def test_n3_1_the_leader_in_one_go() -> None:
    played = operas(" ".join(f"0:{card}" for card in RUN.split()), deal(8, {0: RUN}))
    assert verdict(played) == list(KINDS)
    for end in played.values():  # 120 from the pots, 42 for the cards
        assert end.stacks == [-15 + 120 + 42] + [-21] * 7
        assert end.pots == [0] * 5


def test_n3_1_a_seat_that_takes_over_in_its_first_turn() -> None:
    hands = deal(8, {0: "7c As Ah Ad Ac 2s", 1: RUN})
    played = operas("0:7c 0:- " + " ".join(f"1:{card}" for card in RUN.split()), hands)
    assert verdict(played) == ["first_turn", "single_turn"]
    # seat 0 has 5 cards left, six seats 6
    assert played["first_turn"].stacks == [-20, -15 + 120 + 41] + [-21] * 6
    assert played["no_rival_card"].stacks == [-20, -15 + 41] + [-21] * 6
    assert played["no_rival_card"].pots == ANTED


GOES_OUT = " ".join(f"1:{card}" for card in RUN.split())


@pytest.mark.parametrize(
    ("cards", "talon", "script", "decline", "kinds"),
    [
        # the leader after a King is in the same turn
        ({0: "Qh Ks 3c 4c 5c 6c"}, "", "0:Qh 0:Ks 0:3c 0:4c 0:5c 0:6c", "never", KINDS),
        # 0 leads a 6, 1 has no 7 and passes, 2 plays one; nobody has an 8 until the turn is back at 1
        ({0: "6h As Ah Ad Ac 2s", 1: RUN, 2: "7c"}, "8s 8h 8d", f"0:6h 2:7c {GOES_OUT}", "never", ("single_turn",)),
        # under entry seat 1 refuses its 8 once: that was its first turn
        ({0: "7c 7h As Ah Ad Ac", 1: RUN}, "8s 8h 8d", f"0:7c 0:- 1:- 0:7h {GOES_OUT}", "entry", ("single_turn",)),
        # a 3 blocks (all 4s in the talon), the leader goes on with a 7, and seat 1 has its second turn
        ({0: "3c 7c As Ah Ad Ac", 1: RUN}, "4s 4h 4d 4c", f"0:3c 0:- 0:7c {GOES_OUT}", "never", ("single_turn",)),
        # seat 1 plays an 8, the 9s are in the talon, it leads again and goes out: two turns
        (
            {0: "7c As Ah Ad Ac 2s", 1: "8c Ts Jh Qh Ks 2c"}, "9s 9h 9d 9c",
            "0:7c 0:- 1:8c 1:- 1:Ts 1:Jh 1:Qh 1:Ks 1:2c", "never", (),
        ),
        # the first card of a rival is enough against no_rival_card
        ({0: "3c 5c 6c 7c 8c 9c", 1: "4c"}, "4s 4h 4d 5s", "0:3c 1:4c 0:5c 0:6c 0:7c 0:8c 0:9c", "always", ()),
    ],
)  # fmt: skip
def test_n3_1_in_which_turn_the_hand_was_played(
    cards: dict[int, str], talon: str, script: str, decline: str, kinds: tuple[str, ...]
) -> None:
    assert verdict(operas(script, deal(8, cards, talon), decline=decline)) == list(kinds)


@pytest.mark.parametrize("blocked", ["restart", "skip"])
def test_n2_9_the_leader_after_a_blocked_circle_is_in_a_new_turn(blocked: str) -> None:
    hands = deal(8, {0: "3c 5c 6c 7c 8c 9c"}, talon="4s 4h 4d 4c")
    played = operas("0:3c 0:- 0:5c 0:6c 0:7c 0:8c 0:9c", hands, blocked=blocked)
    assert verdict(played) == ["no_rival_card"]
    assert played["no_rival_card"].stacks == [-15 + 120 + 42] + [-21] * 7
    assert played["single_turn"].stacks == [-15 + 42] + [-21] * 7


def test_n3_1_with_two_seats_22_cards_in_one_turn() -> None:
    # five Kings' worth of runs: 9-K, 9-K, 9-K, and 7 cards from 7 to K; every run ends in a King, so the lead stays
    runs = ["9s Ts Js Qh Ks", "9h Th Jh Qd Kh", "9d Td Jd Qs Kd", "7c 8c 9c Tc Jc Qc Kc"]
    hands = deal(2, {0: " ".join(runs)})
    script = " ".join(f"0:{card}" for run in runs for card in run.split())
    for kind in KINDS:
        end = play(plain(2, grand_opera=kind), hands, script)
        assert end.opera
        # antes 2 x 15 all come back, and 22 cards
        assert (end.stacks, end.pots) == ([-15 + 30 + 22, -15 - 22], [0] * 5)


# ---------------------------------------------------------------- N3.2 to N3.4 and N4.2


def test_n3_2_points() -> None:
    hands = deal(8, {0: "Ac 2c 3c 4c 5c 6c", 1: "Ks Kd Kc Qh Qd Qc"}, talon="As Ah Ad 2s")
    end = play(plain(8, payment="points"), hands, "0:Ac 0:2c 0:3c 0:4c 0:5c 0:6c")
    assert end.stacks[1] == -15 - 6 * 10
    # a deck counts 4 x (55 + 30) = 340; 21 of it played, 5 in the talon; and the opéra's 120
    assert end.stacks[0] == -15 + 120 + 340 - 21 - 5


def test_n3_2_payment_is_not_multiplied_by_the_stake() -> None:
    hands = deal(8, {0: "Ac 2c 3c Jh Qh Ks"}, talon="4s 4h 4d 4c")
    end = play(plain(8, stake=2), hands, "0:Ac 0:2c 0:3c 0:- 0:Jh 0:Qh 0:Ks")
    assert end.stacks == [-30 + 42] + [-36] * 7


NO_OPERA = "0:Ac 0:2c 0:3c 0:- 0:Jh 0:Qh 0:Ks"
POTS_OUT = {0: "Ac 2c 3c Jh Qh Ks", 1: "7d", 2: "Td Jc", 3: "Qs", 4: "Kh"}
FOURS = "4s 4h 4d 4c"


@pytest.mark.parametrize(
    ("stranded", "added"),
    [
        ("none", [0, 0, 0, 0, 0]),
        ("match_pot", [8, 16, 24, 32, 40]),
        ("twice_pot", [16, 32, 48, 64, 80]),
        ("twice_ante", [2, 4, 6, 8, 10]),
    ],
)
def test_n3_3_stranded_pot_cards(stranded: str, added: list[int]) -> None:
    end = play(plain(8, stranded=stranded), deal(8, POTS_OUT, FOURS), NO_OPERA)
    ten, jack, queen, king, dwarf = added
    assert end.stacks == [27, -21 - dwarf, -21 - ten - jack, -21 - queen, -21 - king, -21, -21, -21]
    assert end.pots == [pot + more for pot, more in zip(ANTED, added, strict=True)]


@pytest.mark.parametrize("stranded", ["match_pot", "twice_pot", "twice_ante"])
def test_n3_3_after_a_grand_opera_only_twice_ante_is_due(stranded: str) -> None:
    hands = deal(8, {0: "8c 9c Ts Js Qh Ks", 3: "7d Td"}, talon="Jc Qs Kh As")
    end = play(plain(8, stranded=stranded), hands, " ".join(f"0:{card}" for card in RUN.split()))
    assert end.opera
    # twice the antes of 10♦ and the nain jaune, into pots just emptied: 2 and 10
    due = [2, 0, 0, 0, 10] if stranded == "twice_ante" else [0] * 5
    assert end.pots == due
    assert end.stacks[3] == -21 - sum(due)


def test_n3_4_pots_of_talon_cards_stay() -> None:
    # 5 seats, 9 cards, a talon of 7: all five pot cards lie there
    talon = "Td Jc Qs Kh 7d 9s 9h"
    hands = deal(5, {0: "8c 9c Ts Js Qh Ks Kc Kd As", 1: "9d"}, talon)
    script = "0:8c 0:9c 0:Ts 0:Js 0:Qh 0:Ks 0:Kc 0:Kd 0:As"
    end = play(plain(5, stranded="twice_pot", grand_opera="single_turn"), hands, script)
    assert end.pots == [0] * 5  # an opéra takes them all the same
    # after the Queen the fourth King is in the talon: seat 0 stops, leads again, and plays its Ace in a second turn
    script = "0:Ks 0:Kc 0:Kd 0:8c 0:9c 0:Ts 0:Js 0:Qh 0:- 0:As"
    end = play(plain(5, stranded="twice_pot"), hands, script, pots=[3, 0, 0, 0, 1])
    assert (end.over, end.opera) == (True, False)
    assert end.pots == [5 + 3, 10, 15, 20, 25 + 1]
    assert end.stacks == [-15 + 36] + [-15 - 9] * 4


def test_n4_2_default_on_the_payment() -> None:
    # stacks of 60, one of 17: 2 left after the antes, 6 due
    end = play(plain(8, starting_stack=60), deal(8, POTS_OUT, FOURS), NO_OPERA, stacks=[60, 60, 17, 60, 60, 60, 60, 60])
    assert end.defaults == [2]
    assert end.stacks == [45 + 36 + 2, 39, 0, 39, 39, 39, 39, 39]
    assert end.match_over  # seat 2 cannot ante again (N4.3)


def test_n4_2_paying_the_last_chip_is_no_default() -> None:
    end = play(plain(8, starting_stack=60), deal(8, POTS_OUT, FOURS), NO_OPERA, stacks=[60, 60, 21, 60, 60, 60, 60, 60])
    assert (end.defaults, end.stacks[2], end.stacks[0]) == ([], 0, 45 + 42)


def test_n4_2_default_on_a_stranded_card() -> None:
    # seat 1 has 15 + 6 + 7: after paying for its cards 7 are left of the 40 due to the pot of its nain jaune
    setup = plain(8, starting_stack=60, stranded="match_pot")
    end = play(setup, deal(8, POTS_OUT, FOURS), NO_OPERA, stacks=[60, 28, 60, 60, 60, 60, 60, 60])
    assert end.defaults == [1]
    assert (end.stacks[1], end.pots[4]) == (0, 47)
    # seat 2 pays for 10♦ and J♣, pot after pot: 8 and 16
    assert end.stacks[2] == 60 - 15 - 6 - 8 - 16


def test_n4_2_the_first_pot_is_served_first() -> None:
    # seat 2 has 10 left after its cards: 8 for the 10♦, 2 of 16 for the J♣
    setup = plain(8, starting_stack=60, stranded="match_pot")
    end = play(setup, deal(8, POTS_OUT, FOURS), NO_OPERA, stacks=[60, 90, 31, 60, 60, 60, 60, 60])
    assert end.defaults == [2]
    assert (end.stacks[2], end.pots[:2]) == (0, [16, 18])


def test_n4_2_default_on_a_silent_play() -> None:
    setup = plain(8, starting_stack=60, announce="explicit", unannounced=1)
    hands = deal(8, {0: "7d As", 1: "8c"})
    end = play(setup, hands, "0:7d~", stacks=[18, 60, 60, 60, 60, 60, 60, 60])
    assert (end.defaults, end.stacks[0], end.pots[4], end.over) == ([0], 0, 43, False)


def test_n4_2_all_players_broke() -> None:
    setup = plain(8, starting_stack=15, stranded="twice_pot", payment="points")
    end = play(setup, deal(8, POTS_OUT, FOURS), NO_OPERA)
    assert end.stacks == [0] * 8
    assert end.pots == ANTED
    assert end.defaults == [1, 2, 3, 4, 5, 6, 7]
    assert end.match_over


def test_n4_1_unlimited_credit_never_defaults_nor_ends_a_match() -> None:
    setup = plain(8, stranded="twice_pot", payment="points")
    end = play(setup, deal(8, POTS_OUT, FOURS), NO_OPERA, stacks=[-900] * 8)
    assert (end.defaults, end.over, end.match_over) == ([], True, False)
    assert sum(end.stacks) + sum(end.pots) == 8 * -900


# ---------------------------------------------------------------- N4.3 the end of a match


@pytest.mark.parametrize(("last", "over"), [(35, True), (36, False)])
def test_n4_3_a_seat_that_cannot_ante_ends_the_match(last: int, over: bool) -> None:
    # after 15 for the antes and 6 for the cards there are 14, or 15
    stacks = [60, 60, 60, 60, 60, 60, 60, last]
    end = play(plain(8, starting_stack=60), deal(8, POTS_OUT, FOURS), NO_OPERA, stacks=stacks)
    assert (end.defaults, end.over, end.match_over) == ([], True, over)


@pytest.mark.parametrize("ends", [False, True])
def test_n4_3_end_on_default_where_the_defaulter_recovers(ends: bool) -> None:
    # he pays 3 of 40 for his silence, then goes out and is paid: only the knob ends this match
    setup = plain(8, starting_stack=60, announce="explicit", unannounced=1, end_on_default=ends)
    hands = deal(8, {0: "2c 3c 4c 5c 6c 7d"})
    end = play(setup, hands, "0:2c 0:3c 0:4c 0:5c 0:6c 0:7d~", stacks=[18, *[60] * 7])
    assert end.defaults == [0]
    assert end.stacks == [0 + 123 + 42] + [39] * 7
    assert (end.over, end.match_over) == (True, ends)


@pytest.mark.parametrize(("max_rounds", "over"), [(1, True), (2, False)])
def test_n4_3_max_rounds(max_rounds: int, over: bool) -> None:
    end = play(plain(8, max_rounds=max_rounds), deal(8, POTS_OUT, FOURS), NO_OPERA)
    assert (end.over, end.match_over) == (True, over)


def test_n4_3_a_starting_stack_below_the_antes_is_refused() -> None:
    with pytest.raises(RulesError, match="must cover one round's antes, 30 chips at stake 2, and it is 29"):
        SPEC.setup("skip", 2, stake=2, starting_stack=29)
    assert SPEC.setup("skip", 2, stake=2, starting_stack=30).players == 2


def test_n4_3_a_match_without_an_end_is_refused() -> None:
    with pytest.raises(RulesError, match="no end"):
        SPEC.check_match(plain(4, max_rounds=None).rules)


# ---------------------------------------------------------------- N6 voids


@pytest.mark.parametrize(
    ("decline", "proven", "passed"),
    [
        ("never", [{6}, {6}, {6}, set()], [set(), set(), set(), set()]),  # a duty to go on and to take over
        ("entry", [{6}, set(), set(), set()], [set(), {6}, {6}, set()]),  # to go on only
        ("always", [set(), set(), set(), set()], [{6}, {6}, {6}, set()]),  # none
    ],
)
def test_n6_what_a_stop_and_passes_prove(decline: str, proven: list[set[int]], passed: list[set[int]]) -> None:
    hands = deal(8, {0: "5c As", 3: "6c"}, talon="6s 6h 6d")
    end = play(plain(8, decline=decline), hands, "0:5c 3:6c")
    assert end.voids == proven + [set()] * 4
    assert end.passed == passed + [set()] * 4


def test_n6_voids_last_for_the_round_and_gather_through_skips() -> None:
    hands = deal(2, {0: "Jc As 2c"}, talon="Qs Qh Qd Qc Ks Kh Kd Kc")
    setup = plain(2, blocked="skip", decline="entry")
    end = play(setup, hands, "0:Jc 0:- 1:- 0:- 1:- 0:As")
    assert end.voids == [{12, 13}, set()]
    assert end.passed == [set(), {12, 13}]


def test_n6_under_always_a_skip_proves_nothing_even_of_the_empty_handed() -> None:
    hands = deal(2, {0: "Jc As 2c"}, talon="Qs Qh Qd Qc Ks Kh Kd Kc")
    end = play(plain(2, blocked="skip", decline="always"), hands, "0:Jc 0:- 1:- 0:- 1:-")
    assert end.voids == [set(), set()]
