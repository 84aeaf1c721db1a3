"""Finds the packages, and names wheels that bring compiled loops after their platform.

`agents` ships as `nainjaune_agents`, a renaming that pyproject.toml cannot express for found packages. The compiled loops are in
`nainjaune_env/compiled` where `make library` has built them; without them the wheel is for all platforms, and needs numba.
"""

import json
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel

AGENTS = ["nainjaune_agents", *(f"nainjaune_agents.{name}" for name in find_packages("agents"))]
INDEX = Path(__file__).parent / "nainjaune_env" / "compiled" / "index.json"
BUILD = Path(__file__).parent / "build"
"""Where setuptools keeps its metadata: beside the packages an old one would be found before the installed one."""
TAGS = {
    "linux-x86_64": "manylinux_2_17_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64",
    "windows-x86_64": "win_amd64",
    "macos-arm64": "macosx_11_0_arm64",
    "macos-x86_64": "macosx_10_13_x86_64",
}
"""Tags of wheels by the platforms of `nainjaune_env/compiler/platforms.py`, each with the oldest system that it is linked for."""


class Wheel(bdist_wheel):
    """A wheel for one platform, for any version of Python, where there are compiled loops."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = not INDEX.is_file()

    def get_tag(self) -> tuple[str, str, str]:
        if self.root_is_pure:
            return super().get_tag()
        (tag,) = {TAGS[name.removesuffix("-v3")] for name in json.loads(INDEX.read_text())["platforms"]}
        return "py3", "none", tag


BUILD.mkdir(exist_ok=True)
setup(
    packages=[*find_packages(include=["nainjaune_env", "nainjaune_env.*"]), *AGENTS],
    cmdclass={"bdist_wheel": Wheel},
    options={"egg_info": {"egg_base": str(BUILD)}},
)
