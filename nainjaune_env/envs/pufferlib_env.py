"""PufferLib's ``PufferEnv`` over many tables, all in one batch that compiled code steps.

It plays the episodes of ``SeatVecEnv``, as a test checks, alone and in PufferLib's vectorization.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nainjaune_env.core.errors import IllegalActionError, MissingLibraryError
from nainjaune_env.core.validation import as_array
from nainjaune_env.envs.reset_options import seed_number
from nainjaune_env.envs.seat_options import LearnerEnv, table_seeds, takes_seat_options

try:
    from pufferlib import PufferEnv
except ModuleNotFoundError as error:
    then = "PufferLib itself, without the versions that it pins, as docs/adaptors/pufferlib.md shows"
    raise MissingLibraryError("The PufferLib adaptor", error.name or "pufferlib", "pufferlib", then) from error

Info = dict[str, list[float]]


class SeatPufferEnv(LearnerEnv, PufferEnv):  # type: ignore[misc]
    """B tables, each seen from one seat, as a native environment of PufferLib with B agents.

    ================  ======================  ================================================================
    buffer            shape, dtype            meaning
    ================  ======================  ================================================================
    observations      (B, size + A) uint8     what the learner observes, and then its legal actions, 1 = legal
    rewards           (B,) float32            what the learner has gained since its last action
    terminals         (B,) bool               whether the last action has ended the episode
    truncations       (B,) bool               False: no episode is ever truncated
    masks             (B,) bool               True: at every table an agent acts
    ================  ======================  ================================================================

    The buffers are PufferLib's: new ones, or those in ``buf``; ``reset`` and ``step`` write them in place and return
    them. **Legal actions** are part of the observation, because PufferLib has no place of their own for them: ``mask_slice`` are
    their columns, and ``layout_slice`` those that ``setup.layout`` names. A policy that sets the logits of illegal actions to
    minus infinity never draws one. An illegal action raises :class:`IllegalActionError`, and nothing has changed; with
    ``illegal_reward`` it ends the episode with that reward.

    Where an episode ends the next one begins in the same step: observation and mask are the new episode's, reward and terminal
    those of the end. Each step returns one info with the payoffs of the episodes that have ended, in the game's unit, as the list
    ``"episode_return"``, if there are any.

    **Self-play**, ``opponents="self"``: every decision is the learner's, and observation, mask and reward belong to the seat
    to act (see ``SeatEnv``). ``seats`` says which that is; ``acted (B,) int64`` and ``seat_rewards (B, n) float32`` are the
    seats that took the last actions and what the last step credits each seat with. There are no infos.

    The seed s seeds table i with ``s * B + i``, as PufferLib's own environments do: its vectorization gives k environments the
    seeds s to s + k - 1, and they play the games of one with k * B tables.
    """

    @takes_seat_options
    def __init__(
        self,
        num_envs: int = 1,
        preset: str | None = None,
        players: int | None = None,
        *,
        reward_scale: float = 1.0,
        buf: dict[str, NDArray[Any]] | None = None,
        seed: int | None = None,
        **settings: Any,
    ) -> None:
        """Takes the arguments of ``SeatEnv`` and raises its errors.

        ``num_envs`` is the number of tables. Rewards are multiplied by ``reward_scale``: ``PuffeRL`` clips them to [-1, 1].
        ``buf`` has the arrays of PufferLib's vectorization. ``seed`` is that of the first reset, where ``reset`` gives none;
        None: the operating system seeds the tables.
        """
        self._make_tables(SeatPufferEnv, num_envs, preset, players, settings)
        size, actions = self.setup.layout.size, len(self.setup.game.actions)
        self.layout_slice, self.mask_slice = slice(0, size), slice(size, size + actions)
        high = np.append(self.setup.layout.high, np.ones(actions, np.uint8))
        self.single_observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
        self.single_action_space = spaces.Discrete(actions)
        self.num_agents = num_envs
        self.acted = np.full(num_envs, -1)
        """The seats that took the last actions, ``(B,)``; -1 before the first."""
        self.seat_rewards = np.zeros((num_envs, self.setup.players), np.float32)
        """What the last step credits each seat with, ``(B, n)``, in the game's unit: see ``LearnerTables.rewards``."""
        self._returns = np.zeros(num_envs)
        """What the learner has gained in the episode so far."""
        self._scale = reward_scale
        self._seed = seed_number(seed)
        super().__init__(buf)

    @property
    def action_mask(self) -> NDArray[np.uint8]:
        """The legal actions, ``(B, A)``, 1 = legal: a view of the observations."""
        mask: NDArray[np.uint8] = self.observations[:, self.mask_slice]
        return mask

    def reset(self, seed: int | None = None) -> tuple[NDArray[np.uint8], list[Info]]:
        """Begins an episode at every table; returns the observations and no infos.

        Without a seed the tables' generators continue, the first time from the constructor's seed. Raises :class:`DealError`.
        """
        first, self._seed = self._seed if seed is None else seed_number(seed), None
        self._tables.reset(self._all, table_seeds(None if first is None else first * self._all.size, self._all))
        self._returns[:] = self.rewards[:] = self.terminals[:] = self.truncations[:] = 0
        self._observe()
        return self.observations, []

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], list[Info]]:
        """Takes an action ``(B,)`` at each table and plays on to its next decision; returns the buffers and the infos.

        Raises :class:`IllegalActionError`; then nothing has changed.
        """
        tables, over = self._tables, self._tables.batch.done
        given = as_array("Expected one whole number a table, not", actions, IllegalActionError)
        if given.shape != self._all.shape:
            raise IllegalActionError(f"Expected one action a table, shape {self._all.shape}, not {given.shape}.")
        before = self.seats
        gained = tables.step(given, self._all)
        self.acted, self._returns = before, self._returns + gained
        np.multiply(gained, self._scale, out=self.rewards, casting="same_kind")
        self.seat_rewards[:] = tables.rewards
        self.terminals[:] = over
        infos: list[Info] = []
        ended = np.flatnonzero(over)
        if ended.size:
            if not tables.self_play:
                infos.append({"episode_return": self._returns[ended].tolist()})
            self._returns[ended] = 0
            tables.reset(ended)
        self._observe()
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def _observe(self) -> None:
        """Writes observations and legal actions into PufferLib's buffer."""
        self.observations[:, self.layout_slice] = self._tables.batch.observation
        self.observations[:, self.mask_slice] = self._tables.batch.mask

    def close(self) -> None:
        """Does nothing: there is nothing to close."""
