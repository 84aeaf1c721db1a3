"""One iteration of PPO runs the files of agents/ that its page names, and no others."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from nainjaune_agents.train import ppo
from nainjaune_agents.train.config import apply_settings, build, read_yaml
from tests.support.source import ROOT

AGENTS = ROOT / "agents"


def files_of_an_iteration(trainer: ppo.Trainer) -> set[str]:
    """Returns the files of agents/ whose code runs in iterations of ``trainer``, whichever thread runs it."""
    result = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(AGENTS):
            result.add(path.relative_to(AGENTS).as_posix())

    before = sys.getprofile()
    threading.setprofile(note)  # for the thread that plays ahead, which the first iteration starts
    sys.setprofile(note)
    try:
        trainer.iterate()
        result.clear()  # what the first iteration does once
        trainer.iterate()
        trainer.iterate()  # waits for the rounds that the one before began to play ahead
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    return result


@pytest.mark.parametrize("overlap", [True, False])
def test_an_iteration_runs_the_files_that_the_page_names(overlap: bool) -> None:
    page = (ROOT / "docs" / "trainer_ppo.md").read_text()
    named = set(re.findall(r"^\| `([\w/]+\.py)` \|", page, re.MULTILINE))
    settings = ["tables=16", "minibatch=64", "iterations=5", "eval_every=0", f"overlap={str(overlap).lower()}"]
    config = build(ppo.Config, apply_settings(read_yaml(ROOT / "configs" / "nain_jaune" / "ppo.yaml"), settings))
    expected = named if overlap else named - {"train/overlap.py"}
    assert files_of_an_iteration(ppo.new_trainer(config)) == expected
    assert len(expected) == 7 + overlap
