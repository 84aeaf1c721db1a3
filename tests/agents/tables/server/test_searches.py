"""Searches: messages in order until the viewer's next search, a stop, an error or the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from nainjaune_agents.tables.server.protocol import Refusal
from nainjaune_agents.tables.server.searches import Search, Searches
from nainjaune_env.core.errors import RulesError


@pytest.fixture
def searches(runner: asyncio.Runner) -> Iterator[Searches]:
    async def start() -> Searches:
        return Searches(2)

    searches = runner.run(start())
    yield searches
    runner.run(searches.close())


async def arrived(sent: list[Any], count: int) -> None:
    for _ in range(20_000):
        if len(sent) >= count:
            return
        await asyncio.sleep(0.001)
    raise AssertionError(sent)


def counting(end: int = 3) -> Iterator[dict[str, Any]]:
    return ({"number": number, "thread": threading.get_ident()} for number in range(end))


async def test_a_search_ends_when_it_is_stopped_or_replaced(searches: Searches) -> None:
    gate, begun, ended, sent = threading.Event(), threading.Event(), threading.Event(), list[Any]()

    def waiting() -> Iterator[dict[str, Any]]:
        try:
            begun.set()
            gate.wait(60)
            yield {"late": True}
            yield {"later": True}
        finally:
            ended.set()

    searches.start("a", Search(waiting()), sent.append, "failed")
    await asyncio.to_thread(begun.wait, 60)
    searches.start("a", Search(counting()), sent.append, "failed")
    searches.start("b", Search(counting(1_000_000)), lambda message: None, "failed")
    searches.stop("b")
    searches.stop("nobody")
    gate.set()
    await arrived(sent, 3)
    await asyncio.to_thread(ended.wait, 60)
    assert [message["number"] for message in sent] == [0, 1, 2]
    assert threading.get_ident() not in {message["thread"] for message in sent}


async def test_more_than_the_largest_number_are_refused(searches: Searches) -> None:
    sent: list[Any] = []
    for viewer in "ab":
        searches.start(viewer, Search(counting(1_000_000)), lambda message: None, "failed")
    with pytest.raises(Refusal, match="too_many_searches"):
        searches.start("c", Search(counting()), sent.append, "failed")
    searches.start("b", Search(counting(1_000_000), long=True), lambda message: None, "failed")  # in place of their own
    searches.stop("a")
    searches.start("c", Search(counting()), sent.append, "failed")
    await arrived(sent, 3)


async def test_errors_are_told_in_a_sentence_and_others_are_logged(searches: Searches, caplog: pytest.LogCaptureFixture) -> None:
    def raising(error: Exception) -> Iterator[dict[str, Any]]:
        yield {"number": 0}
        raise error

    sent: list[Any] = []
    searches.start("a", Search(raising(RulesError("No such rule."))), sent.append, "failed")
    await arrived(sent, 2)
    searches.start("a", Search(raising(ValueError("secret"))), sent.append, "It has failed.")
    await arrived(sent, 4)
    assert [message.get("text") for message in sent] == [None, "No such rule.", None, "It has failed."]
    assert "secret" in caplog.text
