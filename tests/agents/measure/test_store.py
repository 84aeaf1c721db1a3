"""Rows in a folder: what survives damage, kills and full disks, what is not believed, and what plays it again finds."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.rows import ROW, Row
from nainjaune_agents.measure.store import Store
from nainjaune_env.core.errors import WorkError
from tests.agents.measure.distributed.test_segments import Failing
from tests.agents.measure.stores import SOURCE, Counting, kept, measurement, numbers
from tests.agents.measure.test_rows import BOTS, KEY, content, row
from tests.support.source import ROOT

PAIR = ("lowest", "tally")


def added(folder: Path, *rows: Row) -> None:
    with Store(folder) as store:
        store.add(rows)


def all_of(store: Store) -> list[Row]:
    places = store.keys()
    rows = [
        one for key, first, deals in places for one in store.pieces(key, first, deals) if (one.first, one.deals) == (first, deals)
    ]
    assert len(rows) == len(places)
    return rows


def test_the_same_twice_is_fine_and_something_else_is_not(tmp_path: Path) -> None:
    with Store(tmp_path) as one, Store(tmp_path) as other:
        one.add([row(0, 4)])
        other.add([replace(row(0, 4), made={"package": "2.0"})])
    store = Store(tmp_path)
    assert len(store.pieces(KEY, 0, 4)) == 1
    store.add([row(0, 4)])
    store.close()
    assert len([*tmp_path.iterdir()]) == 2  # nothing is written again
    wrong = replace(row(0, 4), leader=np.zeros(4, np.int64))
    with pytest.raises(
        WorkError, match=r"deals 0 to 3 of a cell came out otherwise in 'here' than in '.*jsonl': .* changed under"
    ):
        Store(tmp_path).add([wrong])
    added(tmp_path, replace(wrong, first=4))
    added(tmp_path / "b", wrong)
    for path in (tmp_path / "b").iterdir():
        shutil.move(path, tmp_path)
    with pytest.raises(
        WorkError, match=r"deals 0 to 3 of a cell came out otherwise in '.*\.jsonl' than in '.*\.jsonl': .* Remove one"
    ):
        Store(tmp_path)


def test_where_a_program_had_faults_deals_may_come_out_otherwise(tmp_path: Path) -> None:
    late = replace(row(0, 4), bots={"bots": {"bot": {**BOTS["bots"]["bot"], "faults": {"timeout": 1}}}})
    added(tmp_path, late)
    added(tmp_path, replace(late, leader=np.zeros(4, np.int64)))
    store = Store(tmp_path)
    assert store.keys() == []
    assert store.verify(5, np.random.default_rng(0), lambda one: one) == (0, [])
    assert store.get(KEY, 0, 4) is not None


SPANS = st.lists(st.tuples(st.integers(0, 3 * ROW), st.integers(1, ROW), st.sampled_from("ab")), max_size=6)


@settings(max_examples=30, deadline=None)
@given(SPANS, st.integers(0, 3 * ROW), st.integers(1, 2 * ROW))
def test_what_is_there_is_found(
    tmp_path_factory: pytest.TempPathFactory, spans: list[tuple[int, int, str]], first: int, deals: int
) -> None:
    """Rows begin anywhere, and cross no multiple of ROW."""
    folder, there = tmp_path_factory.mktemp("rows"), {"a": set[int](), "b": set[int]()}
    for at, count, hero in spans:
        some = min(count, ROW - at % ROW)
        there[hero] |= {*range(at, at + some)}
        added(folder, row(at, some, KEY._replace(hero=hero)))
    store = Store(folder)
    for hero, known in there.items():
        key = KEY._replace(hero=hero)
        covered = next((at - first for at in range(first, first + deals) if at not in known), deals)
        assert store.covered(key, first, deals) == covered
        whole = store.get(key, first, deals)
        assert (whole is None) == (covered < deals)
        assert whole is None or content(whole) == content(row(first, deals, key))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def edited(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"first":8', b'"first":9', 1))


def copied(path: Path) -> None:
    shutil.move(path, path.with_name("copy.jsonl"))


def foreign(path: Path) -> None:
    from nainjaune_agents.measure.distributed.segments import Segments

    path.unlink()
    with Segments(path.parent) as made:
        made.append({"number": 1}, {"first": 3})


@pytest.mark.parametrize(
    ("damage", "says", "again"),
    [
        (cut, None, 1),
        (edited, "has a damaged line, line 6: expected a JSON object with its SHA-256", 1),
        (copied, "copy.jsonl' was copied, renamed or damaged, and is not read", 10),
        (foreign, "has 2 lines that are no rows of payoffs.", 10),
    ],
)
def test_damage_is_named_and_played_again(damage: Callable[[Path], None], says: str | None, again: int, tmp_path: Path) -> None:
    whole = numbers(kept(tmp_path, PAIR, chunk=8))
    damage(next(tmp_path.iterdir()))
    named = Store(tmp_path).damaged
    assert [says is not None and says in one for one in named] == [True] * (says is not None)
    executor = Counting()
    assert numbers(kept(tmp_path, PAIR, executor=executor, chunk=8)) == whole
    assert len(executor.played) == again
    after = Counting()
    kept(tmp_path, PAIR, executor=after, chunk=8)
    assert after.played == []


def test_looks_are_kept_once(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for deals in (40, 40, 80):
            store.add_look("s", ("a", "b"), deals)
        store.add_look("s", ("c", "b"), 7)
        store.add_look("other", ("a", "b"), 9)
    with Store(tmp_path) as store:
        assert store.looks("s", ("a", "b", "d")) == {40, 80}
        assert store.looks("s", ("a", "d")) == set()
        assert store.damaged == []
        store.add_look("s", ("a", "b"), 40)
    assert sum(path.read_bytes().count(b'"look"') for path in tmp_path.iterdir()) == 4


def test_playing_rows_again_finds_one_that_changed(tmp_path: Path) -> None:
    names = ("random", "tally")
    table = kept(tmp_path / "a", names, 40, chunk=8, measure=True, together=True)
    assert table.deals == 40
    store = Store(tmp_path / "a")
    player = measurement(names, store=store, together=True)
    assert store.verify(10**6, np.random.default_rng(1), player.replay) == (7 * 5, [])
    assert store.verify(3, np.random.default_rng(1), player.replay) == (3, [])
    others = measurement(("tally", "closer"), store=store)
    assert store.verify(10**6, np.random.default_rng(1), others.replay) == (5, [])  # of the one that is there, alone
    another = measurement(names, store=store, source=OwnGame(SOURCE.setup, 4))
    assert store.verify(10**6, np.random.default_rng(1), another.replay) == (0, [])
    rows = all_of(store)
    at = next(number for number, one in enumerate(rows) if one.key.kind == "payoff" and one.first == 8)
    rows[at] = replace(rows[at], values=rows[at].values + 1)
    added(tmp_path / "b", *rows)
    changed = Store(tmp_path / "b")
    compared, differing = changed.verify(10**6, np.random.default_rng(1), player.replay)
    assert (compared, [(one.key, one.first) for one in differing]) == (7 * 5, [(rows[at].key, 8)])


BATCHED = """
class Bot:
    name = "bot"
    depends_on_batch = True
    def act(self, decisions, rng):
        mask = decisions.mask
        lowest, highest = mask.argmax(axis=1), mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        return lowest if len(mask) % 3 else highest
