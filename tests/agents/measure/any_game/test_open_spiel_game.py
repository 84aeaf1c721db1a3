"""OpenSpiel's games as deals: edges cover their exact values."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nainjaune_agents import edge
from nainjaune_agents.measure.any_game.game_table import game_of, game_table
from nainjaune_agents.measure.any_game.policies import SeatedPolicy, outcome_of
from nainjaune_env.core.errors import AgentError, GameError, IllegalChoiceError

pyspiel = pytest.importorskip("pyspiel")
policies = pytest.importorskip("open_spiel.python.policy")
expected_game_score = pytest.importorskip("open_spiel.python.algorithms.expected_game_score")


def tabular(game: Any, seed: int) -> Any:
    """A policy with random probabilities."""
    policy, rng = policies.TabularPolicy(game), np.random.default_rng(seed)
    drawn = rng.random(policy.action_probability_array.shape) * policy.legal_actions_mask
    policy.action_probability_array = drawn / drawn.sum(axis=1, keepdims=True)
    return policy


def lowest(observation: Any, mask: Any) -> int:
    return int(mask.argmax())


def exact_gain(game: Any, hero: Any, field: Any) -> float:
    """What the hero gains over all deals and draws."""
    n, state = game.num_players(), game.new_initial_state()
    alone = expected_game_score.policy_value(state, [field] * n)
    in_seat = [
        expected_game_score.policy_value(state, [hero if seat == at else field for seat in range(n)])[at] for at in range(n)
    ]
    return float(np.mean(np.array(in_seat) - alone))


@pytest.mark.parametrize("name", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker"])
def test_the_edge_covers_its_exact_value(name: str) -> None:
    game = pyspiel.load_game(name)
    hero, field = tabular(game, 1), tabular(game, 2)
    exact = exact_gain(game, hero, field)
    measured = edge(hero, field, 3000, seed=7, env=game, progress=False)
    assert abs(measured.mean - exact) < measured.ci95 < 0.2
    assert abs(exact) > measured.ci95 / 2


def test_players_of_one_mind_are_equal_on_every_deal() -> None:
    game = pyspiel.load_game("kuhn_poker(players=3)")
    table = game_table(game, {"one": tabular(game, 1), "same": tabular(game, 1)}, deals=50, seed=1)
    assert [one.moments.differing for one in table.edges] == [0, 0]


def test_probabilities_that_sum_to_less_than_one_leave_the_rest_to_the_last_outcome() -> None:
    pairs = [(3, 0.25), (8, 0.5)]
    assert [outcome_of(pairs, uniform) for uniform in (0.0, 0.2, 0.25, 0.74, 0.75, 0.99)] == [3, 3, 8, 8, 8, 8]


def test_policies_see_a_tensor_and_a_mask() -> None:
    shapes = set()

    def watching(observation: Any, mask: Any) -> int:
        shapes.add((observation.dtype.name, observation.shape, mask.dtype.name, mask.shape))
        return int(mask.argmax())

    for name in ("leduc_poker", "gin_rummy"):  # the second has observation tensors alone
        game = pyspiel.load_game(name)
        edge(watching, lambda observation, mask: int(np.flatnonzero(mask)[-1]), 2, env=game, progress=False)
    assert shapes == {("float32", (30,), "int8", (3,)), ("float32", (644,), "int8", (241,))}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("matrix_rps", "one player to act at a time, not one of SIMULTANEOUS"),
        ("solitaire", "Expected two or more players, and solitaire.* has 1"),
        ("tic_tac_toe", r"9 seeds of tic_tac_toe\(\) deal alike"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(name: str, says: str) -> None:
    game = pyspiel.load_game(name)
    with pytest.raises(GameError, match=says):
        edge(lowest, lowest, 3, env=lambda: game)


def test_a_deal_has_the_same_cards_whoever_plays() -> None:
    game = game_of(pyspiel.load_game("leduc_poker"), 4)
    assert game.preflight().repeats
    assert {game.table(number, game.seated(lowest, "it"))[1] for number in range(9)} == {0}
    hands = []

    def played(number: int, place: int) -> dict[str, tuple[float, ...]]:
        cards: dict[str, tuple[float, ...]] = {}

        def choose(seat: str, observation: Any, mask: Any) -> int:
            cards[seat] = tuple(observation[2:8])
            return int(np.flatnonzero(mask)[place])

        game.table(number, [SeatedPolicy(partial(choose, seat), "it", seat) for seat in game.seat_names])
        return cards

    for number in range(20):
        hands.append(played(number, -1))
        assert hands[-1] == played(number, -2)
        assert len(hands[-1]) == 2
    assert len({str(cards) for cards in hands}) > 8


def test_an_illegal_action_of_openspiels_policies_is_named() -> None:
    class Wrong:
        def action_probabilities(self, state: Any) -> dict[int, float]:
            return {7: 1.0}

    game = pyspiel.load_game("kuhn_poker")
    with pytest.raises(
        IllegalChoiceError, match=r"legal actions \[0, 1\] of the player 'Wrong', in seat player 0 on deal 0, not 7"
    ):
        edge(Wrong(), tabular(game, 1), 4, env=game, progress=False)


@pytest.mark.parametrize(
    "given", [{}, {0: 0.1, 1: 0.1}, {0: 2.0, 1: -1.0}, {0: float("nan"), 1: 0.5}, [(0, 1.0)], np.array([0.5, 0.5])]
)
def test_what_is_no_distribution_is_refused(given: Any) -> None:
    policy = SimpleNamespace(action_probabilities=lambda state: given, name="mine")
    game = pyspiel.load_game("kuhn_poker")
    with pytest.raises(AgentError, match=r"Expected probabilities by action, with the sum 1, of the player 'mine'"):
        edge(policy, tabular(game, 1), 4, env=game, progress=False)  # type: ignore[arg-type]
