"""Single tables, stepped without the checks of a batch: they play the games of a batch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import DealError, IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.compiled import loops_of, numbers_of, replay_loops_of
from nainjaune_env.engine.log_arrays import ACTION, COUNT, SEAT, LogArrays
from nainjaune_env.envs.pettingzoo_aec import SingleTable
from nainjaune_env.records.recorder import log_of
from nainjaune_env.registry import game_names, get_game
from tests.support.ply_by_ply import PlyByPly, is_logged

SETUPS = [get_game(game).setup() for game in game_names()]


@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("setup", SETUPS, ids=game_names())
def test_a_single_table_plays_the_games_of_a_batch(setup: Setup, skip_forced: bool) -> None:
    batch = Batch(setup, 1, seed=0, skip_forced=skip_forced, autoreset=False)
    table, rng = SingleTable(setup, skip_forced=skip_forced), np.random.default_rng(2)
    assert not table.deals.any()  # unlike a batch, it deals nothing when it is made
    table.reset(seed=0)
    for seed in range(4):
        for one in (batch, table):
            one.reset(seed=seed)
        while not batch.done[0]:
            if rng.random() < 0.1:
                table = copy.deepcopy(table) if rng.random() < 0.5 else pickle.loads(pickle.dumps(table))
            action = int(rng.choice(np.flatnonzero(batch.mask[0])))
            with pytest.raises(IllegalActionError, match="legal: "):
                table.act(int(rng.choice(np.append(np.flatnonzero(~batch.mask[0]), -1))))
            batch.step([action])
            assert table.act(action) == table.at_turn == batch.seat[0]
            for name in ("observation", "mask", "legal", "reward", "done", "deals"):
                np.testing.assert_array_equal(getattr(table, name), getattr(batch, name))
            assert table.tables.tobytes() == batch.tables.tobytes()
            seen = np.concatenate([batch.observe(seat) for seat in range(setup.players)])
            np.testing.assert_array_equal(table.seen_by(0, setup.players), seen)
            np.testing.assert_array_equal(table.seen_by(setup.players - 1), seen[-1:])


@pytest.mark.parametrize("setup", SETUPS, ids=game_names())
def test_a_single_table_has_a_log(setup: Setup) -> None:
    played = PlyByPly(setup, 1, seed=0, autoreset=False)
    table, draws = SingleTable(setup), np.ones(1, np.uint64)
    table.reset(seed=0)
    while not table.done[0]:
        assert is_logged(log_of(table).episode(0), played.episodes[0])
        action = played.batch.sample(draws)
        table.act(int(action[0]))
        played.step(action)
    assert is_logged(log_of(table).episode(0), played.episodes[0])
    assert len(played.episodes[0].actions) > 5


def begun(table: SingleTable, seed: int | None, options: dict[str, Any]) -> bytes:
    """The table that an episode begins with by these options of a reset, before any ply."""
    table.begin(seed, options)
    return log_of(table).opening.tobytes()


@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("setup", SETUPS, ids=game_names())
def test_episodes_begin_by_the_options_of_a_reset(setup: Setup, skip_forced: bool) -> None:
    batch = Batch(setup, 1, skip_forced=False, autoreset=False)
    table = SingleTable(setup, skip_forced=skip_forced)
    for seed in (5, 6):
        batch.reset(seed=seed)
        dealt = batch.tables.copy()
        assert begun(table, seed, {}) == dealt.tobytes()
        batch.reset()
        assert begun(table, None, {}) == batch.tables.tobytes()  # the generator continues
        assert begun(table, None, {"table": dealt[0]}) == dealt.tobytes()
    assert table.deals.tolist() == [6]
    with pytest.raises(DealError, match="give no seed"):
        table.begin(1, {"table": dealt[0]})
    assert log_of(table).opening.tobytes() == dealt.tobytes()
    assert table.deals.tolist() == [6]


def test_a_carried_table_goes_on_with_its_match_and_starts_anew_by_a_seed_or_start_values() -> None:
    setup = get_game("nain_jaune").setup("classic", 3, max_rounds=None)
    batch, table = Batch(setup, 1, start="carried", autoreset=False), SingleTable(setup, start="carried")
    draws = np.ones(1, np.uint64)
    batch.reset(seed=3)
    table.begin(3, {})
    for _ in range(2):
        while not batch.done[0]:
            action = batch.sample(draws)
            batch.step(action)
            table.act(int(action[0]))
        batch.reset(carry=True)
        table.begin(None, {})
        assert table.tables.tobytes() == batch.tables.tobytes()
        assert log_of(table).count.tolist() == log_of(table).first.tolist() == [0]
    assert table.tables["rounds"].tolist() == [3]
    pots = Batch(setup, 1, seed=3, start={"pots": [1, 2, 3, 4, 5]}, autoreset=False)
    table.begin(3, {"start": {"pots": [1, 2, 3, 4, 5]}})
    assert table.tables.tobytes() == pots.tables.tobytes()
    table.begin(3, {})
    assert table.tables["rounds"].tolist() == [1]


@pytest.mark.parametrize("setup", SETUPS, ids=game_names())
def test_rounds_are_stepped_and_observed_as_a_batch_steps_and_observes_them(setup: Setup) -> None:
    """``step_round`` makes forced plies and logs them; ``observe_plies`` plays the log again."""
    batch = Batch(setup, 1, seed=3, skip_forced=False, autoreset=False)
    rows, opening, draws = batch.tables.copy(), batch.tables.copy(), np.ones(1, np.uint64)
    numbers, loops = numbers_of(setup, batch.options._replace(skip_forced=1)), loops_of(setup)
    log = LogArrays(np.zeros((1, 2), opening.dtype), np.zeros((1, 1000, 2), np.int8), np.zeros((2, 3), np.int64))
    seen = [[batch.observe(seat)[0] for seat in range(setup.players)]]
    seat, legal = loops.step_round(rows, numbers, log, -1)
    plies, made = log.plies[0], 0
    while not batch.done[0]:
        if made == log.marks[0, COUNT]:
            assert (seat, legal) == (batch.seat[0], batch.legal[0])
            assert setup.game.kernel.needs_decision(batch.tables[0], setup.kernel_rules, batch.legal[0])
            seat, legal = loops.step_round(rows, numbers, log, int(batch.sample(draws)[0]))
        assert plies[made, SEAT] == batch.seat[0]
        batch.step([plies[made, ACTION]])
        seen.append([batch.observe(seat)[0] for seat in range(setup.players)])
        made += 1
    assert (legal, log.marks[0, COUNT]) == (0, made)
    assert rows.tobytes() == batch.tables.tobytes()
    observed = np.zeros((made + 1, setup.players, setup.layout.size), np.uint8)
    replay_loops_of(setup).observe_plies(opening, numbers, np.ascontiguousarray(plies[:made, ACTION]), observed)
    np.testing.assert_array_equal(observed, seen)
