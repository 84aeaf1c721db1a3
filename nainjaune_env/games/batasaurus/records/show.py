"""A record told for people: trick by trick, who plays what and who takes it. Figures come from the kernel, by replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.language.words import Words, words_in
from nainjaune_env.games.batasaurus.records.account import Account, sentence
from nainjaune_env.games.batasaurus.records.replay import Replay, Trick
from nainjaune_env.games.batasaurus.records.verify import opening

ROW = 6
"""Slots to a line."""


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """The account of a verified ``record`` in ``language``, ``"fr"`` or ``"en"``; ``part``: round 1 is all there is.

    Raises :class:`RecordError` where the record has no such round, :class:`RulesError` for an unknown language.
    """
    words = words_in(language)
    if part is not None and part != 1:
        raise RecordError(f"The record has one round, and no round {part!r}.")
    replay = opening(setup, record)
    replay.memorise()
    for _, slot in record["moves"]:
        replay.step(slot)
    return "\n".join(_Game(setup, record, replay, words).lines()) + "\n"


class _Game:
    """The account of one game, which ``replay`` has come to the end of."""

    def __init__(self, setup: Setup, record: Mapping[str, Any], replay: Replay, words: Words) -> None:
        self.setup = setup
        self.record = record
        self.replay = replay
        self.words = words
        self.names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(record["agents"])]
        self.account = Account(words, setup.players)

    def lines(self) -> list[str]:
        """All of it."""
        dinosaurs = len(self.record["layouts"][0])
        title = self.words.title.format(preset=self.record["preset"], players=self.setup.players, dinosaurs=dinosaurs)
        lines = [title, "", *self._layouts()]
        for number, trick in enumerate(self.replay.tricks, 1):
            lines += ["", self.words.trick.format(number=number, seat=self.account.shorts[trick.leader])]
            lines += [f"  {sentence(line)}" for line in self._trick(trick)]
        return [*lines, "", *self._end()]

    def _layouts(self) -> list[str]:
        words = self.words
        if self.setup.rules.memory == "perfect":  # type: ignore[attr-defined]
            return self._slots(words.sorted, self.record["layouts"][0])
        lines = []
        for seat, layout in enumerate(self.record["layouts"]):
            lines += self._slots(words.slots.format(seat=self.account.shorts[seat]), layout)
        return [*lines, f"  {words.memorise}"]

    def _slots(self, title: str, layout: list[int]) -> list[str]:
        texts = [f"{slot} {self.words.named(value)}" for slot, value in enumerate(layout)]
        rows = [texts[start : start + ROW] for start in range(0, len(texts), ROW)]
        return [f"  {title}{self.words.colon}".rstrip(), *(f"    {' · '.join(row)}" for row in rows)]

    def _trick(self, trick: Trick) -> list[str]:
        words, lines = self.words, []
        for number, plays in enumerate(trick.rounds):
            text = words.commits if number else words.plays
            for play in plays:
                card = text.format(card=words.named(play.value), slot=play.slot)
                lines.append(self.account.said(self.names[play.seat], card))
            lines += self.account.round_over(trick, number)
        return [*lines, self.account.taken(trick)]

    def _end(self) -> list[str]:
        words, piles = self.words, self.replay.piles
        winners = [self.names[seat] for seat in self.record["winners"]]
        text = words.wins if len(winners) == 1 else words.shared
        said = text.format(winners=words.listed(winners), cards=words.count(max(piles)))
        return [*self.account.piles(self.replay.left, piles), self.account.said(words.result, said)]
