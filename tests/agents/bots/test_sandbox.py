"""A program in bubblewrap: it plays, and reaches neither the network nor files that it could write."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.bots import sandbox
from nainjaune_agents.bots.process import ProcessConnection
from nainjaune_env.core.errors import AgentError
from tests.agents.bots.programs import gone, loaded, lowest, python
from tests.agents.bots.test_agent import LOWEST, decisions_of

with_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

TRIES = """
import json, os, socket, sys
def can(work):
    try: work(); return True
    except OSError: return False
def connect(address):
    with socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX) as s: s.connect(address)
local, port, host = "/" + sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for line in sys.stdin:
    print(json.dumps({
        "read": can(lambda: open("/etc/passwd").read()),
        "write": can(lambda: open("written", "w")),
        "write in /tmp": can(lambda: open("/tmp/written-by-a-bot", "w")),
        "network": can(lambda: connect(("127.0.0.1", port))),
        "socket": can(lambda: connect(local)),
        "signal": can(lambda: os.kill(host, 0)),
    }), flush=True)
"""


@with_bwrap
@pytest.mark.parametrize("sandbox", [False, True])
def test_what_a_program_reaches(sandbox: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    program, path = tmp_path / "bot.py", tmp_path / "socket"
    program.write_text(TRIES)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(path))
        local.listen()
        words = [str(program), str(path)[1:], str(server.getsockname()[1]), str(os.getpid())]
        connection = ProcessConnection(python(*words), sandbox=sandbox)
        reached = json.loads(connection.ask(b"{}", 20))
        connection.close()
    Path("/tmp/written-by-a-bot").unlink(missing_ok=True)
    assert reached == dict.fromkeys(reached, True) | (
        {"write": False, "network": False, "socket": False, "signal": False} if sandbox else {}
    )


def test_what_lies_in_the_working_folder_is_not_bound_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It may be a link, onto which `bwrap` binds nothing."""
    monkeypatch.setattr(sandbox, "HIDDEN", (str(tmp_path),))
    monkeypatch.setattr(shutil, "which", lambda name: name)
    (tmp_path / "true").symlink_to("/bin/true")
    monkeypatch.chdir(tmp_path)
    words = sandbox.sandboxed([str(tmp_path / "true"), "/etc"])
    assert words.count("--ro-bind") == 2  # the root, and the working folder
    assert words[words.index("--ro-bind", words.index("--ro-bind") + 1) + 1] == str(tmp_path)


@with_bwrap
def test_a_sandboxed_bot_plays_and_is_ended() -> None:
    mark = f"mark-{os.getpid()}"
    with loaded(lowest(path=f"/tmp/{mark}"), sandbox=True) as bot:
        decisions = decisions_of()
        assert (bot.act(decisions, np.random.default_rng(0)) == LOWEST.act(decisions, np.random.default_rng(0))).all()
        assert not gone(mark, 0)
    assert gone(mark, 0)


def test_without_bubblewrap_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "true").symlink_to(shutil.which("true") or "/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AgentError, match="there is no program 'bwrap': install the package bubblewrap"):
        ProcessConnection("true", sandbox=True)
