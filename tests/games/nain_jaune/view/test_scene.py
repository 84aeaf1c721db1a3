"""The course of a match: the last round that was replayed is remembered, and nothing else changes by it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.play.match_table import MatchTable
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.games.nain_jaune.view import scene
from nainjaune_env.games.nain_jaune.view.scene import course_to
from nainjaune_env.registry import get_game


def test_a_remembered_round_gives_the_same_course(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "MOST_BEGUN", 2)
    setup = get_game("nain_jaune").setup("classic", 3)
    rng = random.Random(2)
    tables = [
        MatchTable(setup, [None] * 3, seed=seed, chance=lambda number, index: RowStreams(index)) for seed in (1, 2, 3)
    ]  # one more than are remembered
    seen: list[tuple[Any, Any, dict[str, Any]]] = []
    for _ in range(250):
        for table in tables:
            if table.round_over:
                table.deal()
            else:
                table.make_ply(rng.choice(table.legal))
            seen.append((table, table.position[0], dict(table.history)))
    assert all(len(table.plies) > 2 for table in tables)

    def courses(forget: bool) -> list[Any]:
        found = []
        for table, position, history in seen[::7]:
            if forget:
                scene._begun.clear()
            own = np.random.default_rng(0)
            own.bit_generator.state = history["rng"].bit_generator.state
            course = course_to(table.setup, position, history["opening"], history["actions"], own, every_ply=True)
            found.append((course.moves, course.run, course.said, course.replay.cards.hands(), own.bit_generator.state))
        return found

    replayed = [0, 0]
    begin = scene.Replay.__init__

    def counted(self: Any, setup: Any, table: Any) -> None:
        replayed[1] += int(table["rounds"]) > 1
        replayed[0] += 1
        begin(self, setup, table)

    whole = courses(forget=True)
    monkeypatch.setattr(scene.Replay, "__init__", counted)
    assert courses(forget=False) == whole
    assert len(scene._begun) <= 2
    for _ in range(2):  # the second time the last round is remembered
        table, position, history = seen[-1]
        course_to(setup, position, history["opening"], history["actions"], np.random.default_rng(5), every_ply=True)
    assert replayed[1] >= 1
