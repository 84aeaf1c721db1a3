"""The static site in a real Chromium whose server is gone after the first load: matches, reloads, French, a phone."""

from __future__ import annotations

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from nainjaune_env.records.record import parse_record, verify_record
from tests.agents.tables.server import test_browser as base
from tests.benchmarks.commands import BENCHMARKS
from tests.fuzz.stored import SCRIPT, SETTINGS, STORES

pytestmark = [pytest.mark.slow, pytest.mark.browser]
browser, opened = base.browser, base.opened
PHONE = {"viewport": {"width": 360, "height": 740}}
FOLDER = "some/folder"
"""The site is not at the root of its server."""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


WORLDS = """async () => {
  const { Game } = await import(new URL("wasm/index.js", location));
  const plain = (_, value) => (typeof value === "bigint" ? `${value}` : value);
  const told = (session, seat) => JSON.stringify([session.legal, [...session.observation(seat)], session.view(seat)], plain);
  const arrays = {
    int8: Int8Array, uint8: Uint8Array, bool: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
    uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  };
  const bytes = (table, { size, fields }) => {
    const memory = new ArrayBuffer(size);
    for (const [name, { offset, dtype, shape }] of Object.entries(fields))
      new arrays[dtype](memory, offset, shape.reduce((count, length) => count * length, 1)).set([table[name]].flat(9));
    return new Uint8Array(memory);
  };
  let compared = 0;
  for (const name of ["nain_jaune", "batasaurus"]) {
    const description = await (await fetch(`games/${name}/description.json`)).json();
    const game = await Game.load(fetch(`games/${name}/module.wasm`), description);
    for (let match = 1; match <= 20; match += 1) {
      const session = game.session(), other = game.session();
      session.begin(BigInt(match));
      for (let k = 0; !session.done && k < 60; k += 1) {
        const { seat, legal } = session;
        for (const world of session.resample(BigInt(match), 3)) {
          other.place(bytes(world, description.table));
          if (told(other, seat) !== told(session, seat)) throw new Error(`seat ${seat} can tell, decision ${k}, match ${match}`);
          compared += 1;
        }
        session.step(legal[k % legal.length]);
      }
      session.free();
      other.free();
    }
  }
  return compared;
}"""
"""Deals the hidden cards again; returns how often, or throws where a seat can tell."""


@pytest.fixture
def served(site: Path, tmp_path: Path) -> Iterator[http.server.ThreadingHTTPServer]:
    shutil.copytree(site, tmp_path / FOLDER)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=tmp_path))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def online(served: http.server.ThreadingHTTPServer, opened: Callable[..., Page], **options: Any) -> Page:
    """Opens the site, and waits until the browser keeps it."""
    page = opened(f"http://127.0.0.1:{served.server_port}/{FOLDER}/", **options)
    page.wait_for_selector("#play")
    page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    return page


def offline(served: http.server.ThreadingHTTPServer, opened: Callable[..., Page], **options: Any) -> Page:
    """Opens the site, and stops its server once the browser keeps it."""
    page = online(served, opened, **options)
    served.shutdown()
    served.server_close()
    return page


LONG_RUN = """() => {
  const run = document.querySelector(".run");
  while (run.querySelectorAll(".laid").length < 13) run.prepend(run.querySelector(".laid").cloneNode(true));
  run.style.setProperty("--n", 14);
  return Math.max(...[...run.querySelectorAll(".piece")].map((card) => card.getBoundingClientRect().right));
}"""
"""Shows a whole suit on the table; returns where its last card ends."""


def play_round(page: Page) -> str:
    """Plays to the end of the round; returns "between" or "over"."""
    while (state := base.wait_for_turn(page)) == "mine":
        base.click_and_wait(page, ".move:enabled")
    return state


def test_a_match_without_a_network(served: Any, opened: Callable[..., Page]) -> None:
    """From the first screen to the record, with a reload in the middle; axe-core finds nothing."""
    page = offline(served, opened)
    base.check_axe(page)
    page.get_by_text("More: all rules and seats").click()
    page.get_by_label("Name of the person in seat 0").fill("<b>Zoé")
    page.locator("[name=length]").select_option("rounds")
    page.locator("[name=rounds]").fill("2")
    page.get_by_text("Seed, Pause").click()
    page.locator("[name=pace]").fill("0")
    page.get_by_role("button", name="Start the table").click()
    page.locator("#made a").first.click()
    assert base.wait_for_turn(page) == "mine"
    base.click_and_wait(page, ".move:enabled")
    base.wait_for_turn(page)
    before = base.number_of_ply(page)
    page.reload()
    base.wait_for_turn(page)
    assert base.number_of_ply(page) == before
    assert play_round(page) == "between"
    expect(page.locator("#edge")).to_contain_text("not yet: 1 of 10 rounds")
    base.check_axe(page)
    page.get_by_role("button", name="Next round").click()
    page.wait_for_selector(".turn:not([data-state=between])")
    assert play_round(page) == "over"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the record").click()
    records = [parse_record(line) for line in Path(download.value.path()).read_text(encoding="utf-8").splitlines()]
    assert [verify_record(record) for record in records] == [1, 1]
    assert records[0]["agents"][0] == "<b>Zoé"
    page.get_by_role("button", name="Review the decisions").click()
    expect(page.locator(".decisions li")).not_to_have_count(0)
    base.check_axe(page)
    page.get_by_role("link", name="nainjaune").click()
    page.get_by_label("File with a record").set_input_files(download.value.path())
    page.get_by_role("button", name="Open the replay").click()
    expect(page.locator("#where")).to_contain_text("ply 0")
    page.get_by_role("button", name="decision ▶▶").click()
    base.check_axe(page)
    page.get_by_role("link", name="nainjaune").click()
    expect(page.locator("#edge")).to_contain_text("2 of 10 rounds")


