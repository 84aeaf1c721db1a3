"""OpenSpiel's solvers and ratings on our short games, held against ``nainjaune_agents.study.exact``."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
import torch
from open_spiel.python import policy as policies
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import best_response, expected_game_score, exploitability
from open_spiel.python.pytorch import dqn

import nainjaune_env.envs.open_spiel  # noqa: F401  (enters the games)
from nainjaune_agents.study.exact import response

from .test_open_spiel_suites import tree_of

SHORT = [
    "python_batasaurus(dinosaurs=3,memory=perfect,chance=deal,returns=net)",
    "python_batasaurus(dinosaurs=2,players=3,memory=perfect,exhausted=void,returns=net)",
    "python_nain_jaune(players=2,ranks=4,suits=1,hand=2,chance=deal,returns=net)",
    "python_nain_jaune(players=2,ranks=5,suits=1,hand=2,chance=deal,returns=net,preset=skip)",
]


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


@pytest.mark.parametrize(
    "game_string",
    [
        "python_nain_jaune(players=2,ranks=4,suits=2,hand=2,chance=deal,returns=net,skip_forced=False)",
        "python_nain_jaune(players=3,ranks=4,suits=2,hand=2,chance=deal,returns=net,skip_forced=False)",
        "python_batasaurus(dinosaurs=3,memory=perfect,chance=deal,returns=net,skip_forced=False)",
    ],
)
def test_values_in_order_from_the_seat_that_begins(game_string: str) -> None:
    """With forced plies OpenSpiel shows who begins each deal, also where that seat decides nothing, or nobody does."""
    game = pyspiel.load_game(game_string)
    tree, n = tree_of(game), game.num_players()
    first_action = np.zeros(tree.num_sequences)
    first_action[tree.infosets.start[:-1]] = 1
    for theirs, ours in (policies.FirstActionPolicy(game), first_action), (policies.UniformRandomPolicy(game), tree.uniform()):
        expected = np.zeros(n)
        root = game.new_initial_state()
        for deal, probability in root.chance_outcomes():
            state = root.child(deal)
            expected += probability * np.roll(expected_game_score.policy_value(state, [theirs] * n), -state.current_player())
        assert response.values_in_order(tree, ours) == pytest.approx(expected, abs=1e-9)


# of OpenSpiel's own code, with torch 2.9
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence for multidimensional indexing:UserWarning")
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
    assert all(torch.as_tensor(agent.loss).isfinite() for agent in agents)
