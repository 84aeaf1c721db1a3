"""Draws SVG as pixels, the same on every machine: with the fonts that matplotlib ships, never the system's."""

from __future__ import annotations

import functools
import importlib.util
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import MissingLibraryError, RulesError, quoted
from nainjaune_env.core.validation import finite

EXTRA = "render"
"""The pip extra that installs the libraries of this package."""
MIN_SCALE, MAX_SCALE = 0.02, 8.0
"""Bounds of the scale: the renderer ends the process where a picture has no pixel, or more than memory holds."""
PIXEL_LIBRARIES = ("resvg_py", "PIL", "matplotlib")
"""The libraries that draw pixels; matplotlib for its fonts."""
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSerif-Bold.ttf")


def pixels(svg: str, scale: float = 1.0) -> NDArray[np.uint8]:
    """Returns the picture as ``(height, width, 3) uint8``, at ``scale`` times the size of ``svg``.

    Raises :class:`RulesError` for a scale out of range, and :class:`MissingLibraryError` where a library of the extra
    ``render`` is missing.
    """
    check_scale(scale)
    fonts = font_files()
    import resvg_py
    from PIL import Image

    png = resvg_py.svg_to_bytes(svg_string=svg, zoom=scale, skip_system_fonts=True, font_files=fonts)
    with Image.open(io.BytesIO(png)) as image:
        return np.array(image.convert("RGB"))


def check_scale(scale: float) -> None:
    """Raises :class:`RulesError` unless ``scale`` is from ``MIN_SCALE`` to ``MAX_SCALE``."""
    if (number := finite(scale)) is None or not MIN_SCALE <= number <= MAX_SCALE:
        raise RulesError(f"A picture's scale is a number from {MIN_SCALE:g} to {MAX_SCALE:g}, not {quoted(scale)}.")


def write_png(svg: str, path: Path, scale: float = 1.0) -> None:
    """Writes the picture as a PNG to ``path``; after an error there is no partial file. Otherwise as :func:`pixels`."""
    image = pixels(svg, scale)
    from PIL import Image

    with replacing(path) as partial:
        Image.fromarray(image).quantize(256, method=Image.Quantize.MAXCOVERAGE).save(partial, format="PNG", optimize=True)


@functools.cache
def font_files() -> list[str]:
    """Returns the paths of ``FONTS``, without importing matplotlib.

    Raises :class:`MissingLibraryError` where a library of the extra ``render`` is missing.
    """
    for library in PIXEL_LIBRARIES:
        require(library, "Drawing pixels")
    matplotlib = importlib.util.find_spec("matplotlib")
    assert matplotlib is not None
    assert matplotlib.origin is not None
    folder = Path(matplotlib.origin).parent / "mpl-data" / "fonts" / "ttf"
    return [str(folder / name) for name in FONTS]


def require(library: str, what: str) -> None:
    """Raises :class:`MissingLibraryError` where ``library``, which ``what`` needs, is not installed."""
    if not is_installed(library):
        raise MissingLibraryError(what, library, EXTRA)


def is_installed(library: str) -> bool:
    """Returns whether ``library`` can be imported, without importing it."""
    return importlib.util.find_spec(library) is not None
