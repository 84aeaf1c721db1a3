"""Advice, reviews, guesses and play from a position in the page, in a real Chromium."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.agents.tables.server import test_browser as base
from tests.agents.tables.server.pages import advised_knobs, new_table
from tests.support.games import games_with

GAMES = games_with("speaker", "pictures", "advice")
SMALL: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}
pytestmark = [pytest.mark.slow, pytest.mark.browser]
browser, served, opened = base.browser, base.served, base.opened


def advised_table(host: Page, game: str, **changes: Any) -> str:
    """Makes a table of one person at which there is advice, without the form; returns the link of their seat."""
    table = new_table(game, players=2, knobs=advised_knobs(game), **changes)
    token = host.evaluate(
        """(table) => new Promise((made) => {
            const socket = new WebSocket(`ws://${location.host}/ws`);
            socket.onopen = () => socket.send(JSON.stringify({ type: "new", token: location.hash.slice(1), table }));
            socket.onmessage = (event) => {
                const { type, links } = JSON.parse(event.data);
                if (type === "made") made(links[0].token); // "preparing" may come before
            };
        })""",
        table,
    )
    return f"{host.url.split('#')[0]}#{token}"


def check_small(page: Page) -> None:
    """Nothing is wider than the screen, and axe-core finds nothing."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    base.check_axe(page)


def computed(page: Page) -> None:
    expect(page.get_by_text("Computed.")).to_be_visible()


@pytest.mark.parametrize("game", GAMES)
def test_advice_is_shown_and_cancelled(game: str, served: base.Served, opened: base.Opener) -> None:
    page = opened(advised_table(opened(served.link), game, rounds=2), **SMALL)
    assert base.wait_for_turn(page) == "mine"
    values = page.locator(".values tbody th")
    assert values.count() == 0
    page.get_by_text("Show advice").click()
    moves = len({move.get_attribute("data-action") for move in page.locator(".move").all()})
    expect(page.locator(".best")).to_contain_text("Best: ")
    page.get_by_text("The value of each move").click()
    expect(values).to_have_count(moves)
    computed(page)
    assert page.locator(".values .reason").count() == moves - 1
    expect(values.first).to_contain_text("▸")
    check_small(page)
    number, before = page.locator(".values").inner_text(), base.number_of_ply(page)
    page.locator(".move:enabled").last.click()
    page.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=before)
    if base.wait_for_turn(page) == "mine":
        expect(values.first).to_contain_text("▸")
        assert page.locator(".values").inner_text() != number
    page.get_by_text("Show advice").click()
    expect(values).to_have_count(0)
    page.wait_for_timeout(300)
    assert values.count() == 0


@pytest.mark.parametrize("game", GAMES)
def test_review_guess_first_and_play_on(game: str, served: base.Served, opened: base.Opener) -> None:
    page = opened(advised_table(opened(served.link), game, seed="11"), **SMALL)
    base.play_by_mouse(page)
    page.get_by_role("button", name="Review the decisions").click()
    decisions = page.locator(".decisions li")
    expect(decisions.first).to_be_visible()
    expect(decisions.first.locator("span")).to_contain_text("played")
    expect(page.get_by_text("lost")).to_be_visible()
    check_small(page)

    page.get_by_label("Guess first").check()
    assert page.locator(".decisions span").count() == 0
    expect(page.get_by_text("lost")).to_have_count(0)
    shown = [int(button.get_attribute("data-number") or -1) for button in decisions.locator("button").all()]
    assert shown == sorted(shown)  # in the order of play: that of their cost would help to guess
    decisions.first.get_by_role("button").click()
    guesses = page.locator(".move:enabled")  # those of the table's board
    guesses.first.wait_for()
    check_small(page)
    assert page.locator(".answer, .position .values").count() == 0
    offered = {guess.get_attribute("data-action") for guess in guesses.all()}
    chosen = guesses.first.get_attribute("aria-label") or guesses.first.inner_text()
    guesses.first.click()
    expect(page.get_by_text(f"You chose: {chosen}")).to_be_visible()
    expect(guesses).to_have_count(0)
    expect(page.locator(".answer")).to_contain_text("played")
    expect(page.locator(".position .values tbody th")).to_have_count(len(offered))
    computed(page)
    assert page.locator(".decisions span").count() == 1  # the others stay hidden
    check_small(page)

    old = page.url
    page.get_by_role("button", name="Play on from here").click()
    page.wait_for_url(lambda url: url != old)
    assert base.wait_for_turn(page) == "mine"
    assert {move.get_attribute("data-action") for move in page.locator(".move:enabled").all()} == offered
    expect(page.get_by_text("Show advice")).to_be_visible()
    before = base.number_of_ply(page)
    page.locator(".move:enabled").first.click()
    page.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=before)
