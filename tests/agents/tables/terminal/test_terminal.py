"""The terminal: colours where they are wanted, and what is shown once is gone afterwards."""

from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace

import pytest

from nainjaune_agents.tables.terminal import terminal as module
from nainjaune_agents.tables.terminal.terminal import ALTERNATE, BACK, CLEAR, Terminal, wants_color
from tests.agents.tables.terminal.typist import Screen, Typist


@pytest.mark.parametrize(
    ("color", "screen", "environment", "wanted"),
    [
        ("auto", True, {}, True),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),  # no-color.org: set and not empty
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", False, {}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {}, False),
    ],
)
def test_colors(color: module.Color, screen: bool, environment: dict[str, str], wanted: bool) -> None:
    out = Screen() if screen else io.StringIO()
    assert wants_color(color, out, environment) == wanted
    assert Terminal(color=color, out=out, inp=io.StringIO(), environment=environment).color == wanted


def test_without_a_screen_lines_only_follow_each_other() -> None:
    typist = Typist(["x", ""])
    typist.say("a")
    assert not typist.clear()
    assert typist.ask("? ") == "x"
    typist.glimpse("seen", "ready? ", 5)
    assert typist.shown == "a\n? x\nseen\nready? \n"
    assert typist.columns == 80


def test_a_glimpse_is_seen_on_another_screen_which_it_leaves_whatever_happens() -> None:
    typist, left = Typist([""], screen=True), Typist([], screen=True)
    typist.glimpse("secret", "ready? ", 0)
    assert typist.shown == f"{ALTERNATE}{CLEAR}secret\nready? \n{CLEAR}{BACK}"
    with pytest.raises(EOFError):  # Ctrl-D
        left.glimpse("secret", "ready? ", 0)
    assert left.shown == f"{ALTERNATE}{CLEAR}secret\n{CLEAR}{BACK}"


@pytest.mark.parametrize(("typed", "left"), [("", ""), ("ab", ""), ("a\rb", "b")])
def test_on_windows_a_glimpse_ends_at_enter_or_in_time(typed: str, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come from its console, one by one; no other system has one."""
    keys = [*typed]
    console = SimpleNamespace(kbhit=lambda: bool(keys), getwch=lambda: keys.pop(0))
    monkeypatch.setitem(sys.modules, "msvcrt", console)  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "platform", "win32")
    out, begun, seconds = Screen(), time.monotonic(), 30.0 if "\r" in typed else 0.2
    Terminal(out=out, inp=Screen(), environment={}).glimpse("secret", "ready? ", seconds)
    assert (time.monotonic() - begun < seconds) == ("\r" in typed)
    assert "".join(keys) == left
    assert out.getvalue() == f"{ALTERNATE}{CLEAR}secret\nready? {CLEAR}{BACK}"


@pytest.mark.parametrize("screen", [False, True])
def test_what_was_typed_ahead_is_discarded_before_each_question(screen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[object] = []
    monkeypatch.setattr(module, "_drop_typing", order.append)
    typed = Screen() if screen else io.StringIO()

    def read(prompt: str) -> str:
        order.append(prompt)
        return " a "

    terminal = module.Terminal(out=Screen(), inp=typed, environment={}, read=read)
    assert terminal.ask("?") == "a"
    assert order == ([typed, "?"] if screen else ["?"])


def test_the_pause_is_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    Typist([], pace=0.25).pause()
    Typist([], pace=0).pause()
    assert slept == [0.25]
