"""Nain Jaune's fast kernel beside its slow twin: the same moves, and after every ply the same state.

The twin moves real cards in lists; the kernel moves bits. Both states are flattened into one row of integers a
ply (`FIELDS`), the kernel's from copies of its record, and the rows must be equal. What a row says of a hand is
how many of each kind it holds (N1.3), so the kernel is free to choose which of several equal cards leaves it.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nainjaune_env.compiler.packed import pack
from nainjaune_env.core.events import DRAWN, EventRow
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.compiled import loops_of
from nainjaune_env.engine.telling import Teller
from nainjaune_env.games.nain_jaune.actions import action_of
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.state import NOBODY, TABLE

from .mismatch import Mismatch, first_difference
from .nain_jaune import DECK, PASS, POT_CARDS, SILENT, Knobs, TwinMatch, TwinRound, deck_of, rank_of, top_rank

MOVES: tuple[str, ...] = (*DECK, *(card + SILENT for card in POT_CARDS), PASS)
ACTION: dict[str, int] = {move: action_of(move) for move in MOVES}
"""The action that each move is."""
_BIT = {move: 1 << action for move, action in ACTION.items()}
_KIND_WEIGHT = {card: 8 ** ACTION[card] for card in DECK}
"""A hand as one number: a digit to base 8 for each of the 18 kinds."""
NUMBER = {f"{rank}{suit}": 13 * s + r for s, suit in enumerate("shdc") for r, rank in enumerate("A23456789TJQK")}
"""The kernel's number of each card, worked out here on its own."""
CARD = {number: card for card, number in NUMBER.items()}
_WEIGHTS = np.zeros(52, np.int64)
for _card, _number in NUMBER.items():
    _WEIGHTS[_number] = _KIND_WEIGHT[_card]

WIDEST = "skip"
"""The preset that allows every number of seats: random knobs are set over it."""
MAX_PLIES = 8192
MAX_ROUNDS = 12
"""Rounds after which a match without an end of its own is left."""

Policy = Callable[[TwinRound, list[str], random.Random], str]
Chooser = Callable[[TwinRound, list[str]], str | None]


# ---------------------------------------------------------------- ways to choose a move


def uniform(r: TwinRound, moves: list[str], rng: random.Random) -> str:
    return moves[int(rng.random() * len(moves))]


def passing(r: TwinRound, moves: list[str], rng: random.Random) -> str:
    """Declines nine times in ten where it may: blocked circles of seats that could have played."""
    return PASS if moves[-1] == PASS and rng.random() < 0.9 else uniform(r, moves, rng)


def silent(r: TwinRound, moves: list[str], rng: random.Random) -> str:
    """Plays pot cards silently where it may: big pots, defaults."""
    quiet = [move for move in moves if move.endswith(SILENT)]
    return uniform(r, quiet, rng) if quiet and rng.random() < 0.9 else uniform(r, moves, rng)


def lowest(r: TwinRound, moves: list[str], rng: random.Random) -> str:
    """The lowest card, and never a pass with a card in hand: long runs."""
    cards = [move for move in moves if move != PASS]
    return min(cards, key=rank_of) if cards else PASS


def hoarding(r: TwinRound, moves: list[str], rng: random.Random) -> str:
    """Keeps pot cards as long as it may: stranded ones at the end."""
    kept = [move for move in moves if move.rstrip(SILENT) not in POT_CARDS]
    return uniform(r, kept or moves, rng)


def running(r: TwinRound, moves: list[str], rng: random.Random) -> str:
    """Leads the lowest card of its longest unbroken stretch, Kings first: grand opéras."""
    cards = [move for move in moves if move != PASS]
    if r.required or not cards:
        return lowest(r, moves, rng)
    payload = {rank_of(card) for card in r.hands[r.seat]}

    def stretch(move: str) -> tuple[int, int]:
        rank = top = rank_of(move)
        while top + 1 in payload:
            top += 1
        return (top == 13, top - rank)

    return max(cards, key=stretch)


POLICIES: dict[str, Policy] = {f.__name__: f for f in (uniform, passing, silent, lowest, hoarding, running)}


# ---------------------------------------------------------------- both states as rows


def field_names(players: int) -> list[str]:
    """What the columns of a row are."""
    one = ["legal", "seat", "required", "last player", "over", "winner", "grand opéra", "defaults"]
    each = [f"{name} of seat {seat}" for name in ("stack", "void", "passed", "hand") for seat in range(players)]
    return [*one, *(f"pot {card}" for card in POT_CARDS), *each]


