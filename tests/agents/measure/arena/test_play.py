"""Playing tables out with an agent in each seat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_env.core.errors import AgentError
from nainjaune_env.engine.batch import Batch
from tests.agents.measure.arena.scripted import Answers, Chance, First, Last
from tests.support.positions import small


def rngs(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(k) for k in range(count)]


def test_payoffs_are_what_the_rewards_add_up_to_for_whoever_sits_there() -> None:
    setup = small()
    seating = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]])
    batch, by_hand = Batch(setup, 4, seed=1, autoreset=False), Batch(setup, 4, seed=1, autoreset=False)
    payoff = play_out(batch, [First(), Last()], seating, rngs(2))
    total = by_hand.reward.astype(np.int64)
    while not by_hand.done.all():
        actions = [
            0 if not word else int(word & -word).bit_length() - 1 if who == 0 else int(word).bit_length() - 1
            for word, who in zip(by_hand.legal, seating[np.arange(4), by_hand.seat], strict=True)
        ]
        by_hand.step(actions)
        total += by_hand.reward
    assert payoff.tolist() == total.tolist()
    assert batch.done.all()


def test_an_agent_that_sits_nowhere_is_not_asked() -> None:
    idle = First()
    play_out(Batch(small(), 3, autoreset=False), [idle, First()], np.ones((3, 3), np.int64), rngs(2))
    assert idle.asked == 0


def test_each_agent_has_its_own_chance() -> None:
    """What one draws does not move what another gets."""
    one, two = Chance("a"), Chance("b")
    play_out(Batch(small(), 3, autoreset=False), [one, two], np.array([[0, 1, 1]] * 3), rngs(2))
    assert two.drawn[0] == np.random.default_rng(1).random(1)[0]


def test_after_step_hears_every_step() -> None:
    heard: list[np.ndarray[Any, Any]] = []
    batch = Batch(small(), 3, autoreset=False, seed=4)
    play_out(batch, [First()], np.zeros((3, 3), np.int64), rngs(1), after_step=lambda actions: heard.append(actions.copy()))
    again = Batch(small(), 3, autoreset=False, seed=4)
    for actions in heard:
        assert not again.done.all()
        again.step(actions)
    assert again.done.all()
    assert again.tables.tobytes() == batch.tables.tobytes()


def test_a_batch_that_deals_on_is_refused() -> None:
    with pytest.raises(AgentError, match="autoreset=False"):
        play_out(Batch(small(), 1), [First()], np.zeros((1, 3), np.int64), rngs(1))


@pytest.mark.parametrize(
    "answer",
    [np.zeros(5, np.int64), 0, np.array([0.5, 1.5]), np.array([True, True]), ["a", "b"]],
    ids=repr,
)
def test_an_answer_that_is_no_whole_numbers_or_of_the_wrong_shape_names_the_agent(answer: Any) -> None:
    with pytest.raises(AgentError, match=r"The agent 'answers' was asked for 2 whole numbers, shape \(2,\), and gave"):
        play_out(Batch(small(), 2, autoreset=False), [Answers(answer)], np.zeros((2, 3), np.int64), rngs(1))


def test_an_illegal_answer_stops_the_game() -> None:
    with pytest.raises(
        AgentError, match=r"The agent 'answers' chose an illegal action\. Action -1 \(.*\) is not legal at table 0, seat \d"
    ):
        play_out(Batch(small(), 2, autoreset=False), [Answers(np.array([-1, -1]))], np.zeros((2, 3), np.int64), rngs(1))
