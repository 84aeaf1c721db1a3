"""The server of these tests that listens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    from tests.agents.language.mcp.clients import listening

    with listening() as port:
        yield port
