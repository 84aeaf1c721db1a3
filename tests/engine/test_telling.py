"""The events of a round, and what is refused of a game that tells too many."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import GameError
from nainjaune_env.core.events import HIDDEN, PUBLIC, Ply
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.telling import Teller, events_of
from nainjaune_env.games.batasaurus.events import Event as TrickEvent
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.registry import make_setup
from tests.support.contract import finish, single


def played(setup: Setup, seed: int) -> tuple[Any, list[int], Any]:
    """The opening of a round, its actions, and the table at its end."""
    batch = single(setup, seed, log=True)
    finish(batch, random.Random(seed), "uniform")
    assert batch.log is not None
    opening, _, actions = batch.log.round(0)
    return opening, actions.tolist(), batch.tables[0]


@pytest.mark.parametrize("preset", ["djeco", "skip", "tableau"])
def test_n3_the_chips_told_are_all_the_chips_that_move(preset: str) -> None:
    setup = make_setup(preset=preset, players=4)
    for seed in range(20):
        opening, actions, end = played(setup, seed)
        stacks, pots = opening.before[:4].tolist(), [0] * 5
        for event in [event for ply in events_of(setup, opening, actions) for event in ply]:
            gains = event.kind in (Event.CAPTURE, Event.OPERA)
            stacks[event.seat] += event.paid if gains else -event.paid
            if event.kind == Event.PAYS:
                stacks[event.other] += event.paid
            elif event.kind in (Event.CAPTURE, Event.OPERA):
                pots = [0 if event.kind == Event.OPERA or pot == event.pile else chips for pot, chips in enumerate(pots)]
            elif event.kind in (Event.SILENT, Event.STRANDED):
                pots[event.pile] += event.paid
            elif event.kind == Event.ROUND:
                pots = opening.pot.tolist()
        assert stacks == end.stack[:4].tolist()
        assert pots == end.pot.tolist()


def test_n6_every_seat_is_told_everything() -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    opening, actions, _ = played(setup, 2)
    everything = events_of(setup, opening, actions)
    assert all(events_of(setup, opening, actions, viewer=viewer) == everything for viewer in (PUBLIC, 0, 1, 2, 3))


def test_b2_3_a_card_face_down_is_its_owners_secret() -> None:
    for memory, knows in (("perfect", True), ("glimpse", False)):
        setup = make_setup("batasaurus", players=3, memory=memory)
        committed = 0
        for seed, viewer in itertools.product(range(5), (0, PUBLIC)):
            opening, actions, _ = played(setup, seed)
            for event in [event for ply in events_of(setup, opening, actions, viewer=viewer) for event in ply]:
                if event.kind == TrickEvent.PLAY:
                    assert (event.pile == HIDDEN) == (event.seat != viewer)
                elif event.kind == TrickEvent.COMMIT:
                    committed += 1
                    assert (event.pile == HIDDEN) == (event.seat != viewer)
                    assert (event.card == HIDDEN) == (event.seat != viewer or not knows)
        assert committed


def test_a_game_that_tells_nothing_has_its_plies_and_shows_nobody_anothers() -> None:
    setup = make_setup("signal_lamps")
    opening, actions, _ = played(setup, 1)
    first, *plies = events_of(setup, opening, actions)
    assert first == []
    assert [(event.kind, event.card) for (event,) in plies] == [(Ply.PLY, action) for action in actions]
    hidden = [event for ply in events_of(setup, opening, actions, viewer=0) for event in ply]
    assert {event.card == HIDDEN for event in hidden if event.seat != 0} == {True}
    assert {event.card == HIDDEN for event in hidden if event.seat == 0} == {False}


def test_more_events_than_the_game_says_are_refused_and_named() -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    small = dataclasses.replace(setup, game=dataclasses.replace(setup.game, max_events=3))
    tables = np.zeros(1, setup.game.table)
    tables[0] = played(setup, 1)[0]
    with pytest.raises(GameError, match=r"nain_jaune: the kernel's tell writes 5 events of a ply; GameSpec\.max_events is 3\."):
        Teller(small, tables)


def test_the_cards_of_a_record_are_told_as_they_are_given() -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    opening, actions, _ = played(setup, 3)
    drawn = [[event for event in ply if event.kind == Event.PLAY] for ply in events_of(setup, opening, actions)[1:]]
    shown = [ply[0].card if ply else -1 for ply in drawn]
    again = events_of(setup, opening, actions, shown=shown)
    assert [[event for event in ply if event.kind == Event.PLAY] for ply in again[1:]] == drawn
    for seat in range(4):  # what a seat shows it was dealt, each card once
        cards = [event.card for ply in drawn for event in ply if event.seat == seat]
        assert len({*cards}) == len(cards)
        assert all(int(opening.hand[seat]) >> card & 1 for card in cards)