AT_TURN = [0, 1, 2]
"""Columns that say nothing once the round is over."""


def twin_row(r: TwinRound, moves: list[str]) -> list[int]:
    """The twin's state; `moves` is its `legal()`."""
    word = 0
    for move in moves:
        word |= _BIT[move]
    return [
        word,
        r.seat,
        r.required,
        r.last_player,
        r.over,
        NOBODY if r.winner is None else r.winner,
        r.grand_opera,
        sum([1 << seat for seat in r.defaults]),
        *r.pots,
        *r.stacks,
        *[sum([1 << rank - 1 for rank in ranks]) for ranks in (*r.voids, *r.passed)],
        *[sum([_KIND_WEIGHT[card] for card in hand]) for hand in r.hands],
    ]


def kernel_rows(tables: Any, words: Any, players: int) -> Any:
    """The same columns from copies of the kernel's table."""
    plain = [tables[name].astype(np.int64) for name in ("seat", "required_rank", "last")]
    payload = tables["hand"][:, :players, None] >> np.arange(52) & 1
    return np.column_stack(
        [
            words,
            *plain,
            tables["stage"] != Stage.PLAYING,
            tables["winner"],
            tables["opera"],
            tables["defaults"],
            tables["pot"],
            tables["stack"][:, :players],
            tables["void"][:, :players],
            tables["passed"][:, :players],
            payload @ _WEIGHTS,
        ]
    ).astype(np.int64)


def event_row(event: dict[str, Any], number: int) -> tuple[int, ...]:
    """The columns of an event of the twin, as the kernel writes them; `number` is the round's."""
    row = {"other": -1, "card": 0, "pile": 0, "paid": 0, "due": 0, "cards": 0, **event}
    if row["kind"] == "ROUND":
        row["pile"] = number
    if isinstance(row["card"], str):
        row["card"] = NUMBER[row["card"]]
    if row["cards"]:
        row["cards"] = sum(1 << NUMBER[card] for card in row["cards"])
    return (int(Event[row["kind"]]), *(row[name] for name in EventRow._fields[1:]))


