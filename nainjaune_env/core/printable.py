"""Text from outside, such as the names of agents, made fit to be shown in a terminal, a page or a picture."""

from __future__ import annotations

from unicodedata import category

SPACE = "Zs"
"""The Unicode category of spaces, such as the narrow ones of French texts, which Python does not count as printable."""


def printable(text: str) -> str:
    r"""Returns ``text`` with every character that cannot be printed as Python writes it: ``\x1b`` for an escape.

    These are control characters, line breaks, marks that reverse the direction of writing, and surrogates. An escape sequence
    would otherwise act on the terminal, and XML does not allow control characters.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or category(character) == SPACE else repr(character)[1:-1] for character in text
    )
