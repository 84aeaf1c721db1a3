"""Progress bars on stderr, where that is a terminal; a bar is cleared before anything else is printed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(**options: Any) -> tqdm[Any]:
    """Returns the bar of a command, with ``options`` of ``tqdm`` such as ``total`` and ``unit``.

    It is cleared when its block ends, by an error too. Without a terminal nothing is shown, and its ``disable`` is true.
    """
    from tqdm import tqdm

    return tqdm(**{"file": sys.stderr, "dynamic_ncols": True, "leave": False, "disable": None, **options})


def interval(seconds: float) -> str:
    """Returns a time as bars show it, such as 1:02:03."""
    from tqdm import tqdm

    return str(tqdm.format_interval(seconds))
