"""Tables of models: each has one round, and a word that only who started it knows."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from nainjaune_env.core.errors import AgentError, ConfigError, IllegalActionError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import append_record, check_appendable

from ...base.seeds import Stream, generator
from ...study.advice.decisions import seen_by_seat_at_turn
from ...study.advice.loaded import Advisers
from ...study.advice.to_text import advice_lines, basis_lines, reason_lines
from ...train.config import resolve_setup
from ..rewards import Reward, rewarded
from ..round import TextRound
from ..settings import CHIPS, EDGE, REGRET, TextEnvSettings
from ..tasks import TRAIN, TextTask, tasks

MAX_TABLES = 256
"""Tables that are kept; a further one takes the place of the one that was used least recently."""
WORD_BYTES = 9
"""Of a table's word: too many to guess."""
SEED_BITS = 53
"""Of a seed that is drawn: too many to try whether they deal a hand, and numbers of JSON are exact."""
ADVICE_ERROR = 0.5
"""Half-width of the intervals of advice, in the game's unit."""


class Result(TypedDict):
    """What a finished round was worth, in the game's unit."""

    chips: float
    """Won, less what was paid."""
    edge: float
    """The chips beyond what the field's agent wins in this seat with this deal."""
    regret: float | None
    """Minus the chips lost at the decisions, by the adviser; None where it was not asked for."""
    regret_error: float | None
    """Its standard error."""
    regret_exact: bool | None
    decisions: int
    refused: int
    """Answers that meant no legal move."""
    forfeits: int
    """Decisions that were made for the player, after too many such answers."""
    advice: int
    """Decisions with advice."""
    seed: int | None
    """Of the deal; None for a task, which may be played again: with its seed another seat would show its cards."""


class Table:
    """A round, and what was asked at it."""

    def __init__(self, task: TextTask, settings: TextEnvSettings, seed: int | None) -> None:
        """``seed``: the one that :meth:`Tables.finish` returns."""
        self.seed = seed
        self.round = TextRound(task, settings)
        self.rules = self.round.messages[0]["content"]
        self.advice: dict[int, str] = {}
        """By the number of the decision."""
        self.regret: Reward | None = None
        """None before it was asked for."""
        self.kept = False
        """Whether its record is in the file."""
        self.lock = threading.Lock()
        """One call at a time."""


