"""The command ``serve``: what it prints, and errors before anything listens."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from nainjaune_env.core.atomic_files import locked
from tests.agents.cli.command import Capture, refused, status_of


class Stopped(asyncio.Event):
    """An event that is set from the start."""

    async def wait(self) -> bool:  # type: ignore[override]
        return True


def test_it_prints_the_link_and_stops_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    monkeypatch.setattr(asyncio, "Event", Stopped)
    path = tmp_path / "deep" / "t.sqlite"
    assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(path)]) == 0
    assert re.search(r"Whoever has this link makes new ones: http://127\.0\.0\.1:\d+/#[\w-]{32}\n", capfd.readouterr().out)
    assert path.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_in_order(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    """As soon as the link can be read, and also with an event loop that has no signal handlers of its own, as on Windows."""

    def printed(text: str, **options: Any) -> None:
        print(text, **options)
        if "http://" in text:
            signal.raise_signal(number)

    def missing(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr("asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler", missing, raising=False)
    monkeypatch.setattr("nainjaune_agents.cli.serve.print", printed, raising=False)
    before = signal.getsignal(number)
    assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(tmp_path / "t.sqlite")]) == 0
    assert signal.getsignal(number) == before
    assert capfd.readouterr().err == ""


def test_one_server_a_file(tmp_path: Path, capfd: Capture) -> None:
    path = tmp_path / "t.sqlite"
    with locked(path):
        assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(path)]) == 2
    assert "Another server uses the tables in" in capfd.readouterr().err


def test_a_port_that_is_taken_and_a_file_that_is_another(tmp_path: Path, capfd: Capture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert status_of(["serve", "--port", port, "--no-browser", "--data", str(tmp_path / "t.sqlite")]) == 2
    assert "in use" in capfd.readouterr().err
    (tmp_path / "x").write_text("x" * 5000, encoding="utf-8")
    assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(tmp_path / "x")]) == 2
    assert "is no file of tables" in capfd.readouterr().err


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "tornado" or name == "nainjaune_agents.tables.server.app"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tornado", None)
    refused(capfd, f"serve --no-browser --data {tmp_path / 't.sqlite'}", r"needs the package 'tornado', .*\[serve\]")


def test_the_link_stays_until_a_new_one_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    links = []
    monkeypatch.setattr(asyncio, "Event", Stopped)
    for more in ([], [], ["--new-link"], []):
        assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(tmp_path / "t.sqlite"), *more]) == 0
        links += re.findall(r"#([\w-]{32})", capfd.readouterr().out)
    assert links[0] == links[1] != links[2] == links[3]
