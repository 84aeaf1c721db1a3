"""Tricks told in words: what a round of cards came to, who takes the trick, and how the game ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nainjaune_env.games.batasaurus.language.words import Words
from nainjaune_env.games.batasaurus.records.replay import Trick


class Account:
    """The telling of one game, trick by trick, for it counts the piles as it goes."""

    def __init__(self, words: Words, players: int) -> None:
        self.words = words
        self.shorts = [words.seat_short.format(seat=seat) for seat in range(players)]
        self._piles = [0] * players

    def round_over(self, trick: Trick, number: int) -> list[str]:
        """Round ``number`` of ``trick`` is complete: what is turned up, who ties, who has no card to battle with (B2.3, B2.4)."""
        words, plays, tied = self.words, trick.rounds[number], trick.tied(number)
        lines = []
        if number:
            turned = (f"{self.shorts[play.seat]} {words.named(play.value)}" for play in plays)
            lines.append(self.said(words.shows, " · ".join(turned)))
        if len(tied) > 1:
            value = max(play.value for play in plays)
            lines.append(words.battle.format(seats=self.seats(tied), card=words.named(value)))
        if trick.dropped[number] != tied:  # else all of them: nobody is left to battle on
            lines += [words.drops.format(seat=self.shorts[seat]) for seat in trick.dropped[number]]
        return lines

    def taken(self, trick: Trick) -> str:
        """Who takes the cards of ``trick``, which is over; once for each trick, in order."""
        words, gains, takers = self.words, trick.gains or (), trick.takers
        self._piles = [pile + cards for pile, cards in zip(self._piles, gains, strict=True)]
        if not takers:
            return words.nobody.format(cards=words.count(trick.cards))
        first = takers[0]
        if len(takers) == 1:
            return words.takes.format(seat=self.shorts[first], cards=words.count(gains[first]), pile=self._piles[first])
        rest = trick.cards - sum(gains)
        text = words.share_rest if rest else words.share
        return text.format(seats=self.seats(takers), cards=words.count(gains[first]), rest=words.count(rest))

    def piles(self, left: Sequence[int], piles: Sequence[int]) -> list[str]:
        """The end (B3.1): the cards ``left`` in front of each seat, and the ``piles`` they are on now."""
        lines = [self.said(self.words.left, self.by_seat(left))] if any(left) else []
        return [*lines, self.said(self.words.piles, self.by_seat(piles))]

    def said(self, title: str, text: str) -> str:
        """A title and what it is the title of."""
        return f"{title}{self.words.colon}{text}"

    def by_seat(self, values: Iterable[object]) -> str:
        """A value for each seat."""
        return " · ".join(f"{short} {value}" for short, value in zip(self.shorts, values, strict=True))

    def seats(self, seats: Iterable[int]) -> str:
        """Seats in a sentence."""
        return self.words.listed(self.shorts[seat] for seat in seats)


def sentence(text: str) -> str:
    """``text`` with a capital."""
    return text[0].upper() + text[1:]
