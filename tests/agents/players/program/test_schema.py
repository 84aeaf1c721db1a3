"""The JSON Schema of the protocol: real traffic with processes and the examples of the page are valid, and mistakes are not."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import nainjaune_agents.players.program
from nainjaune_agents.players.program.check import check_bot
from nainjaune_agents.players.program.process import Program
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env import make_setup
from tests.agents.players.program.programs import HERE
from tests.support.source import ROOT

SCHEMA = json.loads((files(nainjaune_agents.players.program) / "protocol.schema.json").read_text(encoding="utf-8"))
MANY = 40
"""Messages of a run that are looked at: the schema takes milliseconds for each."""
WANTS = ["features", "observation", "moves", "text", "plies"]


def side(name: str) -> Draft202012Validator:
    """Of the messages of one side, ``host`` or ``bot``."""
    return Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]})


HOST, BOT = side("host"), side("bot")
Traffic = list[tuple[Draft202012Validator, bytes]]


class Recorded(Program):
    """A program whose messages are noted."""

    log_of: Traffic

    def next(self, seconds: float | None) -> bytes:
        self.log_of.append((BOT, line := super().next(seconds)))
        return line

    def tell(self, message: bytes) -> None:
        self.log_of.append((HOST, message))
        super().tell(message)


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    """Every message to and from the programs that are started from now on."""
    Recorded.log_of = []
    for module in ("player", "check"):
        monkeypatch.setattr(f"nainjaune_agents.players.program.{module}.Program", Recorded)
    return Recorded.log_of


def bot_name(ready: dict[str, Any]) -> str:
    return "exec:" + shlex.join([sys.executable, "-S", str(HERE / "broken_bot.py"), "none", json.dumps(ready)])


@pytest.mark.parametrize(("preset", "wants"), [("djeco", WANTS), ("batasaurus", WANTS[:-1])])
def test_real_traffic_is_valid(preset: str, wants: list[str], traffic: Traffic) -> None:
    """All that the check of a bot sends and gets, but for the message of an unknown type."""
    name = bot_name({"wants": wants, "batch": 5, "distribution": True, "version": "1", "author": "me"})
    assert not [finding for finding in check_bot(name, make_setup(preset=preset), BotSettings()) if finding.problem]
    known = [(validator, json.loads(line)) for validator, line in traffic if b"x_check" not in line[:30]]
    for validator, message in [*known[:MANY], *known[-6:]]:
        validator.validate(message)
    assert {message["type"] for _, message in known} == {"hello", "ready", "turn", "actions", "probabilities", "stop", "quit"}


def messages_of_the_page() -> Iterator[dict[str, Any]]:
    """Every message in docs/protocol.md: in blocks, and within sentences."""
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    decoder = json.JSONDecoder()
    for text in [*re.findall(r"```json\n(.*?)```", page, re.DOTALL), *re.findall(r"`(\{\"type\".*?\})`", page)]:
        at = 0
        while text[at:].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            message, at = decoder.raw_decode(text, at)
            yield message


def test_the_messages_of_the_page_are_valid() -> None:
    found = list(messages_of_the_page())
    for message in found:
        Draft202012Validator(SCHEMA).validate(message)
    assert {message["type"] for message in found} >= {"hello", "ready", "refuse", "turn", "actions", "probabilities"}


@pytest.mark.parametrize(
    ("message", "is_valid"),
    [
        ({"type": "ready", "protocol": 1, "id": 0, "name": "a"}, True),
        ({"type": "ready", "protocol": 1, "id": 0, "name": "a", "elo": 1500}, True),
        ({"type": "ready", "protocol": 2, "id": 0, "name": "a"}, False),
        ({"type": "ready", "protocol": 1, "id": 0, "name": "a", "wants": ["cards"]}, False),
        ({"type": "actions", "id": 1, "actions": [0]}, True),
        ({"type": "actions", "id": 1, "actions": [0], "comments": [None], "values": [None]}, True),
        ({"type": "actions", "id": 1, "actions": [0], "comments": ["a" * 501]}, False),
        ({"type": "actions", "actions": [0]}, False),
        ({"type": "probabilities", "id": 1, "probabilities": [[1.5]]}, False),
        ({"type": "quit"}, False),
    ],
)
def test_a_bots_mistakes_are_not_valid(message: dict[str, Any], is_valid: bool) -> None:
    assert BOT.is_valid(message) == is_valid
