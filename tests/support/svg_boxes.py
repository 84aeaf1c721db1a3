"""Where the parts of an SVG document come to lie: enough of SVG for what `nainjaune_env.render.svg` writes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nainjaune_env.render.svg import text_width

NAMESPACE = "{http://www.w3.org/2000/svg}"


class Box(NamedTuple):
    """The smallest upright rectangle around a part."""

    kind: str
    """``text``, ``rect``, ``circle`` or ``use``."""
    content: str
    """Of a text what it says, of a use what it uses."""
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box, slack: float = 1.0) -> bool:
        """Whether they overlap by more than ``slack``."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > slack and down > slack


def boxes(svg: str) -> list[Box]:
    """All of them, in the order they are drawn; what is only defined is not drawn."""
    return list(_walk(ET.fromstring(svg), np.eye(3)))


def texts(svg: str) -> list[str]:
    """What is written on the picture."""
    return [box.content for box in boxes(svg) if box.kind == "text"]


def _walk(node: ET.Element, to_page: np.ndarray) -> Iterator[Box]:
    to_page = to_page @ _matrix(node.get("transform", ""))
    kind = node.tag.removeprefix(NAMESPACE)
    if kind == "defs":
        return
    given = {key: float(value) for key, value in node.items() if re.fullmatch(r"-?[\d.]+", value)}
    x, y = given.get("x", 0.0), given.get("y", 0.0)
    if kind == "rect":
        yield _box(kind, "", to_page, x, y, x + given["width"], y + given["height"])
    elif kind == "circle":
        r = given["r"]
        yield _box(kind, "", to_page, given["cx"] - r, given["cy"] - r, given["cx"] + r, given["cy"] + r)
    elif kind == "use":
        yield _box(kind, node.get("href", ""), to_page, x, y, x + 60, y + 84)  # a card
    elif kind == "text":
        size = given["font-size"]
        width = given.get("textLength", text_width(node.text or "", size))
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[node.get("text-anchor", "start")]
        yield _box(kind, node.text or "", to_page, left, y - 0.75 * size, left + width, y)
    for child in node:
        yield from _walk(child, to_page)


def _box(kind: str, content: str, to_page: np.ndarray, left: float, top: float, right: float, bottom: float) -> Box:
    corners = to_page @ np.array([[left, right, left, right], [top, top, bottom, bottom], [1, 1, 1, 1]])
    (x0, y0), (x1, y1) = corners[:2].min(axis=1), corners[:2].max(axis=1)
    return Box(kind, content, float(x0), float(y0), float(x1), float(y1))


def _matrix(transform: str) -> np.ndarray:
    matrix = np.eye(3)
    for name, inside in re.findall(r"(\w+)\(([^)]*)\)", transform):
        values = [float(value) for value in inside.split()]
        step = np.eye(3)
        if name == "translate":
            step[:2, 2] = values
        elif name == "scale":
            step[0, 0], step[1, 1] = values[0], values[-1]
        else:
            assert name == "rotate"
            angle = np.radians(values[0])
            step[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        matrix = matrix @ step
    return matrix
