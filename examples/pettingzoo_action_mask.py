"""MaskablePPO of sb3-contrib on any PettingZoo AEC environment with action masks: self-play with right returns.

    python examples/pettingzoo_action_mask.py

PettingZoo's tutorial on action masks with Stable-Baselines3 returns, after each action, the reward of the agent that has acted
and the observation of the agent that acts next. Rewards that come while others act are lost, or go to the wrong agent, so its
returns are not the payoffs in games with more than two agents, or where an agent acts several times in a row. Here an episode is
that of one agent, and a function plays for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

Choose = Callable[[NDArray[Any], NDArray[Any]], int]
"""Returns a legal action for an observation and its action mask."""


class OneAgent(gymnasium.Env[NDArray[Any], np.int64]):
    """A PettingZoo AEC environment as one of its agents sees it: at each reset the next one, in the order of their names.

    Observations are dictionaries with the keys ``observation`` and ``action_mask``, as in PettingZoo's classic games. The rewards
    of an episode sum to what the agent gets in it. An episode that ends before the agent has acted is skipped.
    """

    def __init__(self, env: Any, others: Choose) -> None:
        """``others`` plays for all other agents; it may be set later, to the model that learns, say."""
        self.env = env
        self.others = others
        self.agent = env.possible_agents[-1]
        self.observation_space = env.observation_space(self.agent)["observation"]
        self.action_space = env.action_space(self.agent)
        self._unpaid = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begins an episode and plays on to the agent's first decision."""
        super().reset(seed=seed)
        agents = self.env.possible_agents
        self.agent = agents[(agents.index(self.agent) + 1) % len(agents)]
        while True:
            self.env.reset(seed=seed, options=options)
            observation, reward, over, truncated = self._play_on()
            if not (over or truncated):
                break
            seed = None  # the same seed would end the same way
        self._unpaid = reward  # what came before the first action, such as an ante: a reset returns no reward
        return observation, {}

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Takes the agent's action and plays on to its next decision or the end."""
        self.env.step(int(action))
        observation, reward, over, truncated = self._play_on()
        reward, self._unpaid = reward + self._unpaid, 0.0
        return observation, reward, over, truncated, {}

    def _play_on(self) -> tuple[NDArray[Any], float, bool, bool]:
        """Plays for the others until the agent is selected: for a decision, or to hand out its last reward."""
        while self.env.agent_selection != self.agent:
            seen, _, over, truncated, _ = self.env.last()
            self.env.step(None if over or truncated else self.others(seen["observation"], seen["action_mask"]))
        seen, reward, over, truncated, _ = self.env.last()  # all that the agent was rewarded since its last action
        return seen["observation"], float(reward), over, truncated

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, for MaskablePPO."""
        mask: NDArray[np.bool_] = self.env.observe(self.agent)["action_mask"].astype(np.bool_)
        return mask


def main() -> None:
    """Trains a little and shows what an agent gets from players who play at random."""
    from sb3_contrib import MaskablePPO

    import nainjaune_env

    rng = np.random.default_rng(1)
    at_random: Choose = lambda observation, mask: int(rng.choice(np.flatnonzero(mask)))  # noqa: E731
    env = OneAgent(nainjaune_env.env("djeco", players=3), at_random)
    model = MaskablePPO("MlpPolicy", env, n_steps=512, batch_size=128, gamma=1.0, seed=1, device="cpu")
    env.others = lambda observation, mask: int(model.predict(observation, action_masks=mask)[0])  # self-play
    model.learn(8192)
    env.others = at_random
    payoffs = []
    for seed in range(200):
        observation, _ = env.reset(seed=seed)
        payoffs.append(0.0)
        over = False
        while not over:
            action, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
            observation, reward, over, _, _ = env.step(action)
            payoffs[-1] += reward
    print(f"chips a round against random play: {np.mean(payoffs):+.2f} ± {1.96 * np.std(payoffs) / 200**0.5:.2f}")


if __name__ == "__main__":
    main()
