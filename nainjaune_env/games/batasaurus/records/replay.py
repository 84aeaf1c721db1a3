"""A game replayed from its opening table or its record."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import DealError, RecordError, quoted
from nainjaune_env.core.events import EventRow
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_SEED, check_list, check_whole
from nainjaune_env.engine.replay import ActionLog, EventReplay
from nainjaune_env.games.batasaurus import chance
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.kernel import must_remember
from nainjaune_env.games.batasaurus.rules import rules_of
from nainjaune_env.games.batasaurus.state import Phase

RECORD = "The record"
"""The place that errors name."""


class Replay(EventReplay):
    """One table played ply by ply. The table must be an opening."""

    @property
    def memorising(self) -> bool:
        """Whether the seat to act looks at its cards (B4.2)."""
        return bool(self.table.phase == Phase.MEMORISING)

    @property
    def piles(self) -> list[int]:
        """Cards won, by seat; at the end including those left in front of it (B3.1)."""
        return list(map(int, self.table.pile[: self.players]))

    @property
    def left(self) -> list[int]:
        """Cards in front of each seat. At the end they are counted in its pile as well."""
        return list(map(int, self.table.cards[: self.players]))

    @property
    def legal(self) -> list[int]:
        """The legal actions of the seat to act."""
        return legal_actions(self.legal_bits())

    @property
    def outcome(self) -> dict[str, Any]:
        """The end of the game as in a record (B3)."""
        return {"piles": self.piles, "winners": winners_of(self.piles)}

    def memorise(self) -> None:
        """Makes all memorising steps that are still to come: a record has no moves for them (B4.2)."""
        while self.memorising:
            self.step(MEMORISE)


def events_of_history(setup: Setup, opening: Any = None, actions: Sequence[int] = ()) -> list[EventRow] | None:
    """Returns the events of a ``core.spec.History``: what ``actions`` made from the table ``opening``; None without a history."""
    if opening is None:
        return None
    replayed = Replay(setup, opening)
    for _ in replayed.plies(ActionLog(actions)):
        pass
    return replayed.events


def winners_of(piles: Sequence[int]) -> list[int]:
    """Returns the seats with most cards (B3.2)."""
    return [seat for seat, cards in enumerate(piles) if cards == max(piles)]


def setup_table(setup: Setup, layouts: Sequence[Sequence[int]], *, leader: int, seed: int = 0) -> Any:
    """Returns a table (one record of ``state.TABLE``) at the start of a game with ``layouts``: per seat, the value in each slot.

    ``seed`` is the state of the generator that later games are dealt from. Raises :class:`DealError` where a layout does not
    hold each value once, where it is not sorted although ``memory = perfect`` requires it (B4.1), and where a number is not
    whole or out of range.
    """
    rules = rules_of(setup)
    values = list(range(1, rules.dinosaurs + 1))
    if len(layouts) != setup.players:
        raise DealError(f"With {setup.players} players there are {setup.players} layouts, not {len(layouts)}.")
    checked = [[check_whole(f"Each value in layout {seat}", value) for value in row] for seat, row in enumerate(layouts)]
    for seat, given in enumerate(checked):
        if sorted(given) != values:
            raise DealError(f"A layout holds each of the values 1 to {rules.dinosaurs} once, and seat {seat}'s is {given}.")
        if not must_remember(rules) and given != values:
            raise DealError(f"With memory = perfect layouts are sorted (B4.1), and seat {seat}'s is {given}.")
    leader = check_whole("The leader", leader)
    if not 0 <= leader < setup.players:
        raise DealError(f"The leader is a seat from 0 to {setup.players - 1}, not {quoted(leader)}.")
    table = chance.opening(setup, [leader, *itertools.chain(*checked)])
    table.rng = np.uint64(check_whole("The seed", seed, 0, MAX_SEED))
    return table


def open_record(setup: Setup, body: Mapping[str, Any]) -> Replay:
    """Returns a replay at the opening table of a record; raises :class:`RecordError` where ``body`` describes no such table."""
    rows = check_list(RECORD, "layouts", body["layouts"], list, setup.players)
    layouts = [check_list(RECORD, f"layouts[{seat}]", row, int, rules_of(setup).dinosaurs) for seat, row in enumerate(rows)]
    leader = body["leader"]
    if type(leader) is not int:
        raise RecordError(f"{RECORD}: expected 'leader' to be a seat from 0 to {setup.players - 1}, not {quoted(leader)}.")
    try:
        return Replay(setup, setup_table(setup, layouts, leader=leader))
    except DealError as error:
        raise RecordError(f"{RECORD}: {error}") from None


def check_part(part: int | None) -> None:
    """Raises :class:`RecordError` unless ``part`` is None or 1: a game is one round."""
    if part not in (None, 1):
        raise RecordError(f"The record has one round, and no round {quoted(part)}.")
