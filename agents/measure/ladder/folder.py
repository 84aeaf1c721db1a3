"""Where a ladder writes and deletes: in its folder, wherever links in it lead."""

from __future__ import annotations

from os.path import realpath
from pathlib import Path

from nainjaune_env.core.errors import WorkError


def inside(folder: Path, path: Path) -> Path:
    """Returns ``path``, for whoever writes or deletes there; raises :class:`WorkError` where it leads out of ``folder``.

    Its sentence names the link, if it is one that leads there.
    """
    if not Path(realpath(path)).is_relative_to(realpath(folder)):
        link = next((part for part in (path, *path.parents) if part.is_symlink()), path)
        raise WorkError(f"{str(link)!r} leads out of {str(folder)!r}, and a ladder writes and deletes in its folder only.")
    return path
