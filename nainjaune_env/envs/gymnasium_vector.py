"""Gymnasium's ``VectorEnv`` over many tables, all in one batch that compiled code steps: ``gymnasium.make_vec("NainJaune-v0")``.

It returns what a ``SyncVectorEnv`` of ``SeatEnv`` returns for the same seeds, as a test checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, IllegalActionError, RulesError, quoted, unknown_name_message
from nainjaune_env.core.validation import as_array, check_name
from nainjaune_env.envs.reset_options import OPTIONS, check_options, options_of, seed_number
from nainjaune_env.envs.seat_options import LearnerEnv, table_seeds, takes_seat_options
from nainjaune_env.envs.spaces import LegalMultiDiscrete, observation_space
from nainjaune_env.render.renderer import FPS, MODES, Renderer, installed_modes

Info = dict[str, Any]

VECTOR_MODES = tuple(mode for mode in MODES if mode != "human")
"""Without ``human``: a window shows a single table."""

PER_TABLE = ("action_masks", "opponents", "render", "render_mode", "setup")
"""What ``call`` can return for each table."""


class SeatVectorEnv(LearnerEnv, VectorEnv[NDArray[np.uint8], NDArray[np.int64], NDArray[Any]]):
    """B tables, each seen from one seat, with the observations, actions and rewards of ``SeatEnv``.

    ``infos["action_mask"]`` is ``(B, A) int8`` and ``infos["seat"]`` is ``(B,)``; ``infos["_action_mask"]`` and
    ``infos["_seat"]`` are the tables they are valid for, as is Gymnasium's convention. In self-play (``opponents="self"``)
    ``infos["rewards"]`` is ``(B, n)``, and with ``SAME_STEP`` what an end credits is in ``infos["final_info"]``.
    ``action_space.sample()`` draws legal actions.

    **Autoreset** (``autoreset_mode``): with ``NEXT_STEP`` the step after an end ignores its action and returns a new episode;
    with ``SAME_STEP`` the step of the end returns the new episode, and the end in ``infos["final_obs"]`` and
    ``infos["final_info"]``; with ``DISABLED``, ``reset(options={"reset_mask": (B,) bool})`` begins new episodes, and a step of
    a finished one raises :class:`IllegalActionError`. Infos of a reset are those of its tables alone; :meth:`action_masks` has
    the masks of all.
    """

    metadata: dict[str, Any] = {"render_modes": list(VECTOR_MODES), "render_fps": FPS}  # noqa: RUF012  (Gymnasium declares it so)

    @takes_seat_options
    def __init__(
        self,
        num_envs: int = 1,
        preset: str | None = None,
        players: int | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        language: str = "en",
        **settings: Any,
    ) -> None:
        """Takes the arguments of ``SeatEnv``; raises its errors, and :class:`RulesError` for an unknown ``autoreset_mode``."""
        self._make_tables(SeatVectorEnv, num_envs, preset, players, settings, record=render_mode is not None)
        known = {mode.value: mode for mode in AutoresetMode}
        mode = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        if mode not in known:
            raise RulesError(unknown_name_message("autoreset mode", mode, known))
        self.autoreset_mode = known[mode]
        if render_mode is not None:
            check_name("render mode", render_mode, VECTOR_MODES)
        self.render_mode = render_mode
        self._renderer = Renderer(self.setup, render_mode, language=language)
        modes = [name for name in VECTOR_MODES if name in installed_modes(self.setup.game)]
        self.metadata = {**self.metadata, "render_modes": modes, "autoreset_mode": self.autoreset_mode}
        self.num_envs = num_envs
        self._over = np.zeros(num_envs, np.bool_)
        """Tables whose episode has ended and where no new one has begun."""
        self._last_seeds = [-1] * num_envs
        self._mask = np.zeros((num_envs, len(self.setup.game.actions)), np.int8)
        self.single_observation_space = observation_space(self.setup.layout)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = spaces.Discrete(len(self.setup.game.actions))
        self.action_space = LegalMultiDiscrete(self._mask)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], Info]:
        """Begins episodes at all tables, or at those that ``options["reset_mask"]`` marks.

        The number s as ``seed`` seeds table i with s + i; a list has one seed per table. Raises :class:`DealError` for a seed or
        options that do not fit.
        """
        rest = options_of(options)
        check_options(rest, (*OPTIONS, "reset_mask"))
        which = self._chosen(rest.pop("reset_mask", None))
        seeds = self._seeds(seed)
        self._tables.reset(which, [seeds[i] for i in which], rest)
        if seed is not None:  # else there is nothing to note, and a reset may follow every step
            for i in which:
                self._last_seeds[i] = seeds[i] if seeds[i] is not None else self._last_seeds[i]
        self._over[which] = False
        return self._tables.batch.observation.copy(), self._infos(which)

    def _chosen(self, mask: Any) -> NDArray[np.int64]:
        if mask is None:
            return self._all
        wanted = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not wanted or not mask.any():
            raise DealError(
                f"'reset_mask' is a bool array of shape ({self.num_envs},) with at least one True, not {quoted(mask)}."
            )
        return np.flatnonzero(mask)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None or not isinstance(seed, Sequence | np.ndarray):
            return table_seeds(seed, self._all)
        if len(seed) != self.num_envs:
            raise DealError(f"Seeds are one number, or one for each of {self.num_envs} tables, not {len(seed)}.")
        return [seed_number(one) for one in seed]

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Info]:
        """Takes the learners' actions ``(B,)`` and plays every table on to its next decision or the end.

        Raises :class:`IllegalActionError` for an illegal action without ``illegal_reward``, for another shape or dtype, and with
        ``DISABLED`` where an episode is over; then nothing has changed.
        """
        given = as_array("Expected one action a table, not", actions, IllegalActionError)
        if given.shape != (self.num_envs,):
            raise IllegalActionError(f"Expected one action a table, shape ({self.num_envs},), not {given.shape}.")
        infos: Info = {}
        begin = self._over if self.autoreset_mode == AutoresetMode.NEXT_STEP else None
        reward = self._tables.step(given, self._all, begin)
        ended = self._tables.batch.done.copy()
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            which = np.flatnonzero(ended)
            if which.size:
                infos = self._final(which)
                self._tables.reset(which)
        else:
            self._over = ended.copy()
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._tables.batch.observation.copy(), reward, ended, truncated, {**infos, **self._infos(None)}

    def _infos(self, which: NDArray[np.int64] | None) -> Info:
        """Returns the infos of the tables ``which``, None: all; infos of other tables are zero."""
        self._mask[:] = self._tables.batch.mask
        infos: Info = {"action_mask": self._mask.copy(), "seat": self._tables.learner.copy()}
        if self._tables.self_play:
            infos["rewards"] = self._tables.rewards.astype(np.float32)
        valid = np.full(self.num_envs, which is None)
        if which is not None:
            valid[which] = True
            for array in infos.values():
                array[~valid] = 0
        return infos | {f"_{name}": valid.copy() for name in infos}

    def _final(self, which: NDArray[np.int64]) -> Info:
        last = np.full(self.num_envs, None, object)
        for i, row in zip(which, self._tables.batch.observation[which], strict=True):
            last[i] = row
        ended = self._infos(which)
        return {
            "final_obs": last, "_final_obs": ended["_seat"].copy(), "final_info": ended, "_final_info": ended["_seat"].copy(),
        }  # fmt: skip

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, ``(B, A) bool``; all False where an episode is over."""
        return self._mask.astype(np.bool_)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The last seed of each table, as in ``SyncVectorEnv``; -1 where the operating system has seeded it."""
        return tuple(self._last_seeds)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Returns the attribute ``name`` of a ``SeatEnv`` at each table, as ``SyncVectorEnv.get_attr`` does: see :meth:`call`."""
        return self.call(name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Returns what the method or attribute ``name`` of a ``SeatEnv`` gives at each table, as ``SyncVectorEnv.call`` does.

        The names are ``PER_TABLE``; raises :class:`AttributeError` for others and :class:`TypeError` for arguments, as none of
        them takes any.
        """
        if name not in PER_TABLE:
            raise AttributeError(unknown_name_message("method or attribute of single tables", name, PER_TABLE))
        if args or kwargs:
            raise TypeError(f"{name} takes no arguments.")
        if name == "action_masks":
            return tuple(self.action_masks())
        if name == "render":
            return self.render() or (None,) * self.num_envs
        return (getattr(self, name),) * self.num_envs

    def render(self) -> tuple[Any, ...] | None:
        """Renders every table as its learner sees it, in the constructor's ``render_mode``; None without one."""
        if self.render_mode is None:
            return None
        return tuple(self._tables.render(i, self._renderer) for i in range(self.num_envs))
