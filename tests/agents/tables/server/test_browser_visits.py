"""Links followed, languages chosen and connections lost in the page, in a real Chromium; and what it gives up when it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.agents.tables.server import test_browser as base

GAMES = base.GAMES
pytestmark = [pytest.mark.slow, pytest.mark.browser]
browser, served, opened = base.browser, base.served, base.opened


def watched_table(host: Page, pace: str = "0.1") -> str:
    """Makes a table at which agents play; returns its link."""
    (link,) = base.new_table(host, GAMES[-1], persons=0, rounds=100, pace=pace)
    return link


def follow(page: Page, link: str) -> None:
    """Follows a link of the same server."""
    page.evaluate("(hash) => (location.hash = hash)", link.split("#")[1])


def held_hellos(page: Page) -> list[Callable[[], None]]:
    """Loads the page again; from then on its hellos wait here to be sent, as if the server took its time."""
    messages: list[Callable[[], None]] = []

    def routed(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def send(message: str | bytes) -> None:
            is_hello = json.loads(message)["type"] == "hello"
            messages.append(lambda: server.send(message)) if is_hello else server.send(message)

        socket.on_message(send)

    page.route_web_socket("**/ws", routed)
    page.reload()
    return messages


def until_held(page: Page, messages: list[Callable[[], None]]) -> None:
    """Waits until a hello waits."""
    for _ in range(base.PATIENCE // 100):
        if messages:
            return
        page.wait_for_timeout(100)
    raise AssertionError("The page sends no hello.")


def test_a_link_followed_from_a_table_shows_nothing_of_it(served: base.Served, opened: base.Opener) -> None:
    host = opened(served.link)
    watched = watched_table(host)
    link, _ = base.new_table(host, GAMES[0])
    page = opened(watched)
    messages = held_hellos(page)
    until_held(page, messages)
    messages.pop()()
    page.wait_for_selector("input[type=range]")
    follow(page, link)
    until_held(page, messages)
    page.wait_for_timeout(1000)  # views of the first table come meanwhile
    messages.pop()()
    assert base.wait_for_turn(page) == "mine"
    assert page.locator("input[type=range]").count() == 0


def test_a_link_and_a_language_are_chosen_while_the_connection_is_lost(served: base.Served, opened: base.Opener) -> None:
    host = opened(served.link)
    links = [base.new_table(host, game)[0] for game in (GAMES[0], GAMES[-1])]
    page = opened(links[0])
    assert base.wait_for_turn(page) == "mine"
    title = page.locator("h1").inner_text()
    served.kill()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    page.locator("#language").select_option("fr")
    follow(page, links[1])
    served.start()
    expect(page.get_by_text("À vous de jouer").first).to_be_visible()
    assert page.locator("h1").inner_text() != title
    assert page.locator("#live").inner_text()


def test_the_table_does_not_grow_however_fast_it_changes(served: base.Served, opened: base.Opener) -> None:
    host = opened(served.link)
    follow(host, watched_table(host, pace="0"))
    host.wait_for_selector(".laid .piece")
    size = "document.querySelector('.board').querySelectorAll('*').length"
    sizes = []
    for _ in range(30):
        sizes.append(host.evaluate(size))
        host.wait_for_timeout(50)
    assert max(sizes) < 2500
    follow(host, served.link)
    host.wait_for_selector("#play")
    assert host.locator(".board").count() == 0


def test_a_pause_that_was_lost_is_asked_for_again(served: base.Served, opened: base.Opener) -> None:
    page = opened(watched_table(opened(served.link), pace="10"))
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_load_state("networkidle")  # what the table is drawn with is loaded
    served.kill()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    served.start()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    page.wait_for_timeout(1000)  # the view comes
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()


def test_a_game_whose_request_was_lost_is_started_again(served: base.Served, opened: base.Opener) -> None:
    page = opened(served.link)
    page.wait_for_selector("#made[data-tables]", state="attached")
    served.kill()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    page.locator("#play").click()
    served.start()
    expect(page.locator("#play")).to_be_enabled()
    base.new_table(page, GAMES[0])  # shows its invitations, and not its first seat
    page.locator("#play").click()
    assert base.wait_for_turn(page) in ("mine", "between")


def test_a_record_is_saved_after_a_replay_was_asked_for_in_vain(served: base.Served, opened: base.Opener) -> None:
    page = opened(base.new_table(opened(served.link), GAMES[-1], persons=0)[0])
    assert base.wait_for_turn(page) == "over"
    served.kill()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    page.get_by_role("button", name="Replay").click()
    served.start()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    with page.expect_download():
        page.get_by_role("button", name="Download the record").click()


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


def listeners(page: Page) -> int:
    """The number of listeners of the document and the window."""
    count = "[document, window].flatMap((each) => Object.values(getEventListeners(each)).flat()).length"
    session = page.context.new_cdp_session(page)
    answer = session.send("Runtime.evaluate", {"expression": count, "includeCommandLineAPI": True})
    return int(answer["result"]["value"])


def test_listeners_go_with_their_table(served: base.Served, opened: base.Opener) -> None:
    page = opened(base.new_table(opened(served.link), GAMES[0])[0])
    assert base.wait_for_turn(page) == "mine"
    before = listeners(page)
    for language, text in (("fr", "À vous de jouer"), ("en", "Your turn")):
        page.locator("#language").select_option(language)
        expect(page.locator(".turn")).to_contain_text(text)
    assert listeners(page) == before


def test_what_is_in_english_only_says_so(served: base.Served, opened: base.Opener) -> None:
    host = opened(served.link)
    host.locator("#language").select_option("fr")
    host.locator(".more > summary").click()
    expect(host.get_by_role("heading", name="Nouvelle table")).to_be_visible()
    assert host.locator("label:has([name=preset]) small [lang=en]").count() == 1
    assert host.locator("label:has([name^=knob-]) small:not(:has([lang=en]))").count() == 0
    assert host.locator("label:has([name=seed]) small [lang=en]").count() == 0
