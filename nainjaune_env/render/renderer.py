"""Renders a table of any game in one of the render modes that Gymnasium and PettingZoo name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import RulesError, quoted
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.core.validation import check_name, check_viewer, finite
from nainjaune_env.render.raster import PIXEL_LIBRARIES, check_scale, font_files, is_installed, pixels
from nainjaune_env.render.window import LIBRARY as WINDOW_LIBRARY
from nainjaune_env.render.window import Window

FPS = 2.0
"""Pictures per second in a window."""

MODES = ("human", "ansi", "rgb_array", "svg")
"""All render modes; ``Renderer`` says what each is."""


def render_modes(game: GameSpec) -> tuple[str, ...]:
    """Returns the modes in which ``game`` can be rendered."""
    return tuple(mode for mode in MODES if (game.render_text if mode == "ansi" else game.pictures) is not None)


def installed_modes(game: GameSpec) -> tuple[str, ...]:
    """Returns the modes of :func:`render_modes` whose libraries are installed."""
    libraries = {"rgb_array": PIXEL_LIBRARIES, "human": (*PIXEL_LIBRARIES, WINDOW_LIBRARY)}
    return tuple(mode for mode in render_modes(game) if all(map(is_installed, libraries.get(mode, ()))))


class Renderer:
    """Renders tables in one mode, as one seat or a spectator sees them.

    ====================  ==================================================================
    mode                  :meth:`render` returns
    ====================  ==================================================================
    ``"ansi"``            text for a terminal
    ``"svg"``             a picture as an SVG document
    ``"rgb_array"``       the same picture in pixels, ``(height, width, 3) uint8``
    ``"human"``           None; a window shows the same pixels
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
        """``mode`` None renders nothing. ``viewpoint`` is a seat, or None for a spectator, who sees all cards.

        ``color`` applies to text, ``scale`` to pixels, ``fps`` to the window, and ``names``, the players' in seat order, to
        pictures. Raises :class:`RulesError` for a mode, viewpoint, language, scale or fps that is not allowed, and
        :class:`~nainjaune_env.core.errors.MissingLibraryError` where the mode needs a library that is not installed.
        """
        modes = render_modes(setup.game)
        if mode is not None:
            check_name("render mode", mode, modes or ["None, for this game has no picture"])
        check_scale(scale)
        if (rate := finite(fps)) is None or rate <= 0:
            raise RulesError(f"The pictures per second are finite and above 0, not {quoted(fps)}.")
        self.setup = setup
        self.mode = mode
        self.viewpoint = check_viewer("The viewpoint", viewpoint, setup.players, RulesError)
        self.color = color
        self.scale = scale
        self.language = check_name("language", language, LANGUAGES)
        self.names = None if names is None else [printable(name) for name in names]
        self._window = Window(setup.game.title, fps) if mode == "human" else None
        if mode in ("human", "rgb_array"):
            font_files()
        self._shown = ""

    def render(self, table: Any, history: Mapping[str, Any]) -> str | NDArray[np.uint8] | None:
        """Renders the table (one record); the class says what each mode returns.

        ``history`` is how the table reached its state, a ``core.spec.History``. Raises :class:`RulesError` without a mode.
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
        """Raises :class:`RulesError` where there is no mode."""
        if self.mode is None:
            modes = ", ".join(render_modes(self.setup.game))
            raise RulesError(f"Nothing is rendered without a render_mode; choose from {modes}.")

    def text(self, table: Any, history: Mapping[str, Any], seat: int | None = None) -> str:
        """Returns the table as text as ``seat`` sees it, in any mode. Raises :class:`RulesError` where the game has no text."""
        if self.setup.game.render_text is None:
            raise RulesError(f"The game {self.setup.game.name!r} has no picture.")
        return self.setup.game.render_text(self.setup, table, seat, language=self.language, color=self.color, **history)

    def svg(self, table: Any, history: Mapping[str, Any], seat: int | None = None) -> str:
        """Returns the table as SVG as ``seat`` sees it, in any mode. Raises :class:`RulesError` where the game has no picture."""
        if self.setup.game.pictures is None:
            raise RulesError(f"The game {self.setup.game.name!r} has no picture.")
        return self.setup.game.pictures.svg(self.setup, table, seat, language=self.language, names=self.names, **history)

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._shown = ""
