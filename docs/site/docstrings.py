"""Translates docstrings from reStructuredText to Markdown.

Three constructs mean nothing in Markdown, and only these are translated: roles, which become links into the reference
(``:class:`Batch```), code blocks after two colons, and simple tables. A role with an unknown name fails the build.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from griffe import Alias, Extension, GriffeLoader, NameResolutionError, Object

PACKAGES = ("nainjaune_env", "nainjaune_agents")
ROLE = re.compile(r":(attr|class|data|func|meth|mod):`(~?)([\w.]+)`")
BORDER = re.compile(r"=+(  +=+)+")
CODE_FOLLOWS = re.compile(r"^(?P<indent> *)(?P<text>\S.*:):\n\n(?P<code>(?:(?P=indent) +\S.*\n|\n)+)", re.MULTILINE)


class Docstrings(Extension):
    """A Griffe extension that translates the docstrings of a loaded package."""

    def on_object(self, *, obj: Object, loader: GriffeLoader, **kwargs: Any) -> None:
        """Translate the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = translated(obj.docstring.value, obj)


def translated(text: str, obj: Object) -> str:
    """Returns the docstring of ``obj`` in Markdown."""
    text = CODE_FOLLOWS.sub(fenced, f"{text}\n")
    text = "\n".join(with_tables(text.splitlines()))
    return ROLE.sub(lambda match: link(obj, match[3], short=bool(match[2])), text)


def fenced(match: re.Match[str]) -> str:
    """Returns a code block between fences."""
    lines = match["code"].strip("\n").splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line)
    code = "\n".join(line[indent:] for line in lines)
    return f"{match['text']}\n\n```python\n{code}\n```\n\n"


def with_tables(lines: list[str]) -> Iterator[str]:
    """Yields the lines, with simple tables (between borders of ``=``) as Markdown tables."""
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
    """Yields the lines of a table of one part (rows) or two (head, rows). A row without a first cell continues the row above."""
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
    """Returns a role as a link, with its whole target or only the last part as text. Raises ValueError if it is unknown."""
    shown = target.rpartition(".")[2] if short else target
    path = resolved(obj, target)
    if path is None:
        raise ValueError(f"{obj.path}: the name {target!r} is unknown here; write its whole path.")
    return f"[`{shown}`][{path}]" if path.startswith(PACKAGES) else f"`{shown}`"


def resolved(obj: Object, target: str) -> str | None:
    """Returns the path of ``target`` as seen from ``obj``, or None if it is unknown."""
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
    """Returns the path of an inherited member of the class of ``obj``, or None."""
    owner: Object | Alias | None = obj if obj.is_class else obj.parent
    if owner is None or not owner.is_class:
        return None
    member = owner.inherited_members.get(name)
    return None if member is None else member.canonical_path


def general(name: str) -> str | None:
    """Returns the path of a Python builtin or of one of our errors, which are often raised by code deeper down; else None."""
    if hasattr(builtins, name):
        return f"builtins.{name}"
    return f"nainjaune_env.core.errors.{name}" if name.endswith("Error") else None
