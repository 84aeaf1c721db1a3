"""The Chromium with which the page is tested, and with which its screenshots are made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, sync_playwright

from tests.support.source import ROOT

INSTALLED = ROOT / "build" / "browser"
NAMES = ("chromium", "chromium-headless-shell", "google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--headless=shell", "--force-color-profile=srgb"]


def browser_path() -> str | None:
    """The browser to test with; None if there is none."""
    result = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), str(INSTALLED / "chromium")]
    return next((path for path in result if path and Path(path).exists()), None)


def ways_to_launch(path: str) -> Iterator[dict[str, Any]]:
    """Arguments of `launch`, to be tried in turn: the libraries of an installed browser may be missing, and lie beside it."""
    yield {"executable_path": path, "args": OPTIONS}
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(INSTALLED / "al2023" / "lib")}
    yield {"executable_path": path, "args": OPTIONS, "env": libraries}


@contextmanager
def launched(path: str) -> Iterator[Browser]:
    """Within this context the browser at ``path`` runs."""
    with sync_playwright() as playwright:
        first, second = ways_to_launch(path)
        try:
            browser = playwright.chromium.launch(**first)
        except Error:
            browser = playwright.chromium.launch(**second)
        yield browser
        browser.close()
