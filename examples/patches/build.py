"""Write the patches for other projects: lists of environments, and games in their own form.

  python examples/patches/build.py [--into FOLDER]       # writes FOLDER/<host>.patch (default: build/patches)
  python examples/patches/build.py --check HOSTS         # and applies each to HOSTS/<repository>, a clone at the commit named

A patch begins with the text of its pull request. It has only our lines, no context of the host's files, so it applies to the
commit named in ``hosts.json``: `git apply --unidiff-zero`, commit, then rebase.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import write_text

FOLDER = Path(__file__).resolve().parent
RULES = FOLDER / "nain_jaune_rules.py"
"""The rules that all games here share; each host gets a copy."""


def hosts() -> dict[str, dict[str, Any]]:
    """Returns the entries of ``hosts.json`` by the names of their folders.

    ``repository`` and ``commit`` say what a patch applies to; ``rules`` where the host's copy of the rules is, ``indent`` how far
    its lines are indented, and ``above`` the file that it begins with.
    """
    entries: dict[str, dict[str, Any]] = json.loads((FOLDER / "hosts.json").read_text(encoding="utf-8"))
    return entries


def patch(name: str) -> str:
    """Returns the patch for the host ``name``: its pull request, its edits of files, its new files."""
    folder = FOLDER / name
    parts = [(folder / "pull_request.md").read_text(encoding="utf-8"), (folder / "edits.diff").read_text(encoding="utf-8")]
    return "\n".join(parts) + "".join(new_file(path, text) for path, text in sorted(new_files(name).items()))


def new_files(name: str) -> dict[str, str]:
    """Returns the texts of the files that a host gets, by their paths in its repository."""
    folder, host = FOLDER / name / "new", hosts()[name]
    files = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if "rules" in host:
        text = re.sub("^(    )+", lambda match: " " * (len(match[0]) * host["indent"] // 4), RULES.read_text("utf-8"), flags=re.M)
        files[host["rules"]] = (FOLDER / host["above"]).read_text(encoding="utf-8") + text if "above" in host else text
    return files


def new_file(path: str, text: str) -> str:
    """Returns the part of a patch that adds a file."""
    lines = text.splitlines()
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
    if not lines:
        return f"{head}index 0000000..e69de29\n"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def does_apply(path: Path, clone: Path, host: dict[str, Any]) -> bool:
    """Returns whether a patch applies to ``clone``, which is at the commit that the patch is for; prints why not."""
    at = subprocess.run(["git", "-C", clone, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    if at != host["commit"]:
        print(f"{clone} must be a clone of {host['repository']} at {host['commit']}, and is at {at or 'none'}.", file=sys.stderr)
        return False
    command = ["git", "-C", clone, "apply", "--check", "--cached", "--unidiff-zero", path.resolve()]
    return subprocess.run(command, check=False).returncode == 0


def main() -> int:
    """Runs the command. Returns 1 if a patch does not apply, after printing why."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=Path("build/patches"), help="folder for the patches")
    parser.add_argument("--check", type=Path, metavar="HOSTS", help="folder with clones of the hosts' repositories")
    args = parser.parse_args()
    args.into.mkdir(parents=True, exist_ok=True)
    applied = []
    for name, host in hosts().items():
        path = args.into / f"{name}.patch"
        write_text(path, patch(name))
        print(f"{path}: for {host['repository']} at {host['commit'][:12]}")
        if args.check is not None:
            applied.append(does_apply(path, args.check / host["repository"].rpartition("/")[2], host))
    return int(not all(applied))


if __name__ == "__main__":
    sys.exit(main())
