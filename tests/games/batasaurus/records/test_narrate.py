"""The narration of a record."""

from __future__ import annotations

import pytest

from nainjaune_env.core.errors import RecordError
from nainjaune_env.games.batasaurus.records.replay import open_record
from nainjaune_env.records.record import Record, make_record, show_record
from nainjaune_env.registry import make_setup
from tests.support.wordings import french


def record_of(script: str, dinosaurs: int, *, leader: int = 0, layouts: list[list[int]] | None = None, **knobs: str) -> Record:
    """A game of three from a script such as "0:3 1:3 2:1", who plays which value; without layouts all know their own cards."""
    values = list(range(1, dinosaurs + 1))
    knobs = {"memory": "perfect" if layouts is None else "glimpse", **knobs}
    setup = make_setup("batasaurus", players=3, dinosaurs=dinosaurs, **knobs)
    body = {"layouts": [values] * 3 if layouts is None else layouts, "leader": leader}
    replay = open_record(setup, body)
    replay.memorise()
    moves = []
    for seat, value in (map(int, step.split(":")) for step in script.split()):
        moves.append([seat, body["layouts"][seat].index(value)])
        assert replay.seat == seat
        replay.step(moves[-1][1])
    assert replay.round_over
    return make_record(setup, {**body, "moves": moves, **replay.outcome}, agents=["ann", "bob", "cleo"])


SHARED = record_of("0:3 1:3 2:1 0:2 1:2 0:1 1:1", 3)
"""A battle on a battle, and a third that nobody can begin: 7 cards between two."""


def test_what_is_shared_and_what_is_nobodys() -> None:
    """The accounts of golden matches are of tricks that a seat wins."""
    told = show_record(SHARED, "fr")
    shared = french("ann et bob se partagent le pli, 3 cartes par place ; le reste, 1 carte, n'est à personne.")
    assert f"  {french('Plus de carte à ajouter :')} {shared}\n" in told
    assert french("Cartes restantes, ajoutées aux piles : ann 0 · bob 0 · cleo 2\n") in told
    assert told.endswith(french("Résultat : Place 0 (ann) et Place 1 (bob) gagnent à égalité avec 3 cartes.\n"))
    even = record_of("0:2 1:2 2:2 0:1 1:1 2:1", 2)
    expected = french("  Plus de carte à ajouter : ann, bob et cleo se partagent le pli, 2 cartes par place.\n")
    assert expected in show_record(even, "fr")
    assert "  No card left to add: ann, bob and cleo share the trick, 2 cards each.\n" in show_record(even, "en")
    assert "left over" not in show_record(even, "en")
    nobody = record_of("0:2 1:2 2:2 0:1 1:1 2:1", 2, exhausted="void")
    assert french("  Plus de carte à ajouter : le pli, 6 cartes, n'est à personne.\n") in show_record(nobody, "fr")
    assert "  No card left to add: the trick, 6 cards, is nobody's.\n" in show_record(nobody, "en")
    assert "Result: Seat 0 (ann), Seat 1 (bob) and Seat 2 (cleo) share the win with 0 cards.\n" in show_record(nobody, "en")
    assert "gagnent à égalité avec 0 carte.\n" in show_record(nobody, "fr")


def test_there_is_one_round() -> None:
    assert show_record(SHARED, "fr", 1) == show_record(SHARED, "fr")
    for part in (0, 2):
        with pytest.raises(RecordError, match=rf"The record has one round, and no round {part}\."):
            show_record(SHARED, "fr", part)
