"""Python that a page shows, run as it stands there."""

from __future__ import annotations


def run_example(code: str, page: str) -> None:
    """Executes ``code`` as a script would be, in this process: what its libraries take to import is paid once."""
    exec(compile(code, page, "exec"), {"__name__": "__main__"})
