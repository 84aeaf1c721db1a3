"""The example of PPO with PufferLib's trainer: a short run is already better than random play."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
import torch

from tests.support.pufferlib import pufferlib_or_skip

pufferlib_or_skip()

on_interrupt, on_error = signal.getsignal(signal.SIGINT), sys.excepthook
from examples import pufferlib_ppo  # noqa: E402

signal.signal(signal.SIGINT, on_interrupt)  # PuffeRL's ends the process at once
sys.excepthook = on_error

pytestmark = pytest.mark.filterwarnings("ignore:CUDA is not available:UserWarning")  # PuffeRL prepares for it everywhere


def test_some_batches_beat_random_play(tmp_path: Path) -> None:
    torch.manual_seed(3)
    fresh = pufferlib_ppo.MaskedPolicy(pufferlib_ppo.SeatPufferEnv(1, **pufferlib_ppo.RULES))
    before, _ = pufferlib_ppo.measure(fresh, 1000, seed=5)
    after, half = pufferlib_ppo.measure(pufferlib_ppo.train(64, 40_000, 3, tmp_path), 1000, seed=5)
    assert after - half > max(before, 0)


def test_it_prints_what_it_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pufferlib_ppo.main(["--steps", "100", "--deals", "50", "--out", str(tmp_path)])
    assert "chips a round against random play: " in capfd.readouterr().out
