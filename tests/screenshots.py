"""Makes the screenshots of the page for the docs: `make screenshots`."""

from __future__ import annotations

import asyncio
import io
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, Error, Page, async_playwright

from nainjaune_agents.tables.server.app import Serving
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.settings import TableSettings, read_settings
from nainjaune_agents.tables.server.store import Store
from nainjaune_agents.tables.server.texts import TEXTS
from tests.agents.tables.server.pages import new_table
from tests.support.chromium import browser_path, ways_to_launch
from tests.support.source import ROOT

FOLDER = ROOT / "docs" / "images"
RECORD = ROOT / "tests" / "golden" / "djeco.jsonl"
WIDTH = 1280
QUALITY = 70
FILM_WIDTH = 640
FILM_SECONDS = 16
PICTURES_A_SECOND = 8


async def shoot(page: Page, name: str) -> None:
    """Writes what the page shows as a small file."""
    await page.wait_for_timeout(2000)  # until all pieces lie where they belong
    shown = await page.screenshot()
    with Image.open(io.BytesIO(shown)) as image:
        image.convert("RGB").resize((image.width * 3 // 4, image.height * 3 // 4), Image.Resampling.LANCZOS).save(
            FOLDER / f"{name}.webp", quality=QUALITY, method=6
        )


def settings(agents: Sequence[str | None], **changes: object) -> TableSettings:
    """A table of Nain Jaune; None is a person."""
    known = {one["agent"]: one["name"] for one in TEXTS["en"].opponents["nain_jaune"]}
    seats = [{"person": "Zoé"} if agent is None else {"agent": agent, "name": known[agent]} for agent in agents]
    return read_settings(new_table("nain_jaune", players=4, seats=seats, **{"seed": "23", **changes}))


async def table(browser: Browser, serving: Serving, address: str) -> None:
    """A person's turn, with cards to choose from."""
    passes = await serving.tables.tables.add(settings([None, "tally", "longest", "lowest"]))
    page = await browser.new_page(viewport={"width": WIDTH, "height": 720}, locale="en-GB")
    await page.goto(f"{address}#{next(token for token, each in passes.items() if each.seat == 0)}")
    for _ in range(60):
        await page.wait_for_selector(".turn[data-state=mine]")
        if await page.locator(".cards .move").count() > 2 and await page.locator(".events li").count() > 12:
            break
        number = await page.locator(".events").inner_text()
        await page.locator(".move:enabled").first.click()
        await page.wait_for_function("(before) => document.querySelector('.events').innerText !== before", arg=number)
    await shoot(page, "browser-table")


async def film(browser: Browser, serving: Serving, address: str) -> None:
    """A person's first decisions of a round, in motion."""
    passes = await serving.tables.tables.add(settings([None, "tally", "longest", "lowest"], pace=0.5))
    page = await browser.new_page(viewport={"width": WIDTH, "height": 720}, locale="en-GB")
    await page.goto(f"{address}#{next(token for token, each in passes.items() if each.seat == 0)}")
    await page.wait_for_selector(".turn")
    box = await page.locator(".stage").bounding_box()
    assert box is not None
    clip = {
        "x": 0,
        "y": box["y"] - 8,
        "width": box["x"] + box["width"] + 8,
        "height": box["height"] + 48,
    }  # it may grow by a line
    pictures: list[Image.Image] = []
    waited = 0
    begun = time.monotonic()
    while len(pictures) < FILM_SECONDS * PICTURES_A_SECOND:
        shown = await page.screenshot(clip=clip)  # type: ignore[arg-type]
        with Image.open(io.BytesIO(shown)) as image:
            size = FILM_WIDTH, round(image.height * FILM_WIDTH / image.width)
            pictures.append(image.convert("RGB").resize(size, Image.Resampling.LANCZOS))
        moves = page.locator(".move:enabled")
        waited = waited + 1 if await moves.count() else 0
        if waited > PICTURES_A_SECOND:  # a second to look at the choice
            await moves.first.click()
            waited = 0
        await asyncio.sleep(max(0.0, begun + len(pictures) / PICTURES_A_SECOND - time.monotonic()))
    pictures[0].save(
        FOLDER / "browser-film.webp", save_all=True, append_images=pictures[1:], duration=1000 // PICTURES_A_SECOND, loop=0,
        quality=50, method=4,
    )  # fmt: skip


async def first(browser: Browser, serving: Serving, address: str) -> None:
    """The first screen, and on a phone in French, dark, a person's turn after one click."""
    link = f"{address}#{serving.tables.add_host()}"
    page = await browser.new_page(viewport={"width": WIDTH, "height": 560}, locale="en-GB")
    await page.goto(link)
    await page.wait_for_selector("#play")
    await shoot(page, "browser-first")
    phone = await browser.new_page(viewport={"width": 390, "height": 760}, locale="fr-FR", color_scheme="dark")
    await phone.goto(link)
    await phone.get_by_label("Adversaire 3").select_option(label="Armand · bon")
    await phone.click("#play")
    await phone.wait_for_selector(".turn[data-state=mine]", timeout=120_000)
    await shoot(phone, "browser-phone")


async def replay(browser: Browser, serving: Serving, address: str) -> None:
    """A recorded match, in French."""
    page = await browser.new_page(viewport={"width": WIDTH, "height": 820}, locale="fr-FR")
    await page.goto(f"{address}#{serving.tables.add_host()}")
    await page.locator("input[type=file]").set_input_files({
        "name": "match.jsonl", "mimeType": "application/jsonl", "buffer": RECORD.read_bytes().splitlines()[0]
    })  # fmt: skip
    await page.wait_for_selector("#ply", timeout=120_000)
    await page.evaluate("location.hash = location.hash.replace(/ply=.*/, 'ply=30&view=1')")
    await shoot(page, "browser-replay")


async def watch(browser: Browser, serving: Serving, address: str) -> None:
    """Agents that play each other, on a dark screen."""
    agents = ["closer", "lowest", "longest", "tally"]
    passes = await serving.tables.tables.add(settings(agents, pace=0.6, rounds=100))
    page = await browser.new_page(viewport={"width": WIDTH, "height": 800}, locale="en-GB", color_scheme="dark")
    await page.goto(f"{address}#{next(iter(passes))}")
    await page.wait_for_selector("text=/over [1-9][0-9]*,[0-9]{3} deals/", timeout=300_000)
    await page.get_by_role("button", name="Pause").click()
    await shoot(page, "browser-watch")


async def run(folder: Path, path: str) -> None:
    """Makes all of them with a server of its own."""
    store = Store(folder / "tables.sqlite")
    serving = Serving(TableServer(store), "127.0.0.1", 0)
    async with async_playwright() as playwright:
        installed, beside = ways_to_launch(path)
        try:
            browser = await playwright.chromium.launch(**installed)
        except Error:
            browser = await playwright.chromium.launch(**beside)
        for each in (film, first, table, replay, watch):
            await each(browser, serving, f"http://127.0.0.1:{serving.port}/")
        await browser.close()
    await serving.close()
    store.close()


def main() -> None:
    """Makes the screenshots."""
    path = browser_path()
    if path is None:
        sys.exit("There is no Chromium; `make browser` installs one.")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder), path))


if __name__ == "__main__":
    main()
