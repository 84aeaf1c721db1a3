"""A leaderboard: agents at the same tasks, by chips, duplicate edge, advantage and regret (docs/language_models.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import locked, write_text
from nainjaune_env.core.errors import AgentError, CheckpointError, ConfigError, WorkError, quoted
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_whole

from ..base.settings import NonNegativeFloat, NonNegativeInt, convert
from ..measure.distributed.identity import package_version
from ..measure.player_id import player_id
from ..measure.report.format_ci import UNKNOWN, format_ci
from ..measure.report.text import align, shown_names
from ..measure.stats.differences import Differences, interval_notes
from ..measure.stats.ratio_estimate import Estimate, Ratios
from ..players.chat.settings import ChatSettings
from ..players.chat.transcripts import Transcripts
from ..players.foreign import is_bot, is_chat
from ..players.loading import load_agent
from ..players.program.counting import faults_of
from ..players.program.faults import Fault
from ..players.program.settings import BotSettings
from ..study.advice.models import is_advised
from .regret import check_regret, is_solved, regrets
from .round import field_agent, play_task
from .settings import TextEnvSettings
from .tasks import TEST, TextTask, tasks

ROWS = "rows.jsonl"
FORMAT, VERSION = "nainjaune-leaderboard", 1
MEASURES = ("chips", "edge", "advantage", "regret")
TOTALS = ("decisions", "calls", "tokens", "forfeits")
NOTES = (
    "Intervals are 95 %, over tasks. Edge: beyond what the field's agent gets in the same seat on the same deal. Advantage: "
    "gained over the moves of the adviser's own player. Regret: lost against the adviser's best moves, so less is better."
)


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent did at a task."""

    agent: str
    index: NonNegativeInt
    """Of the task."""
    identity: dict[str, str] = {}  # msgspec copies it
    """The ``player_id`` of the agent, and those of the ``field`` and the ``adviser`` where these are named."""
    refused: str | None = None
    """Why the agent has not played: a sentence on the task's rules or on its endpoint; then there is nothing else."""
    decisions: NonNegativeInt = 0
    chips: float = 0.0
    edge: float = 0.0
    regret: float | None = None
    """Chips lost against the best moves; None where there is no advice under these rules."""
    error: NonNegativeFloat = 0.0
    """Standard error of the regret."""
    advantage: float | None = None
    """Chips gained over the moves of the adviser's own player; None as for the regret."""
    calls: NonNegativeInt = 0
    tokens: NonNegativeInt = 0
    forfeits: NonNegativeInt = 0


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

    def play(self, folder: Path, progress: Callable[[int], object] = lambda number: None) -> dict[str, list[Row]]:
        """Returns each agent's rows in the order of the tasks, after playing those that are not in ``folder``.

        A row is written as soon as it is known. ``progress`` is called with numbers of rows, those of earlier runs too. Raises
        :class:`ConfigError` for a folder with rows of other settings, or of another identity of an agent, and
        :class:`AgentError` for an agent that plays at no task, also where its endpoint fails, and for a field or an adviser
        that does not play at every task.
        """
        self._check_others()
        self._check_agents()
        path = folder / ROWS
        with _rows(path, self.head) as rows:
            for name in self.agents:
                missing = [task for task in self.tasks if not self._is_played(rows, name, task)]
                progress(len(self.tasks) - len(missing))
                for row in self._played(name, missing):
                    if row.refused is None:  # one that was refused may play the next time
                        Transcripts(path).add(structs.asdict(row))
                    rows[name, row.index] = row
                    progress(1)
        result = {name: [rows[name, task.index] for task in self.tasks] for name in self.agents}
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

    def _is_played(self, rows: Mapping[tuple[str, int], Row], name: str, task: TextTask) -> bool:
        if (name, task.index) not in rows:
            return False
        before, now = rows[name, task.index].identity, self._identity(name, task.setup())
        _check_equal(f"The agent {quoted(name)} has played with", before, now)
        return True

    def _identity(self, name: str, setup: Setup) -> dict[str, str]:
        names = {"player_id": name, "field": self.settings.field, "adviser": self.settings.adviser}
        return {key: player_id(one, setup, self.bots) for key, one in names.items() if one is not None}

    def _played(self, name: str, missing: list[TextTask]) -> Iterator[Row]:
        """Yields the rows of an agent at some tasks; those of a language model at the same time, as they come."""
        if not is_chat(name):
            yield from (self._row(name, task) for task in missing)
            return
        pool = ThreadPoolExecutor((self.bots.chat or ChatSettings()).at_once, "leaderboard")
        try:
            for row in as_completed([pool.submit(self._row, name, task) for task in missing]):
                yield row.result()
        finally:  # what has begun is finished, and its answers are in the cache
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
            of_seat, first = [(played.record(), task.seat)], task.index + 1
            (regret,) = regrets(of_seat, self.settings, first=first, bots=self.bots)
            (over_adviser,) = regrets(of_seat, self.settings, first=first, over_adviser=True, bots=self.bots)
        costs = {} if counts is None else counts.costs
        return Row(
            name,
            task.index,
            self._identity(name, setup),
            decisions=played.decisions,
            chips=played.payoff,
            edge=played.payoff - play_task(task, field, field).payoff,
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


@contextmanager
def _rows(path: Path, head: Mapping[str, Any]) -> Iterator[dict[tuple[str, int], Row]]:
    """Yields the rows of the file ``path`` by agent and task; makes the file if it is not there, and locks it meanwhile.

    ``head`` is what all rows depend on, as JSON values. Raises :class:`ConfigError` where the file has the rows of another head,
    or another process adds to it, and :class:`WorkError` for a file that is none of rows.
    """
    first = {"format": FORMAT, "version": VERSION, **head}
    try:
        with locked(path, wait=False):
            if not path.exists():
                write_text(path, json.dumps(first, ensure_ascii=False) + "\n")
            yield _read(path, first)
    except TimeoutError:
        raise ConfigError(f"Another process is adding to {str(path)!r}.") from None


def _read(path: Path, first: Mapping[str, Any]) -> dict[tuple[str, int], Row]:
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:  # the process was killed while it wrote a line
        write_text(path, whole.decode(errors="replace"))
    rows = {}
    for number, line in enumerate(whole.decode(errors="replace").split("\n")[:-1], 1):  # names may have other line breaks
        try:
            values = json.loads(line)
        except ValueError:
            values = None
        if number == 1 and isinstance(values, dict) and values.get("format") == FORMAT:
            _check_equal(f"{str(path)!r} has rounds of", values, first)
        elif number > 1 and isinstance(values, dict) and len(values) == len(Row.__struct_fields__):
            row = convert(Row, values, f"Line {number} of {str(path)!r}", WorkError)
            rows[row.agent, row.index] = row
        else:
            raise WorkError(f"Line {number} of {str(path)!r} is no row of a leaderboard: {quoted(line)}.")
    return rows


def _check_equal(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            values = f"{quoted(before.get(key))}, not {quoted(now.get(key))}"
            raise ConfigError(f"{what} another {key}: {values}. Choose another --out.")


@dataclass(frozen=True)
class Measured:
    """One measure of an agent."""

    tasks: int
    """That have this measure."""
    round: Estimate
    decision: Estimate
    """For each decision."""
    round_difference: Estimate | None
    """From the first agent, at the tasks that both have; None for the first."""
    decision_difference: Estimate | None

    def to_dict(self) -> dict[str, Any]:
        """Returns the estimates as JSON values."""
        estimates = {name: value for name, value in vars(self).items() if isinstance(value, Estimate)}
        return {"tasks": self.tasks, **{name: one.to_dict() for name, one in estimates.items()}}


@dataclass(frozen=True)
class Standing:
    """An agent of a leaderboard."""

    agent: str
    measures: Mapping[str, Measured]
    rows: Sequence[Row]
    """Of the tasks at which it played."""
    refusals: Sequence[str]
    """Why it has not played the others: a sentence for each."""

    @property
    def totals(self) -> dict[str, int]:
        """The sums over the rows of ``decisions``, ``calls``, ``tokens`` and ``forfeits``."""
        return {name: sum(getattr(row, name) for row in self.rows) for name in TOTALS}

    def to_dict(self) -> dict[str, Any]:
        """Returns the standing as JSON values."""
        measures = {name: one.to_dict() for name, one in self.measures.items()}
        numbers = {"tasks": len(self.rows), "refused": len(self.refusals), **self.totals}
        return {"agent": self.agent, **numbers, **measures}


def standings(rows: Mapping[str, Sequence[Row]]) -> list[Standing]:
    """Returns the standing of each agent, by its ``rows`` in the order of the tasks.

    The agent with the largest advantage a round comes first; where not every agent has one, that with the largest edge.
    """
    first = next(iter(rows))
    result = []
    for name, some in rows.items():
        played = [row for row in some if row.refused is None]
        other = None if name == first else rows[first]
        measures = {measure: _measured(measure, played, other) for measure in MEASURES if _with(measure, played)}
        refusals = [row.refused for row in some if row.refused is not None]
        result.append(Standing(name, measures, played, refusals))
    rank = "advantage" if all("advantage" in one.measures for one in result) else "edge"
    return sorted(result, key=lambda one: -one.measures[rank].round.mean)


def _measured(measure: str, rows: Sequence[Row], first: Sequence[Row] | None) -> Measured:
    rows = _with(measure, rows)
    values = _columns(measure, rows)
    ratios = _ratios(np.concatenate([values, values]))
    round_difference = decision_difference = None
    if first is not None:
        both = {row.index for row in _with(measure, first)} & {row.index for row in rows}
        pair = [_columns(measure, [row for row in some if row.index in both]) for some in (rows, first)]
        round_difference = _estimate(pair[0][0] - pair[1][0])
        decision_difference = _ratios(np.concatenate(pair)).difference(0)
    return Measured(len(rows), _estimate(values[0]), ratios.first(0), round_difference, decision_difference)


def _with(measure: str, rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of tasks that were played and have the measure."""
    return [row for row in rows if row.refused is None and getattr(row, measure) is not None]


def _columns(measure: str, rows: Sequence[Row]) -> NDArray[np.float64]:
    """Returns the measure and the decisions of T rows, ``(2, T)``."""
    pairs = [(getattr(row, measure), row.decisions) for row in rows]
    return np.array(pairs, np.float64).reshape(-1, 2).T


def _ratios(values: NDArray[np.float64]) -> Ratios:
    ratios = Ratios(1)
    ratios.add(values[None])
    return ratios


def _estimate(values: NDArray[np.float64]) -> Estimate:
    return Differences.of(values).estimate if values.size else Estimate(float("nan"), float("nan"))


def text(board: Leaderboard, places: Sequence[Standing], unit: str) -> str:
    """Returns the leaderboard as a table for a terminal."""
    rows = [_HEAD, *_cells(board, places, str)]
    return "\n".join([_heading(board, unit, printable), "", *align(rows, left=(0,), ruled=True), "", *_notes(places, printable)])


def markdown(board: Leaderboard, places: Sequence[Standing], unit: str) -> str:
    """Returns the leaderboard as a page of Markdown."""
    rule = ["---", *["---:"] * (len(_HEAD) - 1)]
    cells = _cells(board, places, lambda name: _code(name).replace("|", r"\|"))
    rows = ["| " + " | ".join(row) + " |" for row in (_HEAD, rule, *cells)]
    return "\n".join(["# Leaderboard", "", _heading(board, unit, _code), "", *rows, "", *_notes(places, _code), ""])


def _code(text: str) -> str:
    """Returns ``text`` as code in Markdown, whatever it has."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{printable(text)}{space}{ticks}"


_HEAD = ["agent", *MEASURES, "edge − first's", "advantage − first's", *TOTALS]


def _heading(board: Leaderboard, unit: str, quote: Callable[[str], str]) -> str:
    """Returns the sentence on what was played."""
    knobs = "".join(f", {name}={value}" for name, value in board.knobs.items())
    return (
        f"{board.game}{knobs}: {board.count} tasks of the split {board.split}, in {unit} a round. "
        f"Differences are from {quote(board.agents[0])}, at the same tasks."
    )


def _cells(board: Leaderboard, places: Sequence[Standing], quote: Callable[[str], str]) -> list[list[str]]:
    names = shown_names(board.agents)
    rows = []
    for one in places:
        measured = one.measures
        means = [_ci(measured[name].round if name in measured else None, signed=name != "regret") for name in MEASURES]
        differences = [measured[name].round_difference if name in measured else None for name in ("edge", "advantage")]
        totals = [f"{total:,}" for total in one.totals.values()]
        rows.append([quote(names[one.agent]), *means, *(_ci(difference, signed=True) for difference in differences), *totals])
    return rows


def _ci(estimate: Estimate | None, *, signed: bool) -> str:
    return UNKNOWN if estimate is None else format_ci(estimate, "", signed=signed)


def _notes(places: Sequence[Standing], quote: Callable[[str], str]) -> list[str]:
    """Returns what the columns are, how far to trust their intervals, and who did not play everywhere, or has no regret there."""
    columns = [_columns(measure, _with(measure, one.rows))[0] for one in places for measure in one.measures]
    lines = [NOTES, *interval_notes(map(Differences.of, columns))]
    for one in places:
        name = quote(one.agent)
        if one.refusals:
            lines.append(f"{name} played {len(one.rows)} tasks. The first of the others: {quote(one.refusals[0])}")
        number = one.measures["regret"].tasks if "regret" in one.measures else 0
        if number < len(one.rows):
            lines.append(f"{name} has a regret at {number} tasks: under the rules of the others is no advice.")
    return lines
