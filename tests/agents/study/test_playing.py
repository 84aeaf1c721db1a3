"""Playing for a study: an episode depends on the seed and its number, and on nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure.arena.matches import record_matches
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.action_values import ActionEvaluator
from nainjaune_agents.study.playing import Chunk, Stream, StudySettings, play
from nainjaune_env.core.errors import AgentError, ConfigError, RecordError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup
from tests.support.games import without
from tests.support.positions import small

GAMES = [small(), make_setup("batasaurus", players=2)]


def agents(setup: Setup, *names: str) -> list[Any]:
    return [load_agent(name, setup) for name in names or ("random",)]


def rows(chunks: list[Chunk], name: str) -> list[str]:
    return [str(row) for chunk in chunks for row in getattr(chunk.trace, name)]


@pytest.mark.parametrize("setup", GAMES)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_a_longer_study_begins_with_a_shorter_one(setup: Setup, episode: Any) -> None:
    """However many are played at once."""
    plan = StudySettings(setup, agents(setup, "random", "random"), 5, episode=episode)
    few, many, some = list(play(plan, 5)), list(play(plan, 8, tables=3)), list(play(plan, 3, first=5))
    for name in ("decisions", "positions", "choices", "seats", "tallies"):
        assert rows(many, name) == rows(few, name) + rows(some, name)
        assert rows(few, name) != rows(some, name)
    assert [(chunk.first, chunk.count) for chunk in many] == [(0, 3), (3, 3), (6, 2)]
    seats = np.concatenate([chunk.seats for chunk in many])
    assert np.concatenate([chunk.seats for chunk in (*few, *some)]).tolist() == seats.tolist()
    assert rows(list(play(StudySettings(setup, plan.agents, 6, episode=episode), 5)), "decisions") != rows(few, "decisions")


def test_searched_decisions_are_the_same_however_many_are_played() -> None:
    setup = GAMES[0]
    one, two = agents(setup, "lowest", "random")
    plan = StudySettings(setup, [one, two], 5, evaluator=ActionEvaluator(setup, one, 4), share=0.3)
    few, many = list(play(plan, 12)), list(play(plan, 12, tables=5))
    means = [np.concatenate([chunk.values.mean for chunk in chunks if chunk.values]) for chunks in (few, many)]
    assert np.array_equal(*means, equal_nan=True)
    decisions = sum(int((chunk.trace.decisions["choices"] > 1).sum()) for chunk in few)
    assert 0.15 * decisions < len(means[0]) < 0.45 * decisions
    full = StudySettings(setup, [one, two], 5, evaluator=ActionEvaluator(setup, one, 4))
    assert sum(len(chunk.trace.kept_row) for chunk in play(full, 12)) == decisions
    # and nothing that is played depends on it
    assert rows(few, "decisions") == rows(list(play(StudySettings(setup, [one, two], 5), 12)), "decisions")


def test_agents_sit_where_they_are_told_to() -> None:
    setup = GAMES[0]
    three = agents(setup, "lowest", "highest", "random")
    fixed = next(play(StudySettings(setup, three, 1, seating="fixed"), 40))
    assert (fixed.seats == [0, 1, 2]).all()
    alone = next(play(StudySettings(setup, three[:1], 1, seating="fixed"), 4))
    assert not alone.seats.any()
    drawn = next(play(StudySettings(setup, three, 1), 400)).seats
    assert np.bincount(drawn.ravel()).tolist() == pytest.approx([400] * 3, abs=60)
    assert len(np.unique(drawn, axis=0)) == 27
    lowest = fixed.trace.decisions[fixed.trace.decisions["seat"] == 0]
    leads = fixed.trace.positions[fixed.trace.decisions["seat"] == 0]["required"] == 0
    below = fixed.trace.choices[fixed.trace.decisions["seat"] == 0]["below"]
    assert len(lowest)
    assert (below[leads] == 0).all()


def test_deals_are_none_of_those_of_tournaments_and_matches() -> None:
    setup = GAMES[0]
    chunk = next(play(StudySettings(setup, agents(setup), 3), 50))
    hands = {tuple(row) for row in chunk.trace.dealt["hand_bits"].reshape(50, -1).tolist()}
    states = {int(state) for state in streams(3, 1000)}
    assert not states & {int(state) for stream in Stream for state in streams(3, 1000, stream)}
    assert len(hands) == 50
    assert next(record_matches(setup, agents(setup), 1, seed=3))["seed"] == 3


def test_pots_may_be_given() -> None:
    setup = GAMES[0]
    chunk = next(play(StudySettings(setup, agents(setup), 3, pots=[100, 0, 0, 0, 7]), 3))
    antes = next(play(StudySettings(setup, agents(setup), 3), 3))
    assert (chunk.trace.dealt["pot"] - antes.trace.dealt["pot"]).tolist() == [[100, 0, 0, 0, 7]] * 9


def test_every_ply() -> None:
    setup = GAMES[0]
    chunk = next(play(StudySettings(setup, agents(setup), 3, every_ply=True), 3))
    assert chunk.trace.decisions["forced"].any()


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"seating": "somehow"}, ConfigError, "seating"),
        ({"agents": []}, AgentError, "at least one agent, not 0"),
        ({"agents": ["a", "b"], "seating": "fixed"}, AgentError, "one agent, or 3 in the order of the seats, not 2"),
        ({"seed": -1}, ConfigError, "at least 0, not -1"),
        ({"share": 0.0}, ConfigError, "above 0 and at most 1, not 0"),
        ({"share": 1.5}, ConfigError, "above 0 and at most 1, not 1.5"),
        ({"episode": "match", "setup": make_setup(preset="classic", max_rounds=None)}, RulesError, "no end"),
    ],
)
def test_what_cannot_be_played_is_refused(change: dict[str, Any], error: type[Exception], says: str) -> None:
    given: dict[str, Any] = {"setup": GAMES[0], "agents": agents(GAMES[0]), "seed": 1, **change}
    with pytest.raises(error, match=says):
        StudySettings(**given)


def test_a_game_must_tell_something() -> None:
    silent = without(GAMES[0], "features")
    with pytest.raises(RecordError, match="has no columns for studies"):
        StudySettings(silent, agents(GAMES[0]), 1)
