"""Compiling ahead, in several processes, what the first uses of a game would compile one function after the other.

numba compiles under one lock, so the threads of a process do not help. Each part of :data:`PARTS` is a small program that uses
what is to be compiled; the code is kept on disk, where every later process finds it. On a CPU all rules of a game share their
code, so one setup stands for all of them. A GPU's kernels have the rules as constants, and each setup has its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from nainjaune_env.agent import Agent, is_recurrent
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.engine.workers import MIN_TABLES_SAMPLED

from .arena.duplicate import Duplicate
from .distributed.processes import Processes
from .distributed.units import Payload, Player, WorkUnit, setup_from
from .heuristics import heuristics, yardstick
from .nets.inference.chain import Chain
from .search.agent import searching

TABLES = 4
"""Tables of each small program."""
DEALS = 2
"""Deals of a rating."""


class Target(NamedTuple):
    """What a part is compiled for."""

    setup: Setup
    device: str
    start: Any
    """The key ``start`` of a configuration: how rounds of training start."""


class Part(NamedTuple):
    """What is compiled by one small program."""

    use: Callable[[Target], None]
    """The program."""
    on_gpu: bool = False
    """Whether there is anything to compile for a GPU."""


class CompiledPart(NamedTuple):
    """A part that was compiled, or loaded."""

    part: str
    setup: Setup
    seconds: float
    """Wall time; includes imports if it is the first part in its process."""


def _step(target: Target) -> None:
    batch = make_batch(target.setup, TABLES, seed=0, device=target.device)
    batch.step(batch.sample(batch.place(streams(0, TABLES))))
    batch.synchronize()


def _inspect(target: Target) -> None:
    batch = make_batch(target.setup, TABLES, seed=0, device=target.device)
    batch.observe(batch.place(np.zeros(TABLES, np.int64)))
    batch.omniscient()
    batch.redacted()
    batch.play_out(batch.place(streams(0, TABLES)))
    batch.synchronize()
    if target.device == "cpu":
        shared = Batch(target.setup, MIN_TABLES_SAMPLED, seed=0, threads=2)
        shared.step(shared.sample(streams(0, MIN_TABLES_SAMPLED)))


def _environments(target: Target) -> None:
    from nainjaune_env.envs import pettingzoo_aec, pettingzoo_parallel
    from nainjaune_env.envs.gymnasium_env import SeatEnv
    from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv

    setup = target.setup
    table: dict[str, Any] = {"game": setup.game.name, "preset": setup.preset, "players": setup.players}
    for opponents in ("random", yardstick(setup.game.name)):
        made: list[Any] = [
            SeatEnv(**table, opponents=opponents),
            SeatVectorEnv(num_envs=TABLES, **table, opponents=opponents),
        ]
        for env in made:
            _, info = env.reset(seed=0)
            env.step(info["action_mask"].argmax(axis=-1))
            env.close()
    aec = pettingzoo_aec.env(**table)
    aec.reset(seed=0)
    aec.step(int(aec.last()[0]["action_mask"].argmax()))
    parallel = pettingzoo_parallel.parallel_env(**table)
    seen, _ = parallel.reset(seed=0)
    parallel.step({seat: int(seen[seat]["action_mask"].argmax()) for seat in parallel.agents})


def _evaluation(target: Target) -> None:
    agents = list(heuristics(target.setup.game.name).values())
    duplicate = Duplicate(target.setup, agents, seed=0, measure=target.device == "cpu", device=target.device)
    duplicate.edges([(hero, 0) for hero in range(1, len(agents))], DEALS)
    if target.device == "cpu":
        chain = Chain([(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))])
        chain(np.zeros((1, 1), np.uint8))
        chain(np.zeros((1, 1), np.float32))


def _search(target: Target) -> None:
    setup = target.setup
    for agent in heuristics(setup.game.name).values():
        if not is_recurrent(agent, setup):  # which can play no rollouts
            Duplicate(setup, [searching(agent, 2, setup), agent], seed=0).edge(0, 1, DEALS)


def _training(target: Target) -> None:
    from .trainers import ppo
    from .trainers.config import build

    keys = {"tables": TABLES, "minibatch": TABLES, "arch": {"hidden": [8]}, "eval_every": 0, "iterations": 1}
    config = build(ppo.Config, {**target.setup.to_dict(), **keys, "device": target.device, "start": target.start})
    trainer = ppo.Trainer(config, config.setup())
    trainer.iterate()
    if target.device == "cpu":
        player = trainer.agent()
        Duplicate(target.setup, [searching(player, 2, target.setup), player], seed=0).edge(0, 1, DEALS)


FIRST = "tables"
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        FIRST: Part(_step, on_gpu=True),
        "inspection": Part(_inspect, on_gpu=True),
        "environments": Part(_environments),
        "evaluation": Part(_evaluation, on_gpu=True),
        "search": Part(_search),
        "training": Part(_training, on_gpu=True),
    }
)
"""The parts by name, for ``--parts``; the others call what the first one compiles."""


def parts_for(device: str) -> tuple[str, ...]:
    """Returns the names of the parts that have something to compile for ``device``."""
    return tuple(name for name, part in PARTS.items() if device == "cpu" or part.on_gpu)


@dataclass(frozen=True)
class CompilePlan:
    """A ``WorkPlan`` of parts to be compiled for some setups on a device; a unit is one part for one setup."""

    KIND: ClassVar[str] = "compile"

    setups: tuple[Setup, ...]
    parts: tuple[str, ...]
    """Names of :data:`PARTS`."""
    device: str = "cpu"
    start: Any = "fresh"
    """The key ``start`` of a configuration, for the part ``training``."""

    @property
    def setup(self) -> Setup:
        """The first of the setups."""
        return self.setups[0]

    @property
    def agents(self) -> tuple[str, ...]:
        """No agents: each part makes its own."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as JSON values."""
        setups = [setup.to_dict() for setup in self.setups]
        return {"setups": setups, "parts": list(self.parts), "device": self.device, "start": self.start}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Returns the plan that :meth:`to_dict` wrote."""
        return cls(tuple(map(setup_from, values["setups"])), tuple(values["parts"]), values["device"], values["start"])

    def units(self) -> Iterator[WorkUnit]:
        """Yields each part for each setup."""
        for number in range(len(self.parts) * len(self.setups)):
            yield WorkUnit(number, 0, 1)

    def what(self, unit: WorkUnit) -> tuple[str, Setup]:
        """Returns the part and the setup of ``unit``."""
        part, setup = divmod(unit.part, len(self.setups))
        return self.parts[part], self.setups[setup]

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that compiles a unit, and returns the seconds that it took."""

        def compile_part(unit: WorkUnit) -> Payload:
            part, setup = self.what(unit)
            began = time.perf_counter()
            with _unannounced():
                PARTS[part].use(Target(setup, self.device, self.start))
            return {"seconds": time.perf_counter() - began}

        return compile_part


