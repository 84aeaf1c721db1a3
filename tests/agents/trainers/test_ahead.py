"""Results that are computed ahead: each once, in order, and errors where they are taken."""

from __future__ import annotations

import threading

import pytest

from nainjaune_agents.trainers.ahead import Ahead


def test_a_result_is_computed_while_the_caller_is_at_work() -> None:
    entered, released = threading.Event(), threading.Event()

    def compute(iteration: int) -> tuple[int, str]:
        if iteration:
            entered.set()
            assert released.wait(60)
        return 10 * iteration, threading.current_thread().name

    ahead = Ahead(compute, 1)
    here = threading.current_thread().name
    assert ahead.take(0) == (0, here)  # none was begun
    ahead.begin(1)
    assert entered.wait(60)
    released.set()
    value, thread = ahead.take(1)
    assert value == 10
    assert thread != here
    assert ahead.take(2) == (20, here)


def test_what_the_computation_raises_is_raised_where_its_result_is_taken() -> None:
    def compute(iteration: int) -> int:
        raise ArithmeticError(f"no result of {iteration}")

    ahead = Ahead(compute, 1)
    ahead.begin(3)
    with pytest.raises(ArithmeticError, match="no result of 3"):
        ahead.take(3)
