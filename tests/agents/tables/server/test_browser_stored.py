"""What a browser has stored and cannot be read is named, and stays until somebody deletes it; without storage the page plays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.agents.tables.server import test_browser as base
from tests.fuzz.stored import RESULT

pytestmark = pytest.mark.slow
browser, served, opened = base.browser, base.served, base.opened
BROKEN = {"game": "x", "place": 1, "at": "x"}
DATABASE = """async () => {
  const { Database } = await import(new URL("storage.js", location));
  const steps = [];
  const note = async (database) => {
    const { entries } = await database.all("puzzles");
    steps.push([database.works, database.problem?.came ?? null, entries.length]);
  };
  const database = await new Database().open();
  await database.put("puzzles", { id: 1 });
  let refusals = 0;
  database.refused = () => (refusals += 1);
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = () => { throw new DOMException("", "QuotaExceededError"); };
  for (const id of [2, 3]) await database.put("puzzles", { id });
  await note(database); // full
  IDBObjectStore.prototype.put = put;
  await note(await new Database().open());
  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = () => new EventTarget();
  await note(await new Database().open()); // blocked: no answer ever comes
  IDBFactory.prototype.open = open;
  return { steps, refusals };
}"""
FULL = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); };"
REFUSED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } });"


def with_stored(page: Page, items: dict[str, str]) -> None:
    """Loads the page again, with ``items`` in its storage."""
    page.wait_for_selector("#play")
    for name, text in items.items():
        page.evaluate("([name, text]) => localStorage.setItem(`nainjaune-${name}`, text)", [name, text])
    page.reload()
    expect(page.locator("#play")).to_be_enabled()


def stored(page: Page, name: str) -> Any:
    return page.evaluate("(name) => localStorage.getItem(`nainjaune-${name}`)", name)


def test_a_result_that_cannot_be_read_is_named_and_the_others_are_shown(served: base.Served, opened: base.Opener) -> None:
    page = opened(served.link)
    with_stored(page, {"results": json.dumps([BROKEN, RESULT])})
    expect(page.locator(".results tbody tr")).to_have_count(1)
    expect(page.locator("#stored li")).to_contain_text("My results · link: expected a text of at most 200 characters, not none")
    base.check_axe(page)
    assert json.loads(stored(page, "results")) == [BROKEN, RESULT]
    page.get_by_role("button", name="Delete: My results").click()
    expect(page.locator("#stored li")).to_have_count(0)
    assert json.loads(stored(page, "results")) == [RESULT]
    page.get_by_role("button", name="Play", exact=True).click()
    assert base.wait_for_turn(page) in ("mine", "between")


@pytest.mark.browser
@pytest.mark.parametrize("script", [FULL, REFUSED], ids=["full", "refused"])
def test_a_browser_that_keeps_nothing_plays_and_says_so_once(script: str, served: base.Served, opened: base.Opener) -> None:
    page = opened(served.link)
    page.context.add_init_script(script)
    page.reload()
    page.locator("[name=name]").fill("Zoé")
    page.get_by_role("button", name="Play", exact=True).click()
    assert base.wait_for_turn(page) in ("mine", "between")
    expect(page.get_by_text("This browser keeps nothing")).to_have_count(1)
    page.locator("#home").click()
    expect(page.locator("[name=name]")).to_have_value("Zoé")


def test_a_database_that_is_full_or_never_answers_plays_from_memory(served: base.Served, opened: base.Opener) -> None:
    page = opened(served.link.split("#")[0])
    outcome = page.evaluate(DATABASE)
    assert outcome["steps"] == [[False, None, 3], [True, None, 1], [False, None, 0]]
    assert outcome["refusals"] == 1
