"""MkDocs hooks: which files of the repository are pages of the site, and their addresses.

MkDocs takes pages from one folder, but some of ours are elsewhere: the README, a game's rules, the notebooks. So every file is
named by its path from the root of the repository, in the navigation and in links, and a link that works in a view of the
repository works on the site. A link to any other file, such as a module or a notebook, leads to a page that shows the file.
"""

from __future__ import annotations

import atexit
import posixpath
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ipynb import fenced, markdown_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from reference import completed

ROOT = Path(__file__).resolve().parents[2]

ADDRESSES = {
    "README.md": "README.md",  # the front page
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "docs/*.md": "{name}",
    "docs/adaptors/*.md": "adaptors/{name}",
    "docs/lab/*.md": "lab/{name}",
    "docs/images/*": "images/{name}",
    "docs/site/*.css": "{name}",
    "docs/site/reference/*.md": "reference/{name}",
    "nainjaune_env/games/*/RULES.md": "rules/{folder}.md",
    "notebooks/*.md": "notebooks/{name}",
}
"""File pattern -> address: the pages and images of the site."""

UNLISTED = "docs/lab/"
"""Pages here need no place in the navigation: the index of the lab notebook lists them."""

META = "---\nhide: [navigation, toc]\nsearch: {exclude: true}\n---\n"
"""The front matter of a page that shows code: full width, and not in the search, which finds the reference instead."""

SHOWN = ".md"
"""Suffix added to the path of a file that has a page because it is linked to: MkDocs makes pages of Markdown only."""

LINK = re.compile(r"(\]\()([^)#\s:]+)(?=[)#])")
"""The target of a link in Markdown: no other site (no colon), without the anchor (after a hash)."""

PLAY = ROOT / "build" / "play"
"""The page that plays in the browser, as `make play` writes it. Where it is there, the site has it, too."""

EMBEDDED = {
    "README.md": '<a class="md-button md-button--primary" href="play/">Play now</a>',
    "docs/browser.md": '<iframe src="../play/" title="Play now" width="100%" height="760"></iframe>',
}
"""Page -> what it then has below its first heading."""

OPENING = re.compile(r"^(```\w+) .*$", re.MULTILINE)
"""The first line of a code block that has more than the language."""


def on_startup(**kwargs: Any) -> None:
    """Make both packages visible to the reference, ``agents`` under its import name. They are read, not imported."""
    folder = tempfile.mkdtemp(prefix="nainjaune-site-")
    atexit.register(shutil.rmtree, folder)
    Path(folder, "nainjaune_agents").symlink_to(ROOT / "agents", target_is_directory=True)
    sys.path.append(folder)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files of ``docs_dir`` by the repository's; keep the theme's."""
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    for pattern, address in ADDRESSES.items():
        for path in sorted(ROOT.glob(pattern)):
            files.append(page_file(path, address, config))
    while missing := linked(files):  # in notebooks too
        for target in sorted(missing):
            files.append(shown(target, config))
    return files


def page_file(path: Path, address: str, config: MkDocsConfig) -> File:
    """Returns one file of the repository with its address."""
    place = address.format(name=path.name, folder=path.parent.name)
    destination = File(place, None, config.site_dir, config.use_directory_urls).dest_uri
    source = path.relative_to(ROOT).as_posix()
    inclusion = InclusionLevel.NOT_IN_NAV if source.startswith(UNLISTED) else InclusionLevel.UNDEFINED
    return File(source, str(ROOT), config.site_dir, config.use_directory_urls, dest_uri=destination, inclusion=inclusion)


def targets(uri: str, markdown: str) -> Iterator[str]:
    """Yields the paths, from the root, of the files that a page links to."""
    for match in LINK.finditer(markdown):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(uri), match[2]))


def linked(files: Files) -> set[str]:
    """Returns the files of the repository that pages link to and that have no page yet."""
    linked_paths = {target for file in files.documentation_pages() for target in targets(file.src_uri, file.content_string)}
    known = files.src_uris
    return {path for path in linked_paths if path not in known and path + SHOWN not in known and (ROOT / path).is_file()}


def shown(path: str, config: MkDocsConfig) -> File:
    """Returns a page that shows a file, rendered if it is a notebook; the file itself if it is no text."""
    stem, kind = posixpath.splitext(path)
    try:
        text = (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return File(path, str(ROOT), config.site_dir, config.use_directory_urls, dest_uri=f"source/{path}")
    if kind == ".ipynb":
        content, place = markdown_of(text), stem
    else:
        code = fenced({".py": "python", ".yaml": "yaml", ".toml": "toml"}.get(kind, "text"), text.rstrip())
        content, place = f"{META}# {posixpath.basename(path)}\n\n`{path}`\n\n{code}\n", f"source/{path}"
    file = File.generated(config, path + SHOWN, content=content, inclusion=InclusionLevel.NOT_IN_NAV)
    file.dest_uri = f"{place}/index.html"
    return file


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Returns the Markdown of a page for the site.

    Links to files lead to the pages that show them. Words after the language of a code block, which are for tests, are removed.
    Pages of the reference are completed. Pages of :data:`EMBEDDED` get the page that plays.
    """

    def led(match: re.Match[str]) -> str:
        (target,) = targets(page.file.src_uri, f"{match[0]})")
        is_shown = (ROOT / target).is_file() and files.get_file_from_path(target + SHOWN) is not None
        return match[0] + SHOWN if is_shown else match[0]

    if page.file.src_uri.startswith("docs/site/reference/"):
        markdown = completed(markdown, ROOT)
    if PLAY.is_dir() and page.file.src_uri in EMBEDDED:
        heading, _, rest = markdown.partition("\n")
        markdown = f"{heading}\n\n{EMBEDDED[page.file.src_uri]}\n{rest}"
    return OPENING.sub(r"\1", LINK.sub(led, markdown))


def on_post_build(config: MkDocsConfig) -> None:
    """Copy the page that plays, if it has been made."""
    if PLAY.is_dir():
        shutil.copytree(PLAY, Path(config.site_dir, PLAY.name), dirs_exist_ok=True)


def on_page_content(html: str, **kwargs: Any) -> str:
    """Exclude folded sources from the search, which would find code instead of its documentation."""
    return html.replace('<details class="mkdocstrings-source"', '<details class="mkdocstrings-source" data-search-exclude')
