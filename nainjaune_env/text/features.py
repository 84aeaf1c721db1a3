"""The words of a game that has none of its own: RULES.md, knobs by their meanings, features and actions by their names."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.speech import Utterance

from .words import texts_of

_TABLES = re.compile(r"<!-- (?:knobs|presets):.*?<!-- end -->\n*", re.DOTALL)
"""The tables of all values of all knobs."""


class FeatureWords:
    """The :class:`~nainjaune_env.core.speech.SeatWords` of such a game; what the game itself says is in English."""

    def __init__(self, game: GameSpec) -> None:
        self.game = game

    def first_number(self, setup: Setup) -> int:
        """Returns 0: a move has the number of its action."""
        return 0

    def rules(self, setup: Setup, language: str, *, long: bool) -> list[str]:
        """Returns the knobs and the features with their meanings; in the long form after the game's RULES.md, if it has one."""
        say = texts_of(language)
        about = {f.name: f.metadata["meaning"] for f in fields(setup.rules)}
        knobs = [say.knob.format(name=name, value=value, meaning=about[name]) for name, value in setup.rules.to_dict().items()]
        meanings = [f"{feature.name}{say.colon}{feature.meaning}" for feature in setup.layout]
        return [*(self._articles() if long else []), *knobs, say.sees, *meanings]

    def _articles(self) -> list[str]:
        home = importlib.import_module(self.game.package).__file__
        path = Path(home or "").with_name("RULES.md")
        return [_TABLES.sub("", path.read_text(encoding="utf-8")).strip()] if path.is_file() else []

    def describe(self, setup: Setup, table: Any, language: str) -> list[tuple[str, str]]:
        """Returns the seat to act, and what it observes, by feature."""
        say = texts_of(language)
        observation = np.zeros(setup.layout.size, np.uint8)
        self.game.kernel.encode(table, setup.kernel_rules, int(table.seat), observation)
        head = say.head.format(preset=setup.preset, seat=int(table.seat), players=setup.players)
        views = setup.layout.views(observation)
        return [(head, say.choose), *((name, " ".join(map(str, view.ravel().tolist()))) for name, view in views.items())]

    def details(self, setup: Setup, table: Any, language: str) -> list[tuple[str, str]]:
        """Returns an empty list: the features are all that is seen."""
        return []

    def named(self, table: Any, action: int, language: str) -> str:
        """Returns the action's name."""
        return self.game.actions[action]

    def note(self, setup: Setup, table: Any, action: int, language: str) -> str:
        """Returns an empty text."""
        return ""

    def heard(
        self, setup: Setup, opening: Any, plies: Iterable[tuple[int, int]], seat: int, language: str
    ) -> list[list[Utterance]]:
        """Returns the names of the actions if every seat sees every action, else nothing of any ply."""
        if self.game.rewind is None:
            return [[] for _ in plies]
        return [[Utterance(who, self.game.actions[action])] for who, action in plies]
