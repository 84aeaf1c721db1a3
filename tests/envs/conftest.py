"""Windows show their pictures for no longer than it takes to draw them."""

from __future__ import annotations

import pytest

from nainjaune_env.envs.pettingzoo_aec import raw_env


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(raw_env.metadata, "render_fps", 1000)
