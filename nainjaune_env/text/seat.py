"""Decisions as text: the rules, what a seat may know, and its legal moves, for any game."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import RulesError, quoted
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup, check_setup
from nainjaune_env.core.speech import SeatWords
from nainjaune_env.core.validation import check_name
from nainjaune_env.engine.log import Plies

from .answers import RETRIES, Answers, Dialogue
from .features import FeatureWords
from .words import SharedTexts, texts_of

SHORT, LONG = FORMS = ("short", "long")
MAX_NAME = 40
"""Characters of a player's name that are shown."""


@dataclass(frozen=True)
class Prompt:
    """A decision as text."""

    rules: str
    """The same for every seat and decision of a setup."""
    situation: str
    """What the seat may know, its legal moves, and the question."""
    legal: tuple[int, ...]
    """The legal actions, ascending."""
    names: tuple[str, ...]
    """Their names."""
    answers: Answers

    def parse(self, answer: str) -> int:
        """Returns the action that ``answer`` means; raises :class:`AnswerError` with one sentence for the player."""
        return self.answers.parse(answer)

    def format(self, action: int) -> str:
        """Returns the answer for a legal ``action``, such as ``Move: 3``."""
        return self.answers.format(action)

    def dialogue(self, retries: int = RETRIES, shown: Sequence[Prompt] = ()) -> Dialogue:
        """Returns the messages that ask for the decision, and count refused answers.

        ``shown`` are decisions of the seat before it in this round at which it had one legal move, and was shown something once.
        """
        earlier = tuple((prompt.situation, prompt.format(prompt.legal[0])) for prompt in shown)
        return Dialogue(self.rules, self.situation, self.answers, self.legal, retries, earlier)


