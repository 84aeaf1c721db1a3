"""The twelve dinosaurs as SVG. Each stands at y = 60 in a space 100 wide, and looks to the left."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nainjaune_env.render.svg import Point, circle, ellipse, group, path, polygon, smooth

INK = "#2c2a26"


@dataclass(frozen=True)
class Coat:
    """The colours of one dinosaur."""

    skin: str
    shade: str
    """Of the legs on the far side, and of folds."""
    trim: str
    """Of plates, sails, frills and stripes."""


COATS = (
    Coat("#9bbf4b", "#6f9232", "#e0a33a"),  # Compsognathus
    Coat("#d08a4e", "#a3642f", "#6d4b8c"),  # Kentrosaurus
    Coat("#8fa3c8", "#6a7fa8", "#d96c4f"),  # Pteranodon
    Coat("#a58a5f", "#7d653f", "#e8d9b0"),  # Ankylosaurus
    Coat("#6fae6a", "#4a8449", "#d9663f"),  # Stegosaurus
    Coat("#c9713f", "#994e26", "#e9b44c"),  # Dimetrodon
    Coat("#7f9fa8", "#587983", "#e6d2a2"),  # Triceratops
    Coat("#c8a24a", "#987527", "#7a3e2b"),  # Velociraptor
    Coat("#b3807a", "#8a5852", "#e2c290"),  # Styracosaurus
    Coat("#5f9c8f", "#3d756a", "#d8573f"),  # Spinosaurus
    Coat("#8c9bb0", "#66768d", "#c3cedd"),  # Diplodocus
    Coat("#7d8f45", "#58682a", "#b5462f"),  # T. rex
)
"""By value, from 1."""


@functools.cache
def dinosaur(value: int) -> str:
    """Returns the dinosaur with this ``value``, 1 to 12."""
    return group(_DRAWN[value - 1](COATS[value - 1]), stroke_linejoin="round", stroke_linecap="round")


def _skin(points: Sequence[Point], colour: str) -> str:
    return path(smooth(points), fill=colour, stroke=INK, stroke_width=1.4)


def _leg(x: float, top: float, width: float, colour: str) -> str:
    """Returns a leg as a column from ``top``, where it joins the body, to the ground; its toes point to the left."""
    half = width / 2
    side = f"M{x - half} {top}L{x - half} 57Q{x - half - 3} 60 {x - half - 1} 60H{x + half}V{top}"
    hip = f"Q{x + half} {top - half} {x} {top - half}Q{x - half} {top - half} {x - half} {top}Z"
    return path(side + hip, fill=colour) + path(side, fill="none", stroke=INK, stroke_width=1.3)


def _hind_leg(x: float, hip: float, size: float, colour: str) -> str:
    """Returns the leg of a dinosaur that walks on two: thigh, shin, and a long foot."""
    s = size
    thigh = [
        (x - 6 * s, hip),
        (x + 6 * s, hip - 1),
        (x + 7 * s, hip + 9 * s),
        (x + 2 * s, hip + 15 * s),
        (x - 6 * s, hip + 11 * s),
    ]
    knee_y = hip + 11 * s
    d = (
        f"M{x - 2 * s} {knee_y}L{x + 5 * s} {knee_y + 1}L{x + 4 * s} {(knee_y + 60) / 2 + 2}L{x + 1.5 * s} 57.5L{x + 1.5 * s} 60"
        f"H{x - 8 * s}Q{x - 8 * s} 57.5 {x - 4 * s} 57L{x - 1 * s} {(knee_y + 60) / 2 + 3}Z"
    )
    return path(d, fill=colour, stroke=INK, stroke_width=1.3) + _skin(thigh, colour)


def _eye(x: float, y: float, size: float = 1.5) -> str:
    return circle(x, y, size, fill="#fffdf4", stroke=INK, stroke_width=0.6) + circle(x - size * 0.25, y, size * 0.55, fill=INK)


def _line(d: str, width: float = 1.1) -> str:
    return path(d, fill="none", stroke=INK, stroke_width=width)


def _spikes(places: Sequence[tuple[float, float, float, float]], colour: str, half: float) -> str:
    """Returns a spike for each of ``places`` ``(x, y, dx, dy)``: from ``(x, y)`` to ``(x + dx, y + dy)``, ``2 * half`` wide."""
    d = "".join(polygon([(x - half, y + 1.5), (x + dx, y + dy), (x + half, y + 1.5)]) for x, y, dx, dy in places)
    return path(d, fill=colour, stroke=INK, stroke_width=1.1)


def _teeth(x: float, y: float, count: int, step: float) -> str:
    d = "".join(f"M{x + k * step} {y}l{step / 2} 2.4l{step / 2} -2.4Z" for k in range(count))
    return path(d, fill="#fffdf4", stroke=INK, stroke_width=0.5)


def _compsognathus(c: Coat) -> list[str]:
    body = [
        (20, 27), (27, 22), (33, 25), (36, 31), (44, 33), (56, 33), (72, 29), (94, 21), (72, 36), (58, 42), (46, 44),
        (37, 41), (31, 34), (26, 31), (19, 31),
    ]  # fmt: skip
    return [
        _hind_leg(54, 38, 0.72, c.shade),
        _skin(body, c.skin),
        _hind_leg(48, 38, 0.72, c.skin),
        _line("M38 40L33 45L29 44", 2),
        path("M48 33l3 4M56 33l3 4M64 32l2 4", stroke=c.trim, stroke_width=2.2),
        _line("M19 30Q23 30 26 29"),
        _eye(25.5, 26),
    ]


def _kentrosaurus(c: Coat) -> list[str]:
    body = [
        (8, 45), (13, 40), (20, 41), (28, 36), (40, 29), (54, 28), (66, 34), (78, 42), (95, 47), (78, 48), (66, 49),
        (48, 51), (32, 49), (21, 47), (12, 48),
    ]  # fmt: skip
    plates = [(27, 36, -1, -9), (34, 32, -1, -11), (41, 29, 0, -12)]
    spikes = [(49, 28.5, 2, -15), (57, 29, 4, -16), (65, 33, 6, -15), (73, 38, 7, -13), (81, 43, 8, -11), (88, 45.5, 8, -8)]
    return [
        _leg(37, 44, 6, c.shade),
        _leg(63, 44, 7, c.shade),
        _spikes(plates, c.trim, 3.6),
        _spikes(spikes, c.trim, 2.1),
        _skin(body, c.skin),
        _leg(31, 44, 6.5, c.skin),
        _leg(57, 43, 8, c.skin),
        _spikes([(33, 42, 5, -6)], c.trim, 1.8),
        _line("M8 45.5Q12 46 15 45"),
        _eye(14.5, 43, 1.2),
    ]


def _pteranodon(c: Coat) -> list[str]:
    far = "M44 33Q52 12 80 4Q72 18 74 25Q64 25 60 36Z"
    near = "M38 34Q20 14 2 16Q12 24 14 33Q21 32 25 40Q33 39 40 44Q46 44 50 40Z"
    return [
        path(far, fill=c.shade, stroke=INK, stroke_width=1.3),
        _line("M44 33Q56 20 80 4"),
        path("M52 43l12 9M48 44l10 11", stroke=c.shade, stroke_width=2.6),
        _skin([(36, 36), (44, 33), (54, 36), (60, 42), (52, 45), (42, 43)], c.skin),
        path(near, fill=c.skin, stroke=INK, stroke_width=1.3),
        _line("M14 33Q26 28 38 34M25 40Q31 34 40 35", 0.9),
        path("M30 34Q36 25 43 25L66 20L47 31L43 35Z", fill=c.trim, stroke=INK, stroke_width=1.2),
        path("M43 26Q36 27 33 31L12 44L34 39Q40 39 44 34Z", fill=c.skin, stroke=INK, stroke_width=1.3),
        path("M33 31L12 44L34 37Z", fill="#e9c46a", stroke=INK, stroke_width=1.1),
        _eye(38, 31, 1.5),
    ]


def _ankylosaurus(c: Coat) -> list[str]:
    body = [
        (10, 47), (13, 40), (20, 38), (29, 35), (45, 29), (60, 31), (72, 39), (84, 44), (72, 50), (55, 53), (34, 53),
        (21, 51), (13, 51),
    ]  # fmt: skip
    knobs = [(x, y) for y, xs in ((36, (36, 45, 54, 62)), (42, (31, 40, 49, 58, 67))) for x in xs]
    return [
        _leg(37, 46, 7, c.shade),
        _leg(62, 46, 7, c.shade),
        _skin(body, c.skin),
        path(smooth([(24, 41), (34, 33), (46, 28), (60, 30), (73, 40), (60, 46), (40, 47), (28, 46)]), fill=c.shade),
        ellipse(90, 43, 7.5, 6.5, fill=c.trim, stroke=INK, stroke_width=1.4),
        _spikes([(29, 37, -2, -6), (37, 32, -1, -7), (46, 29, 0, -7), (55, 30, 1, -7), (64, 34, 3, -6)], c.trim, 2.6),
        *(ellipse(x, y, 2.6, 1.9, fill=c.trim, stroke=INK, stroke_width=0.8) for x, y in knobs),
        _leg(30, 47, 8, c.skin),
        _leg(55, 47, 8, c.skin),
        _spikes([(20, 39, 4, -6)], c.trim, 2.2),
        _line("M10.5 47.5Q14 48.5 17 47"),
        _eye(16, 44, 1.3),
    ]


def _stegosaurus(c: Coat) -> list[str]:
    body = [
        (7, 49), (11, 45), (18, 46), (26, 40), (38, 30), (52, 27), (64, 33), (77, 43), (96, 48), (78, 49), (66, 50),
        (48, 52), (32, 51), (20, 50), (11, 52),
    ]  # fmt: skip
    plates = [(25, 41, 0.6), (32, 35, 0.8), (40, 30, 1.0), (50, 28, 1.15), (60, 31, 1.0), (68, 37, 0.8), (76, 43, 0.6)]
    plate = ((-5, 2), (-4, -8), (1, -15), (5, -7), (4, 2))
    drawn = "".join(polygon([(x + dx * s, y + (dy * s if dy < 0 else dy)) for dx, dy in plate]) for x, y, s in plates)
    return [
        _leg(38, 45, 6, c.shade),
        _leg(63, 43, 8, c.shade),
        path(drawn, fill=c.trim, stroke=INK, stroke_width=1.2),
        _spikes([(86, 46, 5, -9), (91, 47, 7, -7)], "#fffdf4", 1.8),
        _skin(body, c.skin),
        _leg(31, 46, 6.5, c.skin),
        _leg(56, 43, 9, c.skin),
        _line("M7.5 49.5Q11 50.5 14 49"),
        _eye(13, 47.3, 1.2),
    ]


def _dimetrodon(c: Coat) -> list[str]:
    body = [
        (5, 47), (9, 41), (18, 40), (27, 43), (40, 43), (56, 43), (68, 45), (82, 49), (96, 56), (80, 55), (64, 54), (42, 55),
        (26, 53), (15, 51), (7, 51),
    ]  # fmt: skip
    rays = "".join(
        f"M{x} 44L{x + (x - 45) * 0.1:.1f} {y}" for x, y in ((31, 29), (37, 19), (43, 14), (49, 12), (55, 15), (60, 23))
    )
    return [
        path("M24 44Q28 20 44 9Q60 6 68 46Z", fill=c.trim, stroke=INK, stroke_width=1.3),
        path(rays, fill="none", stroke=c.shade, stroke_width=1.6),
        _leg(34, 49, 6, c.shade),
        _leg(60, 49, 6, c.shade),
        _skin(body, c.skin),
        _leg(29, 50, 6.5, c.skin),
        _leg(56, 50, 6.5, c.skin),
        _line("M5.5 48Q11 48.5 18 47"),
        _teeth(7, 48, 4, 2.5),
        _eye(15, 43.5, 1.4),
    ]


def _triceratops(c: Coat) -> list[str]:
    body = [(30, 38), (40, 30), (55, 28), (70, 33), (82, 42), (95, 51), (80, 50), (68, 53), (48, 54), (34, 52), (27, 46)]
    return [
        _leg(44, 47, 8, c.shade),
        _leg(70, 46, 8, c.shade),
        _skin(body, c.skin),
        _leg(37, 48, 9, c.skin),
        _leg(63, 47, 10, c.skin),
        _skin([(26, 20), (35, 19), (42, 25), (43, 36), (38, 46), (30, 48), (27, 36)], c.trim),
        path("M36 22l3.5 2.5M40.5 29l3 1M41 36l3 0M38.5 42l3 2", stroke=c.shade, stroke_width=2.4),
        path("M24 30L8 17L27 36Z", fill="#fffdf4", stroke=INK, stroke_width=1.2),
        _skin([(6, 46), (11, 39), (18, 34), (26, 31), (33, 36), (33, 45), (26, 50), (16, 50), (9, 51)], c.skin),
        path("M28 31L14 14L23 33Z", fill="#fffdf4", stroke=INK, stroke_width=1.2),
        path("M12 38L9 30L17 35Z", fill="#fffdf4", stroke=INK, stroke_width=1.1),
        _line("M8 48Q14 47 20 47"),
        _eye(22, 38.5, 1.6),
    ]


def _velociraptor(c: Coat) -> list[str]:
    body = [
        (10, 22), (18, 16), (26, 18), (31, 25), (38, 30), (50, 29), (64, 26), (96, 15), (68, 33), (56, 40), (44, 43),
        (36, 39), (30, 31), (22, 26), (11, 26),
    ]  # fmt: skip
    return [
        _hind_leg(58, 33, 0.95, c.shade),
        path("M34 36l-5 8l-6 -1M40 39l-5 8l-6 0", fill="none", stroke=c.shade, stroke_width=3),
        _skin(body, c.skin),
        path("M27 17q4 -5 8 -4q-2 4 -2 8q4 -3 7 -1q-3 2 -3 6Z", fill=c.trim, stroke=INK, stroke_width=1),
        path("M44 30l3 6M52 29l3 7M60 27.5l3 6M69 25l2 5M78 22l2 4", stroke=c.trim, stroke_width=2.4),
        _hind_leg(49, 33, 0.95, c.skin),
        path("M42 60q-2 -5 2 -6q1 3 0 6Z", fill="#fffdf4", stroke=INK, stroke_width=0.9),
        _line("M10.5 24.5Q16 25 21 22"),
        _teeth(12, 24.4, 3, 2.2),
        _eye(19, 20, 1.7),
    ]


def _styracosaurus(c: Coat) -> list[str]:
    body = [(32, 38), (42, 31), (56, 30), (70, 35), (82, 43), (94, 52), (80, 51), (68, 54), (48, 55), (36, 53), (29, 47)]
    frill = [(28, 26, -6, -17), (33, 24, 0, -19), (38, 25, 6, -18), (42, 29, 11, -14), (44, 35, 13, -8)]
    return [
        _leg(46, 48, 8, c.shade),
        _leg(70, 47, 8, c.shade),
        _skin(body, c.skin),
        _leg(38, 49, 9, c.skin),
        _leg(63, 48, 10, c.skin),
        _spikes(frill, "#fffdf4", 3),
        _skin([(26, 26), (34, 22), (43, 27), (45, 37), (40, 46), (32, 49), (28, 38)], c.trim),
        _skin([(7, 47), (12, 40), (19, 36), (27, 33), (34, 38), (34, 46), (27, 51), (17, 51), (10, 52)], c.skin),
        path("M11 41L8 20L19 36Z", fill="#fffdf4", stroke=INK, stroke_width=1.2),
        _line("M9 49Q15 48 21 48"),
        _eye(23, 40, 1.6),
    ]


def _spinosaurus(c: Coat) -> list[str]:
    body = [
        (4, 27), (14, 22), (24, 20), (30, 25), (38, 31), (50, 32), (64, 31), (78, 32), (97, 24), (82, 40), (66, 45),
        (52, 47), (40, 45), (32, 37), (25, 29), (14, 29), (4, 31),
    ]  # fmt: skip
    rays = "".join(f"M{x} 33L{x + (x - 50) * 0.12:.1f} {y}" for x, y in ((40, 15), (46, 9), (52, 6), (58, 8), (64, 15)))
    return [
        _hind_leg(66, 37, 0.95, c.shade),
        path("M34 33Q36 10 52 4Q68 6 75 33Z", fill=c.trim, stroke=INK, stroke_width=1.3),
        path(rays, fill="none", stroke=c.shade, stroke_width=1.5),
        path("M40 42l-5 8l-6 0M45 44l-4 9l-6 1", fill="none", stroke=c.shade, stroke_width=3),
        _skin(body, c.skin),
        _hind_leg(58, 37, 0.95, c.skin),
        _line("M4.5 29.5Q13 28.5 22 25.5"),
        _teeth(6, 29.3, 5, 2.5),
        _eye(23, 23.5, 1.5),
    ]


def _diplodocus(c: Coat) -> list[str]:
    body = [
        (4, 8), (9, 4), (15, 6), (19, 14), (25, 26), (33, 34), (46, 31), (60, 32), (72, 39), (84, 42), (98, 36), (86, 47),
        (72, 48), (58, 51), (42, 51), (31, 47), (21, 35), (14, 20), (10, 12), (5, 12),
    ]  # fmt: skip
    return [
        _leg(41, 45, 7, c.shade),
        _leg(66, 44, 7, c.shade),
        _skin(body, c.skin),
        path(
            "M36 36q4 2 8 0M48 34q4 2 8 0M60 36q4 3 8 2M40 42q4 2 8 0M52 41q4 2 8 0", fill="none", stroke=c.trim, stroke_width=1.8
        ),
        _leg(34, 45, 8, c.skin),
        _leg(59, 45, 9, c.skin),
        _line("M4.5 10.5Q7 11 9 10"),
        _eye(9.5, 7, 1.3),
    ]


def _t_rex(c: Coat) -> list[str]:
    body = [(28, 26), (36, 25), (44, 28), (56, 30), (70, 34), (97, 30), (76, 44), (62, 47), (48, 47), (37, 43), (30, 35)]
    head = [(3, 18), (7, 9), (18, 5), (30, 7), (37, 14), (38, 25), (33, 31), (27, 27), (24, 22), (15, 21), (5, 21)]
    return [
        _hind_leg(64, 36, 1.08, c.shade),
        path("M9 27Q20 30 30 27L28 21L9 23Z", fill="#8f2d24", stroke=INK, stroke_width=1.1),
        _skin([(8, 26), (16, 27), (26, 25), (32, 24), (32, 32), (24, 32), (12, 31)], c.skin),
        _skin(body, c.skin),
        _skin(head, c.skin),
        _teeth(5, 20.8, 6, 3.2),
        path("M44 29l3 6M54 30.5l3 6M64 33l3 5M75 34l2 4", stroke=c.trim, stroke_width=2.6),
        path("M38 40l-6 4l-1 4M38 40l-5 5", fill="none", stroke=INK, stroke_width=4),
        path("M38 40l-6 4l-1 4", fill="none", stroke=c.skin, stroke_width=2.2),
        _hind_leg(54, 36, 1.12, c.skin),
        _line("M16 9.5Q20 7.5 24 9.5", 1.6),
        _eye(20, 12, 1.9),
        circle(6.5, 13.5, 0.8, fill=INK),
    ]


_DRAWN: tuple[Callable[[Coat], list[str]], ...] = (
    _compsognathus,
    _kentrosaurus,
    _pteranodon,
    _ankylosaurus,
    _stegosaurus,
    _dimetrodon,
    _triceratops,
    _velociraptor,
    _styracosaurus,
    _spinosaurus,
    _diplodocus,
    _t_rex,
)
