"""Episodes decision by decision: what was played, what it came to, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.analysis.features import DECISION, Trace, choices_at, trace
from nainjaune_env.analysis.stats import tally
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from tests.support.contract import all_setups, any_setup, has_matches, payoffs
from tests.support.games import without

every_setup = pytest.mark.parametrize("setup", all_setups("features"))


class Played:
    """Episodes at random, with what the batch showed on the way."""

    def __init__(self, setup: Setup, seed: int, count: int, episode: Any = "round") -> None:
        opened = Batch(setup, count, seed=seed, episode=episode, skip_forced=False, autoreset=False, observe=False)
        batch = Batch(setup, count, seed=seed, episode=episode, autoreset=False, observe=False)
        draws = streams(seed, count, stream=1)
        self.setup, self.openings, self.episode = setup, opened.tables, episode
        self.payoff = batch.reward.astype(np.int64)
        self.log: list[list[tuple[int, ...]]] = [[] for _ in range(count)]  # seat, legal, action, earned, round
        begun, actions = batch.deals.copy(), []
        while not batch.done.all():
            actions.append(batch.sample(draws))
            for t in np.flatnonzero(~batch.done):
                seat, number = int(batch.seat[t]), int(batch.deals[t] - begun[t]) + 1
                self.log[t].append((seat, int(batch.legal[t]), int(actions[-1][t]), payoffs(batch, t)[seat], number))
            batch.step(actions[-1])
            self.payoff += batch.reward
        self.actions = np.array(actions, np.int64).reshape(-1, count)

    def trace(self, **options: Any) -> Trace:
        return trace(self.setup, self.openings, self.actions, episode=self.episode, **options)


def fields(records: Any, *names: str) -> list[tuple[int, ...]]:
    return list(zip(*(records[name].tolist() for name in names), strict=True))


def same(one: Any, two: Any) -> bool:
    """All fields alike; what lies between them is nobody's."""
    return len(one) == len(two) and all(np.array_equal(one[name], two[name]) for name in one.dtype.names)


def totals(traced: Trace, shape: tuple[int, ...]) -> Any:
    total = np.zeros(shape, np.int64)
    np.add.at(total, (traced.seat_episode, traced.seats["seat"]), traced.seats["payoff"])
    return total


@pytest.mark.slow
@every_setup
def test_rounds_are_told_as_they_were_played(setup: Setup) -> None:
    played = Played(setup, 3, 12)
    traced = played.trace()
    assert fields(traced.decisions, "seat", "legal", "action", "earned") == [row[:4] for log in played.log for row in log]
    assert traced.episode.tolist() == [t for t, log in enumerate(played.log) for _ in log]
    assert totals(traced, played.payoff.shape).tolist() == played.payoff.tolist()
    rows = traced.decisions
    assert (rows["payoff"] == played.payoff[traced.episode, rows["seat"]]).all()
    assert (rows["earned"] + rows["to_come"] == rows["payoff"]).all()
    assert ((rows["legal"] >> rows["action"] & 1) == 1).all()
    assert rows["choices"].tolist() == [int(word).bit_count() for word in rows["legal"]]
    best = played.payoff == played.payoff.max(axis=1, keepdims=True)
    sharing = np.where(best, best.sum(axis=1, keepdims=True), 0)
    assert traced.seats["sharing"].reshape(sharing.shape).tolist() == sharing.tolist()
    assert (rows["sharing"] == sharing[traced.episode, rows["seat"]]).all()
    numbers = [k + 1 for log in played.log for k in range(len(log))]
    assert rows["decision"].tolist() == numbers
    assert not rows["forced"].any()
    counts = np.zeros_like(played.payoff)
    np.add.at(counts, (traced.episode, rows["seat"]), 1)
    assert traced.seats["decisions"].tolist() == counts.ravel().tolist()
    distance = (np.arange(setup.players) - played.openings["seat"][:, None]) % setup.players
    assert traced.seats["distance"].reshape(distance.shape).tolist() == distance.tolist()


@every_setup
def test_what_a_seat_did_is_what_the_game_counts(setup: Setup) -> None:
    played = Played(setup, 4, 10)
    traced, n = played.trace(), setup.players
    assert setup.game.measures is not None
    expected = tally(setup, played.openings, played.actions, np.arange(10 * n).reshape(10, n), 10 * n)
    assert traced.tallies.view(np.int64).reshape(10 * n, -1).tolist() == expected.tolist()


