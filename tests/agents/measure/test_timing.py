"""The time that decisions take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure import timing
from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.measure.timing import TimedAgent
from nainjaune_env.engine.batch import Batch
from tests.agents.measure.arena.scripted import Chance, First
from tests.support.positions import small


class Remembers(First):
    def state_dtype(self, setup: Any) -> Any:
        return np.dtype(np.int64)

    def act(self, decisions: Any, rng: Any) -> Any:
        decisions.state[...] += 1
        return super().act(decisions, rng)


def test_every_decision_but_the_first_times_is_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 2))
    monkeypatch.setattr(timing, "perf_counter", lambda: float(next(clock)))
    inner = First()
    agent = TimedAgent(inner)
    clock_of = agent.clock
    assert (clock_of.agent, clock_of.milliseconds) == ("first", None)
    batch = Batch(small(), 4, seed=1, autoreset=False)
    play_out(batch, [agent], np.zeros((4, 3), np.int64), [np.random.default_rng(0)])
    assert clock_of.decisions == inner.asked - 4
    assert clock_of.seconds == 2 * clock_of.calls > 0
    assert clock_of.milliseconds == 2000 * clock_of.calls / clock_of.decisions


@pytest.mark.parametrize("kind", [First, Chance, Remembers])
def test_it_plays_as_the_agent_does(kind: type[First]) -> None:
    def play(agent: Any) -> list[list[int]]:
        batch = Batch(small(), 5, seed=2, autoreset=False)
        return play_out(batch, [agent], np.zeros((5, 3), np.int64), [np.random.default_rng(7)]).tolist()

    assert play(kind("x")) == play(TimedAgent(kind("x")))
    assert TimedAgent(kind("x")).name == "x"
