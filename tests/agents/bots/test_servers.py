"""Bots that are servers and do wrong: it costs their own seat, and the sentence of an error says what happened."""

from __future__ import annotations

import pytest

from nainjaune_agents.arena.tournament import tournament
from nainjaune_agents.bots.faults import MAX_FAULTS
from nainjaune_agents.bots.settings import FORFEIT
from nainjaune_agents.loading import load_agent
from nainjaune_env.core.errors import AgentError
from tests.agents.bots.programs import HERE, SETUP, loaded
from tests.agents.bots.servers import server
from tests.agents.bots.test_any_fault import edges

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
            assert edges(tournament(SETUP, [bot, *others], deals=1, seed=1)) == alone
            assert bot.faults.faults == {fault: MAX_FAULTS}
            assert 0 < bot.faults.forfeited < bot.faults.decisions
