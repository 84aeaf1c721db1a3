"""Damaged values that a browser has stored for the page: no error comes, *Play* plays, the rest is shown, the value is named."""

from __future__ import annotations

import functools
import http.server
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, Page

from nainjaune_agents.tables.server.texts import TEXTS
from nainjaune_agents.tables.site.build import build_site
from nainjaune_agents.tables.site.data import TEXTS as TEXTS_OF_SITE
from tests.agents.tables.server.test_browser import Served
from tests.support.chromium import browser_path, launched

from .oracle import Fault, Fuzzer

PATIENCE = 25_000
"""Milliseconds."""
COMPILES = 300_000
"""The same for the first table of a server."""
PLAYED = 0.1
"""The share of cases in which *Play* is pressed."""
LANGUAGES = {"en": "en-GB", "fr": "fr-FR"}
ITEMS = {
    "language": "language", "name": "your_name", "sound": "sound", "host": "host_link", "results": "results",
    "tables": "invitations",
}  # fmt: skip
"""What is stored in ``localStorage``, and the text of the page that names it."""
RESULT = {
    "link": "abc", "game": "Nain Jaune", "preset": "djeco", "place": 1, "players": 4, "total": "+12", "at": 1_700_000_000_000,
}  # fmt: skip
INVITATION = {"table": "abc", "title": "Nain Jaune", "links": [{"token": "a-B_9", "seat": 0, "name": "Zoé"}]}
LISTS: dict[str, dict[str, Any]] = {"results": RESULT, "tables": INVITATION}
SETTINGS = {
    "game": "nain_jaune", "preset": "djeco", "players": 4, "knobs": {"stake": 2}, "names": ["Zoé", "Margot", "Armand", "Suzon"],
    "agents": [None, "closer", "lowest", "tally"], "rounds": 1, "seed": "7", "pace": 0.5, "every_ply": False, "advice": True,
}  # fmt: skip
ROUND = {"key": "nain_jaune · djeco · 4", "yours": 0.5, "reference": -0.5}
STORES: dict[str, dict[str, Any]] = {
    "tables": {"id": "good", "made": 1_700_000_000, "settings": SETTINGS, "plies": [], "helped": None},
    "rounds": {"id": "good 1", **ROUND},
    "records": {"id": "good", "text": '{"format":"nainjaune-record","version":1,"game":"nain_jaune"}'},
    "puzzles": {"id": 3},
}
"""By store of IndexedDB: an entry that is right."""
OPTIONAL = {"seat", "helped", "rounds", "agents", "name"}
"""Fields that may be null, or have elements that are."""
ELSEWHERE: dict[str, tuple[dict[str, Any], ...]] = {
    "game": ({"game": "yellow_dwarf"}, {"game": "__proto__"}, {"game": "constructor"}, {"game": "signal_lamps"}, {"game": ""}),
    "rules": (
        {"preset": "none"}, {"preset": "toString"}, {"players": 99}, {"knobs": {"dinosaurs": 1}},
        {"knobs": {"stake": 0}}, {"knobs": {"stake": "2"}}, {"knobs": {"constructor": 1}}, {"seed": "-1"}, {"seed": "9" * 20},
        {"rounds": 0}, {"pace": -1}, {"pace": 1e9},
    ),
    "seats": (
        {"agents": [None, "closer", "lowest", "nobody"]}, {"agents": [None, "closer", "lowest", "zoo:strong@search=5"]},
        {"agents": [None, None, "lowest", "tally"]}, {"names": ["Zoé"]}, {"names": ["Zoé"] * 5}, {"agents": [None] * 3},
        {"players": 3},
    ),
}  # fmt: skip
"""Settings of right types, as other versions may have stored them."""
LETTERS = "abzAZ09 _-.,:;#&=%<>/\\\"'[]{}()éß\u202e\0\n🃏\ud800"
ADDRESSES = ("%", "__proto__", "puzzle-9999", "puzzles-", "day&ply=x", "constructor", "é" * 300, "ply=1&view=9", "a b", "<b>")

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").strip()
READY = """() => {
  const [play, made] = ["play", "made"].map((id) => document.getElementById(id));
  return play?.disabled === false && made?.dataset.tables !== undefined;
}"""


@dataclass(frozen=True)
class Case:
    """What is stored, and what the page must make of it."""

    items: dict[str, str]
    entries: list[tuple[str, Any]]
    database: dict[str, Any]
    title: str | None
    """By what the page calls what is unreadable; None: nothing is."""
    left: dict[str, str]
    """The items once it is deleted."""


