"""Adaptors for MaskablePPO of sb3-contrib: our network as its policy, self-play, duplicate play as its evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nainjaune_env.agent import Agent
from nainjaune_env.agent_adapters import ModelAgent
from nainjaune_env.core.errors import ConfigError, MissingLibraryError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from ..measure.edges import Edge, FieldAlone
from ..measure.own_game import OwnGame
from ..players.loading import load_agent
from ..players.networks.arch import make_net
from ..players.networks.policy_value import PolicyValueNet
from ..players.program.settings import BotSettings
from .base import eval_seed
from .self_play import seat_advantages

try:
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
except ModuleNotFoundError as error:
    raise MissingLibraryError("Training with MaskablePPO", "sb3_contrib", "sb3") from error


class NetPolicy(MaskableActorCriticPolicy):
    """A policy for MaskablePPO with the parameters of ``net``, a :class:`PolicyValueNet`.

    ``policy_kwargs`` are ``layout`` and ``arch``, the network as data. The value is in the unit of the rewards.
    """

    net: PolicyValueNet

    def __init__(self, *args: Any, layout: Layout, arch: Mapping[str, Any], **settings: Any) -> None:
        self._layout = layout
        self._arch = arch
        super().__init__(*args, **settings)

    def _build(self, lr_schedule: Any) -> None:
        # as the base class does with its own layers; MaskablePPO has just seeded torch's generator
        actions = self.action_dist.action_dim  # type: ignore[attr-defined]
        self.net = make_net(self._arch, self._layout, actions, torch.default_generator)
        self.mlp_extractor: Any = SharedBody(self.net)
        self.action_net: Any = self.net.policy
        self.value_net: Any = self.net.value
        self.optimizer = self.optimizer_class(self.net.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "layout": self._layout, "arch": self._arch}


class SharedBody(nn.Module):
    """A network's body, in place of Stable-Baselines3's two: one for the policy and one for the value."""

    def __init__(self, net: PolicyValueNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the features ``(K, width)`` of ``observation (K, size)``, for policy and value."""
        features, _ = self.net.trunk(observation)
        return features, features

    def forward_actor(self, observation: Tensor) -> Tensor:
        """Returns the features for the policy."""
        return self.net.trunk(observation)[0]

    def forward_critic(self, observation: Tensor) -> Tensor:
        """Returns the features for the value."""
        return self.net.trunk(observation)[0]


class RewardUnit(VecEnvWrapper):
    """Divides rewards by ``unit`` (in chips, cards), so that values and their losses are of the order of 1 in every game."""

    def __init__(self, venv: VecEnv, unit: float) -> None:
        super().__init__(venv)
        self.unit = unit

    def reset(self) -> Any:
        """Resets the wrapped environment."""
        return self.venv.reset()

    def step_wait(self) -> tuple[Any, NDArray[Any], NDArray[Any], list[dict[str, Any]]]:
        """Steps the wrapped environment, and divides the rewards."""
        observation, rewards, dones, infos = self.venv.step_wait()
        return observation, rewards / np.float32(self.unit), dones, infos

    @property
    def rewards(self) -> NDArray[np.float32]:
        """What the last step credits each seat with, ``(B, n)``, divided as the rewards are."""
        credited: NDArray[np.float32] = self.venv.rewards / np.float32(self.unit)  # type: ignore[attr-defined]
        return credited


