"""Elements of SVG as text, and text that fits."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageFont

from nainjaune_env.render import svg
from nainjaune_env.render.raster import font_files, pixels
from tests.support.source import ROOT
from tests.support.svg_boxes import boxes

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=40)

ARTWORK = sorted(ROOT.glob("nainjaune_env/games/*/view/artwork/*.svg"))


def read(content: str) -> ET.Element:
    return ET.fromstring(svg.document(100, 100, "t", [content]))


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (3.0, "3"), (0.25, "0.25"), (-0.001, "0"), (1.005, "1"), (-2.5, "-2.5"), (100, "100")]
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert svg.number(value) == text


@given(TEXT)
def test_any_text_can_be_written(content: str) -> None:
    root = ET.fromstring(svg.document(10, 10, content, [svg.text(1, 2, content, 3, id=content)]))
    assert root[0].text == (content or None)
    assert (root[2].text or "") == content
    assert root[2].get("id") == content


@given(st.text(max_size=40), st.text(st.characters(categories=["Cc", "Cs"]), min_size=1, max_size=3))
def test_what_xml_forbids_is_written_as_python_writes_it(content: str, control: str) -> None:
    root = ET.fromstring(svg.document(10, 10, control, [svg.text(1, 2, content + control + "\x1b[31m", 3, id=control)]))
    assert (root[2].text or "").endswith("\\x1b[31m")


def test_attributes() -> None:
    (_, _, rect) = read(svg.rect(1, 2.0, 3.5, 4, stroke_width=2, fill=None))
    assert rect.attrib == {"x": "1", "y": "2", "width": "3.5", "height": "4", "stroke-width": "2"}


def test_widths_are_those_of_the_font_that_draws() -> None:
    """In thousandths of the size; no plain character is wider than the bold one it is measured by."""
    plain, bold, _ = (ImageFont.truetype(path, 2000, layout_engine=ImageFont.Layout.BASIC) for path in font_files())
    assert len(svg.WIDTHS) > 190
    for character, width in svg.WIDTHS.items():
        assert bold.getlength(character) / 2 == pytest.approx(width, abs=1)
        assert plain.getlength(character) / 2 <= width + 1


@given(TEXT, st.floats(20, 400))
def test_text_is_made_to_fit(content: str, width: float) -> None:
    short = svg.fit(content, width, 16)
    assert svg.text_width(short, 16) <= width
    assert short == content or short.endswith("…")
    assert content.startswith(short.removesuffix("…"))


def test_of_a_long_text_only_the_part_that_fits_is_read() -> None:
    """A name in a record may be long, and is fitted in every picture of its match."""

    class Counted(str):
        read = 0

        def __iter__(self) -> Iterator[str]:
            for character in str.__iter__(self):
                Counted.read += 1
                yield character

    assert svg.fit(Counted("x" * 10_000), 100, 16).endswith("x…")
    assert 0 < Counted.read < 20


@given(st.integers(1, 30), st.floats(60, 900), st.floats(10, 60), st.floats(0, 10))
def test_rows_stay_within_their_width(count: int, width: float, item: float, gap: float) -> None:
    begin, step = svg.spread(count, width, item, gap)
    assert begin >= -1e-6
    assert begin + step * (count - 1) + item <= width + 1e-6
    assert step <= item + gap
    assert svg.spread(0, width, item, gap) == (0, 0)


def test_artwork_is_what_its_file_holds(tmp_path: Path) -> None:
    """Without comments and white space, and free of the group that a layer is."""
    file = tmp_path / "sun.svg"
    file.write_text(
        """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
          <!-- a sun, behind a cloud -->
          <circle cx="4.50" cy="4" r="3" fill="#fff" stroke-width="2"/>
          <g id="cloud" opacity="0.5">
            <path d="M0 0L1 1Z"/>
          </g>
        </svg>""",
        encoding="utf-8",
    )
    circle, cloud = '<circle cx="4.50" cy="4" r="3" fill="#fff" stroke-width="2"/>', '<path d="M0 0L1 1Z"/>'
    assert svg.artwork(file) == f'{circle}<g id="cloud" opacity="0.5">{cloud}</g>'
    assert svg.artwork(file, "cloud") == cloud


@pytest.mark.parametrize("file", ARTWORK, ids=lambda file: f"{file.parents[2].name}-{file.stem}")
def test_an_artwork_file_draws_within_its_view_box(file: Path) -> None:
    """A browser that shows the file alone cuts off what lies outside."""
    left, top, width, height = map(float, ET.parse(file).getroot().attrib["viewBox"].split())
    w, h, scale = int(width), int(height), min(4, 640 / width)
    ground = svg.rect(0, 0, 3 * w, 3 * h, fill="#00ff00")
    page = svg.document(3 * w, 3 * h, "t", [ground, svg.at(w - left, h - top, [svg.artwork(file)])])
    rows, columns = (pixels(page, scale) != (0, 255, 0)).any(axis=-1).nonzero()
    assert scale * h <= rows.min() < rows.max() < 2 * scale * h
    assert scale * w <= columns.min() < columns.max() < 2 * scale * w


@pytest.mark.parametrize("below", [True, False])
def test_a_bubble_keeps_its_width(below: bool) -> None:
    (box,) = boxes(svg.document(500, 100, "t", [svg.bubble(10, 20, "long " * 30, tail=20, below=below, width=200)]))
    assert box.left >= 10
    assert box.right <= 210
    assert box.content.endswith("…")


def test_seats_can_be_told_apart() -> None:
    assert len(set(svg.SEAT_COLOURS)) == 8
    assert [boxes(svg.document(9, 9, "t", [svg.badge(5, 5, seat)]))[1].content for seat in range(8)] == list("01234567")
