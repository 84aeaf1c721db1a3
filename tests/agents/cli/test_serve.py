"""The command ``serve``: what it prints, and errors before anything listens."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from nainjaune_env.core.atomic_files import locked
from tests.agents.cli.command import Capture, status_of


class Stopped(asyncio.Event):
    """An event that is set from the start."""

    async def wait(self) -> bool:  # type: ignore[override]
        return True


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


def test_a_port_or_a_file_that_is_taken_and_a_file_that_is_another(tmp_path: Path, capfd: Capture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert status_of(["serve", "--port", port, "--no-browser", "--data", str(tmp_path / "t.sqlite")]) == 2
    assert "in use" in capfd.readouterr().err
    with locked(tmp_path / "t.sqlite"):
        assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(tmp_path / "t.sqlite")]) == 2
    assert "Another server uses the tables in" in capfd.readouterr().err
    (tmp_path / "x").write_text("x" * 5000, encoding="utf-8")
    assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(tmp_path / "x")]) == 2
    assert "is no file of tables" in capfd.readouterr().err


def test_the_link_stays_until_a_new_one_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    links, path = [], tmp_path / "deep" / "t.sqlite"
    monkeypatch.setattr(asyncio, "Event", Stopped)
    for more in ([], [], ["--new-link"], []):
        assert status_of(["serve", "--port", "0", "--no-browser", "--data", str(path), *more]) == 0
        out = capfd.readouterr().out
        links += re.findall(r"Whoever has this link makes new ones: http://127\.0\.0\.1:\d+/#([\w-]{32})\n", out)
    assert links[0] == links[1] != links[2] == links[3]
