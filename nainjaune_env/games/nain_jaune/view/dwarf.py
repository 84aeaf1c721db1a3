"""The yellow dwarf himself: in the middle of the board, and on his card."""

from __future__ import annotations

import functools

from nainjaune_env.render.svg import at, circle, ellipse, path, rect, smooth

YELLOW, SHADE, LIGHT = "#f6c21c", "#d99a0b", "#ffdf70"
SKIN, BLUSH = "#f3c6a0", "#e58f76"
BEARD, BEARD_SHADE = "#fbf8f0", "#d9d3c4"
LEATHER, BOOT, INK = "#7a4a21", "#4a2c17", "#3a2412"

HEIGHT = 180
"""His height from the boots (at 0, upward is negative) to the tip of the hat."""


def dwarf(*held: str) -> list[str]:
    """He stands on the origin. ``held`` is drawn in his raised hand, around (-47, -98)."""
    return [*_behind(), *held, *_before()]


@functools.cache
def _behind() -> tuple[str, ...]:
    """Returns what is behind the thing that he holds."""
    return (
        ellipse(0, 0, 46, 7, fill="#000000", opacity=0.18),
        *_legs(),
        _arm([(22, -84), (36, -80), (46, -64), (41, -52), (33, -54), (34, -63), (24, -68)]),
        circle(38, -50, 7.5, fill=SKIN, stroke=INK, stroke_width=1.2),
        *_tunic(),
    )


@functools.cache
def _before() -> tuple[str, ...]:
    """Returns what is before the thing that he holds."""
    return (
        _arm([(-20, -86), (-31, -90), (-41, -103), (-50, -98), (-44, -84), (-33, -71), (-22, -68)]),
        circle(-46, -101, 7.5, fill=SKIN, stroke=INK, stroke_width=1.2),
        *_head(),
        *_hat(),
    )


def emblem(x: float, y: float, height: float) -> str:
    """A small dwarf with empty hands, his boots at ``x``, ``y``."""
    return at(x, y, dwarf(), scale=height / HEIGHT)


def _arm(points: list[tuple[float, float]]) -> str:
    return path(smooth(points), fill=YELLOW, stroke=INK, stroke_width=1.4)


def _legs() -> list[str]:
    boots = [
        smooth([(s * 4, -3), (s * 6, -17), (s * 20, -17), (s * 22, -9), (s * 34, -7), (s * 36, -1), (s * 18, 0)]) for s in (-1, 1)
    ]
    legs = [rect(x, -34, 14, 22, fill="#8c5a2b", stroke=INK, stroke_width=1.2) for x in (-20, 6)]
    return [*legs, *(path(boot, fill=BOOT, stroke=INK, stroke_width=1.2) for boot in boots)]


def _tunic() -> list[str]:
    outline = [
        (-16, -92), (16, -92), (27, -76), (30, -48), (37, -27), (18, -23), (0, -26), (-18, -23), (-37, -27), (-30, -48),
        (-27, -76),
    ]  # fmt: skip
    fold = [(14, -52), (20, -40), (22, -26), (34, -28), (28, -48)]
    return [
        path(smooth(outline), fill=YELLOW, stroke=INK, stroke_width=1.6),
        path(smooth(fold), fill=SHADE, opacity=0.6),
        path("M-31 -50Q0 -40 31 -50L32 -41Q0 -31 -32 -41Z", fill=LEATHER, stroke=INK, stroke_width=1.2),
        rect(-8, -46, 16, 12, rx=2.5, fill="none", stroke="#f4e3a1", stroke_width=3),
    ]


def _head() -> list[str]:
    beard = [
        (-23, -112), (-25, -96), (-20, -80), (-17, -66), (-8, -60), (-1, -49), (6, -59), (16, -65), (21, -80), (25, -96),
        (23, -112), (0, -104),
    ]  # fmt: skip
    locks = ["M-9 -84Q-8 -70 -3 -60", "M9 -84Q9 -70 4 -61", "M-17 -92Q-16 -80 -12 -71", "M17 -92Q16 -80 12 -72"]
    moustache = "M0 -96C-6 -103 -18 -101 -22 -91C-15 -87 -5 -88 0 -93C5 -88 15 -87 22 -91C18 -101 6 -103 0 -96Z"
    return [
        ellipse(-23, -112, 5, 7, fill=SKIN, stroke=INK, stroke_width=1.2),
        ellipse(23, -112, 5, 7, fill=SKIN, stroke=INK, stroke_width=1.2),
        ellipse(0, -112, 22, 22, fill=SKIN, stroke=INK, stroke_width=1.2),
        path(smooth(beard), fill=BEARD, stroke=INK, stroke_width=1.3),
        *(path(lock, fill="none", stroke=BEARD_SHADE, stroke_width=2, stroke_linecap="round") for lock in locks),
        ellipse(0, -88, 5, 3.4, fill="#9c3f34"),
        path(moustache, fill="#ffffff", stroke=INK, stroke_width=1.1),
        circle(-14, -105, 4, fill=BLUSH, opacity=0.55),
        circle(14, -105, 4, fill=BLUSH, opacity=0.55),
        *(ellipse(x, -114, 2.5, 3.4, fill=INK) for x in (-8, 8)),
        *(circle(x + 0.9, -115.2, 0.9, fill="#ffffff") for x in (-8, 8)),
        ellipse(0, -105, 6.4, 5.6, fill="#eaa384", stroke=INK, stroke_width=1.1),
        ellipse(-1.6, -107, 1.8, 1.3, fill="#ffffff", opacity=0.7),
        path(
            "M-14 -121Q-9 -124 -4 -120M14 -121Q9 -124 4 -120", fill="none", stroke=BEARD, stroke_width=3.2, stroke_linecap="round"
        ),
    ]


def _hat() -> list[str]:
    cone = [
        (-25, -123), (-18, -146), (-4, -169), (14, -178), (33, -166), (30, -160), (19, -163), (15, -152), (21, -138),
        (25, -123), (0, -129),
    ]  # fmt: skip
    return [
        path(smooth(cone), fill=YELLOW, stroke=INK, stroke_width=1.6),
        path("M8 -131Q12 -150 6 -168", fill="none", stroke=SHADE, stroke_width=3, stroke_linecap="round", opacity=0.7),
        path("M-13 -134Q-10 -148 -2 -158", fill="none", stroke=LIGHT, stroke_width=3.5, stroke_linecap="round"),
        path("M-27 -122Q0 -136 27 -122L26 -129Q0 -142 -26 -129Z", fill=LEATHER, stroke=INK, stroke_width=1.2),
        circle(33, -161, 5.5, fill="#fff6d8", stroke=INK, stroke_width=1.2),
    ]
