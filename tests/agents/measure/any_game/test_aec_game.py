"""AEC environments as deals: our adaptor gives our payoffs to the digit; what is not as it should be is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.classic import connect_four_v3, rps_v2

import nainjaune_env
from nainjaune_agents import edge
from nainjaune_agents.measure.any_game.game_table import game_of, game_table
from nainjaune_agents.measure.compare import cross_table
from nainjaune_env.agent_adapters import as_agent
from nainjaune_env.core.errors import GameError, IllegalChoiceError
from nainjaune_env.core.prng import streams
from nainjaune_env.registry import make_setup

from .high_card import (
    AlwaysAlike,
    Appears,
    Binary,
    Continuous,
    Emptied,
    FromOne,
    HighCard,
    Huge,
    IgnoresSeed,
    LateSeats,
    Leaves,
    Lost,
    NoSeed,
    Pairs,
    SometimesIgnores,
    Tiny,
    UnequalSeats,
)


def lowest(observation: Any, mask: Any) -> int:
    return int(mask.argmax())


def by_what_is_seen(observation: Any, mask: Any) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[int(observation.sum()) % len(legal)])


def brave(observation: Any, mask: Any) -> int:
    return 1


def careful(observation: Any, mask: Any) -> int:
    return int(observation[0] > 50)


class Ours(nainjaune_env.raw_env):
    """Our environment, which deals the deals of seed 3 one after the other, whatever the seeds."""

    def __init__(self, players: int) -> None:
        super().__init__("djeco", players)
        self.number: dict[int, int] = {}

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed=seed)
        assert seed is not None
        number = self.number.setdefault(seed, len(self.number) - 9)  # nine seeds of the preflight come first
        self._batch.reset(seeds=streams(3, 1, first=number % 1000))
        self._refresh(self._batch.at_turn)


@pytest.mark.parametrize("players", [2, 4])
def test_our_environment_is_our_own_path_to_the_digit(players: int) -> None:
    setup, policies = make_setup(preset="djeco", players=players), [lowest, by_what_is_seen]
    ours = cross_table(setup, [as_agent(policy, setup) for policy in policies], deals=60, seed=3)
    other = game_table(Ours(players), {policy.__name__: policy for policy in policies}, deals=60, seed=3)
    assert ours.edges[0].mean != 0
    for one, two in zip(ours.edges, other.edges, strict=True):
        assert (two.hero, two.mean, two.ci95) == (one.hero, one.mean, one.ci95)
        assert [(seat.mean, seat.half_width) for seat in two.by_seat] == [(seat.mean, seat.half_width) for seat in one.by_seat]
    assert other.advantages[0, 1].estimate == ours.advantages[0, 1].estimate


def test_an_environment_a_function_without_and_one_with_a_seed_are_the_same_game() -> None:
    seeds = []

    def anew(seed: int) -> Any:
        seeds.append(seed)
        return HighCard()

    edges = [edge(careful, brave, 30, env=env, progress=False) for env in (HighCard(), HighCard, anew)]
    assert len({str(one) for one in edges}) == 1
    assert len(set(seeds)) == 1 + 9 + 30


def test_masks_of_infos_and_none_at_all() -> None:
    class Masked(HighCard):
        def step(self, action: Any) -> None:
            super().step(action)
            self.infos = {agent: {"action_mask": np.array([0, 1])} for agent in self.agents}

    seen = []

    def noting(observation: Any, mask: Any) -> int:
        seen.append(mask.tolist())
        return 1

    edge(noting, brave, 2, env=Masked, progress=False)
    assert seen == [[1, 1], [0, 1], [0, 1]] * 2


@pytest.mark.parametrize(
    ("env", "says"),
    [
        (NoSeed, r"Expected an environment with reset\(seed=…\), and that of .* takes no seed"),
        (AlwaysAlike, "9 seeds of high_card deal alike"),
        (connect_four_v3.env, "9 seeds of connect_four_v3 deal alike"),
        (Lost, "Expected 0, or a number of the size 1e-09 to 1,000,000, as the reward of seat s0 on deal 0, not nan"),
        (
            Pairs,
            r"0, or a number of the size 1e-09 to 1,000,000, as the reward of seat s0 on deal 0, not array\(\[0., 0.\]\)",
        ),
        (Huge, "to 1,000,000, as the reward of seat s1 on deal 0, not 1e\\+30"),
        (Leaves, "Expected all seats to end together, and s1 ended while s0 had not"),
        (Appears, r"Expected the agents \['s0', 's1', 's2'\] to the end, and 's9' came later"),
        (LateSeats, r"Expected the agents \['s0', 's1', 's2'\] from the first action on, not \['s0', 's1'\]"),
        (UnequalSeats, r"the spaces of s1 are not those of s0: .*Discrete\(3\)"),
        (Tiny, "the size 1e-09 to 1,000,000, as the reward of seat s0 on deal 0, not 1e-10"),
        (Emptied, "Expected a last turn of each agent after the end, with its last reward, and s0 had none"),
        (FromOne, r"Expected actions of a Discrete space, from 0 on, not of Discrete\(2, start=1\)"),
        (Binary, r"Expected actions of a Discrete space, from 0 on, not of MultiBinary\(2\)"),
        (lambda one, two: HighCard(), "Expected a function without parameters, or of a seed, not"),
        (Continuous, "Expected actions of a Discrete space, from 0 on, not of Box"),
        (lambda: HighCard(1), "Expected two or more seats, and high_card has 1"),
        (rps_v2.parallel_env, r"Expected an AEC environment \(pettingzoo.utils.parallel_to_aec turns"),
        (3, "Expected an AEC environment, a function that makes one, or a game of OpenSpiel, not 3"),
        (lambda: 3, "Expected an AEC environment, a function that makes one, or a game of OpenSpiel, not 3"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(env: Any, says: str) -> None:
    with pytest.raises(GameError, match=says) as error:
        edge(careful, brave, 4, env=env, progress=False)
    assert str(error.value).endswith(".")


def test_a_seed_that_is_ignored_is_told() -> None:
    assert "Expected high_card to deal the same twice for a seed, and it does not" in str(
        edge(careful, brave, 40, env=IgnoresSeed, progress=False)
    )
    assert "twice" not in str(edge(careful, brave, 40, env=HighCard, progress=False))
    assert game_of(HighCard(), 1).preflight() == (True, 8)
    for env in (IgnoresSeed(), SometimesIgnores()):
        assert not game_of(env, 1).preflight().repeats


def test_deals_may_differ_in_their_rewards_alone() -> None:
    class Dark(HighCard):
        def observe(self, agent: str) -> Any:
            return np.zeros(1, np.int64)

        def paid(self) -> list[Any]:
            return self.dealt.tolist()  # type: ignore[no-any-return]

    assert game_of(Dark(), 1).preflight() == (True, 8)


def test_rewards_are_rounded_to_the_nearest_billionth() -> None:
    assert 6.5e-05 * 10**9 < 65_000
    game = game_of(HighCard(), 1)
    assert [game._whole(reward, 0) for reward in (6.5e-05, -6.5e-05, 2.0, 0.1 + 0.2 - 0.3)] == [65_000, -65_000, 2 * 10**9, 0]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float16, np.float32, np.array])
def test_rewards_of_any_dtype_are_summed_as_numbers(dtype: Any) -> None:
    class Typed(HighCard):
        def paid(self) -> list[Any]:
            return [dtype(number) for number in super().paid()]

    plain, ours = (edge(careful, brave, 30, env=env, progress=False) for env in (HighCard, Typed))
    assert (ours.mean, ours.ci95) == (plain.mean, plain.ci95)


def test_a_mask_beside_an_observation_of_another_name_counts_and_cannot_be_written_into() -> None:
    class Board(HighCard):
        def observe(self, agent: str) -> Any:
            return {"board": super().observe(agent), "action_mask": np.array([0, 1], np.int8)}

    def cheating(observation: Any, mask: Any) -> int:
        assert observation["board"].shape == (1,)
        mask[:] = 1
        return 0

    with pytest.raises(IllegalChoiceError, match=r"legal actions \[1\] of the player 'cheating'"):
        edge(cheating, brave, 4, env=Board, progress=False)


def test_objects_that_are_observed_are_no_sign_of_another_deal() -> None:
    class Seen:
        pass

    class Objects(HighCard):
        def observe(self, agent: str) -> Any:
            return np.array([Seen(), int(super().observe(agent)[0])], object)

    assert game_of(Objects(), 1).preflight() == (True, 8)


def test_one_deal_is_enough_for_players_that_draw() -> None:
    def drawing(observation: Any, mask: Any, rng: Any) -> int:
        return int(rng.integers(2))

    assert edge(drawing, careful, 40, env=AlwaysAlike, progress=False).edge.moments.differing > 1