class Comparer:
    """Plays rounds of one setup on both sides. The buffers are kept from round to round."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.rules = setup.kernel_rules
        self.telling = setup
        """Whose kernel tells the events."""
        self.knobs = Knobs(**setup.rules.to_dict())
        self.loops = loops_of(setup)
        self.batch = Batch(setup, 1, skip_forced=False, observe=False)
        self.skipping = Batch(setup, 1, skip_forced=True, autoreset=False, observe=False)
        self.names = field_names(setup.players)
        self.tables: Any = self.batch.tables
        self.copies: Any = np.zeros(MAX_PLIES, TABLE)
        self.seen: Counter[str] = Counter()
        """How often each rare event came up, so that a test can ask for it."""

    # ------------------------------------------------------------ one round

    def round(self, r: TwinRound, choose: Chooser, label: object = None) -> list[str]:
        """Plays `r` and the kernel's table out side by side (or until `choose` gives None); gives the moves."""
        start = self.tables[0].copy()
        table, numbers = self.tables, self.batch.numbers
        step_round, copies = self.loops.step_round, self.copies
        _, legal_bits = step_round(table, numbers, None, -1)
        rows: list[list[int]] = []
        words: list[int] = []
        played: list[str] = []
        while True:
            moves = r.legal()
            rows.append(twin_row(r, moves))
            copies[len(played)] = table[0]
            words.append(int(legal_bits) if moves else 0)
            move = choose(r, moves) if moves else None
            # an illegal step would leave the kernel in no state at all: stop, and let the rows tell
            if move is None or words[-1] != rows[-1][0]:
                break
            r.play(move)
            _, legal_bits = step_round(table, numbers, None, ACTION[move])
            played.append(move)
        self._check(np.array(rows), np.array(words), start, played, label)
        self._check_events(r, start, played, label)
        self._last = words, start, played, label
        if r.over:
            self._note(r, played)
        return played

    def _check(self, expected: Any, words: Any, start: Any, moves: list[str], label: object) -> None:
        got = kernel_rows(self.copies[: len(expected)], words, self.setup.players)
        over = expected[:, 4] == 1
        for column in AT_TURN:
            got[over, column] = expected[over, column]
        ply, what = first_difference(self.names, expected, got)
        if ply < 0:
            return
        raise Mismatch(self._story(f"after {ply} plies {what}", start, moves[:ply], label))

    def _check_events(self, r: TwinRound, start: Any, moves: list[str], label: object) -> None:
        """The events that the kernel tells, and the tables that it leaves on the way, are the twin's and those of play."""
        tables = start.reshape(1).copy()
        teller = Teller(self.telling, tables)
        told = teller.open()
        for ply, move in enumerate(moves, 1):
            told += teller.ply(ACTION[move], NUMBER.get(move.rstrip(SILENT), DRAWN))
            if tables[0].tobytes() != self.copies[ply].tobytes():
                raise Mismatch(self._story(f"after {ply} plies, told", start, moves[:ply], label))
        expected = [event_row(event, int(start.rounds)) for event in r.events]
        got = [tuple(row) for row in told]
        if got != expected:
            at = next(k for k, pair in enumerate(itertools.zip_longest(expected, got)) if pair[0] != pair[1])
            what = f"event {at}: twin {expected[at : at + 1]}, kernel {got[at : at + 1]}"
            raise Mismatch(self._story(what, start, moves, label))

    def _check_skipping(self) -> None:
        """The last round by the kernel alone: forced plies in one go come, at every choice and at the end, to the same bytes."""
        words, start, moves, label = self._last
        self.skipping.numbers = pack(self.rules, self.skipping.options)
        self.skipping.set_tables(0, start)
        for ply, word in enumerate(words):
            if word & (word - 1) or ply == len(moves):
                if self.skipping.tables[0].tobytes() != self.copies[ply].tobytes():
                    raise Mismatch(self._story(f"after {ply} plies, the forced ones in one go", start, moves[:ply], label))
                if ply < len(moves):
                    self.skipping.step([ACTION[moves[ply]]])

    def _story(self, what: str, start: Any, moves: Sequence[str], label: object) -> str:
        n = self.setup.players
        hands = [" ".join(CARD[i] for i in range(52) if int(start.hand[seat]) >> i & 1) for seat in range(n)]
        return "\n".join(
            [
                f"Kernel and twin differ: {what}",
                f"preset={self.setup.preset!r} players={n} from {label}",
                f"knobs={self.setup.rules.to_dict()}",
                f"dealer={int(start.dealer)} hands={hands}",
                f"after the antes: stacks={start.stack[:n].tolist()} pots={start.pot.tolist()}",
                f"moves={' '.join(moves)}",
            ]
        )

    def _note(self, r: TwinRound, moves: list[str]) -> None:
        seen = self.seen
        seen["rounds"] += 1
        seen["plies"] += len(moves)
        seen["grand opéra"] += r.grand_opera
        seen["default"] += bool(r.defaults)
        seen["silent"] += any(move.endswith(SILENT) for move in moves)
        seen["last card is a pot card"] += moves[-1].rstrip(SILENT) in POT_CARDS
        seen["last card is a King"] += moves[-1][0] == "K"
        seen["blocked"] += PASS * self.setup.players in "".join(moves)

    # ------------------------------------------------------------ rounds from given hands

    def play_from(
        self,
        hands: Sequence[Sequence[str]],
        dealer: int,
        choose: Chooser,
        stacks: Sequence[int] | None = None,
        pots: Sequence[int] | None = None,
        label: object = None,
        *,
        number: int = 1,
    ) -> tuple[TwinRound, list[str]]:
        """One round from these hands, on both sides; `number` is the round's in its match."""
        stacks = [self.knobs.starting_stack or 0] * self.setup.players if stacks is None else stacks
        pots = [0] * len(POT_CARDS) if pots is None else pots
        self.tables[0] = setup_table(self.setup, hands, dealer=dealer, stacks=stacks, pots=pots, rounds_before=number - 1)
        r = TwinRound(self.knobs, hands, dealer, stacks, pots)
        return r, self.round(r, choose, label)

    def rigged(self, rng: random.Random, label: object = None) -> None:
        """One round from a deal that is no fair shuffle, with chips as after many rounds."""
        n, size = self.setup.players, self.rules.hand_size  # type: ignore[attr-defined]
        hands = rigged_hands(rng, n, size, self.knobs)
        antes = self.rules.round_antes  # type: ignore[attr-defined]
        limited = self.knobs.starting_stack is not None
        stacks = [antes + rng.choice((0, 1, 5, 20, 300)) if limited else rng.randint(-200, 200) for _ in range(n)]
        pots = [rng.choice((0, 0, 1, 7, 90)) for _ in POT_CARDS]
        self.play_from(hands, rng.randrange(n), chooser(rng, self.setup.players), stacks, pots, label)
        self._check_skipping()

    def job(self, rng: random.Random, label: object) -> None:
        """A match, where it has an end, and some rigged rounds."""
        if self.knobs.starting_stack is not None or self.knobs.max_rounds is not None:
            self.match(rng, label)
        for _ in range(4):
            self.rigged(rng, label)

    # ------------------------------------------------------------ matches dealt by the kernel

    def match(self, rng: random.Random, label: object = None) -> None:
        """A match from its first deal to its end (or `MAX_ROUNDS`): who deals, what is carried, when it ends."""
        n, table = self.setup.players, self.tables
        self.batch.reset(seeds=np.array([rng.getrandbits(64)], np.uint64))
        m = TwinMatch(self.knobs, n, int(table["dealer"][0]))
        while True:
            self._same(label, "dealer", m.dealer, int(table["dealer"][0]))
            self._same(label, "rounds", m.rounds_played + 1, int(table["rounds"][0]))
            r = m.new_round(self._hands(label))
            self.round(r, chooser(rng, self.setup.players), label)
            self._check_skipping()
            m.finish_round(r)
            self._same(label, "match over", m.over, int(table["stage"][0]) == Stage.MATCH_OVER)
            if m.over or m.rounds_played >= MAX_ROUNDS:
                self.seen["matches to the end"] += m.over
                return
            self.setup.game.kernel.deal(table[0], self.rules)

    def _hands(self, label: object) -> list[list[str]]:
        """The hands that the kernel dealt, checked to be a deal of the whole deck."""
        table, size = self.tables[0], self.rules.hand_size  # type: ignore[attr-defined]
        deck, whole = table.deck.tolist(), deck_of(self.knobs)
        self._same(label, "the deck, sorted", sorted(NUMBER[card] for card in whole), sorted(deck[: len(whole)]))
        hands = [deck[seat * size : (seat + 1) * size] for seat in range(self.setup.players)]
        for seat, numbers in enumerate(hands):
            self._same(label, f"hand of seat {seat}", sum(1 << i for i in numbers), int(table.hand[seat]))
        return [[CARD[i] for i in numbers] for numbers in hands]

    def _same(self, label: object, what: str, twin: object, kernel: object) -> None:
        if twin != kernel:
            raise Mismatch(self._story(f"{what}: twin {twin}, kernel {kernel}", self.tables[0], [], label))