def odd_text(rng: random.Random, least: int = 0) -> str:
    """Draws a text of ``least`` characters or up to 60 more."""
    return "".join(rng.choices(LETTERS, k=least + rng.randrange(60)))


def junk(rng: random.Random, *, cloned: bool) -> Any:
    """Draws a value; ``cloned``: also one that IndexedDB stores and JSON does not have."""
    numbers, texts = [rng.randint(-9, 99), rng.uniform(-9, 9), 1e300], [odd_text(rng), "x" * 20_000, "__proto__"]
    others = [None, True, False, [], [[[[]]]], [odd_text(rng)], {}, {"a": {odd_text(rng): None}}]
    special = [{"$": name} for name in ("nan", "infinity", "date", "map", "bigint", "huge", "bytes")]
    return rng.choice([*numbers, *texts, *others, *special * cloned])


def is_right(field: str | int, old: Any, new: Any) -> bool:
    """Whether ``new`` may stand where ``old`` did: values of the same type, numbers in range and texts that are not too long."""
    if new is None:
        return field in OPTIONAL or old is None
    if isinstance(new, dict) and "$" in new:
        return False
    if isinstance(new, bool) or isinstance(old, bool):
        return isinstance(new, bool) and isinstance(old, bool)
    if isinstance(old, float):
        return isinstance(new, int | float)
    return type(new) is type(old)


def damaged(entry: dict[str, Any], rng: random.Random, *, cloned: bool) -> dict[str, Any]:
    """Returns an entry in which one value is of a wrong type, or missing."""
    entry = deepcopy(entry)
    while True:
        here: Any = entry
        path: list[Any] = []
        while True:
            path.append(rng.choice([*here] if isinstance(here, dict) else [*range(len(here))]))
            if not isinstance(here[path[-1]], dict | list) or not here[path[-1]] or rng.random() < 0.4:
                break
            here = here[path[-1]]
        if path == ["id"]:
            continue
        if isinstance(here, dict) and path[0] != "settings" and rng.random() < 0.2:
            del here[path[-1]]
            return entry
        new = junk(rng, cloned=cloned)
        named = next(name for name in reversed(path) if isinstance(name, str))
        if not is_right(named, here[path[-1]], new) and "knobs" not in path[:-1]:
            here[path[-1]] = new
            return entry


def broken_text(text: str, rng: random.Random) -> str:
    """Draws a text that is no list in JSON."""
    wrong = ("", "null", "1", "{", "[", "undefined", '"x"', "{}", '{"version":2,"items":[]}', "x" * 1_000_000, "[" * 50_000, "\0")
    return rng.choice([*wrong, f"{text}{odd_text(rng, 1)}]", text.replace('"', "'"), *[text[: rng.randrange(1, len(text))]] * 9])


class World:
    """A page with its address, in two languages, and all that its consoles say."""

    def __init__(self, address: str, browser: Any) -> None:
        self.address, self.problems = address, list[str]()
        self.pages: dict[str, Page] = {}
        for language, locale in LANGUAGES.items():
            page = browser.new_context(locale=locale, reduced_motion="reduce").new_page()
            page.set_default_timeout(PATIENCE)
            page.on("pageerror", lambda error: self.problems.append(str(error)))
            page.on("console", lambda line: self.problems.append(line.text) if line.type in ("error", "warning") else None)
            self.pages[language] = page

    def check_problems(self, where: str) -> None:
        """Raises :class:`Fault` where there was an error since the last call."""
        if self.problems:
            problems, self.problems = self.problems, []
            raise Fault(f"{where}: {problems}")


