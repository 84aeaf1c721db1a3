"""OpenSpiel's solvers and ratings on our short games, held against what ``nainjaune_agents.exact`` makes of the same games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
import pytest
from numpy.typing import NDArray
from open_spiel.python import policy as policies
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import best_response, expected_game_score, exploitability
from open_spiel.python.pytorch import dqn

import nainjaune_env.envs.open_spiel  # noqa: F401  (enters the games)
from nainjaune_agents.exact import response
from nainjaune_agents.exact.cfr import cfr_plus
from nainjaune_agents.exact.tree import Tree
from tests.agents.exact.lines import taken

from .test_open_spiel_suites import tree_of

SHORT = [
    "python_batasaurus(dinosaurs=3,memory=perfect,chance=deal,returns=net)",
    "python_batasaurus(dinosaurs=2,players=3,memory=perfect,exhausted=void,returns=net)",
    "python_nain_jaune(players=2,ranks=4,suits=1,hand=2,chance=deal,returns=net)",
    "python_nain_jaune(players=2,ranks=5,suits=1,hand=2,chance=deal,returns=net,preset=skip)",
]
MICRO = [SHORT[0], SHORT[2]]


@pytest.mark.parametrize("game_string", SHORT)
def test_best_responses_to_uniform_play_are_worth_what_we_compute(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    tree = tree_of(game)
    uniform = policies.UniformRandomPolicy(game)
    n = game.num_players()
    ours = response.best_response_gains(tree, tree.uniform())
    assert exploitability.nash_conv(game, uniform) == pytest.approx(ours.nash_conv, abs=1e-9)
    assert expected_game_score.policy_value(game.new_initial_state(), [uniform] * n) == pytest.approx(
        response.values(tree, tree.uniform()), abs=1e-9
    )
    for seat in range(n):
        theirs = best_response.BestResponsePolicy(game, seat, uniform).value(game.new_initial_state())
        assert theirs == pytest.approx(response.best_response(tree, tree.uniform(), seat)[0], abs=1e-9)


@pytest.mark.parametrize(("dinosaurs", "expected"), [(3, 2 * 0.666667), (4, 2 * 1.333333)])
def test_random_play_is_as_exploitable_as_the_docs_say(dinosaurs: int, expected: float) -> None:
    """docs/exact.md; NashConv is the sum over two seats. Here payoffs sum to the same every time, so they say it too."""
    game = pyspiel.load_game(f"python_batasaurus(dinosaurs={dinosaurs},memory=perfect,returns=net)")
    assert exploitability.exploitability(game, policies.UniformRandomPolicy(game)) == pytest.approx(expected / 2, abs=1e-6)
    if dinosaurs == 3:
        game = pyspiel.load_game("python_batasaurus(dinosaurs=3,memory=perfect)")
        assert exploitability.nash_conv(game, policies.UniformRandomPolicy(game)) == pytest.approx(expected, abs=2e-6)


@pytest.mark.slow
def test_cfr_plus_goes_where_ours_goes() -> None:
    """Step by step: the number is the one of another implementation of the game, in tests/agents/exact/test_cfr.py."""
    game = pyspiel.load_game(SHORT[0])
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    result = pyspiel.nash_conv(game, solver.average_policy())
    assert result == pytest.approx(0.0004554455445544554, abs=1e-12)
    ours = cfr_plus(tree_of(game), 100)
    assert result == pytest.approx(ours.nash_conv[-1], abs=1e-12)
    values = expected_game_score.policy_value(game.new_initial_state(), [tabular(game, solver)] * 2)
    assert values == pytest.approx(ours.values, abs=1e-9)


@pytest.mark.parametrize("preset", ["djeco", "skip"])
def test_our_equilibrium_of_a_short_deck_is_as_near_to_one_there(preset: str) -> None:
    """Their information states are our information sets, one for one; and CFR+ goes the same way in both, step by step."""
    game = pyspiel.load_game(f"python_nain_jaune(players=2,preset={preset},ranks=3,suits=2,hand=2,chance=deal,returns=net)")
    tree = tree_of(game)
    iterations = 20
    ours = cfr_plus(tree, iterations, every=iterations)
    given = Given(game, tree, ours.policy)
    assert len(given.rows) == tree.num_infosets
    assert exploitability.nash_conv(game, given) == pytest.approx(ours.nash_conv[-1], abs=1e-9)
    values = expected_game_score.policy_value(game.new_initial_state(), [given] * 2)
    assert values == pytest.approx(ours.values, abs=1e-9)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    assert pyspiel.nash_conv(game, solver.average_policy()) == pytest.approx(ours.nash_conv[-1], abs=1e-9)


class Given(policies.Policy):  # type: ignore[misc]
    """One of our policies, ``(S,)``, as one of theirs: the two trees are walked side by side."""

    def __init__(self, game: Any, tree: Tree, policy: NDArray[np.float64]) -> None:
        super().__init__(game, list(range(game.num_players())))
        self.rows: dict[str, dict[int, float]] = {}
        self._tree, self._policy = tree, policy
        self._ways = [taken(tree, leaf) for leaf in range(len(tree.leaves.opening))]
        self._walk(game.new_initial_state(), list(range(len(self._ways))), [0] * game.num_players())

    def _walk(self, state: Any, leaves: list[int], behind: list[int]) -> None:
        """``leaves`` are the ends that can still come, ``behind`` how many choices of each seat are."""
        if state.is_terminal():
            assert self._tree.leaves.payoff[leaves].tolist() == [state.returns()]
            return
        if state.is_chance_node():
            for outcome, probability in state.chance_outcomes():
                assert probability == pytest.approx(self._tree.weight[outcome])
                there = [leaf for leaf in leaves if self._tree.leaves.opening[leaf] == outcome]
                self._walk(state.child(outcome), there, behind)
            return
        seat, sets = state.current_player(), self._tree.infosets
        after: dict[int, list[int]] = {}
        for leaf in leaves:
            after.setdefault(self._ways[leaf][seat][behind[seat]], []).append(leaf)
        row = {int(sets.action[slot]): float(self._policy[slot]) for slot in sorted(after)}
        assert list(row) == state.legal_actions()
        assert self.rows.setdefault(state.information_state_string(), row) == row
        behind = [number + (who == seat) for who, number in enumerate(behind)]
        for slot, there in after.items():
            self._walk(state.child(int(sets.action[slot])), there, behind)

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        return self.rows[state.information_state_string()]


def tabular(game: Any, solver: Any) -> Any:
    """A C++ solver's average as one of Python's policies."""
    average = solver.average_policy()
    return policies.tabular_policy_from_callable(game, lambda state: dict(average.action_probabilities(state)))


def test_dqn_learns_on_a_round() -> None:
    """OpenSpiel's DQN and NFSP import tree, which the extra `openspiel` installs."""
    env = rl_environment.Environment(pyspiel.load_game("python_batasaurus(dinosaurs=3,memory=perfect,returns=net)"))
    (size,), actions = env.observation_spec()["info_state"], env.action_spec()["num_actions"]
    agents = [
        dqn.DQN(seat, size, actions, hidden_layers_sizes=[8], batch_size=4, learn_every=4, min_buffer_size_to_learn=4)
        for seat in range(env.num_players)
    ]
    for _ in range(4):
        step = env.reset()
        while not step.last():
            step = env.step([agents[step.observations["current_player"]].step(step).action])
        for agent in agents:
            agent.step(step)
    assert all(np.isfinite(float(agent.loss)) for agent in agents)
