"""Searches: messages in order until the viewer's next search, a stop, an error or the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from nainjaune_agents.serve.protocol import Refusal
from nainjaune_agents.serve.searches import Search, Searches
from nainjaune_env.core.errors import RulesError


def run(play: Callable[[Searches, list[Any]], Awaitable[None]], most: int = 4) -> list[Any]:
    """Runs ``play`` with searches; returns the messages that were sent."""
    sent: list[Any] = []

    async def main() -> None:
        searches = Searches(most)
        try:
            await play(searches, sent)
        finally:
            await searches.close()

    asyncio.run(main())
    return sent


async def arrived(sent: list[Any], count: int) -> None:
    """Waits for messages."""
    for _ in range(20_000):
        if len(sent) >= count:
            return
        await asyncio.sleep(0.001)
    raise AssertionError(sent)


def counting(threads: set[str] | None = None, end: int = 3) -> Iterator[dict[str, Any]]:
    for number in range(end):
        if threads is not None:
            threads.add(threading.current_thread().name)
        yield {"number": number}


@pytest.mark.parametrize("long", [False, True])
def test_messages_come_in_order_from_a_thread(long: bool) -> None:
    threads: set[str] = set()

    async def play(searches: Searches, sent: list[Any]) -> None:
        searches.start("a", Search(counting(threads), long), sent.append, "failed")
        await arrived(sent, 3)
        await asyncio.sleep(0)
        searches.start("a", Search(counting(), long), sent.append, "failed")
        await arrived(sent, 6)

    assert [message["number"] for message in run(play)] == [0, 1, 2, 0, 1, 2]
    assert threading.current_thread().name not in threads
    assert threads


def test_a_search_ends_when_it_is_stopped_or_replaced() -> None:
    gate, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def waiting() -> Iterator[dict[str, Any]]:
        try:
            begun.set()
            gate.wait(60)
            yield {"late": True}
            yield {"later": True}
        finally:
            ended.set()

    async def play(searches: Searches, sent: list[Any]) -> None:
        searches.start("a", Search(waiting()), sent.append, "failed")
        await asyncio.to_thread(begun.wait, 60)
        searches.start("a", Search(counting()), sent.append, "failed")
        searches.start("b", Search(counting(end=1_000_000)), lambda message: None, "failed")
        searches.stop("b")
        searches.stop("nobody")
        gate.set()
        await arrived(sent, 3)
        await asyncio.to_thread(ended.wait, 60)

    assert [list(message) for message in run(play)] == [["number"]] * 3


def test_more_than_the_largest_number_are_refused() -> None:
    async def play(searches: Searches, sent: list[Any]) -> None:
        for viewer in "ab":
            searches.start(viewer, Search(counting(end=1_000_000)), lambda message: None, "failed")
        with pytest.raises(Refusal, match="too_many_searches"):
            searches.start("c", Search(counting()), sent.append, "failed")
        searches.start("b", Search(counting(end=1_000_000)), lambda message: None, "failed")  # in place of their own
        searches.stop("a")
        searches.start("c", Search(counting()), sent.append, "failed")
        await arrived(sent, 3)

    run(play, most=2)


def test_errors_are_told_in_a_sentence_and_others_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    def raising(error: Exception) -> Iterator[dict[str, Any]]:
        yield {"number": 0}
        raise error

    async def play(searches: Searches, sent: list[Any]) -> None:
        searches.start("a", Search(raising(RulesError("No such rule."))), sent.append, "failed")
        await arrived(sent, 2)
        searches.start("a", Search(raising(ValueError("secret"))), sent.append, "It has failed.")
        await arrived(sent, 4)

    texts = [message.get("text") for message in run(play)]
    assert texts == [None, "No such rule.", None, "It has failed."]
    assert "secret" in caplog.text
