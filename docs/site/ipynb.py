"""Converts notebooks to Markdown: cells in order, with their stored outputs. Nothing is run."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
"""Terminal colour codes."""


def markdown_of(text: str) -> str:
    """Returns the page of a notebook, from the text of its file. Raises ValueError unless it is in format 4."""
    notebook = json.loads(text)
    if notebook.get("nbformat") != 4:
        raise ValueError(f"A notebook for the site must be in format 4, not {notebook.get('nbformat')!r}.")
    return "\n\n".join(part for cell in notebook["cells"] for part in parts(cell)) + "\n"


def parts(cell: dict[str, Any]) -> Iterator[str]:
    """Yields the parts of a cell: its text, or its code and outputs."""
    source = whole(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
    elif cell["cell_type"] == "code" and source:
        yield fenced("python", source)
        yield from map(shown, cell["outputs"])


def shown(output: dict[str, Any]) -> str:
    """Returns one output in the richest form that a page can show. Raises ValueError for an error."""
    if output["output_type"] == "stream":
        return fenced("text", whole(output["text"]))
    if output["output_type"] == "error":
        raise ValueError(f"A notebook for the site must have run without an error; it has {output['ename']}: {output['evalue']}")
    data = {kind: whole(value) for kind, value in output["data"].items() if not kind.endswith("json")}
    alt = html.escape(" ".join(data.get("text/plain", "").split()))
    if "image/svg+xml" in data:
        return f"<figure>\n{without_blank_lines(data['image/svg+xml'])}\n</figure>"
    if "image/png" in data:
        return f'<img alt="{alt}" src="data:image/png;base64,{"".join(data["image/png"].split())}">'
    if "text/markdown" in data:
        return data["text/markdown"]
    if "text/html" in data:
        return f"<div>\n{without_blank_lines(data['text/html'])}\n</div>"
    return fenced("text", data["text/plain"])


def whole(text: str | list[str]) -> str:
    """Returns text that a notebook stores as a string or as lines."""
    return (text if isinstance(text, str) else "".join(text)).strip("\n")


def fenced(language: str, text: str) -> str:
    """Returns a code block whose fence is longer than any inside it."""
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", text)), 3)
    return f"{fence}{language}\n{ESCAPES.sub('', text)}\n{fence}"


def without_blank_lines(markup: str) -> str:
    """Removes blank lines, which would end an HTML block in Markdown."""
    return re.sub(r"\n\s*\n", "\n", markup)
