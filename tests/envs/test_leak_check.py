"""`check_no_leak`: leaks that were planted show, clean environments pass, and what it cannot judge it says."""

from __future__ import annotations

import random
import re
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.games import kuhn_poker  # noqa: F401  (registers it)
from pettingzoo.classic import rps_v2

import nainjaune_env
from nainjaune_env import check_no_leak
from nainjaune_env.core.errors import DealError, GameError, LeakError, NainJauneError
from nainjaune_env.envs.leak_views import difference
from nainjaune_env.envs.pettingzoo_aec import raw_env
from tests.support.redealt import picture_of, redeal


class Planted(raw_env):
    """An environment that shows a bit of the next seat's hand where, to whom and when a test says."""

    plies = 0

    def __init__(self, channel: str = "", seat: int | None = None, after: int = 0) -> None:
        super().__init__("djeco", 3, ranks=8, suits=2, hand=5, skip_forced=False)
        self.channel, self.only, self.after = channel, seat, after

    def bit(self, agent: str) -> int:
        """Whether the next seat's highest card has an odd number; 0 where there is no leak."""
        seat, hands = self._seat_of[agent], self._batch.tables[0]["hand"]
        leaks = self.only in (None, seat) and self.plies >= self.after
        return int(leaks and int(hands[(seat + 1) % 3]).bit_length() % 2)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.plies = 0
        super().reset(seed, options)

    def step(self, action: Any) -> None:
        self.plies += 1
        super().step(action)

    def observe(self, agent: str) -> Any:
        seen = super().observe(agent)
        if self.channel == "observation":
            seen["observation"][12] = self.bit(agent)
        if self.channel == "mask" and agent != self.agent_selection:
            seen["action_mask"][3] = self.bit(agent)
        return seen

    def _refresh(self, at_turn: int) -> None:
        super()._refresh(at_turn)
        if self.channel == "infos":
            self.infos = {agent: {**info, "odd": self.bit(agent)} for agent, info in self.infos.items()}

    def picture(self, seat: int | None = None) -> str:
        return f"a card: {self.bit(f'seat_{seat}') if self.channel == 'picture' else '?'}"


def drawn(env: Any, agent: str) -> Any:
    return env.picture(env.unwrapped._seat_of[agent])


# ---------------------------------------------------------------- leaks that were planted


@pytest.mark.parametrize(
    ("channel", "named", "where"),
    [
        ("observation", "observation", r"index 12: [01] and after dealing again [01]\."),
        ("mask", "mask", r"index 3: [01] and after dealing again [01]\."),
        ("infos", "infos['odd']", r", [01] and after dealing again [01]\."),
        ("picture", "picture", r"character 8: '[01]' and after dealing again '[01]'\."),
    ],
)
def test_a_leak_shows_with_its_channel_and_place(channel: str, named: str, where: str) -> None:
    with pytest.raises(LeakError, match=where) as caught:
        check_no_leak(Planted(channel), redeal, picture=drawn, episodes=1)
    assert str(caught.value).startswith(f"{named} shows what is hidden at ")
    assert str(caught.value).count(" shows what is hidden at ") == 1
    assert isinstance(caught.value, NainJauneError)
    assert isinstance(caught.value, AssertionError)


def test_several_leaks_are_named_once_each() -> None:
    with pytest.raises(LeakError, match=r"^infos\['odd'\] shows .* views, first to seat_.*\. picture shows .*\.$"):
        check_no_leak(Planted("infos"), redeal, picture=lambda env, agent: env.bit(agent), episodes=1)


def test_a_leak_to_one_seat_alone() -> None:
    with pytest.raises(LeakError, match="first to seat_2 at decision 3 of the episode of seed 7"):
        check_no_leak(Planted("observation", seat=2), redeal, episodes=1, seed=7)


def test_a_leak_late_in_a_round_and_its_episode_again() -> None:
    def message(**arguments: int) -> str:
        with pytest.raises(LeakError) as caught:
            check_no_leak(Planted("mask", after=21), redeal, **arguments)
        return re.search(r"first to seat_\d at decision \d+ of the episode of seed \d, .*", str(caught.value))[0]

    once = message(episodes=6)
    parts = once.split()
    assert int(parts[parts.index("decision") + 1]) > 21
    assert message(episodes=1, seed=int(parts[parts.index("seed") + 1].rstrip(","))) == once


class Proxy:
    """An OpenSpiel state whose views show the other player's card too, where a test says."""

    def __init__(self, state: Any, leaking: str) -> None:
        self.state, self.leaking = state, leaking

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.state, name)
        if name != self.leaking:
            return value
        return lambda player: value(player) + getattr(self.state, f"information_state_{name.split('_')[-1]}")(1 - player)

    def clone(self) -> Proxy:
        return Proxy(self.state.clone(), self.leaking)

    def resample_from_infostate(self, player: int, sampler: Any) -> Proxy:
        return Proxy(self.state.resample_from_infostate(player, sampler), self.leaking)


