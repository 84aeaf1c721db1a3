"""Messages that are none are refused with a sentence; rates are counted by the clock."""

from __future__ import annotations

import json

import pytest

from nainjaune_agents.tables.server.protocol import Limits, Message, MessageError, Play, Rate, error_text, read_message
from nainjaune_env.core.errors import MissingLibraryError, NainJauneError

LIMITS = Limits(message_bytes=300)


def test_a_message_is_read() -> None:
    given = {"type": "play", "token": "t", "number": 3, "action": 5}
    assert read_message(json.dumps(given), LIMITS) == Message("play", "t", Play(3, 5))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"{}", "is text"),
        ("x" * 301, "at most 300 characters, not 301"),
        ("{", "JSON object, and this is none"),
        ("[" * 300, "JSON object, and this is none"),
        ('{"type": NaN}', "JSON object, and this is none"),
        ("[]", r"JSON object, not \[\]"),
        ("{}", "Unknown kind of message None"),
        ('{"type": ["play"]}', "Unknown kind of message"),
        ('{"type": "rules"}', "has a token"),
        ('{"type": "rules", "token": ""}', "has a token"),
        (json.dumps({"type": "rules", "token": "x" * 65}), "has a token"),
        ('{"type": "rules", "token": "t", "more": 1}', "nothing more"),
        ('{"type": "deal", "token": "t"}', "has number, not"),
        ('{"type": "deal", "token": "t", "number": true}', "is a whole number of at least 0, not True"),
        ('{"type": "deal", "token": "t", "number": -1}', "is a whole number of at least 0, not -1"),
        ('{"type": "deal", "token": "t", "number": 1e9}', "is a whole number of at least 0"),
        (json.dumps({"type": "deal", "token": "t", "number": 1 << 40}), "is a whole number of at least 0"),
        ('{"type": "hello", "token": "t", "language": "de", "greeting": 1}', "Unknown language 'de'"),
        ('{"type": "new", "token": "t", "table": []}', "is an object, not"),
        (json.dumps({"type": "invite", "token": "t", "table": "\ud800"}), "half of a surrogate pair"),
        (json.dumps({"type": "new", "token": "t", "table": {"seats": [{"person": "\udfff"}]}}), "half of a surrogate pair"),
    ],
)
def test_what_is_none_is_refused(given: str | bytes, says: str) -> None:
    with pytest.raises(MessageError, match=says):
        read_message(given, LIMITS)


def test_rates() -> None:
    now = [0.0]
    rate = Rate(Limits(burst=3, a_second=2.0), lambda: now[0])
    assert [rate.allows() for _ in range(4)] == [True, True, True, False]
    now[0] += 1.0  # -1 + 2
    assert [rate.allows() for _ in range(2)] == [True, False]
    now[0] += 100.0
    assert [rate.allows() for _ in range(4)] == [True, True, True, False]


def test_an_error_for_a_page_names_no_folder_of_the_server() -> None:
    missing = MissingLibraryError("The network of the agent 'zoo:strong'", "torch", "train")
    assert "pip install" in str(missing)
    assert error_text(missing) == (
        "The network of the agent 'zoo:strong' needs the package 'torch', which is not installed on the server."
    )
    assert error_text(NainJauneError("Anything else.")) == "Anything else."
