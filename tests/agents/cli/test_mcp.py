"""The command ``mcp``: its help, and errors before anything is served. What it serves is tested in ``language/test_mcp.py``."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.agents.cli.command import Capture, output_of, refused, status_of


def test_the_help_has_the_configuration_of_clients(capfd: Capture) -> None:
    text = output_of(capfd, "mcp --help")
    (line,) = (line for line in text.splitlines() if "mcpServers" in line)
    assert json.loads(line) == {"mcpServers": {"nainjaune": {"command": "nainjaune", "args": ["mcp"]}}}


@pytest.mark.parametrize(
    "address", ["", "x", "127.0.0.1:", "127.0.0.1:65536", f"{'x' * 70}:80", "[::1:5", "::1:5", ":5", "[zz]:5", "a b:5"]
)
def test_an_address_that_is_none(address: str, capfd: Capture) -> None:
    assert status_of(["mcp", "--http", address]) == 2
    assert "expected a port, or a host and a port, not " in capfd.readouterr().err


def test_the_library_that_is_missing(monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "nainjaune_agents.language.mcp", raising=False)
    refused(capfd, "mcp", r"needs the package 'mcp', .*\[mcp\]")


def test_nothing_is_served_where_it_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    pytest.importorskip("mcp", reason="the MCP SDK is in the extra mcp, which is not installed")
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("notes\n", encoding="utf-8")
    refused(capfd, "mcp --record notes.txt", "Nothing is added to such a file")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused(capfd, f"mcp --http 127.0.0.1:{taken.getsockname()[1]}", "in use")


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("nobody", "Unknown agent 'nobody'"),
        ("tally@foo=3", "'@foo'"),
        ("exact", ""),
        ("zoo:strong", ""),
        ("mixed", ""),
        ("lowest", ""),
    ],
)
def test_a_field_that_no_table_has(field: str, says: str, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    mcp = pytest.importorskip("nainjaune_agents.language.mcp", reason="the MCP SDK is in the extra mcp")
    monkeypatch.setattr(mcp, "TableServer", lambda tables: SimpleNamespace(run=lambda transport: None))
    if says:
        refused(capfd, f"mcp --field {field}", says)
    else:
        assert status_of(["mcp", "--field", field]) == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_ctrl_c_ends_it_at_a_terminal() -> None:
    pytest.importorskip("mcp", reason="the MCP SDK is in the extra mcp, which is not installed")
    keyboard, terminal = os.openpty()
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", "mcp"]
    with subprocess.Popen(command, stdin=terminal, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Waiting for the messages of an MCP client;")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == -signal.SIGINT
    os.close(keyboard)
    os.close(terminal)
