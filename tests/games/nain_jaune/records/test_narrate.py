"""The account of a record: every call, and a settlement whose figures are the kernel's."""

from __future__ import annotations

import pytest

from nainjaune_env.core.errors import RecordError
from nainjaune_env.games.nain_jaune.records.replay import Replay, final
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.records.record import Record, make_record, show_record
from nainjaune_env.registry import make_setup
from tests.support.recorded import play
from tests.support.wordings import french

DECK = [rank + suit for suit in "shdc" for rank in "A23456789TJQK"]


def record_of(hands: list[str], moves: str, **knobs: object) -> Record:
    """One round of three players, the first with the lead, played move by move. Hands that are not full are filled up."""
    setup = make_setup("nain_jaune", "skip", 3, **{"max_rounds": 1, **knobs})
    dealt = [hand.split() for hand in hands]
    rest = [card for card in DECK if not any(card in hand for hand in dealt)]
    full = [hand + [rest.pop() for _ in range(15 - len(hand))] for hand in dealt]
    replay = Replay(setup, setup_table(setup, full, dealer=2))
    chips = int(replay.rules.starting_stack)
    begun = {"dealer": 2, "stacks": [chips] * 3, "pots": [0] * 5, "hands": full, "talon": replay.talon}
    played = []
    for move in moves.split():
        played.append([replay.seat, move])
        replay.play(move)
    body = {"rounds": [{**begun, "moves": played, **replay.outcome}], **final(replay)}
    return make_record(setup, body, agents=["ann", "bob", "cleo"])


OPERA = ["As 2s 3s 4s 5s 6s 7d 8s 9s Td Jc Qs Kh Ah 2h", "", ""]
OPERA_MOVES = "As 2s 3s 4s 5s 6s 7d 8s 9s Td Jc Qs Kh Ah 2h"


def test_every_call_in_french() -> None:
    text = show_record(record_of(OPERA, OPERA_MOVES, starting_stack=60), "fr")
    assert (
        french(
            "  Place 0 (ann) : A♠ 2♠ 3♠ 4♠ 5♠ 6♠ 7♦ « Nain jaune qui prend ! » (+15) 8♠ 9♠ 10♦ « Dix qui prend ! » (+3) "
            "V♣ « Valet qui prend ! » (+6) D♠ « Dame qui prend ! » (+9) R♥ « Roi qui prend ! » (+12) "
            "« Roi et je recommence ! » A♥ 2♥ — plus de cartes !\n"
        )
        in text
    )
    assert french("    Grand opéra ! Tous les pots vont à ann (+0).\n") in text
    assert french("    bob paie 45 à ann sur 105 dus, faute de jetons : reste ") in text
    assert text.startswith(french("Nain Jaune, feuille « skip », 3 joueurs\n\nManche 1 — donneur : cleo\n"))
    assert text.endswith(french("Résultat : Place 0 (ann) gagne avec 180 jetons.\n"))


def test_stops_passes_and_blocked_circles() -> None:
    record = play(make_setup("nain_jaune", "skip", 3), 3)[0]
    told, english = show_record(record, "fr"), show_record(record, "en")
    assert " — sans 4\n" in told
    assert french(") : sans dame\n") in told
    assert "): no queen\n" in english
    assert "  Personne ne pose de " in told
    assert " passe au rang suivant, " in told
    assert " relance.\n" in told
    assert " goes on to the " in english
    assert " leads again.\n" in english


def test_n2_7_a_silent_play_says_what_it_cost() -> None:
    knobs = {"announce": "explicit", "unannounced": 1, "starting_stack": None}
    text = show_record(record_of(OPERA, OPERA_MOVES.replace("7d", "7d~"), **knobs), "fr")
    assert "6♠ 7♦ (sans annonce, −15) 8♠" in text
    assert french("Grand opéra ! Tous les pots vont à ann (+30).") in text
    free = show_record(record_of(OPERA, OPERA_MOVES.replace("7d", "7d~"), announce="explicit"), "en")
    assert "6♠ 7♦ (unannounced) 8♠" in free


def test_n3_3_stranded_cards_are_told() -> None:
    hands = ["As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qh Kd Ah 2h", "7d", "Qs"]
    moves = "As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qh Kd Ah 2h"
    record = record_of(hands, moves, starting_stack=None, grand_opera="first_turn", stranded="twice_ante")
    text = show_record(record, "fr")
    assert french("Grand opéra ! Tous les pots vont à ann (+45).") in text
    assert "    bob a gardé 7♦ et ajoute 10 au pot.\n" in text
    assert "    cleo a gardé D♠ et ajoute 6 au pot.\n" in text
    poor = record_of(hands, moves, starting_stack=15, stranded="twice_ante")
    assert "    bob kept 7♦ and adds 0 of the 10 due to its pot.\n" in show_record(poor, "en")


def test_one_round_alone() -> None:
    (record,) = play(make_setup("nain_jaune", "classic", 3, max_rounds=3), 1)
    whole = show_record(record, "en")
    assert [f"\nRound {k} — " in whole for k in (1, 2, 3)] == [True] * 3
    second = show_record(record, "en", 2)
    assert [f"\nRound {k} — " in second for k in (1, 2, 3)] == [False, True, False]
    assert "Result" not in second
    assert "Result" in show_record(record, "en", 3)
    for part in (0, 4):
        with pytest.raises(RecordError, match=rf"The record has rounds 1 to 3, and no round {part}\."):
            show_record(record, "en", part)


def test_a_shared_win_is_told() -> None:
    (record,) = play(make_setup("nain_jaune", "classic", 3, max_rounds=1), 1)
    shared = {**record, "winners": [0, 2]}
    setup = make_setup("nain_jaune", "classic", 3, max_rounds=1)
    chips = max(record["stacks"])
    text = setup.game.transcriber.show(setup, shared, "fr")
    assert french(f"Résultat : Place 0 (seat0) et Place 2 (seat2) gagnent à égalité avec {chips} jetons.\n") in text
