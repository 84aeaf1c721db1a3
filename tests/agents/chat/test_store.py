"""Answers of language models on disk: kept for all processes, and asked for by one at a time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.chat import agent as agents
from nainjaune_agents.chat import store
from nainjaune_agents.chat.store import AnswerStore, Completion
from nainjaune_env.core.errors import AgentError, ConfigError
from tests.agents.chat.conftest import Local, loaded
from tests.agents.chat.test_agent import decisions_of, lowest

CLAIMS = """
import sys, time
from nainjaune_agents.chat import store
store.LEASE = float(sys.argv[2])
assert store.AnswerStore(sys.argv[1]).get_or_claim(b"1") is None
print("claimed", flush=True)
time.sleep(60)
"""


def test_the_file_of_answers_serves_several_and_another_file_is_refused(tmp_path: Path) -> None:
    one, other = AnswerStore(str(tmp_path)), AnswerStore(str(tmp_path))
    one.add("a", b"1", Completion("Move: 1", False, 10, 2))
    other.add("b", b"2", Completion("Move: 2\n", True, 10, 2))
    other.count("a", 5, 0)
    assert one.get(b"2") == Completion("Move: 2\n", True, 10, 2)
    assert one.get(b"3") is None
    assert one.spent() == other.spent() == (3, 25, 4)
    one.close()
    other.close()
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "answers.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(ConfigError, match="is no file for the answers of language models"):
        AnswerStore(str(tmp_path / "x"))


def test_a_file_that_cannot_be_written_any_more_is_a_sentence_before_anything_is_paid(local: Local, tmp_path: Path) -> None:
    with loaded(local, "lowest", tmp_path) as agent:
        agent._conversations._store._connection.execute("PRAGMA query_only=ON")
        with pytest.raises(AgentError, match=re.escape(f"{str(tmp_path / 'cache')!r} can no longer be read or written. attempt")):
            agent.act(decisions_of(3), np.random.default_rng(0))
    assert local.asked() == []


def test_an_answer_without_room_is_a_sentence(tmp_path: Path) -> None:
    one = AnswerStore(str(tmp_path))
    one._connection.execute("PRAGMA max_page_count=1")
    with pytest.raises(AgentError, match=r"written\. database or disk is full\.$"):
        one.add("a", b"1", Completion("x" * 100_000, False, 10, 2))
    assert one.spent() == (0, 0, 0)
    one.close()
    for fails in (one.renew, one.spent, lambda: one.get(b"1"), lambda: one.count("a", 1, 1), lambda: one.release(b"1")):
        with pytest.raises(AgentError, match="can no longer be read or written"):
            fails()


def test_a_request_is_asked_by_one_at_a_time_and_a_killed_process_blocks_nobody_for_long(tmp_path: Path) -> None:
    start = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", CLAIMS, str(tmp_path), "1.5"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        claimed = time.monotonic()
        process.send_signal(signal.SIGKILL)
        one, other = AnswerStore(str(tmp_path)), AnswerStore(str(tmp_path))
        assert one.get_or_claim(b"2") is None  # another request
        assert one.get_or_claim(b"1") is None
        end = time.monotonic()
        assert end - start > 1.5
        assert end - claimed < 5
    threading.Timer(0.3, lambda: one.add("a", b"1", Completion("Move: 1", False, 10, 2))).start()
    assert other.get_or_claim(b"1") == Completion("Move: 1", False, 10, 2)
    one.release(b"1")
    threading.Timer(0.3, lambda: one.release(b"2")).start()
    assert other.get_or_claim(b"2") is None
    one.release(b"2")  # it is the other's now
    assert not one._claim(b"2")
    one.close()
    other.close()


def test_of_two_answers_to_a_request_the_first_is_kept(tmp_path: Path) -> None:
    """Its process was stopped for longer than its claim."""
    one, other = AnswerStore(str(tmp_path)), AnswerStore(str(tmp_path))
    first, second = Completion("Move: 1", False, 10, 2), Completion("Move: 2", False, 10, 3)
    assert one.add("a", b"1", first) == other.add("a", b"1", second) == other.get(b"1") == first
    assert one.spent() == (2, 20, 5)
    one.close()
    other.close()


def test_a_claim_of_a_clock_that_was_put_back_blocks_nobody(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", CLAIMS, str(tmp_path), "3600"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        process.kill()
    one = AnswerStore(str(tmp_path))
    assert one._claim(b"1")
    one.close()


def test_a_call_that_takes_longer_than_a_claim_is_paid_once(
    local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LEASE", 0.5)
    monkeypatch.setattr(agents, "RENEWAL", 0.1)
    actions: list[list[int]] = []
    with loaded(local, "lowest-slower", tmp_path) as one, loaded(local, "lowest-slower", tmp_path) as other:
        threads = [
            threading.Thread(target=lambda who=who: actions.append(who.act(decisions_of(3), np.random.default_rng(0)).tolist()))
            for who in (one, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert actions == [lowest(3)] * 2
        assert len(local.asked()) == 3
        assert one._conversations._store.spent().calls == 3


def test_two_processes_that_ask_the_same_pay_once(local: Local, tmp_path: Path) -> None:
    words = ["--preset", "djeco", "--players", "3", "--deals", "2", "--seed", "4", "--base-url", local.url]
    words += ["--chat-cache", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", "evaluate", "--agents", "chat:lowest-slow", "closer", *words]
    quiet = {**os.environ, "NAINJAUNE_QUIET": "1"}
    runs = [
        subprocess.Popen([*command, "--out", str(tmp_path / name)], stdout=subprocess.DEVNULL, env=quiet) for name in ("a", "b")
    ]
    assert [run.wait() for run in runs] == [0, 0]
    digests = [row["digest"] for row in local.asked()]
    assert len(digests) == len(set(digests)) > 20
