"""The dialogue with a person who plays rounds at a table."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError, IllegalActionError, NainJauneError, RulesError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.speech import Utterance
from nainjaune_env.records.record import Record

from ...players.foreign import shown_name
from .table import PersonsTable
from .terminal import Terminal
from .texts import TEXTS, any_language

_COLORS = re.compile(r"\x1b\[[0-9;]*m")


class Leave(Exception):
    """Raised when the person leaves the table."""


class Session:
    """The dialogue at a :class:`PersonsTable`, until all rounds are played or the person leaves."""

    def __init__(
        self,
        table: PersonsTable,
        terminal: Terminal,
        names: Sequence[str],
        *,
        keep: Callable[[Record], str] | None = None,
        leave: Callable[[list[list[int]]], object] | None = None,
        hint: Callable[[NDArray[Any]], int] | None = None,
        look: float = 30.0,
        confirm: bool = True,
    ) -> None:
        """``names`` are the players' names in records, in seat order.

        ``keep`` stores the record of a finished match (or single round) and returns where. ``leave`` stores the plies so far of a
        match that the person leaves. ``hint`` returns a good action at a table, an array of one. ``look`` is the time limit for
        cards to memorise, in seconds (0: none). ``confirm``: ask for confirmation of each move.
        """
        self.table = table
        self.terminal = terminal
        self.texts = TEXTS[table.language]
        self.names = list(names)
        shown = [self.texts.you if seat == table.seat else printable(shown_name(name)) for seat, name in enumerate(names)]
        self.labels = [self.texts.seat.format(seat=seat, name=name) for seat, name in enumerate(shown)]
        self.totals = np.zeros(len(names), np.int64)
        """Each seat's payoffs in the rounds that are over, shape (n,)."""
        self.rounds = 0
        """Number of rounds that are over."""
        self._keep = keep
        self._leave = leave
        self._hint = hint
        self._look = look
        self._confirm = confirm
        self._heard: list[Utterance] = []
        """The events since the person's last move, including it."""
        self._moved = False
        """Whether the person has moved in this round."""
        self._begun = False
        """Whether there is anything to store of a match that the person leaves."""
        self._notices: list[str] = []
        """Lines from before the person's first move of the round; shown below the table until then."""

    def repeat(self, plies: Sequence[Sequence[int]]) -> None:
        """Repeats the rounds of a match that was left, the last one up to its last ply, without a word."""
        for number, actions in enumerate(plies):
            if number:
                self.table.deal()
            for action in actions:
                self.table.repeat(action)
            if self.table.round_over:
                self.rounds += 1
                self.totals += self.table.payoff
        if self.table.round_over:
            self.table.deal()
        self._begun = True

    def run(self, rounds: int | None = None, *, notices: Sequence[str] = ()) -> int:
        """Plays one match, or ``rounds`` rounds in all; returns the exit status: 0, also if the person leaves, 130 after Ctrl-C.

        ``notices`` are shown first. Raises :class:`AgentError` where an agent fails; the match is stored then, too.
        """
        try:
            self._greet(notices)
            while True:
                self._round()
                self._end_of_round()
                if self.rounds == rounds or (rounds is None and self.table.match_over):
                    break
                if self.terminal.ask(self.texts.next_round).lower() in any_language("quit"):
                    raise Leave
                self.table.deal()
        except (Leave, EOFError):
            self._farewell()
            return 0
        except KeyboardInterrupt:
            self._farewell()
            return 130
        except AgentError:  # a player from elsewhere has failed: the match goes on when it is mended
            self._farewell()
            raise
        if self.rounds > 1:
            self.standings(winner=True)
        return 0

    # ---------------------------------------------------------------- a round

    def _greet(self, notices: Sequence[str]) -> None:
        texts, setup = self.texts, self.table.setup
        title = texts.welcome.format(title=setup.game.title, preset=setup.preset, seats=", ".join(self.labels))
        self._notices = [
            title,
            texts.seed.format(seed=self.table.seed),
            *notices,
            *self.table.speaker.typing(),
            texts.help_hint,
            "",
        ]
        self._say(self._notices)

    def _round(self) -> None:
        self._heard, self._moved = [], False
        begun = [*self.table.speaker.begun(), ""]
        self._notices += begun
        self._say(begun)
        while True:
            events = self.table.run_on()
            self._heard += events
            self._show_events(events, slowly=True)
            if self.table.round_over:
                break
            if self.table.must_memorise:
                self._glimpse()
            else:
                action = self._choice()
                self._heard, self._moved = self.table.play(action), True
                self._begun = True
                self._notices = []
                self._show_events(self._heard)

    def _glimpse(self) -> None:
        text = self.texts.look.format(seconds=f"{self._look:g}") if self._look else self.texts.look_until
        self.terminal.glimpse(self.table.picture(color=self.terminal.color), text, self._look)
        self._say([self.texts.looked])
        self._heard = self.table.play(self.table.legal[0])

    def _choice(self) -> int:
        """Returns the person's action, after any number of commands and invalid inputs."""
        self._show()
        while True:
            text = self.terminal.ask(self.texts.prompt)
            if self._command(text):
                continue
            try:
                action = self.table.speaker.parse(text)
            except IllegalActionError as error:
                self._say([str(error)])
                continue
            if self._confirmed(action):
                return action

    def _confirmed(self, action: int) -> bool:
        if not self._confirm:
            return True
        if not self.terminal.ask(self.texts.confirm.format(move=self.table.speaker.echo(action))):
            return True
        self._say([self.texts.taken_back])
        return False

    def _command(self, text: str) -> bool:
        """Execute ``text`` if it is a command; returns whether it is."""
        word = text.lower()
        if text in any_language("quit"):  # in lower case only: Q is a card
            if self.terminal.ask(self.texts.leave).lower() in self.texts.yes:
                raise Leave
            self._say([self.texts.stay])
        elif word in any_language("help"):
            self._help()
        elif word in any_language("hint"):
            self._advise()
        elif word in any_language("undo"):
            self._undo()
        elif word in any_language("last"):
            self._recap()
        elif word in any_language("table") or not word:
            self._show()
        elif word in any_language("confirm"):
            self._confirm = not self._confirm
            self._say([self.texts.confirming if self._confirm else self.texts.not_confirming])
        else:
            lines = self.table.speaker.about(text)
            if lines is None:
                return False
            self._say(lines)
        return True

    def _advise(self) -> None:
        try:
            if self._hint is None:
                raise RulesError(self.texts.no_hint)
            action = self._hint(self.table.position)
        except NainJauneError as error:
            self._say([str(error)])
            return
        speaker = self.table.speaker
        self._say([self.texts.hint.format(move=speaker.echo(action), typed=speaker.typed(action))])

    def _undo(self) -> None:
        if not self.table.undo():
            self._say([self.texts.no_undo])
            return
        self._heard = []
        self._show()
        self._say([self.texts.undone])

    # ---------------------------------------------------------------- what is shown

    def _show(self) -> None:
        """Shows the table, the events since the person's last move, and the legal moves."""
        cleared = self.terminal.clear()
        self._draw()
        if cleared:
            self._say(self._notices)
        if cleared and self._heard:
            self._recap()
            self._say([""])
        self._say(self.table.speaker.menu(self.terminal.columns))

    def _draw(self, *, everything: bool = False) -> None:
        """Shows the picture, or the table in words if the terminal is too narrow."""
        picture = self.table.picture(color=self.terminal.color, everything=everything)
        wide = max(len(_COLORS.sub("", line)) for line in picture.splitlines())
        if wide <= self.terminal.columns:
            self.terminal.say(picture)
            return
        self._say([self.texts.narrow.format(wide=wide, columns=self.terminal.columns)])
        for topic in self.table.speaker.topics:
            self._say(self.table.speaker.about(topic) or [])

    def _show_events(self, events: Sequence[Utterance], *, slowly: bool = False) -> None:
        """Shows events one by one; consecutive events of a seat share a line."""
        for seat, utterances in itertools.groupby(events, key=lambda said: said.seat):
            if seat is not None:
                self.terminal.say(self._label(seat), end="")
            for said in utterances:
                self.terminal.say(f" {self._painted(said.text)}", end="" if seat is not None else "\n")
                if slowly:
                    self.terminal.pause()
            if seat is not None:
                self.terminal.say()

    def _recap(self) -> None:
        """Shows all events since the person's last move at once."""
        if not self._heard:
            self._say([self.texts.nothing_since])
            return
        self._say([self.texts.since if self._moved else self.texts.so_far])
        for seat, utterances in itertools.groupby(self._heard, key=lambda said: said.seat):
            texts = [said.text for said in utterances]
            lines = texts if seat is None else [f"{self._label(seat)} {' '.join(texts)}"]
            self._say((f"  {line}" for line in lines), indent=4 if seat is None else len(self._label(seat)) + 3)

    def _label(self, seat: int) -> str:
        return f"{self.labels[seat]:<{max(map(len, self.labels))}} "

    def _help(self) -> None:
        texts, speaker = self.texts, self.table.speaker
        commands = ("help", "last", "table", "hint", "undo", "confirm", "quit")
        keys = {getattr(texts, f"{name}_words")[0]: getattr(texts, f"{name}_does") for name in commands}
        keys |= speaker.topics
        wide = max(map(len, keys))
        self._say(["", *speaker.rules().splitlines(), "", *speaker.typing(), "", texts.keys])
        self._say((f"  {word:<{wide}}  {does}" for word, does in keys.items()), indent=wide + 4)
        self._say([""])

    def _say(self, lines: Iterable[str], *, indent: int = 2) -> None:
        """Shows lines, wrapped to the width of the terminal with continuation lines indented."""
        wide = self.terminal.columns
        for line in lines:
            parts = textwrap.wrap(line, wide, subsequent_indent=" " * indent, break_on_hyphens=False)
            for part in [line] if len(line) <= wide else parts:
                self.terminal.say(self._painted(part))

    def _painted(self, text: str) -> str:
        return self.table.speaker.paint(text) if self.terminal.color else text

    # ---------------------------------------------------------------- ends

    def _end_of_round(self) -> None:
        self.rounds += 1
        self.totals += self.table.payoff
        cleared = self.terminal.clear()
        self._draw(everything=True)
        self._notices = []
        if cleared:
            self._recap()
        self._say(["", self.texts.round_over, *self.table.speaker.settled(), "", *self._payoffs(), ""])
        if self.table.match_over and self._keep is not None:
            self._say([self.texts.recorded.format(path=printable(self._keep(self.table.record(self.names))))])

    def _payoffs(self) -> list[str]:
        """Returns each seat's payoff of this round and, after several rounds, the totals."""
        columns = [(self.texts.this_round, self.table.payoff)]
        if self.rounds > 1:
            columns.append((self.texts.in_all, self.totals))
        wide = max(map(len, self.labels))
        lines = [" " * wide + "".join(f"{head:>16}" for head, _ in columns)]
        for seat, label in enumerate(self.labels):
            lines.append(f"{label:<{wide}}" + "".join(f"{self._amount(values[seat]):>16}" for _, values in columns))
        return lines

    def _amount(self, number: int) -> str:
        return self.table.speaker.amount(int(number)).replace("-", "−")

    def standings(self, *, winner: bool) -> None:
        """Prints the totals, and with ``winner`` who wins."""
        order = sorted(range(len(self.labels)), key=lambda seat: -int(self.totals[seat]))
        wide = max(map(len, self.labels))
        self._say([self.texts.standings])
        for seat in order:
            place = 1 + sum(int(other) > self.totals[seat] for other in self.totals)
            self._say([f"  {place}. {self.labels[seat]:<{wide}}  {self._amount(self.totals[seat])}"])
        if not winner:
            return
        first = [label for label, total in zip(self.labels, self.totals, strict=True) if total == self.totals.max()]
        text = self.texts.wins if len(first) == 1 else self.texts.share
        names = ", ".join(first[:-1]) + self.texts.joiner + first[-1] if len(first) > 1 else first[0]
        line = text.format(names=names)
        self._say([line[0].upper() + line[1:]])

    def _farewell(self) -> None:
        texts = self.texts
        after = [texts.unfinished, texts.again.format(seed=self.table.seed)]
        if self._leave is not None and self._begun:
            self._leave(self.table.plies)  # before the words: the terminal may be gone
            after = [texts.kept]
        self._say(["", texts.left, *after])
        if self.rounds:
            self.standings(winner=False)
