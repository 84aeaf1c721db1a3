"""The log of a batch holds what was stepped, and changes nothing that is played."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, DeviceError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine import log as log_module
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.log_arrays import COUNT, DEALT, FIRST, KNOWN, OPENING, LogArrays
from nainjaune_env.engine.workers import MIN_TABLES_STEPPED
from nainjaune_env.records.recorder import log_of
from nainjaune_env.registry import make_setup
from tests.support.contract import all_setups, any_setup, everything, has_matches
from tests.support.ply_by_ply import Episode, PlyByPly, is_logged

every_setup = pytest.mark.parametrize("setup", all_setups())

FORCED_FIRST = make_setup("nain_jaune", "djeco", 3, ranks=5, suits=4, hand=2)
"""Hands so small that many rounds begin with forced plies."""
NO_DECISION = make_setup("nain_jaune", "classic", 6, ranks=6, suits=3, hand=2, max_rounds=3, starting_stack=49)
"""Hands so small that some rounds, and some matches, have no decision."""


def options_of(setup: Setup) -> list[dict[str, Any]]:
    """All ways to play ``setup`` on a batch that its log depends on."""
    episodes = ["round", "match"] if has_matches(setup) else ["round"]
    each = itertools.product(episodes, (True, False), (True, False))
    return [dict(zip(("episode", "autoreset", "skip_forced"), values, strict=True)) for values in each]


def check(played: PlyByPly) -> None:
    """Asserts that the log says what was played, by each of its names."""
    log = log_of(played.batch)
    for i, episode in enumerate(played.episodes):
        count, first = len(episode.actions), episode.first
        assert is_logged(log.episode(i), episode)
        assert is_logged(log.round(i), Episode(episode.dealt, episode.dealt, episode.seats[first:], episode.actions[first:]))
        assert (log.count[i], log.first[i]) == (count, first)
        assert (log.opening[i].tobytes(), log.dealt[i].tobytes()) == (episode.opening, episode.dealt)
        assert (log.seat[i, :count].tolist(), log.action[i, :count].tolist()) == (episode.seats, episode.actions)
        ended = played.ended[i]
        assert ended is None or is_logged(log.ended_episode(i), ended)


def play(played: PlyByPly, steps: int, draws: NDArray[np.uint64], *, every: int = 7) -> None:
    """Plays at random, and checks the log again and again."""
    for step in range(steps):
        played.step(played.batch.sample(draws))
        if step % every == 0:
            check(played)
    check(played)


def arrays_of(batch: Batch) -> list[bytes]:
    """All arrays of the state but the log."""
    return [array.tobytes() for array in batch.arrays.state().values()]


@every_setup
def test_a_log_changes_nothing_that_is_played(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "SPACE", 2)
    for options in options_of(setup):
        with_log, without = (Batch(setup, 4, seed=6, log=log, **options) for log in (True, False))
        draws = streams(7, 4)
        for step in range(40):
            assert arrays_of(with_log) == arrays_of(without)
            actions = without.sample(draws)
            for batch in (with_log, without):
                if step == 20:
                    batch.set_tables([0, 2], batch.tables[[3, 1]])
                    batch.reset([1])
                    batch.step(batch.mask.argmax(axis=1))
                else:
                    batch.step(actions)
        assert arrays_of(with_log) == arrays_of(without)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    setup=st.one_of(any_setup(), st.sampled_from([FORCED_FIRST, NO_DECISION])),
    seed=st.integers(0, 2**64 - 1),
    space=st.integers(1, 5),
    autoreset=st.booleans(),
    skip_forced=st.booleans(),
    match=st.booleans(),
)
def test_the_log_is_what_was_stepped_under_any_rules_whatever_its_space(
    setup: Setup, seed: int, space: int, autoreset: bool, skip_forced: bool, match: bool
) -> None:
    episode = "match" if match and has_matches(setup) else "round"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(log_module, "SPACE", space)
        played = PlyByPly(setup, 2, seed=seed, episode=episode, autoreset=autoreset, skip_forced=skip_forced)
        play(played, 60, streams(seed, 2, stream=1))
        assert log_of(played.batch).known.all()
        assert log_of(played.batch).seat.shape[1] > space  # it has grown


@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus", "signal_lamps"])
@pytest.mark.parametrize("autoreset", [True, False])
def test_threads_write_the_same_log(game: str, autoreset: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "SPACE", 2)
    setup, tables = make_setup(game), MIN_TABLES_STEPPED + 44
    alone, shared = (Batch(setup, tables, seed=1, autoreset=autoreset, log=True, threads=threads) for threads in (1, 2))
    draws, worked = streams(2, tables), 0
    for step in range(25):
        actions = alone.sample(draws)
        for batch in (alone, shared):
            batch.step(actions)
        for batch in (alone, shared):
            if step == 12:
                batch.reset(np.arange(0, tables, 2), seed=9)
            elif step == 15:
                batch.restore(batch.save())
            elif step == 18 and not autoreset:
                batch.undo(np.flatnonzero(batch.legal)[1::6])
        assert everything(alone) == everything(shared)
        worked += shared._workers is not None  # they end where the log has grown
    assert 0 < worked < 25
    assert log_of(shared).seat.shape[1] >= 16


@every_setup
def test_tables_that_are_set_begin_an_episode(setup: Setup) -> None:
    """As a deal leaves them, all plies of the round are known; in the middle they are not, until the next round is dealt."""
    match: dict[str, Any] = {"episode": "match"} if has_matches(setup) else {}
    played, draws = PlyByPly(setup, 4, seed=2, **match), streams(3, 4)
    play(played, 6, draws)
    plies = (log_of(played.batch).count - log_of(played.batch).first)[:2].tolist()
    middle, dealt = played.batch.tables[[0, 1]].copy(), Batch(setup, 2, seed=7, skip_forced=False).tables.copy()
    played.set_tables(np.array([3, 1]), middle)
    played.set_tables(np.array([2]), dealt[:1])
    check(played)
    log = log_of(played.batch)
    assert log.first.tolist()[1:] == [0, 0, 0]
    # without `rewind` no table can be told from a deal, and after some steps a match may have just dealt a round
    known = [bool(setup.game.rewind is None or made == 0) for made in plies]
    assert log.known.tolist() == [True, known[1], True, known[0]]
    deals = played.batch.deals.copy()
    for step in range(150):
        played.step(played.batch.sample(draws))
        assert (log.known[[1, 3]] | (played.batch.deals[[1, 3]] == deals[[1, 3]])).all()
        if step % 10 == 0:
            check(played)
    assert log.known.all()


@pytest.mark.parametrize("start", ["fresh", "carried"])
def test_a_reset_of_some_tables_leaves_the_log_of_others(start: Any) -> None:
    setup = make_setup("nain_jaune", "classic", 3)
    played, draws = PlyByPly(setup, 6, seed=2, start=start, autoreset=False), streams(3, 6)
    play(played, 9, draws)
    before = [log_of(played.batch).episode(i).actions.tolist() for i in range(6)]
    played.reset(np.array([4, 1]), seed=5)
    check(played)
    after = [log_of(played.batch).episode(i).actions.tolist() for i in range(6)]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True, True, False, True]
    while not played.batch.done.all():
        play(played, 10, draws)
    played.reset(np.array([0, 5]), carry=start == "carried")
    check(played)
    assert log_of(played.batch).first[[0, 5]].tolist() == [0, 0]


def test_without_autoreset_the_episode_that_ended_is_the_one_that_is_there() -> None:
    batch = Batch(make_setup("nain_jaune", "djeco", 3), 3, autoreset=False, log=True)
    batch.play_out(streams(1, 3))
    log = log_of(batch)
    for i in range(3):
        one, other = log.episode(i), log.ended_episode(i)
        assert len(one.actions) > 5
        assert all(np.array_equal(here, there) for here, there in zip(one, other, strict=True))


def test_what_a_log_hands_out_is_a_copy() -> None:
    played, draws = PlyByPly(make_setup("nain_jaune", "djeco", 3), 2, seed=2), streams(3, 2)
    play(played, 5, draws)
    for plies in (log_of(played.batch).episode(0), log_of(played.batch).round(1), log_of(played.batch).ended_episode(0)):
        plies.opening["seat"] = 2
        plies.seats[:] = 7
        plies.actions[:] = 7
    check(played)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))], ids=["copy", "pickle"])
@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus", "signal_lamps"])
def test_a_copy_goes_on_with_a_log_of_its_own(game: str, copied: Callable[[Batch], Batch], monkeypatch: Any) -> None:
    monkeypatch.setattr(log_module, "SPACE", 4)
    batch, draws = Batch(make_setup(game), 3, seed=2, log=True), streams(7, 3)
    for _ in range(10):
        batch.step(batch.sample(draws))
    other, before = copied(batch), everything(batch)
    actions = []
    for _ in range(40):
        actions.append(other.sample(draws))
        other.step(actions[-1])
    assert everything(batch) == before
    for row in actions:
        batch.step(row)
    assert everything(other) == everything(batch)


# ---------------------------------------------------------------- saved and restored


@pytest.mark.parametrize("trusted", [True, False])
@every_setup
def test_what_is_saved_is_restored(setup: Setup, trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also into a batch whose log has more space, or less."""
    monkeypatch.setattr(log_module, "SPACE", 3)
    for options in options_of(setup):
        batch, other = (Batch(setup, 3, seed=seed, log=True, **options) for seed in (1, 2))
        draws = streams(3, 3)
        for step in range(24):
            batch.step(batch.sample(draws))
            if step % 8 == 0:
                saved = batch.save()
                before = {name: array.tobytes() for name, array in saved.items()}
                other.restore(saved, trusted=trusted)
                assert everything(other) == everything(batch)
                ahead = streams(4, 3)
                for _ in range(6):
                    actions = other.sample(ahead)
                    other.step(actions)
                assert {name: array.tobytes() for name, array in saved.items()} == before
        assert sorted(saved) == sorted([*batch.arrays.state(), *(f"log_{name}" for name in LogArrays._fields)])
        used = int(log_of(batch).arrays.marks[:-1, COUNT].max()) + 1
        saved = batch.save()
        saved["log_plies"] = saved["log_plies"][:, :used]
        other.restore(saved, trusted=trusted)
        ahead = streams(4, 3)
        for _ in range(20):
            actions = batch.sample(ahead)
            for each in (batch, other):
                each.step(actions)
        assert arrays_of(other) == arrays_of(batch)
        for i in range(3):
            assert np.array_equal(log_of(other).episode(i).actions, log_of(batch).episode(i).actions)
            assert np.array_equal(log_of(other).ended_episode(i).actions, log_of(batch).ended_episode(i).actions)


