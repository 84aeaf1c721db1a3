"""Times the page that plays without a server, in Chromium: its first load, moves, advice, and playouts beside native ones.

  make play browser
  python benchmarks/browser.py build/play

A visit begins with an empty cache. *To the table* is from opening the page, through a click on Play, to the first deal, after
which opponents take their time. *A move* is from the click until the page shows it, with opponents that play at once. *Advice* is
from asking to the first value of the best move with a half-width of at most --error chips. Playouts of the first decisions of
matches, by the same heuristic, are computed in turn in the page's WebAssembly and by the compiled code of `nainjaune advise`,
which also keeps what its reasons need, one thread each, in time of the wall clock.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import re
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Error, Page, sync_playwright

from nainjaune_agents.study.advice.adviser import Adviser
from nainjaune_agents.study.advice.models import players
from nainjaune_env import make_setup
from nainjaune_env.engine.batch import Batch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.chromium import browser_path, ways_to_launch

AGENT = "closer"
DEALS = 2000
POSITIONS = 20
MOVED = """() => new Promise((done) => {
  const events = document.querySelector(".events"), begun = performance.now();
  new MutationObserver(() => done(performance.now() - begun)).observe(events, { childList: true, subtree: true });
  document.querySelector(".move:enabled").click();
})"""
"""Plays a move; returns the milliseconds until the events show it."""
ADVISED = """(error) => new Promise((done) => {
  const best = document.querySelector(".best"), begun = performance.now();
  new MutationObserver(() => {
    const said = /± ([0-9.]+)/.exec(best.textContent);
    if (said && Number(said[1]) <= error) done(performance.now() - begun);
  }).observe(best, { childList: true, subtree: true, characterData: true });
  document.querySelector("[name=advice]").click();
})"""
"""Asks for advice; returns the milliseconds until it is good enough."""


PLAYOUTS = """async ([agent, deals, positions]) => {
  const { Game } = await import(new URL("wasm/index.js", location));
  const description = await (await fetch("games/nain_jaune/description.json")).json();
  const game = await Game.load(fetch("games/nain_jaune/module.wasm"), description);
  let playouts = 0, milliseconds = 0;
  for (let position = -1; position < positions; position += 1) { // the first one compiles
    const session = game.session();
    session.begin(BigInt(position + 2));
    const advice = session.advise({ player: agent, state: 1n }), begun = performance.now();
    advice.add(deals);
    if (position >= 0) {
      milliseconds += performance.now() - begun;
      playouts += advice.values.reduce((sum, { count }) => sum + count, 0);
    }
    session.free();
  }
  return playouts / milliseconds * 1000;
}"""
"""Values the first decision of matches; returns playouts a second."""


def native_playouts(agent: str, deals: int, positions: int) -> float:
    """Returns the same by ``nainjaune advise``'s code."""
    setup = make_setup()
    adviser = Adviser(setup, players(setup, [agent] * setup.players))
    playouts, seconds = 0, 0.0
    for position in range(-1, positions):
        tables = Batch(setup, 1, seed=position + 2).tables
        begun = time.perf_counter()
        advice = adviser.advise(tables, np.random.default_rng(1), deals=deals)
        if position >= 0:
            seconds += time.perf_counter() - begun
            playouts += int(advice.deals.sum())
    return playouts / seconds


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *args: object) -> None:
        """Says nothing."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path, help="the folder that `make play` has written")
    parser.add_argument("--visits", type=int, default=5, help="first visits (default: %(default)s)")
    parser.add_argument("--moves", type=int, default=200, help="moves (default: %(default)s)")
    parser.add_argument("--advice", type=int, default=20, help="positions advised on (default: %(default)s)")
    parser.add_argument("--error", type=float, default=0.2, help="the half-width that is enough (default: %(default)s chips)")
    return parser.parse_args(arguments)


def launch(playwright: Any) -> Any:
    """Starts the browser that the tests use."""
    path = browser_path()
    if path is None:
        sys.exit("There is no Chromium; `make browser` installs one.")
    installed, beside = ways_to_launch(path)
    try:
        return playwright.chromium.launch(**installed)
    except Error:
        return playwright.chromium.launch(**beside)


def visit(browser: Any, address: str, site: Path) -> tuple[float, int]:
    """Opens the page with an empty cache and plays; returns the seconds to the table, and the bytes that were fetched, packed."""
    context = browser.new_context()
    page = context.new_page()
    fetched: set[str] = set()
    context.on("request", lambda request: fetched.add(request.url.removeprefix(address).partition("?")[0]))
    begun = time.perf_counter()
    page.goto(address)
    page.click("#play")
    page.wait_for_selector(".turn[data-state]")
    seconds = time.perf_counter() - begun
    page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    page.wait_for_timeout(3000)  # what is kept for later
    context.close()
    files = [site / (name or "index.html") for name in fetched]
    return seconds, sum(len(gzip.compress(path.read_bytes())) for path in files if path.is_file())


def at_table(page: Page, address: str) -> None:
    """Begins a match at a table whose opponents play at once."""
    page.goto(address)
    page.get_by_text("More: all rules").click()
    page.get_by_text("Seed, Pause").click()
    page.locator("[name=pace]").fill("0")
    page.get_by_role("button", name="Start the table").click()
    page.locator("#made a").first.click()


def at_turn(page: Page) -> None:
    """Deals and begins again as needed until the person is to play."""
    while True:
        page.wait_for_selector(".turn[data-state=mine], .turn[data-state=between], .turn[data-state=over]")
        state = page.locator(".turn").get_attribute("data-state")
        if state == "mine":
            return
        page.get_by_role("button", name=re.compile("Next round|Deal the next|Rematch")).first.click()
        page.wait_for_function("(state) => document.querySelector('.turn')?.dataset.state !== state", arg=state)


def quantile(values: list[float], share: float) -> float:
    """Returns the value that ``share`` of them do not exceed."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints."""
    options = parse(arguments)
    if not (options.site / "index.html").is_file():
        sys.exit(f"There is no page in {str(options.site)!r}; `make play` writes one.")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=options.site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as playwright:
        browser = launch(playwright)
        print(f"Chromium {browser.version}")
        visits = [visit(browser, address, options.site) for _ in range(options.visits)]
        seconds = statistics.median(each for each, _ in visits)
        print(f"to the table: median {seconds:.2f} s, most {max(visits)[0]:.2f} s; {visits[0][1]:,} bytes packed with gzip")
        page = browser.new_page(viewport={"width": 1366, "height": 768}, locale="en-GB", reduced_motion="reduce")
        at_table(page, address)
        moves: list[float] = []
        while len(moves) < options.moves:
            at_turn(page)
            moves.append(page.evaluate(MOVED))
        print(f"a move: {len(moves)}, median {statistics.median(moves):.1f} ms, 99 % {quantile(moves, 0.99):.1f} ms")
        advice: list[float] = []
        while len(advice) < options.advice:
            at_turn(page)
            advice.append(page.evaluate(ADVISED, options.error))
            page.locator("[name=advice]").click()
            page.evaluate(MOVED)
        print(
            f"advice to ± {options.error:g}: {len(advice)}, median {statistics.median(advice) / 1000:.2f} s, "
            f"most {max(advice) / 1000:.2f} s"
        )
        for _ in range(3):
            there = page.evaluate(PLAYOUTS, [AGENT, DEALS, POSITIONS])
            native = native_playouts(AGENT, DEALS, POSITIONS)
            print(f"playouts by {AGENT} a second: {there:,.0f} in the page, {native:,.0f} by advise, {there / native:.2f} times")
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
