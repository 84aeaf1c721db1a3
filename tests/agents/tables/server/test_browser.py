"""The page in a real Chromium: matches by mouse and by keyboard, several people, interruptions, small and dark screens.

`test_browser_smoke` has the few that ``make test`` runs; ``make browser`` runs the others, too.

Where there is no browser or no axe-core, these tests are skipped, but fail in continuous integration.
``make browser`` installs both first.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from nainjaune_agents.players.loading import named_agents
from nainjaune_env.registry import get_game
from tests.agents.tables.server.test_bots import BOT, name_of
from tests.support.chromium import INSTALLED, browser_path, launched
from tests.support.games import games_with
from tests.support.processes import running
from tests.support.source import ROOT

AXE = INSTALLED / "node_modules" / "axe-core" / "axe.min.js"
GAMES = games_with("speaker", "pictures")
GOLDEN = ROOT / "tests" / "golden" / "batasaurus_perfect_2.jsonl"
PATIENCE = 25_000
"""Milliseconds to wait for what a quiet machine does in a few."""
JOB = 4 * PATIENCE
"""The same for a replay or a film, which is made in a process of its own with a low priority."""
ENDED = name_of("0")
"""A bot that ends at each of its turns: what the page shows of one turn alone may be over before a test looks."""
pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = browser_path()
    if path is None or not AXE.exists():
        skip = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        skip("There is no Chromium or no axe-core; `make browser` installs both.")
    with launched(path) as started:
        yield started


class Served:
    """A server in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, *words: str) -> None:
        """``words`` are further arguments of the command."""
        self.folder = folder
        self.words = words
        self.port = 0
        self.start()

    def start(self) -> None:
        words = ["serve", "--no-browser", "--port", str(self.port), "--data", str(self.folder / "tables.sqlite"), *self.words]
        command = [sys.executable, "-m", "nainjaune_agents.cli.main", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.link = re.search(r"http\S+", self.process.stdout.readline())[0]  # type: ignore[index]
        self.port = int(self.link.split(":")[2].split("/")[0])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.close()

    def close(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(60)


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Needs the browser so that no server starts where there is none."""
    server = Served(tmp_path_factory.mktemp("served"), "--agents", BOT, ENDED)
    yield server
    assert server.close() == 0
    assert running("talking_bot.py", server.process.pid) == []


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opener]:
    """Opens a page in a browser of its own; an error in any of them fails the test."""
    contexts, problems = [], []

    def opener(link: str, **options: Any) -> Page:
        context = browser.new_context(locale="en-GB", reduced_motion="reduce", **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if _is_problem(message) else None)
        page.goto(link)
        return page

    yield opener
    for context in contexts:
        context.close()
    assert problems == []


def _is_problem(message: Any) -> bool:
    """A connection that is lost logs an error, too."""
    lost = "WebSocket connection to" in message.text or "net::ERR_CONNECTION_REFUSED" in message.text
    return message.type in ("error", "warning") and not lost


expect.set_options(timeout=PATIENCE)


def new_table(
    page: Page,
    game: str,
    *,
    persons: int = 1,
    seats: int = 2,
    rounds: int = 1,
    seed: str = "7",
    pace: str = "0",
    agents: Sequence[str] = ("random", "random"),
) -> list[str]:
    """Makes a table with the form; returns the links of the persons' seats and, last, of spectators."""
    page.wait_for_selector("#made[data-tables]", state="attached")
    if not page.locator("[name=game]").is_visible():
        page.locator(".more > summary").click()
    page.locator("[name=game]").select_option(game)
    page.locator("[name=players]").select_option(str(seats))
    for seat in range(seats):
        page.get_by_label(f"Who plays in seat {seat}").select_option("person" if seat < persons else "agent")
        if seat < persons:
            page.get_by_label(f"Name of the person in seat {seat}").fill(f"<b>Zoé {seat}")
        else:
            page.get_by_label(f"Agent in seat {seat}").fill(agents[seat])
    page.locator("[name=length]").select_option("rounds")
    page.locator("[name=rounds]").fill(str(rounds))
    page.get_by_text("Seed, Pause").click()
    page.locator("[name=seed]").fill(seed)
    page.locator("[name=pace]").fill(pace)
    before = int(page.locator("#made").get_attribute("data-tables") or 0)
    page.get_by_role("button", name="Start the table").click()
    expect(page.locator("#made section")).to_have_count(before + 1)
    links = page.locator("#made section").first.locator("a")
    return [page.url.split("#")[0] + str(link.get_attribute("href")) for link in links.all()]


def check_axe(page: Page) -> None:
    """axe-core finds nothing; it is run apart from the page's security policy."""
    page.wait_for_selector("h1")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then((found) => found.violations.map((each) => [each.id, each.nodes[0].html]))")
    assert violations == []


def wait_for_turn(page: Page) -> str:
    """Waits until somebody is to act at this page; says what: "mine" (a move), "between" (the next round) or "over"."""
    states = ", ".join(f".turn[data-state={state}]" for state in ("mine", "between", "over"))
    return str(page.wait_for_selector(states).get_attribute("data-state"))  # type: ignore[union-attr]


def number_of_ply(page: Page) -> str:
    return str(page.locator(".events").inner_text())


def click_and_wait(page: Page, button: str) -> None:
    """Clicks a button that makes a ply, and waits until the server's answer is on the page."""
    before = number_of_ply(page)
    page.locator(button).first.click()
    page.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=before)


def play_by_mouse(page: Page) -> None:
    while (now := wait_for_turn(page)) != "over":
        click_and_wait(page, ".move:enabled" if now == "mine" else ".buttons button.main")


def test_by_keyboard_in_french_on_a_small_dark_screen(served: Served, opened: Opener) -> None:
    link, _ = new_table(opened(served.link), GAMES[-1], rounds=2)
    page = opened(link, viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.locator("#language").select_option("fr")
    expect(page.get_by_text("À vous de jouer").first).to_be_visible()
    check_axe(page)
    while page.evaluate("!document.activeElement.classList.contains('move')"):
        page.keyboard.press("Tab")
    while wait_for_turn(page) != "over":
        before = number_of_ply(page)
        page.wait_for_function("() => document.activeElement.tagName === 'BUTTON'")  # the policy allows no eval
        page.keyboard.press("Enter")
        page.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=before)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator("#live")).to_contain_text("La partie est finie.")
    check_axe(page)


