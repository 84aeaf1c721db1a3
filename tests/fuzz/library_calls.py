"""Calls of a game's library with odd arguments, in a process of their own that must live: refused, and then nothing has changed.

    python -m tests.fuzz.library_calls LIBRARY GAME SEED CALLS

makes the calls. What a caller must see to is not damaged: tables and logs in memory, and rules that ``pack`` has written.
"""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nainjaune_env.build.wasm import describe, knob_limits, sizes_of
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.log_arrays import COUNT, KNOWN
from nainjaune_env.engine.start_values import MAX_START_VALUE
from nainjaune_env.registry import game_names
from tests.support.libraries import EXTENSIONS, Library, Tables, library_of

from .oracle import Fault, Fuzzer

SMALL = "signal_lamps"
"""The game that is built in seconds."""
TIMEOUT = 600
"""Seconds for the calls of a case."""
LOW, HIGH = -(1 << 31), (1 << 31) - 1
OPTIONS = 5
WHOLE_MATCH, AUTORESET = -5, -2
"""Places of options in ``numbers``, from the end."""


def odd(rng: random.Random, high: int = 8) -> int:
    """Returns a number of 32 bits: often from 0 to ``high``, else one at an edge or anywhere."""
    return rng.choice([rng.randint(0, high), rng.randint(0, high), rng.randint(-2, 70), LOW, HIGH, rng.randint(LOW, HIGH)])


