"""The course of a round, made from the log of its plies: pictures show the cards that the record of the match names."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nainjaune_agents.play.match_table import MatchTable
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.games.nain_jaune.view.scene import course_of
from nainjaune_env.registry import get_game


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_courses_show_the_cards_of_the_record_and_play_only_their_own_round(seed: int) -> None:
    setup = get_game("nain_jaune").setup("classic", 3, max_rounds=3)
    table, rng = MatchTable(setup, [None] * 3, seed=seed, chance=lambda number, index: RowStreams(index)), random.Random(seed)
    seen: list[tuple[Any, dict[str, Any]]] = []
    while not table.match_over:
        if table.round_over:
            table.deal()
        else:
            table.make_ply(rng.choice(table.legal))
        seen.append((table.position[0], dict(table.history)))
    record = table.record(["a", "b", "c"])
    courses = 0
    for position, history in seen[::7] + seen[-1:]:
        number = int(position["rounds"])
        assert int(history["opening"]["rounds"]) == number
        course = course_of(setup, history["opening"], history["actions"])
        moves = record["rounds"][number - 1]["moves"]
        assert [list(move) for move in course.moves] == moves[: len(history["actions"])]
        assert course.replay.table.tobytes() == position.tobytes()
        courses += number > 1
    assert len(record["rounds"]) == 3
    assert courses > 10
