"""The picture of a table, and the scene it is drawn from."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.cards import DECK
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune.actions import action_of
from nainjaune_env.games.nain_jaune.language.wording import CAPTURE, KING, STOP, SUIT_SIGNS
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.rules import PRESETS
from nainjaune_env.games.nain_jaune.view.scene import run_and_call, scene
from nainjaune_env.games.nain_jaune.view.text import WIDTH, render_text
from nainjaune_env.registry import make_setup

HANDS = [
    ["Ac", "2h", "3d", "4s", "5c", "6h", "9s", "Ts", "Jc", "Qs", "Kh", "Ks", "8c", "8s", "8h"],
    ["As", "Ah", "2s", "2c", "3s", "3c", "4h", "4d", "5s", "5h", "6s", "6c", "7d", "9h", "Td"],
    ["Ad", "2d", "3h", "4c", "5d", "6d", "7s", "7h", "7c", "8d", "9d", "Th", "Jd", "Qd", "Kd"],
]
MOVES = ["Ac", "2h", "3d", "4s", "5c", "6h", "-", "7d"]


def play(moves: list[str], hands: list[list[str]] = HANDS, **knobs: Any) -> tuple[Any, Any, dict[str, Any]]:
    setup = make_setup("nain_jaune", "djeco", len(hands), **knobs)
    batch = Batch(setup, 1, skip_forced=False, autoreset=False)
    opening = setup_table(setup, hands, dealer=len(hands) - 1)
    batch.set_tables(0, np.array([opening], setup.game.table))
    for move in moves:
        batch.step([action_of(move)])
    history = {"opening": opening, "actions": [action_of(move) for move in moves]}
    return setup, batch.tables[0], history


PICTURE = """\
Nain Jaune · djeco · round 1

                  ╔════════════════════════════════╗
                  ║     10♦                J♣      ║
                  ║      3                  6      ║
╭─ ▶ seat 1 ────╮ ║         ╭────────────╮         ║ ╭─ seat 2 ──────╮
│ 14 cards      │ ║         │     7♦     │         ║ │ 15 cards      │
│ 49 chips      │ ║         │ nain jaune │         ║ │ 34 chips      │
╰───────────────╯ ║         │   0 → 1    │         ║ ╰────── dealer ─╯
                  ║         ╰────────────╯         ║
                  ║     Q♠                 K♥      ║
                  ║      9                 12      ║
                  ╚════════════════════════════════╝

                         ╭──╭──╭──╭──╭──╭──╭──╮
                         │A │2 │3 │4 │5 │6 │7 │
                         │ ♣│ ♥│ ♦│ ♠│ ♣│ ♥│ ♦│
                         ╰──╰──╰──╰──╰──╰──╰──╯
                          0  0  0  0  0  0  1

                  seat 1: “The nain jaune takes all!”
                       seat 1 to act, required: 8

                           ╭─ seat 0 ──────╮
                           │ 9 cards       │
                           │ 34 chips      │
                           ╰───────────────╯
                      ╭──╭──╭──╭──╭──╭──╭──╭──╭──╮
                      │8 │8 │8 │9 │10│J │Q │K │K │
                      │ ♠│ ♥│ ♣│ ♠│ ♠│ ♣│ ♠│ ♠│ ♥│
                      ╰──╰──╰──╰──╰──╰──╰──╰──╰──╯
"""


def test_the_picture() -> None:
    setup, table, history = play(MOVES)
    assert render_text(setup, table, 0, **history) == PICTURE


def test_n1_5_seats_go_round_in_the_direction_of_play() -> None:
    """From the viewer's place the next seat is on the left where play goes clockwise, else on the right."""
    for direction, left, right in (("clockwise", "seat 2", "seat 0"), ("counterclockwise", "seat 0", "seat 2")):
        setup, table, _ = play([], direction=direction)
        line = next(line for line in render_text(setup, table, 1).splitlines() if "seat 0" in line)
        assert line.index(left) < line.index(right)


@pytest.mark.parametrize(("preset", "players"), [(name, n) for name, sheet in PRESETS.items() for n in sheet.players])
def test_every_number_of_seats_fits_the_page(preset: str, players: int) -> None:
    batch = Batch(make_setup("nain_jaune", preset, players), 1, seed=players, autoreset=False)
    generator = streams(players, 1)
    while not batch.done[0]:
        for seat in (None, *range(players)):
            text = render_text(batch.setup, batch.tables[0], seat)
            assert max(map(len, text.splitlines())) <= WIDTH
            assert all(f"seat {other} " in text for other in range(players))
            assert text.count("▶") == 1
            assert text.count("dealer") == 1
        batch.step(batch.sample(generator))
    text = render_text(batch.setup, batch.tables[0])
    assert "▶" not in text
    assert f"seat {int(batch.tables[0].winner)} is out of cards" in text


