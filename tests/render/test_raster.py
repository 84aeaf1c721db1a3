"""Pixels: the same on every machine, or a sentence that says what is missing."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nainjaune_env.core.errors import MissingLibraryError, NainJauneError
from nainjaune_env.core.extras import install_command
from nainjaune_env.render import raster, svg
from nainjaune_env.render.raster import font_files, pixels, write_png

PICTURE = svg.document(80, 40, "t", [svg.rect(0, 0, 80, 40, fill="#ff0000"), svg.rect(0, 0, 40, 40, fill="#0000ff")])


def test_pixels() -> None:
    image = pixels(PICTURE)
    assert image.shape == (40, 80, 3)
    assert image.dtype == np.uint8
    assert (image[:, :40] == (0, 0, 255)).all()
    assert (image[:, 40:] == (255, 0, 0)).all()
    assert pixels(PICTURE, 0.5).shape == (20, 40, 3)


def test_text_is_drawn_without_any_font_of_the_system() -> None:
    """And each of the faces is another: none is silently replaced."""
    styles = [{}, {"bold": True}, {"font_family": svg.SERIF, "font_weight": "bold"}]
    drawn = []
    for style in styles:
        words = svg.text(5, 30, "Qué 10", 20, fill="#ffffff", **style)  # type: ignore[arg-type]
        image = pixels(svg.document(120, 40, "t", [svg.rect(0, 0, 120, 40, fill="#000000"), words]))
        assert (image > 128).sum() > 300
        drawn.append(image.tobytes())
    assert len(set(drawn)) == 3


def test_fonts_are_files_of_a_library_that_the_extra_installs() -> None:
    assert all(Path(path).exists() and "matplotlib" in path for path in font_files())


def test_png(tmp_path: Path) -> None:
    write_png(PICTURE, tmp_path / "a" / "table.png", 2)
    with Image.open(tmp_path / "a" / "table.png") as image:
        assert image.size == (160, 80)
        assert image.convert("RGB").getpixel((0, 0)) == (0, 0, 255)


@pytest.mark.parametrize("library", ["resvg_py", "PIL", "matplotlib"])
def test_what_is_missing_is_said(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    font_files.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)  # type: ignore[arg-type]
    with pytest.raises(
        MissingLibraryError, match=f"Drawing pixels needs the package '{library}', .*: {re.escape(install_command('render'))}"
    ) as caught:
        pixels(PICTURE)
    assert isinstance(caught.value, NainJauneError)
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == library


def test_a_library_that_is_there_is_not_asked_for() -> None:
    assert importlib.util.find_spec("numpy")
    raster.require("numpy", "Anything")
