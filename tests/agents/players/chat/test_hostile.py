"""Endpoints of any kind: what they answer is a fault, a refusal or a move, it ends in time, and nobody reads the key."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest

from nainjaune_agents.players.chat import endpoint
from nainjaune_agents.players.chat.settings import ChatSettings
from nainjaune_agents.players.program.settings import STOP
from nainjaune_env.core.errors import AgentError, MissingLibraryError
from nainjaune_env.text.tokens import count_tokens
from tests.agents.players.chat.conftest import Local, act, loaded, lowest
from tests.agents.players.chat.endpoint import BODIES, BROKEN, MEGABYTES_5

KEY = "sk-test/0123456789+"


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)


@pytest.mark.parametrize(
    ("model", "kind", "says"),
    [
        ("limited", "exit", "was asked once in vain. It answered with the HTTP status 429: 'Quota exceeded.'"),
        ("down", "exit", "was asked 6 times in vain. It answered with the HTTP status 500: 'Oops.'"),
        ("filtered", "invalid", "It answered with the HTTP status 400: 'The prompt was filtered.'"),
        ("elsewhere", "invalid", "It answered with the HTTP status 307: ''"),
        ("slow", "timeout", "No answer came within 0.3 seconds (--bot-seconds)."),
        ("drips", "timeout", "No answer came within 0.3 seconds (--bot-seconds)."),
        ("drips-500", "timeout", "No answer came within 0.3 seconds (--bot-seconds)."),
        ("floods", "flood", f"Its answer has more than {1 << 24} bytes."),
        ("illegal", "illegal", "3 answers meant no legal move."),
        *((model, "exit", "was asked 6 times in vain. The connection failed: ") for model in BROKEN),
        *((model, "invalid", "Expected a chat completion, not '") for model in BODIES),
    ],
)
def test_faults(model: str, kind: str, says: str, local: Local, tmp_path: Path) -> None:
    seconds = 0.3 if kind == "timeout" else 30
    since = time.monotonic()
    with loaded(local, model, tmp_path, seconds=seconds, transcripts=str(tmp_path / "a.jsonl")) as agent:
        assert act(agent, 2) == lowest(2)
        assert agent.faults.faults == {kind: 2}
        assert (agent.faults.decisions, agent.faults.forfeited) == (2, 2)
        assert says in (agent.last_fault or "")
        assert f"'chat:{model}': {kind}. " in (agent.last_fault or "")
    assert kind != "timeout" or time.monotonic() - since < 20
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert {row["fault"]["kind"] for row in rows} == {kind}
    asked = local.asked()
    assert {row["path"] for row in asked} == {"/v1/chat/completions"}
    with sqlite3.connect(tmp_path / "cache" / "calls.sqlite") as calls:
        paid = calls.execute("SELECT text IS NULL, prompt_tokens > 200, answer_tokens BETWEEN 1 AND 1024 FROM calls").fetchall()
    calls.close()
    if kind == "illegal":
        assert {row[0] for row in paid} == {0}
    else:  # an answer that was begun, or may have been, is paid by estimate
        assert paid == [(1, 1, 1)] * (0 if "status" in says else len(asked))
    with loaded(local, model, tmp_path / "stop", seconds=seconds, on_fault=STOP) as agent, pytest.raises(AgentError) as caught:
        act(agent, 1)
    assert says in str(caught.value)


@pytest.mark.parametrize("model", ["echo-401", "echo-400", "echo-500", "echo", "echo-broken"])
def test_the_key_is_nowhere(
    model: str, local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with loaded(local, model, tmp_path, transcripts=str(tmp_path / "a.jsonl")) as agent:
        if model == "echo-401":
            with pytest.raises(AgentError) as caught:
                act(agent, 2)
            assert caught.value.__cause__ is caught.value.__context__ is None
            texts = [str(caught.value)]
        else:
            act(agent, 2)
            texts = [str(agent.last_fault), str(agent.comments)]
        texts += [repr(agent._chat), repr(vars(agent)), *capfd.readouterr()]
    texts += [path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert {row["key"] for row in local.asked()} == {f"Bearer {KEY}"}
    assert any("[key]" in text for text in texts)
    escaped = "".join(rf"\u{ord(sign):04x}" for sign in KEY)
    assert not any(KEY in text or escaped in text.lower() for text in texts)


def test_a_key_is_hidden_however_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers trim it, and JSON may escape any sign, more than once."""
    key = 'sk-abc/DEF"01234+56789='
    monkeypatch.setenv("OPENAI_API_KEY", f" {key}\n")
    asked = endpoint.Endpoint("m", ChatSettings(base_url="http://127.0.0.1:1/v1", cache=str(tmp_path)))
    once = json.dumps(key)[1:-1]
    for written in (key, once, once.replace("/", "\\/"), json.dumps(once)[1:-1], "".join(f"\\u{ord(sign):04X}" for sign in key)):
        assert asked._hidden(f"bad {written}!") == "bad [key]!"
    asked.store.close()