class Stored(Fuzzer):
    """Alternates between the page of ``nainjaune serve`` and, in the long run, the page without a server."""

    name = "stored"
    short = 12
    long = 800

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.stack = ExitStack()
        self.worlds: dict[str, World] = {}

    def close(self) -> None:
        self.stack.close()

    def case(self, rng: random.Random) -> None:
        name = rng.choice(["serve", "site", "site"] if self.thorough else ["serve"])
        world = self.world(name)
        language = rng.choice([*LANGUAGES])
        page = world.pages[language]
        if name == "site" and rng.random() < 0.04:
            self.check_address(world, page, rng)
            return
        case = draw_case(name, language, rng)
        page.goto(f"{world.address.split('#')[0]}favicon.svg")  # of the same origin, and nothing of the page runs
        page.evaluate(f"{SCRIPT}.put", json.dumps({"items": case.items, "entries": case.entries, "database": case.database}))
        before = stored(page, name)
        page.goto(world.address)
        try:
            self.check(page, case, before, name)
        except Error as error:
            raise Fault(f"{shown(case)}: {error.message[:500]}; {world.problems}") from error
        world.check_problems(shown(case))
        if rng.random() < PLAYED:
            page.locator("#play").click()
            page.wait_for_selector(".turn[data-state]", timeout=COMPILES)

    def check(self, page: Page, case: Case, before: Any, name: str) -> None:
        """Raises :class:`Fault` where the page is not as it must be, and deletes what is named."""
        page.wait_for_function(READY)
        if case.title is None:
            demand(page.locator("#stored li").count() == 0, case, "a right value is named")
            return
        page.wait_for_selector("#stored li")
        titles = [title.split(" · ")[0] for title in page.locator("#stored li b").all_inner_texts()]
        demand(titles == [case.title], case, f"what is named is {titles}")
        self.check_others(page, case, name)
        demand(stored(page, name) == before, case, "something was changed before anybody deleted it")
        page.locator("#stored button").click()
        page.wait_for_function("() => document.querySelector('#stored li') === null")
        page.wait_for_function(READY)
        after = stored(page, name)
        demand(after["items"] == case.left, case, f"what is left is {str(after['items'])[:300]}")
        expected = {store: sum(other == store and entry == STORES[store] for other, entry in case.entries) for store in STORES}
        demand(name != "site" or after["entries"] == expected, case, f"what is left is {after['entries']}")
        self.check_others(page, case, name)

    @staticmethod
    def check_others(page: Page, case: Case, name: str) -> None:
        """Raises :class:`Fault` unless what is right is shown."""
        if RESULT in [*_parts(case.items.get("results", ""))]:
            demand(page.locator(".results tbody tr").count() == 1, case, "the other result is not shown")
        if name == "site" and case.entries:
            demand(page.locator("#made a").count() == 1, case, "the other match is not shown")
            demand(page.locator("#edge li").count() == 1, case, "the other round is not shown")

    @staticmethod
    def check_address(world: World, page: Page, rng: random.Random) -> None:
        """Follows a link of nothing: the page says so, and its home link leads to *Play*."""
        address = f"{world.address}#{rng.choice(ADDRESSES)}"
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_selector("h1")
        page.locator("#home").click()
        page.wait_for_function(READY)
        world.check_problems(address)

    def world(self, name: str) -> World:
        """Returns a page, which starts when it is first asked for."""
        if "browser" not in self.__dict__:
            self.browser = self.stack.enter_context(_browser())
        if name not in self.worlds:
            address = self._serve() if name == "serve" else self.stack.enter_context(_site(self.folder / "play"))
            self.worlds[name] = World(address, self.browser)
        return self.worlds[name]

    def _serve(self) -> str:
        served = Served(self.folder)
        self.stack.callback(served.close)
        return served.link


def draw_case(world: str, language: str, rng: random.Random) -> Case:
    """Draws what is damaged, and how."""
    places = [*ITEMS, *[*LISTS] * 3]
    entries = ["/", *(f"/{store}" for store in STORES), *["/tables"] * 12, *["/rounds"] * 3]
    place = rng.choice(places + entries * (world == "site"))
    if place == "/":
        return _damaged_database(language, rng)
    if place.startswith("/"):
        return _damaged_entry(place[1:], language, rng)
    database = {"version": 1, "stores": {store: {"keyPath": "id"} for store in STORES}}
    title = TEXTS[language].page[ITEMS[place]]
    others = {name: json.dumps([entry]) for name, entry in LISTS.items() if name != place}
    case = functools.partial(Case, entries=[], database=database, left=others)
    if place in LISTS:
        text = json.dumps([LISTS[place]])
        if rng.random() < 0.4:
            return case({**others, place: broken_text(text, rng)}, title=title)
        wrong = junk(rng, cloned=False) if rng.random() < 0.3 else damaged(LISTS[place], rng, cloned=False)
        parts = [wrong, LISTS[place]] if rng.random() < 0.5 else [LISTS[place], wrong]
        left = {**others, place: json.dumps([LISTS[place]], ensure_ascii=False, separators=(",", ":"))}
        return replace(case({**others, place: json.dumps(parts)}, title=title), left=left)
    wrong_texts = {
        "language": ("zz", "", "EN", "en-GB", "null", "constructor", "__proto__", '"en"', odd_text(rng, 3)),
        "sound": ("loud", "", "1", "true", "ON", "null", "[]", odd_text(rng, 4)),
        "name": ("é" * 1000, "\ud800", "x\udc00", "x" * 500_000, *[odd_text(rng, 41)] * 4),
        "host": ("", "[]", "x" * 101, f"{odd_text(rng)}.", f"{odd_text(rng)} "),
    }[place]
    drawn = case({**others, place: rng.choice(wrong_texts)}, title=title)
    return drawn if (place, world) != ("host", "serve") else replace(drawn, title=None)  # the link that was followed replaces it


