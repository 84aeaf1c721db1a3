"""The docs site: it builds without a warning, every link in it leads somewhere, and it asks no other host for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.source import ROOT, SCRIPTS, sources

from .building import build, small

pytestmark = pytest.mark.slow


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
    out = tmp_path_factory.mktemp("out")
    done = build(ROOT, out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "site"


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


def test_no_other_host_is_asked(site: Path, pages: dict[Path, Html]) -> None:
    loaded = {link for page in pages.values() for link in page.loads}
    assert {link for link in loaded if urlsplit(link).netloc} == set()
    for path in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)]*", path.read_text(encoding="utf-8")) == [], path.name
    assert len(loaded) > 5


def test_pages_lie_where_they_are_looked_for(site: Path, pages: dict[Path, Html]) -> None:
    texts = {path.parent.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in pages}
    assert "Two commands" in texts["."]
    for path in ROOT.glob("nainjaune_env/games/*/RULES.md"):
        assert "<h1" in texts[f"rules/{path.parent.name}"]
        assert 'id="actions"' in texts[path.parent.name]
    for page in ROOT.glob("docs/*.md"):
        assert page.stem in texts
    assert 'class="language-python highlight"' in texts["adaptors/pufferlib"]  # of a block that opens with more than a language


def test_a_linked_source_is_shown(site: Path) -> None:
    """``docs/evaluation.md`` links to the loop that counts statistics."""
    page = (site / "evaluation" / "index.html").read_text(encoding="utf-8")
    assert 'href="../source/nainjaune_env/analysis/loops.py/"' in page
    shown = (site / "source" / "nainjaune_env" / "analysis" / "loops.py" / "index.html").read_text(encoding="utf-8")
    assert "count_rounds" in shown
    index = (site / "search.json").read_text(encoding="utf-8")
    assert "Two commands" in index
    assert "def count_rounds" not in index  # sources are not searched


def test_a_linked_file_that_is_no_text_can_be_downloaded(site: Path) -> None:
    """A notebook links to a Parquet file."""
    name = "benchmarks/taken/algorithms.parquet"
    assert (site / "source" / name).read_bytes() == (ROOT / name).read_bytes()
    assert f'href="../../source/{name}"' in (site / "notebooks" / "08_algorithms" / "index.html").read_text(encoding="utf-8")


def test_every_module_is_in_the_reference_once(site: Path, pages: dict[Path, Html]) -> None:
    """But for the command line's, which say what they do by ``--help``."""
    places = [place for path, page in pages.items() if path.is_relative_to(site / "reference") for place in page.places]
    modules = {name for name in sources() if ".cli" not in name and name not in SCRIPTS}
    assert {name: places.count(name) for name in modules if places.count(name) != 1} == {}
    assert not any(place.startswith("nainjaune_agents.cli") for place in places)


def flattened(text: str) -> list[str]:
    """Lines of lists that the site would run together: an inner list is set in by 4 and a list stands off by a blank line."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    inner = re.findall(r"^ {1,3}[-*] .*", text, re.MULTILINE)
    return inner + re.findall(r"^(?![-* \n]).+\n([-*] .*)", text, re.MULTILINE)


def test_lists_are_lists_on_the_site_too() -> None:
    result = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("nainjaune_env/**/*.md"), *ROOT.glob("notebooks/*.md")]
    assert {path.name: lines for path in result if (lines := flattened(path.read_text(encoding="utf-8")))} == {}
    assert flattened("- a\n  - b\n\nas\n- c\n\n- d\n  e\n    - f\n\n```\nx\n- g\n```\n") == ["  - b", "- c"]


def test_a_page_that_cannot_be_reached_and_links_that_lead_nowhere_fail_the_build(tmp_path: Path) -> None:
    """What Zensical lets pass: a page that the navigation lacks, one that it has in vain, links to files that are not there."""
    small(tmp_path, "  - README.md\n  - docs/gone.md")
    page = "# Here\n\n[there](docs/there.md) [bare](docs/forgotten) ![none](docs/none.png) `[code](docs/code.md)`\n"
    (tmp_path / "README.md").write_text(page, encoding="utf-8")
    (tmp_path / "docs" / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "README.md links to docs/forgotten, which is not there.",
        "README.md links to docs/none.png, which is not there.",
        "README.md links to docs/there.md, which is not there.",
        "The navigation has docs/gone.md, which is not there.",
        "The navigation does not have docs/forgotten.md.",
    ]


@pytest.mark.parametrize(
    ("link", "fault"),
    [("[here](#there)", "anchor does not exist"), ("[`nothing`][nainjaune_env.nothing]", "unresolved autoref")],
)
def test_a_warning_fails_the_build(link: str, fault: str, tmp_path: Path) -> None:
    small(tmp_path, "  - README.md")
    (tmp_path / "README.md").write_text(f"# Here\n\n{link}\n", encoding="utf-8")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode != 0
    assert fault in done.stdout + done.stderr


def test_an_unknown_name_in_a_docstring_fails_the_build(tmp_path: Path) -> None:
    small(tmp_path, "  - README.md")
    (tmp_path / "README.md").write_text("# Here\n\n::: nainjaune_env\n", encoding="utf-8")
    code = 'class Table:\n    """See :class:`Nobody`."""\n'
    (tmp_path / "nainjaune_env" / "__init__.py").write_text(code, encoding="utf-8")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode != 0
    assert "nainjaune_env.Table: the name 'Nobody' is unknown here" in done.stdout + done.stderr


def test_the_site_has_the_page_that_plays_where_it_was_made(tmp_path: Path) -> None:
    small(tmp_path, "  - README.md")
    (tmp_path / "README.md").write_text("# Here\n\nText.\n", encoding="utf-8")
    (tmp_path / "build" / "play").mkdir(parents=True)
    (tmp_path / "build" / "play" / "index.html").write_text("<p>Play", encoding="utf-8")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out" / "site" / "play" / "index.html").read_text(encoding="utf-8") == "<p>Play"
    assert "play/" in Html((tmp_path / "out" / "site" / "index.html").read_text(encoding="utf-8")).links
