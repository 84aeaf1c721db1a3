"""The command that installs an extra of this package (a set of libraries that only some of it needs)."""

from __future__ import annotations

import json
from importlib.metadata import distributions
from urllib.parse import urlsplit

DISTRIBUTION = "nainjaune-env"


def install_command(extra: str) -> str:
    """Returns the command that adds ``extra`` to this installation, from the place that it was installed from.

    That place is a checkout, a repository, a wheel's file or its address, as ``direct_url.json`` records it (PEP 610); without
    that file, an index.
    """
    # in a checkout's folder the metadata of a build may come before those of the installation
    texts = [installed.read_text("direct_url.json") for installed in distributions(name=DISTRIBUTION)]
    origin = json.loads(next(filter(None, texts), "{}"))
    if "dir_info" in origin:
        from urllib.request import url2pathname  # of a drive too; it takes 20 ms, and most starts ask for no command

        option = "-e " if origin["dir_info"].get("editable") else ""
        return f"pip install {option}'{url2pathname(urlsplit(origin['url']).path)}[{extra}]'"
    if "vcs_info" in origin:
        commit = origin["vcs_info"]
        return f"pip install '{DISTRIBUTION}[{extra}] @ {commit['vcs']}+{origin['url']}@{commit['commit_id']}'"
    source = f" @ {origin['url']}" if origin else ""
    return f"pip install '{DISTRIBUTION}[{extra}]{source}'"