@contextmanager
def _unannounced() -> Iterator[None]:
    """Switches the notice of each process off (``compiler.compile_notice``), as the parts are reported."""
    before = os.environ.get("NAINJAUNE_QUIET")
    os.environ["NAINJAUNE_QUIET"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["NAINJAUNE_QUIET"]
        else:
            os.environ["NAINJAUNE_QUIET"] = before


def stages(plan: CompilePlan) -> list[CompilePlan]:
    """Returns plans to be compiled one after the other, the units of each in parallel.

    For a CPU the rules come first, and then what calls them, for one setup of each game. For a GPU there is one plan, with all
    setups. Parts that have nothing to compile for the device are left out.
    """
    parts = tuple(part for part in plan.parts if part in parts_for(plan.device))
    if plan.device != "cpu":
        return [replace(plan, parts=parts)] if parts else []
    games: dict[str, Setup] = {}
    for setup in plan.setups:
        games.setdefault(setup.game.name, setup)
    split = (tuple(part for part in parts if part == FIRST), tuple(part for part in parts if part != FIRST))
    return [replace(plan, setups=tuple(games.values()), parts=some) for some in split if some]


def precompile(plan: CompilePlan, workers: int) -> Iterator[CompiledPart]:
    """Compiles ``plan`` in ``workers`` processes, also if it is one; yields the parts as they are finished.

    numba does not survive an interrupt while LLVM is called, so this process compiles nothing.

    Raises :class:`~nainjaune_env.core.errors.WorkError` where a part fails, as without such a device, or where processes are
    killed again and again.
    """
    for stage in stages(plan):
        executor = Processes(min(workers, len(stage.setups) * len(stage.parts)))
        with closing(executor.results(stage, (), stage.units())) as results:
            for unit, payload in results:
                yield CompiledPart(*stage.what(unit), payload["seconds"])
