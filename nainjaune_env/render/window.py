"""A window that shows one picture after another."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import RulesError
from nainjaune_env.render.raster import require

LIBRARY = "pygame"
"""The library that opens windows."""
POLL = 0.02
"""Seconds between two checks of the window's events."""


class Window:
    """Opens with the first picture, and stays closed once a person has closed it."""

    def __init__(self, title: str, fps: float) -> None:
        """``fps`` is the most pictures per second.

        Raises :class:`~nainjaune_env.core.errors.MissingLibraryError` where pygame is not installed.
        """
        require(LIBRARY, "A window")
        self.title = title
        self.pause = 1 / fps
        self.shut = False
        """Whether a person has closed the window."""
        self._pygame: Any = None
        self._next = 0.0
        """The earliest ``time.monotonic()`` of the next picture."""

    def __getstate__(self) -> dict[str, Any]:
        # a copy of an environment opens a window of its own
        return {**self.__dict__, "_pygame": None}

    def show(self, image: NDArray[np.uint8]) -> None:
        """Shows ``image`` ``(height, width, 3) uint8``, after the last one has been shown for ``1 / fps`` seconds.

        Raises :class:`RulesError` where no window can be opened.
        """
        if self._pygame is None and not self.shut:
            self._open(image.shape[1], image.shape[0])
        self._handle_events()
        while not self.shut and time.monotonic() < self._next:
            time.sleep(POLL)
            self._handle_events()
        if self.shut:
            return
        screen = self._pygame.display.get_surface()
        screen.blit(self._pygame.surfarray.make_surface(image.swapaxes(0, 1)), (0, 0))
        self._pygame.display.flip()
        self._next = time.monotonic() + self.pause

    def close(self) -> None:
        """Closes the window, if it is open; the next picture opens another."""
        if self._pygame is not None:
            self._pygame.display.quit()
            self._pygame = None
        self._next = 0.0

    def _open(self, width: int, height: int) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame prints a line when it is imported
        import pygame

        try:
            pygame.display.init()
            pygame.display.set_mode((width, height))
        except pygame.error as error:
            raise RulesError(f"No window can be opened here ({error}); the modes 'ansi' and 'rgb_array' need none.") from None
        pygame.display.set_caption(self.title)
        self._pygame = pygame

    def _handle_events(self) -> None:
        """Handles the window's events; without that the desktop reports it as not responding."""
        if self._pygame is not None and any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()
            self.shut = True
