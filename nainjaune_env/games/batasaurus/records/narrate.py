"""A record narrated for people, trick by trick: who plays which card, and who takes them. The numbers come from replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.texts import Called, SeatNames
from nainjaune_env.games.batasaurus.kernel import must_remember
from nainjaune_env.games.batasaurus.language import Words, language_of
from nainjaune_env.games.batasaurus.records.replay import Trick, check_part, replay_record
from nainjaune_env.games.batasaurus.rules import rules_of

ROW = 6
"""Slots to a line."""


class Narrator:
    """The sentences of one game that narrated records and dialogues share. It adds up the piles, trick by trick."""

    def __init__(self, words: Words, seats: SeatNames, players: int) -> None:
        self.words = words
        self.seats = seats
        self._piles = [0] * players

    def round_over(self, trick: Trick, number: int) -> list[str]:
        """Returns the end of round ``number`` of ``trick``: the cards turned up, the tie, who drops out (B2.3, B2.4)."""
        words, plays, tied = self.words, trick.rounds[number], trick.tied(number)
        lines = []
        if number:
            turned = (f"{self.seats.labels[play.seat]} {words.named(play.value)}" for play in plays)
            lines.append(self.titled(words.shows, " · ".join(turned)))
        if len(tied) > 1:
            value = max(play.value for play in plays)
            lines.append(words.battle.format(seats=self.seats.listed(tied), card=words.named(value)))
        if trick.dropped[number] != tied:  # where all drop out, the trick ends and `taken` says so
            lines += [words.drops.format(seat=self.seats[seat]) for seat in trick.dropped[number]]
        return lines

    def taken(self, trick: Trick) -> str:
        """Returns who takes the cards of ``trick``, which is complete. To be called once for each trick, in order."""
        words, gains, takers = self.words, trick.gains or (), trick.takers
        self._piles = [pile + cards for pile, cards in zip(self._piles, gains, strict=True)]
        if not takers:
            return words.nobody.format(cards=words.count(trick.cards))
        first = takers[0]
        if len(takers) == 1:
            return words.takes.format(seat=self.seats[first], cards=words.count(gains[first]), pile=self._piles[first])
        rest = trick.cards - sum(gains)
        text = words.share_rest if rest else words.share
        return text.format(seats=self.seats.listed(takers), cards=words.count(gains[first]), rest=words.count(rest))

    def piles(self, left: Sequence[int], piles: Sequence[int]) -> list[str]:
        """Returns the end of the game (B3.1): the cards ``left`` in front of each seat, and the final ``piles``."""
        lines = [self.titled(self.words.left, self.seats.by_seat(left))] if any(left) else []
        return [*lines, self.titled(self.words.piles, self.seats.by_seat(piles))]

    def titled(self, title: str, text: str) -> str:
        """Returns ``title: text``, with the language's colon."""
        return f"{title}{self.words.colon}{text}"


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """Returns the narration of a verified ``record`` in ``language``, ``"fr"`` or ``"en"``; ``part`` is None or 1.

    Raises :class:`RecordError` where the record has no such round, :class:`RulesError` for an unknown language.
    """
    words = language_of(language).words
    check_part(part)
    seats, replay = SeatNames(words, setup.players, record["agents"]), replay_record(setup, record)
    narrator = Narrator(words, seats, setup.players)
    names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(record["agents"])]
    dinosaurs = rules_of(setup).dinosaurs
    lines = [words.title.format(preset=record["preset"], players=setup.players, dinosaurs=dinosaurs), ""]
    lines += _layouts(setup, record["layouts"], narrator)
    for number, trick in enumerate(replay.tricks, 1):
        lines += ["", words.trick.format(number=number, seat=seats[trick.leader])]
        lines += [f"  {seats.sentence(line)}" for line in _trick(trick, names, narrator)]
    winners = [names[seat] for seat in record["winners"]]
    text = words.wins if len(winners) == 1 else words.shared
    result = text.format(winners=Called(words.listed(winners)), cards=words.count(max(replay.piles)))
    lines += ["", *narrator.piles(replay.left, replay.piles), narrator.titled(words.result, result)]
    return "\n".join(lines) + "\n"


def _layouts(setup: Setup, layouts: Sequence[Sequence[int]], narrator: Narrator) -> list[str]:
    words = narrator.words
    if not must_remember(rules_of(setup)):
        return _slots(words.sorted, layouts[0], words)
    lines = []
    for seat, layout in enumerate(layouts):
        lines += _slots(words.slots.format(seat=narrator.seats.labels[seat]), layout, words)
    return [*lines, f"  {words.memorise}"]


def _slots(title: str, layout: Sequence[int], words: Words) -> list[str]:
    texts = [f"{slot} {words.named(value)}" for slot, value in enumerate(layout)]
    rows = [texts[start : start + ROW] for start in range(0, len(texts), ROW)]
    return [f"  {title}{words.colon}".rstrip(), *(f"    {' · '.join(row)}" for row in rows)]


def _trick(trick: Trick, names: Sequence[str], narrator: Narrator) -> list[str]:
    words, lines = narrator.words, []
    for number, plays in enumerate(trick.rounds):
        text = words.commits if number else words.plays
        for play in plays:
            lines.append(narrator.titled(names[play.seat], text.format(card=words.named(play.value), slot=play.slot)))
        lines += narrator.round_over(trick, number)
    return [*lines, narrator.taken(trick)]
