"""Episodes played again from their opening table."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.replay import ActionLog, Ply, Replay
from nainjaune_env.records.recorder import log_of
from tests.support.contract import advance, all_setups, payoffs, single

every_setup = pytest.mark.parametrize("setup", all_setups()[::3])


def played(setup: Setup, seed: int, **options: Any) -> tuple[Any, list[int], Batch]:
    """The opening table of a round, the actions of random play, and the batch at its end."""
    opening = single(setup, seed).tables[0].copy()
    batch = single(setup, seed, observe=False, **options)
    return opening, advance(batch, 10_000, random.Random(seed)), batch


@every_setup
def test_the_log_of_a_batch_that_makes_forced_plies_itself_is_played_again(setup: Setup) -> None:
    opening, decisions, ended = played(setup, 5, skip_forced=True, log=True)
    logged = log_of(ended).episode(0)
    assert logged.opening.tobytes() == opening.tobytes()
    replay, log = Replay(setup, opening), ActionLog(logged.actions.tolist())
    taken = []
    for ply in replay.plies(log, complete=True):
        assert ply.legal_bits >> ply.action & 1
        taken.append((ply, replay.needs_decision(ply.legal_bits)))
    log.check_spent()
    assert replay.round_over
    assert replay.payoffs == payoffs(ended)
    assert replay.table.tobytes() == ended.tables[0].tobytes()
    assert [ply.seat for ply, _ in taken] == logged.seats.tolist()
    assert [ply.action for ply, decided in taken if decided] == decisions


@every_setup
def test_a_ply_is_made_when_the_next_one_is_requested(setup: Setup) -> None:
    opening, actions, _ = played(setup, 1)
    replay = Replay(setup, opening)
    plies = replay.plies(ActionLog(actions))
    before = replay.table.tobytes()
    first = next(plies)
    assert isinstance(first, Ply)
    assert (first.seat, first.action) == (replay.seat, actions[0])
    assert replay.table.tobytes() == before
    next(plies)
    assert replay.table.tobytes() != before


@every_setup
def test_a_log_that_does_not_fit_is_refused(setup: Setup) -> None:
    opening, actions, _ = played(setup, 2)
    short = ActionLog(actions[:-1])
    assert len(list(Replay(setup, opening).plies(short))) == len(actions) - 1
    with pytest.raises(RecordError, match=rf"^Ply {len(actions)}: expected another action, and the log ends after"):
        list(Replay(setup, opening).plies(ActionLog(actions[:-1]), complete=True))
    for bad in (-1, 62, 10**20):
        with pytest.raises(RecordError, match=re.escape(f"Move 1: the log's action number 1 is {bad} (actions are 0 to ")):
            list(Replay(setup, opening).plies(ActionLog([bad]), where="Move {}".format))
    long = ActionLog([*actions, 0])
    list(Replay(setup, opening).plies(long, complete=True))
    with pytest.raises(RecordError, match=rf"over after {len(actions)} actions, and the log holds {len(actions) + 1}\.$"):
        long.check_spent()