"""


def test_of_players_that_depend_on_the_batch_the_unit_is_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text(BATCHED, encoding="utf-8")
    names = ("bot.py:Bot", "tally", "lowest")
    kept(Path("rows"), names[:2], 2, chunk=2)
    kept(Path("rows"), names, 300, chunk=300)
    store = Store(Path("rows"))
    player = measurement(names, store=store)
    assert store.verify(99, np.random.default_rng(1), player.replay) == (len(store.keys()), [])
    units = [
        json.loads(line).get("made", {}).get("unit") for path in Path("rows").iterdir() for line in path.read_text().splitlines()
    ]
    assert {(unit["first"], unit["deals"]) for unit in units if unit} == {(0, 2), (0, 300)}
    added(Path("bare"), *(replace(one, made={}) for one in all_of(store)))
    bare = Store(Path("bare"))
    assert bare.verify(99, np.random.default_rng(1), player.replay)[1] != []


def test_a_full_disk_is_an_error_and_the_same_command_goes_on(tmp_path: Path) -> None:
    whole, at, failed = numbers(fold(measurement(PAIR, chunk=10))), 0, True
    while failed:
        at, said = at + 1, ""
        folder = tmp_path / str(at)
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(patch, at, lasts=True)
            with contextlib.suppress(WorkError):
                said = "nothing" if kept(folder, PAIR, chunk=10) else said
            failed = failing.count >= at
        assert (said == "") == failed
        executor = Counting()
        assert numbers(kept(folder, PAIR, executor=executor, chunk=10)) == whole
        assert len(executor.played) <= (8 if failed else 0)
    assert at > 10


KILLED = """
import os, signal, sys
from pathlib import Path
from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.store import Store
from tests.agents.measure.stores import measurement

real = {name: getattr(os, name) for name in ("open", "write", "fsync", "ftruncate", "mkdir")}

def child(folder, at, acknowledge):
    count = 0
    def counting(name):
        def call(*arguments, **options):
            nonlocal count
            count += 1
            if count == at:
                if name == "write":
                    real[name](arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real[name](*arguments, **options)
        return call
    for name in real:
        setattr(os, name, counting(name))
    with Store(folder) as store:
        player = measurement(("lowest", "tally"), store=store, chunk=10)
        for unit, rows in player.fill(*player.missing()):
            real["write"](acknowledge, b".")

fold(measurement(("lowest", "tally"), chunk=10))  # compiled code is loaded once
at, killed = 0, True
while killed:
    at += 1
    reading, acknowledge = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            child(Path(sys.argv[1], str(at)), at, acknowledge)
        finally:
            os._exit(0)
    os.close(acknowledge)
    killed = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
    print(len(os.read(reading, 100)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it has neither fork nor SIGKILL")
def test_killed_at_any_file_operation_nothing_is_lost_but_rows_in_progress(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    whole = numbers(fold(measurement(PAIR, chunk=10)))
    units = [*map(int, done.stdout.split())]
    assert units[-1] == 8
    for at, count in enumerate(units, 1):
        executor = Counting()
        assert numbers(kept(tmp_path / str(at), PAIR, executor=executor, chunk=10)) == whole
        assert 7 - count <= len(executor.played) <= 9 - count  # the last units may be on their way
    assert len(units) > 15