def chooser(rng: random.Random, players: int) -> Chooser:
    """One way to play for all seats, or one for each."""
    names = list(POLICIES)
    if rng.random() < 0.5:
        policies = [POLICIES[rng.choice(names)]] * players
    else:
        policies = [POLICIES[rng.choice(names)] for _ in range(players)]
    return lambda r, moves: policies[r.seat](r, moves, rng)


def rigged_hands(rng: random.Random, players: int, size: int, knobs: Knobs) -> list[list[str]]:
    """A deal in which one seat holds unbroken stretches up to the top rank: it may well go out in one turn."""
    deck, top = deck_of(knobs), top_rank(knobs)
    rng.shuffle(deck)
    lucky: list[str] = []
    rank = rng.randint(top - knobs.ranks + 1, top)
    while len(lucky) < size:
        card = next((card for card in deck if rank_of(card) == rank), None)
        if card is not None:
            deck.remove(card)
            lucky.append(card)
        rank = rank + 1 if rank < top else rng.randint(top - knobs.ranks + 1, top)
    if rng.random() < 0.3 and deck:  # and one card that may break it
        spoiled = rng.randrange(size)
        lucky[spoiled], deck[0] = deck[0], lucky[spoiled]
    hands = [deck[k * size : (k + 1) * size] for k in range(players - 1)]
    hands.insert(rng.randrange(players), lucky)
    return hands


def random_knobs(rng: random.Random) -> dict[str, object]:
    """A value for every knob, with numbers small enough to meet often."""
    stake = rng.choice((1, 1, 2, 7))
    return {
        "direction": rng.choice(("clockwise", "counterclockwise")),
        "decline": rng.choice(("never", "entry", "always")),
        "blocked": rng.choice(("restart", "skip")),
        "payment": rng.choice(("cards", "points")),
        "stranded": rng.choice(("none", "match_pot", "twice_pot", "twice_ante")),
        "grand_opera": rng.choice(("first_turn", "single_turn", "no_rival_card")),
        "announce": rng.choice(("automatic", "explicit", "explicit")),
        "unannounced": rng.choice((0, 1, 2)),
        "stake": stake,
        "starting_stack": rng.choice((None, 15 * stake, 30 * stake, 49 * stake, 60 * stake, 500)),
        "end_on_default": rng.random() < 0.5,
        "max_rounds": rng.choice((None, 1, 3, 12)),
    }
