"""GIFs: as many pictures as there are, each for its time, and nothing half written."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from nainjaune_env.core.errors import RulesError
from nainjaune_env.render import svg
from nainjaune_env.render.film import write_gif
from nainjaune_env.render.raster import pixels

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a63d2")


def pictures(count: int) -> list[str]:
    """A table with all the seats' colours, and a white mark at one after another."""
    seats = [svg.rect(0, 0, 200, 100, fill="#2f6b57"), *(svg.rect(20 * k, 10, 15, 60, fill=c) for k, c in enumerate(COLOURS))]
    return [svg.document(200, 100, "t", [*seats, svg.rect(20 * k, 75, 15, 10, fill="#ffffff")]) for k in range(count)]


def test_every_picture_is_there_for_its_time(tmp_path: Path) -> None:
    reported: list[int] = []
    write_gif(pictures(9), tmp_path / "a" / "film.gif", scale=0.5, seconds=0.5, last_seconds=2, progress=reported.append)
    assert reported == [1] * 9
    with Image.open(tmp_path / "a" / "film.gif") as film:
        assert film.format == "GIF"
        assert film.size == (100, 50)
        assert film.info["loop"] == 0
        frames = [(frame.info["duration"], np.array(frame.convert("RGB"))) for frame in ImageSequence.Iterator(film)]
    assert [duration for duration, _ in frames] == [500] * 8 + [2000]
    for picture, (_, shown) in zip(pictures(9), frames, strict=True):
        drawn = pixels(picture, 0.5).astype(int)
        assert np.abs(drawn - shown).max() <= 12  # the palette is shared, and no colour of a seat is lost in it
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["film.gif"]


def test_a_single_picture_is_a_film_too(tmp_path: Path) -> None:
    write_gif(pictures(1), tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert getattr(film, "n_frames", 1) == 1


def test_where_it_fails_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "film.gif").write_text("what was there", encoding="utf-8")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_gif(pictures(3), tmp_path / "film.gif", progress=stop)
    assert (tmp_path / "film.gif").read_text(encoding="utf-8") == "what was there"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"seconds": 0},
        {"last_seconds": -1},
        {"scale": 0},
        {"seconds": math.nan},
        {"last_seconds": 656},
        {"scale": math.inf},
        {"scale": 1e-9},
        {"scale": 1000},
    ],
)
def test_times_and_scale_are_above_0_and_fit_a_gif(bad: dict[str, float], tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=r"above 0|scale is a number from 0\.02 to 8"):
        write_gif(pictures(2), tmp_path / "film.gif", **bad)  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="not 0 pictures"):
        write_gif([], tmp_path / "film.gif")
