"""The same records through every adaptor: equal seeds and a policy that looks at nothing but the observation.

Stable-Baselines3's ``VecEnv`` and the vector environment with autoreset are held, step by step, against the single one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nainjaune_env
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.envs import open_spiel
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
from nainjaune_env.records.record import Record, verify_record
from nainjaune_env.records.recorder import Recorder

Settings = Mapping[str, Any]
RULES: dict[str, Settings] = {
    "djeco": {"preset": "djeco", "players": 4},
    "silent plays": {"preset": "classic", "players": 3, "announce": "explicit", "unannounced": 1},
    "skip": {"preset": "skip", "players": 3, "stake": 2},
    "glimpse": {"preset": "batasaurus", "players": 3},
    "perfect": {"preset": "batasaurus", "players": 2, "memory": "perfect", "exhausted": "void"},
}


def choose(observation: NDArray[np.uint8], legal: list[int]) -> int:
    """One of the legal actions, by what is seen."""
    return legal[zlib.crc32(observation.tobytes()) % len(legal)]


class Looker:
    """The policy as an agent."""

    name = "looker"

    def act(self, decisions: DecisionBatch, rng: Any) -> NDArray[np.int64]:
        return np.array(
            [choose(seen, legal_actions(int(word))) for seen, word in zip(decisions.observation, decisions.legal, strict=True)]
        )


def setup_of(settings: Settings) -> Any:
    knobs = dict(settings)
    return make_setup(None, knobs.pop("preset"), knobs.pop("players"), **knobs)


def by_batch(settings: Settings, seed: int) -> Record:
    batch = Batch(setup_of(settings), 1, seed=seed, autoreset=False, log=True)
    table_rng = np.random.default_rng(int(opening_of(settings, seed)["rng"]))
    recorder = Recorder(batch, ["looker"] * batch.num_players, rng=table_rng, seed=seed)
    while True:
        batch.step([choose(batch.observation[0], legal_actions(int(batch.legal[0])))])
        for _, record in recorder.stepped():
            return record


def opening_of(settings: Settings, seed: int) -> Any:
    """The table as it is dealt, whose generator draws which of like cards are shown."""
    return Batch(setup_of(settings), 1, seed=seed, skip_forced=False, autoreset=False).tables[0].copy()


def by_aec(settings: Settings, seed: int) -> Record:
    env = nainjaune_env.env(**settings)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        seen, _, over, _, info = env.last()
        env.step(None if over else choose(seen["observation"], np.flatnonzero(info["action_mask"]).tolist()))
        assert agent in env.possible_agents
    record: Record = env.unwrapped.record()
    return record


def by_parallel(settings: Settings, seed: int) -> Record:
    env = nainjaune_env.parallel_env(**settings)
    seen, _ = env.reset(seed=seed)
    while env.agents:
        legal = {agent: np.flatnonzero(seen[agent]["action_mask"]).tolist() for agent in env.agents}
        seen, *_ = env.step({agent: choose(seen[agent]["observation"], legal[agent]) for agent in env.agents})
    record: Record = env.unwrapped.record()
    return record


def by_gymnasium(settings: Settings, seed: int) -> Record:
    env = SeatEnv(**settings, opponents=Looker(), seat=1)
    seen, info = env.reset(seed=seed)
    over = False
    while not over:
        seen, _, over, _, info = env.step(choose(seen, np.flatnonzero(info["action_mask"]).tolist()))
    return env.record()


def by_vector(settings: Settings, seed: int) -> Record:
    envs = SeatVectorEnv(3, **settings, opponents=Looker(), seat=0, autoreset_mode="Disabled", render_mode="ansi")
    seen, infos = envs.reset(seed=[seed + 1, seed, seed + 2])
    waiting = np.ones(3, bool)
    while waiting.any():
        rows = zip(seen, infos["action_mask"], strict=True)
        actions = np.array([choose(row, np.flatnonzero(mask).tolist()) for row, mask in rows])
        seen, _, ended, _, infos = envs.step(actions)
        if ended[1]:
            return envs._tables.record(1, "learner", seed)
        if ended.any():  # who is done begins again, so that the step goes on for the others
            seen, infos = envs.reset(options={"reset_mask": ended})
            infos["action_mask"] = envs.action_masks()
    raise AssertionError


def by_open_spiel(settings: Settings, seed: int) -> Record:
    setup = setup_of(settings)
    named = {key: value for key, value in settings.items() if key not in ("preset", "players")}
    words = ",".join(f"{key}={value}" for key, value in {"preset": setup.preset, "players": setup.players, **named}.items())
    game = open_spiel.load_game(f"python_{setup.game.name}({words})")
    state = game.seeded_state(seed)
    while not state.is_terminal():
        seen = state.seen()[0][-1, state.current_player()]
        state.apply_action(choose(seen, state.legal_actions()))
    record: Record = state.record()
    return record


ADAPTORS: dict[str, Callable[[Settings, int], Record]] = {
    "PettingZoo": by_aec,
    "PettingZoo, parallel": by_parallel,
    "Gymnasium": by_gymnasium,
    "Gymnasium, vector": by_vector,
    "OpenSpiel": by_open_spiel,
}


@pytest.mark.parametrize("settings", RULES.values(), ids=RULES)
@pytest.mark.parametrize("adaptor", ADAPTORS)
def test_the_same_records(adaptor: str, settings: Settings) -> None:
    for seed in range(40, 44):
        expected = dict(by_batch(settings, seed))
        record = dict(ADAPTORS[adaptor](settings, seed))
        verify_record(record)
        for kept in (record, expected):
            kept.pop("agents")
        assert record == expected


def test_the_policy_plays_different_games() -> None:
    """Or the test above would hold for any policy."""
    records = [by_batch(RULES["djeco"], seed) for seed in range(6)]
    assert len({str(record) for record in records}) == 6
