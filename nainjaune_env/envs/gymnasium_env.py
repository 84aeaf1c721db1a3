"""Gymnasium's interface over one table of any game: one seat learns, agents hold the others.

``import nainjaune_env`` enters every game in Gymnasium's registry::

    import gymnasium
    import nainjaune_env
    env = gymnasium.make("NainJaune-v0", preset="classic", num_players=5, opponents="tally")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import DealError, IllegalActionError, RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import whole
from nainjaune_env.engine.batch import Episode
from nainjaune_env.envs._shared.learner_tables import LearnerSeat, LearnerTables, Opponents
from nainjaune_env.envs._shared.reset_options import ONLY, Start, seed_number
from nainjaune_env.envs._shared.spaces import LegalDiscrete
from nainjaune_env.records.record import Record
from nainjaune_env.registry import make_setup
from nainjaune_env.render.renderer import FPS, MODES, Renderer, render_modes

LEARNER = "learner"
"""The learner's name in records."""


def observation_space(setup: Setup) -> spaces.Box:
    """``Box(0, layout.high, uint8)``, shape ``(size,)``; ``setup.layout`` names the slots."""
    return spaces.Box(np.zeros(setup.layout.size, np.uint8), setup.layout.high, dtype=np.uint8)


class SeatEnv(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """One table of a game, seen from one seat.

    **Actions** are ``Discrete(A)``; ``setup.game.actions`` names them. The legal ones are in ``info["action_mask"]``, ``(A,)
    int8``, after every ``reset`` and ``step``, and :meth:`action_masks` gives the same as booleans. ``action_space.sample()``
    draws a legal action. One that is not legal raises :class:`IllegalActionError`, which names the legal ones, and changes
    nothing; with ``illegal_reward=-10``, say, it ends the episode with that reward.

    **Observations** are ``(size,) uint8``, what the learner's seat may know; ``setup.layout`` names the slots.

    **Rewards** are what the learner's payoff has grown by since its last action, a float in the game's unit (chips, cards): the
    rewards of an episode sum to its payoff, what it paid to enter included. An episode ends when the game's does
    (``terminated``); it is never truncated.

    **Resetting** with a seed deals what ``Batch(setup, 1, seed=...)`` deals, and seeds the opponents and a random seat too.
    The options are those of the PettingZoo environment: ``{"start": {...}}`` and ``{"table": record}``. ``info["seat"]`` is
    the learner's seat.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": FPS}  # noqa: RUF012  (Gymnasium declares it so)

    def __init__(
        self,
        preset: str | None = None,
        num_players: int | None = None,
        *,
        game: str | None = None,
        opponents: Opponents = "random",
        seat: LearnerSeat = "rotate",
        episode: Episode = "round",
        start: Start = "fresh",
        skip_forced: bool = True,
        illegal_reward: float | None = None,
        render_mode: str | None = None,
        language: str = "en",
        **knobs: Any,
    ) -> None:
        """Settle the rules (see ``make_setup``) and who sits at the table (see ``LearnerTables``).

        Raises :class:`RulesError`, :class:`~nainjaune_env.core.errors.AgentError` or :class:`DealError` where that cannot be.
        """
        self.setup = make_setup(game, preset, num_players, **knobs)
        self.metadata = {**self.metadata, "render_modes": list(render_modes(self.setup.game))}
        self.render_mode = render_mode
        self._renderer = Renderer(self.setup, render_mode, language=language, fps=self.metadata["render_fps"])
        self._tables = LearnerTables(
            self.setup, 1, opponents, seat=seat, episode=episode, start=start, skip_forced=skip_forced,
            illegal_reward=illegal_reward, histories=True,
        )  # fmt: skip
        self._mask = np.zeros(len(self.setup.game.actions), np.int8)
        self._seed: int | None = None
        """What the episode that runs was dealt from, where it was a seed."""
        self.observation_space: spaces.Box = observation_space(self.setup)  # type: ignore[assignment]
        self.action_space = LegalDiscrete(self._mask)

    @property
    def opponents(self) -> Sequence[Agent]:
        """The agents in the other seats: one for all, or one each from the learner's next on."""
        return self._tables.opponents

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin an episode; gives the first observation and the info.

        Raises :class:`DealError` for a seed or options that do not fit.
        """
        number = seed_number(seed)
        self._tables.reset(ONLY, [number], options)
        super().reset(seed=number)
        self._seed = None if self._tables.redealt[0] else number
        return self._look()

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """The learner's action, and all plies up to its next decision or the end."""
        number = whole(action)
        if number is None:
            raise IllegalActionError(f"An action is a whole number, not {action!r}; legal: {self._tables.batch.legal_names(0)}.")
        (gained,) = self._tables.step(np.array([number]), ONLY)
        observation, info = self._look()
        return observation, float(gained), bool(self._tables.batch.done[0]), False, info

    def _look(self) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        self._mask[:] = self._tables.mask(ONLY)[0]
        if self.render_mode == "human":
            self.render()
        return self._tables.observation(ONLY)[0], {"action_mask": self._mask.copy(), "seat": int(self._tables.learner[0])}

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions now, ``(A,) bool``; none after the end. The name is sb3-contrib's."""
        return self._mask.astype(np.bool_)

    def render(self) -> str | NDArray[np.uint8] | None:
        """The table as the learner sees it, in the constructor's ``render_mode`` (see ``Renderer``); None without one."""
        if self.render_mode is None:
            return None
        if self._tables.learner[0] < 0:
            raise DealError("There is no table yet: call reset() first.")
        assert self._tables.histories is not None
        self._renderer.viewpoint = int(self._tables.learner[0])
        return self._renderer.render(self._tables.batch.tables[0], self._tables.histories.of(0))

    def close(self) -> None:
        """Close the window, where there is one."""
        self._renderer.close()

    def record(self, learner: str = LEARNER) -> Record:
        """The finished episode as a record (see ``nainjaune_env.records.record``), the learner under the name ``learner``.

        Raises :class:`RecordError` while the episode goes on, and where it is no match from its first deal on.
        """
        if self._tables.learner[0] < 0:
            raise RecordError("A record is of a finished episode, and none has begun: call reset() first.")
        assert self._tables.histories is not None
        return self._tables.histories.record(0, self._tables.names(0, learner), self._seed)
