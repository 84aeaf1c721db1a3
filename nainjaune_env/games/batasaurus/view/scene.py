"""A table of Batasaurus as one seat or a spectator sees it, as plain data: the input of every renderer.

A :class:`Scene` made for a seat holds nothing that the seat may not know (B4), so no renderer can show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from nainjaune_env.core.event_texts import seats_in
from nainjaune_env.core.events import NO_SEAT, EventRow
from nainjaune_env.core.spec import History, Setup
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.core.validation import check_viewer
from nainjaune_env.games.batasaurus import kernel
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.events import Event
from nainjaune_env.games.batasaurus.records.replay import check_part, events_of_history, open_record, winners_of
from nainjaune_env.games.batasaurus.rules import rules_of
from nainjaune_env.games.batasaurus.state import Phase, values_in

FACE_DOWN = 0
"""In place of a value: a card that the viewer does not see."""

Values = tuple[int, ...]
"""Values of dinosaurs, 1 to 12."""


@dataclass(frozen=True)
class LastTrick:
    """The trick before the current one. All its cards have been shown."""

    leader: int
    shown: tuple[Values, ...]
    """Per seat: the values it showed, first to last."""
    gains: tuple[int, ...]
    """Per seat: the cards it took."""


@dataclass(frozen=True)
class Scene:
    """One moment of a game. Seats are absolute, slots from 0."""

    preset: str
    players: int
    dinosaurs: int
    viewer: int | None
    """The seat whose view this is; None for a spectator, who sees every card, or in a :func:`public` scene only those shown."""
    phase: Phase
    trick: int
    """The number of the current trick, from 1."""
    at_turn: int | None
    """The seat to act; None once the game is over."""
    leader: int
    slots: tuple[tuple[int | None, ...] | None, ...]
    """Per seat: None where the viewer may not know which slots are empty; else per slot the value, or ``FACE_DOWN``, or None
    where it is empty."""
    cards: tuple[int, ...]
    """Per seat: the number of cards in its slots."""
    piles: tuple[int, ...]
    unshown: tuple[Values, ...]
    """Per seat: the values it has not shown yet (B4.3)."""
    shown: tuple[Values, ...]
    """Per seat: the values it has shown in this trick, first to last; without the history only the last."""
    committed: tuple[int | None, ...]
    """Per seat: None, or the card it has put face down in this battle (B2.3): its value, or ``FACE_DOWN``."""
    ahead: tuple[int, ...]
    """The seats that battle now; outside battles those with the highest card shown so far."""
    at_stake: int
    """Cards in this trick, including those face down."""
    last: LastTrick | None
    """None in the first trick, and without the history."""
    winners: tuple[int, ...]
    """The winners (B3.2); empty before the end."""

    @property
    def laid(self) -> list[int]:
        """The seats that have shown a card in this trick, from its leader on."""
        return [seat for seat in seats_from(self.leader, self.players) if self.shown[seat]]


def seats_from(first: int, players: int) -> list[int]:
    """Returns all seats in the direction of play, ``first`` first."""
    return [(first + k) % players for k in range(players)]


def scene(setup: Setup, table: Table, seat: int | None = None, *, events: Sequence[EventRow] | None = None) -> Scene:
    """Returns the table (a record of ``state.TABLE``, redacted or not) as ``seat`` sees it; a spectator (None) sees all.

    ``events`` are those of the game so far; without them the last trick is unknown, as a table keeps no history. Raises
    :class:`DealError` for an unknown seat.
    """
    n, rules = setup.players, rules_of(setup)
    seat = check_viewer("The viewer", seat, n)
    over = bool(table.stage != Stage.PLAYING)
    piles = tuple(map(int, table.pile[:n]))
    seen, last = (None, None) if events is None else tricks_of(events, n)
    shown = tuple((int(value),) if value else () for value in table.shown[:n]) if seen is None or over else seen
    playing = sum(1 << other for other in range(n) if table.shown[other])
    ahead = int(table.battling) or int(kernel.tied_for_highest(table, rules, playing))
    return Scene(
        preset=setup.preset,
        players=n,
        dinosaurs=rules.dinosaurs,
        viewer=seat,
        phase=Phase(int(table.phase)),
        trick=int(table.tricks) - over,  # the kernel opens one more, for which some seat has no card (B3.1)
        at_turn=None if over else int(table.seat),
        leader=int(table.leader),
        slots=tuple(_slots(setup, table, other, seat) for other in range(n)),
        cards=tuple(map(int, table.cards[:n])),
        piles=piles,
        unshown=tuple(tuple(values_in(value_bits)) for value_bits in table.held[:n]),
        shown=shown,
        committed=tuple(_committed(setup, table, other, seat) for other in range(n)),
        ahead=tuple(other for other in range(n) if ahead >> other & 1),
        at_stake=int(table.at_stake),
        last=last,
        winners=tuple(winners_of(piles)) if over else (),
    )


def tricks_of(events: Iterable[EventRow], players: int) -> tuple[tuple[Values, ...], LastTrick | None]:
    """Returns what each seat has shown in the current trick, and the last trick, after the ``events`` of a game."""
    leader, shown = NO_SEAT, [list[int]() for _ in range(players)]
    last: LastTrick | None = None
    for event in events:
        if event.kind == Event.PLAY:
            leader = event.seat if leader == NO_SEAT else leader
            shown[event.seat].append(event.card)
        elif event.kind == Event.SHOW:
            for seat in range(players):
                shown[seat] += [value] if (value := event.cards >> 4 * seat & 15) else []
        elif event.kind in (Event.TAKE, Event.SHARE, Event.NOBODY):
            takers = {event.seat} if event.kind == Event.TAKE else {*seats_in(event.cards, 0, players)}
            gains = tuple(event.paid if seat in takers else 0 for seat in range(players))
            last = LastTrick(leader, tuple(map(tuple, shown)), gains)
            leader, shown = NO_SEAT, [list[int]() for _ in range(players)]
    return tuple(map(tuple, shown)), last


def seen_by(setup: Setup, table: Table, seat: int | None, **history: Unpack[History]) -> Scene:
    """Returns the scene at ``table`` with its last trick, which its history gives."""
    return scene(setup, table, seat, events=events_of_history(setup, **history))


def public(seen: Scene) -> Scene:
    """Returns the scene of a seat without what that seat alone knows."""
    committed = tuple(None if value is None else FACE_DOWN for value in seen.committed)
    return replace(seen, viewer=None, slots=(None,) * seen.players, committed=committed)


def playable(seen: Scene, legal: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the ``legal`` actions that play a card of the viewer, each with the card's slot."""
    slots = seen.slots[seen.viewer or 0] or ()
    return [(slot, slot) for slot, value in enumerate(slots) if value is not None and slot in legal]