def test_two_people_and_a_spectator(served: Served, opened: Opener) -> None:
    first, second, looks = new_table(opened(served.link), GAMES[0], persons=2)
    pages, spectator = [opened(first), opened(second)], opened(looks)
    for _ in range(4):
        pages[0].wait_for_selector(".turn[data-state]")
        for page, other in (pages, pages[::-1]):
            if page.locator(".move:enabled").count():
                before = number_of_ply(other)
                page.locator(".move:enabled").first.click()
                other.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=before)
                break
    spectator.wait_for_selector(".events li:nth-child(4)")
    assert spectator.locator(".move").count() == 0
    expect(spectator.get_by_text("Spectators see the cards")).to_be_visible()


def test_lost_connections_and_a_killed_server(served: Served, opened: Opener) -> None:
    link, _ = new_table(opened(served.link), GAMES[-1])
    page = opened(link)
    assert wait_for_turn(page) == "mine"
    click_and_wait(page, ".move:enabled")  # before the server is killed: an unanswered move may be stored or not
    for interrupt in (served.kill, lambda: page.context.set_offline(True)):
        wait_for_turn(page)
        before = number_of_ply(page)
        interrupt()
        if interrupt == served.kill:
            expect(page.get_by_text("The connection is lost")).to_be_visible()
            served.start()
        page.context.set_offline(False)
        expect(page.get_by_text("Connected", exact=True)).to_be_visible()
        page.reload()
        wait_for_turn(page)
        assert number_of_ply(page) == before
    play_by_mouse(page)


def test_a_link_that_is_none(served: Served, opened: Opener) -> None:
    page = opened(f"{served.link.split('#')[0]}#nothing")
    expect(page.get_by_text("This link is not valid here")).to_be_visible()
    check_axe(page)
    assert json.loads(page.evaluate("JSON.stringify(Object.keys(localStorage))")) == []
    expect(page.locator("#home")).to_be_hidden()  # it leads to the host's form


def test_a_record_is_chosen_scrubbed_and_linked_to(served: Served, opened: Opener, tmp_path: Path) -> None:
    first = GOLDEN.read_text(encoding="utf-8").splitlines()[0]
    several, broken = tmp_path / "several.jsonl", tmp_path / "broken.jsonl"
    several.write_text(f"{first}\n{first}\n", encoding="utf-8")
    broken.write_text(first[:-20], encoding="utf-8")
    page = opened(served.link, viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.get_by_label("File with a record").set_input_files(broken)
    expect(page.locator("#notice")).to_contain_text("Expected a record as JSON", timeout=JOB)
    check_axe(page)
    page.get_by_label("File with a record").set_input_files(several)
    page.get_by_label("Match, of 2 in the file").fill("2")
    page.get_by_role("button", name="Open the replay").click()
    expect(page.locator("#where")).to_contain_text("ply 0", timeout=JOB)
    check_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="decision ▶▶").focus()
    page.keyboard.press("Enter")
    page.locator("#ply").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#view").select_option("1")
    where, link = page.locator("#where").inner_text(), page.url
    assert "ply 0" not in where
    again = opened(link)
    expect(again.locator("#where")).to_have_text(where)
    expect(again.locator("#view")).to_have_value("1")
    again.evaluate("location.hash = location.hash.replace(/ply=.*/, 'ply=0&view=0')")
    expect(again.locator("#where")).to_contain_text("ply 0")
    again.locator("#language").select_option("fr")
    expect(again.locator("#auto")).to_have_text("▶ Lecture", timeout=JOB)
    again.locator("#auto").click()
    expect(again.locator("#where")).not_to_contain_text("coup 0")
    assert "auto=1" in again.url