def test_a_seat_sees_its_own_cards_only_and_a_spectator_all() -> None:
    signs = {card: ("10" if card[0] == "T" else card[0]) + SUIT_SIGNS[card[1]] for card in DECK}
    setup, table, _ = play([])
    plain = [card for card in DECK if card not in ("Td", "Jc", "Qs", "Kh", "7d")]  # the board shows those
    spectator = render_text(setup, table)
    for card in plain:
        assert (signs[card] in spectator) == any(card in hand for hand in HANDS)
    for seat in range(3):
        seen = scene(setup, table, seat)
        assert [hand is not None for hand in seen.hands] == [k == seat for k in range(3)]
        lines = render_text(setup, table, seat).splitlines()
        faces = [line for line in lines[-4:] if line.strip().startswith("│")]
        ranks, suits = (re.findall(r"│([^│]+)", line) for line in faces)
        assert [rank.strip() + suit.strip() for rank, suit in zip(ranks, suits, strict=True)] == [
            signs[card] for card in seen.hands[seat] or ()
        ]
        assert sorted(seen.hands[seat] or ()) == sorted(HANDS[seat])


def test_colour_only_where_asked_for() -> None:
    setup, table, history = play(MOVES)
    plain = render_text(setup, table, **history)
    coloured = render_text(setup, table, color=True, **history)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    red = re.findall(r"\x1b\[31m(.*?)\x1b\[0m", coloured)
    assert "7♦" in red
    assert "".join(red).count("♥") + "".join(red).count("♦") == plain.count("♥") + plain.count("♦")
    assert not set("".join(red)) & set("♠♣")


def test_the_end_of_a_round_is_told() -> None:
    setup, table, _ = play(MOVES)
    table = table.copy()
    table["stage"], table["winner"], table["opera"] = 1, 1, 1
    text = render_text(setup, table, 0)
    assert "seat 1 is out of cards, grand opéra!" in text
    assert "0: −15   1: +0   2: −15" in text
    assert "to act" not in text


def test_n2_6_runs_and_last_words_are_followed() -> None:
    hands = [
        ["5h", "6c", "7c", "Qs", "Ks", "Ac", "Qc", "Kc", "9s", "Ts", "Js", "2s", "3s", "2h", "3h"],
        ["9h", "Th", "Jh", "As", "Ah", "4s", "4h", "4c", "2c", "3c", "9c", "Tc", "Jc", "2d", "3d"],
        ["6h", "6d", "8s", "8h", "8c", "8d", "9d", "Jd", "Qd", "Ad", "4d", "5d", "5s", "5c", "Kh"],
    ]

    def after(moves: str, **knobs: Any) -> tuple[Any, Any]:
        setup = make_setup("nain_jaune", "djeco", 3, announce="explicit", decline="always", **knobs)
        replay = Replay(setup, setup_table(setup, hands, dealer=2))
        for move in moves.split():
            assert move in replay.legal_moves()
            replay.play(move)
        return run_and_call(replay.events)

    assert after("") == ((), None)
    assert after("5h 6c") == (((0, "5h"), (0, "6c")), None)
    assert after("5h -") == (((0, "5h"),), (0, STOP, 6))
    assert after("5h - - 6h") == (((0, "5h"), (2, "6h")), (0, STOP, 6))
    assert after("5h - - - 6c") == (((0, "6c"),), (0, STOP, 6))  # a new lead
    assert after("5h - - - 7c", blocked="skip") == (((0, "5h"), (0, "7c")), (0, STOP, 6))  # the run goes on a rank up
    assert after("5h - - - -", blocked="skip")[1] == (0, STOP, 7)
    assert after("5h - - - - -", blocked="skip")[1] == (0, STOP, 7)
    assert after("Qs") == (((0, "Qs"),), (0, CAPTURE, 2))
    assert after("Qs~") == (((0, "Qs"),), None)
    assert after("Ks Ac") == (((0, "Ac"),), (0, KING, 0))
    assert after("Qc - - - Kc", blocked="skip")[0] == ((0, "Kc"),)  # above the King there is only a lead
