"""The processes of this machine."""

from __future__ import annotations

import subprocess


def running(text: str, parent: int | None = None) -> list[int]:
    """The numbers of the processes with ``text`` in their command line, of ``parent`` if that is given; none that has ended."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,stat=,args=", "-ww"], check=True, capture_output=True, text=True).stdout
    rows = [line.split(None, 3) for line in listed.splitlines()]
    return [
        int(row[0]) for row in rows if len(row) == 4 and text in row[3] and row[2][0] != "Z" and parent in (None, int(row[1]))
    ]
