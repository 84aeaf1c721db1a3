"""The window, where there is no screen to open it on: SDL's driver for tests (see `conftest`)."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator

import numpy as np
import pygame
import pytest

from nainjaune_env.core.errors import MissingLibraryError, RulesError
from nainjaune_env.core.extras import install_command
from nainjaune_env.render.window import Window

IMAGE = np.zeros((20, 30, 3), np.uint8)
IMAGE[5, 7] = (250, 120, 30)


@pytest.fixture
def window() -> Iterator[Window]:
    window = Window("Test", fps=1000)
    yield window
    window.close()


def test_it_shows_the_picture_it_is_given(window: Window) -> None:
    assert pygame.display.get_surface() is None
    window.show(IMAGE)
    surface = pygame.display.get_surface()
    assert surface is not None
    assert surface.get_size() == (30, 20)
    assert pygame.display.get_caption()[0] == "Test"
    assert surface.get_at((7, 5))[:3] == (250, 120, 30)
    window.show(IMAGE[::-1])
    assert surface.get_at((7, 14))[:3] == (250, 120, 30)


def test_closing_it(window: Window) -> None:
    window.show(IMAGE)
    window.close()
    assert not pygame.display.get_init()
    window.close()
    window.show(IMAGE)  # another one
    assert pygame.display.get_init()


def test_once_somebody_has_closed_it_it_stays_closed(window: Window) -> None:
    window.show(IMAGE)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(IMAGE)
    assert window.shut
    assert not pygame.display.get_init()
    window.show(IMAGE)
    assert not pygame.display.get_init()


def test_a_picture_can_be_looked_at() -> None:
    window = Window("Test", fps=10)
    window.show(IMAGE)
    begun = time.monotonic()
    window.show(IMAGE)
    assert time.monotonic() - begun >= 0.09
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(IMAGE)
    assert window.shut


def test_without_a_screen_it_says_so(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(size: tuple[int, int]) -> None:
        raise pygame.error("No available video device")

    monkeypatch.setattr(pygame.display, "set_mode", refuse)
    with pytest.raises(RulesError, match=r"opened here \(No available video device\); .* 'ansi' and 'rgb_array' need none"):
        window.show(IMAGE)


def test_without_pygame_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)  # type: ignore[arg-type]
    with pytest.raises(
        MissingLibraryError, match=f"A window needs the package 'pygame', .*: {re.escape(install_command('render'))}"
    ):
        Window("Test", fps=1)
