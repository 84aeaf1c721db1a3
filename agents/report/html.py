"""HTML and inline SVG by plain strings, in which whatever is not markup is escaped."""

from __future__ import annotations

from html import escape

VOID = frozenset({"meta", "br", "col"})
"""Elements of HTML that hold nothing and have no end tag."""


class Markup(str):
    """Text that is markup already, and stays as it is."""


Attribute = str | int | float | None


def tag(name: str, attributes: dict[str, Attribute], *children: str) -> Markup:
    """``<name key="value">children</name>``; children that are not :class:`Markup` are escaped, attributes of None left out."""
    given = "".join(f' {key}="{escape(_written(value))}"' for key, value in attributes.items() if value is not None)
    if name in VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """The children one after another, escaped where they are not markup."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


def _written(value: str | int | float) -> str:
    """A number with at most two decimals."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
