"""A record told for people, in the calls of the table: ``sans 4``, ``Dame qui prend !``, ``Roi et je recommence !``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nainjaune_env.cards import RANKS, by_rank
from nainjaune_env.errors import RecordError
from nainjaune_env.games.nain_jaune import settlement
from nainjaune_env.games.nain_jaune.notation import setup_table
from nainjaune_env.games.nain_jaune.real_cards import ACTION_OF, PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.replay import Replay
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.games.nain_jaune.words import Words, card_sign, words_in
from nainjaune_env.spec import Setup

MINUS = "−"


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
            lines += ["", *_Account(setup, record["agents"], words).tell(written, number)]
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


class _Account:
    """The telling of one round. Figures come from the kernel, by replay."""

    def __init__(self, setup: Setup, agents: list[str], words: Words) -> None:
        self.setup = setup
        self.words = words
        self.names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(agents)]
        self.shorts = [words.seat_short.format(seat=seat) for seat in range(setup.players)]
        self.lines: list[str] = []
        self.turn: list[str] = []
        """What the seat at turn has put down and called so far."""

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
        for seat, move in written["moves"]:
            if move == PASS_MOVE:
                self._pass(replay, seat)
            else:
                self._card(replay, seat, move)
        self._chips(self.words.after, replay, written["stacks"])
        return self.lines

    def _opening(self, written: Mapping[str, Any], replay: Replay, number: int) -> None:
        words = self.words
        self.lines.append(words.round.format(number=number, dealer=written["dealer"]))
        self._say(words.stacks, self._by_seat(written["stacks"]))
        self._say(words.pots, self._by_pot(replay.pots))
        for seat, hand in enumerate(written["hands"]):
            self._say(words.hand.format(seat=self.shorts[seat]), self._cards(hand))
        self._say(words.talon, self._cards(written["talon"]))

    def _pass(self, replay: Replay, seat: int) -> None:
        words, required = self.words, int(replay.table.need)
        replay.play(PASS_MOVE)
        call = words.without.format(rank=words.rank_names[required - 1])
        self._end_turn(seat, call)
        if replay.seat == replay.table.last:  # N2.6: all the way round
            follows, rank = int(replay.table.need), words.rank_names[required - 1]
            text = words.nobody_skip if follows else words.nobody_restart
            self.lines.append("  " + text.format(rank=rank, seat=self.shorts[replay.seat], next=words.rank_names[follows - 1]))

    def _card(self, replay: Replay, seat: int, move: str) -> None:
        card, action = move.removesuffix(SILENT_MARK), ACTION_OF[move]
        pots = replay.pots
        last = replay.table.cards[seat] == 1
        unsettled = settlement.before_settling(replay.table, replay.rules, action) if last else None
        replay.play(move)
        self.turn.append(card_sign(card, self.words))
        if card in POT_CARDS:
            pot = POT_CARDS.index(card)
            now = replay.table if unsettled is None else unsettled
            self.turn.append(self._call(pot, int(now.pot[pot]) - pots[pot], silent=card != move))
        if unsettled is not None:
            self._end_turn(seat, self.words.out)
            self._settle(replay, unsettled)
        elif card[0] == RANKS[-1]:
            self.turn.append(self.words.call.format(call=self.words.king))

    def _call(self, pot: int, change: int, *, silent: bool) -> str:
        """What is said with a pot card, by whose play the pot's chips have changed (N2.7)."""
        if not silent:
            return f"{self.words.call.format(call=self.words.takes[pot])} (+{-change})"
        return f"({self.words.silent_paid.format(chips=change)})" if change else f"({self.words.silent})"

    def _end_turn(self, seat: int, call: str) -> None:
        cards = " ".join(self.turn)
        self._say(self.names[seat], f"{cards} — {call}" if cards else call)
        self.turn = []

    def _settle(self, replay: Replay, table: Any) -> None:
        """The payments, line by line, from ``table``: the round as it stood before the kernel settled it."""
        words, rules = self.words, replay.rules
        winner = self.shorts[int(table.winner)]
        self.lines += ["", f"  {words.settling}"]
        opera = settlement.grand_opera(table, rules)
        if opera is not None:
            self._line(words.grand_opera.format(winner=winner, paid=opera.paid))
        for payment in settlement.payments(table, rules):
            text = words.pays if payment.paid == payment.due else words.pays_short
            left = self._cards(replay.cards.hand(payment.seat))
            self._line(
                text.format(seat=self.shorts[payment.seat], paid=payment.paid, due=payment.due, winner=winner, cards=left)
            )
        for pot, payment in settlement.stranded(table, rules):
            text = words.stranded if payment.paid == payment.due else words.stranded_short
            card = card_sign(POT_CARDS[pot], words)
            self._line(text.format(seat=self.shorts[payment.seat], paid=payment.paid, due=payment.due, card=card))

    def _chips(self, title: str, replay: Replay, before: list[int]) -> None:
        self._say(title, self._by_seat(f"{now} ({now - then:+d})" for now, then in zip(replay.stacks, before, strict=True)))
        self._say(self.words.pots_after, self._by_pot(replay.pots))

    def _say(self, title: str, text: str) -> None:
        self.lines.append(f"  {title}{self.words.colon}{text}")

    def _line(self, text: str) -> None:
        self.lines.append("    " + text[0].upper() + text[1:])

    def _cards(self, cards: Iterable[str]) -> str:
        return " ".join(card_sign(card, self.words) for card in by_rank(cards))

    def _by_seat(self, values: Iterable[object]) -> str:
        texts = [str(value).replace("-", MINUS) for value in values]
        return " · ".join(f"{short} {text}" for short, text in zip(self.shorts, texts, strict=True))

    def _by_pot(self, chips: Iterable[int]) -> str:
        return " · ".join(f"{card_sign(card, self.words)} {held}" for card, held in zip(POT_CARDS, chips, strict=True))
