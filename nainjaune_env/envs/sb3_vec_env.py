"""Stable-Baselines3's ``VecEnv`` over many tables, all in one batch that compiled code steps.

It returns what a ``DummyVecEnv`` of ``SeatEnv`` returns for the same seeds, as a test checks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.core.errors import DealError, IllegalActionError, MissingLibraryError
from nainjaune_env.core.validation import as_array, check_name
from nainjaune_env.envs.lazy_list import LazyList
from nainjaune_env.envs.reset_options import seed_number
from nainjaune_env.envs.seat_options import LearnerEnv, takes_seat_options
from nainjaune_env.envs.spaces import OBSERVATION_DTYPES, observation_space
from nainjaune_env.render.renderer import FPS, Renderer, installed_modes

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    raise MissingLibraryError("The Stable-Baselines3 adaptor", "stable_baselines3", "sb3") from error

Indices = int | Iterable[int] | None
Info = dict[str, Any]


class SeatVecEnv(LearnerEnv, VecEnv):
    """B tables, each seen from one seat, with the observations, actions and rewards of ``SeatEnv``.

    ``reset()`` returns observations ``(B, size)``, of the ``dtype``. ``step(actions)`` returns observations, rewards
    ``(B,) float32``, dones ``(B,) bool`` and B infos, each with ``"action_mask"`` ``(A,) int8``, ``"seat"`` and
    ``"TimeLimit.truncated"``, which stays False. Where an episode ends the next one begins at once: the observation and
    ``reset_infos`` are the new episode's; the info is the end's, with its ``"terminal_observation"``.

    **Masks** reach MaskablePPO through ``env_method("action_masks")``, ``(A,) bool`` for each table; :meth:`action_masks` returns
    them as one array. An illegal action raises :class:`IllegalActionError`; with ``illegal_reward`` it ends the episode with that
    reward.

    **Self-play**, ``opponents="self"``: every decision is the learner's, and observation, mask and reward belong to the seat
    to act (see ``SeatEnv``). The attributes ``acted (B,) int64`` and ``rewards (B, n) float32`` are the seats that took the last
    actions and what the last step credits each seat with; ``infos[i]["rewards"]`` is a row of it. A learner whose advantages
    follow each seat's own decisions reads them: ``nainjaune_agents.train.sb3.SelfPlayBuffer`` for MaskablePPO.

    The list of infos and ``reset_infos`` are lists whose dictionaries are made when they are first read (``LazyList``).

    ``seed(s)`` and ``set_options`` take effect at the next reset; table i is seeded with s + i. ``get_attr``, ``set_attr`` and
    ``env_method`` access single tables, as :class:`Table`.
    """

    @takes_seat_options
    def __init__(
        self,
        num_envs: int = 1,
        preset: str | None = None,
        players: int | None = None,
        *,
        dtype: str = "uint8",
        render_mode: str | None = None,
        language: str = "en",
        **settings: Any,
    ) -> None:
        """Takes the arguments of ``SeatEnv`` and raises its errors.

        ``dtype`` is that of observations: "uint8", or "float32" for a ``VecNormalize`` around it, whose observations SB3 would
        store as uint8 otherwise. Raises :class:`~nainjaune_env.core.errors.RulesError` for any other.
        """
        self._dtype = np.dtype(check_name("dtype", dtype, OBSERVATION_DTYPES))
        self._make_tables(SeatVecEnv, num_envs, preset, players, settings, record=render_mode is not None)
        self._begun_mask = np.zeros((num_envs, len(self.setup.game.actions)), np.int8)
        self._begun_seat = np.zeros(num_envs, np.int64)
        self._actions = np.zeros(num_envs, np.int64)
        self.acted = np.full(num_envs, -1)
        """The seats that took the last actions, ``(B,)``; -1 before the first."""
        self.rewards = np.zeros((num_envs, self.setup.players), np.float32)
        """What the last step credits each seat with, ``(B, n)``: see ``LearnerTables.rewards``."""
        self._members = [Table(self, i, render_mode, language) for i in range(num_envs)]
        super().__init__(
            num_envs, observation_space(self.setup.layout, self._dtype), spaces.Discrete(len(self.setup.game.actions))
        )
        self.metadata: dict[str, Any] = {"render_modes": [*installed_modes(self.setup.game)], "render_fps": FPS}

    # ---- playing -------------------------------------------------------------------------------------------------

    def set_options(self, options: list[Info] | Info | None = None) -> None:
        """Sets the options of the next reset: one mapping for all tables, or one per table; see ``SeatEnv``."""
        if isinstance(options, list) and len(options) != self.num_envs:
            raise DealError(f"Expected options for all tables, or one for each of {self.num_envs} tables, not {len(options)}.")
        super().set_options(options)

    def set_start_values(self, values: Mapping[str, ArrayLike]) -> None:
        """Sets what later matches begin with: a list of values by name for all tables, or one row ``(B, k)`` for each.

        Raises :class:`DealError` where they do not fit.
        """
        self._tables.batch.set_start(values)

    def _observations(self, which: NDArray[np.int64] | slice = slice(None)) -> NDArray[Any]:
        """Returns copies of the observations of the tables ``which``, in the ``dtype``."""
        return self._tables.batch.observation[which].astype(self._dtype)

    def reset(self) -> NDArray[Any]:
        """Begins an episode at every table and returns the first observations.

        Raises :class:`DealError` for seeds or options that do not fit; then no episode has begun. Either way the next reset has
        none of them.
        """
        given, each = self._seeds, self._options
        self._reset_seeds()
        self._reset_options()
        seeds = [seed_number(seed) for seed in given]
        alike: dict[int, list[int]] = {}  # tables that share an options object are reset together
        for i, options in enumerate(each):
            alike.setdefault(id(options) if options else 0, []).append(i)
        groups = [(np.array(tables), [seeds[i] for i in tables], each[tables[0]]) for tables in alike.values()]
        # all of them, before the first episode begins
        openings = [self._tables.opening(their_seeds, options) for _, their_seeds, options in groups]
        for (tables, their_seeds, _), opening in zip(groups, openings, strict=True):
            self._tables.begin(tables, their_seeds, opening)
        self._note_begun(self._all)
        return self._observations()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Gives the learners' actions ``(B,)``, which :meth:`step_wait` takes."""
        given = as_array("Expected one whole number a table, not", actions, IllegalActionError)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise IllegalActionError(
                f"Expected one whole number a table, shape ({self.num_envs},), not {given.dtype}, shape {given.shape}."
            )
        self._actions = given

    def step_wait(self) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[Info]]:
        """Takes the learners' actions and plays every table on to its next decision; the class says what is returned.

        Raises :class:`IllegalActionError`; then nothing has changed.
        """
        batch, before = self._tables.batch, self.seats
        rewards = self._tables.step(self._actions, self._all).astype(np.float32)
        self.acted = before
        dones = batch.done.copy()
        masks, seats = batch.mask.view(np.int8).copy(), self.seats
        self.rewards = credited = self._tables.rewards.astype(np.float32)
        last: dict[int, NDArray[Any]] = {}
        """The last observation at each table whose episode has ended."""
        over = np.flatnonzero(dones)
        if over.size:
            last = dict(zip(over.tolist(), self._observations(over), strict=True))
            self._tables.reset(over)
            self._note_begun(over)

        def info(i: int) -> Info:
            end = {"terminal_observation": last[i]} if i in last else {}
            return {**self._info(i, masks, seats, credited), "TimeLimit.truncated": False, **end}

        return self._observations(), rewards, dones, LazyList(self.num_envs, info)

    def _note_begun(self, which: NDArray[np.int64]) -> None:
        """Renews ``reset_infos`` after episodes have begun at the tables ``which``."""
        self._begun_mask[which], self._begun_seat[which] = self._tables.batch.mask[which], self._tables.learner[which]
        masks, seats, nothing = self._begun_mask.copy(), self._begun_seat.copy(), np.zeros_like(self.rewards)
        self.reset_infos = LazyList(self.num_envs, lambda i: self._info(i, masks, seats, nothing))

    def _info(self, i: int, masks: NDArray[np.int8], seats: NDArray[np.int64], rewards: NDArray[np.float32]) -> Info:
        """Returns what every info of table ``i`` has."""
        said: Info = {"action_mask": masks[i], "seat": int(seats[i])}
        return {**said, "rewards": rewards[i]} if self._tables.self_play else said

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, ``(B, A) bool``; all False before the first reset."""
        return self._tables.batch.mask.copy()

    def close(self) -> None:
        """Closes the tables' windows, if there are any."""
        for table in self._members:
            table.close()

    # ---- single tables -------------------------------------------------------------------------------------------

    def _chosen(self, indices: Indices) -> list[Table]:
        return [self._members[i] for i in self._get_indices(indices)]

    def has_attr(self, attr_name: str) -> bool:
        """Returns whether every table has an attribute of this name."""
        return all(hasattr(table, attr_name) for table in self._members)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Returns an attribute of each of these tables (None: all); raises :class:`AttributeError` where there is none."""
        return [getattr(table, attr_name) for table in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Sets an attribute of each of these tables (None: all)."""
        for table in self._chosen(indices):
            setattr(table, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of each of these tables (None: all) and returns the results."""
        if method_name == "action_masks" and indices is None:  # MaskablePPO calls it before every step
            return list(self.action_masks())
        return [method(*method_args, **method_kwargs) for method in self.get_attr(method_name, indices)]

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Indices = None) -> list[bool]:
        """Returns False for each: a table is not an environment that could be wrapped."""
        return [False for _ in self._chosen(indices)]

    def get_images(self) -> list[NDArray[np.uint8] | None]:
        """Returns every table in pixels as its learner sees it; None each, with a warning, in another ``render_mode``."""
        if self.render_mode != "rgb_array":
            warnings.warn(f"Images need render_mode='rgb_array', not {self.render_mode!r}.", stacklevel=2)
            return [None for _ in self._members]
        return self.env_method("render")


class Table:
    """One table of a :class:`SeatVecEnv`, where Stable-Baselines3 expects a single environment."""

    def __init__(self, venv: SeatVecEnv, index: int, render_mode: str | None, language: str) -> None:
        self._venv = venv
        self._index = index
        self.render_mode = render_mode
        self._renderer = Renderer(venv.setup, render_mode, language=language)

    @property
    def unwrapped(self) -> Table:
        """Itself."""
        return self

    setup = property(attrgetter("_venv.setup"), doc="The game and its rules; the same for all tables, as are the next four.")
    metadata = property(attrgetter("_venv.metadata"), doc="The render modes, and pictures a second.")
    observation_space = property(attrgetter("_venv.observation_space"), doc="The space of one table's observations.")
    action_space = property(attrgetter("_venv.action_space"), doc="The space of one table's actions.")
    opponents = property(attrgetter("_venv.opponents"), doc="The agents in the other seats.")

    @property
    def seat(self) -> int:
        """The learner's seat; -1 before the first reset."""
        return int(self._venv._tables.learner[self._index])

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, ``(A,) bool``."""
        legal: NDArray[np.bool_] = self._venv._tables.batch.mask[self._index].copy()
        return legal

    def render(self) -> Any:
        """Renders the table as the learner sees it, in the constructor's ``render_mode``; None without one."""
        return self._venv._tables.render(self._index, self._renderer)

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._renderer.close()
