"""What holds for every game there is: play, rewards, episodes, saving (see `tests.support.contract`)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from tests.support.contract import CHOICES, advance, all_setups, any_setup, everything, finish, has_matches, payoffs, single

every_setup = pytest.mark.parametrize("setup", all_setups())
some = settings(max_examples=60, deadline=None, derandomize=True, database=None)
SEEDS = st.integers(0, 2**64 - 1)


# ---------------------------------------------------------------- legal and step


@every_setup
def test_an_action_outside_the_mask_is_refused_and_nothing_changes(setup: Setup) -> None:
    rng = random.Random(1)
    batch = single(setup, seed=1)
    names = setup.game.actions
    for _ in range(25):
        if not batch.legal[0]:
            batch.reset()
        legal = legal_actions(int(batch.legal[0]))
        before = everything(batch)
        for action in [*range(-2, len(names) + 2), 62, 63, 64, 128, -(2**63), 2**63 - 1]:
            if action in legal:
                continue
            with pytest.raises(IllegalActionError) as refused:
                batch.step([action])
            assert everything(batch) == before
            message = str(refused.value)
            assert message.startswith(f"Action {action}")
            assert message.partition("legal: ")[2] == ", ".join(f"{a} ({names[a]})" for a in legal) + "."
        advance(batch, 1, rng)


@every_setup
def test_every_action_in_the_mask_can_be_made(setup: Setup) -> None:
    rng = random.Random(2)
    batch = single(setup, seed=2)
    for _ in range(40):
        if not batch.legal[0]:
            batch.reset()
        here = batch.save()
        table = batch.tables[0].tobytes()
        for action in legal_actions(int(here["legal"][0])):
            batch.restore(here)
            batch.step([action])
            assert batch.tables[0].tobytes() != table
            assert bool(batch.legal[0]) != bool(batch.done[0])
        batch.restore(here)
        advance(batch, 1, rng)


def test_one_illegal_action_stops_the_whole_batch() -> None:
    setup = all_setups()[0].values[0]
    batch = Batch(setup, 8, seed=3)
    actions = batch.sample(streams(3, 8))
    actions[5] = len(setup.game.actions)
    before = everything(batch)
    with pytest.raises(IllegalActionError, match="at table 5, seat"):
        batch.step(actions)
    assert everything(batch) == before


@every_setup
def test_a_record_has_no_padding(setup: Setup) -> None:
    """NumPy leaves padding behind when it copies, and equal tables would differ in their bytes."""
    parts = [setup.game.table.fields[name][0].itemsize for name in setup.game.table.names]
    assert sum(parts) == setup.game.table.itemsize


# ---------------------------------------------------------------- rounds, rewards, payoffs


@some
@given(setup=any_setup(), seed=SEEDS, choice=st.sampled_from(sorted(CHOICES)))
def test_every_round_ends_under_any_knobs(setup: Setup, seed: int, choice: str) -> None:
    batch = single(setup, seed=seed)
    total = batch.reward[0].copy() + finish(batch, random.Random(seed), choice)
    assert batch.tables["stage"][0] != Stage.PLAYING
    assert total.tolist() == payoffs(batch)


# ---------------------------------------------------------------- the same seed, the same games


@every_setup
def test_a_batch_of_one_plays_as_a_table_among_many(setup: Setup) -> None:
    many, seeds = Batch(setup, 5), streams(7, 5)
    many.reset(seeds=seeds)
    ones = [Batch(setup, 1) for _ in range(5)]
    for one, seed in zip(ones, seeds, strict=True):
        one.reset(seeds=np.array([seed]))
    draws = streams(8, 5)
    for _ in range(50):
        actions = many.sample(draws)
        for i, one in enumerate(ones):
            assert one.tables[0].tobytes() == many.tables[i].tobytes()
            for name in ("legal", "observation", "mask", "reward", "done"):
                assert np.array_equal(getattr(one, name)[0], getattr(many, name)[i])
            one.step(actions[i : i + 1])
        many.step(actions)


@every_setup
def test_the_same_seed_gives_the_same_games_and_another_gives_others(setup: Setup) -> None:
    def play(seed: int) -> bytes:
        batch, draws = Batch(setup, 6, seed=seed), streams(9, 6)
        for _ in range(80):
            batch.step(batch.sample(draws))
        return everything(batch)

    assert play(1) == play(1)
    assert play(1) != play(2)
    batch = Batch(setup, 6, seed=1)
    first = everything(batch)
    batch.step(batch.sample(streams(9, 6)))
    batch.reset(seed=1)
    assert list(batch.deals) == [2] * 6  # the only thing that tells: how many rounds there were before
    batch.deals[:] = 1
    assert everything(batch) == first


@every_setup
@pytest.mark.parametrize("options", [{}, {"autoreset": False}, {"skip_forced": False, "start": "carried"}])
def test_playing_out_is_sampling_and_stepping_to_the_end(setup: Setup, options: Any) -> None:
    stepped, played = (Batch(setup, 5, seed=12, **options) for _ in range(2))
    draws, same_draws = streams(13, 5), streams(13, 5)
    for _ in range(3):
        steps, total = np.zeros(5, np.int64), np.zeros((5, setup.players), np.int64)
        playing = np.flatnonzero(stepped.legal)
        while playing.size:
            mine = draws.copy()
            actions = stepped.sample(mine)[playing]
            draws[playing] = mine[playing]
            stepped.step(actions, playing)
            steps[playing] += 1
            total[playing] += stepped.reward[playing]
            playing = playing[~stepped.done[playing]]
        assert played.play_out(same_draws).tolist() == steps.tolist()
        assert played.reward.tolist() == total.tolist()
        assert np.array_equal(draws, same_draws)
        expected = stepped.save()
        for name, payload in played.save().items():
            assert name == "reward" or payload.tobytes() == expected[name].tobytes(), name


@some
@given(setup=any_setup(), seed=SEEDS, choice=st.sampled_from(sorted(CHOICES)), match=st.booleans())
def test_skipping_forced_plies_changes_nothing_under_any_knobs(setup: Setup, seed: int, choice: str, match: bool) -> None:
    """A game may make a row of forced plies in one go, so what they prove and whose turn it is must come out the same."""
    rng, episode = random.Random(seed), "match" if match and has_matches(setup) else "round"
    decisions = single(setup, seed=seed, episode=episode, skip_forced=True)
    plies = single(setup, seed=seed, episode=episode)

    def forced(total: Any) -> Any:
        while plies.legal[0] and not setup.game.kernel.needs_decision(plies.tables[0], setup.kernel_rules, plies.legal[0]):
            plies.step(legal_actions(int(plies.legal[0])))
            total = total + plies.reward[0]
        return total

    shown, made = decisions.reward[0].copy(), forced(plies.reward[0].copy())
    for _ in range(300):
        assert decisions.tables[0].tobytes() == plies.tables[0].tobytes()
        assert decisions.legal[0] == plies.legal[0]
        assert np.array_equal(decisions.observation[0], plies.observation[0])
        assert decisions.done[0] == plies.done[0]
        if decisions.done[0]:
            assert shown.tolist() == made.tolist()
            return
        action = CHOICES[choice](legal_actions(int(decisions.legal[0])), rng)
        decisions.step([action])
        shown += decisions.reward[0]
        plies.step([action])
        made = forced(made + plies.reward[0])


# ---------------------------------------------------------------- episodes


@every_setup
@pytest.mark.parametrize("skip_forced", [False, True])
def test_autoreset_shows_what_a_reset_would(setup: Setup, skip_forced: bool) -> None:
    going = Batch(setup, 12, seed=11, skip_forced=skip_forced)
    resting = Batch(setup, 12, seed=11, skip_forced=skip_forced, autoreset=False)
    draws = streams(11, 12)
    ended = 0
    for _ in range(120 if skip_forced else 500):
        assert np.array_equal(going.mask, (going.legal[:, None] >> np.arange(going.num_actions) & 1).astype(bool))
        assert np.array_equal(going.seat, going.tables["seat"])
        actions = going.sample(draws)
        going.step(actions)
        resting.step(actions)
        assert np.array_equal(going.reward, resting.reward)
        assert np.array_equal(going.done, resting.done)
        over = np.flatnonzero(resting.done)
        assert (going.legal != 0).all()
        assert (resting.legal[over] == 0).all()
        assert not resting.mask[over].any()
        if over.size:
            ended += over.size
            resting.reset(over)
            # what a reset of the resting table shows before any step is the autoreset one
            for name in ("tables", "legal", "observation", "mask"):
                assert getattr(going, name).tobytes() == getattr(resting, name).tobytes()
    assert ended > 6


@every_setup
def test_a_resting_table_rests_until_it_is_reset(setup: Setup) -> None:
    batch = Batch(setup, 2, seed=12, autoreset=False)
    draws = streams(12, 2)
    while not batch.done[0]:
        batch.step(batch.sample(draws))
    before = batch.tables[0].tobytes()
    batch.step([-1, batch.sample(draws)[1] if batch.legal[1] else 0])
    assert batch.tables[0].tobytes() == before
    assert (batch.done[0], batch.legal[0], batch.reward[0].any()) == (True, 0, False)
    batch.reset(0)
    assert batch.legal[0] != 0
    assert not batch.done[0]


@every_setup
@pytest.mark.parametrize("skip_forced", [False, True])
def test_carried_rounds_are_the_rounds_of_matches(setup: Setup, skip_forced: bool) -> None:
    assert has_matches(setup)
    match = Batch(setup, 8, seed=13, episode="match", skip_forced=skip_forced)
    rounds = Batch(setup, 8, seed=13, start="carried", skip_forced=skip_forced)
    draws = streams(13, 8)
    total = [np.zeros((8, setup.players), np.int64), np.zeros((8, setup.players), np.int64)]
    for _ in range(100 if skip_forced else 600):
        actions = match.sample(draws)
        match.step(actions)
        rounds.step(actions)
        assert match.tables.tobytes() == rounds.tables.tobytes()
        assert np.array_equal(match.observation, rounds.observation)
        assert not (match.done & ~rounds.done).any()
        for sums, batch in zip(total, (match, rounds), strict=True):
            sums += batch.reward
        # at the end of a match nothing is under way: both have paid the same
        assert np.array_equal(total[0][match.done], total[1][match.done])


@every_setup
def test_fresh_rounds_begin_with_start_and_deal(setup: Setup) -> None:
    batch = single(setup, seed=14)
    expected = batch.tables.copy()
    kernel, rules = setup.game.kernel, setup.kernel_rules
    expected["rng"] = streams(14, 1)
    kernel.start(expected[0], rules)
    kernel.deal(expected[0], rules)
    assert batch.tables.tobytes() == expected.tobytes()
    finish(batch, random.Random(14))
    expected = batch.tables.copy()
    kernel.start(expected[0], rules)
    kernel.deal(expected[0], rules)
    batch.reset()
    assert batch.tables.tobytes() == expected.tobytes()


@pytest.mark.parametrize("setup", all_setups("chance_fields"))
def test_only_what_is_said_to_be_drawn_depends_on_chance(setup: Setup) -> None:
    """At the start of a match, and after its first round."""
    kernel, rules = setup.game.kernel, setup.kernel_rules
    batch = single(setup, seed=17)
    finish(batch, random.Random(17))
    for settled in (None, batch.tables[0]):
        rows = np.zeros(40, setup.game.table)
        if settled is not None:
            rows[:] = settled
        rows["rng"] = streams(17, len(rows))
        for row in rows:
            if settled is None:
                kernel.start(row, rules)
            kernel.deal(row, rules)
        free = set(setup.game.table.names) - {"rng", *setup.game.chance_fields}
        assert all((rows[name] == rows[name][0]).all() for name in free)
