"""Links followed, languages chosen and connections lost in the page, in a real Chromium; and what it gives up when it goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.agents.tables.server import test_browser as base

GAMES = base.GAMES
pytestmark = [pytest.mark.slow, pytest.mark.browser]
browser, served, opened = base.browser, base.served, base.opened


def watched_table(host: Page, pace: str = "0.1") -> str:
    """Makes a table at which agents play; returns its link."""
    (link,) = base.new_table(host, GAMES[-1], persons=0, rounds=100, pace=pace)
    return link


def follow(page: Page, link: str) -> None:
    page.evaluate("(hash) => (location.hash = hash)", link.split("#")[1])


def test_what_was_asked_for_in_vain_is_asked_for_again(served: base.Served, opened: base.Opener) -> None:
    """A new game, a pause and a replay, each while the connection was lost."""
    page = opened(served.link)
    over = opened(base.new_table(page, GAMES[-1], persons=0)[0])
    assert base.wait_for_turn(over) == "over"
    watched = opened(watched_table(page, pace="10"))
    expect(watched.get_by_role("button", name="Pause")).to_be_visible()
    watched.wait_for_load_state("networkidle")  # what the table is drawn with is loaded
    served.kill()
    for each, button in ((page, "#play"), (watched, "button:text-is('Pause')"), (over, "button:text-is('Replay')")):
        expect(each.get_by_text("The connection is lost")).to_be_visible()
        each.locator(button).click()
    served.start()
    for each in (watched, over):
        expect(each.get_by_text("Connected", exact=True)).to_be_visible()
    watched.wait_for_timeout(1000)  # the view comes
    watched.get_by_role("button", name="Pause").click()
    expect(watched.get_by_role("button", name="Go on")).to_be_visible()
    with over.expect_download():
        over.get_by_role("button", name="Download the record").click()
    expect(page.locator("#play")).to_be_enabled()
    base.new_table(page, GAMES[0])  # shows its invitations, and not its first seat
    page.locator("#play").click()
    assert base.wait_for_turn(page) in ("mine", "between")


def test_the_host_finds_and_deletes_tables_after_a_restart(served: base.Served, opened: base.Opener) -> None:
    host = opened(served.link)
    link, _ = base.new_table(host, GAMES[0])
    before = served.link
    served.kill()
    served.start()
    assert served.link == before
    player = opened(link)
    assert base.wait_for_turn(player) == "mine"
    page = opened(served.link)  # another browser, which keeps no invitations
    newest = page.locator("#made section").first
    newest.get_by_role("button", name="New invitations").click()
    expect(newest.get_by_role("link")).to_have_count(2)
    count = page.locator("#made section").count()
    page.on("dialog", lambda dialog: dialog.accept())
    newest.get_by_role("button", name="Delete the table").click()
    expect(page.locator("#made section")).to_have_count(count - 1)
    expect(player.locator("#problem")).to_contain_text("deleted")
    follow(host, served.link.split("#")[0] + "#nothing")
    expect(host.get_by_role("heading", name="Invitations")).to_be_visible()
