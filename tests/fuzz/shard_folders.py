"""Folders of shards that are copied, swapped, damaged, cut short, of another run: resumed rightly, or refused in a sentence."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

from nainjaune_agents.measure.arena.tournament import TournamentPlan
from nainjaune_agents.measure.distributed.plan_fields import read_plan
from nainjaune_agents.measure.distributed.shards import RUN_NAME, FinishedShards, Shards, read_run
from nainjaune_agents.measure.distributed.units import Executor, InProcess
from nainjaune_env.core.errors import WorkError
from tests.agents.measure.distributed.runs import figures, plan_of

from .mutations import damage_bytes, damage_value
from .oracle import Fault, Fuzzer, check_nothing_lost, refused, tree


class ShardFolders(Fuzzer):
    """A finished run with some files altered, which goes on or is merged."""

    name = "shards"
    short = 8
    long = 500

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.plan = plan_of(deals=8)
        self.whole, self.other = folder / "whole", folder / "other"
        self.expected = figures(self.plan, Shards(self.whole, InProcess()))
        figures(plan_of(deals=8, seed=2), Shards(self.other, InProcess()))

    def case(self, rng: random.Random) -> None:
        place = self.folder / "place"
        shutil.copytree(self.whole, place)
        try:
            done = [self._alter(place, rng) for _ in range(rng.randint(1, 3))]
            for executor in (Shards(place, InProcess()), FinishedShards(place)):
                self._check(executor, place, f"{type(executor).__name__} after {'; '.join(done)}")
            self._read(place, f"reading after {'; '.join(done)}")
        finally:
            shutil.rmtree(place)

    def _check(self, executor: Executor, place: Path, where: str) -> None:
        before, result = tree(place), []
        refused(lambda: result.append(figures(self.plan, executor)), WorkError, where=where)
        if result not in ([], [self.expected]):
            raise Fault(f"{where}: other results")
        check_nothing_lost(before, tree(place), where)

    def _read(self, place: Path, where: str) -> None:
        """What ``merge`` does first, which takes the plan from the folder."""
        refused(lambda: next(read_plan(TournamentPlan, read_run(place)["plan"], "A folder").units()), WorkError, where=where)

    def _alter(self, place: Path, rng: random.Random) -> str:
        """Alters a file of the folder; returns what was done."""
        paths = sorted(place.glob("*.json"))
        path, source = rng.choice(paths), rng.choice(paths)
        kind = rng.randrange(7)
        if kind == 0 and path.name != RUN_NAME:
            path.unlink()
            return f"{path.name} removed"
        if kind == 1:
            shutil.copy(source, path.parent / f"{path.name}.tmp")
            (path.parent / f"{path.name}.tmp").replace(path)
            return f"{source.name} copied to {path.name}"
        if kind == 2:
            one, two = path.read_bytes(), source.read_bytes()
            path.write_bytes(two)
            source.write_bytes(one)
            return f"{source.name} and {path.name} swapped"
        if kind == 3 and (self.other / path.name).exists():
            shutil.copy(self.other / path.name, path)
            return f"{path.name} from another run"
        if kind == 4:
            (place / "copy.json").write_bytes(source.read_bytes())
            return f"{source.name} copied to copy.json"
        if kind == 5:
            path.write_bytes(damage_bytes(path.read_bytes(), rng))
            return f"{path.name} damaged"
        try:
            value = json.loads(path.read_bytes())
        except ValueError:  # damaged before
            return "nothing"
        path.write_text(json.dumps(damage_value(value, rng)), encoding="utf-8")
        return f"a value in {path.name} altered"
