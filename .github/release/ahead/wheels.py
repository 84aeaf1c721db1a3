"""Builds the wheels of a checkout: one a platform, with its compiled loops (``make wheels``).

``python .github/release/ahead/wheels.py LIBRARIES DIST [PLATFORM …]`` takes what ``build.py`` has written to LIBRARIES. A
platform is one of ``PLATFORMS`` without a level, such as ``linux-x86_64``; without any they are all in LIBRARIES.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from nainjaune_env.compiler.ahead import INDEX, PACKAGED
from nainjaune_env.compiler.platforms import LEVEL_3, PLATFORMS
from nainjaune_env.core.atomic_files import write_text

ROOT = PACKAGED.parents[1]


def build_wheel(libraries: Path, platform: str, dist: Path) -> None:
    """Builds the wheel for ``platform`` into ``dist``."""
    index = json.loads((libraries / INDEX).read_text(encoding="utf-8"))
    index["platforms"] = [name for name in index["platforms"] if name.removesuffix(LEVEL_3) == platform]
    PACKAGED.mkdir()
    try:
        for name in index["platforms"]:
            shutil.copy(libraries / f"{name}{PLATFORMS[name].suffix}", PACKAGED)
        write_text(PACKAGED / INDEX, json.dumps(index) + "\n")
        shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # setuptools would ship what it has from another platform
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(dist), str(ROOT)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    finally:
        shutil.rmtree(PACKAGED)


def main(arguments: list[str]) -> None:
    """Builds the wheels that the command line names."""
    libraries, dist = Path(arguments[0]), Path(arguments[1])
    built = json.loads((libraries / INDEX).read_text(encoding="utf-8"))["platforms"]
    for platform in arguments[2:] or sorted({name.removesuffix(LEVEL_3) for name in built}):
        build_wheel(libraries, platform, dist)
        print(f"built the wheel for {platform}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