@pytest.mark.parametrize(
    "channel", ["observation_tensor", "observation_string", "information_state_tensor", "information_state_string"]
)
def test_a_leak_in_an_openspiel_game(channel: str) -> None:
    game = pyspiel.load_game("leduc_poker")
    leaky = SimpleNamespace(
        get_type=game.get_type, num_players=game.num_players, new_initial_state=lambda: Proxy(game.new_initial_state(), channel)
    )
    with pytest.raises(LeakError, match=f"^{channel} shows what is hidden at .* first to player [01] at decision 1 .*[^;]*$"):
        check_no_leak(leaky, episodes=3)


def test_a_leak_in_a_picture_of_a_state() -> None:
    with pytest.raises(LeakError, match=r"^picture shows what is hidden at \d+ of \d+ views, first to player"):
        check_no_leak(pyspiel.load_game("leduc_poker"), picture=lambda state, player: str(state), episodes=3)


# ---------------------------------------------------------------- clean environments


@pytest.mark.parametrize("wrapped", [False, True])
def test_ours_with_a_report_of_it(wrapped: bool) -> None:
    kind = nainjaune_env.env if wrapped else nainjaune_env.raw_env
    env = kind("djeco", 3, ranks=8, suits=2, hand=5, skip_forced=False)
    report = check_no_leak(env, redeal, picture=picture_of(env.unwrapped.setup), episodes=2)
    assert report.seats == ("seat_0", "seat_1", "seat_2")
    assert report.judged == ("observation", "mask", "infos", "infos['action_mask']", "picture")
    assert report.not_judged == {}
    assert str(report) == (
        f"{report.positions} views of the seats seat_0, seat_1, seat_2 were compared, and no leak showed. "
        "Judged: observation, mask, infos, infos['action_mask'], picture."
    )


def test_nothing_of_the_environment_changes_but_by_play() -> None:
    env = Planted("")
    plies = []
    for _ in range(2):
        check_no_leak(env, redeal, episodes=1, seed=3)
        plies.append((env.plies, env._batch.tables[0].tobytes()))
    assert plies[0] == plies[1]


def test_leduc_of_pettingzoo() -> None:
    pytest.importorskip("rlcard")
    leduc = pytest.importorskip("pettingzoo.classic.leduc_holdem_v4")

    def deal_other_card(env: Any, agent: str, rng: np.random.Generator) -> None:
        game = env.unwrapped.env.game
        other = game.players[1 - env.possible_agents.index(agent)]
        unseen = [*game.dealer.deck, other.hand]
        order = rng.permutation(len(unseen))
        *game.dealer.deck, other.hand = (unseen[index] for index in order)

    report = check_no_leak(leduc.env(), deal_other_card)
    assert report.judged == ("observation", "infos")
    assert set(report.not_judged) == {"mask", "picture"}


@pytest.mark.parametrize("text", ["leduc_poker", "kuhn_poker(players=3)"])
def test_poker_of_openspiel(text: str) -> None:
    report = check_no_leak(pyspiel.load_game(text), picture=lambda state, player: state.observation_string(player))
    assert len(report.judged) == 5
    assert set(report.not_judged) == {"legal_actions"}


def test_a_game_with_its_redeal() -> None:
    report = check_no_leak(
        pyspiel.load_game("leduc_poker"), lambda state, player, rng: state.resample_from_infostate(player, rng.random)
    )
    assert len(report.judged) == 4


# ---------------------------------------------------------------- what cannot be judged


UNREACHED = (
    "Dealing again for some seat never changed it for another: it shows nothing hidden, or dealing again does not reach it."
)


def test_a_redeal_that_does_nothing() -> None:
    report = check_no_leak(Planted("observation"), lambda env, agent, rng: None, episodes=2)
    assert report.judged == ("infos",)
    assert report.not_judged == {
        **dict.fromkeys(("observation", "mask", "infos['action_mask']"), UNREACHED),
        "picture": "No `picture` was given.",
    }
    assert str(report).endswith(
        f"Judged: infos.\nNot judged: observation. {UNREACHED}\nNot judged: mask. {UNREACHED}\n"
        f"Not judged: infos['action_mask']. {UNREACHED}\nNot judged: picture. No `picture` was given."
    )


def test_a_redeal_that_works_for_one_seat_alone() -> None:
    def for_the_first(env: Any, agent: str, rng: np.random.Generator) -> None:
        if agent == "seat_0":
            redeal(env, agent, rng)

    report = check_no_leak(Planted("observation", seat=1), for_the_first, episodes=4)
    assert report.not_judged["observation"] == UNREACHED


