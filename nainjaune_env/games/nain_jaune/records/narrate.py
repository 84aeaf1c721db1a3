"""A match in words: what is said and seen at each ply, the settlement transfer by transfer, and whole records."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.cards import RANKS, by_rank
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import Utterance
from nainjaune_env.core.table import Table
from nainjaune_env.core.texts import SeatNames
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.language import language_of
from nainjaune_env.games.nain_jaune.language.wording import CAPTURE, KING, Words
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


class Narrator:
    """The account of a match, ply by ply. Figures come from the kernel, by replay."""

    def __init__(self, replay: Replay, words: Words, seats: SeatNames) -> None:
        self.replay, self.words, self.seats = replay, words, seats
        self.settlement: list[str] = []
        """The transfers of the last settlement, a line each."""
        self._in_turn = False  # whether the seat at turn has played a card since it got the turn

    def ply(self, move: str) -> list[Utterance]:
        """Plays ``move`` on the replay; returns what is said and seen."""
        return self._pass() if move == PASS_MOVE else self._card(move)

    def _pass(self) -> list[Utterance]:
        words, replay, seat = self.words, self.replay, self.replay.seat
        rank = words.rank_names[replay.required - 1]
        replay.play(PASS_MOVE)
        said = [self._end_of_turn(seat, words.without.format(rank=rank))]
        if replay.seat == replay.table.last:  # the circle is blocked (N2.6)
            text = words.nobody_skip if replay.required else words.nobody_restart
            above = words.rank_names[replay.required - 1]
            said.append(Utterance(None, text.format(rank=rank, seat=self.seats[replay.seat], next=above)))
        return said

    def _card(self, move: str) -> list[Utterance]:
        words, replay, seat, card = self.words, self.replay, self.replay.seat, move.removesuffix(SILENT_MARK)
        pots = replay.pots
        last = unsettled(replay.table, replay.rules, ACTION_OF[move]) if replay.table.cards[seat] == 1 else None
        replay.play(move)
        texts = [words.sign(card)]
        self._in_turn = True
        if card in POT_CARDS:
            pot = POT_CARDS.index(card)
            now = replay.table if last is None else last
            texts.append(self._call(pot, int(now.pot[pot]) - pots[pot], silent=card != move))
        if last is None and card[0] == RANKS[-1]:
            texts.append(words.said(KING, 0))
        said = [Utterance(seat, " ".join(texts))]
        if last is not None:
            said.append(self._end_of_turn(seat, words.out))
            self.settlement = [self._told(transfer) for transfer in settlement(last, replay.rules)]
        return said

    def _end_of_turn(self, seat: int, call: str) -> Utterance:
        text = f"— {call}" if self._in_turn else call
        self._in_turn = False
        return Utterance(seat, text)

    def _call(self, pot: int, change: int, *, silent: bool) -> str:
        """Returns what is said with a pot card that changes the chips of its pot by ``change`` (N2.7)."""
        if not silent:
            return f"{self.words.said(CAPTURE, pot)} (+{-change})"
        return f"({self.words.silent_paid.format(chips=change)})" if change else f"({self.words.silent})"

    def _told(self, transfer: Transfer) -> str:
        words, seat = self.words, transfer.seat
        text: str = getattr(words, transfer.text if transfer.paid == transfer.due else f"{transfer.text}_short")
        filled = text.format(
            seat=self.seats[seat],
            winner=self.seats[int(self.replay.table.winner)],
            paid=transfer.paid,
            due=transfer.due,
            card=words.sign(POT_CARDS[transfer.pot]),
            cards=words.signs(self.replay.hands[seat]),
        )
        return self.seats.sentence(filled)


def show(setup: Setup, record: Mapping[str, Any], language: str, part: int | None = None) -> str:
    """Returns the account of a verified ``record`` in ``language``, ``"fr"`` or ``"en"``; ``part``: one round only, from 1.

    Raises :class:`~nainjaune_env.core.errors.RecordError` for a round that the record does not have,
    :class:`~nainjaune_env.core.errors.RulesError` for an unknown language.
    """
    words = language_of(language).words
    names = [words.seat.format(seat=seat, agent=agent) for seat, agent in enumerate(record["agents"])]
    seats = SeatNames(words, setup.players, record["agents"])
    lines = [words.title.format(preset=record["preset"], players=setup.players)]
    for number, written in recorded_rounds(record, part):
        narrator = Narrator(open_recorded(setup, written, number), words, seats)
        lines += ["", words.round.format(number=number, dealer=seats.labels[written["dealer"]])]
        lines += (f"  {line}" if line else "" for line in _round(narrator, written, names))
    if part in (None, len(record["rounds"])):
        winners, text = record["winners"], words.wins if len(record["winners"]) == 1 else words.shared
        won = text.format(winners=words.listed(names[seat] for seat in winners), chips=max(record["stacks"]))
        lines += ["", f"{words.result}{words.colon}{won}"]
    return "\n".join(lines) + "\n"


def _round(narrator: Narrator, written: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Yields the lines of a recorded round: the deal, what was played, and the settlement."""
    words, seats, replay = narrator.words, narrator.seats, narrator.replay
    yield f"{words.stacks}{words.colon}{seats.by_seat(written['stacks'])}"
    yield f"{words.pots}{words.colon}{words.by_pot(replay.pots)}"
    for seat, hand in enumerate(written["hands"]):
        yield f"{words.hand.format(seat=seats.labels[seat])}{words.colon}{words.signs(by_rank(hand))}"
    yield f"{words.talon}{words.colon}{words.signs(by_rank(written['talon']))}"
    yield ""
    said = itertools.chain.from_iterable(narrator.ply(move) for _, move in written["moves"])
    for actor, texts in itertools.groupby(said, key=lambda event: event.seat):
        if actor is None:
            yield from (text for _, text in texts)
        else:
            yield f"{names[actor]}{words.colon}{' '.join(text for _, text in texts)}"
    yield ""
    yield words.settling
    yield from (f"  {line}" for line in narrator.settlement)
    stacks = (f"{now} ({now - then:+d})" for now, then in zip(replay.stacks, written["stacks"], strict=True))
    yield f"{words.after}{words.colon}{seats.by_seat(stacks)}"
    yield f"{words.pots_after}{words.colon}{words.by_pot(replay.pots)}"
