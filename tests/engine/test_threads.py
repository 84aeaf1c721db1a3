"""Rows shared out among threads."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from nainjaune_env.engine.threads import MIN_ROWS, Threads


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("rows", [0, 1, MIN_ROWS - 1, MIN_ROWS, 2 * MIN_ROWS, 7 * MIN_ROWS + 3])
def test_every_row_is_worked_on_once_in_parts_that_are_worth_it(count: int, rows: int) -> None:
    parts: list[tuple[int, int, int]] = []
    Threads(count).each(lambda part, number: parts.append((part.start, part.stop, number)), rows)
    parts.sort()
    assert [row for start, stop, _ in parts for row in range(start, stop)] == list(range(rows))
    assert sorted(number for *_, number in parts) == list(range(len(parts)))
    assert len(parts) == min(count, max(rows // MIN_ROWS, 1))
    assert all(stop - start >= MIN_ROWS for start, stop, _ in parts) or len(parts) == 1


def test_parts_are_worked_on_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=30)
    Threads(3).each(lambda *_: meeting.wait(), 3 * MIN_ROWS)  # none would leave before all are there


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_what_goes_wrong_in_a_part_is_raised(wrong: int) -> None:
    def work(part: slice, number: int) -> None:
        if number == wrong:
            raise ValueError(f"part {number}")

    with pytest.raises(ValueError, match=f"part {wrong}"):
        Threads(3).each(work, 3 * MIN_ROWS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """It inherits the pool without its threads, whose work would never be done."""
    threads = Threads(2)
    threads.each(lambda *_: None, 2 * MIN_ROWS)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends it where it hangs
        done: list[int] = []
        threads.each(lambda part, number: done.append(number), 2 * MIN_ROWS)
        os._exit(17 if sorted(done) == [0, 1] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
