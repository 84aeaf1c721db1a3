"""CFR+ against backward induction."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.players.exact.batasaurus import solve
from nainjaune_agents.study.exact.cfr import cfr_plus
from nainjaune_agents.study.exact.response import best_response_gains
from nainjaune_agents.study.exact.tree import Openings, build_tree, collect_openings
from nainjaune_env.core.errors import AgentError
from nainjaune_env.engine.batch import Batch

from .lines import perfect


@pytest.mark.parametrize(("dinosaurs", "iterations"), [(4, 1000), (5, 400)])
def test_it_finds_the_value_of_the_game(dinosaurs: int, iterations: int) -> None:
    setup = perfect(dinosaurs)
    openings = collect_openings(setup)
    tree = build_tree(setup, Openings(openings.tables[:1], np.ones(1)))
    equilibrium = cfr_plus(tree, iterations)
    leader = int(openings.tables["leader"][0])
    reached = equilibrium.nash_conv[-1]
    assert reached < 0.004
    # neither seat can do better than the value by more than the other leaves it
    assert 2 * equilibrium.values[leader] == pytest.approx(solve(dinosaurs).value, abs=4 * reached + 1e-12)
    assert equilibrium.iterations.tolist() == list(range(100, iterations + 1, 100))
    assert best_response_gains(tree, equilibrium.policy).nash_conv == reached
    assert equilibrium.nash_conv[0] > reached


@pytest.mark.parametrize(
    ("dinosaurs", "expected"), [(3, {100: 0.0004554455445544554}), (4, {2: 1.5155520333432557, 12: 0.2543022827905873})]
)
def test_the_steps_are_those_of_another_implementation(dinosaurs: int, expected: dict[int, float]) -> None:
    """NashConv after so many iterations of OpenSpiel 2.0.2's ``CFRPlusSolver``, on a game written for it from the rules.

    With four dinosaurs its regrets below 1e-12 were set to 0 as they are here; without that, rounding parts the two.
    """
    tree = build_tree(perfect(dinosaurs))
    equilibrium = cfr_plus(tree, max(expected), every=1)
    for iteration, nash_conv in expected.items():
        assert equilibrium.nash_conv[iteration - 1] == pytest.approx(nash_conv, rel=1e-9)


def test_what_it_refuses() -> None:
    with pytest.raises(AgentError, match="The numbers of iterations and between evaluations are at least 1, not 0 and 100"):
        cfr_plus(build_tree(perfect(3)), 0)
    setup = perfect(2)
    batch = Batch(setup, 1, autoreset=False)
    for _ in range(2):
        batch.step([0])
    with pytest.raises(AgentError, match="The tree has no decisions"):
        cfr_plus(build_tree(setup, Openings(batch.tables, np.ones(1))), 10)