@every_setup
def test_forced_plies_are_told_where_they_are_asked_for(setup: Setup) -> None:
    played = Played(setup, 5, 8)
    traced, few = played.trace(every_ply=True), played.trace()
    asked = traced.decisions["decision"] > 0
    assert (asked == ~traced.decisions["forced"].astype(bool)).all()
    for name in ("decisions", "positions", "choices"):
        assert same(getattr(traced, name)[asked], getattr(few, name))
    assert (traced.decisions["choices"][~asked] == 1).all()
    for name in ("seats", "dealt", "tallies"):
        assert getattr(traced, name).tobytes() == getattr(few, name).tobytes()
    plies = traced.seats["plies"].reshape(8, -1)[:, 0]
    assert plies.tolist() == np.bincount(traced.episode, minlength=8).tolist()
    assert traced.decisions["ply"].tolist() == [k + 1 for count in plies for k in range(count)]
    assert (~asked).any()


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(setup=any_setup("features"), seed=st.integers(0, 2**32))
def test_matches_under_any_knobs(setup: Setup, seed: int) -> None:
    if not has_matches(setup):
        return
    played = Played(setup, seed, 2, "match")
    traced = played.trace()
    assert totals(traced, played.payoff.shape).tolist() == played.payoff.tolist()
    expected = [row for log in played.log for row in log]
    assert fields(traced.decisions, "seat", "legal", "action", "earned", "round_number") == expected
    for t in range(2):
        numbers = traced.seats["round_number"][traced.seat_episode == t]
        assert numbers.tolist() == [k + 1 for k in range(len(numbers) // setup.players) for _ in range(setup.players)]


def test_tables_are_kept_as_the_seat_to_act_saw_them() -> None:
    (setup,) = all_setups("features")[0].values
    played = Played(setup, 6, 5)
    keep = np.random.default_rng(1).random(played.actions.shape) < 0.3
    traced = played.trace(keep=keep)
    decisions = traced.decisions
    rows = [k for k, t in enumerate(traced.episode) if keep[decisions["decision"][k] - 1, t] and decisions["choices"][k] > 1]
    assert traced.kept_row.tolist() == rows
    assert rows
    for table, row in zip(traced.kept, rows, strict=True):
        decision = traced.decisions[row]
        assert int(table.seat) == decision.seat
        assert int(setup.game.kernel.legal(table, setup.kernel_rules)) == decision.legal
        assert table.rng == 0
    batch = Batch(setup, len(rows))
    batch.set_tables(np.arange(len(rows)), traced.kept, trusted=True)
    assert batch.redacted().tobytes() == traced.kept.tobytes()
    assert len(played.trace().kept) == 0


def test_what_might_have_been_chosen_is_told_as_what_was() -> None:
    for case in all_setups("features")[::5]:
        (setup,) = case.values
        played = Played(setup, 8, 4)
        traced = played.trace(keep=np.ones(played.actions.shape, np.bool_))
        assert setup.game.features is not None
        seen = [column.name for column in setup.game.features.ACTION if column.seen]
        taken = traced.decisions["action"][traced.kept_row].astype(np.int64)
        result = choices_at(setup, traced.kept, np.arange(len(taken)), taken)
        assert all(np.array_equal(result[name], traced.choices[name][traced.kept_row]) for name in seen)


def test_where_a_round_is_dealt_is_told_of_every_seat() -> None:
    for case in all_setups("features")[::5]:
        (setup,) = case.values
        played, n = Played(setup, 7, 4), setup.players
        traced = played.trace(every_ply=True)
        first = np.flatnonzero(traced.decisions["ply"] == 1)
        assert same(traced.positions[first], traced.dealt[np.arange(4) * n + played.openings["seat"]])
        assert setup.game.features is not None
        row = np.zeros(1, traced.dealt.dtype)
        for t, seat in ((0, 0), (1, 1), (3, n - 1)):
            row[:] = np.zeros(1, row.dtype)
            setup.game.features.position(played.openings[t], setup.kernel_rules, seat, row[0])
            assert same(traced.dealt[t * n + seat : t * n + seat + 1], row)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda actions: actions[:2], r"Episode 0 is not finished by its actions, at most 2\.$"),
        (lambda actions: actions[:, :3], r"shape \(P, 6\), not int64 \(\d+, 3\)"),
        (lambda actions: actions + 0.5, r"whole numbers a step, .* not float64"),
        (lambda actions: actions + 256, r"\(actions are 0 to \d+\) is not legal at decision 1 of episode 0; legal: "),
        (lambda actions: -1 - actions, r"^Action -\d+ \(actions are"),
    ],
)
def test_what_does_not_fit_is_refused(spoil: Any, says: str) -> None:
    (setup,) = all_setups("features")[0].values
    played = Played(setup, 8, 6)
    with pytest.raises(RecordError, match=says):
        trace(setup, played.openings, spoil(played.actions))


def test_what_to_keep_has_the_shape_of_the_actions() -> None:
    (setup,) = all_setups("features")[0].values
    with pytest.raises(RecordError, match=r"the shape of the actions, \(\d+, 6\), not bool \(1, 6\)"):
        Played(setup, 8, 6).trace(keep=np.ones((1, 6), np.bool_))


def test_a_game_need_not_tell_anything() -> None:
    (setup,) = all_setups("features")[0].values
    silent = without(setup, "features")
    with pytest.raises(RecordError, match=f"{setup.game.title} has no columns for studies"):
        trace(silent, Played(setup, 1, 1).openings, np.zeros((1, 1), np.int8))


def test_the_general_columns_are_told_in_sentences() -> None:
    assert all(column.meaning.endswith(".") for column in DECISION)
