"""What is to be seen at a table of Batasaurus from one place, as plain data: what every renderer draws from.

A :class:`Scene` made for a seat holds nothing that the seat may not know (B4), so no renderer can show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.games.batasaurus.encode import MEMORISING
from nainjaune_env.games.batasaurus.records.replay import Replay, Trick
from nainjaune_env.games.batasaurus.state import SLOTS

FACE_DOWN = 0
"""In place of a value: a card that the viewer may not see."""

Values = tuple[int, ...]
"""Values of dinosaurs, 1 to 12."""


@dataclass(frozen=True)
class LastTrick:
    """The trick before this one. All of it was public in the end."""

    leader: int
    shown: tuple[Values, ...]
    """Per seat: what it showed, first to last."""
    gains: tuple[int, ...]
    """Per seat: the cards it took."""


@dataclass(frozen=True)
class Scene:
    """One moment of a game. Seats are absolute, slots from 0."""

    preset: str
    players: int
    dinosaurs: int
    viewer: int | None
    """The seat that looks, or None: a spectator, who sees every card."""
    phase: int
    """MEMORISING, TRICK or BATTLE, as in ``encode``."""
    trick: int
    """Tricks begun, this one included."""
    at_turn: int | None
    """The seat to act; None once the game is over."""
    leader: int
    slots: tuple[tuple[int | None, ...] | None, ...]
    """Per seat: None where the viewer may not know which slots are empty; else per slot the value, or ``FACE_DOWN``, or None
    where it is empty."""
    cards: tuple[int, ...]
    """Per seat: how many cards lie in its slots."""
    piles: tuple[int, ...]
    unshown: tuple[Values, ...]
    """Per seat: the values it has not shown yet (B4.3)."""
    shown: tuple[Values, ...]
    """Per seat: what it has shown in this trick, first to last; without the history only the last."""
    committed: tuple[int | None, ...]
    """Per seat: None, or the card it has put face down in this battle (B2.3): its value, or ``FACE_DOWN``."""
    battling: tuple[int, ...]
    at_stake: int
    """Cards in this trick, those face down too."""
    last: LastTrick | None
    """None in the first trick, and where the history is not known."""
    winners: tuple[int, ...]
    """Who has won (B3.2); nobody before the end."""


def scene(setup: Setup, table: Any, seat: int | None = None, *, tricks: Sequence[Trick] | None = None) -> Scene:
    """The table (a record of ``state.TABLE``, redacted or not) as ``seat`` sees it; None is a spectator, who sees all.

    ``tricks`` are those of the game so far (:func:`tricks_of`); without them the last trick is not known, for a table keeps no
    history. Raises :class:`DealError` for a seat that is not there.
    """
    n, rules = setup.players, setup.kernel_rules
    if seat is not None and (isinstance(seat, bool) or seat not in range(n)):
        raise DealError(f"The viewer is a seat from 0 to {n - 1} or None for a spectator, not {seat!r}.")
    over = table.stage != Stage.PLAYING
    piles = tuple(int(cards) for cards in table.pile[:n])
    finished = [trick for trick in tricks or () if trick.gains is not None]
    ongoing = [trick for trick in tricks or () if trick.gains is None]
    return Scene(
        preset=setup.preset,
        players=n,
        dinosaurs=rules.dinosaurs,  # type: ignore[attr-defined]
        viewer=seat,
        phase=int(table.phase),
        trick=int(table.tricks) - over,  # the kernel opens one more, for which some seat has no card (B3.1)
        at_turn=None if over else int(table.seat),
        leader=int(table.leader),
        slots=tuple(_slots(setup, table, other, seat) for other in range(n)),
        cards=tuple(int(cards) for cards in table.cards[:n]),
        piles=piles,
        unshown=tuple(tuple(value for value in range(1, SLOTS + 1) if int(held) >> value - 1 & 1) for held in table.held[:n]),
        shown=_shown(ongoing[-1], n) if ongoing else tuple((int(value),) if value else () for value in table.shown[:n]),
        committed=tuple(_committed(setup, table, other, seat) for other in range(n)),
        battling=tuple(other for other in range(n) if int(table.battling) >> other & 1),
        at_stake=int(table.at_stake),
        last=LastTrick(finished[-1].leader, _shown(finished[-1], n), finished[-1].gains or ()) if finished else None,
        winners=tuple(other for other in range(n) if over and piles[other] == max(piles)),
    )


def _sees(setup: Setup, table: Any, owner: int, viewer: int | None) -> bool:
    """Whether ``viewer`` sees the cards in front of ``owner`` (B4.1, B4.2)."""
    if viewer is None:
        return True
    if setup.rules.memory == "perfect":  # type: ignore[attr-defined]
        return viewer == owner
    return viewer == owner and bool(table.phase == MEMORISING and table.seat == owner)


def _slots(setup: Setup, table: Any, owner: int, viewer: int | None) -> tuple[int | None, ...] | None:
    if viewer not in (None, owner):
        return None  # with sorted cards an empty slot is a value, and elsewhere it tells nothing
    sees, full = _sees(setup, table, owner, viewer), int(table.slots[owner])
    dealt = table.layout[owner][: setup.kernel_rules.dinosaurs]  # type: ignore[attr-defined]
    return tuple((int(value) if sees else FACE_DOWN) if full >> slot & 1 else None for slot, value in enumerate(dealt))


def _committed(setup: Setup, table: Any, owner: int, viewer: int | None) -> int | None:
    if not table.hidden[owner]:
        return None
    return int(table.hidden[owner]) if _sees(setup, table, owner, viewer) else FACE_DOWN


def _shown(trick: Trick, players: int) -> tuple[Values, ...]:
    """Per seat: what it has shown in ``trick``. A battle's cards are shown when all of them lie there (B2.3)."""
    rounds = trick.rounds if trick.gains is not None else trick.rounds[:1] + trick.rounds[1:-1]
    return tuple(tuple(play.value for plays in rounds for play in plays if play.seat == seat) for seat in range(players))


def tricks_of(setup: Setup, opening: Any, actions: Sequence[int], *, every_ply: bool) -> list[Trick]:
    """The tricks that ``actions`` made of the table ``opening``. The arguments are those of ``Transcriber.transcribe``."""
    replay = Replay(setup, opening)
    log = iter(actions)
    while not replay.over:
        action = None if every_ply else replay.unasked(replay.legal())
        if action is None:
            action = next(log, None)
        if action is None:
            break
        replay.step(int(action))
    return replay.tricks
