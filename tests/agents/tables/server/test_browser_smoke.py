"""A round in the page from the form to the record, and the page of a recorded match, in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.records.record import parse_record, read_records, verify_record
from nainjaune_env.render.replay_page import replay_page
from tests.agents.tables.server import test_browser as base

pytestmark = pytest.mark.slow
browser, served, opened = base.browser, base.served, base.opened


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.browser] * (game != DEFAULT_GAME)) for game in base.GAMES]
)
def test_by_mouse_to_the_end(game: str, served: base.Served, opened: base.Opener) -> None:
    host = opened(served.link)
    base.check_axe(host)
    link, _ = base.new_table(host, game)
    base.check_axe(host)
    page = opened(link)
    assert base.wait_for_turn(page) == "mine"
    base.check_axe(page)
    base.play_by_mouse(page)
    base.check_axe(page)
    expect(page.get_by_text("The match is over.").first).to_be_visible()
    assert page.locator("tbody tr").count() == 2
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the record").click()
    record = parse_record(Path(download.value.path()).read_text(encoding="utf-8").strip())
    assert verify_record(record) == 1
    assert record["agents"] == ["<b>Zoé 0", "random"]


def test_the_page_of_a_recorded_match(opened: base.Opener, tmp_path: Path) -> None:
    (record,) = list(read_records(base.GOLDEN))[:1]
    file = tmp_path / "match.html"
    file.write_text(replay_page(record, "en"), encoding="utf-8")
    page = opened(file.as_uri())
    page.wait_for_selector("[data-ready]")
    base.check_axe(page)
    first = page.locator("#picture").get_attribute("src")
    page.get_by_role("button", name="ply ▶").click()
    assert page.locator("#picture").get_attribute("src") != first
    page.get_by_role("button", name="round ▶|").click()
    page.get_by_role("button", name="◀◀ decision").click()
    page.locator("#view").select_option("1")
    where = page.locator("#where").inner_text()
    again = opened(page.url)
    again.wait_for_selector("[data-ready]")
    assert again.locator("#where").inner_text() == where
    assert again.locator("#view").input_value() == "1"
    again.evaluate("location.hash = '#ply=0&view=0'")
    expect(again.locator("#view")).to_have_value("0")
    expect(again.locator("#ply")).to_have_value("0")
    with again.expect_download() as download:
        again.get_by_text("Save the picture").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("<svg")