def test_tokens_are_what_is_stated_or_an_estimate_that_no_answer_exceeds(local: Local, tmp_path: Path) -> None:
    for model, most, answer_tokens in (("lowest", 9, 7), ("long", 1024, 1024), ("long", 2_000_000, None), ("counts", 9, 2)):
        with loaded(local, model, tmp_path / f"{model}{most}", answer_tokens=most, retries=0) as agent:
            act(agent, 1)
            (row,) = local.asked()
            question = count_tokens(json.dumps(row["body"], separators=(",", ":"), ensure_ascii=False))
            expected = MEGABYTES_5 // 4 + 2 if answer_tokens is None else answer_tokens
            assert abs(agent.faults.costs["answer_tokens"] - expected) <= 1
            assert agent.faults.costs["prompt_tokens"] == (100 if model == "lowest" else question)


def test_half_of_a_surrogate_pair_is_replaced(local: Local, tmp_path: Path) -> None:
    with loaded(local, "surrogate", tmp_path, on_fault=STOP) as agent:
        assert act(agent, 1) == lowest(1)
        assert agent.comments == ["?"]


@pytest.mark.parametrize("model", ["echo-401", "gpt-0"])
def test_a_refusal_ends_the_command_also_where_faults_are_forfeits(model: str, local: Local, tmp_path: Path) -> None:
    with loaded(local, model, tmp_path, at_once=1) as agent, pytest.raises(AgentError) as caught:
        act(agent)
    status = {"gpt-0": "404: 'The model gpt-0 does not exist.'", "echo-401": "401: 'Bad: None or None'"}[model]
    assert str(caught.value) == f"The endpoint {local.url} refuses 'chat:{model}'. It answered with the HTTP status {status}."
    assert len(local.asked()) == 1


def test_what_cannot_be_asked_is_a_sentence(local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(model: str = "gpt-5", **chat: str) -> str:
        with pytest.raises(AgentError) as caught, loaded(local, model, tmp_path, **chat) as agent:
            act(agent, 1)
        return str(caught.value)

    assert "needs a key: set OPENAI_API_KEY in the environment" in refusal(base_url=endpoint.VENDOR)
    assert "After 'chat:' comes the name of a model" in refusal("")
    for url in ("ftp://h/v1", "h", "http://me:secret@h/v1", "http://me:secret@h:x", "http://[::::]/v1", "http://h/v1?a=b",
                "http://h#v1", "http://h:99999", "http://é", "http://h/ v1", "http://h\\@x"):  # fmt: skip
        said = refusal(base_url=url)
        assert said.startswith("A base URL is like https://host/v1, with no user, password, query or fragment in it, not '")
        assert "secret" not in said
    assert "127.0.0.1:1/v1 was asked 6 times in vain. The connection failed: " in refusal(
        base_url="http://127.0.0.1:1/v1", on_fault=STOP
    )
    monkeypatch.setenv("ALL_PROXY", "gopher://proxy")
    assert f"The endpoint {local.url} cannot be asked. " in refusal()
    monkeypatch.delenv("ALL_PROXY")
    monkeypatch.setenv("OPENAI_API_KEY", "sk\n1")
    assert refusal() == "OPENAI_API_KEY has characters that no key has."
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    monkeypatch.delenv("OPENAI_API_KEY")
    with (
        pytest.raises(MissingLibraryError, match=r"needs the package 'openai', which is not installed: .*chat"),
        loaded(local, "a", tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("1.5", 1.5),
        ("-1", 0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("soon", None),
        ("inf", None),
        ("Thu, 1 Jan 99999999999 0:0 GMT", None),
    ],
)
def test_the_time_to_wait_that_an_endpoint_asks_for(given: str, seconds: float | None) -> None:
    assert endpoint.retry_after(given) == seconds
