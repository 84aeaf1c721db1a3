"""A leaderboard: agents at the same tasks, by chips, duplicate edge and regret (docs/language_models.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import AgentError, CheckpointError, ConfigError, quoted

from ..advice.models import is_advised
from ..bots.counting import faults_of
from ..bots.settings import bot_settings
from ..chat.settings import ChatSettings, what_counts
from ..distributed.identity import external_files, package_version, weights_path
from ..external import is_bot, is_chat
from ..loading import load_agent
from .agent_round import play_task
from .leaderboard_rows import Row, Rows
from .regret import is_solved, regrets
from .round import field_agent
from .settings import TextEnvSettings
from .table import payoff_of
from .tasks import TEST, TextTask, tasks

ROWS = "rows.jsonl"


@dataclass(frozen=True)
class Leaderboard:
    """What a leaderboard plays; raises :class:`ConfigError` for agents that are named twice."""

    agents: tuple[str, ...]
    """By name; differences are from the first."""
    game: str
    split: str = TEST
    count: int = 100
    """Tasks: the first of the split."""
    knobs: Mapping[str, Any] = field(default_factory=dict)
    """The same in all tasks."""
    settings: TextEnvSettings = field(default_factory=TextEnvSettings)
    """Who plays the other seats, and the adviser."""

    def __post_init__(self) -> None:
        if not self.agents or len(set(self.agents)) < len(self.agents):
            raise ConfigError(f"A leaderboard has one agent or more, each once, not {quoted([*self.agents])}.")

    @cached_property
    def tasks(self) -> list[TextTask]:
        """The tasks; raises as ``tasks.tasks`` does."""
        return tasks(self.game, self.split, self.count, knobs=self.knobs)

    @property
    def head(self) -> dict[str, Any]:
        """What all rows depend on, as JSON values."""
        bots = bot_settings()
        values = {"game": self.game, "split": self.split, "knobs": dict(self.knobs), "settings": self.settings.to_dict()}
        if any(map(is_bot, self.agents)):
            values["on_fault"] = bots.on_fault
        if any(map(is_chat, self.agents)):
            values["chat"] = what_counts((bots.chat or ChatSettings()).to_dict())
        return {**values, "package": package_version()}

    def play(self, folder: Path, progress: Callable[[int], object] | None = None) -> dict[str, list[Row]]:
        """Returns each agent's rows in the order of the tasks, after playing those that are not in ``folder``.

        A row is kept as soon as it is known. ``progress`` is called with numbers of rows, kept ones too. Raises
        :class:`ConfigError` for a folder with rows of other settings or of other files of an agent, and :class:`AgentError` for
        an agent that plays at no task.
        """
        count = progress or (lambda number: None)
        with Rows.opened(folder / ROWS, self.head) as rows:
            for name in self.agents:
                missing = [task for task in self.tasks if not self._is_kept(rows, name, task)]
                count(len(self.tasks) - len(missing))
                for row in self._played(name, missing):
                    rows.add(row)
                    count(1)
            found = {name: [rows.get(name, task.index) for task in self.tasks] for name in self.agents}
        result = {name: [row for row in some if row is not None] for name, some in found.items()}
        for name, some in result.items():
            if all(row.refused is not None for row in some):
                raise AgentError(f"The agent {quoted(name)} plays at none of the tasks. {some[0].refused}")
        return result

    def _is_kept(self, rows: Rows, name: str, task: TextTask) -> bool:
        row = rows.get(name, task.index)
        if row is not None and row.refused is None and row.files != files_digest(name, task):
            raise ConfigError(f"The files of the agent {quoted(name)} have changed since it played. Choose another --out.")
        return row is not None

    def _played(self, name: str, missing: list[TextTask]) -> Iterator[Row]:
        """Yields the rows of an agent at some tasks; those of a language model at the same time, as they come."""
        if not is_chat(name):
            yield from (self._row(name, task) for task in missing)
            return
        pool = ThreadPoolExecutor((bot_settings().chat or ChatSettings()).at_once, "leaderboard")
        try:
            for row in as_completed([pool.submit(self._row, name, task) for task in missing]):
                yield row.result()
        finally:  # what has begun is finished, and its answers kept
            pool.shutdown(cancel_futures=True)

    def _row(self, name: str, task: TextTask) -> Row:
        setup = task.setup()
        try:
            agent = load_agent(name, setup)
        except (AgentError, CheckpointError) as error:
            if is_bot(name):
                raise
            return Row(name, task.index, "", str(error))
        field = field_agent(setup, self.settings)
        played = play_task(task, agent, field)
        regret = None
        if is_solved(setup) or is_advised(setup):
            (regret,) = regrets([(played.record, task.seat)], self.settings, first=task.index + 1)
        counts = faults_of(agent)
        costs = {} if counts is None else counts.costs
        return Row(
            name,
            task.index,
            files_digest(name, task),
            decisions=played.decisions,
            chips=played.payoff,
            edge=played.payoff - payoff_of(field, setup, task.seed, task.seat, field),
            regret=None if regret is None else regret.lost,
            error=0.0 if regret is None else regret.error,
            calls=costs.get("calls", 0),
            tokens=costs.get("prompt_tokens", 0) + costs.get("answer_tokens", 0),
            forfeits=0 if counts is None else counts.forfeited,
        )


def files_digest(name: str, task: TextTask) -> str:
    """Returns a digest of the files that decide how an agent plays at a task; empty where there are none."""
    weights = weights_path(name, task.setup())
    files = {**({} if weights is None else {"weights": digest(weights)}), **external_files(name)}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:32] if any(files.values()) else ""