class SelfPlayBuffer(MaskableRolloutBuffer):
    """A rollout buffer for ``SeatVecEnv(opponents="self")``, with which MaskablePPO learns from the decisions of every seat.

    A decision's advantage follows the later decisions of its own seat (``seat_advantages``). SB3's own buffer would take the next
    row of the table for them, which is another seat's. ::

        model = MaskablePPO(
            "MlpPolicy", venv, rollout_buffer_class=SelfPlayBuffer, rollout_buffer_kwargs={"venv": venv}, gamma=1.0
        )

    The last decisions of seats whose episodes go on after the rollout have no advantage, and are not sampled.
    """

    def __init__(self, *args: Any, venv: Any, **settings: Any) -> None:
        """``venv`` is the environment of the model, with its wrappers if they scale rewards (:class:`RewardUnit`)."""
        self._venv = venv
        self._players = venv.rewards.shape[1]
        super().__init__(*args, **settings)

    def reset(self) -> None:
        """Discards all rows."""
        super().reset()
        self.seats = np.zeros((self.buffer_size, self.n_envs), np.int64)
        self.seat_rewards = np.zeros((self.buffer_size, self.n_envs, self._players), np.float32)
        self.sampled = np.zeros((self.buffer_size, self.n_envs), np.bool_)

    def add(self, *args: Any, **settings: Any) -> None:
        """Adds a row, with the seats that have just acted and what the step credits every seat with."""
        self.seats[self.pos], self.seat_rewards[self.pos] = self._venv.acted, self._venv.rewards
        super().add(*args, **settings)

    def compute_returns_and_advantage(self, last_values: Tensor, dones: NDArray[Any]) -> None:
        """Computes the advantages along the decisions of each seat, and from them the returns."""
        self.advantages, self.sampled = seat_advantages(
            self.seats, self.seat_rewards, self.values, np.concatenate([self.episode_starts[1:], dones[None]]).astype(np.bool_),
            self._venv.seats, last_values.cpu().numpy().ravel(), gamma=self.gamma, lam=self.gae_lambda,
        )  # fmt: skip
        self.returns = self.advantages + self.values

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:  # type: ignore[override]
        """Yields the sampled rows in random order, in minibatches of at most ``batch_size`` that are as equal as possible.

        Raises :class:`~nainjaune_env.core.errors.ConfigError` for a rollout in which no seat decided twice.
        """
        if not self.generator_ready:
            for name in ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks", "sampled"):
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        rows = np.random.permutation(np.flatnonzero(self.sampled))  # noqa: NPY002  (SB3 draws from it, and seeds it)
        if not rows.size:
            raise ConfigError(f"No seat decided twice within {self.buffer_size} decisions of its table: set 'n_steps' higher.")
        for part in np.array_split(rows, -(-rows.size // (batch_size or rows.size))):
            yield self._get_samples(part)


class DuplicateEvalCallback(BaseCallback):
    """Measures the model's edge over the field of an agent by duplicate play: ``eval/edge``, ``eval/ci95``.

    Masks come from the tables. An illegal action raises :class:`~nainjaune_env.core.errors.AgentError`, so an
    evaluation without masks does not go unnoticed. It plays the deals of our own trainers' evaluations, the same every time.
    """

    def __init__(self, setup: Setup, against: str, *, every: int = 1, deals: int = 1000, bots: BotSettings | None = None) -> None:
        """``every``: updates between evaluations; the end of ``learn`` has one in any case.

        ``bots`` says how a bot is asked (None: as by default).

        Raises what ``load_agent`` raises for the name ``against``.
        """
        super().__init__()
        self.setup = setup
        self.every = every
        self.deals = deals
        self._field: Agent = load_agent(against, setup, bots=bots)
        self._alone: FieldAlone[Agent] | None = None
        self._rollouts = 0

    def measure(self) -> Edge:
        """Returns the present edge, and logs it."""
        if self._alone is None:
            self._alone = FieldAlone(OwnGame(self.setup, eval_seed(self.model.seed or 0)), self._field, self.deals)
        edge = self._alone.edge(ModelAgent(self.model, "model"))
        self.logger.record("eval/edge", edge.mean)
        self.logger.record("eval/ci95", edge.ci95)
        return edge

    def _on_rollout_start(self) -> None:
        if self._rollouts and self._rollouts % self.every == 0:
            self.measure()
        self._rollouts += 1

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self.measure()
        self.logger.dump(self.num_timesteps)
