"""Policies in their seats."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

from nainjaune_agents import edge
from nainjaune_agents.measure.any_game.policies import SeatedPolicy
from nainjaune_env.core.errors import AgentError, IllegalChoiceError

from .high_card import HighCard

MASK = np.array([0, 1, 1], np.int8)


def brave(observation: Any, mask: Any) -> int:
    return 1


def test_a_third_parameter_is_the_generator_of_deal_and_seat() -> None:
    def drawing(observation: Any, mask: Any, rng: Any) -> int:
        return 1 + int(rng.integers(2))

    def draws(deal: int, seat: int) -> list[int]:
        policy = SeatedPolicy(drawing, "drawing", "a seat")
        policy.start(5, deal, seat)
        return [policy.act(None, MASK) for _ in range(40)]

    assert draws(1, 0) == draws(1, 0)
    assert len({tuple(draws(deal, seat)) for deal in range(3) for seat in range(3)}) == 9
    for policy in (brave, partial(drawing, rng=3), lambda observation, mask, greedy=True: 1):
        assert not SeatedPolicy(policy, "it", "a seat").draws
    assert SeatedPolicy(lambda observation, mask, rng=None: 1, "it", "a seat").draws


def test_seats_do_not_share_what_a_policy_remembers() -> None:
    class Alternating:
        """Stakes in every second decision since its reset."""

        def __init__(self) -> None:
            self.count = 0

        def reset(self) -> None:
            self.count = 0

        def __call__(self, observation: Any, mask: Any) -> int:
            self.count += 1
            return self.count % 2

    # each copy is asked once a game, and so stakes
    assert edge(brave, Alternating(), 20, env=HighCard, progress=False).edge.moments.differing == 0


def test_a_policy_that_remembers_is_copied_and_reset_without_arguments() -> None:
    class Seeded:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def __call__(self, observation: Any, mask: Any) -> int:
            return 1

    class WithSeed(Seeded):
        def reset(self, seed: int) -> None:
            raise AssertionError

    class Locked(Seeded):
        def reset(self) -> None:
            raise AssertionError

    with pytest.raises(AgentError, match=r"reset\(\) without arguments of the player 'WithSeed', not reset\(seed: "):
        edge(WithSeed(), brave, 4, env=HighCard)
    with pytest.raises(AgentError, match=r"a player 'Locked' that copy.deepcopy copies, for each seat: cannot pickle"):
        edge(Locked(), brave, 4, env=HighCard)


@pytest.mark.parametrize("given", [0, 3, -1, 1.0, None, True, np.array([1])])
def test_an_illegal_action_is_named(given: Any) -> None:
    policy = SeatedPolicy(lambda observation, mask: given, "mine", "player_1")
    policy.start(0, 7, 1)
    with pytest.raises(IllegalChoiceError, match=r"legal actions \[1, 2\] of the player 'mine', in seat player_1 on deal 7, not"):
        policy.act(None, MASK)


def test_integers_of_other_libraries_are_actions() -> None:
    assert SeatedPolicy(lambda observation, mask: np.int64(2), "mine", "a seat").act(None, MASK) == 2


class OfOpenSpiel:
    def action_probabilities(self, state: Any) -> dict[int, float]:
        return {1: 1.0}


@pytest.mark.parametrize("given", ["closer", 3, OfOpenSpiel(), lambda: 1, lambda observation: 1, lambda a, b, c, d: 1])
def test_what_cannot_be_asked_is_refused(given: Any) -> None:
    with pytest.raises(AgentError, match="is a function of an observation and a mask"):
        edge(given, brave, 4, env=HighCard)
