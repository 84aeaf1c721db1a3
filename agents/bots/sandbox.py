"""Programs in bubblewrap (``bwrap``): without network, and with all files read-only."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from nainjaune_env.core.errors import AgentError

HIDDEN = ("/tmp", "/var/tmp", "/run")
"""Folders that are empty and writable in the sandbox: sockets of other programs lie there, which would lead out of it."""


def sandboxed(words: list[str]) -> list[str]:
    """Returns the command that runs the program and arguments ``words`` in a sandbox.

    The program sees the working folder, and what ``words`` name (``PATH``, ``--weights=PATH``), even in a hidden folder. Raises
    :class:`AgentError` without ``bwrap``.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise AgentError("--sandbox runs bots in bubblewrap, and there is no program 'bwrap': install the package bubblewrap.")
    hidden = [folder for folder in HIDDEN if Path(folder).is_dir() and not Path(folder).is_symlink()]
    paths = [os.getcwd(), shutil.which(words[0]), *words, *(word.partition("=")[2] for word in words)]
    named = dict.fromkeys(os.path.abspath(path) for path in paths if path)
    seen: list[str] = []
    for path in named:  # what lies in a folder that is seen already may be a link, onto which nothing can be bound
        if os.path.exists(path) and _within(path, hidden) and not _within(path, seen):
            seen.append(path)
    return [
        bwrap, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
        *(word for folder in hidden for word in ("--tmpfs", folder)),
        *(word for path in seen for word in ("--ro-bind", path, path)),
        "--chdir", os.getcwd(), "--", *words,
    ]  # fmt: skip


def _within(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)
