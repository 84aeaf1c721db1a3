"""Folders of finished units that are copied, damaged, cut short, of another run: resumed rightly, or refused in a sentence."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from nainjaune_agents.measure.distributed.resumed import Resumed
from nainjaune_agents.measure.distributed.units import Executor, InProcess, WorkPlan, WorkUnit
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import WorkError
from tests.agents.measure.distributed.runs import figures, plan_of

from .mutations import damage_bytes
from .oracle import Fault, Fuzzer, check_nothing_lost, refused, tree


class PartFolders(Fuzzer):
    """A run that three jobs have played, with some files altered, which is read or goes on."""

    name = "parts"
    short = 8
    long = 500

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.plan = plan_of(deals=8)
        self.whole, self.other = folder / "whole", folder / "other"
        self.expected = figures(self.plan)
        for number in (1, 2, 3):
            for _ in Resumed(self.whole, InProcess(), (number, 3)).results(*self._played()):
                pass
        figures(plan_of(deals=8, seed=2), Resumed(self.other, InProcess()))

    def _played(self) -> tuple[WorkPlan, list[Agent], Iterator[WorkUnit]]:
        return self.plan, [load_agent(name, self.plan.setup) for name in self.plan.agents], self.plan.units()

    def case(self, rng: random.Random) -> None:
        place = self.folder / "place"
        shutil.copytree(self.whole, place)
        try:
            done = [self._alter(place, rng) for _ in range(rng.randint(1, 3))]
            for executor in (None, InProcess(), None):
                self._check(executor, place, f"{'reading' if executor is None else 'going on'} after {'; '.join(done)}")
        finally:
            shutil.rmtree(place)

    def _check(self, executor: Executor | None, place: Path, where: str) -> None:
        before, result = tree(place), list[str]()
        refused(lambda: result.append(figures(self.plan, Resumed(place, executor))), WorkError, where=where)
        if result not in ([], [self.expected]):
            raise Fault(f"{where}: other results")
        check_nothing_lost(before, tree(place), where)

    def _alter(self, place: Path, rng: random.Random) -> str:
        """Alters a file of the folder; returns what was done."""
        paths = sorted(place.iterdir())
        path, source = rng.choice(paths), rng.choice(paths)
        kind = rng.randrange(6)
        if kind == 0:
            (place / "copy.jsonl").write_bytes(source.read_bytes())
            return f"{source.name} copied to copy.jsonl"
        if kind == 1:
            one, two = path.read_bytes(), source.read_bytes()
            path.write_bytes(two)
            source.write_bytes(one)
            return f"{source.name} and {path.name} swapped"
        if kind == 2 and rng.random() < 0.2:
            for other in self.other.iterdir():
                shutil.copy(other, place)
            return "another run beside it"
        if kind == 3:
            path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size + 1)])
            return f"{path.name} cut short"
        if kind == 4:
            lines = path.read_bytes().splitlines(keepends=True) + source.read_bytes().splitlines(keepends=True)
            rng.shuffle(lines)
            path.write_bytes(b"".join(lines))
            return f"{path.name} with the lines of {source.name} in another order"
        path.write_bytes(damage_bytes(path.read_bytes(), rng))
        return f"{path.name} damaged"
