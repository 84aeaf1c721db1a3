"""A position as a player at the table writes it down: their hand, and the cards played since the deal.

Each seat's cards stand behind its number: ``1: 3 4 5  3: 6 7♦  0: 8``. Stops and passes in between follow from the cards; only a
pass that does not is written, as ``-``. The required rank and what the others provably lack follow too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.cards import DECK, RANKS, by_rank, card_number, card_set
from nainjaune_env.core.errors import DealError, unknown_name_message
from nainjaune_env.core.rules import MAX_NUMBER
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.core.table_checks import check_rows
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.actions import ACTIONS, PASS, PASS_MOVE, SILENT_MARK, action_of
from nainjaune_env.games.nain_jaune.belief.knowledge import Knowledge
from nainjaune_env.games.nain_jaune.invariants import captures
from nainjaune_env.games.nain_jaune.language.parsing import understand
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, KernelRules, rules_of
from nainjaune_env.games.nain_jaune.state import POT_LIMIT, POTS, TABLE

FIELDS: Mapping[str, str] = {
    "hand": "your cards: A 3 10 V D R, with the suit where it is a pot's: 7♦ or 7d (7 alone is another seven)",
    "moves": "what has been played in this round, each seat's cards behind its number: '1: 3 4 5  3: 6 7♦' (none: you lead)",
    "pots": "the chips in the pots now, in the order 10♦ J♣ Q♠ K♥ 7♦ (default: this round's antes, less what was taken)",
    "stacks": "everybody's chips now, by seat (default: a fresh match's)",
    "seat": "your seat, where you number the seats otherwise than from yours on (default: 0)",
    "round": "which round of the match this is (default: 1)",
}
_SEAT = re.compile(r"([0-9]+) *:")
_BETWEEN = re.compile(r"[\s,;|]+")


class _Move(NamedTuple):
    seat: int
    rank: int
    """1..13; 0 a pass."""
    suit: str | None
    silent: bool


def read(setup: Setup, fields: Mapping[str, str]) -> Any:
    """Returns the position that ``fields`` (see ``FIELDS``) describe: a record of ``state.TABLE``, redacted for its seat to act.

    Raises :class:`DealError` if the fields contradict each other or the seat has only one legal action.
    """
    for name in fields:
        if name not in FIELDS:
            raise DealError(unknown_name_message("field of a position", name, FIELDS))
    rules = rules_of(setup)
    me = _number("seat", fields.get("seat", "0"), setup.players - 1)
    moves = _read_moves(fields.get("moves", ""), setup.players)
    row = _opened(setup, me, _read_hand(fields.get("hand", "")), moves, fields.get("round", "1"))
    for move in moves:
        _play_on(row, rules, move)
    while row.stage == Stage.PLAYING and row.seat != me:
        _step(row, rules, PASS)
    legal_bits = kernel.legal(row, rules)
    if not setup.game.kernel.needs_decision(row, rules, legal_bits):
        action = int(legal_bits).bit_length() - 1
        must = "must pass: write what came of that" if action == PASS else f"must play {ACTIONS[action]}"
        raise DealError(f"There is nothing to choose: {RANKS[int(row.required_rank) - 1]} is wanted, and seat {me} {must}.")
    if "pots" in fields:
        row.pot[:] = _numbers("pots", fields["pots"], POTS, 0, POT_LIMIT)
        check_rows(np.atleast_1d(row), setup.players, functools.partial(captures, rules))
    if "stacks" in fields:
        low = 0 if rules.limited else -MAX_NUMBER  # N4.1, N4.2
        for seat, chips in enumerate(_numbers("stacks", fields["stacks"], setup.players, low, MAX_NUMBER)):
            row.before[seat] += chips - row.stack[seat]
            row.stack[seat] = chips
    kernel.redact(row, rules, me)
    if not Knowledge(setup, row).fits():
        raise DealError("No deal fits: too few of the cards that are out can be in the hands of seats that have passed on them.")
    return row


def _read_hand(text: str) -> list[_Move]:
    cards = [_read_card(word, 0) for word in _BETWEEN.split(text.strip()) if word]
    if not cards or any(card.rank == 0 or card.silent for card in cards):
        raise DealError(f"A hand is its cards, as in 'A 3 10 V 7♦', not {text!r}.")
    return cards


def _read_moves(text: str, players: int) -> list[_Move]:
    cards, seat = [], None
    for word in _BETWEEN.split(_SEAT.sub(r" \1: ", text).strip()):
        if word.endswith(":"):
            seat = _number("seat", word[:-1], players - 1)
        elif word and seat is None:
            raise DealError(f"The moves begin with the number of a seat, as in '1: 3 4 5', not with {word!r}.")
        elif word:
            cards.append(_read_card(word, seat or 0))
    return cards


def _read_card(word: str, seat: int) -> _Move:
    said = understand(word.removesuffix(SILENT_MARK))
    if said is None:
        raise DealError(f"{word!r} is no card: expected a rank and where it matters a suit, as in 8, 10♦, Vt, Qs or 7d.")
    return _Move(seat, said.rank, said.suit, word.endswith(SILENT_MARK))


def _opened(setup: Setup, me: int, hand: Sequence[_Move], moves: Sequence[_Move], number: str) -> Any:
    """Returns the table before the first move; each hand holds the cards that are known to have been in it."""
    rules = rules_of(setup)
    known = [*(card._replace(seat=me) for card in hand), *(move for move in moves if move.rank)]
    free = rules.deck
    row = np.zeros(1, TABLE)[0]
    for move in sorted(known, key=lambda move: move.suit is None):  # cards without a suit are picked from what the others leave
        card = _pick(move, free)
        free &= ~card
        row.hand[move.seat] |= card
    sizes = [int(bits).bit_count() for bits in row.hand[: setup.players]]
    if sizes[me] != rules.hand_size:
        raise DealError(
            f"With {setup.players} players each is dealt {rules.hand_size} cards; seat {me} holds {len(hand)} "
            f"and has played {sizes[me] - len(hand)}."
        )
    for seat, size in enumerate(sizes):
        if seat != me and size >= rules.hand_size:
            raise DealError(f"Seat {seat} has played {size} cards, and it was dealt {rules.hand_size}: the round would be over.")
    row.stack[: setup.players] = rules.starting_stack
    row.rounds = _number("round", number, rules.max_rounds or MAX_NUMBER, 1) - 1
    row.dealer = ((moves[0].seat if moves else me) - 1) % setup.players
    kernel.open_round(row, rules)
    return row


def _pick(move: _Move, free: int) -> int:
    """Returns the card of ``move`` as a set, one of those ``free``: without a suit it is a plain card.

    Raises :class:`DealError` if none of them is free.
    """
    rank = RANKS[move.rank - 1]
    plain = [text for text in DECK if text[0] == rank and text not in POT_CARDS]
    matching = card_set(map(card_number, [rank + move.suit] if move.suit else plain)) & free
    if not matching:
        text = rank + move.suit if move.suit else f"another {rank} that is no pot's"
        raise DealError(f"The position has {text}, and there is none left: it stands there already, or is not in the deck.")
    return matching & -matching


def _play_on(row: Table, rules: KernelRules, move: _Move) -> None:
    """Plays the passes before ``move``, and the move."""
    while not (row.seat == move.seat and (move.rank == 0 or row.required_rank in (0, move.rank))):
        if row.required_rank == 0:
            card = RANKS[move.rank - 1] if move.rank else "pass"
            raise DealError(f"When seat {move.seat} is to play its {card}, seat {int(row.seat)} has the lead, and leads nothing.")
        _step(row, rules, PASS)
    _step(row, rules, _action_of(move))


def _action_of(move: _Move) -> int:
    if move.rank == 0:
        return PASS
    text = RANKS[move.rank - 1] + (move.suit or "")
    if text in POT_CARDS:
        return action_of(text + SILENT_MARK * move.silent)
    return move.rank - 1


def _step(row: Table, rules: KernelRules, action: int) -> None:
    """Plays ``action`` if it is legal with the known cards of the hand; raises :class:`DealError` if not."""
    if not int(kernel.legal(row, rules)) >> action & 1:
        seat, required = int(row.seat), int(row.required_rank)
        if action != PASS:
            raise DealError(f"Seat {seat} cannot have played that in this way: it is to announce a pot's card, or may not.")
        raise DealError(
            f"Seat {seat} must have passed where {RANKS[required - 1]} was wanted, and it held one."
            if required
            else f"Seat {seat} had the lead, and must have played a card."
        )
    kernel.step(row, rules, np.int64(action))


def _number(name: str, text: str, high: int, low: int = 0) -> int:
    return _numbers(name, text, 1, low, high)[0]


def _numbers(name: str, text: str, count: int, low: int, high: int) -> list[int]:
    parts = [part for part in _BETWEEN.split(text.strip()) if part]
    if len(parts) != count or not all(re.fullmatch(r"-?[0-9]{1,10}", part) and low <= int(part) <= high for part in parts):
        numbers = "a whole number" if count == 1 else f"{count} whole numbers"
        raise DealError(f"{name!r} is {numbers} from {low} to {high}, not {text!r}.")
    return [int(part) for part in parts]


def write(setup: Setup, table: Any, hand: Sequence[str], moves: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Returns the fields for :func:`read` of the position at ``table`` after ``moves`` of a record, with the real ``hand``."""
    me = int(table.seat)
    groups: list[tuple[int, list[str]]] = []
    for k, (seat, move) in enumerate(moves):
        if move == PASS_MOVE:
            before = [player for player, played in moves[:k] if played != PASS_MOVE]
            after = [player for player, played in moves[k + 1 :] if played != PASS_MOVE]
            # a pass follows from the cards unless the passing seat plays both the card before it and the next one
            if seat != (after or [me])[0] or (after and before[-1:] != [seat]):
                continue
        if not groups or groups[-1][0] != seat:
            groups.append((seat, []))
        groups[-1][1].append(_plain(move))
    return {
        "hand": " ".join(_plain(card) for card in by_rank(hand)),
        **({"moves": "  ".join(f"{seat}: {' '.join(texts)}" for seat, texts in groups)} if groups else {}),
        "pots": " ".join(str(int(chips)) for chips in table.pot),
        "stacks": " ".join(str(int(chips)) for chips in table.stack[: setup.players]),
        "seat": str(me),
        "round": str(int(table.rounds)),
    }


def _plain(move: str) -> str:
    """Returns a move with the suit left out if it does not matter."""
    if move == PASS_MOVE or move.removesuffix(SILENT_MARK) in POT_CARDS:
        return move.replace("T", "10")
    return "10" if move[0] == "T" else move[0]
