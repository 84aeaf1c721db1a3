"""The kinds of machines that code is compiled for ahead, on any machine."""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple

import numpy as np


class Platform(NamedTuple):
    """A kind of machine that shared libraries are made for, on any machine."""

    triple: str
    """LLVM's name of it."""
    cpu: str
    """The oldest processor, or level of processors, that the code runs on."""
    linker_target: str
    """The name of it for ``zig cc``; with the oldest C library, where the system has several."""
    suffix: str
    """How names of its shared libraries end."""


PLATFORMS = {
    "linux-x86_64": Platform("x86_64-unknown-linux-gnu", "x86-64", "x86_64-linux-gnu.2.17", ".so"),
    "linux-x86_64-v3": Platform("x86_64-unknown-linux-gnu", "x86-64-v3", "x86_64-linux-gnu.2.17", ".so"),
    "linux-aarch64": Platform("aarch64-unknown-linux-gnu", "generic", "aarch64-linux-gnu.2.17", ".so"),
    "windows-x86_64": Platform("x86_64-pc-windows-gnu", "x86-64", "x86_64-windows-gnu", ".dll"),
    "windows-x86_64-v3": Platform("x86_64-pc-windows-gnu", "x86-64-v3", "x86_64-windows-gnu", ".dll"),
    "macos-arm64": Platform("arm64-apple-macosx11.0.0", "apple-m1", "aarch64-macos", ".dylib"),
    "macos-x86_64": Platform("x86_64-apple-macosx10.13.0", "x86-64", "x86_64-macos", ".dylib"),
    "macos-x86_64-v3": Platform("x86_64-apple-macosx10.13.0", "x86-64-v3", "x86_64-macos", ".dylib"),
}
"""The platforms of shared libraries by name; ``-v3`` is the level of x86-64 with AVX2 and BMI2, of 2013 and later."""

SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": "aarch64", "arm64": "arm64"}
LEVEL_3 = "-v3"
_V3_FEATURES = ({"AVX2", "FMA3"}, {"X86_V3"})
"""NumPy's names of what it found in the processor, of older versions and of newer ones; processors with AVX2 have BMI2."""


def platform_names() -> list[str]:
    """Returns the names of the platforms whose code runs on this machine, the best one first; others may not be in PLATFORMS."""
    machine = platform.machine().lower()
    name = f"{SYSTEMS.get(sys.platform, sys.platform)}-{MACHINES.get(machine, machine)}"
    return [name + LEVEL_3, name] if name.endswith("x86_64") and _has_level_3() else [name]


def _has_level_3() -> bool:
    """Returns whether the processor has the third level of x86-64."""
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    features = {*simd.get("baseline", ()), *simd.get("found", ())}
    return any(wanted <= features for wanted in _V3_FEATURES)
