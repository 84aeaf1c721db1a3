"""The command line in this process."""

from __future__ import annotations

from collections.abc import Sequence

from nainjaune_agents.cli.main import main


def status_of(words: Sequence[str]) -> int:
    """The exit status, of errors of the parser too."""
    try:
        return main(words)
    except SystemExit as stopped:
        return int(stopped.code or 0)
