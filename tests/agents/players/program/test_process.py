"""The connection to a program: whatever it does, every call ends in time, and none of its processes is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nainjaune_agents.players.program.faults import BotFault, Fault
from nainjaune_agents.players.program.process import MAX_LOG, Program
from nainjaune_env.core.errors import AgentError
from tests.agents.players.program.programs import gone, python, script
from tests.support.processes import running

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


@pytest.fixture
def connections() -> Iterator[list[Program]]:
    opened: list[Program] = []
    yield opened
    for connection in opened:
        connection.close()


def opened(connections: list[Program], command: str) -> Program:
    connections.append(Program(command))
    return connections[-1]


def test_messages_go_there_and_back(connections: list[Program]) -> None:
    connection = opened(connections, script(ECHO))
    for message in (b"{}", b'{"a": "\xc3\xa9"}', b"x" * 3_000_000):
        assert connection.ask(message, 10) == message


def test_what_nobody_asked_for_is_dropped_and_the_next_is_kept(connections: list[Program]) -> None:
    code = "import sys\nfor line in sys.stdin: print('early\\n' * 3 + line + 'next', flush=True)"
    connection = opened(connections, script(code))
    assert [connection.ask(b"1", 10), *(connection.next(10) for _ in range(4))] == [b"early"] * 3 + [b"1", b"next"]
    assert connection.ask(b"2", 10) == b"early"


def test_who_never_reads_is_a_timeout_and_does_not_block(connections: list[Program]) -> None:
    connection = opened(connections, script("import time; time.sleep(60)"))
    connection.tell(b"x" * 3_000_000)
    begun = time.monotonic()
    with pytest.raises(BotFault, match="No answer came") as fault:
        connection.ask(b"x" * 3_000_000, 0.3)
    assert fault.value.kind == Fault.TIMEOUT
    assert time.monotonic() - begun < 3


def test_a_closed_input_is_an_end(connections: list[Program]) -> None:
    connection = opened(connections, script("import os, time; os.close(0); print('{}', flush=True); time.sleep(60)"))
    connection.next(10)
    with pytest.raises(BotFault, match="closed its standard input"):
        connection.ask(b"x" * 100, 10)


def test_the_end_of_a_log_is_kept_however_long_it_is(connections: list[Program]) -> None:
    code = "import sys\nfor line in sys.stdin:\n  sys.stderr.write('noise\\n' * 10**6 + 'the end')\n  print('{}', flush=True)"
    connection = opened(connections, script(code))
    assert connection.ask(b"{}", 30) == b"{}"
    until = time.monotonic() + 10
    while not connection.log().endswith("the end"):  # a thread reads it
        assert time.monotonic() < until
    assert len(connection.log()) == MAX_LOG


def test_an_answer_that_waits_is_taken_after_the_deadline(connections: list[Program]) -> None:
    """The host may have been slow, not the program."""
    connection = opened(connections, script("print('{}', flush=True); import time; time.sleep(60)"))
    time.sleep(0.5)
    assert connection.next(1e-9) == b"{}"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "After exec: comes the command"),
        ("'open", "cannot be read: No closing quotation"),
        ("a" * 300, "There is no program 'aaa"),
        ("no-such-program-here --level 3", "There is no program 'no-such-program-here'."),
        ("./no/such/file", r"There is no program './no/such/file'\."),
        (f"{Path(__file__)}", "is not executable: chmod"),
    ],
)
def test_what_cannot_be_started_is_refused_in_a_sentence(command: str, said: str) -> None:
    with pytest.raises(AgentError, match=said):
        Program(command)


def test_a_file_that_is_no_program_says_so(connections: list[Program], tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x00\x01")
    program.chmod(0o755)
    started = opened(connections, str(program))
    with pytest.raises(BotFault, match="The program ended with status 127"):
        started.ask(b"{}", 10)
    assert started.log() == f"{program} cannot be started: Exec format error.\n"


def test_a_program_gets_no_keys(connections: list[Program], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    code = "import json, os, sys; sys.stdin.readline(); print(json.dumps(dict(os.environ)), flush=True)"
    given = json.loads(opened(connections, script(code)).ask(b"{}", 10))
    assert "secret" not in given.values()
    assert (given["OMP_NUM_THREADS"], given["PATH"]) == ("3", os.environ["PATH"])


def test_a_program_that_quits_has_its_time_and_no_other(tmp_path: Path) -> None:
    quits = "import sys\nfor line in sys.stdin:\n  if 'quit' in line: open(sys.argv[1], 'w').write('bye'); break\n  print(line)"
    polite = Program(f"{script(quits)} {tmp_path / 'said'}")
    time.sleep(0.3)
    polite.close()
    assert (tmp_path / "said").read_text() == "bye"
    stays = Program(python("faulty_bot.py", "ignore", "0", "{}", str(tmp_path)))
    stays.tell(HELLO)
    time.sleep(0.3)
    begun = time.monotonic()
    stays.close()
    stays.close()
    assert 1 <= time.monotonic() - begun < 4
    assert gone(tmp_path, 0)
    with pytest.raises(BotFault, match="was ended"):
        stays.ask(b"{}", 1)


HELLO = b'{"type": "hello", "id": 0, "actions": []}'


def asked_until_it_fails(connection: Program) -> None:
    for _ in range(10_000):
        connection.ask(HELLO, 0.5)


@pytest.mark.parametrize("deed", ["fork", "leave", "spawn", "ignore", "freeze", "log", "lines"])
def test_no_process_is_left(deed: str, tmp_path: Path) -> None:
    """One that ignores signals, and one that a program left behind in another session."""
    connection = Program(python("faulty_bot.py", deed, "0", "{}", str(tmp_path)))
    with pytest.raises(BotFault) as fault:
        asked_until_it_fails(connection)
    assert fault.value.kind == {"fork": Fault.EXIT, "lines": Fault.FLOOD}.get(deed, Fault.TIMEOUT)
    connection.close()
    assert gone(tmp_path, 0)


def test_a_connection_that_nobody_holds_is_closed(tmp_path: Path) -> None:
    connection = Program(f"{script(ECHO)} {tmp_path}")
    connection.ask(b"{}", 10)
    del connection
    assert gone(tmp_path)


def test_ctrl_c_while_a_program_ends_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stays = Program(python("faulty_bot.py", "ignore", "0", "{}", str(tmp_path)))
    stays.tell(HELLO)
    time.sleep(0.3)
    wait = stays._process.wait

    def interrupted(seconds: float | None = None) -> int:
        monkeypatch.setattr(stays._process, "wait", wait)
        raise KeyboardInterrupt

    monkeypatch.setattr(stays._process, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stays.close()
    assert gone(tmp_path, 0)


def test_when_the_host_is_killed_nothing_is_left(tmp_path: Path) -> None:
    """Also what left the program's session, and where a thread that started the program has ended long before."""
    command = python("faulty_bot.py", "leave", "0", "{}", str(tmp_path))
    host = subprocess.Popen([sys.executable, "-c", STARTS, command], stdout=subprocess.PIPE)
    assert host.stdout is not None
    assert host.stdout.readline() == b"ready\n"
    assert len(running(str(tmp_path))) >= 3  # the reaper, the bot, and what has left its session
    host.kill()
    host.wait()
    host.stdout.close()
    assert gone(tmp_path)


STARTS = """
import sys, threading, time
from nainjaune_agents.players.program.process import Program
made = []
thread = threading.Thread(target=lambda: made.append(Program(sys.argv[1])))
thread.start()
thread.join()
made[0].tell(b'{"type": "hello", "id": 0, "actions": []}')
time.sleep(0.7)
print("ready", flush=True)
time.sleep(60)
"""