@pytest.mark.parametrize(
    ("functions", "says"),
    [
        ({"redeal": 5}, r"`redeal` is expected to be a function \(position, seat, rng\), not 5"),
        ({"redeal": lambda env, agent: None}, r"`redeal` is expected to be a function \(position, seat, rng\)"),
        ({"picture": lambda env: 1}, r"`picture` is expected to be a function \(position, seat\)"),
        ({"redeal": lambda env, agent, rng: 3}, "`redeal` is expected to return an environment, or None .*, not 3"),
    ],
)
def test_functions_that_take_or_return_something_else(functions: dict[str, Any], says: str) -> None:
    with pytest.raises(GameError, match=says):
        check_no_leak(Planted(), **{"redeal": redeal, **functions})


def test_infos_that_are_not_brought_up_to_date() -> None:
    class Stale(Planted):
        def bit(self, agent: str) -> int:
            """As it was when the round began."""
            return self._seed % 2 if self._seat_of[agent] else self.plies % 2

    report = check_no_leak(Stale("infos"), redeal, episodes=2)
    assert report.not_judged["infos['odd']"] == UNREACHED
    assert {"observation", "mask", "infos['action_mask']"} <= set(report.judged)


def test_a_channel_that_never_changes_is_judged_by_two_episodes() -> None:
    class Plain(Planted):
        def _refresh(self, at_turn: int) -> None:
            super()._refresh(at_turn)
            self.infos = {agent: {} for agent in self.agents}

    assert "infos" in check_no_leak(Plain(), redeal, episodes=2).judged
    assert check_no_leak(Plain(), redeal, episodes=1).not_judged["infos"] == UNREACHED


def test_an_environment_without_masks() -> None:
    def other_choice(env: Any, agent: str, rng: np.random.Generator) -> None:
        for other in env.agents:
            if other != agent and env.unwrapped.state[other] < 3:
                env.unwrapped.state[other] = int(rng.integers(3))

    report = check_no_leak(rps_v2.env(max_cycles=4), other_choice, episodes=2)
    assert report.judged == ("infos",)
    assert set(report.not_judged) == {"observation", "picture"}


# ---------------------------------------------------------------- bad input


def test_bad_input() -> None:
    class Unseeded(Planted):
        def reset(self) -> None:
            super().reset()

    class Stuck(Planted):
        def observe(self, agent: str) -> Any:
            return {**super().observe(agent), "action_mask": np.zeros(3)}

    locked, dull = Planted(), Planted()
    locked.lock = threading.Lock()
    dull.observe = lambda agent: random.random()
    for error, pattern, env, arguments in [
        (GameError, "Expected a PettingZoo AEC environment or an OpenSpiel game, not 5, without reset", 5, {}),
        (GameError, r"not .*, without observe\(\)\.$", nainjaune_env.parallel_env(), {"redeal": redeal}),
        (GameError, "^An AEC environment needs `redeal`, .* None came", Planted(), {}),
        (GameError, r"^reset\(seed=\.\.\.\) is expected of the environment, not reset\(\)", Unseeded(), {"redeal": redeal}),
        (GameError, "^copy.deepcopy is expected to copy the environment, and raises: cannot pickle", locked, {"redeal": redeal}),
        (
            GameError,
            "^A copy of a position is expected to show what the position does, not another observation",
            dull,
            {"redeal": redeal},
        ),
        (GameError, "^The mask of the agent at turn .*, and that of seat_. shows none", Stuck(), {"redeal": redeal}),
        (GameError, "resample_from_infostate, or `redeal` to be given; it raises", pyspiel.load_game("python_kuhn_poker"), {}),
        (DealError, "The number of episodes is at least 1, not 0", Planted(), {"redeal": redeal, "episodes": 0}),
        (DealError, "A seed is a whole number", Planted(), {"redeal": redeal, "seed": -1}),
    ]:
        with pytest.raises(error, match=pattern):
            check_no_leak(env, **arguments)


@pytest.mark.parametrize(
    ("one", "two", "where"),
    [
        ({"hand": [1, (2, 3)]}, {"hand": [1, (2, 4)]}, "key 'hand': index 1: index 1: 3 and after dealing again 4"),
        ({"a": 1}, {"b": 1}, "{'a': 1} and after dealing again {'b': 1}"),
        ("abc", "abd", "character 2: 'c' and after dealing again 'd'"),
        ("abc", "abcd", "character 3: '' and after dealing again 'd'"),
        (np.zeros((2, 2)), np.eye(2), "index 0: index 0: 0.0 and after dealing again 1.0"),
        (np.array([np.nan, 1]), np.array([np.nan, 1.0], np.float32), ""),
        (np.zeros(2), None, "[0.0, 0.0] and after dealing again None"),
        (None, None, ""),
    ],
)
def test_where_two_views_differ(one: Any, two: Any, where: str) -> None:
    assert difference(one, two) == where
    assert difference(one, one) == ""
