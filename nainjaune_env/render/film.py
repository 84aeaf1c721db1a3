"""Films of a game: animated GIFs that loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import RulesError
from nainjaune_env.render.raster import check_scale, font_files, pixels

COLOURS = 128
"""Size of the palette. All pictures share it, so that each one stores only what has changed."""
MAX_SECONDS = 655.35
"""Most seconds per picture: a GIF has 16 bits for hundredths of a second."""
SAMPLES = 6
"""Number of pictures that the palette is made from, evenly spread."""


def write_gif(
    pictures: Sequence[str],
    path: Path,
    *,
    scale: float = 0.6,
    seconds: float = 0.8,
    last_seconds: float = 4.0,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Writes ``pictures``, SVG documents of one size, as a GIF to ``path``; after an error there is no partial file.

    Each picture is shown for ``seconds``, the last for ``last_seconds``; ``scale`` multiplies their size. ``progress(1)`` is
    called after each picture. Raises :class:`RulesError` without pictures or for a time or scale out of range, and
    :class:`~nainjaune_env.core.errors.MissingLibraryError` where a library of the extra ``render`` is missing.
    """
    if not pictures or not (0 < seconds <= MAX_SECONDS and 0 < last_seconds <= MAX_SECONDS):
        given = f"{len(pictures)} pictures, {seconds!r} and {last_seconds!r} seconds"
        raise RulesError(f"A film needs pictures, and times above 0 and up to {MAX_SECONDS:g} seconds, not {given}.")
    check_scale(scale)
    font_files()
    from PIL import Image

    palette = _palette(pictures, scale)

    def frames() -> Iterator[Any]:
        for picture in pictures:
            yield Image.fromarray(pixels(picture, scale)).quantize(palette=palette, dither=Image.Dither.NONE)
            if progress is not None:
                progress(1)

    rest = frames()
    first = next(rest)
    # a GIF counts in hundredths of a second
    times = [10 * max(round(100 * time), 2) for time in (*itertools.repeat(seconds, len(pictures) - 1), last_seconds)]
    with replacing(path) as partial, partial.open("wb") as file:
        first.save(file, format="GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=True)


def _palette(pictures: Sequence[str], scale: float) -> Any:
    """Returns an image with the palette for all ``pictures``."""
    from PIL import Image

    chosen = sorted({round(k * (len(pictures) - 1) / (SAMPLES - 1)) for k in range(SAMPLES)})
    samples = np.concatenate([pixels(pictures[k], scale) for k in chosen])
    return Image.fromarray(samples).quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
