"""The docs site: it builds without a warning, every link in it leads somewhere, and it asks no other host for anything."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import griffe
import pytest

from tests.source import ROOT, SCRIPTS, sources

SITE = ROOT / "docs" / "site"


def build(config: Path, into: Path) -> subprocess.CompletedProcess[str]:
    """Warnings are errors to MkDocs by its configuration, and to Python by its option."""
    command = [sys.executable, "-W", "error", "-m", "mkdocs", "build", "--config-file", config, "--site-dir", into]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


def part(name: str) -> ModuleType:
    """A module of the site's own."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Html(HTMLParser):
    """What a page leads to, what it loads, and the places in it that can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {value for key in ("id", "name") if (value := given.get(key))}
        if tag == "a":
            self.links.append(given.get("href") or "")
        elif tag in ("img", "script", "link", "source", "iframe") and given.get("rel") != "canonical":
            self.loads.append(given.get("src") or given.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    done = build(SITE / "mkdocs.yml", into)
    assert done.returncode == 0, done.stdout + done.stderr
    return into


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Html]:
    return {path: Html(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def missing(site: Path, pages: dict[Path, Html]) -> Iterator[str]:
    """Links within the site that lead nowhere."""
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # it is shown at any address, so its links begin at the root of the host
        for link in {*page.links, *page.loads}:
            split = urlsplit(link)
            if split.scheme or split.netloc or not link:
                continue
            target = (path.parent / unquote(split.path)).resolve() if split.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_relative_to(site) or not target.is_file():
                yield f"{path.relative_to(site)} leads to {link}"
            elif split.fragment and target in pages and unquote(split.fragment) not in pages[target].places:
                yield f"{path.relative_to(site)} leads to a place that is not there: {link}"


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Html]) -> None:
    assert list(missing(site, pages)) == []
    assert sum(len(page.links) for page in pages.values()) > 1000


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    text = '<a href="b/"></a><a href="#here"></a><a href="#there"></a><p id="here"></p><img src="c.png">'
    path = tmp_path / "index.html"
    path.touch()
    found = sorted(missing(tmp_path, {path: Html(text)}))
    assert [line.rpartition(" ")[2] for line in found] == ["#there", "b/", "c.png"]


def test_no_other_host_is_asked(site: Path, pages: dict[Path, Html]) -> None:
    loaded = {link for page in pages.values() for link in page.loads}
    assert {link for link in loaded if urlsplit(link).netloc} == set()
    for path in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)]*", path.read_text(encoding="utf-8")) == [], path.name
    assert len(loaded) > 5


def test_pages_lie_where_they_are_looked_for(site: Path, pages: dict[Path, Html]) -> None:
    titles = {path.parent.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in pages}
    assert "Two commands" in titles["."]
    for path in ROOT.glob("nainjaune_env/games/*/RULES.md"):
        assert "<h1" in titles[f"rules/{path.parent.name}"]
        assert 'id="presets"' in titles[path.parent.name]
    for page in ROOT.glob("docs/*.md"):
        assert page.stem in titles


def test_a_linked_source_is_shown(site: Path) -> None:
    """``docs/report.md`` links to the loop that counts."""
    page = (site / "report" / "index.html").read_text(encoding="utf-8")
    assert 'href="../source/nainjaune_env/counting.py/"' in page
    shown = (site / "source" / "nainjaune_env" / "counting.py" / "index.html").read_text(encoding="utf-8")
    assert "count_rounds" in shown


def test_every_module_is_in_the_reference_once() -> None:
    """But for the command line's, which say what they do by ``--help``."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SITE.glob("reference/*.md")))
    listed = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    wanted = {name for name in sources() if ".cli" not in name and name not in SCRIPTS}
    assert sorted(listed) == sorted(wanted)


