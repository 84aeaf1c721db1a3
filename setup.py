"""Finds the packages, and names wheels that bring compiled loops after their platform.

`agents` ships as `nainjaune_agents`, a renaming that pyproject.toml cannot express for found packages. The compiled loops are in
`nainjaune_env/compiled` where `make wheels` has put them. Without them a wheel is for all platforms and requires numba. One is
made where pip installs, and else only on request: whoever builds a wheel to give it to others expects the loops in it.
"""

import json
import os
import re
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.egg_info import egg_info

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


SOURCE_WHEEL = "NAINJAUNE_SOURCE_WHEEL"
WITHOUT_LOOPS = not INDEX.is_file()
REQUESTED = os.environ.get(SOURCE_WHEEL) == "1" or "PIP_BUILD_TRACKER" in os.environ
"""Whether a wheel without loops may be made; pip sets the second variable for what it builds."""


class Metadata(egg_info):
    """Metadata that requires numba on every machine, for a wheel without compiled loops."""

    def run(self) -> None:
        if WITHOUT_LOOPS and REQUESTED:
            needed = [re.sub(r"^(numba\b[^;]*);.*", r"\1", one) for one in self.distribution.install_requires]
            self.distribution.install_requires = self.distribution.metadata.install_requires = needed
        super().run()


class Wheel(bdist_wheel):
    """A wheel for one platform, for any version of Python, where there are compiled loops."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = WITHOUT_LOOPS

    def run(self) -> None:
        if WITHOUT_LOOPS and not REQUESTED:
            raise SystemExit(
                "This wheel would have no compiled loops: `make wheels` makes one with them for each platform, `pip install .` "
                f"installs this folder with numba, and with {SOURCE_WHEEL}=1 in the environment other tools, such as uv, make "
                "one that requires numba."
            )
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        if self.root_is_pure:
            return super().get_tag()
        (tag,) = {TAGS[name.removesuffix("-v3")] for name in json.loads(INDEX.read_text())["platforms"]}
        return "py3", "none", tag


BUILD.mkdir(exist_ok=True)
setup(
    packages=[*find_packages(include=["nainjaune_env", "nainjaune_env.*"]), *AGENTS],
    cmdclass={"bdist_wheel": Wheel, "egg_info": Metadata},
    options={"egg_info": {"egg_base": str(BUILD)}},
)
