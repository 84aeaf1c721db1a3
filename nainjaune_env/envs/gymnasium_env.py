"""Gymnasium's ``Env`` over one table of any game: one seat learns, agents hold the others, or all seats learn.

``import nainjaune_env`` registers every game, so that ``gymnasium.make("NainJaune-v0", preset="classic", players=5)`` makes one.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nainjaune_env.core.errors import IllegalActionError, quoted
from nainjaune_env.core.validation import whole
from nainjaune_env.envs.reset_options import ONLY, seed_number
from nainjaune_env.envs.seat_options import LearnerEnv, takes_seat_options
from nainjaune_env.envs.spaces import LegalDiscrete, observation_space
from nainjaune_env.records.record import Record
from nainjaune_env.render.renderer import FPS, MODES, Renderer, installed_modes

LEARNER = "learner"
"""The learner's name in records."""


class SeatEnv(LearnerEnv, gymnasium.Env[NDArray[np.uint8], np.int64]):
    """One table of a game, seen from one seat.

    **Actions** are ``Discrete(A)``; ``setup.game.actions`` names them. After every ``reset`` and ``step`` the legal ones are in
    ``info["action_mask"]``, ``(A,) int8``; :meth:`action_masks` returns them as booleans, and ``action_space.sample()`` draws
    one. An illegal action raises :class:`IllegalActionError`, which names the legal ones, and changes nothing; with a number
    as ``illegal_reward`` it ends the episode with that reward.

    **Observations** are ``(size,) uint8``: what the learner's seat may know. ``setup.layout`` names the features.

    **Rewards** are what the learner has gained since its last action, a float in the game's unit (chips, cards). The rewards of
    an episode sum to its payoff; the first one includes what the learner paid to enter. An episode ends when the game's does
    (``terminated``); it is never truncated.

    **Self-play**, ``opponents="self"``: every decision is the learner's. ``info["seat"]`` is the seat to act, and observation,
    mask and reward are that seat's: the reward is what it has gained since its own last action. ``info["rewards"]``, ``(n,)
    float32``, has this for each seat: 0 for those not to act, which get theirs at their next decision. At the end nobody is to
    act: every seat gets what it gained since its last action; seat, observation and reward belong to the seat that acted last.

    **Resetting** with a seed deals the table of ``Batch(setup, 1, seed=...)``, and seeds the opponents and a random seat too.
    The options are as in the PettingZoo environment: ``{"start": {...}}`` and ``{"table": record}``. ``info["seat"]`` is
    the learner's seat.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": FPS}  # noqa: RUF012  (Gymnasium declares it so)

    @takes_seat_options
    def __init__(
        self,
        preset: str | None = None,
        players: int | None = None,
        *,
        render_mode: str | None = None,
        language: str = "en",
        **settings: Any,
    ) -> None:
        """Chooses the rules, the opponents and the learner's seat.

        All but ``render_mode`` and ``language``, which are as in :class:`~nainjaune_env.render.renderer.Renderer`, are as
        :class:`~nainjaune_env.envs.seat_options.SeatOptions` says. Raises :class:`~nainjaune_env.core.errors.RulesError`,
        :class:`~nainjaune_env.core.errors.AgentError` or :class:`~nainjaune_env.core.errors.DealError` for arguments that do not
        fit, and :class:`~nainjaune_env.core.errors.KeywordError`, which lists the arguments and knobs, for an unknown one.
        """
        self._make_tables(SeatEnv, 1, preset, players, settings, record=True)
        self.metadata = {**self.metadata, "render_modes": list(installed_modes(self.setup.game))}
        self.render_mode = render_mode
        self._renderer = Renderer(self.setup, render_mode, language=language, fps=self.metadata["render_fps"])
        self._mask = np.zeros(len(self.setup.game.actions), np.int8)
        self._seed: int | None = None
        """The seed that dealt the current episode; None where a generator continued."""
        self.observation_space: spaces.Box = observation_space(self.setup.layout)  # type: ignore[assignment]
        self.action_space = LegalDiscrete(self._mask)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begins an episode and returns its first observation and info.

        Raises :class:`~nainjaune_env.core.errors.DealError` for a seed or options that do not fit, and
        :class:`~nainjaune_env.core.errors.RulesError` under rules with which no episode has a decision of the learner.
        """
        number = seed_number(seed)
        self._tables.reset(ONLY, [number], options)
        super().reset(seed=number)
        self._seed = None if self._tables.redealt[0] else number
        return self._observe()

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Takes the learner's action and plays on to its next decision or the end.

        Raises :class:`IllegalActionError` for an illegal action without ``illegal_reward``, and where no episode is running; then
        nothing has changed.
        """
        number = whole(action)
        if number is None:
            raise IllegalActionError(
                f"An action is a whole number, not {quoted(action)}; legal: {self._tables.batch.legal_names(0)}."
            )
        tables = self._tables
        gained = tables.step_single(number)
        observation, info = self._observe()
        return observation, gained, bool(tables.batch.done[0]), False, info

    def _observe(self) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        tables, mask = self._tables, self._mask
        batch = tables.batch
        mask[:] = batch.mask[0]
        if self.render_mode == "human":
            self.render()
        info: dict[str, Any] = {"action_mask": mask.copy(), "seat": int(tables.learner[0])}
        if tables.self_play:
            info["rewards"] = tables.rewards[0].astype(np.float32)
        return batch.observation[0].copy(), info

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, ``(A,) bool``; all False after the end. The name is sb3-contrib's."""
        return self._mask.astype(np.bool_)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Renders the table as the learner sees it, in the constructor's ``render_mode``: see ``Renderer``."""
        return self._tables.render(0, self._renderer)

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._renderer.close()

    def record(self, learner: str = LEARNER) -> Record:
        """Returns the finished episode as a record (``nainjaune_env.records.record``), the learner under the name ``learner``.

        Raises :class:`~nainjaune_env.core.errors.RecordError` while the episode runs, and where it does not begin with a
        match's first deal.
        """
        return self._tables.record(0, learner, self._seed)
