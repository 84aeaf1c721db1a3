"""Calls of language models on disk: their answers are kept for all processes, and paid once."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from nainjaune_agents.players.chat.store import AnswerStore, Completion
from nainjaune_env.core.errors import AgentError, ConfigError
from tests.agents.players.chat.conftest import Local, act, loaded

FIRST, SECOND, LOST = Completion("Move: 1", False, 10, 2), Completion("Move: 2\n", True, 10, 3), Completion(None, False, 5, 50)


def test_one_file_serves_several_and_of_two_answers_to_a_request_the_first_is_kept(tmp_path: Path) -> None:
    one, other = AnswerStore(str(tmp_path)), AnswerStore(str(tmp_path))
    assert one.add("a", b"1", LOST) == LOST
    assert other.get(b"1") is None
    assert one.spent() == other.spent() == (1, 55)
    assert one.add("a", b"1", FIRST) == other.add("b", b"1", SECOND) == other.get(b"1") == FIRST
    assert other.add("b", b"2", SECOND) == one.get(b"2") == SECOND
    assert one.spent() == other.spent() == AnswerStore(str(tmp_path)).spent() == (4, 55 + 12 + 13 + 13)
    one.close()
    other.close()


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(ConfigError, match=r"is no file for the answers of language models\. file is not a database"):
        AnswerStore(str(tmp_path))
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE calls (number INTEGER)")
    other.close()
    with pytest.raises(ConfigError, match=r"is no file for the answers of language models\. no such column"):
        AnswerStore(str(tmp_path))


def test_a_file_that_cannot_be_written_any_more_is_a_sentence(local: Local, tmp_path: Path) -> None:
    says = re.escape(f"{str(tmp_path / 'cache')!r} can no longer be read or written. ")
    with loaded(local, "lowest", tmp_path, at_once=1) as agent:
        agent._endpoint.store._connection.execute("PRAGMA query_only=ON")
        with pytest.raises(AgentError, match=f"{says}attempt to write"):
            act(agent, 3)
        assert len(local.asked()) == 1
    with pytest.raises(AgentError, match=says):
        act(agent, 3)
    assert local.asked() == []
