"""``Renderer``: what an environment over one table holds so as to be seen. It knows no game, and no environment's library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import RulesError, choose_one
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.render.raster import font_files, pixels
from nainjaune_env.render.window import Window

FPS = 2.0
"""Pictures a second in a window."""


MODES = ("human", "ansi", "rgb_array", "svg")
"""A window, text, pixels, SVG."""


def render_modes(game: GameSpec) -> tuple[str, ...]:
    """The modes in which ``game`` can be rendered."""
    able = {"ansi": game.draw is not None}
    return tuple(mode for mode in MODES if able.get(mode, game.pictures is not None))


class Renderer:
    """Draws a table in one mode, from one seat's place or a spectator's.

    ====================  ==================================================================
    mode                  :meth:`render` gives
    ====================  ==================================================================
    ``"ansi"``            text for a terminal
    ``"svg"``             a picture as an SVG document
    ``"rgb_array"``       the same in pixels, ``(height, width, 3) uint8``
    ``"human"``           nothing: a window shows the same
    ====================  ==================================================================
    """

    def __init__(
        self,
        setup: Setup,
        mode: str | None,
        *,
        viewpoint: int | None = None,
        language: str = "en",
        color: bool = False,
        scale: float = 1.0,
        fps: float = FPS,
        names: Sequence[str] | None = None,
    ) -> None:
        """``mode`` None draws nothing. ``viewpoint`` is a seat, or None for a spectator, who sees all.

        ``color`` is for text, ``scale`` for pixels, ``fps`` for the window; ``names``, in seat order, are for pictures. Raises
        :class:`RulesError` for a mode, viewpoint or scale that cannot be, and
        :class:`~nainjaune_env.core.errors.MissingLibraryError` where the mode takes a library that is missing.
        """
        modes = render_modes(setup.game)
        if mode is not None and mode not in modes:
            raise RulesError(choose_one("render mode", mode, modes or ["None, for this game has no picture"]))
        if viewpoint is not None and viewpoint not in range(setup.players):
            raise RulesError(
                f"The viewpoint is a seat from 0 to {setup.players - 1}, or None for a spectator, not {viewpoint!r}."
            )
        if not (0 < scale < math.inf and 0 < fps < math.inf):  # NaN is neither
            raise RulesError(f"The scale and the pictures a second are finite and above 0, not {scale!r} and {fps!r}.")
        self.setup = setup
        self.mode = mode
        self.viewpoint = viewpoint
        self.color = color
        self.scale = scale
        self.language = language
        self.names = names
        self._window = Window(setup.game.title, fps) if mode == "human" else None
        if mode in ("human", "rgb_array"):
            font_files()
        self._shown = ""

    def render(self, table: Any, history: Mapping[str, Any]) -> str | NDArray[np.uint8] | None:
        """The table (one record) in this mode; the class says what that gives.

        ``history`` says how the table came to be: the keywords ``opening``, ``actions``, ``every_ply`` and ``rng`` of
        ``GameSpec.draw``. Raises :class:`RulesError` without a mode, or for a language that is not there.
        """
        self.check_mode()
        if self.mode == "ansi":
            return self.text(table, history, self.viewpoint)
        svg = self.svg(table, history, self.viewpoint)
        if self.mode == "svg":
            return svg
        if self._window is None:
            return pixels(svg, self.scale)
        if svg != self._shown and not self._window.shut:
            self._window.show(pixels(svg, self.scale))
            self._shown = svg
        return None

    def check_mode(self) -> None:
        """Raises :class:`RulesError` where there is no mode to render in."""
        if self.mode is None:
            modes = ", ".join(render_modes(self.setup.game))
            raise RulesError(f"Nothing is rendered without a render_mode; choose from {modes}.")

    def text(self, table: Any, history: Mapping[str, Any], seat: int | None = None) -> str:
        """The table as text as ``seat`` sees it, whatever the mode. Raises :class:`RulesError` where the game has none."""
        if self.setup.game.draw is None:
            raise RulesError(f"The game {self.setup.game.name!r} has no picture.")
        return self.setup.game.draw(self.setup, table, seat, language=self.language, color=self.color, **history)

    def svg(self, table: Any, history: Mapping[str, Any], seat: int | None = None) -> str:
        """The table as SVG as ``seat`` sees it, whatever the mode. Raises :class:`RulesError` where the game has none."""
        if self.setup.game.pictures is None:
            raise RulesError(f"The game {self.setup.game.name!r} has no picture.")
        return self.setup.game.pictures.svg(self.setup, table, seat, language=self.language, names=self.names, **history)

    def close(self) -> None:
        """Close the window, where there is one."""
        if self._window is not None:
            self._window.close()
            self._shown = ""
