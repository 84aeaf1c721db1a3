"""Keeps folded sources out of the search, which would find code instead of its documentation."""

from __future__ import annotations

from typing import Any

from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor

SOURCE = '<details class="mkdocstrings-source"'


class Exclude(Postprocessor):
    """Marks folded sources in the HTML of a page."""

    def run(self, text: str) -> str:
        """Returns the HTML with the marks."""
        return text.replace(SOURCE, f"{SOURCE} data-search-exclude")


class Folded(Extension):
    """The extension of Python-Markdown that does it, after all others."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Adds the postprocessor."""
        md.postprocessors.register(Exclude(md), "folded", -1)


def makeExtension(**settings: Any) -> Folded:
    """Returns the extension, as Python-Markdown asks for it."""
    return Folded(**settings)
