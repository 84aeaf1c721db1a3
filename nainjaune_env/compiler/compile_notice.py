"""One line on stderr where functions are compiled, once a process; ``NAINJAUNE_QUIET=1`` switches it off."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from nainjaune_env.compiler.cache import cache_root

_said = False


def announce_compilation(dispatcher: Any) -> None:
    """Has the line appear where ``dispatcher`` finds no code in its cache, and so compiles."""
    cache = dispatcher._cache
    load = cache.load_overload

    def load_or_say(sig: Any, target_context: Any) -> Any:
        code = load(sig, target_context)
        if code is None:
            _say(kept=cache.cache_path is not None)
        return code

    cache.load_overload = load_or_say


def _say(kept: bool) -> None:
    global _said
    if _said or sys.stderr is None or os.environ.get("NAINJAUNE_QUIET"):
        return
    _said = True
    first = f"for the first use; later starts load the code from {cache_root()}"
    text = first if kept else "at every start, as the code cannot be kept on disk"
    with contextlib.suppress(OSError, ValueError):  # a stream that is full or closed stops no compiler
        print(f"nainjaune-env: compiling {text}.", file=sys.stderr, flush=True)