class TextSeat:
    """Says in words what the seat to act may know, at tables with one setup."""

    def __init__(self, setup: Setup, *, language: str = "en", form: str = SHORT, names: Sequence[str] | None = None) -> None:
        """``form`` is ``short`` or ``long``; ``names (n,)`` are the players', in seat order, which are shown as quoted data.

        Raises :class:`RulesError` for anything but a setup, an unknown language or form, and anything but a name for each player.
        """
        self.setup = check_setup(setup)
        self.language = language
        self.long = check_name("form of a text", form, FORMS) == LONG
        self._say: SharedTexts = texts_of(language)
        self._words: SeatWords = words_of(setup)
        self._first = self._words.first_number(setup)
        self._players = None if names is None else self._named_players(names)

    def _named_players(self, names: Sequence[str]) -> str:
        if (
            isinstance(names, str)
            or not isinstance(names, Sequence | np.ndarray)
            or not all(isinstance(one, str) for one in names)
        ):
            raise RulesError(f"The names of players are a sequence of texts, not {quoted(names)}.")
        if len(names) != self.setup.players:
            raise RulesError(f"With {self.setup.players} players there are {self.setup.players} names, not {len(names)}.")
        shown = (json.dumps(printable(name)[:MAX_NAME], ensure_ascii=False) for name in names)
        seats = (self._say.seat.format(seat=seat) for seat in range(self.setup.players))
        return " · ".join(f"{seat} {name}" for seat, name in zip(seats, shown, strict=True))

    @cached_property
    def rules(self) -> str:
        """The rules as they are under these knobs."""
        setup = self.setup
        title = self._say.title.format(title=setup.game.title, preset=setup.preset, players=setup.players)
        return "\n".join([title, *self._words.rules(setup, self.language, long=self.long)])

    def situation(self, table: Any, plies: Plies | None = None, *, since: int | None = None) -> str:
        """Returns what the seat to act at ``table`` may know; arguments as of :meth:`prompt`."""
        return "\n".join(self._situation(self._known(table), plies, since))

    def prompt(self, table: Any, plies: Plies | None = None, *, since: int | None = None) -> Prompt:
        """Returns the decision of the seat to act at ``table``, one record, redacted or not: what is hidden is not read.

        ``plies`` are those of the round so far. The text tells them from number ``since`` on, which is how many the seat knows;
        None: all after its last turn before this one. Where not every seat sees every action (``GameSpec.rewind``), their opening
        must be the whole table. Without ``plies`` nothing is told.
        """
        known = self._known(table)
        legal = tuple(legal_actions(int(self.setup.game.kernel.legal(known, self.setup.kernel_rules))))
        names = {action: self._words.named(known, action, self.language) for action in legal}
        numbers = {action: action + self._first for action in legal}
        listed = {action: self._listed(known, action, numbers[action], names[action]) for action in legal}
        lines = [*self._situation(known, plies, since), *self._moves([*listed.values()]), self._say.ask]
        answers = Answers(numbers, names, listed, self.language, range(self._first, self._first + len(self.setup.game.actions)))
        return Prompt(self.rules, "\n".join(lines), legal, tuple(names.values()), answers)

    def situations(self, decisions: DecisionBatch, which: NDArray[np.int64] | None = None) -> list[str]:
        """Returns what the seats to act may know at the decisions number ``which (K,)`` of a batch, or at all."""
        return [self.situation(*each) for each in _each(decisions, which)]

    def prompts(self, decisions: DecisionBatch, which: NDArray[np.int64] | None = None) -> list[Prompt]:
        """Returns the prompts of the decisions number ``which (K,)`` of a batch, or of all, with plies where it has them."""
        return [self.prompt(*each) for each in _each(decisions, which)]

    def _known(self, table: Any) -> Any:
        rows = np.array([table], self.setup.game.table)
        self.setup.game.kernel.redact(rows[0], self.setup.kernel_rules, int(rows[0].seat))
        return rows[0]

    def _titled(self, title: str, text: str) -> str:
        return f"{title}{self._say.colon}{text}"

    def _situation(self, known: Any, plies: Plies | None, since: int | None) -> list[str]:
        (head, turn), *parts = self._words.describe(self.setup, known, self.language)
        if self.long:
            parts += self._words.details(self.setup, known, self.language)
        if self._players is not None:
            parts.insert(0, (self._say.players, self._players))
        if plies is not None:
            parts.append((self._say.since, self._told(plies, int(known.seat), since) or self._say.nothing_since))
        return [f"{head} — {turn}", *(self._titled(*part) for part in parts)]

    def _listed(self, known: Any, action: int, number: int, name: str) -> str:
        note = self._words.note(self.setup, known, action, self.language)
        return f"{number}: {name} ({note})" if note else f"{number}: {name}"

    def _moves(self, listed: list[str]) -> list[str]:
        if self.long:
            return [f"{self._say.moves}{self._say.colon}".rstrip(), *(f"  {text}" for text in listed)]
        return [self._titled(self._say.moves, " · ".join(listed))]

    def _told(self, plies: Plies, seat: int, since: int | None) -> str:
        made = [(int(who), int(action)) for who, action in zip(plies.seats, plies.actions, strict=True)]
        first = turn_before(made, seat) if since is None else since
        said = self._words.heard(self.setup, plies.opening, made, seat, self.language)
        told = [*itertools.chain.from_iterable(said[first:])]
        if since is None and first:  # what followed from the seat's own last ply, it has not read yet
            told = [*(event for event in said[first - 1] if event.seat is None), *told]
        lines = []
        for who, events in itertools.groupby(told, key=lambda event: event.seat):
            text = ", ".join(event.text for event in events)
            name = self._say.you if who == seat else self._say.seat.format(seat=who)
            lines.append(text if who is None else f"{name} {text}")
        return " · ".join(lines)


def _each(decisions: DecisionBatch, which: NDArray[np.int64] | None) -> Iterator[tuple[Any, Plies | None]]:
    """Yields the tables of some decisions, with the plies of their rounds where the batch comes with them."""
    rows = np.arange(len(decisions.index)) if which is None else which
    tables = decisions.tables[rows]
    if not decisions.has_history:
        yield from ((table, None) for table in tables)
        return
    past = decisions.history[rows]
    for table, opening, seats, actions, count in zip(tables, past.opening, past.seat, past.action, past.count, strict=True):
        yield table, Plies(opening, seats[:count], actions[:count])


def turn_before(plies: Sequence[tuple[int, int]], seat: int) -> int:
    """Returns the number of the ply after the last turn of ``seat`` before this one, as its plies stand together."""
    at = len(plies)
    for own in (True, False):  # back over the plies of this turn, then over those of the others
        while at and (plies[at - 1][0] == seat) == own:
            at -= 1
    return at


def words_of(setup: Setup) -> SeatWords:
    """Returns how a game says decisions: its own words, or else features by name."""
    return setup.game.seat_words or FeatureWords(setup.game)
