"""A person's table: the games of every adaptor, moves taken back as long as that is fair, and records."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.tables.terminal.table import PersonsTable
from nainjaune_env.core.errors import IllegalActionError, RecordError, RulesError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import verify_record
from nainjaune_env.records.recorder import Recorder
from nainjaune_env.registry import get_game, make_setup
from tests.agents.tables.terminal.typist import persons_table
from tests.support.games import games_with

GAMES = pytest.mark.parametrize("game", games_with("speaker"))
NAMES = ["a", "b", "c", "d"]


def preset(game: str) -> str:
    return get_game(game).default_preset


def play_round(table: PersonsTable, rng: random.Random) -> None:
    """The person plays whatever is legal, until the round is over."""
    table.run_on()
    while not table.round_over:
        assert table.at_turn == table.seat
        table.play(rng.choice(table.legal))
        table.run_on()


def actions_of(table: PersonsTable) -> list[int]:
    return [action for actions in table.plies for action in actions]


def state(table: PersonsTable) -> tuple[Any, ...]:
    """All that can be seen of the table, and what will come of it."""
    speaker = table.speaker
    shown = [speaker.about(topic) for topic in speaker.topics]
    played = table.plies, table.seats_of_round, table._batch.tables.tobytes()
    return table.picture(color=False), shown, speaker.menu(80), table.payoff.tolist(), *played


@GAMES
def test_a_match_is_that_of_a_batch_action_by_action(game: str) -> None:
    """And its record is the one that a recorder writes of a batch that skips forced plies."""
    knobs = {"max_rounds": 3} if "max_rounds" in make_setup(None, preset(game)).rules.names() else {}
    table, rng = persons_table(preset(game), seed=5, **knobs), random.Random(1)
    payoffs = []
    while True:
        play_round(table, rng)
        payoffs.append(table.payoff.copy())
        if table.match_over:
            break
        table.deal()
    record = table.record(NAMES[: table.setup.players])
    assert verify_record(record) == len(payoffs)
    assert record["seed"] == 5

    batch = Batch(table.setup, 1, seed=5, episode="match", autoreset=False, skip_forced=False, log=True)
    recorder = Recorder(batch, NAMES[: table.setup.players], seed=5)
    total = batch.reward[0].astype(np.int64)
    finished: list[Any] = []
    for action in actions_of(table):
        batch.step([action])
        total += batch.reward[0]
        finished += recorder.stepped()
    assert batch.done[0]
    assert total.tolist() == np.sum(payoffs, axis=0).tolist()
    assert finished == [(0, record)]


def test_what_cannot_be_played() -> None:
    table = persons_table()
    table.run_on()
    with pytest.raises(RecordError, match="expected another action"):
        table.record(NAMES)  # it is not over
    before = state(table)
    with pytest.raises(IllegalActionError):
        table.play(next(action for action in range(len(table.setup.game.actions)) if action not in table.legal))
    assert state(table) == before
    with pytest.raises(RulesError, match=r"seat is from 0 to 3, not 4\."):
        persons_table(seat=4)
    with pytest.raises(RulesError, match="has no end"):
        persons_table("classic", max_rounds=None)
    assert persons_table("classic", max_rounds=None, by_rounds=True).setup.players == 4


@GAMES
def test_the_person_may_be_asked_at_every_ply(game: str) -> None:
    """That changes who is asked and nothing else: looks are looks, and the others' games go on as they would."""
    asked = {}
    for every_ply in (False, True):
        table, own, waits = persons_table(preset(game), seed=4, every_ply=every_ply), 0, 0
        table.run_on()
        looks = table.must_memorise
        while not table.round_over:
            waits += 1
            table.play(table.legal[0])
            table.run_on()
        asked[every_ply] = table.plies, looks
        replayed = Batch(table.setup, 1, seed=4, skip_forced=False, autoreset=False)
        for action in actions_of(table):
            own += int(replayed.seat[0] == table.seat)
            replayed.step([action])
        assert (waits == own) == every_ply
    assert asked[False] == asked[True]


# ---------------------------------------------------------------- taking back


@pytest.mark.parametrize(
    ("name", "knobs"),
    [("djeco", {"decline": "always"}), ("tableau", {"announce": "explicit"}), ("batasaurus", {"memory": "perfect"})],
)
def test_moves_are_taken_back_one_by_one_as_if_they_had_not_been(name: str, knobs: dict[str, Any]) -> None:
    """Also in a later round of a match; and the match then goes on as it would have."""
    if "max_rounds" in make_setup(None, name).rules.names():
        knobs = {**knobs, "max_rounds": 2}
    table, rng = persons_table(name, seed=8, **knobs), random.Random(2)
    undone = Counter[int]()
    while True:
        table.run_on()
        moves: list[tuple[Any, ...]] = []
        while not table.round_over:
            before, action = state(table), rng.choice(table.legal)
            moves.append((before, action, table.play(action)))
            moves = moves[len(moves) - len(table.undoable) :]
            if rng.random() < 0.7:
                undone[len(moves)] += 1
                for before, _, _ in reversed(moves):
                    assert table.undo()
                    assert state(table) == before
                assert not table.undo()
                for _, action, events in moves:
                    table.run_on()
                    assert table.play(action) == events
            table.run_on()
        if table.match_over:
            break
        table.deal()
    assert sum(undone.elements()) > 2
    assert undone[2] > 0 or name != "djeco"
    assert verify_record(table.record(NAMES[: table.setup.players])) >= 1


def test_nothing_is_taken_back_once_another_has_played() -> None:
    table, rng = persons_table("djeco", seed=3), random.Random(1)
    late = 0
    table.run_on()
    while not table.round_over:
        table.play(rng.choice(table.legal))
        if table.run_on() and not table.round_over and not table.undoable:
            late += 1
            before = state(table)
            assert not table.undo()
            assert state(table) == before
    assert not table.undo()
    assert late > 1


def test_b4_2_from_memory_nothing_is_taken_back() -> None:
    """One's own card is turned up for oneself, too."""
    table = persons_table("batasaurus", seed=3)
    table.run_on()
    while not table.round_over:
        table.play(table.legal[-1])
        assert not table.undo()
        table.run_on()


# ---------------------------------------------------------------- looking


def test_b4_2_a_look_is_the_one_thing_to_do() -> None:
    table = persons_table("batasaurus", seed=3)
    looks = []
    while not table.round_over:
        table.run_on()
        if not table.round_over:
            looks.append(table.must_memorise)
            table.play(table.legal[0])
    assert looks[0]
    assert not any(looks[1:])
    assert not any(table.must_memorise for table in [persons_table("batasaurus", memory="perfect")])


@GAMES
def test_others_hands_are_drawn_only_when_the_round_is_over(game: str) -> None:
    table = persons_table(preset(game), seed=6)
    table.run_on()
    assert table.picture(color=False, everything=True) == table.picture(color=False)
    play_round(table, random.Random(1))
    assert table.picture(color=False, everything=True) != table.picture(color=False)
