"""Constructed rounds, played on the kernel, on the twin and in a batch at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune import SPEC
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from tests.twin.compare import ACTION, Comparer
from tests.twin.nain_jaune import DECK, HAND_SIZES, PASS, TwinRound

PLAIN: dict[str, Any] = {
    "decline": "never",
    "blocked": "restart",
    "payment": "cards",
    "stranded": "none",
    "grand_opera": "first_turn",
    "announce": "automatic",
    "unannounced": 0,
    "stake": 1,
    "starting_stack": None,
    "end_on_default": False,
    "max_rounds": 12,
}
"""The least eventful rules; a test names what it sets otherwise."""


def plain(players: int, **knobs: Any) -> Setup:
    """`PLAIN` rules at any number of seats, with some knobs set otherwise."""
    return SPEC.setup("skip", players, **{**PLAIN, **knobs})


def deal(players: int, hands: Mapping[int, str], talon: str = "") -> list[list[str]]:
    """A full deal: these cards to these seats, these to the talon, the others as they come, lowest ranks first."""
    size = HAND_SIZES[players]
    given = [hands.get(seat, "").split() for seat in range(players)]
    apart = {card for hand in given for card in hand} | set(talon.split())
    rest = [card for card in DECK if card not in apart]
    for hand in given:
        missing = size - len(hand)
        assert missing >= 0
        hand += rest[:missing]
        del rest[:missing]
    assert len(rest) + len(talon.split()) == 52 - players * size, "the talon is too small for that"
    return given


@dataclass(frozen=True)
class Played:
    """Where a constructed round stands, read from the kernel's table."""

    stacks: list[int]
    pots: list[int]
    over: bool
    match_over: bool
    winner: int
    opera: bool
    defaults: list[int]
    seat: int
    required: int
    voids: list[set[int]]
    passed: list[set[int]]
    legal: set[str]
    """Moves, from the twin (equal to the kernel's, as actions)."""
    moves: list[str]


def play(
    setup: Setup,
    hands: Sequence[Sequence[str]],
    script: str,
    *,
    dealer: int | None = None,
    stacks: Sequence[int] | None = None,
    pots: Sequence[int] | None = None,
) -> Played:
    """Plays a script such as `"0:5h 2:6c 2:-"`: who plays what. Seats before the one named pass.

    The round begins with the seat after `dealer` (None: seat 0). Kernel and twin are compared after every ply,
    then a batch plays the same moves and must come to the same table, paying what the table says.
    """
    n = setup.players
    dealer = n - 1 if dealer is None else dealer
    comparer = Comparer(setup)
    steps = [(int(seat), move) for seat, _, move in (step.partition(":") for step in script.split())]

    def follow(r: TwinRound, moves: list[str]) -> str | None:
        if not steps:
            return None
        if r.seat != steps[0][0]:
            assert PASS in moves, f"seat {r.seat} must play one of {moves} before {steps[0]}"
            return PASS
        move = steps.pop(0)[1]
        assert move in moves, f"{move} is not among {moves}"
        return move

    r, moves = comparer.play_from(hands, dealer, follow, stacks, pots)
    assert not steps, f"the round was over before {steps}"
    table = comparer.tables[0]
    _play_in_batch(setup, setup_table(setup, hands, dealer=dealer, stacks=stacks, pots=pots), moves, comparer.tables)
    return Played(
        stacks=table.stack[:n].tolist(),
        pots=table.pot.tolist(),
        over=table.stage != Stage.PLAYING,
        match_over=table.stage == Stage.MATCH_OVER,
        winner=int(table.winner),
        opera=bool(table.opera),
        defaults=[seat for seat in range(n) if table.defaults >> seat & 1],
        seat=int(table.seat),
        required=int(table.required_rank),
        voids=[{rank for rank in range(1, 14) if int(table.void[seat]) >> rank - 1 & 1} for seat in range(n)],
        passed=[{rank for rank in range(1, 14) if int(table.passed[seat]) >> rank - 1 & 1} for seat in range(n)],
        legal=set(r.legal()),
        moves=moves,
    )


def _play_in_batch(setup: Setup, start: Any, moves: list[str], end: Any) -> None:
    batch = Batch(setup, 2, skip_forced=False, autoreset=False)
    batch.set_tables(1, start)
    paid = batch.reward[1].copy()
    for move in moves:
        batch.step([np.flatnonzero(batch.mask[0])[0] if not batch.done[0] else 0, ACTION[move]])
        paid += batch.reward[1]
    assert batch.tables[1].tobytes() == end[0].tobytes()
    if batch.done[1]:
        n = setup.players
        assert paid.tolist() == (end[0].stack[:n] - end[0].before[:n]).tolist()
