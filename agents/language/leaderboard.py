"""A leaderboard: agents at the same tasks, by chips, duplicate edge, advantage and regret (docs/language_models.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import AgentError, CheckpointError, ConfigError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_whole

from ..measure.distributed.identity import external_files, package_version, weights_path
from ..players.chat.settings import ChatSettings, what_counts
from ..players.foreign import is_bot, is_chat
from ..players.loading import load_agent, players_in
from ..players.program.counting import faults_of
from ..players.program.faults import Fault
from ..players.program.settings import BotSettings
from ..study.advice.models import is_advised
from .agent_round import play_task
from .leaderboard_rows import Row, Rows
from .regret import check_regret, is_solved, regrets
from .round import field_agent
from .settings import TextEnvSettings
from .table import payoff_of
from .tasks import TEST, TextTask, tasks

ROWS = "rows.jsonl"


@dataclass(frozen=True)
class Leaderboard:
    """What a leaderboard plays; raises ``NainJauneError`` for agents that are named twice, and for no tasks."""

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
    bots: BotSettings = field(default_factory=BotSettings)
    """How bots and language models are asked."""

    def __post_init__(self) -> None:
        if not self.agents or len(set(self.agents)) < len(self.agents):
            names = ", ".join(map(quoted, self.agents)) or "none"
            raise ConfigError(f"A leaderboard has one agent or more, each once, not {names}.")
        check_whole("The number of tasks", self.count, 1)

    @cached_property
    def tasks(self) -> list[TextTask]:
        """The tasks; raises as ``tasks.tasks`` does."""
        return tasks(self.game, self.split, self.count, knobs=self.knobs)

    @property
    def head(self) -> dict[str, Any]:
        """What all rows depend on, as JSON values."""
        values = {"game": self.game, "split": self.split, "knobs": dict(self.knobs), "settings": self.settings.to_dict()}
        return {**values, "package": package_version()}

    def play(self, folder: Path, progress: Callable[[int], object] | None = None) -> dict[str, list[Row]]:
        """Returns each agent's rows in the order of the tasks, after playing those that are not in ``folder``.

        A row is kept as soon as it is known. ``progress`` is called with numbers of rows, kept ones too. Raises
        :class:`ConfigError` for a folder with rows of other settings, or of another identity of an agent, and
        :class:`AgentError` for an agent that plays at no task, also where its endpoint fails, and for a field or an adviser
        that does not play at every task.
        """
        self._check_others()
        self._check_agents()
        count = progress or (lambda number: None)
        with Rows.opened(folder / ROWS, self.head) as rows:
            for name in self.agents:
                missing = [task for task in self.tasks if not self._is_kept(rows, name, task)]
                count(len(self.tasks) - len(missing))
                for row in self._played(name, missing):
                    rows.add(row)
                    count(1)
            result = {name: [rows.of(name, task.index) for task in self.tasks] for name in self.agents}
        for name, some in result.items():
            _check_plays(name, [row.refused for row in some if row.refused is not None], len(some))
        return result

    def _check_others(self) -> None:
        """Raises :class:`AgentError` for a field or an adviser that cannot play, before a language model is paid for answers."""
        if self.settings.field is None and self.settings.adviser is None:
            return  # the usual ones play everywhere
        for setup in (task.setup() for task in self.tasks):
            field_agent(setup, self.settings, self.bots)
            if is_advised(setup):
                check_regret(setup, self.settings, self.bots)

    def _check_agents(self) -> None:
        """Raises :class:`AgentError` for an agent that plays at none of the tasks, before the others play for hours."""
        for name in self.agents:
            answers = (agent_or_refusal(name, task.setup(), self.bots) for task in self.tasks)
            _check_plays(name, [*takewhile(lambda one: isinstance(one, str), answers)], len(self.tasks))

    def _is_kept(self, rows: Rows, name: str, task: TextTask) -> bool:
        if (name, task.index) not in rows:
            return False
        before, now = rows.of(name, task.index).identity, self._identity(name, task.setup())
        for key in {**before, **now}:
            if before.get(key) != now.get(key):
                raise ConfigError(
                    f"The agent {quoted(name)} has played with another {key}: {quoted(before.get(key))}, not "
                    f"{quoted(now.get(key))}. Choose another --out."
                )
        return True

    def _identity(self, name: str, setup: Setup) -> dict[str, Any]:
        names = [one for one in (name, self.settings.field, self.settings.adviser) if one is not None]
        return identity(names, setup, self.bots)

    def _played(self, name: str, missing: list[TextTask]) -> Iterator[Row]:
        """Yields the rows of an agent at some tasks; those of a language model at the same time, as they come."""
        if not is_chat(name):
            yield from (self._row(name, task) for task in missing)
            return
        pool = ThreadPoolExecutor((self.bots.chat or ChatSettings()).at_once, "leaderboard")
        try:
            for row in as_completed([pool.submit(self._row, name, task) for task in missing]):
                yield row.result()
        finally:  # what has begun is finished, and its answers kept
            pool.shutdown(cancel_futures=True)

    def _row(self, name: str, task: TextTask) -> Row:
        setup = task.setup()
        agent = agent_or_refusal(name, setup, self.bots)
        if isinstance(agent, str):
            return Row(name, task.index, refused=agent)
        field = field_agent(setup, self.settings, self.bots)
        played = play_task(task, agent, field)
        counts = faults_of(agent)
        if counts is not None and is_chat(name) and counts.faults[Fault.EXIT]:
            return Row(name, task.index, refused="Its endpoint did not answer; the same command plays the round again.")
        regret = over_adviser = None
        if is_solved(setup) or is_advised(setup):
            of_seat, first = [(played.record, task.seat)], task.index + 1
            (regret,) = regrets(of_seat, self.settings, first=first, bots=self.bots)
            (over_adviser,) = regrets(of_seat, self.settings, first=first, own_moves=True, bots=self.bots)
        costs = {} if counts is None else counts.costs
        return Row(
            name,
            task.index,
            self._identity(name, setup),
            decisions=played.decisions,
            chips=played.payoff,
            edge=played.payoff - payoff_of(field, setup, task.seed, task.seat, field),
            regret=None if regret is None else regret.lost,
            error=0.0 if regret is None else regret.error,
            advantage=None if over_adviser is None else 0.0 - over_adviser.lost,
            calls=costs.get("calls", 0),
            tokens=costs.get("prompt_tokens", 0) + costs.get("answer_tokens", 0),
            forfeits=0 if counts is None else counts.forfeited,
        )


def _check_plays(name: str, refusals: Sequence[object], tasks: int) -> None:
    if len(refusals) == tasks:
        raise AgentError(f"The agent {quoted(name)} plays at none of the tasks. {refusals[0]}")


def agent_or_refusal(name: str, setup: Setup, bots: BotSettings) -> Agent | str:
    """Returns an agent, or the sentence by which it does not play at tables with ``setup``."""
    try:
        return load_agent(name, setup, bots=bots)
    except (AgentError, CheckpointError) as error:
        if is_bot(name):
            raise
        return str(error)


def identity(names: Sequence[str], setup: Setup, bots: BotSettings) -> dict[str, Any]:
    """Returns what decides how agents play at tables with ``setup``, as JSON values: their files, and the settings of bots."""
    files: dict[str, Any] = external_files(*names)
    for name in (one for agent in names for one in players_in(agent, setup)):
        weights = weights_path(name, setup)
        if weights is not None:
            files[name] = digest(weights)
    result: dict[str, Any] = {}
    if any(files.values()):
        result["files"] = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:32]
    if any(map(is_bot, names)):
        result["on_fault"] = bots.on_fault
    if any(map(is_chat, names)):
        result["chat"] = what_counts((bots.chat or ChatSettings()).to_dict())
    return result
