"""``LearnerTables``: tables where one seat learns and agents hold the others, or all seats learn (self-play).

Every single-agent adaptor is built on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledAgent, SeatAssignment, any_needs_history
from nainjaune_env.core.bits import are_legal
from nainjaune_env.core.errors import DealError, IllegalActionError, RecordError, RulesError, quoted
from nainjaune_env.core.prng import RowStreams, entropy, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import finite, whole
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.engine.compiled import instance_of, loops_of
from nainjaune_env.engine.learner_arrays import ACTIONS, LearnerArrays
from nainjaune_env.engine.learner_loops import (
    ACT,
    DEAL,
    ENTER,
    IN_PYTHON,
    RANDOM,
    RESUME,
    ROTATE,
    SELF_PLAY,
    TOO_MANY_DEALS,
    UNFINISHED,
)
from nainjaune_env.envs import reset_options
from nainjaune_env.envs.opponents import SELF, Opponents, Pool, find_opponents
from nainjaune_env.envs.reset_options import AS_USUAL, ONLY, Opener, Opening, Start, check_deals, options_of
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import history_of_round, record_of_episode
from nainjaune_env.render.renderer import Renderer

LearnerSeat = int | str

SEATINGS = {"rotate": ROTATE, "random": RANDOM}
"""How the learner's seat can change from one episode to the next; a number is a fixed seat."""

BEYOND = 1 << 63
"""The first whole number above those of ``int64``."""
ILLEGAL_HINT = "The action_mask has the legal actions; with a number as illegal_reward an illegal one ends the episode."

FIRST_STREAM = 1
"""The stream of a seed for the first row of ``LearnerArrays.streams``; the next rows have the next streams, the deal stream 0."""


