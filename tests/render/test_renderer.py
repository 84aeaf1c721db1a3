"""``Renderer``: one table in four modes, for every game."""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pygame
import pytest

from nainjaune_env import get_game
from nainjaune_env.core.errors import DealError, MissingLibraryError, RulesError
from nainjaune_env.render.raster import font_files
from nainjaune_env.render.renderer import MODES, Renderer, render_modes
from tests.support.games import games_with, without
from tests.support.recorded import moments

every_game = pytest.mark.parametrize("game", games_with("pictures"))


@every_game
def test_all_modes_show_one_scene(game: str) -> None:
    setup = get_game(game).setup()
    table, history = moments(setup, 1)[5]
    assert render_modes(setup.game) == MODES
    drawn = {mode: Renderer(setup, mode, viewpoint=1, scale=0.25).render(table, history) for mode in MODES[1:]}
    text, image, picture = drawn["ansi"], drawn["rgb_array"], drawn["svg"]
    assert isinstance(picture, str)
    ET.fromstring(picture)
    assert picture == setup.game.pictures.svg(setup, table, 1, **history)  # type: ignore[union-attr]
    assert text == setup.game.render_text(setup, table, 1, **history)  # type: ignore[misc]
    assert isinstance(image, np.ndarray)
    assert image.dtype == np.uint8
    assert image.shape == (230, 320, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 200  # no blank


@every_game
def test_human_is_a_window_that_shows_the_same(game: str) -> None:
    setup = get_game(game).setup()
    table, history = moments(setup, 1)[5]
    renderer = Renderer(setup, "human", viewpoint=0, scale=0.25, fps=1000)
    assert pygame.display.get_surface() is None
    assert renderer.render(table, history) is None
    surface = pygame.display.get_surface()
    shown = pygame.surfarray.array3d(surface).swapaxes(0, 1)
    image = Renderer(setup, "rgb_array", viewpoint=0, scale=0.25).render(table, history)
    assert np.array_equal(shown, image)
    renderer.render(table, history)
    renderer.close()
    assert not pygame.display.get_init()
    renderer.render(table, history)  # another window, though nothing has changed
    assert pygame.display.get_surface().get_size() == (320, 230)
    renderer.close()


def test_the_same_picture_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment draws at each step, and its user may ask again: nobody waits for what is there already."""
    setup = get_game().setup()
    renderer = Renderer(setup, "human", fps=1000, scale=0.2)
    shown: list[Any] = []
    monkeypatch.setattr(renderer._window, "show", shown.append)
    for plies in (3, 3, 4, 4, 3):
        renderer.render(*moments(setup, 1)[plies])
    assert len(shown) == 3


@every_game
def test_language_names_and_colour_reach_the_picture(game: str) -> None:
    setup = get_game(game).setup()
    table, history = moments(setup, 1)[5]
    names = [f"player {seat} & co" for seat in range(setup.players)]
    french = Renderer(setup, "svg", language="fr", names=names)
    picture = french.svg(table, history)
    assert all(name.replace("&", "&amp;") in picture for name in names)
    assert picture != Renderer(setup, "svg", names=names).svg(table, history)
    assert french.text(table, history, 1) == setup.game.render_text(setup, table, 1, language="fr", **history)  # type: ignore[misc]
    assert "\x1b" in Renderer(setup, "ansi", color=True).text(table, history)


def test_refusals() -> None:
    setup = get_game().setup()
    with pytest.raises(RulesError, match=r"Unknown render mode 'rgb'.*Did you mean 'rgb_array'"):
        Renderer(setup, "rgb")
    for viewpoint in (4, 1.0, True, "1"):
        with pytest.raises(RulesError, match=f"The viewpoint is a seat from 0 to 3, or None for a spectator, not {viewpoint!r}"):
            Renderer(setup, None, viewpoint=viewpoint)  # type: ignore[arg-type]
    for scale in (0.0, math.nan, math.inf, 1e-9, 1000, "x", True):
        with pytest.raises(RulesError, match=rf"scale is a number from 0\.02 to 8, not {scale!r}\."):
            Renderer(setup, None, scale=scale)  # type: ignore[arg-type]
    for fps in (-1.0, 0, math.nan, math.inf, "x", True):
        with pytest.raises(RulesError, match=rf"finite and above 0, not {fps!r}\."):
            Renderer(setup, None, fps=fps)  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="without a render_mode; choose from human, ansi, rgb_array, svg"):
        Renderer(setup, None).render(*moments(setup, 1)[5])
    with pytest.raises(RulesError, match="Unknown language 'de'"):
        Renderer(setup, None, language="de")


@pytest.mark.parametrize("game", games_with("render_text"))
@pytest.mark.parametrize("seat", [9, -1, 1.0, True])
def test_pictures_are_for_seats_at_the_table(game: str, seat: Any) -> None:
    setup = get_game(game).setup()
    renderer = Renderer(setup, None)
    for drawn in (renderer.text, renderer.svg):
        with pytest.raises(DealError, match=rf"The viewer is a seat from 0 to {setup.players - 1}, or None .*, not {seat}\."):
            drawn(*moments(setup, 1)[5], seat=seat)


def test_a_game_without_pictures() -> None:
    setup = get_game().setup()
    table, history = moments(setup, 1)[5]
    plain = without(setup, "pictures")
    assert render_modes(plain.game) == ("ansi",)
    with pytest.raises(RulesError, match="no picture"):
        Renderer(plain, "ansi").svg(table, history)
    bare = without(setup, "pictures", "render_text")
    assert render_modes(bare.game) == ()
    with pytest.raises(RulesError, match="None, for this game has no picture"):
        Renderer(bare, "ansi")
    with pytest.raises(RulesError, match="no picture"):
        Renderer(bare, None).text(table, history)


@pytest.mark.parametrize(("mode", "library"), [("rgb_array", "resvg_py"), ("human", "resvg_py"), ("human", "pygame")])
def test_a_missing_library_is_said_before_anything_is_played(mode: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    font_files.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)  # type: ignore[arg-type]
    with pytest.raises(MissingLibraryError, match=library):
        Renderer(get_game().setup(), mode)
    Renderer(get_game().setup(), "svg").render(*moments(get_game().setup(), 1)[5])  # which takes none
