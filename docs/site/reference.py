"""Pages of the reference, completed: modules that no page lists yet stand at the end of the page of their package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = {"nainjaune_env": "nainjaune_env", "nainjaune_agents": "agents"}
"""Package -> where it lies."""
LEFT_OUT = "nainjaune_agents.cli"
"""Commands say by ``--help`` what they do."""
LISTED = re.compile(r"^::: (\S+)$", re.MULTILINE)


def completed(markdown: str, root: Path) -> str:
    """One page of those in ``docs/site/reference``, with what belongs there and stands on none."""
    listed = {name for page in root.glob("docs/site/reference/*.md") for name in LISTED.findall(page.read_text(encoding="utf-8"))}
    here = set(LISTED.findall(markdown))
    further = [name for name in sorted(modules(root)) if name not in listed and home(name, listed) in here]
    if not further:
        return markdown
    return "\n\n".join([markdown.rstrip(), "## Further", *(f"::: {name}" for name in further)]) + "\n"


def modules(root: Path) -> Iterator[str]:
    """Every module of both packages, as it is imported."""
    for package, folder in FOLDERS.items():
        for path in (root / folder).rglob("*.py"):
            parts = path.relative_to(root / folder).with_suffix("").parts
            name = ".".join([package, *(parts[:-1] if path.stem == "__init__" else parts)])
            if not f"{name}.".startswith(f"{LEFT_OUT}."):
                yield name


def home(name: str, listed: set[str]) -> str:
    """The innermost package around a module that a page lists; empty where there is none."""
    while name and name not in listed:
        name = name.rpartition(".")[0]
    return name
