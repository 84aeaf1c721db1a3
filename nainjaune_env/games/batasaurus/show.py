"""A record told for people: trick by trick, who plays what and who takes it. Figures come from the kernel, by replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nainjaune_env.errors import RecordError
from nainjaune_env.games.batasaurus.replay import Replay, Trick
from nainjaune_env.games.batasaurus.verify import opening
from nainjaune_env.games.batasaurus.words import Words, words_in
from nainjaune_env.spec import Setup

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
    return "\n".join(_Account(setup, record, replay, words).lines()) + "\n"


class _Account:
    """The telling of one game, which ``replay`` has come to the end of."""

    def __init__(self, setup: Setup, record: Mapping[str, Any], replay: Replay, words: Words) -> None:
        self.setup = setup
        self.record = record
        self.replay = replay
        self.words = words
        self.names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(record["agents"])]
        self.shorts = [words.seat_short.format(seat=seat) for seat in range(setup.players)]
        self.piles = [0] * setup.players

    def lines(self) -> list[str]:
        """All of it."""
        dinosaurs = len(self.record["layouts"][0])
        title = self.words.title.format(preset=self.record["preset"], players=self.setup.players, dinosaurs=dinosaurs)
        lines = [title, "", *self._layouts()]
        for number, trick in enumerate(self.replay.tricks, 1):
            lines += ["", self.words.trick.format(number=number, seat=self.shorts[trick.leader])]
            lines += [f"  {line[0].upper()}{line[1:]}" for line in self._trick(trick)]
        return [*lines, "", *self._end()]

    def _layouts(self) -> list[str]:
        words = self.words
        if self.setup.rules.memory == "perfect":  # type: ignore[attr-defined]
            return self._slots(words.sorted, self.record["layouts"][0])
        lines = []
        for seat, layout in enumerate(self.record["layouts"]):
            lines += self._slots(words.slots.format(seat=self.shorts[seat]), layout)
        return [*lines, f"  {words.memorise}"]

    def _slots(self, title: str, layout: list[int]) -> list[str]:
        texts = [f"{slot} {self.words.named(value)}" for slot, value in enumerate(layout)]
        rows = [texts[start : start + ROW] for start in range(0, len(texts), ROW)]
        return [f"  {title}{self.words.colon}".rstrip(), *(f"    {' · '.join(row)}" for row in rows)]

    def _trick(self, trick: Trick) -> list[str]:
        words, lines = self.words, []
        for number, plays in enumerate(trick.rounds):
            for play in plays:
                text = words.commits if number else words.plays
                lines.append(self._said(self.names[play.seat], text.format(card=words.named(play.value), slot=play.slot)))
            if number:
                turned = (f"{self.shorts[play.seat]} {words.named(play.value)}" for play in plays)
                lines.append(self._said(words.shows, " · ".join(turned)))
            tied = trick.tied(number)
            if len(tied) > 1:
                value = max(play.value for play in plays)
                lines.append(words.battle.format(seats=self._seats(tied), card=words.named(value)))
            if trick.dropped[number] != tied:  # else all of them: nobody is left to battle on
                lines += [words.drops.format(seat=self.shorts[seat]) for seat in trick.dropped[number]]
        return [*lines, self._taken(trick)]

    def _taken(self, trick: Trick) -> str:
        words, gains, takers = self.words, trick.gains or (), trick.takers
        self.piles = [pile + cards for pile, cards in zip(self.piles, gains, strict=True)]
        if not takers:
            return words.nobody.format(cards=words.count(trick.cards))
        first = takers[0]
        if len(takers) == 1:
            return words.takes.format(seat=self.shorts[first], cards=words.count(gains[first]), pile=self.piles[first])
        rest = trick.cards - sum(gains)
        text = words.share_rest if rest else words.share
        return text.format(seats=self._seats(takers), cards=words.count(gains[first]), rest=words.count(rest))

    def _end(self) -> list[str]:
        words, piles = self.words, self.replay.piles
        lines = []
        if any(self.replay.left):
            lines.append(self._said(words.left, self._by_seat(self.replay.left)))
        lines.append(self._said(words.piles, self._by_seat(piles)))
        winners = [self.names[seat] for seat in self.record["winners"]]
        text = words.wins if len(winners) == 1 else words.shared
        said = text.format(winners=words.listed(winners), cards=words.count(max(piles)))
        return [*lines, self._said(words.result, said)]

    def _said(self, title: str, text: str) -> str:
        return f"{title}{self.words.colon}{text}"

    def _by_seat(self, cards: list[int]) -> str:
        return " · ".join(f"{short} {number}" for short, number in zip(self.shorts, cards, strict=True))

    def _seats(self, seats: tuple[int, ...]) -> str:
        return self.words.listed(self.shorts[seat] for seat in seats)
