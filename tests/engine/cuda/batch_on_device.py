"""What a batch on a device refuses, in sentences, and how it goes on: on a GPU in `test_gpu`, simulated in `test_simulator`."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import DealError, DeviceError, IllegalActionError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.engine.cuda.batch import CudaBatch
from nainjaune_env.registry import make_setup

SETUP: Setup = make_setup("nain_jaune")


def make(**options: Any) -> CudaBatch:
    batch = make_batch(SETUP, 4, seed=3, device="cuda", **options)
    assert isinstance(batch, CudaBatch)
    return batch


def lowest_actions(batch: CudaBatch) -> np.ndarray:
    return np.array([legal_actions(word)[0] for word in batch.fetch(batch.legal).tolist()])


def assert_same(one: Batch, other: Batch) -> None:
    for name, payload in one.save().items():
        assert payload.tobytes() == other.save()[name].tobytes(), name


def test_an_illegal_action_is_refused_in_the_words_of_the_cpu_and_nothing_has_changed() -> None:
    batch, host = make(), Batch(SETUP, 4, seed=3)
    actions = lowest_actions(batch)
    actions[2] = 63
    for given in (actions, batch.place(actions)):
        with pytest.raises(IllegalActionError, match=r"Action 63 \(actions .*\) is not legal at table 2, seat") as refused:
            batch.step(given)
        with pytest.raises(IllegalActionError) as expected:
            host.step(actions)
        assert str(refused.value) == str(expected.value)
        assert_same(batch, host)
    batch.step(lowest_actions(batch))
    host.step(lowest_actions(host))
    assert_same(batch, host)


def test_checked_later_an_illegal_action_stops_all_play_until_it_is_told() -> None:
    batch, host = make(checks="later"), Batch(SETUP, 4, seed=3)
    draws, same = batch.place(streams(1, 4)), streams(1, 4)
    batch.step(batch.sample(draws))
    host.step(host.sample(same))
    actions = lowest_actions(batch)
    actions[[1, 3]] = -1, 63
    batch.step(batch.place(actions))
    batch.step(batch.sample(draws))
    batch.step(batch.place(np.full(4, 62)))
    assert batch.fetch(batch.play_out(draws)).tolist() == [0, 0, 0, 0]
    with pytest.raises(IllegalActionError, match=r"Action -1 \(actions are 0 to \d+\) is not legal at table 1, seat"):
        batch.check()
    assert_same(batch, host)
    batch.synchronize()
    batch.step(lowest_actions(batch))
    host.step(lowest_actions(host))
    assert_same(batch, host)


@pytest.mark.parametrize("tables", [[0, 4], [-1, 0]])
def test_a_table_that_is_not_there_is_refused_wherever_its_number_lies(tables: list[int]) -> None:
    batch = make()
    actions = lowest_actions(batch)[[0, 0]]
    for which in (np.array(tables), batch.place(np.array(tables))):
        with pytest.raises(DealError, match="Tables are 0 to 3; got"):
            batch.step(actions, which)
        with pytest.raises(DealError, match="Tables are 0 to 3; got"):
            batch.observe(0, which)
    assert_same(batch, Batch(SETUP, 4, seed=3))


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda b: b.step([0, 0]), IllegalActionError, r"one action a table, shape \(4,\), not \(2,\)"),
        (lambda b: b.step(b.place(np.zeros(2, np.int64))), IllegalActionError, r"shape \(4,\), not \(2,\)"),
        (lambda b: b.step([0.0] * 4), IllegalActionError, "Actions are whole numbers, not an array of float64"),
        (lambda b: b.step(b.place(np.zeros(4, np.int32))), DeviceError, r"actions are a row of int64, not int32 of shape \(4,\)"),
        (lambda b: b.step(b.place(np.zeros((4, 1), np.int64))), DeviceError, r"a row of int64, not int64 of shape \(4, 1\)"),
        (lambda b: b.step([0], b.place(np.zeros(1, np.uint8))), DeviceError, "tables are a row of int64, not uint8"),
        (lambda b: b.sample(streams(0, 4)), DeviceError, r"streams are \(4,\) uint64 on the device"),
        (lambda b: b.play_out(streams(0, 4)), DeviceError, r"streams are \(4,\) uint64 on the device"),
        (lambda b: make(threads=2), DeviceError, "on a GPU by just 1; got threads=2"),
        (lambda b: b.sample(b.place(streams(0, 3))), DeviceError, r"streams are \(4,\) uint64 on the device"),
        (lambda b: b.reset(seeds=streams(0, 3)), DealError, r"4 tables are reset, so seeds has shape \(4,\), not \(3,\)"),
        (lambda b: b.observe(4), DealError, "Seats are 0 to 3; got 4 to 4"),
        (lambda b: b.set_tables([0], np.zeros(1)), DealError, "records of the game's table, not an array of float64"),
        (lambda b: make(checks="never"), DeviceError, "Unknown time of checks 'never'"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(call: Any, error: type[Exception], sentence: str) -> None:
    batch = make()
    with pytest.raises(error, match=sentence):
        call(batch)
    assert_same(batch, Batch(SETUP, 4, seed=3))


def test_resetting_with_a_seed_with_states_and_with_neither() -> None:
    batch, host = make(), Batch(SETUP, 4, seed=3)
    for options in ({"seed": 7}, {}, {"which": [2, 0]}, {"which": [1], "seed": 5}, {"seeds": streams(9, 4)}):
        batch.reset(**options)
        host.reset(**options)
        assert_same(batch, host)
    batch.reset(batch.place(np.array([3, 1])), seeds=batch.place(streams(8, 2)))
    host.reset([3, 1], seeds=streams(8, 2))
    assert_same(batch, host)


def test_what_a_method_gives_is_written_over_by_its_next_call_and_by_no_other() -> None:
    batch = make()
    seat, seen = batch.seat, batch.observe(0)
    before = batch.fetch(seen)
    batch.omniscient()
    batch.step(lowest_actions(batch))
    assert np.array_equal(batch.fetch(seen), before)
    assert batch.observe(1) is seen
    assert not np.array_equal(batch.fetch(seen), before)
    assert batch.seat is seat


def test_a_saved_batch_goes_on_on_either_device() -> None:
    batch, host = make(), Batch(SETUP, 4, seed=8)
    host.restore(batch.save())
    assert_same(batch, host)
    actions = lowest_actions(batch)
    host.step(actions)
    saved = host.save()
    batch.restore(saved)
    assert_same(batch, host)
    for bad in (None, {**saved, "done": saved["done"][:1]}, {**saved, "done": saved["done"].astype(np.int8)}):
        with pytest.raises(DealError, match="A batch restores "):
            batch.restore(bad)  # type: ignore[arg-type]
    assert_same(batch, host)


def test_pickled_and_copied_it_plays_on_the_same() -> None:
    batch = make(start={"pots": [4, 0, 0, 0, 9]})
    for twin in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
        assert isinstance(twin, CudaBatch)
        assert_same(batch, twin)
        twin.step(lowest_actions(twin))
        assert twin.save()["tables"].tobytes() != batch.save()["tables"].tobytes()


def test_start_values_are_those_of_the_cpu() -> None:
    start = {"pots": [4, 0, 0, 0, 9]}
    assert_same(make(start=start), Batch(SETUP, 4, seed=3, start=start))
    with pytest.raises(DealError, match="Unknown start value"):
        make(start={"pot": [1]})


def test_one_row_for_several_places_is_placed_as_rows_of_its_own() -> None:
    batch = make()
    (row,) = batch.fetch(batch.tables)[2:3]
    placed = batch.place(np.broadcast_to(row, (1,)))  # a stride of 0, by which a kernel would read the record's first word only
    assert placed.strides == (row.dtype.itemsize,)
    batch.set_tables([0], row)
    assert batch.fetch(batch.tables)[0] == row