class LearnerTables:
    """B tables: each waits for the learner's action or has finished its episode.

    The opponents play in between, at all tables at once: heuristics and uniformly random ones in one compiled call for all
    tables (``engine.learner_loops``), any others in calls of ``act``, one an agent for all tables where it is at turn. Every
    table has its own generators: what happens at a table depends on its seed and on the actions taken there, not on the number
    of tables. The arrays are as in ``Batch``: ``observation (B, size)`` and ``mask (B, A)`` are the learner's.

    An episode in which the learner has no decision is played to its end, and another one is dealt, so that an environment
    always begins with a decision.
    """

    def __init__(
        self,
        setup: Setup,
        num_tables: int,
        opponents: Opponents,
        *,
        seat: LearnerSeat = "rotate",
        episode: Episode = "round",
        start: Start = "fresh",
        skip_forced: bool = True,
        illegal_reward: float | None = None,
        record: bool = False,
    ) -> None:
        """Makes the tables; call :meth:`reset` before the first step.

        The arguments are as in :class:`~nainjaune_env.envs.seat_options.SeatOptions`; ``record`` keeps what pictures and
        records need. Raises :class:`RulesError` for a seat that does not exist, a reward that is no finite number, or either of
        them in self-play, :class:`AgentError` for opponents that do not fit, and the errors of ``Batch``.
        """
        n = setup.players
        named = isinstance(seat, str) and seat in SEATINGS
        if not named and (whole(seat) is None or not 0 <= int(seat) < n):
            raise RulesError(f"The learner's seat is a number from 0 to {n - 1}, 'rotate' or 'random', not {quoted(seat)}.")
        alone = isinstance(opponents, str) and opponents == SELF
        if alone and seat != "rotate":
            raise RulesError(
                f"In self-play (opponents='self') the learner has every seat, so 'seat' is not set to {quoted(seat)}."
            )
        if alone and illegal_reward is not None:
            raise RulesError("In self-play an illegal action would end the episode for every seat, so 'illegal_reward' is None.")
        if illegal_reward is not None and finite(illegal_reward) is None:
            raise RulesError(f"'illegal_reward' is a finite number or None, not {quoted(illegal_reward)}.")
        self.setup = setup
        self._seat_rule = SELF_PLAY if alone else SEATINGS[str(seat)] if named else int(seat)
        self._illegal_reward = illegal_reward
        self.opponents: Sequence[Agent] = find_opponents(opponents, setup)
        """The agents in the other seats: one for all, or one for each after the learner's, or the pool's members."""
        agents = list({id(agent): agent for agent in self.opponents}.values())
        self.batch = Batch(
            setup, num_tables, episode=episode, start=start, skip_forced=skip_forced, autoreset=False, deal=False,
            log=record or any_needs_history(agents),
        )  # fmt: skip
        self._opener = Opener(self.batch)
        module, policies = compiled_policies(agents)
        numbers = [next(k for k, one in enumerate(agents) if one is agent) for agent in self.opponents]
        self._arrays = LearnerArrays(
            learner=np.full(num_tables, -1),
            seats=np.full((num_tables, n), -1),
            policies=np.array(policies, np.int64),
            order=np.array(numbers * (n - 1) if len(numbers) == 1 else numbers, np.int64),
            ends=opponents.ends if isinstance(opponents, Pool) else np.zeros(0),
            streams=np.zeros((3, num_tables), np.uint64),
            undecided=np.zeros(num_tables, np.bool_),
            redeals=np.zeros(num_tables, np.int64),
            gained=np.zeros(num_tables),
            waiting=np.zeros(num_tables, np.int64),
            waiting_count=np.zeros(1, np.int64),
        )
        self.learner = self._arrays.learner
        """The learner's seat at each table, shape ``(B,)``: in self-play the one to act, at an end the one that acted last.

        -1 before the first reset.
        """
        self._hidden_state = None if module is None else np.zeros((num_tables, n, module.MEMORY), np.uint8)
        self._module = module
        self._loops = learner_loops_of(setup, module)
        self._seating = SeatAssignment(self.batch, agents, self._arrays.seats, self._streams_of)
        self._kinds = np.full(num_tables, ACT, np.int8)  # the same arrays at each call: a bound call has their addresses
        self._actions = np.zeros(num_tables, np.int64)
        self.batch.done[:] = True  # no episode has begun

    def __getstate__(self) -> dict[str, Any]:
        # modules cannot be pickled; __setstate__ finds them by the game and the agents
        return {name: value for name, value in self.__dict__.items() if name not in ("_loops", "_module")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._module, _ = compiled_policies(self._seating.agents)
        self._loops = learner_loops_of(self.setup, self._module)

    def _streams_of(self, _: int, index: NDArray[np.int64]) -> RowStreams:
        return RowStreams(self._arrays.streams[ACTIONS], index)

    @property
    def redealt(self) -> NDArray[np.bool_]:
        """Shape ``(B,)``: whether the last reset dealt an episode without a decision of the learner, so that a later one runs,
        which is not the one that the seed deals."""
        return self._arrays.redeals > 0

    @property
    def self_play(self) -> bool:
        """Whether the learner has every seat."""
        return self._seat_rule == SELF_PLAY

    @property
    def rewards(self) -> NDArray[np.int32]:
        """What the last step credits each seat with, shape ``(B, n)``, in the game's unit.

        Where an episode goes on, the seat to act has what it gained since its own last action and the others 0; at the end each
        seat has what it gained since then. So an episode's rewards sum to the seats' payoffs.
        """
        return self.batch.reward

    def reset(
        self, which: NDArray[np.int64], seeds: Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        """Begins episodes at the tables ``which (K,)``, each from its seed; None continues the table's generators.

        ``options`` and errors are as in ``Opener.check``; after an error nothing has changed. Raises :class:`RulesError` after
        ``MAX_REDEALS`` deals without a decision of the learner.
        """
        self.begin(which, seeds, self.opening(seeds, options))

    def opening(self, seeds: Sequence[int | None] | None, options: Mapping[str, Any] | None) -> Opening:
        """Returns how :meth:`reset` would begin, for :meth:`begin`; nothing changes. Raises the errors of ``Opener.check``."""
        return self._opener.check(seeds or (), options_of(options))

    def begin(self, which: NDArray[np.int64], seeds: Sequence[int | None] | None, opening: Opening) -> None:
        """Begins episodes at the tables ``which (K,)`` as ``opening`` says."""
        seeded = seeds is not None and any(seed is not None for seed in seeds)
        if opening is AS_USUAL and not seeded and self.learner[which].min() >= 0:
            self._play(which, np.full(which.size, DEAL, np.int8))
            return
        seeds = [None] * len(which) if seeds is None else seeds
        self._opener.prepare(which, seeds, opening)
        for k in np.flatnonzero(np.array([seed is not None for seed in seeds]) | (self.learner[which] < 0)):
            seed, i = seeds[int(k)], which[k]
            for row, states in enumerate(self._arrays.streams):
                states[i] = streams(entropy() if seed is None else seed, 1, FIRST_STREAM + row)[0]
            self.learner[i] = -1
        kinds = np.full(which.size, DEAL if opening.table is None else ENTER, np.int8)
        self._play(which, kinds, start_values=opening.start_values)

    def step(
        self, actions: NDArray[Any], which: NDArray[np.int64], begin: NDArray[np.bool_] | None = None
    ) -> NDArray[np.float64]:
        """Takes the learner's ``actions (K,)`` at the tables ``which (K,)`` and plays on to its next decision or the end.

        Where ``begin (K,)`` is True it ignores the action and begins the next episode. Returns what the learner has gained since
        its last action, shape ``(K,)``, 0 in a new episode. Raises :class:`IllegalActionError` where an episode is over or,
        without ``illegal_reward``, an action is illegal; then nothing has changed.
        """
        kinds = self._kinds if which.size == self._kinds.size else np.zeros(which.size, np.int8)
        kinds[:] = ACT if begin is None else begin
        if self._illegal_reward is not None:
            return self._step_blindly(actions, which, kinds)
        self._play(which, kinds, actions)
        gained = self._arrays.gained[which]
        return gained if begin is None else np.where(begin, 0.0, gained)

    def step_single(self, action: int) -> float:
        """Takes the learner's ``action`` at the only table: as :meth:`step`."""
        if not -BEYOND <= action < BEYOND:
            action = self._beyond(action)
        if self._illegal_reward is not None:
            return float(self._step_blindly(np.array([action]), ONLY, self._kinds)[0])
        self._actions[0], self._kinds[0] = action, ACT
        self._run(ONLY, self._kinds, self._actions, self.batch.loop_arrays)
        return float(self._arrays.gained[0])

    def _beyond(self, action: int) -> int:
        """Returns an illegal action that arrays can hold, in place of one that they cannot; raises as :meth:`step` does."""
        if self._illegal_reward is None:
            self._check_running(ONLY)
            raise IllegalActionError(f"{self.batch.why_illegal(0, action)} {ILLEGAL_HINT}")
        return -1

    def _step_blindly(self, actions: NDArray[Any], which: NDArray[np.int64], kinds: NDArray[np.int8]) -> NDArray[np.float64]:
        acts = kinds == ACT
        self._check_running(which[acts])
        if actions.dtype.kind not in "iu":
            raise IllegalActionError(f"Actions are whole numbers, not an array of {actions.dtype}.")
        illegal = acts & ~are_legal(self.batch.legal[which], actions)
        self._play(which[~illegal], kinds[~illegal], actions[~illegal])
        gained = np.where(acts, self._arrays.gained[which], 0.0)
        gained[illegal] = self._illegal_reward
        ended = which[illegal]
        self.batch.done[ended] = True
        self.batch.mask[ended] = False
        return gained

    def _check_running(self, which: NDArray[np.int64]) -> None:
        over = which[self.batch.done[which]]
        if over.size:
            raise IllegalActionError(f"No episode is running at table {over[0]}: call reset() first.")

    def _play(
        self,
        which: NDArray[np.int64],
        kinds: NDArray[np.int8],
        actions: NDArray[Any] | None = None,
        *,
        start_values: NDArray[np.int32] | None = None,
    ) -> None:
        """Begins an episode or takes an action at each table, and plays on until it waits for the learner or is over."""
        if actions is not None and actions.dtype.kind not in "iu":
            self._check_running(which[kinds == ACT])
            raise IllegalActionError(f"Actions are whole numbers, not an array of {actions.dtype}. {ILLEGAL_HINT}")
        if actions is None:
            chosen = np.zeros(which.size, np.int64)
        elif which.size == self._actions.size:
            chosen = self._actions
            chosen[:] = actions
        else:
            chosen = np.ascontiguousarray(actions, np.int64)
        self._run(which, kinds, chosen, self.batch.arrays_with(start_values))

    def _run(
        self, which: NDArray[np.int64], kinds: NDArray[np.int8], actions: NDArray[np.int64], arrays: tuple[NDArray[Any], ...]
    ) -> None:
        """Plays on in the compiled loop, and where that has left tables. Raises :class:`IllegalActionError` as :meth:`step`."""
        result = self._run_loop(which, kinds, actions, arrays)
        if result == UNFINISHED:
            self._play_on(arrays)
        elif result >= 0:
            self._check_running(which[kinds == ACT])
            raise IllegalActionError(f"{self.batch.why_illegal(int(which[result]), int(actions[result]))} {ILLEGAL_HINT}")

    def _run_loop(
        self, which: NDArray[np.int64], kinds: NDArray[np.int8], actions: NDArray[np.int64], arrays: tuple[NDArray[Any], ...]
    ) -> int:
        """Calls the compiled loop; returns its result."""
        batch = self.batch
        result: int = batch.call(
            self._loops.play_to_learner, arrays, batch.numbers, batch.log_arrays, which, kinds, actions,
            self._seat_rule, reset_options.MAX_REDEALS, self._arrays, self._hidden_state,
        )  # fmt: skip
        if result == TOO_MANY_DEALS:
            check_deals(self.setup, reset_options.MAX_REDEALS)
        return result

    def _play_on(self, tables: tuple[NDArray[Any], ...]) -> None:
        """Lets the agents that are not compiled act until each table that the loop has left waits for the learner or is over."""
        batch, arrays = self.batch, self._arrays
        while True:
            batch.make_space()
            self._seating.stepped()
            waiting = arrays.waiting[: arrays.waiting_count[0]].copy()
            if not waiting.size:
                return
            kinds = np.zeros(waiting.size, np.int8)
            if batch.log is None:
                actions = self._seating.actions(waiting)
            else:  # at a table whose log was full a compiled agent may be at turn
                acts = arrays.policies[self._seating.at_turn(waiting)] == IN_PYTHON
                kinds[~acts] = RESUME
                actions = np.zeros(waiting.size, np.int64)
                actions[acts] = self._seating.actions(waiting[acts])
            wrong = self._run_loop(waiting, kinds, actions, tables)
            assert wrong < 0  # the seating has checked the agents' actions

    def render(self, i: int, renderer: Renderer) -> str | NDArray[np.uint8] | None:
        """Renders table ``i`` as its learner sees it; None where ``renderer`` has no mode.

        Raises :class:`DealError` before the first reset.
        """
        if renderer.mode is None:
            return None
        if self.learner[i] < 0:
            raise DealError("There is no table yet: call reset() first.")
        renderer.viewpoint = int(self.learner[i])
        return renderer.render(self.batch.tables[i], history_of_round(self.batch, i))

    def names(self, i: int, learner: str) -> list[str]:
        """Returns the names of table ``i``'s players in seat order, with the learner under the name ``learner``."""
        agents = self._seating.agents
        return [learner if who < 0 else agents[who].name for who in self._arrays.seats[i]]

    def record(self, i: int, learner: str, seed: int | None) -> Record:
        """Returns the record of the finished episode at table ``i``, with the learner under the name ``learner``.

        Raises :class:`RecordError` as ``record_of_episode`` does, and before the first reset.
        """
        if self.learner[i] < 0:
            raise RecordError("A record is of a finished episode, and none has begun: call reset() first.")
        return record_of_episode(self.batch, i, agents=self.names(i, learner), seed=seed)


def compiled_policies(agents: Sequence[Agent]) -> tuple[ModuleType | None, list[int]]:
    """Returns the module of the heuristics among ``agents``, if there are any, and the policy of each for ``learner_loops``.

    The loops bind one module, so agents from a second one are played in Python.
    """
    policies = [agent.compiled_policy() if isinstance(agent, CompiledAgent) else None for agent in agents]
    module = next((policy.module for policy in policies if policy is not None and policy.module is not None), None)
    return module, [IN_PYTHON if policy is None or policy.module not in (None, module) else policy.number for policy in policies]


def learner_loops_of(setup: Setup, module: ModuleType | None) -> ModuleType:
    """Returns ``engine.learner_loops`` compiled for a game and the ``module`` of its heuristics, if any play."""
    parts = [] if module is None else [module.__name__]
    return instance_of(setup, "nainjaune_env.engine.learner_loops", *parts, loops=loops_of(setup), heuristics=module)
