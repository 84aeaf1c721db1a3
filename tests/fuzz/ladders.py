"""Folders of ladders with damaged files, pipes, and links that lead out: read, or refused in a sentence; nothing else changes."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

from nainjaune_agents.measure.distributed.segments import DIGEST, digest
from nainjaune_agents.measure.distributed.units import InProcess
from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_agents.measure.ladder.page import write_site
from nainjaune_agents.measure.ladder.play import NEXT, Players, play
from nainjaune_agents.measure.ladder.results import Results
from nainjaune_env.core.errors import NainJauneError
from tests.agents.measure.ladder.ladders import ROWS, ladder

from .mutations import damage_bytes, damage_value
from .oracle import Fault, Fuzzer, refused, tree

CHECK = {"entry": "closer", "identity": "x", "seed": 1, "rounds": 4, "repeated": 1, "differing": ["x"], "uncertain": 0}
LEFTOVER = ".x.json.0123456789abcdef.tmp"


class Ladders(Fuzzer):
    """A ladder that has played, with some of its files altered, which goes on."""

    name = "ladders"
    short = 20
    long = 1000

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.whole, self.there = folder / "whole", folder / "there"
        settings = ladder(self.whole, "closer", "lowest") / "ladder.toml"
        settings.write_text(settings.read_text(encoding="utf-8").replace("3, 2", "2"), encoding="utf-8")
        go_on(self.whole)
        (self.whole / "checks").mkdir()
        (self.whole / "checks" / "closer.json").write_text(json.dumps(CHECK), encoding="utf-8")
        deals = Results(read_ladder(self.whole)).pairings["djeco-2", "closer", "lowest"].deals
        wave = {"table": "djeco-2", "batches": [["closer", "lowest", deals]]}
        (self.whole / "results" / NEXT).write_text(json.dumps(wave), encoding="utf-8")
        (self.there / "games").mkdir(parents=True)
        for name in (LEFTOVER, "old.html", "games/old.html"):
            (self.there / name).write_text("{}", encoding="utf-8")

    def case(self, rng: random.Random) -> None:
        place, before = self.folder / "place", tree(self.there)
        shutil.copytree(self.whole, place)
        try:
            changes = "; ".join(self._alter(place, rng) for _ in range(rng.randint(1, 2)))
            refused(lambda: go_on(place), NainJauneError, OSError, where=changes)
            if tree(self.there) != before:
                raise Fault(f"{changes}: files outside of the folder changed")
        finally:
            shutil.rmtree(place)

    def _alter(self, place: Path, rng: random.Random) -> str:
        """Alters a file or a folder of the ladder; returns what was done."""
        path = rng.choice([path for path in sorted(place.rglob("*")) if not path.is_symlink()])
        name, kind = path.relative_to(place).as_posix(), rng.randrange(8)
        if path.is_dir() or kind == 0:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            path.symlink_to(rng.choice((self.there, self.there / "games", self.there / "new")))
            return f"{name} is a link"
        if kind == 1:
            path.unlink()
            os.mkfifo(path)
            return f"{name} is a pipe"
        if path.is_fifo():
            return "nothing"
        if kind == 2 or (path.suffix != ".json" and name != ROWS):
            path.write_bytes(damage_bytes(path.read_bytes(), rng))
            return f"{name} damaged"
        lines = path.read_bytes().splitlines(keepends=True)[1:] if name == ROWS else [path.read_bytes()]
        try:
            line = rng.choice(lines)
            value = damage_value(json.loads(line), rng)
        except (ValueError, IndexError):  # damaged before
            return "nothing"
        if DIGEST in value and rng.random() < 0.8:
            value[DIGEST] = digest(value)
        text = json.dumps(value)
        path.write_bytes(path.read_bytes().replace(line, f"{text}\n".encode()))
        return f"a value in {name} is another one: {text[:300]}"


def go_on(folder: Path) -> None:
    """What the command does: it plays, and writes the page."""
    read = read_ladder(folder)
    results, players = Results(read), Players(read)
    play(results, players, InProcess(), deals=1)
    write_site(results, players)
