"""Ctrl-C, pressed once or several times."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from nainjaune_agents.cli import interrupts
from tests.agents.cli.command import Capture, nainjaune


@pytest.fixture(autouse=True)
def _usual_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_one_every_second_interrupts_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(interrupts.time, "monotonic", lambda: now)
    interrupts.interrupt_once()
    counted = 0
    for _ in range(7):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            counted += 1
        now += 1.0
    assert counted == 3


def test_a_command_leaves_the_handler_as_it_was(capfd: Capture) -> None:
    assert nainjaune(capfd, "agents")[0] == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_handler_stays() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupts.interrupt_once()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
