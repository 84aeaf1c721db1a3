"""The names of players from elsewhere as people at a table read them."""

from __future__ import annotations

from os.path import isfile
from pathlib import Path

from nainjaune_env.core.printable import printable

from . import KINDS, is_external

LONGEST_NAME = 40
"""Characters of the name of a player at a table."""


def shown_name(name: str) -> str:
    """Returns the name of an agent for everybody at a table: of a player from elsewhere without folders and options."""
    if not is_external(name):
        return name
    kind, _, rest = name.partition(":")
    if kind == "exec":
        program, *others = rest.split() or [""]
        script = [word for word in others if isfile(word)][:1]  # of an interpreter; never the value of an option
        shown = " ".join(Path(word).name for word in (program, *script))
    else:
        shown = Path(rest if kind in KINDS else name).name
    return printable(shown)[:LONGEST_NAME] or kind
