"""What is to be seen at a table of Nain Jaune from one place, as plain data: what every renderer draws from.

A :class:`Scene` made for a seat holds nothing that the seat may not know (N6), so no renderer can show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nainjaune_env.core.cards import DECK, RANKS, by_rank, cards_in
from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.games.nain_jaune.records.real_cards import PASS_MOVE, SILENT_MARK
from nainjaune_env.games.nain_jaune.records.replay import Replay
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, TOP_RANK, top_rank_of
from nainjaune_env.games.nain_jaune.state import NOBODY

STOP, CAPTURE, KING = "stop", "capture", "king"
"""What a seat can be heard to say: "sans v", "v qui prend", and that a King gives the lead again."""

Cards = tuple[str, ...]
Moves = Sequence[tuple[int, str]]
"""A round's moves as on a record: ``(0, "5h")``, ``(0, "-")``, ``(1, "7d~")``."""


@dataclass(frozen=True)
class Scene:
    """One moment of a round. Cards are text (``7d``), seats are absolute, hands are sorted by rank."""

    preset: str
    players: int
    direction: str
    viewer: int | None
    """The seat that looks, or None: a spectator, who sees every hand."""
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
    """Per seat: the cards in hand; None = not for the viewer to see."""
    run: tuple[tuple[int, str], ...] | None
    """The current run as (seat, card), or the last one where a lead is to come; None where the moves are not known."""
    said: tuple[int, str, int] | None
    """The last words: the seat; STOP, CAPTURE or KING; and the rank that is missing, else the pot captured, else 0."""
    winner: int | None
    """The seat that went out."""
    grand_opera: bool
    payoffs: tuple[int, ...]
    """Per seat: net chips of the round so far, antes included."""


def scene(
    setup: Setup,
    table: Any,
    seat: int | None = None,
    *,
    hands: Sequence[Sequence[str]] | None = None,
    moves: Moves | None = None,
) -> Scene:
    """The table (a record of ``state.TABLE``) as ``seat`` sees it; None is a spectator, who sees all.

    ``hands`` are the real cards held *now*, per seat; None takes the table's own, where the kernel chose among like cards.
    ``moves`` are this round's so far; without them no run is known, for a table keeps no history. Raises
    :class:`DealError` for a seat that is not there.
    """
    n = setup.players
    if seat is not None and seat not in range(n):
        raise DealError(f"The viewer is a seat from 0 to {n - 1} or None for a spectator, not {seat!r}.")
    rules: Any = setup.rules
    run, said = follow(moves, n, skip=rules.blocked == "skip", top=top_rank_of(rules)) if moves is not None else (None, None)
    held = [[DECK[card] for card in cards_in(table.hand[k])] for k in range(n)] if hands is None else hands
    return Scene(
        preset=setup.preset,
        players=n,
        direction=rules.direction,
        viewer=seat,
        round=int(table.rounds),
        dealer=int(table.dealer),
        at_turn=int(table.seat) if table.stage == Stage.PLAYING else None,
        required=int(table.need),
        pots=tuple(int(chips) for chips in table.pot),
        captors=tuple(None if who == NOBODY else int(who) for who in table.captor),
        stacks=tuple(int(chips) for chips in table.stack[:n]),
        sizes=tuple(int(cards) for cards in table.cards[:n]),
        hands=tuple(tuple(by_rank(held[k])) if seat in (None, k) else None for k in range(n)),
        run=run,
        said=said,
        winner=None if table.winner == NOBODY else int(table.winner),
        grand_opera=bool(table.opera),
        payoffs=tuple(int(table.stack[k] - table.before[k]) for k in range(n)),
    )


def follow(
    moves: Moves, players: int, *, skip: bool, top: int = TOP_RANK
) -> tuple[tuple[tuple[int, str], ...], tuple[int, str, int] | None]:
    """The current run (else the last), and the last words said.

    ``skip``: whether ``blocked`` is so (N2.6); ``top``: the rank with nothing above it (N2.3).
    """
    run: list[tuple[int, str]] = []
    said: tuple[int, str, int] | None = None
    required = passes = 0
    for seat, move in moves:
        if move == PASS_MOVE:
            if passes == 0:
                said = (seat, STOP, required)
            passes += 1
            if passes == players:
                passes = 0
                required = required + 1 if skip and required < top else 0
            continue
        card = move.removesuffix(SILENT_MARK)
        rank = RANKS.index(card[0]) + 1
        if required == 0:
            run = []
        run.append((seat, card))
        if move in POT_CARDS:
            said = (seat, CAPTURE, POT_CARDS.index(move))
        elif rank == TOP_RANK:
            said = (seat, KING, 0)
        required = rank + 1 if rank < top else 0
        passes = 0
    return tuple(run), said


def real_cards_at(
    setup: Setup, table: Any, opening: Any, actions: Sequence[int], rng: np.random.Generator, *, every_ply: bool
) -> tuple[list[list[str]], list[tuple[int, str]]]:
    """The real hands now and the moves of the round at ``table``, which ``actions`` led to from ``opening``.

    The arguments are those of ``Transcriber.transcribe``; with the same ``rng`` the cards are those of the record.
    """
    replay = Replay(setup, opening)
    log = iter(actions)
    while True:
        moves = list(_play(replay, log, rng, every_ply))
        if replay.table.rounds == table.rounds:
            return replay.cards.hands(), moves
        replay.deal()


def _play(replay: Replay, log: Iterator[int], rng: np.random.Generator, every_ply: bool) -> Iterator[tuple[int, str]]:
    """The moves of one round, as far as the log goes."""
    while not replay.round_over:
        action = None if every_ply else replay.unasked(replay.legal())
        if action is None:
            action = next(log, None)
        if action is None:
            return
        yield replay.seat, replay.cards.play(replay.seat, action, rng)
        replay.step(action)
