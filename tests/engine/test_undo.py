"""Plies taken back: the table is as it was at an earlier decision, and goes on from there as it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine import log as log_module
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.recorder import log_of
from nainjaune_env.registry import make_setup
from tests.support.contract import any_setup, everything, has_matches
from tests.support.ply_by_ply import PlyByPly

DJECO = make_setup("nain_jaune", "djeco", 3)
FORCED_FIRST = make_setup("nain_jaune", "djeco", 3, ranks=5, suits=4, hand=2)
"""Hands so small that many rounds begin with forced plies."""
Row = dict[str, bytes]


def row(state: dict[str, NDArray[Any]], i: int) -> Row:
    """Table ``i`` of the arrays of a state, but for what the last step gave."""
    return {name: array[i].tobytes() for name, array in state.items() if name not in ("reward", "done") and "log_" not in name}


def logged(batch: Batch, i: int) -> tuple[bytes, list[int], list[int]]:
    opening, seats, actions = log_of(batch).episode(i)
    return opening.tobytes(), seats.tolist(), actions.tolist()


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    setup=st.one_of(any_setup(), st.just(FORCED_FIRST)),
    seed=st.integers(0, 2**64 - 1),
    space=st.integers(1, 6),
    skip_forced=st.booleans(),
    autoreset=st.booleans(),
    match=st.booleans(),
    data=st.data(),
)
def test_an_episode_may_be_cut_back_to_any_ply_of_its_round_or_by_a_decision(
    setup: Setup, seed: int, space: int, skip_forced: bool, autoreset: bool, match: bool, data: st.DataObject
) -> None:
    """The table then stands at the first decision from there on, as it stood; and played again as before, it ends up the same."""
    options: dict[str, Any] = {"skip_forced": skip_forced, "autoreset": autoreset}
    options["episode"] = "match" if match and has_matches(setup) else "round"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(log_module, "SPACE", space)
        played = PlyByPly(setup, 2, seed=seed, **options)
        batch, draws = played.batch, streams(seed, 2, stream=1)
        states: list[dict[int, Row]] = [{int(log_of(batch).count[i]): row(batch.save(), i)} for i in range(2)]
        deals, rested = batch.deals.copy(), np.zeros(2, np.bool_)
        for _ in range(data.draw(st.integers(1, 40))):
            rested = batch.legal == 0
            played.step(batch.sample(draws))
            for i in range(2):
                if batch.deals[i] != deals[i]:
                    states[i] = {}
                states[i][int(log_of(batch).count[i])] = row(batch.save(), i)
            deals = batch.deals.copy()
        i = data.draw(st.integers(0, 1))
        log, now, end, other = log_of(batch), everything(batch), row(batch.save(), i), row(batch.save(), 1 - i)
        made = logged(batch, i)
        to = data.draw(st.integers(int(log.first[i]), int(log.count[i])))
        stays = min(count for count in states[i] if count >= to)
        earlier = [count for count in states[i] if count < int(log.count[i])]
        if earlier and data.draw(st.booleans()):
            stays = max(earlier)  # the last decision
            batch.undo([i])
        else:
            batch.undo([i], to=to)
        assert int(log.count[i]) == stays
        assert logged(batch, i) == (made[0], made[1][:stays], made[2][:stays])
        assert row(batch.save(), i) == states[i][stays]
        assert row(batch.save(), 1 - i) == other
        assert not batch.reward[i].any()
        assert not batch.done[i] or rested[i]
        while int(log.count[i]) < len(made[2]):
            batch.step(np.array([made[2][int(log.count[i])]]), np.array([i]))
        assert logged(batch, i) == made
        assert row(batch.save(), i) == end
        # the last reward and `done` too, if it was not the end of an episode before
        assert everything(batch) == now or stays == len(made[2]) or rested[i]


def test_rewards_after_an_undo_are_those_of_what_is_played_then() -> None:
    """They sum to the payoffs, also where plies that were taken back had paid something."""
    setup = make_setup("nain_jaune", "classic", 3, announce="explicit", unannounced=1)
    batch, draws, rng = Batch(setup, 8, seed=3, autoreset=False, log=True), streams(1, 8), np.random.default_rng(2)
    kept: list[dict[int, NDArray[np.int64]]] = [{int(log_of(batch).count[i]): np.zeros(3, np.int64)} for i in range(8)]
    undone = 0
    for _ in range(2000):
        if batch.done.all():
            break
        playing = np.flatnonzero(batch.legal)
        before = log_of(batch).count.copy()
        batch.step(batch.sample(draws))
        for i in playing.tolist():
            kept[i][int(log_of(batch).count[i])] = kept[i][int(before[i])] + batch.reward[i]
        for i in playing[rng.random(playing.size) < 0.2].tolist():
            batch.undo(i, to=int(rng.choice([*kept[i]])) if rng.random() < 0.3 else None)
            kept[i] = {count: paid for count, paid in kept[i].items() if count <= int(log_of(batch).count[i])}
            undone += 1
    assert batch.done.all()
    assert undone > 20
    payoffs = np.zeros((8, 3), np.int32)
    for i in range(8):
        setup.game.kernel.payoffs(batch.tables[i], setup.kernel_rules, payoffs[i])
        assert kept[i][int(log_of(batch).count[i])].tolist() == payoffs[i].tolist()


def test_a_table_that_was_set_in_the_middle_goes_back_to_there_and_no_further() -> None:
    batch, draws = Batch(DJECO, 2, seed=1, autoreset=False, log=True), streams(1, 2)
    for _ in range(4):
        batch.step(batch.sample(draws))
    batch.set_tables(1, batch.tables[1].copy())
    middle, count = batch.save(), int(log_of(batch).count[1])
    for _ in range(3):
        batch.step(batch.sample(draws))
    batch.undo([1], to=count)
    assert row(batch.save(), 1) == row(middle, 1)
    with pytest.raises(DealError, match=r"^At table 1 the episode has no decision to take back\.$"):
        batch.undo([1])


def test_without_observations_none_is_written() -> None:
    batch, draws = Batch(DJECO, 3, seed=1, autoreset=False, observe=False, log=True), streams(1, 3)
    for _ in range(4):
        batch.step(batch.sample(draws))
    batch.undo()
    assert not batch.observation.any()
    assert not batch.mask.any()


# ---------------------------------------------------------------- refused


def stepped(steps: int = 4, **options: Any) -> Batch:
    """Three tables after some decisions, the numbers of whose plies are in ``log.count``."""
    batch = Batch(DJECO, 3, **{"seed": 1, "autoreset": False, "log": True, **options})
    draws = streams(1, 3)
    for _ in range(steps):
        batch.step(batch.sample(draws))
    return batch


def refused(batch: Batch, says: str, *which: Any, **to: Any) -> None:
    before = everything(batch)
    with pytest.raises(DealError, match=says):
        batch.undo(*which, **to)
    assert everything(batch) == before


def test_a_batch_without_a_log_takes_nothing_back() -> None:
    refused(stepped(log=False), r"^Plies are taken back by the log of a batch: make it with log=True\.$")


@pytest.mark.parametrize("beyond", [-1, -(2**62), 1, 2**40])
def test_counts_beyond_the_episode_are_refused(beyond: int) -> None:
    batch = stepped()
    count = int(log_of(batch).count[1])
    stays = beyond if beyond < 0 else count + beyond
    to = log_of(batch).count.copy()
    to[1] = stays
    says = rf"^The episode at table 1 has {count} plies, of which 0 to {count} can stay, not {stays}\.$"
    refused(batch, says, to=to)
    refused(batch, says, [2, 1], to=to[[2, 1]])


@pytest.mark.parametrize(
    ("which", "to", "says"),
    [
        (None, 2**64 - 1, rf" can stay, not {2**64 - 1}\.$"),
        (None, 1.0, r"^Counts are whole numbers, not an array of float64\.$"),
        (None, 2**70, r"^Counts are whole numbers, not an array of object\.$"),
        (None, [1, 2], r"^Expected one count, or one a table, shape \(3,\), not \(2,\)\.$"),
        (None, [[1], [1, 2]], r"^Expected one count, or one a table, not "),
        ([0, 3], None, r"^Tables are 0 to 2; got 0 to 3\.$"),
        ([1, 1], None, r"^Each table is named once, and 1 is named 2 times\.$"),
    ],
)
def test_counts_and_tables_that_are_none_are_refused(which: Any, to: Any, says: str) -> None:
    refused(stepped(), says, which, to=to)


def test_an_opening_has_no_decision_to_take_back() -> None:
    says = r"^At table {} the episode has no decision to take back\.$"
    refused(stepped(0), says.format(0))
    batch = stepped()
    batch.reset([1])
    refused(batch, says.format(1))  # though there is one at the others
    refused(batch, says.format(1), [2, 1])
    batch.undo([2])
    forced = Batch(FORCED_FIRST, 200, seed=2, log=True)
    first = int(np.flatnonzero(log_of(forced).count)[0])
    refused(forced, says.format(first), [first])
    before = forced.save()
    forced.undo([first], to=0)  # forced plies are made again
    assert row(forced.save(), first) == row(before, first)


def test_with_autoreset_an_episode_that_has_ended_is_not_taken_up_again() -> None:
    batch, draws = Batch(DJECO, 1, seed=1, log=True), streams(1, 1)
    while not batch.done[0]:
        batch.step(batch.sample(draws))
    refused(batch, r"^At table 0 the episode has no decision to take back\.$")
    refused(batch, r"^The episode at table 0 has 0 plies, of which 0 to 0 can stay, not 1\.$", to=1)


@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus", "signal_lamps"])
@pytest.mark.parametrize("to", [None, 0])
def test_where_nothing_was_dealt_there_is_nothing_to_take_back(game: str, to: int | None) -> None:
    batch = Batch(make_setup(game), 2, deal=False, log=True)
    refused(batch, r"^At table 0 no episode has begun\.$", to=to)
    batch.reset([0], seed=1)
    refused(batch, r"^At table 1 no episode has begun\.$", to=to)


def test_the_deal_of_a_later_round_is_not_taken_back() -> None:
    """Neither from the round after it nor by the last decision before it; within the round plies are."""
    setup = make_setup("nain_jaune", "classic", 3, max_rounds=4)
    batch, draws = Batch(setup, 3, seed=1, episode="match", autoreset=False, log=True), streams(1, 3)
    dealt = 0
    says = r"^At table {} chance has acted since, which is not taken back\.$"
    for _ in range(400):
        deals, count = batch.deals.copy(), log_of(batch).count.copy()
        batch.step(batch.sample(draws))
        later = np.flatnonzero((batch.deals > deals) & (batch.legal != 0))
        for i in later.tolist():
            log, others = log_of(batch), np.flatnonzero(np.arange(3) != i)
            refused(batch, says.format(i), [i])
            for to in (0, 3, int(count[i])):
                refused(batch, says.format(i), [i], to=to)
                refused(batch, says.format(i), [*others, i], to=[*log.count[others], to])
            now = row(batch.save(), i)
            batch.undo([i], to=int(log.first[i]))
            assert row(batch.save(), i) == now
            dealt += 1
    assert dealt > 5


CALLS: list[Callable[[Batch], object]] = [lambda b: b.undo(), lambda b: b.undo(to=0), lambda b: b.undo([0], to=[1])]


@pytest.mark.parametrize("call", CALLS)
def test_what_was_undone_may_be_played_otherwise(call: Callable[[Batch], object]) -> None:
    """And the log is then that of the other plies."""
    batch, draws = stepped(), streams(9, 3)
    call(batch)
    for _ in range(20):
        batch.step(batch.sample(draws))
    for i in range(3):
        opening, seats, actions = log_of(batch).episode(i)
        plain = Batch(DJECO, 1, skip_forced=False, autoreset=False, deal=False)
        plain.set_tables(0, opening)
        for seat, action in zip(seats.tolist(), actions, strict=True):
            assert plain.seat[0] == seat
            plain.step([action])
        assert plain.tables[0].tobytes() == batch.tables[i].tobytes()
    other = Batch(DJECO, 3, seed=5, autoreset=False, log=True)
    other.restore(batch.save())  # which checks it all
    assert everything(other) == everything(batch)
