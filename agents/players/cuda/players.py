"""Players at tables on a GPU: heuristics as kernels and networks by torch, on arrays in device memory."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledPolicy, needs_history
from nainjaune_env.compiler.jit import instantiate
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.compiled import loops_of
from nainjaune_env.engine.cuda.batch import CudaBatch
from nainjaune_env.engine.cuda.device import OnDevice
from nainjaune_env.engine.learner_loops import UNIFORM

from ..heuristics import heuristics_module
from ..search.policies import ScoringAgent, policy_of
from ..search.rollouts import loops_for

BY_NET = -2
"""Policy number of networks, whose tables the kernels leave to torch."""
LOOK_EVERY = 4
"""Steps between checks whether all episodes are over; a check waits for the GPU."""


def kernels_of(setup: Setup, policy: int = UNIFORM, *, centred: bool = False) -> ModuleType:
    """Returns ``kernels`` compiled for one setup, whose rules are constants there, with rollouts by the compiled ``policy``.

    ``centred``: whether rollouts return centred payoffs.
    """
    about = repr((setup.kernel_rules, policy, centred))  # the same text in every process
    return instantiate(
        f"{__package__}.kernels",
        f"{setup.game.name}-{hashlib.sha256(about.encode()).hexdigest()[:16]}",
        game=setup.game.kernel,
        loops=loops_of(setup),
        heuristics=heuristics_module(setup.game.name),
        rollouts=loops_for(setup),
        rules=setup.kernel_rules,
        TABLE=setup.game.table,
        WORDS=setup.game.table.itemsize // 8,
        SEATS=setup.players,
        ACTIONS=len(setup.game.actions),
        POLICY=policy,
        CENTRED=centred,
    )


def check_players(agents: Sequence[Agent], setup: Setup) -> list[int]:
    """Returns the policy numbers of ``agents`` for the kernels; raises :class:`AgentError` for one that cannot play on a GPU."""
    return [_number(agent, setup) for agent in agents]


def _number(agent: Agent, setup: Setup) -> int:
    heuristics = getattr(heuristics_module(setup.game.name), "HEURISTICS", {})
    match policy_of(agent):
        case CompiledPolicy(number=number) if number == UNIFORM or agent in heuristics.values():
            return number
        case ScoringAgent() if hasattr(agent, "net") and not needs_history(agent):
            return BY_NET
    raise AgentError(
        f"{agent.name!r} does not play at tables on a GPU: networks do, with or without @sample, and "
        f"{', '.join(['random', *heuristics])}. On the CPU every agent plays."
    )


class Players(OnDevice):
    """Agents in the seats of a batch on a GPU."""

    def __init__(
        self,
        batch: CudaBatch,
        agents: Sequence[Agent],
        seats: NDArray[np.int64],
        states: NDArray[np.uint64],
        *,
        quick: bool = False,
    ) -> None:
        """``seats (B, n)`` are indices into ``agents``.

        ``states (B, n)`` are the generators of those who draw, by table and seat; ``(B, 1)`` one for all seats of a table.
        With ``quick`` networks multiply in bfloat16. Raises :class:`AgentError` for an agent that cannot play here.
        """
        numbers = check_players(agents, batch.setup)
        self._open(batch.stream)
        self._kernels = kernels_of(batch.setup)
        self._batch = batch
        rows, memory = batch.num_tables, getattr(heuristics_module(batch.setup.game.name), "MEMORY", 0)
        self._seats = self.place(seats)
        self._policies = self.place(np.array(numbers, np.int64))
        self._turns = self.place(np.zeros(rows, np.int64))
        self._actions = self.place(np.zeros(rows, np.int64))
        self._memory = None
        self._states = self.place(np.array(states))  # a copy: kernels advance it
        self._uniform = UNIFORM in numbers
        if max(numbers) >= 0:
            self._memory = self.place(np.zeros((rows, batch.num_players, memory), np.uint8))
        self._nets = {
            who: _nets().NetPlayer(batch, agent, quick=quick) for who, agent in enumerate(agents) if numbers[who] == BY_NET
        }

    def actions(self) -> Any:
        """Returns the actions ``(B,) int64`` on the device, 0 where the episode is over; the next call overwrites them."""
        batch, turns, actions = self._batch, self._turns, self._actions
        self._run("find_turns", batch.num_tables, batch.tables, batch.done, self._seats, turns, actions)
        if self._uniform:
            self._run("choose_uniform", batch.num_tables, turns, self._policies, batch.tables, batch.legal, self._states, actions)
        if self._memory is not None:
            self._run(
                "choose_by_heuristic", batch.num_tables, turns, self._policies, batch.tables, batch.legal, self._memory, actions
            )
        for who, player in self._nets.items():
            which, logits = (self._on_device(tensor) for tensor in player.logits(turns, who))
            if player.stochastic:
                self._run("choose_stochastically", which.size, which, batch.tables, logits, batch.legal, self._states, actions)
            else:
                self._run("choose_greedily", which.size, which, logits, batch.legal, actions)
        return actions

    def add_rewards(self, payoff: Any) -> None:
        """Adds the rewards of the last step to ``payoff (B, n) int64``."""
        self._run("add_rewards", self._batch.num_tables, self._batch.reward, payoff)


def play_to_the_end(
    batch: CudaBatch,
    agents: Sequence[Agent],
    seats: NDArray[np.int64],
    states: NDArray[np.uint64],
    *,
    after_step: Callable[[Players, Any], None] | None = None,
    quick: bool = False,
) -> None:
    """Plays every table to the end of its episode; arguments as in :class:`Players`.

    ``after_step`` is called with the players and the actions ``(B,)``, on the device, after each step.
    """
    seated = Players(batch, agents, seats, states, quick=quick)
    steps = 0
    while steps % LOOK_EVERY or not batch.fetch(batch.done).all():
        actions = seated.actions()
        batch.step(actions)
        steps += 1
        if after_step is not None:
            after_step(seated, actions)
    batch.check()


def play_out_on_gpu(
    batch: CudaBatch,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    states: NDArray[np.uint64],
    *,
    after_step: Callable[[NDArray[np.int64]], None] | None = None,
) -> NDArray[np.int64]:
    """Does what ``arena.play.play_out`` does for tables on a GPU; returns the payoffs ``(B, n)``.

    Heuristics and deterministic networks make the same decisions as on the CPU, except where rounding swaps nearly equal logits.
    Those who draw have the generators ``states (B, n)``.
    """
    payoff = batch.place(batch.fetch(batch.reward).astype(np.int64))

    def add_step(seated: Players, actions: Any) -> None:
        seated.add_rewards(payoff)
        if after_step is not None:
            after_step(batch.fetch(actions))

    play_to_the_end(batch, agents, seating, states, after_step=add_step)
    return batch.fetch(payoff)


def _nets() -> ModuleType:
    """Returns the module that imports torch, which only networks need."""
    return importlib.import_module(f"{__package__}.nets")
