"""What other libraries say about a file, in a sentence of ours."""

from __future__ import annotations


def first_line(error: Exception) -> str:
    """Returns the first line of the message of ``error``, with one full stop at its end; of an empty one the kind of error."""
    return f"{(str(error).strip() or type(error).__name__).splitlines()[0].rstrip('.')}."
