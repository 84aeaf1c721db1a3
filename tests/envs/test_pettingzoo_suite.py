"""All of ``pettingzoo.test``: what applies is run, what does not is excused with its reason, and the excuses are tested too.

PettingZoo's ``api_test`` would pass an environment that shows all hands; the test that ours does not is ``test_leaks``.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from pettingzoo import test as suite
from pettingzoo.utils.conversions import parallel_to_aec

import nainjaune_env
from nainjaune_env import game_names, get_game
from tests.support.games import games_with

PRESETS = [(game, preset) for game in game_names() for preset in get_game(game).presets]

# PettingZoo looks these two up in lists of its own environments' names, and any other with a Dict observation is warned of
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning"),
]


@dataclass(frozen=True)
class Interfaces:
    """PettingZoo's two interfaces to one game under one set of rules."""

    game: str
    preset: str
    settings: dict[str, Any] = field(default_factory=dict)

    def aec(self, **more: Any) -> Any:
        return nainjaune_env.env(self.preset, game=self.game, **self.settings, **more)

    def parallel(self, **more: Any) -> Any:
        return nainjaune_env.parallel_env(self.preset, game=self.game, **self.settings, **more)


def api(interfaces: Interfaces) -> None:
    suite.api_test(interfaces.aec(), num_cycles=100)
    suite.api_test(parallel_to_aec(interfaces.parallel()), num_cycles=30)  # and back again


def render(interfaces: Interfaces) -> None:
    text = {"svg": lambda picture: picture.startswith("<svg ")}
    suite.render_test(functools.partial(interfaces.aec, scale=0.2), text)


def collect_render_results(interfaces: Interfaces) -> None:
    pictures = suite.collect_render_results(interfaces.aec(render_mode="ansi"))
    assert [type(picture) for picture in pictures or [""] * 5] == [str] * 5


def state(interfaces: Interfaces) -> None:
    suite.state_test(interfaces.aec(), interfaces.parallel())


def performance(interfaces: Interfaces) -> None:
    """Its five seconds are counted, fifty looks at the clock: as a benchmark it says nothing here, as a player it does."""
    clock = itertools.count(0, 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["pettingzoo.test.performance_benchmark"], "time", SimpleNamespace(time=lambda: next(clock)))
        suite.performance_benchmark(interfaces.aec())


RUN: dict[str, Callable[[Interfaces], None]] = {
    "api_test": api,
    "parallel_api_test": lambda interfaces: suite.parallel_api_test(interfaces.parallel(), num_cycles=300),
    "seed_test": lambda interfaces: suite.seed_test(interfaces.aec, num_cycles=100),
    "parallel_seed_test": lambda interfaces: suite.parallel_seed_test(interfaces.parallel),
    "render_test": render,
    "collect_render_results": collect_render_results,
    "state_test": state,
    "performance_benchmark": performance,
}
"""Test of PettingZoo's -> how it is run."""

EXCUSED: dict[str, str] = {
    "max_cycles_test": "counts the cycles of environments made with max_cycles=4; here the rules end an episode, nothing else",
    "manual_control_test": "types keys into a window that is steered by single keys; a person plays in the terminal here",
    "test_save_obs": "saves observations as images and asserts nothing; ours are slots of numbers",
    "bombardment_test": "takes a Dict for an array and what step() gives for an observation: PettingZoo's own examples fail",
}
"""Test of PettingZoo's -> why it does not apply."""

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "api_test": [{}, {"skip_forced": False}, {"episode": "match"}],
    "parallel_api_test": [{}, {"skip_forced": True}, {"episode": "match"}],
}


HOOKS: dict[str, tuple[str, ...]] = {"render_test": ("render_text", "pictures"), "collect_render_results": ("render_text",)}
"""Test of PettingZoo's -> the hooks of the games that it is run on; without an entry it is run on all games."""

MARKS = {"signal_lamps": [pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros:UserWarning")]}
"""In Signal Lamps a seat that waits sees no lamp, so that its observation is all zeros."""

CASES = [
    pytest.param(name, settings, game, preset, marks=MARKS.get(game, []))
    for name in RUN
    for settings in SETTINGS.get(name, [{}])
    for game, preset in PRESETS
    if game in games_with(*HOOKS.get(name, ()))
]


def test_every_test_of_pettingzoos_is_run_or_excused() -> None:
    public = {name for name, member in vars(suite).items() if inspect.isfunction(member)}
    assert public == RUN.keys() | EXCUSED.keys()
    assert not RUN.keys() & EXCUSED.keys()


@pytest.mark.parametrize(("name", "settings", "game", "preset"), CASES)
def test_pettingzoo(name: str, settings: dict[str, Any], game: str, preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    RUN[name](Interfaces(game, preset, settings))


# ---------------------------------------------------------------- the excuses