class Session:
    """A session, and what a call of each function must return for the arguments that ``rng`` draws."""

    def __init__(self, library: Library, rng: random.Random) -> None:
        self.library, self.rng, self.game = library, rng, library.game
        self.size, self.limits = sizes_of(self.game), limits_of(self.game)
        self.agents = len(describe(self.game, EXTENSIONS)["agents"]) - 1
        self.drawn = False
        """Whether ``worlds[0]`` is a table that can occur."""

    @property
    def playable(self) -> bool:
        numbers = self.library.session["numbers"]
        return self.size.fewest <= numbers[0] <= self.size.seats and not numbers[AUTORESET]

    @property
    def begun(self) -> bool:
        return self.playable and bool(self.library.session["log_marks"][0, KNOWN])

    def may_take(self, action: int) -> bool:
        session = self.library.session
        legal = 0 <= action < self.size.actions and int(session["legal"][0]) >> action & 1
        return bool(self.begun and legal and not session["log_marks"][1, COUNT])

    def call(self, name: str, *args: int, refused: bool | None = None) -> int:
        """Calls ``name``; raises :class:`Fault` unless it is refused where it must be, and then nothing has changed."""
        before = self.state()
        result = self.library(name, *args)
        where = f"{name}{args} of {self.game.name}"
        if refused is not None and (result == -1) != refused:
            raise Fault(f"{where} returns {result}")
        if result == -1 and self.state() != before:
            raise Fault(f"{where}: refused, and the session has changed")
        self.library.guarded.check()
        return result

    def state(self) -> bytes:
        """Returns all but the scratch memory."""
        fields: Any = self.library.session.dtype.fields
        first = fields["memory"][1]
        return b"".join(
            part.tobytes() for part in (self.library.block[:first], self.library.block[first + 8 * self.size.memory :])
        )

    def pack(self) -> None:
        session, rng = self.library.session, self.rng
        preset = rng.choice([*self.game.presets.values()])
        knobs = [*preset.rules.numbers()]
        for _ in range(rng.choice([0, 0, 1, 2])):
            if knobs:
                place = rng.randrange(len(knobs))
                low, high = self.limits[place]
                knobs[place] = rng.choice([low, high, rng.randint(low, high), low - 1, high + 1, -(1 << 63), (1 << 63) - 1])
        session["knobs"][: len(knobs)] = knobs
        session["numbers"][-OPTIONS:] = [rng.choice([0, 0, 1, 7]) for _ in range(OPTIONS)]
        players = rng.choice([rng.choice(preset.players), odd(rng)])
        outside = any(not low <= knob <= high for knob, (low, high) in zip(knobs, self.limits, strict=True))
        if self.call("pack", players, refused=outside or not self.size.fewest <= players <= self.size.seats) == 0:
            self.drawn = False

    def begin(self) -> None:
        rng, values = self.rng, self.library.session["start_values"]
        values[:] = [
            rng.choice([0, 1, 9, MAX_START_VALUE, MAX_START_VALUE + 1, LOW]) if rng.random() < 0.2 else 3 for _ in values
        ]
        count = rng.choice([0, 0, self.size.start_values, odd(rng)])
        valid = count == 0 or (count == self.size.start_values and ((values >= 0) & (values <= MAX_START_VALUE)).all())
        self.call("begin", rng.getrandbits(63), count, refused=not (self.playable and valid))

    def take(self, name: str) -> None:
        legal = int(self.library.session["legal"][0])
        actions = [action for action in range(63) if legal >> action & 1]
        action = self.rng.choice(actions) if actions and self.rng.random() < 0.8 else odd(self.rng, 24)
        self.call(name, action, refused=not self.may_take(action))

    def place(self) -> None:
        session = self.library.session
        if self.begun:
            session["tables"] = session["worlds"][0] if self.drawn and self.rng.random() < 0.5 else session["log_tables"][0, 0]
            self.call("place", 0, refused=not self.playable)
        elif not self.playable:
            self.call("place", odd(self.rng), refused=True)

    def deal(self) -> None:
        stage = self.library.session["tables"]["stage"][0]
        self.call("deal", refused=not self.begun or stage != Stage.ROUND_OVER)

    def rewind(self) -> None:
        count, full = self.library.session["log_marks"][0, COUNT], self.library.session["log_marks"][1, COUNT]
        plies = self.rng.choice([self.rng.randint(0, int(count)), odd(self.rng)])
        self.call("rewind", plies, refused=not (self.begun and 0 <= plies <= count and not full))

    def of_seat(self, name: str) -> None:
        seat = odd(self.rng)
        refused = not self.begun or not 0 <= seat < self.library.session["numbers"][0]
        self.drawn &= name != "redact" or refused
        self.call(name, seat, refused=refused)

    def draw(self) -> None:
        count, legal = odd(self.rng, self.size.worlds), self.library.session["legal"][0]
        result = self.call("resample", self.rng.getrandbits(63), count, refused=not (1 <= count <= self.size.worlds and legal))
        self.drawn |= result == 0

    def decide(self) -> None:
        agent, session = odd(self.rng), self.library.session
        valid = -1 <= agent < self.agents and session["legal"][0] and not session["log_marks"][1, COUNT]
        action = self.call("decide", agent, self.rng.getrandbits(63), refused=not valid)
        if valid and not int(session["legal"][0]) >> action & 1:
            raise Fault(f"decide({agent}) of {self.game.name} returns {action}")

    def playouts(self) -> None:
        agent, legal = odd(self.rng), int(self.library.session["legal"][0])
        tried = self.rng.choice([legal, legal & -legal, 0, -1, self.rng.getrandbits(62)])
        count = self.rng.choice([1, 2, 70, 0, -1, LOW])
        bad = not -1 <= agent < self.agents or count < 1 or tried <= 0 or bool(tried & ~legal)
        result = self.call("playouts", agent, self.rng.getrandbits(63), tried, count, refused=True if bad else None)
        self.drawn &= result != 0  # the worlds are redacted in between

    def any_call(self) -> None:
        """Makes one call."""
        kinds: list[Callable[[], None]] = [self.pack, self.begin, self.place, self.rewind, self.draw, self.decide, self.playouts]
        kinds += [lambda: self.take("step")] * 8 + [lambda: self.take("ply")]
        kinds += [lambda: self.of_seat("observe"), lambda: self.of_seat("redact")]
        kinds += [self.deal]
        self.rng.choice(kinds)()