def _damaged_entry(store: str, language: str, rng: random.Random) -> Case:
    """Draws an entry of a store of IndexedDB beside one that is right in each store, but no replay, as it has no list."""
    right = STORES[store]
    wrong = damaged(right, rng, cloned=True) if len(right) > 1 and rng.random() < 0.6 else deepcopy(right)
    if wrong == right:
        wrong = _from_elsewhere(store, rng)
    elif store != "puzzles":
        wrong["id"] = rng.choice(["bad", "day-2020-02-02", "learn", "bad 1"[: 3 + 2 * (store == "rounds")]])
    name = TEXTS_OF_SITE[language].page[f"stored_{store}"].replace("{id}", str(wrong["id"]))
    others = [(other, entry) for other, entry in STORES.items() if other != "records"]
    database = {"version": 1, "stores": {each: {"keyPath": "id"} for each in STORES}}
    entries = [(store, wrong), *others] if rng.random() < 0.5 else [*others, (store, wrong)]
    return Case({}, entries, database, name, {})


def _from_elsewhere(store: str, rng: random.Random) -> dict[str, Any]:
    """Draws an entry of right types that nothing here can use."""
    entry = {**deepcopy(STORES[store]), "id": "old"}
    if store == "tables":
        name = odd_text(rng, 1)
        drawn = (
            {"game": name},
            {"preset": name},
            {"knobs": {name: 1}},
            {"agents": [None, name, "lowest", "tally"]},
            {"seed": f"{name}x"},
        )
        entry["settings"] |= rng.choice([*ELSEWHERE[rng.choice([*ELSEWHERE])], *drawn])
    elif store == "rounds":
        entry["key"] = rng.choice(["", "yellow_dwarf · djeco · 4", "__proto__ · a · 1", "·", "djeco", odd_text(rng)])
    elif store == "records":
        games = ['{"game":"x"}', '{"game":null}', '{"game":["nain_jaune"]}']
        entry["text"] = rng.choice(["", "{", "null", "[]", "[1]", "x" * 1000, '"', *games])
    else:
        entry["id"] = rng.choice(["x", 1.5, 99_999, -1, 0, "3", [1], [], "__proto__"])
    return entry


def _damaged_database(language: str, rng: random.Random) -> Case:
    """Draws a database that lacks stores, or has one with other keys; or one of another version that is right."""
    version = rng.choice([1, 2, 9])
    if rng.random() < 0.2:
        return Case({}, [*STORES.items()][:2], {"version": 9, "stores": {store: {"keyPath": "id"} for store in STORES}}, None, {})
    stores: dict[str, Any] = {store: {"keyPath": "id"} for store in STORES}
    if rng.random() < 0.4:
        stores[rng.choice([*STORES])] = rng.choice([{"autoIncrement": True}, {"keyPath": "key"}])
    else:
        stores = {store: stores[store] for store in rng.sample([*STORES], rng.randrange(len(STORES)))}
    return Case({}, [], {"version": version, "stores": stores}, TEXTS_OF_SITE[language].page["stored_database"], {})


def _parts(text: str) -> Iterator[Any]:
    """Yields the elements of a list in JSON, none of any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from value if isinstance(value, list) else ()


def stored(page: Page, name: str) -> dict[str, Any]:
    """Returns what is stored, without the host's link that a visit of the page of a server stores."""
    found: dict[str, Any] = page.evaluate(f"{SCRIPT}.get")
    if name == "serve":
        found["items"].pop("host", None)
    return found


def demand(is_so: bool, case: Case, wrong: str) -> None:
    """Raises :class:`Fault` with ``wrong`` unless that is so."""
    if not is_so:
        raise Fault(f"{shown(case)}: {wrong}")


def shown(case: Case) -> str:
    """Returns a case in short."""
    return f"{case.items!r:.600} {case.entries!r:.1500} {case.database}".encode("unicode_escape").decode()


@contextmanager
def _browser() -> Iterator[Any]:
    path = browser_path()
    if path is None:
        pytest.skip("There is no Chromium; `make browser` installs one.")
    with launched(path) as browser:
        yield browser


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def _site(folder: Path) -> Iterator[str]:
    build_site(folder)
    handler: Callable[..., Any] = functools.partial(_Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()
