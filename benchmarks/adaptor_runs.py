"""The cases of ``adaptors.py``: random legal play through each adaptor, one thread. ``worker.py`` runs them.

Actions are chosen as in ``peers.py``: by a compiled loop where many tables are stepped at once, else from the mask in Python.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
from ours import batch_run
from peers import STEPS, Run, agent_iteration, calls_of

import nainjaune_env
from nainjaune_env import make_setup
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.compiled import loops_of

BATCH = "Batch"
"""The case that the others are compared with: 4,096 tables, decisions, with observation and mask."""


def many(env: Any, step: Callable[[Any], object], tables: int) -> Run:
    """Returns the runner of a vector environment whose ``step`` takes an action a table."""
    env.reset()
    choose, random_streams = loops_of(env.setup).choose_uniform, streams(1, tables)
    legal, actions, calls = env._tables.batch.legal, np.zeros(tables, np.int64), calls_of(16 * tables)

    def run() -> int:
        for _ in range(calls):
            choose(legal, random_streams, actions)
            step(actions)
        return calls * tables

    return run


def vector(case: dict[str, Any]) -> Run:
    """Gymnasium's vector environment."""
    tables, rules = case["tables"], {"preset": case["preset"], "players": case["players"]}
    env: Any = gymnasium.make_vec("NainJaune-v0", num_envs=tables, opponents=case["opponents"], **rules).unwrapped
    return many(env, env.step, tables)


def stable_baselines(case: dict[str, Any]) -> Run:
    """Stable-Baselines3's vector environment."""
    from nainjaune_env.envs.sb3_vec_env import SeatVecEnv

    env = SeatVecEnv(case["tables"], case["preset"], case["players"], opponents=case["opponents"])
    return many(env, env.step, case["tables"])


def torchrl(case: dict[str, Any]) -> Run:
    """TorchRL's environment: ``step_and_maybe_reset``, as its collectors call it."""
    import torch

    from nainjaune_env.envs.torchrl_env import SeatTorchEnv

    torch.set_num_threads(1)
    env = SeatTorchEnv(case["tables"], case["preset"], case["players"], opponents=case["opponents"])
    now = env.reset()

    def step(actions: Any) -> None:
        nonlocal now
        now["action"] = torch.from_numpy(actions)
        _, now = env.step_and_maybe_reset(now)

    return many(env, step, case["tables"])


def single(case: dict[str, Any]) -> Run:
    """Gymnasium's environment, reset where an episode ends."""
    env = gymnasium.make("NainJaune-v0", preset=case["preset"], players=case["players"], opponents=case["opponents"])
    choose = random.Random(0).choice
    _, info = env.reset(seed=0)

    def run() -> int:
        nonlocal info
        for _ in range(STEPS):
            _, _, over, _, info = env.step(choose(info["action_mask"].nonzero()[0].tolist()))
            if over:
                _, info = env.reset()
        return STEPS

    return run


def in_turns(case: dict[str, Any]) -> Run:
    """PettingZoo's AEC environment: ``last`` and ``step``."""
    return agent_iteration(nainjaune_env.env(preset=case["preset"], players=case["players"]))


def parallel(case: dict[str, Any]) -> Run:
    """PettingZoo's parallel environment."""
    env: Any = pettingzoo.make("parallel", "nainjaune/nain_jaune-v0", preset=case["preset"], players=case["players"])
    choose = random.Random(0).choice
    seen, _ = env.reset(seed=0)

    def run() -> int:
        nonlocal seen
        for _ in range(STEPS):
            if not env.agents:
                seen, _ = env.reset()
            actions = {agent: choose(one["action_mask"].nonzero()[0].tolist()) for agent, one in seen.items()}
            seen = env.step(actions)[0]
        return STEPS

    return run


def open_spiel_states(name: str, *, tensors: bool = False) -> Run:
    """States of an OpenSpiel game: legal actions, a choice, the action; chance moves are made and not counted.

    With ``tensors`` each decision also reads what the player observes.
    """
    import pyspiel

    game = pyspiel.load_game(name)
    choose = random.Random(0).choice
    state = game.new_initial_state()

    def run() -> int:
        nonlocal state
        made = 0
        while made < STEPS:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                state.apply_action(choose(state.legal_actions()))
            else:
                if tensors:
                    state.observation_tensor()
                state.apply_action(choose(state.legal_actions()))
                made += 1
        return made

    return run


def open_spiel(case: dict[str, Any], *, tensors: bool = False) -> Run:
    """Our OpenSpiel state, dealt card by card."""
    import nainjaune_env.envs.open_spiel  # noqa: F401  (it registers the game)

    return open_spiel_states(f"python_nain_jaune(preset={case['preset']},players={case['players']})", tensors=tensors)


def kuhn_poker(case: dict[str, Any], *, tensors: bool = False) -> Run:
    """OpenSpiel's game in Python."""
    import open_spiel.python.games  # noqa: F401  (it registers the game)

    return open_spiel_states("python_kuhn_poker", tensors=tensors)


def liars_poker(case: dict[str, Any]) -> Run:
    """OpenSpiel's game in Python."""
    import open_spiel.python.games  # noqa: F401  (it registers the game)

    return open_spiel_states("python_liars_poker")


def batch(case: dict[str, Any]) -> Run:
    """The rate that all others are divided by."""
    return batch_run(make_setup(None, case["preset"], case["players"]), "decisions+observation", case["tables"], 0)


MAKERS: dict[str, Callable[[dict[str, Any]], Run]] = {
    BATCH: batch,
    "`gymnasium.make_vec`": vector,
    "Stable-Baselines3 `SeatVecEnv`": stable_baselines,
    "TorchRL `SeatTorchEnv`": torchrl,
    "`gymnasium.make`": single,
    "PettingZoo AEC, `last` and `step`": in_turns,
    "PettingZoo parallel": parallel,
    "OpenSpiel state": open_spiel,
    "OpenSpiel state, `observation_tensor`": partial(open_spiel, tensors=True),
    "OpenSpiel's own `python_kuhn_poker`": kuhn_poker,
    "OpenSpiel's own `python_kuhn_poker`, `observation_tensor`": partial(kuhn_poker, tensors=True),
    "OpenSpiel's own `python_liars_poker`": liars_poker,
}
"""Name -> what makes the runner."""


def make(case: dict[str, Any]) -> Run:
    """Returns the runner of a case."""
    return MAKERS[case["name"]](case)
