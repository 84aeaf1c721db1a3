"""TorchRL over PettingZoo's and Gymnasium's environments, without an adaptor of ours: its checks, and the masks."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from tensordict import TensorDictBase
from tensordict.nn import TensorDictModule
from torchrl.data import Binary
from torchrl.envs import ActionMask, Compose, GymEnv, GymWrapper, TransformedEnv, UnaryTransform
from torchrl.envs.gym_like import default_info_dict_reader
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical

import nainjaune_env
from nainjaune_env import game_names, get_game
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.envs.registration import environment_id
from tests.support.contract import payoffs

# TorchRL warns of every PettingZoo but 1.24.3
pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version:UserWarning")

PRESETS = [(game, preset) for game in game_names() for preset in get_game(game).presets]
every_preset = pytest.mark.parametrize(("game", "preset"), PRESETS)


def wrapped(env: Any, **settings: Any) -> Any:
    return PettingZooWrapper(env, use_mask=True, **settings)


def rollout_of(env: Any, seed: int, policy: Any = None) -> TensorDictBase:
    """A whole episode. TorchRL's ``rollout`` would reset once more, without the seed."""
    played = env.rollout(2000, policy, auto_reset=False, tensordict=env.reset(seed=seed))
    assert played["next", "done"][-1]
    return played


@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize("adaptor", ["env", "parallel_env"])
@every_preset
def test_check_env_specs(game: str, preset: str, adaptor: str, state: bool) -> None:
    check_env_specs(wrapped(getattr(nainjaune_env, adaptor)(preset, game=game), return_state=state), seed=1)


def draw(mask: torch.Tensor) -> torch.Tensor:
    """As likely whatever is legal, for every seat."""
    drawn: torch.Tensor = MaskedCategorical(logits=torch.zeros(mask.shape), mask=mask).sample()
    return drawn


@every_preset
def test_a_masked_distribution_is_always_legal_and_plays_the_games_of_the_seed(game: str, preset: str) -> None:
    inner = nainjaune_env.parallel_env(preset, game=game)
    env = wrapped(inner)
    policy = TensorDictModule(draw, in_keys=[("seat", "action_mask")], out_keys=[("seat", "action")])
    torch.manual_seed(1)
    played = rollout_of(env, 8, policy)  # an illegal action would be refused
    record = inner.unwrapped.record()
    assert record["seed"] == 8
    again = nainjaune_env.parallel_env(preset, game=game)
    again.reset(seed=8)
    for row in played["seat", "action"].tolist():
        again.step(dict(zip(again.agents, row, strict=True)))
    assert again.unwrapped.record() == record
    returns = played["next", "seat", "reward"].sum(0).squeeze(-1)
    assert returns.tolist() == payoffs(again.unwrapped._batch)


def test_an_illegal_action_is_refused_through_torchrl_too() -> None:
    env = wrapped(nainjaune_env.parallel_env())
    begun = env.reset(seed=1)
    begun["seat", "action"] = torch.zeros(4, dtype=torch.int64)
    with pytest.raises(IllegalActionError):
        env.step(begun)


# ---------------------------------------------------------------- one seat, through Gymnasium's interface


def legal(mask: torch.Tensor) -> torch.Tensor:
    """Gymnasium's mask as booleans; all true after the end, where TorchRL's check draws an action too."""
    return mask.bool() | ~mask.bool().any(-1, keepdim=True)


def masked(inner: Any) -> Any:
    """With the mask that the Gymnasium environment has in its infos, as TorchRL's ``ActionMask`` reads it."""
    env = GymWrapper(inner, categorical_action_encoding=True)
    mask = Binary(int(inner.action_space.n), dtype=torch.int8)
    env.set_info_dict_reader(default_info_dict_reader(["action_mask"], spec={"action_mask": mask}))
    return TransformedEnv(env, Compose(UnaryTransform(["action_mask"], ["action_mask"], fn=legal), ActionMask()))


@pytest.mark.parametrize("game", game_names())
def test_gymnasium_with_action_mask(game: str) -> None:
    env, again = masked(gymnasium.make(environment_id(game))), gymnasium.make(environment_id(game))
    for seed in range(20):  # with some of them a round is over at once
        check_env_specs(env, seed=seed)
    played = rollout_of(env, seed=4)
    observation, info = again.reset(seed=4)
    for row in played:
        assert row["action_mask"].tolist() == info["action_mask"].astype(bool).tolist()
        assert row["action_mask"][row["action"]]
        np.testing.assert_array_equal(row["observation"], observation)
        observation, reward, terminated, _, info = again.step(int(row["action"]))
        assert (float(row["next", "reward"]), bool(row["next", "done"])) == (reward, terminated)
    assert terminated


def test_gymnasium_without_a_reader_of_infos_plays_illegal_actions() -> None:
    """TorchRL looks at no info by itself, so its mask is all true: it is refused, not repaired."""
    env = GymWrapper(gymnasium.make(environment_id(game_names()[0])), categorical_action_encoding=True)
    with pytest.raises(IllegalActionError):
        env.rollout(100, break_when_any_done=False)


def test_an_environment_is_made_by_its_name() -> None:
    """TorchRL passes an argument of Atari's, and leaves it out after a ``TypeError`` that names it."""
    for game in game_names():
        env = GymEnv(environment_id(game), categorical_action_encoding=True, seat=0)
        assert env.reset(seed=3)["observation"].tolist() == gymnasium.make(environment_id(game), seat=0).reset(seed=3)[0].tolist()
