"""The Pythons and machines that this package runs on, checked before anything else is imported."""

from __future__ import annotations

import platform
import sys

from .errors import PlatformError

bits = 64 if sys.maxsize > 2**32 else 32
if sys.version_info < (3, 11) or bits != 64 or sys.byteorder != "little":
    raise PlatformError(
        "nainjaune-env runs on Python 3.11 or newer, of 64 bits, on little-endian machines such as x86-64 and ARM64; this is "
        f"Python {'.'.join(map(str, sys.version_info[:3]))} of {bits} bits on a {sys.byteorder}-endian {platform.machine()}."
    )