def test_a_warning_fails_the_build(tmp_path: Path) -> None:
    """A page that is not in the navigation, and two links that lead nowhere; the other pages are not there at all."""
    copy = tmp_path / "docs" / "site"
    copy.mkdir(parents=True)
    for name in ("hooks.py", "docstrings.py", "extra.css"):
        shutil.copy(SITE / name, copy)
    config = re.sub(r"\nwatch:.*", "", (SITE / "mkdocs.yml").read_text(encoding="utf-8"))
    config = re.sub(r"\nnav:.*?\n\n", "\nnav: [README.md]\n\n", config, flags=re.DOTALL)
    (copy / "mkdocs.yml").write_text(config, encoding="utf-8")
    (tmp_path / "a.py").touch()
    (tmp_path / "README.md").write_text("# Here\n\n[there](docs/there.md) [here](#there) [code](a.py)\n", encoding="utf-8")
    (tmp_path / "docs" / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(copy / "mkdocs.yml", tmp_path / "out")
    assert done.returncode != 0
    for fault in ("docs/there.md", "#there", "docs/forgotten.md", "Aborted with 3 warnings in strict mode"):
        assert fault in done.stdout + done.stderr
    assert "a.py" not in done.stdout + done.stderr


CODE = '''
"""A module; see :meth:`Table.step`."""
from nainjaune_env.batch import Batch

class Table(Base):
    """Like :class:`~nainjaune_env.spec.Setup`, not like :class:`Batch`; raises :class:`DealError` or :class:`ValueError`."""

    def reset(self):
        """Before :meth:`step`."""

    def step(self):
        """Not :meth:`leap`, but a :class:`~.spec.Stage` of :attr:`Table.stages`."""
'''


def test_roles_become_links_and_one_that_names_nothing_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    translated = part("docstrings").translated
    with griffe.temporary_visited_module(CODE, module_name="room") as module:
        table = module["Table"]
        text = [translated(obj.docstring.value, obj).strip() for obj in (module, table, table["reset"], table["step"])]
    assert text == [
        "A module; see `Table.step`.",  # no module of ours, so nothing to link to
        "Like [`Setup`][nainjaune_env.spec.Setup], not like [`Batch`][nainjaune_env.batch.Batch]; "
        "raises [`DealError`][nainjaune_env.errors.DealError] or `ValueError`.",
        "Before `step`.",
        "Not `leap`, but a `Stage` of `Table.stages`.",
    ]
    (record,) = caplog.records
    assert record.getMessage() == "room.Table.step: nothing is called 'leap' here; write its whole path."


def test_what_is_beside_a_module_and_what_a_base_has_is_found() -> None:
    resolved = part("docstrings").resolved
    modules = {
        "tree.py": "class Tree:\n    def leaves(self): ...",
        "oak.py": "from room.tree import Tree\nclass Oak(Tree):\n    a = 1",
    }
    with griffe.temporary_visited_package("room", modules, resolve_aliases=True) as package:
        oak = package["oak.Oak"]
        assert resolved(oak, ".tree.Tree") == "room.tree.Tree"
        assert resolved(package, ".tree.Tree") == "room.tree.Tree"
        assert resolved(oak, "Tree.leaves") == "room.tree.Tree.leaves"
        assert resolved(oak["a"], "leaves") == "room.tree.Tree.leaves"
        assert resolved(oak, "roots") is None


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        (
            "As in::\n\n    a = 1\n\n    if a:\n        b\n\nand so on.",
            "As in:\n\n```python\na = 1\n\nif a:\n    b\n```\n\nand so on.",
        ),
        ("Ends with it::\n\n    a\n", "Ends with it:\n\n```python\na\n```"),
        (
            "====  ===\nmode  x|y\n====  ===\na     b\n      c\nd     e\n====  ===",
            "| mode | x\\|y |\n| --- | --- |\n| a | b c |\n| d | e |",
        ),
        ("=  ====\na  b c\n=  ====\nafter", "|  |  |\n| --- | --- |\n| a | b c |\nafter"),
        ("a == b and ``c::d``", "a == b and ``c::d``"),
    ],
)
def test_blocks_and_tables_become_markdown(text: str, markdown: str) -> None:
    with griffe.temporary_visited_module("", module_name="room") as module:
        assert part("docstrings").translated(text, module).strip() == markdown
