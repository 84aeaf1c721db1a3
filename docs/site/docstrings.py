"""Docstrings as Markdown: the marks of reStructuredText that they use, written in what the site reads.

Three of them mean nothing in Markdown, and only those are translated: roles, which become links into the reference
(``:class:`Batch```), blocks of code after two colons, and simple tables. A role that names nothing is warned of, which fails
the build.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from griffe import Alias, Extension, GriffeLoader, NameResolutionError, Object, get_logger

logger = get_logger("docstrings")

PACKAGES = ("nainjaune_env", "nainjaune_agents")
ROLE = re.compile(r":(attr|class|data|func|meth|mod):`(~?)([\w.]+)`")
BORDER = re.compile(r"=+(  +=+)+")
CODE_FOLLOWS = re.compile(r"^(?P<indent> *)(?P<text>\S.*:):\n\n(?P<code>(?:(?P=indent) +\S.*\n|\n)+)", re.MULTILINE)


class Docstrings(Extension):
    """Translates every docstring of a package once all its modules are known."""

    def on_object(self, *, obj: Object, loader: GriffeLoader, **kwargs: Any) -> None:
        """Griffe asks for each object."""
        if obj.docstring is not None:
            obj.docstring.value = translated(obj.docstring.value, obj)


def translated(text: str, obj: Object) -> str:
    """The docstring of ``obj`` in Markdown."""
    text = CODE_FOLLOWS.sub(fenced, f"{text}\n")
    text = "\n".join(with_tables(text.splitlines()))
    return ROLE.sub(lambda match: link(obj, match[3], short=bool(match[2])), text)


def fenced(match: re.Match[str]) -> str:
    """A block of code between fences."""
    lines = match["code"].strip("\n").splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line)
    code = "\n".join(line[indent:] for line in lines)
    return f"{match['text']}\n\n```python\n{code}\n```\n\n"


def with_tables(lines: list[str]) -> Iterator[str]:
    """The lines, with simple tables between borders of ``=`` as Markdown's."""
    start = 0
    while start < len(lines):
        if not BORDER.fullmatch(lines[start]):
            yield lines[start]
            start += 1
            continue
        borders = [start]
        for number in range(start + 1, len(lines)):
            if lines[number] == lines[start]:
                borders.append(number)
            elif not lines[number].strip():
                break
        yield from pipes(lines[start], [lines[low + 1 : high] for low, high in pairwise(borders)])
        start = borders[-1] + 1


def pipes(border: str, parts: list[list[str]]) -> Iterator[str]:
    """A table of one part (rows) or two (a head, rows). A row without its first cell goes on with the one above."""
    starts = [match.start() for match in re.finditer("=+", border)]
    spans = list(zip(starts, [*starts[1:], None], strict=True))
    rows: list[list[str]] = [] if len(parts) > 1 else [[""] * len(spans)]
    for line in (line for part in parts for line in part):
        cells = [line[low:high].strip() for low, high in spans]
        if cells[0] or not rows:
            rows.append(cells)
        else:
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
    rows.insert(1, ["---"] * len(spans))
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def link(obj: Object, target: str, *, short: bool) -> str:
    """A role as a link to what it names, shown in full or by its last word."""
    shown = target.rpartition(".")[2] if short else target
    path = resolved(obj, target)
    if path is None:
        logger.warning(f"{obj.path}: nothing is called {target!r} here; write its whole path.")
    return f"[`{shown}`][{path}]" if path and path.startswith(PACKAGES) else f"`{shown}`"


def resolved(obj: Object, target: str) -> str | None:
    """The path of what ``target`` means where ``obj`` is defined; None where it means nothing."""
    if target.startswith("."):  # beside the module, as in a relative import
        module = obj.module
        return f"{module.path if module.is_init_module else module.path.rpartition('.')[0]}{target}"
    first, _, rest = target.partition(".")
    if first in PACKAGES:
        return target
    try:
        path = obj.resolve(first)
    except NameResolutionError:
        return inherited(obj, target) or general(target)
    return f"{path}.{rest}" if rest else path


def inherited(obj: Object, name: str) -> str | None:
    """The path of a member that the class of ``obj`` has from a base."""
    owner: Object | Alias | None = obj if obj.is_class else obj.parent
    if owner is None or not owner.is_class:
        return None
    found = owner.inherited_members.get(name)
    return None if found is None else found.canonical_path


def general(name: str) -> str | None:
    """The path of what is known everywhere: what is built into Python, and our errors, which are often raised far below."""
    if hasattr(builtins, name):
        return f"builtins.{name}"
    return f"nainjaune_env.core.errors.{name}" if name.endswith("Error") else None
