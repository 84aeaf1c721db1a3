"""What a seat is shown follows from what it may know (N6): hidden cards change places, and nothing it sees changes.

PettingZoo's own ``api_test`` would pass an environment that shows all hands.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from gymnasium.utils.env_checker import data_equivalence

import nainjaune_env
from nainjaune_env.core.cards import DECK, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.games.nain_jaune.records.replay import replay_round
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.records.recorder import history_of_round
from tests.support.contract import all_setups, helper, legal_actions, single


def deal(env: Any, cards: list[str], hands_of: int, **more: Any) -> Any:
    hands = [cards[k * hands_of : (k + 1) * hands_of] for k in range(env.setup.players)]
    return setup_table(env.setup, hands, dealer=0, **more)


def moves(env: Any) -> list[tuple[int, str]]:
    raw = env.unwrapped
    return replay_round(raw.setup, **history_of_round(raw._batch, 0)).moves


def test_n6_the_suit_that_is_shown_is_not_the_kernels_choice() -> None:
    """The kernel always plays the lowest of several like cards; a picture shows any of them."""
    env = nainjaune_env.env(players=2, skip_forced=False)
    hands = [["5s", "5h", "5d", "5c"], []]
    rest = [card for card in DECK if card not in hands[0]]
    first, other = [*hands[0], *rest[:18]], rest[18:40]
    seen = set()
    for seed in range(40):
        env.reset(options={"table": setup_table(env.setup, [first, other], dealer=1, seed=seed)})
        env.step(env.setup.game.actions.index("5"))
        assert [DECK[k] for k in cards_in(env.unwrapped._batch.tables["played"][0, 0])] == ["5s"]
        seen.add(moves(env)[-1][1])
    assert seen == {"5s", "5h", "5d", "5c"}


# ---------------------------------------------------------------- any game, through PettingZoo's two interfaces and Gymnasium's


class InTurn:
    """The AEC form, every ply of it, and what it hands an agent: at turn or not, for anybody may ask."""

    def __init__(self, setup: Setup) -> None:
        self.env = nainjaune_env.env(setup.preset, setup.players, game=setup.game.name, skip_forced=False)

    @property
    def batch(self) -> Any:
        return self.env.unwrapped._batch

    def begin(self, table: Any) -> None:
        self.env.reset(options={"table": table})

    def act(self, action: int) -> None:
        self.env.step(action)

    def handed(self, seat: int) -> Any:
        env, agent = self.env, f"seat_{seat}"
        return env.observe(agent), env.infos[agent], env.rewards[agent], env.terminations[agent], env.agent_selection


class Together:
    """The parallel form as it is made without settings, and what it hands an agent."""

    def __init__(self, setup: Setup) -> None:
        self.env = nainjaune_env.parallel_env(setup.preset, setup.players, game=setup.game.name)

    @property
    def batch(self) -> Any:
        return self.env.unwrapped._batch

    def begin(self, table: Any) -> None:
        observations, infos = self.env.reset(options={"table": table})
        self.outcome: Any = observations, infos

    def act(self, action: int) -> None:
        waiting = dict.fromkeys(self.env.agents, self.env.no_op)
        self.outcome = self.env.step({**waiting, self.env.unwrapped.agent_selection: action})

    def handed(self, seat: int) -> Any:
        return tuple(part[f"seat_{seat}"] for part in self.outcome)


class SelfPlay:
    """The Gymnasium form where the learner has every seat: a seat is handed something at its own decisions alone."""

    def __init__(self, setup: Setup) -> None:
        self.env = SeatEnv(setup.preset, setup.players, game=setup.game.name, opponents="self", skip_forced=False)

    @property
    def batch(self) -> Any:
        return self.env._tables.batch

    def begin(self, table: Any) -> None:
        observation, info = self.env.reset(options={"table": table})
        self.outcome: Any = observation, 0.0, info

    def act(self, action: int) -> None:
        observation, reward, _, _, info = self.env.step(action)
        self.outcome = observation, reward, info

    def handed(self, seat: int) -> Any:
        deciding = self.outcome[-1]["seat"]
        return deciding, self.outcome if deciding == seat else ()


def counterparts(setup: Setup, one: Any, two: Any) -> dict[int, int]:
    """The legal actions at one batch and, for each, the one that shows the same at the other, where there is one."""
    legal = legal_actions(int(one.legal[0]))
    pairs = ((action, helper(setup).counterpart(setup, one.tables[0], two.tables[0], action)) for action in legal)
    return {action: like for action, like in pairs if like is not None}


@pytest.mark.parametrize("adaptor", [InTurn, Together, SelfPlay])
@pytest.mark.parametrize("setup", all_setups())
def test_n6_what_an_agent_is_handed_follows_from_what_its_seat_may_know(setup: Setup, adaptor: type[Any]) -> None:
    """Observation, mask, info, reward, and whose turn it is; the tables tell the deals apart."""
    rng = random.Random(setup.players)
    one, two = adaptor(setup), adaptor(setup)
    looks = told_apart = 0
    for seed in range(60):
        if seed >= 12 and min(looks, told_apart) > 20:
            break  # short rounds need more deals
        dealt = single(setup, seed=seed).tables[0]
        seat = rng.randrange(setup.players)
        one.begin(dealt)
        two.begin(helper(setup).reshuffle(setup, dealt, seat, rng))
        for _ in range(60):
            handed = one.handed(seat)
            assert data_equivalence(handed, two.handed(seat))
            looks += handed[-1] != ()
            told_apart += bool(one.batch.tables[0] != two.batch.tables[0])
            like = counterparts(setup, one.batch, two.batch)
            if not like:
                break  # what can be played next shows different things
            action = rng.choice(sorted(like))
            one.act(action)
            two.act(like[action])
            if one.batch.done[0] or two.batch.done[0]:
                break  # hands are laid open
    assert looks > 20
    assert told_apart > 20
