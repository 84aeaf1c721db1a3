"""PettingZoo's AEC interface over one table of any game: ``pettingzoo.make("aec", "nainjaune/nain_jaune-v0")``.

``import nainjaune_env`` registers every game, in versions of PettingZoo that have a registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pettingzoo
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils import wrappers

from nainjaune_env.core.errors import AgentError, DealError, IllegalActionError, RecordError, quoted, unknown_name_message
from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.validation import whole
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.envs.registration import pettingzoo_spec
from nainjaune_env.envs.reset_options import ONLY, Opener, Start, options_of, seed_number
from nainjaune_env.envs.spaces import LegalDiscrete, masked_space
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import history_of_round, record_of_episode
from nainjaune_env.registry import adaptor_setup
from nainjaune_env.render.renderer import FPS, MODES, Renderer, installed_modes

API_TEST_OPTIONS = {"options": 1}
"""PettingZoo's ``api_test`` resets every environment with exactly these options and expects no error; they are ignored."""


def env(preset: str | None = None, players: int | None = None, **settings: Any) -> Any:
    """Makes a :class:`raw_env` in PettingZoo's wrapper that enforces the order of calls.

    ``settings`` are further arguments of :class:`raw_env`, knobs included. PettingZoo's wrappers for illegal actions are not
    needed: :class:`raw_env` raises an error that names the legal ones, and the episode goes on.
    """
    return OrderedEnv(raw_env(preset, players, **settings))


class OrderedEnv(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]
    """PettingZoo's wrapper, whose ``last`` and ``step`` call the environment's own instead of a look-up for each attribute."""

    def last(self, observe: bool = True) -> Any:
        """Returns what the environment's ``last`` returns."""
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def step(self, action: Any) -> None:
        """Takes the action; a step before the reset or after the end is PettingZoo's error or warning."""
        if self._has_reset and self.env.agents:
            self._has_updated = True
            self.env.step(action)
        else:
            super().step(action)

    def __str__(self) -> str:
        """Returns the environment's text."""
        return str(self.env)


class SingleTable(Batch):
    """A ``Batch`` of one table with a log, stepped and observed without the checks of arrays that a batch of many needs."""

    def __init__(self, setup: Setup, *, episode: Episode = "round", start: Start = "fresh", skip_forced: bool = True) -> None:
        """Takes the arguments of ``Batch`` and raises its errors; call :meth:`begin` before the first action."""
        super().__init__(setup, 1, episode=episode, start=start, skip_forced=skip_forced, autoreset=False, log=True, deal=False)
        self._opener = Opener(self)
        self._seen: dict[int, NDArray[np.uint8]] = {}
        """What :meth:`seen_by` has written last, by ``count``."""

    def begin(self, seed: int | None, options: Mapping[str, Any]) -> None:
        """Begins an episode by the options of a reset; raises the errors of ``Opener.check``, and then nothing has changed."""
        opening = self._opener.check([seed], options)
        self._opener.prepare(ONLY, [seed], opening)
        if opening.table is not None:
            self.run_loop(self._loops.enter_tables, ONLY)
            return
        new_match = bool(self.tables["stage"][0] != Stage.ROUND_OVER)
        self.run_loop(self._loops.reset_tables, ONLY, self.tables["rng"].copy(), new_match, start_values=opening.start_values)

    def act(self, action: int) -> int:
        """Takes one action and returns the seat to act next.

        Raises :class:`IllegalActionError`, which names the legal actions, and then nothing has changed.
        """
        if not 0 <= action < self.num_actions or not int(self.legal[0]) >> action & 1:
            raise IllegalActionError(self.why_illegal(0, action))
        seat: int = self.call(self._loops.step_single, self.loop_arrays, self.numbers, self.log_arrays, action)
        self.make_space()
        return seat

    def seen_by(self, first: int, count: int = 1) -> NDArray[np.uint8]:
        """Returns what ``count`` seats from ``first`` on observe, at turn or not, ``(count, size)``; a new array."""
        if count not in self._seen:
            self._seen[count] = np.zeros((count, self.layout.size), np.uint8)
        rows = self._seen[count]
        self.call(self._loops.observe_seats, self.tables, self.numbers, first, rows)
        return rows.copy()

    @property
    def at_turn(self) -> int:
        """The seat to act."""
        return int(self.tables["seat"][0])


