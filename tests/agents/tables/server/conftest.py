"""A server of its own for each test that asks for one; tests that are coroutines run in its event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from nainjaune_agents.tables.server.protocol import Limits
from nainjaune_agents.tables.server.server import TableServer
from tests.agents.tables.server.pages import FREE, opened


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def limits() -> Limits:
    """The server's limits; a test that needs others is parametrised with them."""
    return FREE


@pytest.fixture
def server(runner: asyncio.Runner, limits: Limits, tmp_path: Path) -> Iterator[TableServer]:
    async def start() -> TableServer:
        return TableServer(store, limits=limits)

    with opened(tmp_path / "tables.sqlite") as store:
        server = runner.run(start())
        yield server
        runner.run(server.close())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    pyfuncitem.funcargs["runner"].run(pyfuncitem.obj(**given))
    return True
