"""Games that other distributions offer by an entry point, and what is wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from nainjaune_env import registry
from nainjaune_env.core.errors import GameError
from nainjaune_env.registry import GROUP, game_names, game_with, get_game, make_setup

Offer = Callable[..., None]
LAMPS = "from dataclasses import replace\nfrom nainjaune_env.games.signal_lamps import SPEC as LAMPS\n"


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Offers a new package with this code as a game, as a distribution on the path would."""
    result: list[EntryPoint] = []

    def offer(name: str, code: str, package: str = "") -> None:
        package = package or name
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(LAMPS + code, encoding="utf-8")
        result.append(EntryPoint(name, f"{package}:SPEC", GROUP))
        forget()

    def forget() -> None:
        registry._offers.cache_clear()
        registry._import_game.cache_clear()
        for one in result:
            sys.modules.pop(one.module, None)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "entry_points", lambda group: result)
    yield offer
    monkeypatch.undo()
    forget()


def test_a_game_of_another_distribution_is_one_of_the_games(offer: Offer) -> None:
    presets = "{'beacons': LAMPS.presets['lamps']}"
    offer("beacons", f"SPEC = replace(LAMPS, package=__name__, presets={presets}, default_preset='beacons')")
    assert game_names() == ("batasaurus", "beacons", "nain_jaune", "signal_lamps")
    assert game_with("beacons") is get_game("beacons") is make_setup("beacons").game
    assert make_setup(preset="lamps").game.name == "signal_lamps"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'."),
        ("", "AttributeError: module 'broken' has no attribute 'SPEC'."),
        ("SPEC = type(LAMPS)(package=__name__)", "TypeError: .* and 'layout'"),
        ("import types\nSPEC = replace(LAMPS, kernel=types.ModuleType('k'))", "GameError: .* lacks the functions start,"),
    ],
)
def test_a_game_that_cannot_be_loaded_is_named_with_its_folder(tmp_path: Path, offer: Offer, code: str, says: str) -> None:
    offer("broken", code)
    for look_up in (lambda: get_game("broken"), lambda: make_setup(preset="lamps")):
        with pytest.raises(GameError, match=f"^The game 'broken' in '{tmp_path / 'broken'}' cannot be loaded: {says}"):
            look_up()
    assert make_setup().game is get_game()  # no other game is loaded where none is looked for


@pytest.mark.parametrize("code", ["SPEC = LAMPS", "SPEC = 3"])
def test_what_an_entry_point_names_is_a_game_of_that_name(offer: Offer, code: str) -> None:
    offer("other", code)
    with pytest.raises(GameError, match=r"^Expected a GameSpec of the name 'other' from 'other' in .*, not "):
        get_game("other")


def test_a_package_that_is_not_there(offer: Offer, tmp_path: Path) -> None:
    offer("gone", "")
    (tmp_path / "gone" / "__init__.py").unlink()
    (tmp_path / "gone").rmdir()
    with pytest.raises(GameError, match=r"^The game 'gone' cannot be loaded: ModuleNotFoundError: No module named 'gone'\.$"):
        get_game("gone")


def test_two_games_of_one_name_are_refused(offer: Offer) -> None:
    offer("signal_lamps", "SPEC = LAMPS", "lamps_again")
    with pytest.raises(
        GameError, match=r"^Expected one game called 'signal_lamps', not '.*signal_lamps' in .* and 'lamps_again' in "
    ):
        get_game("signal_lamps")
    assert make_setup().game is get_game()


def test_a_preset_that_two_games_share_is_refused(offer: Offer) -> None:
    offer("beacons", "SPEC = replace(LAMPS, package=__name__)")
    says = r"^Expected a preset 'lamps' of one game, not of the games 'beacons' in .* and '.*signal_lamps' in "
    with pytest.raises(GameError, match=says):
        game_with("djeco")
    assert replace(make_setup("beacons"), game=get_game("signal_lamps")) == make_setup("signal_lamps")  # by the game's name
