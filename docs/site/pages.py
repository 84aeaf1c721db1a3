"""Write the pages of the docs site as Zensical reads them: all in one folder.

python docs/site/pages.py [OUT]    write the folder OUT/pages, its configuration OUT/mkdocs.yml, and OUT/sources; OUT is build/

Some of our pages are outside docs/: the README, a game's rules, the notebooks. So every file is named by its path from the root
of the repository, in the navigation and in links, and a link that works in a view of the repository works on the site. A link to
any other file, such as a module, leads to a page that shows the file. Zensical checks links between pages and anchors in strict
mode; the rest is checked here: each fault is printed, and the status is then 1.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from ipynb import fenced, markdown_of
from reference import completed

ROOT = Path(__file__).resolve().parents[2]

ADDRESSES = {
    "README.md": "index.md",
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
    "notebooks/*.ipynb": "notebooks/{stem}.md",
}
"""File pattern -> address: the pages and images of the site."""

UNLISTED = "docs/lab/"
"""Pages here need no place in the navigation: the index of the lab notebook lists them."""

META = "---\nhide: [navigation, toc]\nsearch: {exclude: true}\n---\n"
"""The front matter of a page that shows code: full width, and not in the search, which finds the reference instead."""

PACKAGES = {"nainjaune_env": "nainjaune_env", "nainjaune_agents": "agents"}
"""Import name -> folder, for the reference, which reads both packages and imports neither."""

LINK = re.compile(r"(\]\()([^)#\s:]+)(?=[)#])")
"""The target of a link in Markdown: no other site (no colon), without the anchor (after a hash)."""

LISTED = re.compile(r"(?<= )\S+\.(?:md|ipynb)$", re.MULTILINE)
"""A page in the navigation."""

CODE = re.compile(r"^(`{3,}).*?^\1$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
"""Code, in which nothing is a link."""

PLAY = ROOT / "build" / "play"
"""The page that plays in the browser, as `make play` writes it. Where it is there, the site has it, too."""

EMBEDDED = {
    "README.md": '<a class="md-button md-button--primary" href="play/">Play now</a>',
    "docs/browser.md": '<iframe src="../play/" title="Play now" width="100%" height="760"></iframe>',
}
"""Page -> what it then has below its first heading."""

BADGE = re.compile(r"^\[!\[.*\n", re.MULTILINE)
"""A badge, whose picture is another host's: the site asks no other."""

OPENING = re.compile(r"^(```\w+) .*$", re.MULTILINE)
"""The first line of a code block that has more than the language."""


class Site:
    """The files of the site by their paths in the repository: addresses, the text of pages, and what is wrong with them."""

    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.faults: list[str] = []
        for pattern, address in ADDRESSES.items():
            for path in sorted(ROOT.glob(pattern)):
                place = address.format(name=path.name, stem=path.stem, folder=path.parent.name)
                self.addresses[path.relative_to(ROOT).as_posix()] = re.sub(r"\bREADME\.md$", "index.md", place)
        self.listed = [name for name, address in self.addresses.items() if address.endswith(".md")]
        for name in self.listed:
            text = (ROOT / name).read_text(encoding="utf-8")
            self.texts[name] = markdown_of(text) if name.endswith(".ipynb") else text
        linked = {target for name in self.listed for target in targets(name, self.texts[name])} - self.addresses.keys()
        for path in sorted(linked):
            if (ROOT / path).is_file():
                self.show(path)

    def show(self, path: str) -> None:
        """Adds a page that shows a linked file, or the file itself if it is no text."""
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            self.addresses[path] = f"source/{path}"
            return
        languages = {".py": "python", ".yaml": "yaml", ".toml": "toml"}
        code = fenced(languages.get(posixpath.splitext(path)[1], "text"), text.rstrip())
        self.addresses[path] = f"source/{path}.md"
        self.texts[path] = f"{META}# {posixpath.basename(path)}\n\n`{path}`\n\n{code}\n"

    def page(self, name: str) -> str:
        """Returns the Markdown of a page for the site.

        Links to files lead to the pages that show them. Words after the language of a code block, which are for tests, are
        removed, as are badges. Pages of the reference are completed. Pages of :data:`EMBEDDED` get the page that plays.
        """
        text, here = self.texts[name], posixpath.dirname(self.addresses[name])
        if name not in self.listed:  # it shows a file as it is
            return text

        def led(match: re.Match[str]) -> str:
            (target,) = targets(name, f"{match[0]})")
            return match[1] + posixpath.relpath(self.addresses[target], here or ".") if target in self.addresses else match[0]

        missing = {target for target in targets(name, CODE.sub("", text)) if target not in self.addresses}
        self.faults += [f"{name} links to {target}, which is not there." for target in sorted(missing)]
        if name.startswith("docs/site/reference/"):
            text = completed(text, ROOT)
        text = BADGE.sub("", text)
        if PLAY.is_dir() and name in EMBEDDED:
            heading, _, rest = text.partition("\n")
            text = f"{heading}\n\n{EMBEDDED[name]}\n{rest}"
        return OPENING.sub(r"\1", LINK.sub(led, text))

    def configuration(self, text: str) -> str:
        """Returns the configuration, with addresses in its navigation, which must have every page."""
        head, opening, rest = text.partition("\nnav:")
        navigation, blank, tail = rest.partition("\n\n")
        named = [match[0] for match in LISTED.finditer(navigation)]
        self.faults += [f"The navigation has {name}, which is not there." for name in named if name not in self.listed]
        missing = [name for name in self.listed if name not in named and not name.startswith(UNLISTED)]
        self.faults += [f"The navigation does not have {name}." for name in missing]
        return head + opening + LISTED.sub(lambda match: self.addresses.get(match[0], match[0]), navigation) + blank + tail

    def write(self, out: Path) -> None:
        """Writes the configuration, the pages and the folder of both packages."""
        for folder in ("pages", "sources"):
            shutil.rmtree(out / folder, ignore_errors=True)
        for name, address in self.addresses.items():
            target = out / "pages" / address
            target.parent.mkdir(parents=True, exist_ok=True)
            if name in self.texts:
                target.write_text(self.page(name), encoding="utf-8")
            else:
                shutil.copyfile(ROOT / name, target)
        if PLAY.is_dir():
            shutil.copytree(PLAY, out / "pages" / PLAY.name)
        (out / "sources").mkdir()
        for package, folder in PACKAGES.items():
            os.symlink(ROOT / folder, out / "sources" / package, target_is_directory=True)
        text = (ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
        (out / "mkdocs.yml").write_text(self.configuration(text), encoding="utf-8")


def targets(name: str, markdown: str) -> Iterator[str]:
    """Yields the paths, from the root, of the files that a page links to."""
    for match in LINK.finditer(markdown):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"
    site = Site()
    site.write(out)
    print(*site.faults, sep="\n", end="\n" if site.faults else "")
    return 1 if site.faults else 0


if __name__ == "__main__":
    sys.exit(main())
