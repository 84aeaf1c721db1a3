"""The dialogue: what a person is shown and asked, and that slips, questions and goodbyes do no harm."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.tables.terminal.session import Session
from nainjaune_agents.tables.terminal.table import PersonsTable
from nainjaune_agents.tables.terminal.terminal import CLEAR
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.records.record import Record, verify_record
from nainjaune_env.registry import get_game
from tests.agents.tables.terminal.typist import Typist, persons_table, session
from tests.support.contract import helper
from tests.support.games import games_with

GAMES = pytest.mark.parametrize("game", games_with("speaker"))


def obliging(table: PersonsTable, seed: int = 1) -> Iterator[str]:
    """Plays a legal move at every question, and Enter where none is asked for."""
    rng = random.Random(seed)
    while True:
        over = table.round_over or table.must_memorise or table.at_turn != table.seat
        yield "" if over else table.speaker.typed(rng.choice(table.legal))


def dialogue(*answers: str, **knobs: Any) -> tuple[str, Typist]:
    """What is shown when these are typed at the first decision of a round in which the person leads."""
    table = persons_table("djeco", seed=5, seat=3, **knobs)
    typist = Typist(answers)
    assert session(table, typist, confirm=True).run() == 0
    return typist.shown, typist


# ---------------------------------------------------------------- whole games


@GAMES
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("screen", [False, True])
def test_a_match_to_its_end(game: str, language: str, screen: bool) -> None:
    preset = {"djeco": "classic"}.get(get_game(game).default_preset, get_game(game).default_preset)
    knobs = {"max_rounds": 2} if preset == "classic" else {}
    table = persons_table(preset, language=language, seed=3, **knobs)
    records: list[Record] = []

    def keep(record: Record) -> str:
        records.append(record)
        return "a file"

    typist = Typist(obliging(table), screen=screen)
    played = session(table, typist, keep=keep, look=0)
    assert played.run() == 0
    (record,) = records
    assert verify_record(record) == played.rounds == (2 if knobs else 1)
    ends, starts = record.get("piles", record.get("stacks")), record["rounds"][0]["stacks"] if "rounds" in record else 0
    assert played.totals.tolist() == (np.array(ends) - starts).tolist()
    assert record["agents"] == ["person", *(f"rival {seat}" for seat in range(1, table.setup.players))]
    assert re.search("Record added to a file" if language == "en" else "Partie ajoutée à a file", typist.shown)
    standings = "Standings" if language == "en" else "Classement"
    assert (standings in typist.shown) == (played.rounds > 1)
    assert (CLEAR in typist.shown) == screen
    assert "None" not in typist.shown
    assert "{" not in typist.shown
    assert max(map(len, typist.shown.replace("\x1b[H\x1b[2J", "").splitlines())) < 200


def test_standings_share_places() -> None:
    table = persons_table("djeco")
    typist = Typist([])
    played = session(table, typist)
    played.totals[:] = [5, -1, 5, -9]
    played.standings(winner=True)
    assert typist.shown.splitlines() == [
        "Standings",
        "  1. seat 0 (you)      5 chips",
        "  1. seat 2 (rival 2)  5 chips",
        "  3. seat 1 (rival 1)  −1 chip",
        "  4. seat 3 (rival 3)  −9 chips",
        "Seat 0 (you) and seat 2 (rival 2) share the win.",
    ]


# ---------------------------------------------------------------- questions


def test_a_move_is_confirmed_or_taken_back() -> None:
    shown, typist = dialogue("2", "oops", "two", "")
    assert shown.count("2♣   Press Enter to play it, or type anything to choose again: ") == 2
    assert "Not played." in shown
    assert typist.asked.count("Your move: ") >= 2
    assert shown.index("Not played.") < shown.index("seat 3 (you)      2♣")


def test_confirming_can_be_switched_off_and_on() -> None:
    shown, typist = dialogue("confirm", "confirm", "confirm", "2")
    assert shown.count("From now on moves are played at once.") == 2
    assert not [prompt for prompt in typist.asked if "Press Enter to play it" in prompt]
    assert "seat 3 (you)      2♣" in shown


@pytest.mark.parametrize(
    ("answers", "shows"),
    [
        (["hello"], ["I do not understand 'hello'"]),
        (["8h"], ["You do not hold 8♥."]),
        (["-"], ["You have the lead, and must play a card."]),
        *(([word], ["Be the first to have no cards left."]) for word in ("?", "help", "AIDE")),
        (["pots"], ["Pots: 10♦ 4 · J♣ 8 · Q♠ 12 · K♥ 16 · 7♦ 20"]),
        (["hand", "main"], ["Your hand: ", "Your hand: "]),
        (["last"], ["Nothing has happened since your last move."]),
        (["u"], ["Your last move cannot be taken back"]),
        (["A", "", "u", "u"], ["Wanted: 2.", "Your last move has been taken back.", "Your last move cannot be taken back"]),
        ([], ["You have left the table."]),  # the end of the input
        (["Q", "no"], ["Press Enter to play it"]),  # a card, and no goodbye as `q` is
        (["", "table"], ["nain jaune │"] * 3),
        (["?"], [f"\n  {key} " for key in ("?", "last", "table", "u", "confirm", "q", "hand", "pots", "chips", "played")]),
    ],
)
def test_a_question_is_answered_and_the_move_asked_again(answers: list[str], shows: list[str]) -> None:
    shown, typist = dialogue(*answers, decline="always")
    assert re.search(".*".join(map(re.escape, shows)), shown, re.DOTALL), shown
    assert "Leave the table?" not in shown
    assert typist.asked[-1] == "Your move: "


# ---------------------------------------------------------------- goodbyes


def test_leaving_is_asked_twice_and_says_what_is_kept() -> None:
    shown, _ = dialogue("q", "no", "q", "y", "never typed")
    assert shown.count("Leave the table? Type y to leave") == 2
    assert "You stay at the table." in shown
    assert "You have left the table.\nAn unfinished match is not recorded; records of finished matches are kept.\n" in shown
    assert shown.endswith("To play the same cards again, use --seed 5.\n")
    assert "never typed" not in shown


@pytest.mark.parametrize("at", ["move", "look", "rival"])
def test_ctrl_c_is_a_goodbye(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = persons_table("batasaurus" if at == "look" else "djeco", seed=5)

    def stop(*_: Any) -> str:
        raise KeyboardInterrupt

    typist = Typist([])
    if at == "rival":
        monkeypatch.setattr(table, "run_on", stop)
    else:
        monkeypatch.setattr(typist, "_read", stop)
    assert session(table, typist).run() == 130
    assert "You have left the table." in typist.shown


# ---------------------------------------------------------------- what is seen


@GAMES
@pytest.mark.parametrize("language", LANGUAGES)
def test_hidden_cards_change_nothing_on_the_screen(game: str, language: str) -> None:
    """Whatever is asked before anybody has played: the screen is the same for all hands that fit what the seat knows."""
    everything = ["?", "last", "table", "u"]
    compared = differing = 0
    for seed in range(24):
        shown = []
        for hidden in (False, True):
            table = persons_table(get_game(game).default_preset, seed=seed, language=language)
            if hidden:
                other = helper(table.setup).reshuffle(table.setup, table._batch.tables[0], 0, random.Random(seed))
                differing += other.tobytes() != table.opening.tobytes()
                table._batch.set_tables(0, other, trusted=True)
                table.opening["rng"] = table._batch.tables["rng"][0]
                table._begin()
            typist = Typist(["" if table.must_memorise else "?", *everything, *table.speaker.topics], screen=True)
            if table.at_turn != 0:
                break  # another seat begins, and what it does follows from its hand
            session(table, typist, look=0).run()
            shown.append(typist.shown)
        if len(shown) == 2:
            assert shown[0] == shown[1]
            compared += 1
    assert compared > 3
    assert differing > 3


def test_a_narrow_terminal_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Typist, "columns", 50)
    table = persons_table("djeco", seed=5, seat=3)
    typist = Typist(["?"])
    session(table, typist).run()
    assert "╔" not in typist.shown
    assert "Your hand: " in typist.shown
    assert "this terminal only 50" in " ".join(typist.shown.split())
    assert max(map(len, typist.shown.splitlines())) <= 50


@GAMES
def test_the_picture_fits_80_columns(game: str) -> None:
    for preset, sheet in get_game(game).presets.items():
        for language in LANGUAGES:
            table = persons_table(preset, sheet.players[-1], language=language)
            assert max(map(len, table.picture(color=False).splitlines())) <= 80


def test_what_was_said_first_is_not_cleared_away_before_it_is_read() -> None:
    """It stands below the table until the person has moved."""
    table = persons_table("tableau", seed=5, announce="explicit")
    typist = Typist(obliging(table), screen=True)
    session(table, typist).run(rounds=1)
    screens = typist.shown.split(CLEAR)
    shown_on = [number for number, screen in enumerate(screens) if "Type ? for help" in screen and "type “7d takes”" in screen]
    assert shown_on == [0, 1]
    assert len(screens) > 3


def test_every_ply_of_another_takes_the_same_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forced one too, or the pause would tell it from a choice."""
    table = persons_table("djeco", seed=5)
    typist = Typist(obliging(table))
    pauses: list[int] = []
    monkeypatch.setattr(typist, "pause", lambda: pauses.append(1))
    shown_on: list[Any] = []
    run_on = table.run_on
    monkeypatch.setattr(table, "run_on", lambda: shown_on.append(run_on()) or shown_on[-1])
    Session(table, typist, ["a", "b", "c", "d"], confirm=False).run(rounds=1)
    assert len(pauses) == sum(map(len, shown_on)) > 20
