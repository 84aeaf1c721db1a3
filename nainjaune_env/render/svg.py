"""SVG as plain strings: elements, artwork from files, text cut to a width, speech bubbles. Games draw their pictures with it.

The same calls return the same bytes on every machine. Characters are as wide as in DejaVu Sans Bold, the font of
``nainjaune_env.render``; browsers without it use Verdana, which has the same widths.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

Number = int | float
Style = str | Number | None

SANS = "DejaVu Sans, Verdana, sans-serif"
SERIF = "DejaVu Serif, Georgia, serif"

SEAT_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a63d2")
"""Colour of each seat: the palette of Okabe and Ito, which colour-blind people can distinguish, and a violet for the eighth."""
_DARK_SEATS = (0, 2, 5, 7)
"""Seats whose colours need white text; the others have black."""
GOLD = "#e3a90c"
INK, PALE, GLOW = "#1d2430", "#fdf8e8", "#ffd54a"
"""Dark text, light text, and what the seat to act is marked with."""
NAME_WIDTH = 260
"""The longest name in a sentence, at font size 18."""

# fmt: off
_ADVANCES = {
    32: (348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696, 696, 696, 696, 696,
         696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372, 775, 637, 995, 837, 850,
         733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716,
         712, 343, 343, 665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838),
    160: (348, 456, 696, 696, 636, 696, 365, 500, 500, 1000, 564, 646, 838, 415, 1000, 500, 500, 838, 438, 438, 500, 736, 636,
          380, 500, 438, 564, 646, 1035, 1035, 1035, 580, 774, 774, 774, 774, 774, 774, 1085, 734, 683, 683, 683, 683, 372, 372,
          372, 372, 838, 837, 850, 850, 850, 850, 850, 838, 850, 812, 812, 812, 812, 724, 738, 719, 675, 675, 675, 675, 675, 675,
          1048, 593, 678, 678, 678, 678, 343, 343, 343, 343, 687, 712, 687, 687, 687, 687, 687, 838, 687, 712, 712, 712, 712, 652,
          716, 652),
    ord("–"): (500, 1000), ord("‘"): (380, 380), ord("“"): (657, 657), ord("−"): (838,), 0x202F: (200,),
}
# fmt: on
WIDTHS = {chr(first + k): width for first, widths in _ADVANCES.items() for k, width in enumerate(widths)}
"""Width of each bold character in thousandths of the font size; other characters count as 1000. Plain ones are no wider."""

_ELLIPSIS_WIDTH = WIDTHS.get("…", 1000)

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def number(value: Number) -> str:
    """Returns a number with at most two decimals: ``3``, ``0.25``, never ``-0``."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def allowed(content: str) -> str:
    r"""Returns ``content`` with every character that XML forbids as Python writes it, such as ``\x1b``."""
    return _FORBIDDEN.sub(lambda match: repr(match[0])[1:-1], content)


def element(name: str, attributes: dict[str, Style], *children: str) -> str:
    """Returns ``<name key="value">children</name>``. ``stroke_width`` becomes ``stroke-width``; None is left out."""
    given = [(key.replace("_", "-"), value) for key, value in attributes.items() if value is not None]
    written = "".join(
        [f" {key}={_quoted(value)}" if isinstance(value, str) else f' {key}="{number(value)}"' for key, value in given]
    )
    inside = "".join(children)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


@functools.lru_cache(maxsize=1 << 14)  # a picture has some hundred attributes, and most are as in the last one
def _quoted(value: str) -> str:
    return quoteattr(allowed(value))


@functools.cache
def artwork(file: Path, layer: str | None = None) -> str:
    """Returns the elements of an SVG file, for use in a picture; with ``layer`` only those in the group with this id.

    A file stands alone too: its root has a viewBox. Its comments and white space are left out.
    """
    root = ElementTree.parse(file).getroot()
    layers = {child.get("id"): child for child in root}
    return "".join(map(_copied, root if layer is None else layers[layer]))


def _copied(node: ElementTree.Element) -> str:
    _, _, name = node.tag.rpartition("}")  # without the namespace
    return element(name, {**node.attrib}, *map(_copied, node))


def document(width: int, height: int, title: str, children: Iterable[str], definitions: Iterable[str] = ()) -> str:
    """Returns a complete document; ``title`` is its text alternative."""
    frame: dict[str, Style] = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {height}"}
    parts = [f"<title>{escape(allowed(title))}</title>", element("defs", {}, *definitions), *children]
    return element("svg", {**frame, "width": width, "height": height, "role": "img"}, *parts) + "\n"


def rect(x: Number, y: Number, width: Number, height: Number, *, rx: Number = 0, **style: Style) -> str:
    """Returns a rectangle with its upper left corner at ``x``, ``y``."""
    return element("rect", {"x": x, "y": y, "width": width, "height": height, "rx": rx or None, **style})


def circle(x: Number, y: Number, radius: Number, **style: Style) -> str:
    """Returns a circle around ``x``, ``y``."""
    return element("circle", {"cx": x, "cy": y, "r": radius, **style})


def path(d: str, **style: Style) -> str:
    """Returns a path with the SVG commands ``d``."""
    return element("path", {"d": d, **style})


def group(children: Iterable[str], **style: Style) -> str:
    """Returns a group of elements that share a style."""
    return element("g", style, *children)


