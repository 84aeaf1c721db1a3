"""A match in words: what is said and seen at each ply, the settlement transfer by transfer, and whole records."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.cards import RANKS, by_rank
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, PASS, PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.language import language_of
from nainjaune_env.games.nain_jaune.language.wording import Words, card_sign
from nainjaune_env.games.nain_jaune.records.replay import Replay, open_recorded, recorded_rounds
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, KernelRules
from nainjaune_env.games.nain_jaune.state import POTS, TABLE


class Transfer(NamedTuple):
    """A transfer of chips in a settlement."""

    text: str
    """The field of ``Words`` that tells it; one that is not paid in full has a field with ``_short`` behind it."""
    seat: int
    """Who pays; in a grand opéra the winner, who takes."""
    paid: int
    due: int
    """More than ``paid`` in a default (N4.2), or if the pot was full (N4.7)."""
    pot: int = 0
    """The pot of a stranded card."""


def unsettled(table: Table, rules: KernelRules, action: int) -> Any:
    """Returns a copy of ``table`` on which the seat to act has played its last card by ``action``, with nothing settled yet."""
    rows = np.array([table], TABLE)
    kernel.put_down(rows[0], rules, action)
    rows[0].winner = table.seat
    return rows[0]


def settlement(table: Table, rules: KernelRules) -> Iterator[Transfer]:
    """Yields the transfers of a round (N3) in the order of ``kernel.settle``; makes them on ``table``, from :func:`unsettled`."""
    chips = int(table.pot.sum())
    kernel.take_every_pot(table, rules)
    if table.opera:
        yield Transfer("grand_opera", int(table.winner), chips, chips)
    losers = [(int(table.winner) + k) % rules.players for k in range(1, rules.players)]
    for seat in losers:
        due = int(kernel.payment_due(table, rules, seat))
        yield Transfer("pays", seat, int(kernel.pay_winner(table, rules, seat)), due)
    for seat, pot in itertools.product(losers, range(POTS)):
        if kernel.is_stranded(table, rules, seat, pot):
            due = int(kernel.stranded_due(table, rules, pot))
            yield Transfer("stranded", seat, int(kernel.pay_stranded(table, rules, seat, pot)), due, pot)


class RoundNarrator:
    """The account of one round, ply by ply. Figures come from the kernel, by replay."""

    def __init__(self, words: Words, seats: SeatNames) -> None:
        self.words = words
        self.seats = seats
        self.settlement: list[str] = []
        """The transfers of the settlement, a line each; empty before it."""
        self._in_turn = False  # whether the seat at turn has played a card since it got the turn

    def ply(self, replay: Replay, seat: int, move: str) -> list[Utterance]:
        """Plays ``move`` on ``replay``, for a real card that ``seat`` has played already; returns what is said and seen."""
        return self._pass(replay, seat) if move == PASS_MOVE else self._card(replay, seat, move)

    def _pass(self, replay: Replay, seat: int) -> list[Utterance]:
        words, required = self.words, int(replay.table.required_rank)
        replay.step(PASS)
        said = [self._end_of_turn(seat, words.without.format(rank=words.rank_names[required - 1]))]
        if replay.seat == replay.table.last:  # the circle is blocked (N2.6)
            now, rank = int(replay.table.required_rank), words.rank_names[required - 1]
            text = words.nobody_skip if now else words.nobody_restart
            said.append(Utterance(None, text.format(rank=rank, seat=self.seats[replay.seat], next=words.rank_names[now - 1])))
        return said

    def _card(self, replay: Replay, seat: int, move: str) -> list[Utterance]:
        card, action = move.removesuffix(SILENT_MARK), ACTION_OF[move]
        pots = replay.pots
        last = unsettled(replay.table, replay.rules, action) if replay.table.cards[seat] == 1 else None
        replay.step(action)
        texts = [card_sign(card, self.words)]
        self._in_turn = True
        if card in POT_CARDS:
            pot = POT_CARDS.index(card)
            now = replay.table if last is None else last
            texts.append(self._call(pot, int(now.pot[pot]) - pots[pot], silent=card != move))
        if last is None and card[0] == RANKS[-1]:
            texts.append(self.words.call.format(call=self.words.king))
        said = [Utterance(seat, " ".join(texts))]
        if last is not None:
            said.append(self._end_of_turn(seat, self.words.out))
            self.settlement = [self._told(replay, transfer) for transfer in settlement(last, replay.rules)]
        return said

    def _end_of_turn(self, seat: int, call: str) -> Utterance:
        text = f"— {call}" if self._in_turn else call
        self._in_turn = False
        return Utterance(seat, text)

    def _call(self, pot: int, change: int, *, silent: bool) -> str:
        """Returns what is said with a pot card that changes the chips of its pot by ``change`` (N2.7)."""
        if not silent:
            return f"{self.words.call.format(call=self.words.takes[pot])} (+{-change})"
        return f"({self.words.silent_paid.format(chips=change)})" if change else f"({self.words.silent})"

    def _told(self, replay: Replay, transfer: Transfer) -> str:
        words, seat = self.words, transfer.seat
        text: str = getattr(words, transfer.text if transfer.paid == transfer.due else f"{transfer.text}_short")
        filled = text.format(
            seat=self.seats[seat],
            winner=self.seats[int(replay.table.winner)],
            paid=transfer.paid,
            due=transfer.due,
            card=card_sign(POT_CARDS[transfer.pot], words),
            cards=self.cards(replay.cards.hand(seat)),
        )
        return self.seats.sentence(filled)

    def cards(self, cards: Iterable[str]) -> str:
        """Returns cards as people write them, by rank."""
        return " ".join(card_sign(card, self.words) for card in by_rank(cards))

    def by_pot(self, chips: Sequence[int]) -> str:
        """Returns the chips in each pot, in a line."""
        return " · ".join(f"{card_sign(card, self.words)} {held}" for card, held in zip(POT_CARDS, chips, strict=True))


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """Returns the account of a verified ``record`` in ``language``, ``"fr"`` or ``"en"``; ``part``: one round only, from 1.

    Raises :class:`~nainjaune_env.core.errors.RecordError` for a round that the record does not have,
    :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
    """
    words = language_of(language).words
    lines = [words.title.format(preset=record["preset"], players=setup.players)]
    for number, written in recorded_rounds(record, part):
        lines += ["", *_RecordedRound(setup, record["agents"], words).tell(written, number)]
    if part in (None, len(record["rounds"])):
        lines += ["", *_result(record, words)]
    return "\n".join(lines) + "\n"


def _result(record: Mapping[str, Any], words: Words) -> list[str]:
    winners = [words.seat.format(seat=seat, agent=record["agents"][seat]) for seat in record["winners"]]
    chips = max(record["stacks"])
    text = words.wins if len(winners) == 1 else words.shared
    return [f"{words.result}{words.colon}{text.format(winners=words.listed(winners), chips=chips)}"]


class _RecordedRound:
    """The account of one round of a record, line by line."""

    def __init__(self, setup: Setup, agents: list[str], words: Words) -> None:
        self.setup = setup
        self.words = words
        self.names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(agents)]
        self.seats = SeatNames(words, setup.players, agents)
        self.narrator = RoundNarrator(words, self.seats)
        self.lines: list[str] = []

    def tell(self, written: Mapping[str, Any], number: int) -> list[str]:
        """Returns the lines of round ``number``."""
        replay = open_recorded(self.setup, written, number)
        self._opening(written, replay, number)
        self.lines.append("")
        for seat, texts in itertools.groupby(self._said(replay, written["moves"]), key=lambda said: said.seat):
            if seat is None:
                self.lines += [f"  {text}" for _, text in texts]
            else:
                self._say(self.names[seat], " ".join(text for _, text in texts))
        self.lines += ["", f"  {self.words.settling}", *(f"    {line}" for line in self.narrator.settlement)]
        self._chips(self.words.after, replay, written["stacks"])
        return self.lines

    def _said(self, replay: Replay, moves: list[list[Any]]) -> Iterator[Utterance]:
        for seat, move in moves:
            replay.cards.put(seat, move)
            yield from self.narrator.ply(replay, seat, move)

    def _opening(self, written: Mapping[str, Any], replay: Replay, number: int) -> None:
        words, narrator, seats = self.words, self.narrator, self.seats
        self.lines.append(words.round.format(number=number, dealer=seats.labels[written["dealer"]]))
        self._say(words.stacks, seats.by_seat(written["stacks"]))
        self._say(words.pots, narrator.by_pot(replay.pots))
        for seat, hand in enumerate(written["hands"]):
            self._say(words.hand.format(seat=seats.labels[seat]), narrator.cards(hand))
        self._say(words.talon, narrator.cards(written["talon"]))

    def _chips(self, title: str, replay: Replay, before: list[int]) -> None:
        stacks = (f"{now} ({now - then:+d})" for now, then in zip(replay.stacks, before, strict=True))
        self._say(title, self.seats.by_seat(stacks))
        self._say(self.words.pots_after, self.narrator.by_pot(replay.pots))

    def _say(self, title: str, text: str) -> None:
        self.lines.append(f"  {title}{self.words.colon}{text}")
