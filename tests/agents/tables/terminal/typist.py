"""A person for tests: answers from a list, and all that the terminal showed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.tables.terminal.session import Session
from nainjaune_agents.tables.terminal.table import PersonsTable
from nainjaune_agents.tables.terminal.terminal import Terminal
from nainjaune_env.registry import make_setup


class Screen(io.StringIO):
    """Says of itself that it is a terminal."""

    def isatty(self) -> bool:
        return True


class Typist(Terminal):
    """A terminal at which the ``answers`` are typed; after the last one the input is at its end (Ctrl-D)."""

    def __init__(self, answers: Iterable[str], *, screen: bool = False, **options: Any) -> None:
        self.left: Iterator[str] = iter(answers)
        self.asked: list[str] = []
        super().__init__(out=Screen() if screen else io.StringIO(), inp=io.StringIO(), environment={}, read=self._type, **options)

    def _type(self, prompt: str) -> str:
        self.asked.append(prompt)
        answer = next(self.left, None)
        if answer is None:
            raise EOFError
        self.say(prompt + answer)
        return answer

    @property
    def shown(self) -> str:
        """All that was shown, answers included."""
        text: str = self.out.getvalue()  # type: ignore[attr-defined]
        return text


def persons_table(preset: str | None = None, players: int | None = None, **options: Any) -> PersonsTable:
    """A table against `random`; what is no option of ``PersonsTable`` is a knob."""
    own = {"seat": 0, "seed": 1, "language": "en", "by_rounds": False, "every_ply": False, "agent": "random"}
    own.update({name: options.pop(name) for name in own if name in options})
    setup = make_setup(None, preset, players, **options)
    agent = heuristics(setup.game.name)[own.pop("agent")]
    return PersonsTable(setup, own.pop("seat"), [agent] * (setup.players - 1), **own)


def session(table: PersonsTable, typist: Typist, **options: Any) -> Session:
    """A session with names by seat."""
    names = ["person" if seat == table.seat else f"rival {seat}" for seat in range(table.setup.players)]
    return Session(table, typist, names, **{"confirm": False, **options})
