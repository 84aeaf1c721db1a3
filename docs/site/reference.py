"""Completes the pages of the reference: a module that no page lists goes to the end of its package's page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = {"nainjaune_env": "nainjaune_env", "nainjaune_agents": "agents"}
"""Package -> folder."""
LEFT_OUT = "nainjaune_agents.cli"
"""Not in the reference: commands are documented by ``--help``."""
LISTED = re.compile(r"^::: (\S+)$", re.MULTILINE)


def completed(markdown: str, root: Path) -> str:
    """Returns a page of ``docs/site/reference``, with the modules of its packages that no page lists."""
    listed = {name for page in root.glob("docs/site/reference/*.md") for name in LISTED.findall(page.read_text(encoding="utf-8"))}
    here = set(LISTED.findall(markdown))
    further = [name for name in sorted(modules(root)) if name not in listed and home(name, listed) in here]
    if not further:
        return markdown
    return "\n\n".join([markdown.rstrip(), "## Further", *(f"::: {name}" for name in further)]) + "\n"


def modules(root: Path) -> Iterator[str]:
    """Yields the import names of all modules of both packages."""
    for package, folder in FOLDERS.items():
        for path in (root / folder).rglob("*.py"):
            parts = path.relative_to(root / folder).with_suffix("").parts
            name = ".".join([package, *(parts[:-1] if path.stem == "__init__" else parts)])
            if not f"{name}.".startswith(f"{LEFT_OUT}."):
                yield name


def home(name: str, listed: set[str]) -> str:
    """Returns the innermost listed package that contains a module, or an empty string."""
    while name and name not in listed:
        name = name.rpartition(".")[0]
    return name
