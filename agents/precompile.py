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
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from nainjaune_env.agent import Agent
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import make_batch

from .arena.duplicate import Duplicate
from .distributed.processes import Processes
from .distributed.units import Found, InProcess, Player, Unit, setup_from
from .heuristics import heuristics
from .loading import load_agent
from .search.agent import searching

TABLES = 4
"""Tables of each small program."""
DEALS = 2
"""Deals of a rating."""


class Part(NamedTuple):
    """What is compiled by one small program."""

    meaning: str
    use: Callable[[Setup, str], None]
    """The program, for tables of a setup on a device."""
    on_gpu: bool = False
    """Whether there is anything to compile for a GPU."""


class Compiled(NamedTuple):
    """A part that was compiled, or found compiled."""

    part: str
    setup: Setup
    seconds: float
    """Wall time, the imports of its process not included where another part was compiled there before."""


def _step(setup: Setup, device: str) -> None:
    batch = make_batch(setup, TABLES, seed=0, device=device)
    batch.step(batch.sample(batch.place(streams(0, TABLES))))
    batch.synchronize()


def _inspect(setup: Setup, device: str) -> None:
    batch = make_batch(setup, TABLES, seed=0, device=device)
    batch.observe(batch.place(np.zeros(TABLES, np.int64)))
    batch.omniscient()
    batch.redacted()
    batch.play_out(batch.place(streams(0, TABLES)))
    batch.synchronize()


def _environments(setup: Setup, device: str) -> None:
    from nainjaune_env.envs import pettingzoo_aec
    from nainjaune_env.envs.gymnasium_env import SeatEnv
    from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv

    table: dict[str, Any] = {"game": setup.game.name, "preset": setup.preset, "players": setup.players}
    made: list[Any] = [SeatEnv(**table), SeatVectorEnv(num_envs=TABLES, **table)]
    for env in made:
        _, info = env.reset(seed=0)
        env.step(info["action_mask"].argmax(axis=-1))
        env.close()
    aec = pettingzoo_aec.env(**table)
    aec.reset(seed=0)
    aec.step(int(aec.last()[0]["action_mask"].argmax()))


def _evaluation(setup: Setup, device: str) -> None:
    agents = list(heuristics(setup.game.name).values())
    Duplicate(setup, agents, seed=0, measure=True).edges([(hero, 0) for hero in range(1, len(agents))], DEALS)


def _search(setup: Setup, device: str) -> None:
    agents = [load_agent(name, setup) for name in ("random@search=2", "random")]
    Duplicate(setup, agents, seed=0).edge(0, 1, DEALS)


def _training(setup: Setup, device: str) -> None:
    from .trainers import ppo
    from .trainers.config import build

    table = {"game": setup.game.name, "preset": setup.preset, "players": setup.players}
    config = build(ppo.Config, {**table, "tables": TABLES, "minibatch": TABLES, "hidden": [8], "eval_every": 0, "iterations": 1})
    trainer = ppo.Trainer(config, config.setup())
    trainer.iterate()
    player = trainer.agent()
    Duplicate(setup, [searching(player, 2, setup), player], seed=0).edge(0, 1, DEALS)


FIRST = "tables"
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        FIRST: Part("the rules: tables of a batch are reset and stepped", _step, on_gpu=True),
        "inspection": Part("tables are observed by any seat, redacted and played to the end", _inspect, on_gpu=True),
        "environments": Part("Gymnasium's environments, single and vectorised, and PettingZoo's", _environments),
        "evaluation": Part("duplicate deals between all rules of thumb, with the measures of play", _evaluation),
        "search": Part("determinizations and rollouts", _search),
        "training": Part("an iteration of PPO, its player and a search over it, which need torch", _training),
    }
)
"""The parts by name, for ``--parts``; the others call what the first one compiles."""


@dataclass(frozen=True)
class CompilePlan:
    """Parts to be compiled for some setups on a device; a unit is one part for one setup. It is a ``distributed.units.Plan``."""

    KIND: ClassVar[str] = "compile"

    setups: tuple[Setup, ...]
    parts: tuple[str, ...]
    """Names of :data:`PARTS`."""
    device: str = "cpu"

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
        return {"setups": [setup.to_dict() for setup in self.setups], "parts": list(self.parts), "device": self.device}

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> Self:
        """Returns the plan that :meth:`to_dict` wrote."""
        return cls(tuple(map(setup_from, held["setups"])), tuple(held["parts"]), held["device"])

    def units(self) -> Iterator[Unit]:
        """Yields each part for each setup."""
        for number in range(len(self.parts) * len(self.setups)):
            yield Unit(number, 0, 1)

    def what(self, unit: Unit) -> tuple[str, Setup]:
        """Returns the part and the setup of ``unit``."""
        part, setup = divmod(unit.part, len(self.setups))
        return self.parts[part], self.setups[setup]

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that compiles a unit, and returns the seconds that it took."""

        def compile_part(unit: Unit) -> Found:
            part, setup = self.what(unit)
            began = time.perf_counter()
            with _unannounced():
                PARTS[part].use(setup, self.device)
            return {"seconds": time.perf_counter() - began}

        return compile_part


@contextmanager
def _unannounced() -> Iterator[None]:
    """Switches the notice of each process off (``core.compile_notice``), as the parts are reported."""
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
    """Returns plans of which each can be compiled in parallel, one after the other: the rules first, then what calls them.

    On a CPU they have one setup of each game, on a GPU all; a part that has nothing to compile for the device is left out.
    """
    setups = plan.setups if plan.device != "cpu" else tuple({setup.game.name: setup for setup in reversed(plan.setups)}.values())
    parts = tuple(part for part in plan.parts if plan.device == "cpu" or PARTS[part].on_gpu)
    split = (tuple(part for part in parts if part == FIRST), tuple(part for part in parts if part != FIRST))
    return [CompilePlan(setups, some, plan.device) for some in split if some]


def precompile(plan: CompilePlan, workers: int) -> Iterator[Compiled]:
    """Compiles ``plan`` in ``workers`` processes, or with one in this process; yields the parts as they are finished.

    Raises :class:`~nainjaune_env.core.errors.DeviceError` where there is no such device, and
    :class:`~nainjaune_env.core.errors.WorkError` where processes are killed again and again.
    """
    for stage in stages(plan):
        jobs = min(workers, len(stage.setups) * len(stage.parts))
        executor = Processes(jobs) if jobs > 1 else InProcess()
        with closing(executor.results(stage, (), stage.units())) as results:
            for unit, found in results:
                yield Compiled(*stage.what(unit), found["seconds"])