def scenes(setup: Setup, body: Mapping[str, Any], seat: int | None = None, *, part: int | None = None) -> Iterator[Scene]:
    """Yields the opening of a verified record and every ply as ``seat`` sees it, including the memorising steps (B4.2).

    Raises :class:`~nainjaune_env.core.errors.RecordError` unless ``part`` is None or 1.
    """
    check_part(part)
    replay = open_record(setup, body)
    moves = iter(body["moves"])
    while True:
        yield scene(setup, replay.table, seat, events=replay.events)
        if replay.round_over:
            return
        replay.step(MEMORISE if replay.memorising else next(moves)[1])


def _sees(setup: Setup, table: Table, owner: int, viewer: int | None) -> bool:
    """Returns whether ``viewer`` sees the cards in front of ``owner`` (B4.1, B4.2)."""
    return viewer is None or (viewer == owner and bool(kernel.sees_own_cards(table, rules_of(setup), owner)))


def _slots(setup: Setup, table: Table, owner: int, viewer: int | None) -> tuple[int | None, ...] | None:
    if viewer not in (None, owner):
        return None  # with sorted cards an empty slot is a value, and with shuffled ones it tells nothing
    sees, full = _sees(setup, table, owner, viewer), int(table.slots[owner])
    dealt = table.layout[owner][: rules_of(setup).dinosaurs]
    return tuple((int(value) if sees else FACE_DOWN) if full >> slot & 1 else None for slot, value in enumerate(dealt))


def _committed(setup: Setup, table: Table, owner: int, viewer: int | None) -> int | None:
    if not table.hidden[owner]:
        return None
    return int(table.hidden[owner]) if _sees(setup, table, owner, viewer) else FACE_DOWN
