"""Another program at the table of the page, in a real Chromium: its words stand at its seat, and its end costs it alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.agents.tables.server import test_browser as base
from tests.agents.tables.server.test_bots import BOT, name_of
from tests.support.processes import running

pytestmark = [pytest.mark.slow, pytest.mark.browser]
ENDED = name_of("0")
"""A bot that ends at each of its turns: what the page shows of one turn alone may be over before a test looks."""
browser, opened = base.browser, base.opened


@pytest.fixture(scope="module")
def served(browser: base.Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[base.Served]:
    server = base.Served(tmp_path_factory.mktemp("served"), "--agents", BOT, ENDED)
    yield server
    assert server.close() == 0
    assert running("talking_bot.py", server.process.pid) == []


def test_what_a_bot_says_is_shown_as_text(served: base.Served, opened: base.Opener) -> None:
    link, _ = base.new_table(opened(served.link), "nain_jaune", agents=("", BOT))
    page = opened(link)
    remark = page.locator(".seat-panel .remark")
    while remark.count() == 0 and base.wait_for_turn(page) != "over":
        base.click_and_wait(page, ".move:enabled")
    expect(remark).to_contain_text("expects −1.3 · “<b>bold</b>\\u202exxx")
    assert page.locator(".remark b").count() == 0
    box = remark.bounding_box()
    assert box is not None
    assert box["height"] < 60  # a long remark leaves room for the table; all of it is in its tooltip
    assert len(remark.get_attribute("title") or "") > 400
    base.check_axe(page)
    page.locator("#language").select_option("fr")
    expect(page.locator(".seat-panel .remark")).to_contain_text("attend −1,3 · « <b>bold</b>")


def test_a_bot_that_ends_is_played_for(served: base.Served, opened: base.Opener) -> None:
    link, _ = base.new_table(opened(served.link), "nain_jaune", agents=("", ENDED))
    page = opened(link)
    forfeit = page.get_by_text("no valid answer: the lowest move was played")
    while forfeit.count() == 0 and base.wait_for_turn(page) != "over":
        base.click_and_wait(page, ".move:enabled")
    expect(forfeit.first).to_be_visible()
    base.play_by_mouse(page)
