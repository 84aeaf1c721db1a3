"""A record told for people, in the calls of the table: ``sans 4``, ``Dame qui prend !``, ``Roi et je recommence !``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Said
from nainjaune_env.games.nain_jaune.language.words import Words, words_in
from nainjaune_env.games.nain_jaune.records.account import Account
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """The account of a verified ``record`` in ``language``, ``"fr"`` or ``"en"``; ``part``: round ``part`` only, from 1.

    Raises :class:`RecordError` where the record has no such round, :class:`RulesError` for an unknown language.
    """
    words = words_in(language)
    rounds = record["rounds"]
    if part is not None and not 1 <= part <= len(rounds):
        raise RecordError(f"The record has rounds 1 to {len(rounds)}, and no round {part!r}.")
    lines = [words.title.format(preset=record["preset"], players=setup.players)]
    for number, written in enumerate(rounds, 1):
        if part in (None, number):
            lines += ["", *_Round(setup, record["agents"], words).tell(written, number)]
    if part in (None, len(rounds)):
        lines += ["", *_result(record, words)]
    return "\n".join(lines) + "\n"


def _result(record: Mapping[str, Any], words: Words) -> list[str]:
    winners = [words.seat.format(seat=seat, agent=record["agents"][seat]) for seat in record["winners"]]
    chips = max(record["stacks"])
    if len(winners) == 1:
        said = words.wins.format(winners=winners[0], chips=chips)
    else:
        said = words.shared.format(winners=", ".join(winners[:-1]) + words.joiner + winners[-1], chips=chips)
    return [f"{words.result}{words.colon}{said}"]


class _Round:
    """The account of one round, line by line. Figures come from the kernel, by replay."""

    def __init__(self, setup: Setup, agents: list[str], words: Words) -> None:
        self.setup = setup
        self.words = words
        self.names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(agents)]
        self.account = Account(words, setup.players)
        self.lines: list[str] = []

    def tell(self, written: Mapping[str, Any], number: int) -> list[str]:
        """All lines of round ``number``."""
        table = setup_table(
            self.setup,
            written["hands"],
            dealer=written["dealer"],
            stacks=written["stacks"],
            pots=written["pots"],
            rounds_before=number - 1,
        )
        replay = Replay(self.setup, table)
        self._opening(written, replay, number)
        self.lines.append("")
        for seat, texts in itertools.groupby(self._said(replay, written["moves"]), key=lambda said: said.seat):
            if seat is None:
                self.lines += [f"  {text}" for _, text in texts]
            else:
                self._say(self.names[seat], " ".join(text for _, text in texts))
        self.lines += ["", f"  {self.words.settling}", *(f"    {line}" for line in self.account.settlement)]
        self._chips(self.words.after, replay, written["stacks"])
        return self.lines

    def _said(self, replay: Replay, moves: list[list[Any]]) -> Iterator[Said]:
        for seat, move in moves:
            replay.cards.put(seat, move)
            yield from self.account.ply(replay, seat, move)

    def _opening(self, written: Mapping[str, Any], replay: Replay, number: int) -> None:
        words, account = self.words, self.account
        self.lines.append(words.round.format(number=number, dealer=written["dealer"]))
        self._say(words.stacks, account.by_seat(written["stacks"]))
        self._say(words.pots, account.by_pot(replay.pots))
        for seat, hand in enumerate(written["hands"]):
            self._say(words.hand.format(seat=account.shorts[seat]), account.cards(hand))
        self._say(words.talon, account.cards(written["talon"]))

    def _chips(self, title: str, replay: Replay, before: list[int]) -> None:
        stacks = (f"{now} ({now - then:+d})" for now, then in zip(replay.stacks, before, strict=True))
        self._say(title, self.account.by_seat(stacks))
        self._say(self.words.pots_after, self.account.by_pot(replay.pots))

    def _say(self, title: str, text: str) -> None:
        self.lines.append(f"  {title}{self.words.colon}{text}")
