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
from tests.support.contract import advance, all_setups, payoffs, single

every_setup = pytest.mark.parametrize("setup", all_setups()[::3])


def played(setup: Setup, seed: int, **options: Any) -> tuple[Any, list[int], Batch]:
    """The opening table of a round, the actions of random play, and the batch at its end."""
    opening = single(setup, seed).tables[0].copy()
    batch = single(setup, seed, observe=False, **options)
    return opening, advance(batch, 10_000, random.Random(seed)), batch


@every_setup
def test_decisions_and_every_ply_make_the_same_plies(setup: Setup) -> None:
    opening, decisions, ended = played(setup, 5, skip_forced=True)
    replay = Replay(setup, opening)
    plies = list(replay.plies(ActionLog(decisions), complete=True))
    assert replay.round_over
    assert replay.payoffs == payoffs(ended)
    again = Replay(setup, opening)
    log = ActionLog([ply.action for ply in plies], every_ply=True)
    assert list(again.plies(log, complete=True)) == plies
    log.check_spent()
    assert again.table.tobytes() == replay.table.tobytes()
    assert all(ply.legal_bits >> ply.action & 1 for ply in plies)


@every_setup
def test_a_ply_is_made_when_the_next_one_is_requested(setup: Setup) -> None:
    opening, actions, _ = played(setup, 1)
    replay = Replay(setup, opening)
    plies = replay.plies(ActionLog(actions, every_ply=True))
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
    short = ActionLog(actions[:-1], every_ply=True)
    assert len(list(Replay(setup, opening).plies(short))) == len(actions) - 1
    with pytest.raises(RecordError, match=rf"^Ply {len(actions)}: expected another action, and the log ends after"):
        list(Replay(setup, opening).plies(ActionLog(actions[:-1], every_ply=True), complete=True))
    for bad in (-1, 62, 10**20):
        with pytest.raises(RecordError, match=re.escape(f"Move 1: the log's action number 1 is {bad}; legal were [")):
            list(Replay(setup, opening).plies(ActionLog([bad], every_ply=True), where="Move {}".format))
    long = ActionLog([*actions, 0], every_ply=True)
    list(Replay(setup, opening).plies(long, complete=True))
    with pytest.raises(RecordError, match=rf"over after {len(actions)} actions, and the log holds {len(actions) + 1}\.$"):
        long.check_spent()
