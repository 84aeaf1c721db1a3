"""A cross table in one call: ``cross_table(make_setup(), [one, other], deals=2000)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup

from ..base.task import DEFAULT_TASK, Task
from .cross_table import CrossTable, fold
from .distributed.plan_fields import Device
from .distributed.units import Executor
from .own_game import OwnGame
from .plan import Measurement, make_plan
from .stats.sequential import SequentialTest
from .store import Store


def cross_table(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    task: Task = DEFAULT_TASK,
    device: Device = "cpu",
    one_way: bool = False,
    test: SequentialTest | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Callable[[CrossTable], object] | None = None,
    **options: Any,
) -> CrossTable:
    """Plays every agent in a field of every other on the same deals, and returns the table.

    ``one_way``: only the first agent is a hero. ``test`` stops a comparison of two agents when it decides. Results do not depend
    on ``executor``, where units are played (None: in this process); other processes load the agents by their names. ``options``
    are those of ``make_plan``, such as ``measure``. ``progress`` is called with the table so far. Raises :class:`AgentError` for
    fewer than two agents or two of one name, and for one that cannot play there, and
    :class:`~nainjaune_env.core.errors.ConfigError` for a task that the game does not have.
    """
    source = OwnGame(setup, seed, task, device=device)
    plan = make_plan(source, agents, deals, one_way=one_way, sequential=test is not None, **options)
    measurement = Measurement(plan, agents, store=store, executor=executor)
    return fold(measurement, one_way=one_way, test=test, progress=progress)
