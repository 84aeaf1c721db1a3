"""PufferLib's native environment over libnainjaune: rounds as a batch and the heuristic ``tally`` play them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.heuristics import heuristics, heuristics_module
from nainjaune_env import Batch, make_setup
from tests.support.libraries import library_of
from tests.support.pufferlib import pufferlib_or_skip
from tests.support.script import load_script
from tests.support.source import ROOT

pufferlib_or_skip()
TALLY = [*heuristics("nain_jaune")].index("tally") - 1
DECIDE: Any = heuristics_module("nain_jaune").decide  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def native() -> Any:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    return load_script(ROOT / "examples" / "pufferlib" / "native.py", "native")


@pytest.fixture(scope="module")
def binding(native: Any) -> Path:
    path: Path = native.build(library_of("nain_jaune").parent)
    return path


class Twin:
    """A table of the environment, played by ``Batch``; ``rand`` is C's, seeded as PufferLib's binding does it."""

    def __init__(self, setup: Any, rand: Any) -> None:
        self.batch = Batch(setup, 1, deal=False, autoreset=False)
        self.state = (rand() << 32) ^ rand()
        self.learner = rand() % setup.players
        self.deal()

    def play_on(self) -> int:
        """Plays the others up to the learner's next decision; returns what the learner has gained."""
        batch, hidden = self.batch, np.zeros(0, np.uint8)
        gained = int(batch.reward[0, self.learner])
        while not batch.done[0] and batch.seat[0] != self.learner:
            batch.step([DECIDE(TALLY, batch.tables[0], batch.setup.kernel_rules, batch.legal[0], hidden)])
            gained += int(batch.reward[0, self.learner])
        return gained

    def deal(self) -> None:
        while True:
            self.learner = (self.learner + 1) % self.batch.num_players
            self.batch.reset(seeds=np.array([self.state], np.uint64))
            self.before = self.play_on()
            self.state = int(self.batch.tables["rng"][0])
            if not self.batch.done[0]:
                return

    def step(self, action: int) -> tuple[float, bool]:
        self.batch.step([action])
        reward, self.before = self.play_on() + self.before, 0
        over = bool(self.batch.done[0])
        if over:
            self.state = int(self.batch.tables["rng"][0])
            self.deal()
        return float(reward), over


@pytest.mark.parametrize(("preset", "players", "knobs"), [("djeco", 4, {}), ("classic", 3, {"stake": 2, "announce": "explicit"})])
def test_rounds_are_those_of_a_batch(native: Any, binding: Path, preset: str, players: int, knobs: dict[str, Any]) -> None:
    env = native.NainJaune(binding, 4, preset, players, **knobs)
    observations, _ = env.reset(seed=3)
    libc, twins = ctypes.CDLL(None), []
    for i in range(4):
        libc.srand(i + 3 * 4)
        twins.append(Twin(make_setup("nain_jaune", preset, players, **knobs), libc.rand))
    rng, ends = np.random.default_rng(0), 0
    for _ in range(300):
        for seen, twin in zip(observations, twins, strict=True):
            assert seen[env.layout_slice].tobytes() == twin.batch.observation[0].tobytes()
            assert seen[env.mask_slice].tobytes() == twin.batch.mask[0].tobytes()
        actions = (observations[:, env.mask_slice] * (1 + rng.random((4, 24)))).argmax(axis=1)
        observations, rewards, terminals, _, _ = env.step(actions)
        expected = [twin.step(int(action)) for twin, action in zip(twins, actions, strict=True)]
        assert [*zip(rewards.tolist(), terminals.tolist(), strict=True)] == expected
        ends += int(terminals.sum())
    assert ends > 20
    env.close()


def test_an_illegal_action_ends_the_round(native: Any, binding: Path) -> None:
    env = native.NainJaune(binding, 2, illegal_reward=-7.5, report_interval=1)
    env.reset(seed=1)
    for action in (99, -1):
        _, rewards, terminals, _, infos = env.step(np.array([action, action]))
        assert rewards.tolist() == [-7.5, -7.5]
        assert terminals.all()
        assert infos[0]["illegal"] == 1
    env.close()


def test_it_plays_in_pufferlibs_vectorization(
    native: Any, binding: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["native.py", os.path.relpath(binding.parent, tmp_path)])
    with contextlib.chdir(tmp_path):
        native.main()
    assert "chips a round of random play among tally" in capsys.readouterr().out