def test_the_deal_of_the_day_on_a_phone_in_french(served: Any, opened: Callable[..., Page]) -> None:
    page = offline(served, opened, color_scheme="dark", **PHONE)
    page.locator("#language").select_option("fr")
    page.get_by_role("link", name="La donne du jour").click()
    base.wait_for_turn(page)
    base.check_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert play_round(page) == "over"
    expect(page.locator("#edge")).to_contain_text("Les mêmes cartes, jouées deux fois")
    expect(page.locator("#edge")).to_contain_text("Le Nain à votre place")
    expect(page.locator(".own .name")).to_contain_text("Invité (vous)")
    assert page.evaluate(LONG_RUN) <= 360
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copier un texte à partager").click()
    expect(page.locator("#edge [role=status]")).to_have_text("Copié.")
    copied = page.evaluate("navigator.clipboard.readText()")
    day = page.evaluate("new Date().toISOString().slice(0, 10)")
    assert copied.startswith(f"Nain Jaune, donne du {day}\N{NARROW NO-BREAK SPACE}: ")
    assert copied.endswith(f"{FOLDER}/#day")
    base.check_axe(page)


def test_no_seat_can_tell_when_hidden_cards_are_dealt_again(served: Any, opened: Callable[..., Page]) -> None:
    assert offline(served, opened).evaluate(WORLDS) > 3000


def test_advice_the_lesson_and_puzzles(served: Any, opened: Callable[..., Page]) -> None:
    page = offline(served, opened)
    page.locator("#play").click()
    assert base.wait_for_turn(page) == "mine"
    page.locator("[name=advice]").check()
    expect(page.locator(".advice .best")).to_contain_text("Best:")
    page.get_by_role("link", name="nainjaune").click()
    page.get_by_role("link", name="Learn in two minutes").click()
    expect(page.locator("#guide")).to_contain_text("Get rid of all your cards first")
    base.check_axe(page)
    page.get_by_role("link", name="nainjaune").click()
    page.get_by_role("link", name="Puzzles").click()
    expect(page.locator("#puzzle")).to_contain_text("Which one would you play?")
    page.locator(".move:enabled").first.click()
    expect(page.locator("#puzzle")).to_contain_text("chips")
    base.check_axe(page)
    page.get_by_role("link", name="Next puzzle").click()
    expect(page.locator("#puzzle")).to_contain_text("Puzzle 2 of")


def test_an_update_under_a_running_match(served: Any, opened: Callable[..., Page], tmp_path: Path) -> None:
    page = online(served, opened)
    page.locator("#play").click()
    assert base.wait_for_turn(page) == "mine"
    script = tmp_path / FOLDER / "service_worker.js"
    script.write_text(script.read_text(encoding="utf-8").replace('"version":"', '"version":"new-'), encoding="utf-8")
    page.evaluate("navigator.serviceWorker.getRegistration().then((found) => found.update()).then(() => true)")
    page.wait_for_function("() => navigator.serviceWorker.getRegistration().then((found) => found.waiting !== null)")
    base.click_and_wait(page, ".move:enabled")
    base.wait_for_turn(page)
    before, link = base.number_of_ply(page), page.url
    page.goto("about:blank")  # no page of the old version is open: the new one takes over
    page.goto(link)
    base.wait_for_turn(page)
    assert base.number_of_ply(page) == before
    assert "new-" in page.evaluate("caches.keys().then((names) => names.join())")


REFUSE = """
IDBFactory.prototype.open = () => { throw new DOMException("", "SecurityError"); };
if (globalThis.window) Object.defineProperty(window, "localStorage", { get() { throw new DOMException("", "SecurityError"); } });
"""
"""What a browser does whose storage is switched off, in pages and in workers."""


def with_stored(served: Any, opened: Callable[..., Page], entries: list[Any], stores: Iterable[str] = STORES) -> Page:
    """Opens the site in a browser whose database has ``stores`` with ``entries``."""
    address = f"http://127.0.0.1:{served.server_port}/{FOLDER}/"
    page = opened(f"{address}favicon.svg")
    database = {"version": 1, "stores": {store: {"keyPath": "id"} for store in stores}}
    page.evaluate(f"{SCRIPT}.put", json.dumps({"items": {}, "entries": entries, "database": database}))
    page.goto(address)
    expect(page.locator("#play")).to_be_enabled()
    return page