def limits_of(game: GameSpec) -> list[tuple[int, int]]:
    """Returns the lowest and the highest number of each knob."""
    return [knob_limits(f.metadata) for f in dataclasses.fields(game.setup().rules)]


def many_tables(library: Library, rng: random.Random, numbers: Any, calls: int) -> None:
    """Makes ``calls`` calls at many tables under rules that were packed."""
    count, players = rng.choice([0, 1, 2, 5]), int(numbers[0])
    tables = Tables(library, count, numbers, players)
    agents = len(describe(library.game, EXTENSIONS)["agents"]) - 1
    hidden = tables.guarded.zeros((count, players, library.session["hidden_state"].size), np.uint8)
    states, actions = tables.guarded.zeros(count, np.uint64), tables.guarded.zeros(count, np.int32)
    for _ in range(calls):
        before = [getattr(tables, name).tobytes() for name in ("tables", "legal", "reward", "observation", "deals")]
        name = rng.choice(["reset_tables", "observe_tables", "decide_tables", *["step_tables"] * 6])
        if name == "reset_tables":
            states[:] = [rng.getrandbits(64) for _ in states]
            shape = (count, sizes_of(library.game).start_values)
            tables.start_values = rng.choice([None, np.full(shape, rng.choice([3, LOW, -1, MAX_START_VALUE]), np.int32)])
            result = tables(name, states)
        elif name == "observe_tables":
            result = tables(name)
        elif name == "decide_tables":
            agent = odd(rng)
            hidden[:] = 0
            result = tables(name, agent, states, hidden, actions)
            if (result == 0) != (-1 <= agent < agents):
                raise Fault(f"decide_tables({agent}) of {library.game.name} returns {result}")
        else:
            legal = [[a for a in range(63) if int(bits) >> a & 1] for bits in tables.legal]
            actions[:] = [rng.choice(each) if each and rng.random() < 0.95 else odd(rng, 24) for each in legal]
            ignored = tables.done.astype(bool) & (tables.numbers[AUTORESET] == 0)
            wrong = [i for i in range(count) if actions[i] not in legal[i] and not ignored[i]]
            result = tables(name, actions)
            if result != (-1 - wrong[0] if wrong else 0):
                raise Fault(f"step_tables({actions}) of {library.game.name} returns {result}; legal are {legal}")
        after = [getattr(tables, name).tobytes() for name in ("tables", "legal", "reward", "observation", "deals")]
        if result < 0 and before != after:
            raise Fault(f"{name} of {library.game.name}: refused, and the tables have changed")
        tables.guarded.check()


def make_calls(path: Path, game: str, seed: str, calls: int) -> None:
    """Makes ``calls`` calls at one table, and as many at several."""
    rng = random.Random(seed)
    library = Library(path, game)
    session = Session(library, rng)
    for _ in range(calls):
        session.any_call()
        if rng.random() < 0.02 and session.playable:
            numbers = library.session["numbers"].copy()
            numbers[AUTORESET] = rng.randint(0, 1) if not numbers[WHOLE_MATCH] else 0
            many_tables(library, rng, numbers, 50)


class LibraryCalls(Fuzzer):
    """Calls of a library; thorough cases are of all games, which take some minutes to build."""

    name = "library"
    short = 2
    long = 300

    def case(self, rng: random.Random) -> None:
        games = game_names() if self.thorough else [SMALL]
        game, calls = rng.choice([*games]), 2000 if self.thorough else 300
        command = ["-m", "tests.fuzz.library_calls", str(library_of(*games)), game, str(rng.getrandbits(64)), str(calls)]
        result = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=TIMEOUT)
        if result.returncode:
            raise Fault(f"python {' '.join(command)} ends with {result.returncode}: {result.stderr[-2000:]}")


if __name__ == "__main__":
    make_calls(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
