"""What one viewer sees of a table, as plain data that every renderer draws.

A :class:`Scene` made for a seat holds nothing that the seat may not know (N6), so no renderer can show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nainjaune_env.core.cards import DECK, RANKS, by_rank, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.core.validation import check_viewer
from nainjaune_env.engine.replay import ActionLog
from nainjaune_env.games.nain_jaune.actions import PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.games.nain_jaune.state import NOBODY

STOP, CAPTURE, KING = "stop", "capture", "king"
"""The kinds of calls: a stop or a pass ("sans v"), a capture ("v qui prend"), a King that gives the lead again."""

Cards = tuple[str, ...]


@dataclass(frozen=True)
class Scene:
    """One moment of a round. Cards are text (``7d``), seats are absolute, hands are sorted by rank."""

    preset: str
    players: int
    direction: str
    viewer: int | None
    """The seat that sees the scene, or None for a spectator, who sees every hand."""
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
    hands: tuple[Cards | None, ...]
    """Per seat: the cards in hand; None = hidden from the viewer."""
    run: tuple[tuple[int, str], ...] | None
    """The current run as (seat, card), or the last one before a lead; None if the moves are not known."""
    said: tuple[int, str, int] | None
    """The last call: the seat; STOP, CAPTURE or KING; the missing rank, the captured pot, or 0."""
    winner: int | None
    """The seat that went out."""
    grand_opera: bool
    payoffs: tuple[int, ...]
    """Per seat: net chips of the round so far, antes included."""


class Course:
    """The course of a round on real cards: what a table, which keeps no history, does not show."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.moves: list[tuple[int, str]] = []
        """The moves as on a record: ``(0, "5h")``, ``(0, "-")``, ``(1, "7d~")``."""
        self.run: list[tuple[int, str]] = []
        """As ``Scene.run``."""
        self.said: tuple[int, str, int] | None = None
        """As ``Scene.said``."""

    def note(self, move: str) -> None:
        """Adds a ``move`` that the seat to act is about to make on the table."""
        table, seat = self.replay.table, self.replay.seat
        card = move.removesuffix(SILENT_MARK)
        self.moves.append((seat, move))
        if move == PASS_MOVE:
            if seat == table.last:
                self.said = (seat, STOP, int(table.required_rank))
            return
        if table.required_rank == 0:
            self.run.clear()
        self.run.append((seat, card))
        if move in POT_CARDS:
            self.said = (seat, CAPTURE, POT_CARDS.index(move))
        elif card[0] == RANKS[-1]:
            self.said = (seat, KING, 0)


def course_of(setup: Setup, opening: Table, actions: Sequence[int]) -> Course:
    """Returns the course of the round that was dealt as the table ``opening``, with the ``actions`` of every ply since."""
    replay = Replay(setup, opening)
    course = Course(replay)
    for seat, _, action in replay.plies(ActionLog(actions)):
        course.note(replay.show(seat, action))
    return course


def scene(setup: Setup, table: Table, seat: int | None = None, course: Course | None = None) -> Scene:
    """Returns the table (a record of ``state.TABLE``) as ``seat`` sees it; None is a spectator, who sees every hand.

    ``course`` is that of the round so far, with the real hands. Without it hands are the table's own, in which the kernel chose
    between equal cards, and no run is known. Raises :class:`DealError` for a seat that does not exist.
    """
    n = setup.players
    seat = check_viewer("The viewer", seat, n)
    rules: Any = setup.rules
    held = [[DECK[card] for card in cards_in(table.hand[k])] for k in range(n)] if course is None else course.replay.cards.hands()
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
        hands=tuple(tuple(by_rank(held[k])) if seat in (None, k) else None for k in range(n)),
        run=None if course is None else tuple(course.run),
        said=None if course is None else course.said,
        winner=None if table.winner == NOBODY else int(table.winner),
        grand_opera=bool(table.opera),
        payoffs=tuple(int(table.stack[k] - table.before[k]) for k in range(n)),
    )
