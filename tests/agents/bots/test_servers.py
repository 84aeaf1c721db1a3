"""Bots that are servers and do wrong: it costs their own seat, and the sentence of an error says what happened."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_agents.arena.tournament import tournament
from nainjaune_agents.bots.faults import MAX_FAULTS
from nainjaune_agents.bots.settings import FORFEIT
from nainjaune_agents.loading import load_agent
from nainjaune_env.core.errors import AgentError
from tests.agents.bots.programs import HERE, SETUP, loaded
from tests.agents.bots.servers import server
from tests.agents.bots.test_any_fault import edges

TLS = """
import sys
from nainjaune_agents.bots.{module} import {name} as Connection
connection = Connection(sys.argv[1])
try:
    print(connection.ask(b'{{"type": "hello", "id": 0}}', 10.0).decode())
    connection.ask(b'{{"type": "x"}}', 0.3)
except Exception as error:
    print(error)
connection.close()
"""
OTHERS = ("lowest", "closer", "random")


@pytest.mark.parametrize("kind", ["http", "ws"])
@pytest.mark.parametrize(
    ("deed", "fault", "says"),
    [
        ("dies", "exit", "closed the connection|connection failed"),
        ("slow", "timeout", r"No answer came within 0\.1 seconds"),
        ("large", "flood", "16777216 bytes|16777217 bytes"),
        ("words", "invalid", "Expected 'actions' to be whole numbers"),
    ],
)
def test_what_a_server_does_costs_its_own_seat(kind: str, deed: str, fault: str, says: str) -> None:
    others = [load_agent(name, SETUP) for name in OTHERS]
    seconds = 0.1 if deed == "slow" else 10.0
    alone = edges(tournament(SETUP, others, deals=1, seed=1))
    with server(HERE / "faulty_server.py", kind, deed) as port:
        name = f"{kind}://127.0.0.1:{port}/"
        if deed != "dies":
            with loaded(name, decision_seconds=seconds) as bot, pytest.raises(AgentError, match=says):
                tournament(SETUP, [bot, *others], deals=1, seed=1)
        with loaded(name, on_fault=FORFEIT, decision_seconds=seconds) as bot:
            result = tournament(SETUP, [bot, *others], deals=1, seed=1)
            assert edges(result) == alone
            counts = result.bots.by_agent[bot.name]
            assert counts.faults == {fault: MAX_FAULTS}
            assert 0 < counts.forfeited < counts.decisions


@pytest.mark.parametrize(
    ("kind", "module", "name"), [("http", "http", "HttpConnection"), ("ws", "websocket", "WebSocketConnection")]
)
def test_a_connection_by_tls_verifies_the_certificate(kind: str, module: str, name: str, tmp_path: Path) -> None:
    """In processes of their own: which certificates are trusted is read once."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*make, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    both = tmp_path / "both"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    said = {}
    with server(HERE / "faulty_server.py", kind, "none", both) as port:
        for trusted in (True, False):
            env = {**os.environ, **({"SSL_CERT_FILE": str(certificate)} if trusted else {})}
            code = [sys.executable, "-c", TLS.format(module=module, name=name), f"{kind}s://127.0.0.1:{port}/"]
            said[trusted] = subprocess.run(code, env=env, check=True, capture_output=True, text=True).stdout.splitlines()
    assert said[True][0].startswith('{"type": "ready"')
    assert said[True][1] in ("No answer came within 0.3 seconds.", "It answered with an empty body; an answer is a JSON object.")
    assert "certificate verify failed" in said[False][0]
