"""Builds PufferLib's `tripletriad` into the current virtual environment, as the module `tripletriad_binding` (see peers.py).

PufferLib is on PyPI as source alone, and building the whole of it fetches archives and takes torch. This one game needs
neither: its C source and the static library that it draws with (Linux on x86-64 only) are in the source distribution. It is
compiled by a C compiler (`$CC`, or `cc`) with the flags of PufferLib's own `setup.py`. Where that fails, this says why and ends
with 1; the other peers do without.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

import numpy

VERSION = "3.0.0"
MODULE = "tripletriad_binding"
FLAGS = [
    "-shared", "-fPIC", "-O2", "-flto", "-fwrapv", "-DPLATFORM_DESKTOP", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION",
]  # fmt: skip
STAND_IN = """
import builtins

CppExtension = CUDAExtension = object
CUDA_HOME = None
builtins.c_extension_paths = []  # setup.py of this version reads it, and with NO_OCEAN sets it nowhere


class BuildExtension:
    pass
"""
"""What `setup.py` imports of torch, even when pip only reads the package's name before it downloads."""


def download(folder: Path) -> Path:
    """Download the source distribution with pip and unpack it."""
    stand_in = folder / "stand_in" / "torch" / "utils"
    stand_in.mkdir(parents=True)
    (stand_in.parent / "__init__.py").touch()
    (stand_in / "__init__.py").touch()
    (stand_in / "cpp_extension.py").write_text(STAND_IN, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation", "--no-binary", ":all:"]
    only_ask = {"NO_OCEAN": "1", "NO_TRAIN": "1", "PYTHONPATH": str(folder / "stand_in")}
    subprocess.run([*command, "--dest", folder, f"pufferlib=={VERSION}"], env={**os.environ, **only_ask}, check=True)
    with tarfile.open(folder / f"pufferlib-{VERSION}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"pufferlib-{VERSION}"


def compile_binding(source: Path, out: Path) -> None:
    """Compile a shared library under the name that Python imports."""
    drawing = source / "raylib-5.5_linux_amd64"
    subprocess.run(
        [
            *shlex.split(os.environ.get("CC", "cc")), *FLAGS, f"-DPyInit_binding=PyInit_{MODULE}",
            f"-I{numpy.get_include()}", f"-I{sysconfig.get_paths()['include']}", f"-I{drawing / 'include'}",
            source / "pufferlib" / "ocean" / "tripletriad" / "binding.c", drawing / "lib" / "libraylib.a", "-lm", "-o", out,
        ],
        check=True,
    )  # fmt: skip


def main() -> None:
    """Download, compile and install."""
    out = Path(sysconfig.get_paths()["platlib"]) / (MODULE + str(sysconfig.get_config_var("EXT_SUFFIX")))
    with tempfile.TemporaryDirectory() as folder:
        try:
            compile_binding(download(Path(folder)), out)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"PufferLib's tripletriad is not built: {error}")


if __name__ == "__main__":
    main()
