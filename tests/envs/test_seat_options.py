"""The arguments that the adaptors with a learner share: each adaptor takes them, shows them, and hands them on."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import DealError, KeywordError
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv
from nainjaune_env.envs.seat_options import LearnerEnv, SeatOptions, table_seeds
from nainjaune_env.envs.torchrl_env import SeatTorchEnv

ADAPTORS: list[Any] = [SeatEnv, SeatVectorEnv, SeatVecEnv, SeatTorchEnv]
OPTIONS = [option.name for option in fields(SeatOptions)]

each_adaptor = pytest.mark.parametrize("adaptor", ADAPTORS, ids=lambda adaptor: adaptor.__name__)


def made(adaptor: Any, *words: Any, **settings: Any) -> LearnerEnv:
    """An environment of one table."""
    env: LearnerEnv = adaptor(*words, **settings) if adaptor is SeatEnv else adaptor(1, *words, **settings)
    return env


@each_adaptor
def test_the_signature_names_every_option_with_its_default(adaptor: Any) -> None:
    shown = inspect.signature(adaptor.__init__).parameters
    assert {name: shown[name].default for name in OPTIONS} == vars(SeatOptions())
    assert all(shown[name].kind is inspect.Parameter.KEYWORD_ONLY for name in OPTIONS)
    assert [name for name, one in shown.items() if one.kind is one.VAR_KEYWORD] == ["knobs"]
    positional = [name for name, one in shown.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert positional == ["self", *([] if adaptor is SeatEnv else ["num_envs"]), "preset", "players"]


@each_adaptor
def test_options_and_knobs_reach_the_tables(adaptor: Any) -> None:
    others = ["lowest"] * 4
    env = made(adaptor, "classic", 5, game="nain_jaune", opponents=others, seat=3, episode="match", skip_forced=False, stake=2)
    assert (env.setup.preset, env.setup.players, env.setup.knobs) == ("classic", 5, {"stake": 2})
    assert [agent.name for agent in env.opponents] == others
    assert env.seats.tolist() == [-1]
    env._tables.reset(np.zeros(1, np.int64), [1])
    assert env.seats.tolist() == [3]
    mode = env._tables.batch.options
    assert (bool(mode.whole_match), bool(mode.skip_forced)) == (True, False)
    blind = made(adaptor, illegal_reward=-7.0)
    blind._tables.reset(np.zeros(1, np.int64), [1])
    illegal = np.flatnonzero(~blind._tables.batch.mask[0])[:1]
    assert blind._tables.step(illegal, np.zeros(1, np.int64)).tolist() == [-7.0]


@each_adaptor
def test_start_values_reach_the_tables(adaptor: Any) -> None:
    with pytest.raises(DealError, match="pots"):
        made(adaptor, start={"pots": [1, 2]})
    env = made(adaptor, "djeco", 4, start={"pots": [0, 0, 0, 0, 9]}, seat=0)
    env._tables.reset(np.zeros(1, np.int64), [1])
    assert env._tables.batch.tables["pot"][0].sum() + env._tables.batch.tables["stack"][0].sum() == 4 * 49 + 9


@each_adaptor
def test_an_unknown_argument_is_answered_with_all_arguments_and_knobs(adaptor: Any) -> None:
    valid = f"preset, players, {', '.join(OPTIONS)}, .*direction, decline"
    with pytest.raises(
        KeywordError, match=rf"unexpected keyword argument 'opponent'\. .*Did you mean 'opponents'\? Valid: .*{valid}"
    ):
        made(adaptor, opponent="tally")


@each_adaptor
def test_environments_are_pickled_with_their_options(adaptor: Any) -> None:
    env = pickle.loads(pickle.dumps(made(adaptor, "djeco", 3, opponents="lowest", seat=1, stake=2)))
    assert env.setup.knobs == {"stake": 2}
    assert [agent.name for agent in env.opponents] == ["lowest"]


def test_table_i_has_the_ith_seed() -> None:
    assert table_seeds(5, np.array([0, 3])) == [5, 8]
    assert table_seeds(None, range(2)) == [None, None]
    with pytest.raises(DealError, match="seed"):
        table_seeds("five", range(2))
