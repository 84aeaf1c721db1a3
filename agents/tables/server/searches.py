"""Searches for the viewers of tables: step by step in threads, so that each goes on only while somebody looks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from nainjaune_env.core.errors import NainJauneError

from .protocol import Refusal, error_text

QUICK_THREADS = 2
"""Threads for steps of searches whose first numbers somebody waits for."""


class Search(NamedTuple):
    """A search to be run."""

    steps: Iterator[Mapping[str, Any]]
    """Yields messages for the viewer; each is computed in a thread, one after the other."""
    long: bool = False
    """Whether its steps may take seconds: they run one at a time, and other searches do not wait for them."""


class Searches:
    """The searches of a server: at most one for each viewer. The steps of several take turns. Used in one event loop."""

    def __init__(self, most: int) -> None:
        """``most`` searches run at once."""
        self._most = most
        self.running: dict[Hashable, asyncio.Task[None]] = {}
        """By viewer."""
        self._quick = ThreadPoolExecutor(QUICK_THREADS, thread_name_prefix="search")
        self._long = ThreadPoolExecutor(1, thread_name_prefix="review")

    def start(self, viewer: Hashable, search: Search, send: Callable[[Mapping[str, Any]], object], failed: str) -> None:
        """Runs a search in place of the viewer's last one; ``send(message)`` gets its messages, ``failed`` tells of errors.

        Raises :class:`Refusal`, with the last one stopped, if the largest number of them runs.
        """
        self.stop(viewer)
        if len(self.running) >= self._most:
            raise Refusal("too_many_searches")
        self.running[viewer] = asyncio.get_running_loop().create_task(self._run(viewer, search, send, failed))

    def stop(self, viewer: Hashable) -> None:
        """Stops the viewer's search, if there is one: no further message comes, and at most the step that has begun ends."""
        task = self.running.pop(viewer, None)
        if task is not None:
            task.cancel()

    def prepare(self, load: Callable[[], object]) -> None:
        """Calls ``load()`` in a thread. Its errors are dropped: the search that needs what it loads meets them again."""
        self._long.submit(load)

    async def close(self) -> None:
        """Stops all searches."""
        tasks = list(self.running.values())
        for viewer in list(self.running):
            self.stop(viewer)
        await asyncio.gather(*tasks, return_exceptions=True)
        self._quick.shutdown(wait=True, cancel_futures=True)
        self._long.shutdown(wait=True, cancel_futures=True)

    async def _run(self, viewer: Hashable, search: Search, send: Callable[[Mapping[str, Any]], object], failed: str) -> None:
        loop, threads = asyncio.get_running_loop(), self._long if search.long else self._quick
        try:
            while (message := await loop.run_in_executor(threads, next, search.steps, None)) is not None:
                send(message)
        except NainJauneError as error:
            send({"type": "refused", "text": error_text(error)})
        except Exception:  # of an agent, say: the log has the details, which may show cards
            logging.getLogger(__name__).exception("A search has stopped.")
            send({"type": "refused", "text": failed})
        finally:
            if self.running.get(viewer) is asyncio.current_task():
                del self.running[viewer]
