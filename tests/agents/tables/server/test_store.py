"""The file of a server: plies once and in order, tokens as hashes only, old tables go."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from nainjaune_agents.tables.server.store import DEAL, Pass, Store, new_token
from nainjaune_env.core.errors import ConfigError
from tests.agents.tables.server.pages import opened


def test_plies_tokens_and_settings_come_back(tmp_path: Path) -> None:
    path, seat, looks, host = tmp_path / "a.sqlite", new_token(), new_token(), new_token()
    with opened(path) as store:
        store.add_table("t", {"x": [1]}, {seat: Pass("t", 2), looks: Pass("t", None)})
        store.add_passes({host: Pass(None, None)})
        for number, action in enumerate([5, 3, DEAL], 1):
            store.add_ply("t", number, action)
        with pytest.raises(sqlite3.IntegrityError):
            store.add_ply("t", 3, 4)  # played once
        with pytest.raises(sqlite3.IntegrityError):
            store.add_table("u", {}, {host: Pass("u", 0)})  # added whole or not at all
    with opened(path) as store:
        assert store.settings("t") == {"x": [1]}
        assert store.plies("t") == [5, 3, DEAL]
        passes = [store.find_pass(token) for token in (seat, looks, host, "x")]
        assert passes == [Pass("t", 2), Pass("t", None), Pass(None, None), None]
        assert store.num_tables() == 1
        assert store.remove_old(1.0) == 0
        assert store.remove_old(-1.0) == 1
        assert (store.num_tables(), store.plies("t"), store.find_pass(seat)) == (0, [], None)
        assert store.find_pass(host) == Pass(None, None)
        store.add_table("u", {}, {seat: Pass("u", None)})
        shown = store.host_token()
        store.remove_hosts()
        assert store.host_token() != shown
        assert (store.find_pass(host), store.find_pass(seat)) == (None, Pass("u", None))


def test_only_the_owner_reads_it_and_it_holds_no_token(tmp_path: Path) -> None:
    path, token = tmp_path / "a.sqlite", new_token()
    path.touch()
    path.chmod(0o644)
    with opened(path) as store:
        store.add_table("t", {}, {token: Pass("t", 0)})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert token.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no database " * 100, encoding="utf-8")
    with pytest.raises(ConfigError, match="is no file of tables"):
        Store(tmp_path / "x")
    newer = sqlite3.connect(tmp_path / "y")
    newer.execute("pragma user_version = 9")
    newer.close()
    with pytest.raises(ConfigError, match="the version 9"):
        Store(tmp_path / "y")
    with pytest.raises(ConfigError, match="is a folder"):
        Store(tmp_path)


@pytest.mark.parametrize("pragma", ["journal_mode = wal", "user_version = 3"])
@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("create table tokens (id, name); insert into tokens values (null, 'mine')", "tokens"),
        ("create view tables as select 1 as id", "tables"),
    ],
)
def test_files_of_other_programs_are_refused_and_not_written_to(tmp_path: Path, pragma: str, script: str, name: str) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(f"pragma {pragma}; {script}")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=f"it has another program's table '{name}'"):
        Store(path)
    assert path.read_bytes() == before


def test_a_rematch_is_found_until_it_is_deleted(tmp_path: Path) -> None:
    with opened(tmp_path / "a.sqlite") as store:
        store.add_table("t", {}, {})
        assert store.find_rematch("t") is None
        for rematch in ("u", "v"):
            store.add_table(rematch, {}, {}, rematch_of="t")
            assert store.find_rematch("t") == rematch
            store.delete_table(rematch)
            assert store.find_rematch("t") is None
        store.add_table("w", {}, {}, rematch_of="u")  # which was deleted meanwhile
        assert store.find_rematch("u") is None


def test_files_of_killed_servers_are_opened(tmp_path: Path) -> None:
    path, token = tmp_path / "a.sqlite", new_token()
    with opened(path) as store:
        store.add_passes({token: Pass(None, None)})
        (tmp_path / "killed").mkdir()
        for each in (path, path.with_name("a.sqlite-wal")):
            shutil.copy(each, tmp_path / "killed")
    with opened(tmp_path / "killed" / "a.sqlite") as store:
        assert store.find_pass(token) == Pass(None, None)
        store.add_replay(new_token(), "x", b"")