def at(x: Number, y: Number, children: Iterable[str], *, scale: Number = 1, turn: Number = 0, **style: Style) -> str:
    """Returns elements with their origin at ``x``, ``y``, scaled by ``scale`` and rotated clockwise by ``turn`` degrees."""
    steps = [f"translate({number(x)} {number(y)})"]
    steps += [f"rotate({number(turn)})"] if turn else []
    steps += [f"scale({scale:.4g})"] if scale != 1 else []
    return group(children, transform=" ".join(steps), **style)


def use(name: str) -> str:
    """Returns a reference to the definition with the id ``name``."""
    return element("use", {"href": f"#{name}"})


def text_width(text: str, size: Number) -> float:
    """Returns the width of ``text`` in bold, an upper bound where it is plain."""
    return sum(WIDTHS.get(character, 1000) for character in text) * size / 1000


def fit(text: str, width: Number, size: Number) -> str:
    """Returns ``text``, cut short with a ``…`` if it is wider than ``width``; reads no more of it than fits."""
    total, end = 0, 0
    for k, character in enumerate(text):
        total += WIDTHS.get(character, 1000)
        if total * size / 1000 > width:
            return text[:end].rstrip() + "…"
        if not character.isspace() and (total + _ELLIPSIS_WIDTH) * size / 1000 <= width:
            end = k + 1
    return text


def short_names(names: Sequence[str] | None) -> list[str] | None:
    """Returns ``names`` for a sentence in a picture: long ones are cut short."""
    return None if names is None else [fit(name, NAME_WIDTH, 18) for name in names]


def text(x: Number, y: Number, content: str, size: Number, *, anchor: str = "start", bold: bool = False, **style: Style) -> str:
    """Returns a line of text whose baseline has its start, ``middle`` or ``end`` (``anchor``) at ``x``, ``y``."""
    face = {"font_family": SANS, "font_size": size, "font_weight": "bold" if bold else None}
    place = {"x": x, "y": y, "text_anchor": anchor if anchor != "start" else None}
    return element("text", {**place, **face, **style}, escape(allowed(content)))


def badge(x: Number, y: Number, seat: int, radius: Number = 13) -> str:
    """Returns a disc around ``x``, ``y`` with the seat's number and colour."""
    ink = "#ffffff" if seat in _DARK_SEATS else "#111111"
    disc = circle(x, y, radius, fill=SEAT_COLOURS[seat], stroke="#ffffff", stroke_width=radius / 8)
    return disc + text(x, y + radius * 0.42, str(seat), radius * 1.15, anchor="middle", bold=True, fill=ink)


def crown(x: Number, y: Number, scale: Number) -> str:
    """Returns a golden crown around ``x``, ``y``, about 28 wide at scale 1."""
    outline = "M-12 8L-14 -7L-6.5 0L0 -10L6.5 0L14 -7L12 8Z"
    return at(x, y, [path(outline, fill=GOLD, stroke="#7d5a00", stroke_width=1.2, stroke_linejoin="round")], scale=scale)


def plate(x: Number, y: Number, width: Number, height: Number, *, fill: str, edge: str, turn: bool = False) -> str:
    """Returns the ground of a panel; with ``turn``, that of the seat to act, it has a bright edge."""
    colour, stroke = (GLOW, 4.0) if turn else (edge, 1.5)
    return rect(x, y, width, height, rx=14, fill=fill, stroke=colour, stroke_width=stroke)


def pill(x: Number, y: Number, content: str, *, width: Number, fill: str, edge: str) -> str:
    """Returns a line of bright text in a rounded box, centred at ``x``, its top at ``y``, no wider than ``width``."""
    size = 18
    shown_text = fit(content, width - 2.4 * size, size)
    wide, high = text_width(shown_text, size) + 2.4 * size, 1.9 * size
    ground = rect(x - wide / 2, y, wide, high, rx=high / 2, fill=fill, stroke=edge, stroke_width=1.5)
    return ground + text(x, y + 1.32 * size, shown_text, size, anchor="middle", bold=True, fill=GLOW)


BUBBLE_SIZE, BUBBLE_HEIGHT = 16, 34


def bubble(x: Number, y: Number, content: str, *, tail: Number, below: bool, width: Number) -> str:
    """Returns a speech bubble at most ``width`` wide with its upper left corner at ``x``, ``y``.

    Its tail at ``x + tail`` points down with ``below``, else up.
    """
    shown_text = fit(content, width - 28, BUBBLE_SIZE)
    wide = text_width(shown_text, BUBBLE_SIZE) + 28
    r, h = 15, BUBBLE_HEIGHT
    top = f"H{number(wide - r)}q{r} 0 {r} {r}v{h - 2 * r}q0 {r} {-r} {r}"
    under = f"H{number(tail + 14)}l-12 11l-2 -11" if below else ""
    over = f"H{number(tail)}l2 -11l12 11" if not below else ""
    d = f"M{r} 0{over}{top}{under}H{r}q{-r} 0 {-r} {-r}v{2 * r - h}q0 {-r} {r} {-r}Z"
    shape = path(d, fill="#fffdf4", stroke="#2b2b2b", stroke_width=1.5, stroke_linejoin="round")
    return at(x, y, [shape, text(14, h - 11.5, shown_text, BUBBLE_SIZE, bold=True, fill="#1d2430")])


def spread(count: int, width: Number, item: Number, gap: Number) -> tuple[float, float]:
    """Returns the left edge of the first of ``count`` items centred in a row of ``width``, and the step from one to the next.

    Each is ``item`` wide, with ``gap`` between them; they overlap where they do not fit.
    """
    if count == 0:
        return 0.0, 0.0
    step = min(item + gap, (width - item) / max(count - 1, 1))
    return (width - item - step * (count - 1)) / 2, step
