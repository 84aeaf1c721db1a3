"""A round told as it is played: what is said and seen of each ply, and the settlement line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nainjaune_env.core.cards import RANKS, by_rank
from nainjaune_env.core.speech import Said
from nainjaune_env.games.nain_jaune.language.words import Words, card_sign
from nainjaune_env.games.nain_jaune.records import settlement
from nainjaune_env.games.nain_jaune.records.real_cards import ACTION_OF, PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.rules import POT_CARDS

MINUS = "−"


class Account:
    """The telling of one round. Figures come from the kernel, by replay."""

    def __init__(self, words: Words, players: int) -> None:
        self.words = words
        self.shorts = [words.seat_short.format(seat=seat) for seat in range(players)]
        self.settlement: list[str] = []
        """How the round was settled, payment by payment; empty until it is."""
        self._in_turn = False  # whether the seat at turn has put down a card since it got the turn

    def ply(self, replay: Replay, seat: int, move: str) -> list[Said]:
        """The real ``move`` of ``seat`` (as on a record), whose card has left its hand: it is made on ``replay``, and told."""
        return self._pass(replay, seat) if move == PASS_MOVE else self._card(replay, seat, move)

    def _pass(self, replay: Replay, seat: int) -> list[Said]:
        words, required = self.words, int(replay.table.need)
        replay.step(ACTION_OF[PASS_MOVE])
        said = [self._last_words(seat, words.without.format(rank=words.rank_names[required - 1]))]
        if replay.seat == replay.table.last:  # N2.6: all the way round
            follows, rank = int(replay.table.need), words.rank_names[required - 1]
            text = words.nobody_skip if follows else words.nobody_restart
            line = text.format(rank=rank, seat=self.shorts[replay.seat], next=words.rank_names[follows - 1])
            said.append(Said(None, line))
        return said

    def _card(self, replay: Replay, seat: int, move: str) -> list[Said]:
        card, action = move.removesuffix(SILENT_MARK), ACTION_OF[move]
        pots = replay.pots
        last = replay.table.cards[seat] == 1
        unsettled = settlement.before_settling(replay.table, replay.rules, action) if last else None
        replay.step(action)
        texts = [card_sign(card, self.words)]
        self._in_turn = True
        if card in POT_CARDS:
            pot = POT_CARDS.index(card)
            now = replay.table if unsettled is None else unsettled
            texts.append(self._call(pot, int(now.pot[pot]) - pots[pot], silent=card != move))
        if unsettled is None and card[0] == RANKS[-1]:
            texts.append(self.words.call.format(call=self.words.king))
        said = [Said(seat, " ".join(texts))]
        if unsettled is not None:
            said.append(self._last_words(seat, self.words.out))
            self.settlement = list(self._settled(replay, unsettled))
        return said

    def _last_words(self, seat: int, call: str) -> Said:
        """What ``seat`` says as it hands the turn on, behind the cards it has put down."""
        text = f"— {call}" if self._in_turn else call
        self._in_turn = False
        return Said(seat, text)

    def _call(self, pot: int, change: int, *, silent: bool) -> str:
        """What is said with a pot card, by whose play the pot's chips have changed (N2.7)."""
        if not silent:
            return f"{self.words.call.format(call=self.words.takes[pot])} (+{-change})"
        return f"({self.words.silent_paid.format(chips=change)})" if change else f"({self.words.silent})"

    def _settled(self, replay: Replay, table: Any) -> Iterable[str]:
        """The payments, line by line, from ``table``: the round as it stood before the kernel settled it."""
        words, rules = self.words, replay.rules
        winner = self.shorts[int(table.winner)]
        opera = settlement.grand_opera(table, rules)
        if opera is not None:
            yield _sentence(words.grand_opera.format(winner=winner, paid=opera.paid))
        for payment in settlement.payments(table, rules):
            text = words.pays if payment.paid == payment.due else words.pays_short
            left = self.cards(replay.cards.hand(payment.seat))
            seat = self.shorts[payment.seat]
            yield _sentence(text.format(seat=seat, paid=payment.paid, due=payment.due, winner=winner, cards=left))
        for pot, payment in settlement.stranded(table, rules):
            text = words.stranded if payment.paid == payment.due else words.stranded_short
            card, seat = card_sign(POT_CARDS[pot], words), self.shorts[payment.seat]
            yield _sentence(text.format(seat=seat, paid=payment.paid, due=payment.due, card=card))

    def cards(self, cards: Iterable[str]) -> str:
        """Cards as people write them, by rank."""
        return " ".join(card_sign(card, self.words) for card in by_rank(cards))

    def by_seat(self, values: Iterable[object]) -> str:
        """A value for each seat."""
        texts = [str(value).replace("-", MINUS) for value in values]
        return " · ".join(f"{short} {text}" for short, text in zip(self.shorts, texts, strict=True))

    def by_pot(self, chips: Sequence[int]) -> str:
        """The chips in each pot."""
        return " · ".join(f"{card_sign(card, self.words)} {held}" for card, held in zip(POT_CARDS, chips, strict=True))


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
