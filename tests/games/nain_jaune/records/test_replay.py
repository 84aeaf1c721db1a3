"""Rounds on real cards: what of several like cards is shown, and that pictures show the cards that a record names."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nainjaune_agents.tables.terminal.match_table import MatchTable
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, ACTIONS
from nainjaune_env.games.nain_jaune.records.replay import Replay, replay_round
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.registry import get_game


def replay(hand: str, other: str, seed: int = 0) -> Replay:
    """A round of two seats with these hands, the first with the lead, dealt by a generator with the state ``seed``."""
    hands = [hand.split(), other.split()]
    setup = get_game("nain_jaune").setup("djeco", 2, hand=len(hands[0]), announce="explicit", decline="always")
    return Replay(setup, setup_table(setup, hands, dealer=1, seed=seed))


def test_n1_3_a_plain_play_shows_any_of_its_real_cards_equally_often() -> None:
    shown = []
    for seed in range(3000):
        replayed = replay("5s 5d 5c 7d", "As Ah Ac Ad", seed)
        replayed.step(ACTIONS.index("5"))
        shown.append(replayed.moves[0][1])
    counts = [shown.count(card) for card in ("5s", "5d", "5c")]
    assert sum(counts) == 3000
    assert all(900 < count < 1100 for count in counts)


def test_a_pot_card_is_never_shown_for_a_plain_one() -> None:
    for seed in range(50):
        replayed = replay("7h 7d", "As Ah", seed)
        replayed.step(ACTIONS.index("7"))
        assert replayed.moves == [(0, "7h")]


def test_a_round_on_real_cards() -> None:
    replayed = replay("5s 6s 7d 8h", "As Ah Ac Ad")
    for name in ("5", "6", "7d~", "-", "-", "8"):
        replayed.step(ACTIONS.index(name))
    assert replayed.moves == [(0, "5s"), (0, "6s"), (0, "7d~"), (0, "-"), (1, "-"), (0, "8h")]
    assert replayed.hands == [[], ["As", "Ah", "Ad", "Ac"]]
    assert replayed.round_over


def test_moves_tell_like_cards_apart_and_put_the_pass_last() -> None:
    replayed = replay("8c 7d 7h 7s As", "2h 2s 2d 2c Ah")
    wanted = sum(1 << ACTIONS.index(name) for name in ("7", "7d", "7d~", "-"))
    assert replayed.legal_moves(wanted) == ["7s", "7h", "7d", "7d~", "-"]
    assert replayed.legal_moves() == ["As", "7s", "7h", "7d", "7d~", "8c"]
    assert replayed.hands == [["As", "7s", "7h", "7d", "8c"], ["Ah", "2s", "2h", "2d", "2c"]]
    assert len(replayed.talon) == 42
    assert not {*replayed.talon} & {card for hand in replayed.hands for card in hand}


def test_a_card_that_is_not_held_is_refused() -> None:
    replayed = replay("5s", "6s")
    with pytest.raises(IllegalActionError, match=r"Seat 0 has no 6 to play; it holds 5s\."):
        replayed.step(ACTIONS.index("6"))
    with pytest.raises(IllegalActionError, match=r"Seat 0 does not hold '6s'; it holds 5s\."):
        replayed.play("6s")
    assert replayed.moves == []


def test_every_move_has_its_action() -> None:
    assert len(ACTION_OF) == 52 + 1 + 5
    assert set(ACTION_OF.values()) == set(range(len(ACTIONS)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_replays_show_the_cards_of_the_record_and_play_only_their_own_round(seed: int) -> None:
    setup = get_game("nain_jaune").setup("classic", 3, max_rounds=3)
    table, rng = MatchTable(setup, [None] * 3, seed=seed, rng=lambda number, index: RowStreams(index)), random.Random(seed)
    seen: list[tuple[Any, dict[str, Any]]] = []
    while not table.match_over:
        if table.round_over:
            table.deal()
        else:
            table.make_ply(rng.choice(table.legal))
        seen.append((table.position[0], dict(table.history)))
    record = table.record(["a", "b", "c"])
    later = 0
    for position, history in seen[::7] + seen[-1:]:
        number = int(position["rounds"])
        assert int(history["opening"]["rounds"]) == number
        replayed = replay_round(setup, history["opening"], history["actions"])
        moves = record["rounds"][number - 1]["moves"]
        assert [list(move) for move in replayed.moves] == moves[: len(history["actions"])]
        assert replayed.table.tobytes() == position.tobytes()
        later += number > 1
    assert len(record["rounds"]) == 3
    assert later > 10
