"""Single tables, stepped by compiled functions of their own: the games of a batch."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from nainjaune_env.compiler.packed import pack
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.single_loops import single_loops_of
from nainjaune_env.envs._shared.single_table import SingleTable
from nainjaune_env.registry import game_names, get_game

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
def test_plies_are_made_and_observed_as_a_batch_makes_and_observes_them(setup: Setup) -> None:
    batch = Batch(setup, 1, seed=3, skip_forced=False, autoreset=False)
    rows, opening, draws = batch.tables.copy(), batch.tables.copy(), np.ones(1, np.uint64)
    options = batch.mode._replace(skip_forced=1)
    loops, numbers = single_loops_of(setup, options), pack(setup.kernel_rules, options)
    plies, seen = np.zeros((1000, 2), np.uint8), [[batch.observe(seat)[0] for seat in range(setup.players)]]
    seat, legal, used = loops.play_plies(rows, numbers, -1, plies, 0)
    made = 0
    while not batch.done[0]:
        if made == used:
            assert (seat, legal) == (batch.seat[0], batch.legal[0])
            assert setup.game.kernel.needs_decision(batch.tables[0], setup.kernel_rules, batch.legal[0])
            seat, legal, used = loops.play_plies(rows, numbers, int(batch.sample(draws)[0]), plies, used)
        assert plies[made, 0] == batch.seat[0]
        batch.step([plies[made, 1]])
        seen.append([batch.observe(seat)[0] for seat in range(setup.players)])
        made += 1
    assert (legal, used) == (0, made)
    assert rows.tobytes() == batch.tables.tobytes()
    observed = np.zeros((made + 1, setup.players, setup.layout.size), np.uint8)
    loops.observe_plies(opening, numbers, plies[:made], observed)
    np.testing.assert_array_equal(observed, seen)