class raw_env(pettingzoo.AECEnv):  # type: ignore[misc]
    """One table of a game as a PettingZoo AEC environment. Agents are ``seat_0``, ``seat_1`` …

    **Observations** are ``{"observation": (size,) uint8, "action_mask": (A,) int8}``, for any seat at any time; ``env.layout``
    names the features. ``infos[agent]["action_mask"]`` holds the same mask. It is all zero for every seat but the one at turn,
    as in PettingZoo's classic games: off turn no action is legal, and which ones would be is that seat's secret.

    **Rewards** are payoffs in the game's unit, net chips or cards, as ints. What ``last()`` returns to an agent over an episode
    sums to its payoff, the antes of the round included. All agents terminate at once, and each gets its last reward in its own
    dead step.

    **Illegal actions** raise :class:`IllegalActionError`, which names the legal ones, and change nothing.

    **Forced plies** are played by the environment with ``skip_forced``: an agent acts only where it has a choice, and what
    ``last()`` returns to it shows nothing of others' choices. But the fact that the environment *stops* at a seat shows that
    this seat has a choice. Use ``skip_forced=False`` to observe or render for seats off turn without that leak.

    **Rendering** (``render_mode="ansi"`` returns text, ``"human"`` opens a window) shows what ``viewpoint`` sees: a seat, or None
    for a spectator, who sees every hand. ``picture(seat)`` draws for any seat, in any render mode.

    **Resetting** with a seed deals the table of ``Batch(setup, 1, seed=...)``. Without one the table's generator continues; the
    first time, the operating system seeds it. The options are:

    - ``{"start": {"pots": [4, 0, 0, 0, 9]}}``: this match begins with these values in place of the constructor's ``start``;
    - ``{"table": record}``: play on from this table (see the game's ``setup_table``) and its generator; give no seed with it.

    **Copies** by ``copy.deepcopy`` and ``pickle`` continue the episode as the original would, and share nothing with it.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo declares it so, and each instance replaces it)
        "name": "nainjaune_v0",
        "render_modes": list(MODES),
        "render_fps": FPS,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        preset: str | None = None,
        players: int | None = None,
        *,
        game: str | None = None,
        episode: Episode = "round",
        start: Start = "fresh",
        skip_forced: bool = True,
        render_mode: str | None = None,
        viewpoint: int | None = None,
        language: str = "en",
        color: bool = False,
        scale: float = 1.0,
        **knobs: Any,
    ) -> None:
        """Chooses the rules: a preset and a number of players (None: the game's default), and knobs set over the preset.

        A preset determines the game, so ``game`` can be left out; without either it is the default game. ``episode``, ``start``
        and ``skip_forced`` are as in :class:`~nainjaune_env.engine.batch.Batch`; with ``start="carried"``, a reset without
        seed or options after a finished round continues the match. ``render_mode``, ``viewpoint``, ``language``, ``color`` and
        ``scale`` are as in :class:`~nainjaune_env.render.renderer.Renderer`, whose errors it raises. Raises
        :class:`~nainjaune_env.core.errors.RulesError` for rules, and :class:`DealError` for start values, that do not fit.
        """
        super().__init__()
        self.setup = adaptor_setup(raw_env, game, preset, players, knobs)
        self.arguments: dict[str, Any] = {
            "preset": preset, "players": players, "episode": episode, "start": start, "skip_forced": skip_forced,
            "render_mode": render_mode, "viewpoint": viewpoint, "language": language, "color": color, "scale": scale, **knobs,
        }  # fmt: skip
        """The arguments of the constructor by name, without ``game``."""
        self.layout = self.setup.layout
        self.render_mode = render_mode
        self.viewpoint = viewpoint
        modes = list(installed_modes(self.setup.game))
        self.metadata = {**type(self).metadata, "name": f"{self.setup.game.name}_v0", "render_modes": modes}
        self._renderer = Renderer(
            self.setup, render_mode, viewpoint=viewpoint, language=language, color=color, scale=scale,
            fps=self.metadata["render_fps"],
        )  # fmt: skip
        self._batch = SingleTable(self.setup, episode=episode, start=start, skip_forced=skip_forced)
        self._seed: int | None = None
        self._begun = False
        self._at_turn = self._batch.at_turn
        n = self.setup.players
        self.possible_agents = [f"seat_{seat}" for seat in range(n)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        actions = self._batch.num_actions
        self.observation_spaces = {agent: masked_space(self.layout, actions) for agent in self.possible_agents}
        self.action_spaces = {agent: LegalDiscrete(np.zeros(actions, np.int8)) for agent in self.possible_agents}
        self._legal = [space.legal for space in self.action_spaces.values()]
        high = np.tile(self.layout.high, (n, 1))
        self.state_space = spaces.Box(np.zeros_like(high), high, dtype=np.uint8)

    @property
    def spec(self) -> Any:
        """PettingZoo's ``EnvSpec``, which makes this environment again; None for versions of PettingZoo without a registry."""
        return pettingzoo_spec("aec", self.setup.game.name, self.arguments)

    def _seat(self, agent: str) -> int:
        if agent not in self._seat_of:
            raise AgentError(unknown_name_message("agent", agent, self.possible_agents))
        return self._seat_of[agent]

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns ``Dict(observation=Box(0, layout.high, uint8), action_mask=Box(0, 1, (A,), int8))``, always the same object."""
        self._seat(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> LegalDiscrete:
        """Returns ``Discrete(A)``, the same object every time, whose ``sample`` draws a legal action for the agent at turn.

        ``env.setup.game.actions`` names the actions.
        """
        self._seat(agent)
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins an episode under the same rules; the class lists the ``options``.

        Raises :class:`DealError` for a seed that is not a whole number and for options that are unknown or do not fit; then
        nothing has changed.
        """
        number = seed_number(seed)
        known = {} if options == API_TEST_OPTIONS else options_of(options)
        self._batch.begin(number, known)
        self._seed = number
        self._begun = True
        self.agents = self.possible_agents[:]
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self._skip_agent_selection = None
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": np.zeros(self._batch.num_actions, np.int8)} for agent in self.agents}
        self._refresh(self._batch.at_turn)

    def step(self, action: Any) -> None:
        """Takes the action (an integer) of ``agent_selection``; None for an agent that has terminated.

        Raises :class:`IllegalActionError`, which names the legal actions; then nothing has changed.
        """
        if not self.agents:
            raise IllegalActionError("No episode is running: call reset() first.")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        number = action if type(action) is int else self._number(action)
        at_turn = self._batch.act(number)
        self._cumulative_rewards[agent] = 0
        self._refresh(at_turn)

    def _number(self, action: Any) -> int:
        number = whole(action)
        if number is not None:
            return number
        allowed = self._batch.legal_names(0)
        raise IllegalActionError(
            f"An action is a whole number, not {quoted(action)}; legal for {self.agent_selection}: {allowed}."
        )

    def _refresh(self, at_turn: int) -> None:
        """Copies the batch's state into the dictionaries that PettingZoo keeps."""
        batch, agents, names = self._batch, self.agents, self.possible_agents
        over = bool(batch.done[0])
        self.rewards = dict(zip(agents, batch.reward[0].tolist(), strict=True))
        before, mask = self._at_turn, batch.mask[0].astype(np.int8)  # zero at the end
        self.infos = {
            **self.infos,
            names[before]: {"action_mask": np.zeros(mask.size, np.int8)},
            names[at_turn]: {"action_mask": mask},
        }
        self._legal[before][:] = 0
        self._legal[at_turn][:] = mask
        self._at_turn, self.agent_selection = at_turn, names[at_turn]
        unpaid = self._cumulative_rewards
        self._cumulative_rewards = {agent: unpaid[agent] + reward for agent, reward in self.rewards.items()}
        if over:
            self.terminations = dict.fromkeys(agents, True)
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Returns new arrays: what ``agent`` observes, ``(size,) uint8``, and its mask, ``(A,) int8``, at turn or not.

        Raises :class:`AgentError` for an unknown agent and :class:`DealError` before the first reset.
        """
        seat, batch = self._seat(agent), self._batch
        self._check_begun()
        if seat == self._at_turn:
            return {"observation": batch.observation[0].copy(), "action_mask": batch.mask[0].astype(np.int8)}
        return {"observation": batch.seen_by(seat)[0], "action_mask": np.zeros(batch.num_actions, np.int8)}

    def state(self) -> NDArray[np.uint8]:
        """Returns all seats' observations, ``(n, size) uint8``. They show every hand: for centralised critics only.

        Raises :class:`DealError` before the first reset.
        """
        self._check_begun()
        return self._batch.seen_by(0, self.setup.players)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Renders the table from the constructor's ``viewpoint`` in its ``render_mode``: see ``Renderer``.

        Raises :class:`RulesError` without a ``render_mode``, and as :meth:`picture` and :meth:`svg` :class:`DealError` before the
        first reset.
        """
        self._renderer.check_mode()
        return self._renderer.render(*self._table_and_history())

    def picture(self, seat: int | None = None) -> str:
        """Returns the table as text as ``seat`` sees it; None is a spectator, who sees every hand."""
        return self._renderer.text(*self._table_and_history(), seat=seat)

    def svg(self, seat: int | None = None) -> str:
        """Returns the table as an SVG document, likewise."""
        return self._renderer.svg(*self._table_and_history(), seat=seat)

    def _check_begun(self) -> None:
        if not self._begun:
            raise DealError("There is no table yet: call reset() first.")

    def _table_and_history(self) -> tuple[Any, History]:
        self._check_begun()
        return self._batch.tables[0], history_of_round(self._batch, 0)

    def record(self, agents: Sequence[str] | None = None) -> Record:
        """Returns the finished episode as a record (``nainjaune_env.records.record``); ``agents`` are names in seat order.

        Raises :class:`RecordError` while the episode runs, and where it does not begin with a match's first deal: a carried
        round, or a table that was set in the middle of a round.
        """
        if not self._begun:
            raise RecordError("A record is of a finished episode, and none has begun: call reset() first.")
        names = self.possible_agents if agents is None else agents
        return record_of_episode(self._batch, 0, agents=names, seed=self._seed)

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._renderer.close()