SCREENS = {"desktop": (1366, 625), "upright": (360, 740), "on its side": (740, 360)}


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("game", GAMES)
def test_cards_are_buttons_that_fingers_hit_and_none_lies_below_the_fold(
    game: str, screen: str, served: Served, opened: Opener
) -> None:
    seats = get_game(game).default_players
    link, _ = new_table(opened(served.link), game, seats=seats, agents=["random"] * seats)
    width, height = SCREENS[screen]
    page = opened(link, has_touch=True, viewport={"width": width, "height": height})
    while wait_for_turn(page) == "mine" and not page.locator(".cards .move").count():  # a look at one's own cards, or a stop
        click_and_wait(page, ".move:enabled")
    for card in page.locator(".cards button").all():
        place = card.bounding_box()
        assert place is not None
        assert place["width"] >= 44
        assert place["height"] >= 44
        assert card.get_attribute("aria-label")
    for move in page.locator(".move:enabled").all():
        place = move.bounding_box()
        assert place is not None
        assert place["y"] + place["height"] <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check_axe(page)
    before = number_of_ply(page)
    page.locator(".cards .move").first.tap()
    page.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=before)
    if wait_for_turn(page) == "mine" and page.locator(".cards .move").count():
        page.locator(".cards .move").last.focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.classList.contains('move')")
        before = number_of_ply(page)
        page.keyboard.press("Enter")
        page.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=before)


def test_one_click_plays_and_a_slip_is_taken_back_in_french_on_a_small_dark_screen(served: Served, opened: Opener) -> None:
    page = opened(served.link, viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.locator("#language").select_option("fr")
    play = page.get_by_role("button", name="Jouer", exact=True)
    expect(play).to_be_in_viewport()
    page.get_by_label("Force").select_option("easy")
    expect(page.locator(".opponent .level")).to_have_text(["facile"] * 3)
    faces = page.locator(".opponent .avatar")
    names = page.locator(".opponent b").all_inner_texts()
    assert len(set(names)) == len({face.evaluate("(face) => face.innerHTML") for face in faces.all()}) == 3
    page.locator(".more > summary").click()
    check_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    play.click()
    assert wait_for_turn(page) in ("mine", "between")
    expect(page.locator(".seats .name b")).to_have_text(names)
    expect(page).to_have_title("● À vous de jouer · nainjaune")
    while page.locator(".move:enabled").count() == 1:
        click_and_wait(page, ".move:enabled")
        wait_for_turn(page)
    before = number_of_ply(page)
    click_and_wait(page, ".move:enabled")
    wait_for_turn(page)
    page.get_by_role("button", name="Reprendre mon coup").click()
    page.wait_for_function("(before) => document.querySelector('.events').innerText === before", arg=before)


def test_agents_are_watched(served: Served, opened: Opener) -> None:
    host = opened(served.link)
    (link,) = new_table(host, GAMES[0], persons=0, pace="10", agents=list(named_agents(GAMES[0]))[:2])
    page = opened(link)
    expect(page.get_by_text("in a field of")).to_be_visible()
    before = number_of_ply(page)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    check_axe(page)
    page.get_by_label("Speed", exact=True).focus()
    page.keyboard.press("Home")
    expect(page.get_by_label("Speed", exact=True)).to_have_attribute("aria-valuetext", "10 seconds a ply")
    assert number_of_ply(page) == before
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("Speed", exact=True).focus()
    page.keyboard.press("End")
    assert wait_for_turn(page) == "over"


def test_what_a_bot_says_is_shown_as_text(served: Served, opened: Opener) -> None:
    page = opened(new_table(opened(served.link), "nain_jaune", agents=("", BOT))[0])
    remark = page.locator(".seat-panel .remark")
    while remark.count() == 0 and wait_for_turn(page) != "over":
        click_and_wait(page, ".move:enabled")
    expect(remark).to_contain_text("expects −1.3 · “<b>bold</b>\\u202exxx")
    assert page.locator(".remark b").count() == 0
    box = remark.bounding_box()
    assert box is not None
    assert box["height"] < 60  # a long remark leaves room for the table; all of it is in its tooltip
    assert len(remark.get_attribute("title") or "") > 400
    check_axe(page)


def test_a_bot_that_ends_is_played_for(served: Served, opened: Opener) -> None:
    page = opened(new_table(opened(served.link), "nain_jaune", agents=("", ENDED))[0])
    forfeit = page.get_by_text("no valid answer: the lowest move was played")
    while forfeit.count() == 0 and wait_for_turn(page) != "over":
        click_and_wait(page, ".move:enabled")
    expect(forfeit.first).to_be_visible()
    play_by_mouse(page)
