"""Threads that share the calls of one batch."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nainjaune_env import Batch, make_setup
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.table_arrays import new_arrays
from nainjaune_env.engine.workers import MIN_TABLES_PLAYED_OUT, MIN_TABLES_SAMPLED, MIN_TABLES_STEPPED, Workers, worker_loops_of
from nainjaune_env.registry import game_names

compiled_only = pytest.mark.skipif(not JIT_ENABLED, reason="plain Python shares no calls")
MANY = MIN_TABLES_SAMPLED + 77


def until(holds: Callable[[], object]) -> None:
    """Waits until ``holds()``; it fails after half a minute."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def play(batch: Batch, rounds: int = 5) -> Batch:
    draws = streams(6, batch.num_tables)
    for _ in range(rounds):
        batch.step(batch.sample(draws))
    some = np.arange(0, batch.num_tables, 3)[::-1].copy()
    batch.step(batch.sample(draws)[some], some)
    batch.play_out(draws)
    batch.reset(some, seed=8)
    batch.step(batch.sample(draws))
    return batch


def team_of(batch: Batch) -> Workers:
    assert batch._workers is not None
    return batch._workers


def same(batch: Batch, other: Batch) -> bool:
    theirs = other.save()
    return all(payload.tobytes() == theirs[name].tobytes() for name, payload in batch.save().items())


@compiled_only
@pytest.mark.parametrize("game", game_names())
def test_any_number_of_threads_plays_the_same_games(game: str) -> None:
    setup = make_setup(game)
    for threads in (2, 3, 7):
        alone, shared = Batch(setup, MANY, seed=5), Batch(setup, MANY, seed=5, threads=threads)
        assert same(play(alone), play(shared))
        assert shared._workers is not None
        assert same(play(alone), play(pickle.loads(pickle.dumps(shared))))


@compiled_only
@pytest.mark.parametrize("call", [1, 2])
@pytest.mark.parametrize("kind", ["sample", "play_out"])
def test_a_worker_takes_the_rows_of_an_open_call(kind: str, call: int) -> None:
    """The calling thread does not take any here."""
    batch, many = Batch(make_setup(), 300, seed=5), 300
    draws, actions = streams(6, many), np.full(many, -1)
    loops = worker_loops_of(batch.setup)
    control = np.zeros(loops.control_size(2), np.int64)
    control[[loops.CALL, loops.KIND, loops.ROWS, loops.NEXT + loops.LINE]] = call, getattr(loops, kind.upper()), many, many // 2
    control[[loops.INDEX, loops.ACTIONS, loops.STREAMS]] = [array.ctypes.data for array in (batch._all, actions, draws)]
    examples = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))
    assert not loops.serve(control, 1, 2, 1, batch.loop_arrays, batch.numbers, batch.log_arrays, *examples)
    expected = getattr(Batch(make_setup(), many, seed=5), kind)(streams(6, many)) if call == 1 else np.full(many, -1)  # odd: open
    assert actions.tolist() == expected.tolist()
    assert control[loops.ACTIVE] == 0


@compiled_only
def test_small_calls_are_not_shared() -> None:
    stepped, played_out = (Batch(make_setup(), least - 1, threads=2) for least in (MIN_TABLES_STEPPED, MIN_TABLES_PLAYED_OUT))
    stepped.step(stepped.sample(streams(6, stepped.num_tables)))
    played_out.play_out(streams(6, played_out.num_tables))
    assert stepped._workers is played_out._workers is None


@compiled_only
def test_workers_sleep_between_calls_and_wake_with_the_next_one() -> None:
    batch = play(Batch(make_setup(), MANY, threads=3))
    team = team_of(batch)
    until(lambda: len(team._sleeping) == 2)
    assert same(play(batch), play(play(Batch(make_setup(), MANY))))
    until(lambda: len(team._sleeping) == 2)


@compiled_only
def test_later_start_values_reach_the_workers() -> None:
    setup = make_setup("nain_jaune")
    batches = [Batch(setup, MANY, seed=5, threads=threads, start={"pots": [1, 2, 3, 4, 5]}) for threads in (1, 2)]
    for batch in batches:
        play(batch)
        batch.set_start({"pots": [9, 9, 9, 9, 9]})
        play(batch, 40)
    assert same(*batches)


@compiled_only
def test_workers_end_with_their_batch() -> None:
    before = set(threading.enumerate())
    batch = play(Batch(make_setup(), MANY, threads=3))
    workers = set(threading.enumerate()) - before
    assert len(workers) == 2
    del batch
    gc.collect()
    until(lambda: not any(worker.is_alive() for worker in workers))


@compiled_only
@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_workers_of_its_own() -> None:
    shared, alone = play(Batch(make_setup(), MANY, threads=2)), play(Batch(make_setup(), MANY))
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends it where it hangs
        os._exit(17 if same(play(shared), play(alone)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
    assert same(play(shared), play(alone))


class Loops(SimpleNamespace):
    """Loops in Python: ``is_over`` gives ``answers`` after the calling thread's part; a worker raises ``error``, if any."""

    STOP, ACTIVE, KIND, STEP = 0, 1, 2, 0

    def __init__(self, answers: Iterator[bool], error: Exception | None = None) -> None:
        self.answers, self.error, self.calls = answers, error, 0

    def control_size(self, threads: int) -> int:
        return 3

    def serve(self, control: Any, thread: int, *arguments: Any) -> bool:
        if thread == 0:
            self.calls += 1
            return False
        if self.error is not None and not control[self.STOP]:
            raise self.error
        return False

    def is_over(self, control: Any, spins: int) -> bool:
        return spins <= 1000 or next(self.answers)  # those spins measure how long a pause takes

    def team(self) -> Workers:
        arrays = new_arrays(make_setup("signal_lamps"), 1)
        return Workers(self, 2, arrays, np.zeros(0, np.int64), None)  # type: ignore[arg-type]

    __hash__ = object.__hash__


INDEX = np.zeros(0, np.int64)


def test_what_goes_wrong_in_a_worker_is_raised() -> None:
    team = Loops(iter(lambda: False, True), ValueError("part 1")).team()
    with pytest.raises(ValueError, match="part 1"):
        team.step(INDEX, INDEX)
    with pytest.raises(ValueError, match="part 1"):  # and by every later call, as a part of that one is missing
        team.step(INDEX, INDEX)


def test_a_call_waits_for_workers_that_are_active() -> None:
    answers = iter([False, False, True])
    team = Loops(answers).team()
    team.step(INDEX, INDEX)
    assert list(answers) == []


def test_after_an_interrupted_wait_the_next_call_waits_first() -> None:
    def interrupted() -> Iterator[bool]:
        yield False
        raise KeyboardInterrupt

    loops = Loops(interrupted())
    team = loops.team()
    with pytest.raises(KeyboardInterrupt):
        team.step(INDEX, INDEX)
    seen: list[int] = []

    def answers() -> Iterator[bool]:
        for answer in (False, True, True):
            seen.append(loops.calls)
            yield answer

    loops.answers = answers()
    team.step(INDEX, INDEX)
    assert seen == [1, 1, 2]
