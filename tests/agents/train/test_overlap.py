"""Results that are computed ahead: each once, in order, and errors where they are taken."""

from __future__ import annotations

import threading

import pytest
import torch

from nainjaune_agents.train.overlap import Prefetcher


def test_a_result_is_computed_while_the_caller_is_at_work() -> None:
    entered, released = threading.Event(), threading.Event()

    def compute(iteration: int) -> tuple[int, str]:
        if iteration:
            entered.set()
            assert released.wait(60)
        return 10 * iteration, threading.current_thread().name

    ahead = Prefetcher(compute, 1)
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

    ahead = Prefetcher(compute, 1)
    ahead.begin(3)
    with pytest.raises(ArithmeticError, match="no result of 3"):
        ahead.take(3)


def test_the_second_thread_takes_work_where_it_has_nothing_to_do() -> None:
    entered, released = threading.Event(), threading.Event()

    def compute(iteration: int) -> int:
        entered.set()
        assert released.wait(60)
        return iteration

    ahead = Prefetcher(compute, 1)
    ran: list[tuple[str, str, bool]] = []

    def both() -> list[tuple[str, str, bool]]:
        ran.clear()
        one, other = (
            lambda name=name: ran.append((name, threading.current_thread().name, torch.is_grad_enabled())) for name in "ab"
        )
        ahead.run_pair(one, other)
        return sorted(ran)

    here = threading.current_thread().name
    (_, first, _), (_, second, gradients) = both()
    assert first == here
    assert second != here
    assert not gradients
    ahead.begin(1)
    assert entered.wait(60)
    assert [(name, thread) for name, thread, _ in both()] == [("a", here), ("b", here)]
    assert [name for name, *_ in ran] == ["a", "b"]
    released.set()
    assert ahead.take(1) == 1
    assert both()[1][1] == second


@pytest.mark.parametrize("number", [0, 1])
def test_what_one_of_both_raises_is_raised_when_both_are_done(number: int) -> None:
    def fail() -> None:
        raise ArithmeticError("no result")

    done: list[int] = []
    works = [lambda: done.append(0), lambda: done.append(1)]
    works[number] = fail
    with pytest.raises(ArithmeticError, match="no result"):
        Prefetcher(lambda iteration: iteration, 1).run_pair(*works)
    assert done == [1 - number]


def test_weights_that_autocast_has_cast_here_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second thread leaves autocast without discarding them: gradients would be added in an order that depends on chance."""
    cleared: list[str] = []
    monkeypatch.setattr(torch, "clear_autocast_cache", lambda: cleared.append(threading.current_thread().name))

    def compute(iteration: int) -> int:
        with torch.autocast("cpu", torch.bfloat16):
            return iteration

    ahead = Prefetcher(compute, 1)
    ahead.begin(0)
    assert ahead.take(0) == 0
    assert not cleared
    assert ahead.take(1) == 1  # here
    assert cleared == [threading.current_thread().name]
