"""What one viewer sees of a table, as plain data that every renderer draws.

A :class:`Scene` made for a seat holds nothing that the seat may not know (N6), so no renderer can show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nainjaune_env.core.cards import DECK, RANKS, by_rank, cards_in
from nainjaune_env.core.events import EventRow
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.core.validation import check_viewer
from nainjaune_env.games.nain_jaune.actions import ACTION_OF
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.games.nain_jaune.language.wording import CAPTURE, KING, STOP
from nainjaune_env.games.nain_jaune.records.replay import Replay, open_recorded, recorded_rounds, replay_round
from nainjaune_env.games.nain_jaune.state import NOBODY

SIDES = {2: (0, 1), 3: (1, 0), 4: (1, 1), 5: (1, 2), 6: (1, 3), 7: (2, 2), 8: (2, 3)}
"""By number of seats: how many sit on the left and at the top; as many sit on the right as on the left."""


@dataclass(frozen=True)
class Scene:
    """One moment of a round. Cards are text (``7d``), seats are absolute, hands are sorted by rank."""

    preset: str
    players: int
    direction: str
    viewer: int | None
    """The seat that sees the scene, or None for a spectator, who sees every hand, or none in a :func:`public` scene."""
    round: int
    """Rounds dealt in this match, this one included."""
    dealer: int
    at_turn: int | None
    """The seat to act; None once the round is over."""
    required: int
    """Required rank 1..13; 0 = the seat at turn has the lead."""
    pots: tuple[int, ...]
    """Chips in each pot, in pot order."""
    captors: tuple[int | None, ...]
    """Per pot: the seat that captured it by its card in this round."""
    stacks: tuple[int, ...]
    sizes: tuple[int, ...]
    """Per seat: cards in hand."""
    hands: tuple[tuple[str, ...] | None, ...]
    """Per seat: the cards in hand; None = hidden from the viewer."""
    run: tuple[tuple[int, str], ...] | None
    """The current run as seats and cards, or the last one before a lead; None if the moves are not known."""
    call: tuple[int, str, int] | None
    """The last call: the seat; STOP, CAPTURE or KING; the missing rank, the captured pot, or 0."""
    winner: int | None
    """The seat that went out."""
    grand_opera: bool
    payoffs: tuple[int, ...]
    """Per seat: net chips of the round so far, antes included."""

    @property
    def bottom(self) -> int:
        """The seat that is drawn at the bottom: the viewer's, for a spectator seat 0."""
        return self.viewer or 0

    @property
    def sides(self) -> tuple[list[int], list[int], list[int]]:
        """The other seats in the direction of play (N1.5): on the left from the top down, at the top, on the right."""
        others = [(self.bottom + k) % self.players for k in range(1, self.players)]
        if self.direction != "clockwise":
            others.reverse()
        left, top = SIDES[self.players]
        return others[:left][::-1], others[left : left + top], others[left + top :]


def scene(setup: Setup, table: Table, seat: int | None = None, replay: Replay | None = None) -> Scene:
    """Returns the table (a record of ``state.TABLE``) as ``seat`` sees it; None is a spectator, who sees every hand.

    ``replay`` is the round so far, with the real hands. Without it hands are the table's own, in which the kernel chose between
    equal cards, and no run is known. Raises :class:`DealError` for a seat that does not exist.
    """
    n = setup.players
    seat = check_viewer("The viewer", seat, n)
    rules: Any = setup.rules
    run, call = (None, None) if replay is None else run_and_call(replay.events)
    hands = [by_rank(DECK[card] for card in cards_in(hand)) for hand in table.hand[:n]] if replay is None else replay.hands
    return Scene(
        preset=setup.preset,
        players=n,
        direction=rules.direction,
        viewer=seat,
        round=int(table.rounds),
        dealer=int(table.dealer),
        at_turn=int(table.seat) if table.stage == Stage.PLAYING else None,
        required=int(table.required_rank),
        pots=tuple(int(chips) for chips in table.pot),
        captors=tuple(None if who == NOBODY else int(who) for who in table.captor),
        stacks=tuple(int(chips) for chips in table.stack[:n]),
        sizes=tuple(int(cards) for cards in table.cards[:n]),
        hands=tuple(tuple(hand) if seat in (None, k) else None for k, hand in enumerate(hands)),
        run=run,
        call=call,
        winner=None if table.winner == NOBODY else int(table.winner),
        grand_opera=bool(table.opera),
        payoffs=tuple(int(table.stack[k] - table.before[k]) for k in range(n)),
    )


def run_and_call(events: Iterable[EventRow]) -> tuple[tuple[tuple[int, str], ...], tuple[int, str, int] | None]:
    """Returns the run and the last call after the ``events`` of a round, as in a :class:`Scene`."""
    run: list[tuple[int, str]] = []
    call: tuple[int, str, int] | None = None
    for event in events:
        if event.kind == Event.PLAY:
            card = DECK[event.card]
            run = [(event.seat, card)] if event.pile else [*run, (event.seat, card)]
            call = (event.seat, KING, 0) if card[0] == RANKS[-1] else call
        elif event.kind == Event.CAPTURE:
            call = (event.seat, CAPTURE, event.pile)
        elif event.kind == Event.STOP:
            call = (event.seat, STOP, event.card)
    return tuple(run), call


def public(seen: Scene) -> Scene:
    """Returns the scene of a seat without what that seat alone knows."""
    return replace(seen, viewer=None, hands=(None,) * seen.players)


def playable(seen: Scene, legal: Sequence[int]) -> list[tuple[int, str]]:
    """Returns the ``legal`` actions that play a card of the viewer's hand, each with the card; none is a silent play."""
    hand = seen.hands[seen.bottom] or ()
    return [(ACTION_OF[card], card) for card in hand if ACTION_OF[card] in legal]


def scenes(setup: Setup, body: Mapping[str, Any], seat: int | None = None, *, part: int | None = None) -> Iterator[Scene]:
    """Yields each deal and each move of a verified record, as ``seat`` sees it; ``part``: one round only, from 1.

    Raises :class:`~nainjaune_env.core.errors.RecordError` for a round that the record does not have.
    """
    for round_number, written in recorded_rounds(body, part):
        replay = open_recorded(setup, written, round_number)
        yield scene(setup, replay.table, seat, replay)
        for _, move in written["moves"]:
            replay.play(move)
            yield scene(setup, replay.table, seat, replay)


def seen_by(setup: Setup, table: Table, seat: int | None, *, opening: Table = None, actions: Sequence[int] = ()) -> Scene:
    """Returns the scene at ``table``, which ``actions`` led to from ``opening``: a ``core.spec.History``.

    They give the run and the real cards.
    """
    return scene(setup, table, seat, None if opening is None else replay_round(setup, opening, actions))