def test_a_stored_match_that_cannot_be_read_hides_no_other(served: Any, opened: Callable[..., Page]) -> None:
    """Matches of a renamed game and without settings, and rounds of that game."""
    match = STORES["tables"]
    old, none = (
        {**match, "id": "old", "settings": {**SETTINGS, "game": "yellow_dwarf"}},
        {**match, "id": "none", "settings": None},
    )
    rounds = [{**STORES["rounds"], "id": f"old {number}", "key": "yellow_dwarf · djeco · 4"} for number in range(3)]
    entries = [("tables", old), ("tables", match), ("tables", none), *(("rounds", each) for each in rounds)]
    page = with_stored(served, opened, [*entries, ("rounds", STORES["rounds"])])
    expect(page.locator("#made a")).to_have_count(1)
    expect(page.locator("#edge li")).to_have_count(1)
    expect(page.locator("#stored li")).to_have_count(3)
    expect(page.locator("#stored")).to_contain_text("Match old: There is no game yellow_dwarf here.")
    expect(page.locator("#stored")).to_contain_text("Match none · settings: expected named values, not null")
    expect(page.locator("#stored")).to_contain_text("Rounds of your edge (3): There is no game yellow_dwarf here.")
    base.check_axe(page)
    page.locator("#language").select_option("fr")
    expect(page.locator("#stored")).to_contain_text("Le jeu yellow_dwarf n'existe pas ici.")
    for left in (2, 1, 0):
        page.locator("#stored button").first.click()
        expect(page.locator("#stored li")).to_have_count(left)
    expect(page.locator("#made a")).to_have_count(1)
    page.locator("#made a").click()
    assert base.wait_for_turn(page) == "mine"


def test_a_match_whose_plies_are_illegal_stays_until_it_is_deleted(served: Any, opened: Callable[..., Page]) -> None:
    page = with_stored(served, opened, [("tables", {**STORES["tables"], "id": "bad", "plies": [99]})])
    for _ in range(2):
        page.goto(f"{page.url.split('#')[0]}#bad")
        expect(page.locator("#problem")).to_contain_text("cannot be read")
        expect(page.locator("#stored li")).to_contain_text("Match bad: The table cannot go on: its ply 1 is illegal")
        base.check_axe(page)
        page.reload()
    page.locator("#stored button").click()
    expect(page.locator("#problem")).to_contain_text("This browser has no such table")


def test_a_database_without_its_stores(served: Any, opened: Callable[..., Page]) -> None:
    page = with_stored(served, opened, [], ["tables"])
    expect(page.locator("#stored p").first).to_contain_text("This browser does not let the page keep everything")
    expect(page.locator("#stored li")).to_contain_text("expected the stores tables, rounds, records, puzzles, not tables")
    page.locator("#play").click()
    assert base.wait_for_turn(page) == "mine"
    link = page.url
    page.locator("#home").click()
    page.locator("#stored button").click()
    expect(page.locator("#stored")).to_be_empty()
    page.goto("about:blank")
    page.goto(link)  # what was in memory was stored
    assert base.wait_for_turn(page) == "mine"


def test_without_storage_a_round_is_played_from_memory(served: Any, opened: Callable[..., Page], tmp_path: Path) -> None:
    script = tmp_path / FOLDER / "storage.js"
    script.write_text(REFUSE + script.read_text(encoding="utf-8"), encoding="utf-8")
    page = opened(f"http://127.0.0.1:{served.server_port}/{FOLDER}/")
    page.locator("[name=name]").fill("Zoé")
    page.locator("#play").click()
    assert base.wait_for_turn(page) == "mine"
    assert play_round(page) == "between"
    expect(page.get_by_text("This browser does not let the page keep everything")).to_have_count(1)
    base.check_axe(page)
    page.locator("#home").click()
    expect(page.locator("#made a")).to_have_count(1)
    expect(page.locator("[name=name]")).to_have_value("Zoé")


def test_a_service_worker_whose_storage_is_refused_asks_the_server(
    served: Any, opened: Callable[..., Page], tmp_path: Path
) -> None:
    script = tmp_path / FOLDER / "service_worker.js"
    refused = "Cache.prototype.match = async () => { throw new DOMException('', 'SecurityError'); };"
    script.write_text(refused + script.read_text(encoding="utf-8"), encoding="utf-8")
    page = online(served, opened)
    page.reload()
    expect(page.locator("#play")).to_be_enabled()


def test_the_page_is_timed(site: Path) -> None:
    words = [BENCHMARKS / "browser.py", site, "--visits", "1", "--moves", "2", "--advice", "1"]
    done = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for line in (
        r"to the table: median \d",
        r"a move: 2, median \d",
        r"advice to ± 0\.2: 1, ",
        r"playouts by closer a second: [1-9]",
    ):
        assert re.search(line, done.stdout)