class Tables:
    """The tables of a server. Threads may share an object."""

    def __init__(self, settings: TextEnvSettings, *, advice: bool = False, record: Path | None = None) -> None:
        """``advice``: players may ask for it. Records of finished rounds are added to the file ``record``.

        Raises :class:`RecordError` and ``OSError`` where nothing can be added to that.
        """
        if record is not None:
            check_appendable(record)
            record.parent.mkdir(parents=True, exist_ok=True)
        self.settings = replace(settings, reward=EDGE)  # a round can be played where there is no regret
        self.advice_allowed = advice
        self._record = record
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()
        self._advisers = Advisers(threads=3)

    def start(
        self,
        game: str,
        *,
        preset: str | None = None,
        players: int | None = None,
        knobs: Mapping[str, Any] | None = None,
        seat: int | None = None,
        seed: int | None = None,
        split: str | None = None,
        index: int | None = None,
    ) -> str:
        """Deals the round of a task (``split``, ``index``), or one by these rules; returns the table's word, rules and position.

        ``seed`` None is drawn, and only :meth:`finish` returns it: hidden cards follow from it. Raises ``NainJauneError`` for a
        table or a task that there cannot be.
        """
        if split is None and index is None:
            task = _task(resolve_setup(game, preset, players, knobs or {}), seat, seed)
            public_seed: int | None = task.seed
        elif split is None or index is None or (preset, players, seat, seed) != (None,) * 4:
            raise ConfigError("A task is named by game, split and index, and says preset, players, seat and seed itself.")
        else:
            (task,) = tasks(game, split, 1, first=index, knobs=knobs)
            public_seed = None
        table, word = Table(task, self.settings, public_seed), secrets.token_urlsafe(WORD_BYTES)
        with self._lock:
            self._tables[word] = table
            if len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        with table.lock:
            return f"Table: {word}\n\n{table.rules}\n\n{self._position(table)}"

    def rules(self, word: str) -> str:
        """Returns the rules at a table; raises :class:`ConfigError` where there is none, as all methods do."""
        return self._table(word).rules

    def see(self, word: str) -> str:
        """Returns what the player may know, and their legal moves."""
        table = self._table(word)
        with table.lock:
            return self._position(table)

    def play(self, word: str, answer: str) -> str:
        """Reads an answer, and plays on; returns the next position of the player's.

        Raises :class:`IllegalActionError` with a sentence for an answer that is no legal move, and :class:`AgentError` when the
        round is over.
        """
        table = self._table(word)
        with table.lock:
            decisions = table.round.decisions
            table.round.answer(answer)
            if table.round.decisions == decisions:
                raise IllegalActionError(table.round.messages[-1]["content"])
            return self._position(table)

    def advice(self, word: str) -> str:
        """Returns what each legal move is worth, by what the player may know.

        Raises :class:`AgentError` when the round is over, and where there is no advice.
        """
        table = self._table(word)
        setup, language = table.round.setup, self.settings.language
        if not self._advisers.possible(setup):
            raise AgentError("There is no advice at this table: players there remember what no position shows.")
        model, adviser = self._advisers.get(setup)
        with table.lock:
            if table.round.done:
                raise AgentError("The round is over, so there is no move to advise on.")
            number = table.round.decisions
            if number in table.advice:
                return table.advice[number]
            (seen,) = rows = seen_by_seat_at_turn(setup, table.round.table.batch.tables)
            rng = generator(0, Stream.ADVICE, number)  # the round's seed would tell the cards
            advice = adviser.advise(rows, rng, error=ADVICE_ERROR)
            parts = (
                advice_lines(setup, seen, advice, 0, language),
                reason_lines(setup, seen, advice, 0, language),
                basis_lines(setup, advice, 0, model, language),
            )
            table.advice[number] = "\n\n".join("\n".join(lines) for lines in parts if lines)
            return table.advice[number]

    def finish(self, word: str, *, regret: bool = False) -> Result:
        """Returns what a round was worth, with its ``regret`` if asked, which takes seconds.

        Raises :class:`AgentError` before its end.
        """
        table = self._table(word)
        with table.lock:
            if not table.round.done:
                raise AgentError("The round is not over: see_table has the position to play on from.")
            self._keep(table)
            won, ahead = (self._reward(table, name).value for name in (CHIPS, EDGE))
            if regret and table.regret is None:
                table.regret = self._reward(table, REGRET)
            lost, played = table.regret if regret else None, table.round
        return {
            "chips": won,
            "edge": ahead,
            "regret": lost and lost.value,
            "regret_error": lost and lost.error,
            "regret_exact": lost and lost.exact,
            "decisions": played.decisions,
            "refused": played.refused,
            "forfeits": played.forfeits,
            "advice": len(table.advice),
            "seed": table.seed,
        }

    def _table(self, word: str) -> Table:
        with self._lock:
            if word not in self._tables:
                raise ConfigError(f"There is no table {quoted(word)}: start_round makes one, and the oldest are removed.")
            self._tables.move_to_end(word)
            return self._tables[word]

    def _position(self, table: Table) -> str:
        prompt = table.round.prompt
        if prompt is not None:
            return prompt.situation
        self._keep(table)
        return "The round is over. Call finish for what it was worth."

    def _keep(self, table: Table) -> None:
        """Adds the record of a finished round to the file, once."""
        if self._record is not None and not table.kept:
            append_record(self._record, table.round.record())
            table.kept = True

    def _reward(self, table: Table, name: str) -> Reward:
        (reward,) = rewarded([table.round], replace(self.settings, reward=name))
        return reward


def _task(setup: Setup, seat: int | None, seed: int | None) -> TextTask:
    """Returns a task that is in no split; the split and index that it has are not used."""
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    return TextTask(TRAIN, 0, setup.game.name, setup.preset, setup.players, setup.knobs, seed, seat or 0)
