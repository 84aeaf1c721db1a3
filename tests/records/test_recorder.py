"""Records of what is played on a batch, in every way of playing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.replay import ActionLog, Replay
from nainjaune_env.records.record import Record, setup_of, verify_record
from nainjaune_env.records.recorder import Recorder, history_of_round, log_of, record_of_episode
from nainjaune_env.registry import make_setup
from tests.support.contract import single
from tests.support.recorded import setups

DJECO = make_setup("nain_jaune", "djeco", 3)
SETUPS = [DJECO, make_setup("batasaurus", players=3), make_setup("batasaurus", players=3, memory="perfect", dinosaurs=4)]
every_setup = pytest.mark.parametrize("setup", SETUPS, ids=["nain_jaune", "batasaurus", "batasaurus short"])
NAMES = ["a", "b", "c"]


def recorder_of(batch: Batch, agents: Any = NAMES) -> Recorder:
    return Recorder(batch, agents, seed=11)


def won(record: Record) -> list[int]:
    """What each seat won in all, by the record."""
    if "piles" in record:
        return list(record["piles"])
    start = record["rounds"][0]["stacks"]
    return [after - before for after, before in zip(record["stacks"], start, strict=True)]


def test_a_round_by_itself_is_a_match_of_one_round() -> None:
    for preset in ("djeco", "classic"):
        setup = make_setup("nain_jaune", preset, 3)
        batch = Batch(setup, 1, seed=1, start={"pots": [3, 0, 0, 0, 8]}, log=True)
        recorder, choices = recorder_of(batch), streams(4, 1)
        records: list[Record] = []
        while not records:
            actions = batch.sample(choices)
            batch.step(actions)
            records = [record for _, record in recorder.stepped()]
        assert setup_of(records[0]).rules == replace(setup.rules, max_rounds=1)
        assert records[0]["rounds"][0]["pots"] == [3, 0, 0, 0, 8]
        assert verify_record(records[0]) == 1


def test_a_round_under_rules_without_an_end_can_be_recorded() -> None:
    batch = Batch(make_setup("nain_jaune", "classic", 3, max_rounds=None), 1, log=True)
    recorder, choices = recorder_of(batch), streams(4, 1)
    records: list[Record] = []
    while not records:
        batch.step(batch.sample(choices))
        records = [record for _, record in recorder.stepped()]
    assert verify_record(records[0]) == 1


def test_rounds_that_carry_on_a_match_are_refused() -> None:
    with pytest.raises(RecordError, match=r"rounds with start='carried' are neither\. Make the batch with episode='match'"):
        recorder_of(Batch(DJECO, 1, start="carried", log=True))
    recorder_of(Batch(DJECO, 1, start="carried", episode="match", log=True))


def test_names_may_differ_by_table() -> None:
    batch = Batch(DJECO, 2, autoreset=False, log=True)
    recorder, choices = recorder_of(batch, [["a", "b", "c"], ["c", "a", "b"]]), streams(4, 2)
    seen = {}
    while len(seen) < 2:
        batch.step(batch.sample(choices))
        seen.update({i: record["agents"] for i, record in recorder.stepped()})
    assert seen == {0: ["a", "b", "c"], 1: ["c", "a", "b"]}


@pytest.mark.parametrize("agents", [["a", "b"], [["a", "b", "c"]], [["a", "b"], ["a", "b"]], []])
def test_names_that_do_not_fit_are_refused(agents: Any) -> None:
    with pytest.raises(RecordError, match="Expected 3 agents' names in seat order, or such a row for each of 2 tables"):
        recorder_of(Batch(DJECO, 2, log=True), agents)


@every_setup
def test_a_reset_begins_anew_and_drops_what_was_unfinished(setup: Setup) -> None:
    batch = Batch(setup, 2, seed=1, autoreset=False, log=True)
    recorder, choices = recorder_of(batch), streams(4, 2)
    for _ in range(4):
        batch.step(batch.sample(choices))
        recorder.stepped()
    batch.reset([0])
    records = {}
    while len(records) < 2:
        batch.step(batch.sample(choices))
        records.update(recorder.stepped())
    assert all(verify_record(record) == 1 for record in records.values())


@every_setup
@pytest.mark.parametrize("autoreset", [True, False])
def test_a_recorder_may_come_in_the_middle_of_an_episode(setup: Setup, autoreset: bool) -> None:
    """The log of the batch holds it from its beginning."""
    batch, choices = Batch(setup, 1, seed=1, autoreset=autoreset, log=True), streams(4, 1)
    gained, opening = np.zeros(3, np.int64), single(setup, 1).tables[0]
    recorder: Recorder | None = None
    while not batch.done[0]:
        if log_of(batch).count[0] > 5 and recorder is None:
            recorder = Recorder(batch)
        batch.step(batch.sample(choices))
        gained += batch.reward[0]
    assert recorder is not None
    ((table, record),) = recorder.stepped()
    assert (table, verify_record(record), won(record)) == (0, 1, gained.tolist())
    logged = log_of(batch).ended_episode(0) if autoreset else log_of(batch).episode(0)
    assert logged.opening.tobytes() == opening.tobytes()
    assert recorder.record(0) == record  # with the same cards
    assert recorder.stepped() == ([(0, record)] if autoreset else [])


@every_setup
def test_an_episode_set_in_its_middle_is_refused_when_it_ends(setup: Setup) -> None:
    batch, choices = Batch(setup, 1, seed=1, log=True), streams(4, 1)
    recorder = recorder_of(batch)
    batch.step(batch.sample(choices))
    batch.set_tables(0, batch.tables[0].copy())
    batch.step(batch.sample(choices))
    while not batch.done[0]:
        assert recorder.stepped() == []
        batch.step(batch.sample(choices))
    with pytest.raises(RecordError, match="A record begins with a match's first deal"):
        recorder.stepped()


def test_a_batch_without_a_log_is_refused() -> None:
    batch = Batch(DJECO, 2, autoreset=False)
    sentence = r"^Records and pictures read the log of a batch: make it with log=True\.$"
    with pytest.raises(RecordError, match=sentence):
        recorder_of(batch)
    with pytest.raises(RecordError, match=sentence):
        history_of_round(batch, 0)
    batch.play_out(streams(1, 2))
    with pytest.raises(RecordError, match=sentence):
        record_of_episode(batch, 0, agents=NAMES)


@every_setup
def test_an_episode_that_runs_has_no_record(setup: Setup) -> None:
    batch = Batch(setup, 2, seed=1, autoreset=False, log=True)
    recorder = recorder_of(batch)
    for give in (lambda: recorder.record(1), lambda: record_of_episode(batch, 1, agents=NAMES)):
        with pytest.raises(RecordError, match=r"^A record is of a finished episode, and this one is not\.$"):
            give()
    batch.play_out(streams(1, 2))
    assert record_of_episode(batch, 1, agents=NAMES, seed=11) == recorder_of(batch).record(1)


def test_the_history_of_a_round_is_that_of_the_current_round_of_a_match() -> None:
    batch, choices = Batch(DJECO, 3, seed=1, episode="match", log=True), streams(4, 3)
    later = 0
    for _ in range(150):
        for i in range(3):
            history = history_of_round(batch, i)
            replay = Replay(DJECO, history["opening"])
            list(replay.plies(ActionLog(history["actions"])))
            assert replay.table.tobytes() == batch.tables[i].tobytes()
            assert int(history["opening"]["rounds"]) == int(batch.tables["rounds"][i])
            later += int(history["opening"]["rounds"]) > 1
        batch.step(batch.sample(choices))
    assert later > 50


@pytest.mark.parametrize("autoreset", [True, False])
def test_one_match_that_cannot_be_recorded_is_refused_once_and_nothing_else_is_lost(autoreset: bool) -> None:
    """Two tables play the same; the first one is set in the middle of its first episode."""
    batch = Batch(DJECO, 2, autoreset=autoreset, log=True)
    batch.reset(seeds=np.array([5, 5], np.uint64))
    recorder = recorder_of(batch)
    refused, result = list[str](), list[tuple[int, Record]]()
    for step in range(200):
        actions = batch.mask.argmax(axis=1)
        batch.step(actions)
        try:
            result += recorder.stepped()
        except RecordError as error:
            refused.append(str(error))
        if step == 0:
            batch.set_tables(0, batch.tables[0].copy())
    assert len(refused) == 1
    assert "A record begins with a match's first deal" in refused[0]
    first, second = ([record for table, record in result if table == number] for number in (0, 1))
    assert len(second) > 2 if autoreset else len(second) == 1
    assert [won(record) for record in first] == [won(record) for record in second[1:]]
    assert all(verify_record(record) == 1 for record in second)


def record_matches(
    setup: Setup, *, tables: int, matches: int, seed: int = 1, autoreset: bool = True, episode: Any = "match", **options: Any
) -> int:
    """Plays matches, or rounds, at random and verifies a record of each; returns their number."""
    batch = Batch(setup, tables, seed=seed, episode=episode, autoreset=autoreset, log=True, **options)
    recorder, choices = Recorder(batch), streams(4, tables)
    records = {i: recorder.record(i) for i in np.flatnonzero(batch.done).tolist()} if not autoreset else {}
    count = sum(verify_record(record) > 0 for record in records.values())
    gained = batch.reward.astype(np.int64)
    while count < matches and not (batch.done.all() and not autoreset):
        batch.step(batch.sample(choices))
        gained += batch.reward
        for i, record in recorder.stepped():
            assert batch.done[i]
            assert won(record) == gained[i].tolist()
            gained[i] = 0
            count += verify_record(record) > 0
            assert episode == "match" or verify_record(record) == 1
    return count


SHORT = make_setup("nain_jaune", "classic", 6, ranks=6, suits=3, hand=2, max_rounds=2, starting_stack=49)


def test_rounds_without_a_decision_are_recorded_too() -> None:
    """Hands of two cards: of some matches the first round, of others all rounds, are forced plies alone."""
    assert record_matches(SHORT, tables=100, matches=200) >= 200
    assert record_matches(SHORT, tables=100, matches=100, autoreset=False) == 100


short_hands = st.builds(
    lambda players, **knobs: make_setup("nain_jaune", "classic", players, ranks=6, suits=3, **knobs),
    players=st.integers(4, 6),
    hand=st.integers(2, 3),
    max_rounds=st.integers(1, 3),
    starting_stack=st.sampled_from([None, 49, 60]),
    decline=st.sampled_from(["never", "entry", "always"]),
)


@given(st.one_of(setups(), short_hands), st.integers(0, 2**32), st.booleans(), st.booleans(), st.sampled_from(["round", "match"]))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_episodes_under_any_rules_are_recorded(setup: Setup, seed: int, autoreset: bool, skip_forced: bool, episode: str) -> None:
    options: dict[str, Any] = {"seed": seed, "autoreset": autoreset, "skip_forced": skip_forced, "episode": episode}
    assert record_matches(setup, tables=3, matches=3, **options) >= 3
