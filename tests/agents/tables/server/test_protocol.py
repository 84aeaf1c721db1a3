"""Messages that are none are refused with a sentence; rates are counted by the clock."""

from __future__ import annotations

import json
import re

import pytest

from nainjaune_agents.tables.server.protocol import Hello, Limits, MessageError, Play, Rate, error_text, read_message
from nainjaune_env.core.errors import MissingLibraryError, NainJauneError
from nainjaune_env.core.speech import LANGUAGES

LIMITS = Limits(message_bytes=300)


def test_a_message_is_read() -> None:
    given = {"type": "play", "token": "t", "number": 3, "action": 5}
    message = read_message(json.dumps(given), LIMITS)
    assert message == Play(3, 5, token="t")
    assert message.kind == "play"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"{}", "A message is text, and this one is bytes."),
        ("x" * 301, "A message has at most 300 characters, not 301."),
        ("{", "A message is a JSON object in whole characters, and this is none: Input data was truncated."),
        ("[" * 300, "A message is a JSON object in whole characters, and this is none: "),
        ('{"type": NaN}', "A message is a JSON object in whole characters, and this is none: "),
        ('{"type": "new", "token": "t", "table": {"pace": 1e400}}', "and this is none: Number out of range"),
        (json.dumps({"type": "invite", "token": "t", "table": "\ud800"}), "in whole characters, and this is none: "),
        ('{"type": "invite", "token": "t", "table": "\udfff"}', "in whole characters, and this is none: "),
        ("[]", "A message: expected keys and values, not []."),
        ("{}", "A message: The key 'type' is missing."),
        ('{"type": ["play"]}', "A message: expected 'type' to be "),
        ('{"type": "plya"}', "A message: Unknown type 'plya'. Did you mean 'play'?"),
        ('{"type": "rules"}', "A message 'rules': The key 'token' is missing."),
        (json.dumps({"type": "rules", "token": "x" * 65}), "'token' to be a text, at least 1 long and at most 64 long, not"),
        ('{"type": "deal", "token": "t", "nubmer": 1}', "A message 'deal': Unknown key 'nubmer'. Did you mean 'number'?"),
        ('{"type": "deal", "token": "t", "number": true}', "'number' to be a whole number, at least 0 and below 1099511627776,"),
        (json.dumps({"type": "deal", "token": "t", "number": 1 << 40}), "below 1099511627776, not 1099511627776."),
        ('{"type": "hello", "token": "t", "language": "de", "greeting": 1}', "Unknown language 'de'. Did you mean 'en'?"),
        ('{"type": "new", "token": "t", "table": []}', "A message 'new': expected 'table' to be keys and values, not []."),
    ],
)
def test_what_is_none_is_refused(given: str | bytes, says: str) -> None:
    with pytest.raises(MessageError, match=re.escape(says)):
        read_message(given, LIMITS)


def test_every_language_of_the_texts_can_be_read_by_a_page() -> None:
    for language in LANGUAGES:
        given = {"type": "hello", "token": "t", "language": language, "greeting": 1}
        assert read_message(json.dumps(given), LIMITS) == Hello(language, 1, token="t")  # type: ignore[arg-type]


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
