"""Small studies for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.action_values import ActionEvaluator
from nainjaune_agents.study.files import write_study
from nainjaune_agents.study.playing import StudySettings
from nainjaune_env.core.spec import Setup
from tests.support.positions import small

NAMES = ("lowest", "random")


def plan_of(setup: Setup | None = None, names: Sequence[str] = NAMES, *, search: int = 0, **options: Any) -> StudySettings:
    """A plan of a small study; a ``search`` is by the first agent."""
    setup = small() if setup is None else setup
    agents = [load_agent(name, setup) for name in names]
    evaluator = ActionEvaluator(setup, agents[0], search) if search else None
    return StudySettings(setup, agents, **{"seed": 2, "evaluator": evaluator, **options})


def study(folder: Path, episodes: int = 60, *, first: int = 0, **options: Any) -> Path:
    """The folder, with the study in it."""
    write_study(folder, plan_of(**options), episodes, first=first)
    return folder