Damage = Callable[[dict[str, NDArray[Any]]], object]
TO_PLIES = r"^A batch restores a state of its own: expected its log to hold the plies that lead to the tables\.$"
COUNTS = r"expected 'log_marks' to count 0 to 127 plies, with those before the current round\.$"


def written(plies: NDArray[np.int8], value: Any, *place: int) -> None:
    plies[place] = value


DAMAGES: dict[str, tuple[Damage, str]] = {
    "another action": (lambda s: written(s["log_plies"], s["log_plies"][0, 0, 1] ^ 1, 0, 0, 1), TO_PLIES),
    "an action that does not exist": (lambda s: written(s["log_plies"], 99, 1, 2, 1), TO_PLIES),
    "a negative action": (lambda s: written(s["log_plies"], -1, 1, 2, 1), TO_PLIES),
    "another seat": (lambda s: written(s["log_plies"], s["log_plies"][2, 1, 0] ^ 1, 2, 1, 0), TO_PLIES),
    "a seat that does not exist": (lambda s: written(s["log_plies"], 9, 2, 1, 0), TO_PLIES),
    "an action of an ended episode": (lambda s: written(s["log_plies"], -1, 4, 0, 1), TO_PLIES),
    "a ply less": (lambda s: written(s["log_marks"], s["log_marks"][0, COUNT] - 1, 0, COUNT), TO_PLIES),
    "a ply more": (lambda s: written(s["log_marks"], s["log_marks"][0, COUNT] + 1, 0, COUNT), TO_PLIES),
    "a ply less of an ended episode": (lambda s: written(s["log_marks"], s["log_marks"][5, COUNT] - 1, 5, COUNT), TO_PLIES),
    "another opening": (lambda s: written(s["log_tables"], s["log_tables"][1, OPENING], 0, OPENING), TO_PLIES),
    "another deal": (lambda s: written(s["log_tables"], s["log_tables"][1, DEALT], 0, DEALT), TO_PLIES),
    "an opening with another generator": (lambda s: written(s["log_tables"]["rng"], 5, 0, OPENING), TO_PLIES),
    "an opening that cannot be": (lambda s: written(s["log_tables"]["seat"], 7, 0, OPENING), r"cannot occur: expected a seat"),
    "another first ply": (lambda s: written(s["log_marks"], 1, 0, FIRST), TO_PLIES),
    "more plies than there is space": (lambda s: written(s["log_marks"], 128, 0, COUNT), COUNTS),
    "more plies of an ended episode": (lambda s: written(s["log_marks"], 128, 3, COUNT), COUNTS),
    "a huge count": (lambda s: written(s["log_marks"], 2**62, 0, COUNT), COUNTS),
    "a negative count": (lambda s: written(s["log_marks"], -1, 0, COUNT), COUNTS),
    "a first ply after the last": (lambda s: written(s["log_marks"], s["log_marks"][0, COUNT] + 1, 0, FIRST), COUNTS),
    "a negative first ply": (lambda s: written(s["log_marks"], -1, 0, FIRST), COUNTS),
    "half known": (lambda s: written(s["log_marks"], 2, 0, KNOWN), COUNTS),
    "a mark that it is full": (lambda s: written(s["log_marks"], 1, -1, COUNT), COUNTS),
    "no plies": (lambda s: s.pop("log_plies"), r"expected 'log_plies' to be an array, not None|expected 'log_plies' to be "),
    "no seats": (lambda s: s.update(log_plies=s["log_plies"][:, :, 1]), r"expected 'log_plies' to be .* not .*\(6, 128\)\.$"),
    "fewer tables": (lambda s: s.update(log_plies=s["log_plies"][:5]), r"expected 'log_plies' to be .* not .*\(5, 128, 2\)\.$"),
    "fewer marks": (lambda s: s.update(log_marks=s["log_marks"][:6]), r"expected 'log_marks' to be .* not .*\(6, 3\)\.$"),
    "larger numbers": (lambda s: s.update(log_plies=s["log_plies"].astype(int)), r"'log_plies' to be .*int8.* not .*int64"),
    "no space": (lambda s: s.update(log_plies=s["log_plies"][:, :0]), r"expected 'log_marks' to count 0 to -1 plies"),
    "too little space": (lambda s: s.update(log_plies=s["log_plies"][:, :2]), r"expected 'log_marks' to count 0 to 1 plies"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus"])
def test_a_damaged_log_is_refused_and_changes_nothing(game: str, damage: str) -> None:
    batch, draws = Batch(make_setup(game, players=3), 3, seed=1, log=True), streams(3, 3)
    while not all(log_of(batch).arrays.marks[:-1, COUNT] > 3):
        batch.step(batch.sample(draws))
    saved, before = batch.save(), everything(batch)
    alter, says = DAMAGES[damage]
    alter(saved)
    with pytest.raises(DealError, match=says):
        batch.restore(saved)
    assert everything(batch) == before


def test_a_state_without_a_log_is_restored_by_a_batch_without_one_alone() -> None:
    setup = make_setup("nain_jaune", players=3)
    with_log, without = (Batch(setup, 3, seed=1, log=log) for log in (True, False))
    without.restore(with_log.save())
    assert arrays_of(without) == arrays_of(with_log)
    with pytest.raises(DealError, match=r"^A batch restores a state of its own: expected 'log_tables' to be "):
        with_log.restore(without.save())


# ---------------------------------------------------------------- played to the end


@pytest.mark.parametrize("autoreset", [True, False])
@every_setup
def test_play_out_is_the_same_with_a_log(setup: Setup, autoreset: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "SPACE", 2)
    episodes = ["round", "match"] if has_matches(setup) else ["round"]
    for episode in episodes:
        made: dict[str, Any] = {"seed": 3, "episode": episode, "autoreset": autoreset}
        with_log, without = (Batch(setup, 4, log=log, **made) for log in (True, False))
        draws, ahead = [streams(5, 4) for _ in "ab"], streams(6, 4)
        for _ in range(3):
            actions = without.sample(ahead)
            for batch in (with_log, without):
                batch.step(actions)
        for _ in range(2):  # the second time without autoreset all tables are done
            steps = [batch.play_out(rows) for batch, rows in zip((with_log, without), draws, strict=True)]
            assert steps[0].tolist() == steps[1].tolist()
            assert draws[0].tolist() == draws[1].tolist()
            assert arrays_of(with_log) == arrays_of(without)
        for i in range(4):
            opening, seats, actions = log_of(with_log).ended_episode(i)
            plain = Batch(setup, 1, skip_forced=False, **{**made, "autoreset": False}, deal=False)
            plain.set_tables(0, opening)
            for seat, action in zip(seats.tolist(), actions, strict=True):
                assert plain.seat[0] == seat
                plain.step([action])
            assert plain.done[0]


# ---------------------------------------------------------------- options


def test_only_batches_on_the_cpu_have_a_log() -> None:
    class Elsewhere(Batch):
        device = "cuda"

    with pytest.raises(DeviceError, match=r"^A log of plies is kept on the CPU, not on a GPU\.$"):
        Elsewhere(make_setup(), 2, log=True)
    assert Batch(make_setup(), 2).log is None


@pytest.mark.parametrize("log", [True, False])
def test_a_batch_may_deal_later(log: bool) -> None:
    setup = make_setup("nain_jaune", players=3)
    later, dealt = Batch(setup, 3, deal=False, log=log), Batch(setup, 3, seed=4, log=log)
    assert not later.deals.any()
    assert not later.legal.any()
    assert not later.tables.view(np.uint8).any()
    later.reset(seed=4)
    assert everything(later) == everything(dealt)
    later, draws = Batch(setup, 3, deal=False, log=log), streams(1, 3)
    later.set_tables(None, dealt.tables)
    for _ in range(30):
        actions = dealt.sample(draws)
        for batch in (later, dealt):
            batch.step(actions)
    assert arrays_of(later) == arrays_of(dealt)
