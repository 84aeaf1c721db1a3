"""How long a text is for a language model."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

BYTES_PER_TOKEN = 4
"""Of UTF-8, as a rule for English and French."""


def count_tokens(text: str, tokenizer: Callable[[str], Sized] | Any = None) -> int:
    """Returns the number of tokens of ``text``: by ``tokenizer``, or without one an estimate, a token for every 4 bytes.

    ``tokenizer`` is a function from a text to its tokens, or has a method ``encode`` that is one.
    """
    if tokenizer is None:
        return -(-len(text.encode()) // BYTES_PER_TOKEN)
    return len(getattr(tokenizer, "encode", tokenizer)(text))
