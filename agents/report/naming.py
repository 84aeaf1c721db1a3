"""Names of agents for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def short_names(names: Sequence[str]) -> list[str]:
    """Names without what the paths among them share; still all different."""
    tails = [Path(name).name if "/" in name else name for name in names]
    return tails if len(set(tails)) == len(tails) else list(names)
