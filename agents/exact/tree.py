"""A game written out: every line of play from given tables, by the game's own compiled functions.

The tree is the game exactly as the environment shows it. A node is where a seat is asked (``GameSpec.kernel.asks``; forced plies
are made in passing) or where the round is over. What a seat knows at a node is its *information set*: all that it has observed,
ply by ply, and done since the round began, so that it forgets nothing (perfect recall), whatever the rules would have it
remember. Chance acts once, before the first node: it picks the opening.

Of the nodes only the ends are kept, each with the last choice of every seat on the way to it. Together with the information
sets they are the whole game (its *sequence form*: von Stengel 1996, *Efficient Computation of Behavior Strategies*).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import TreeError
from nainjaune_env.core.jit import instantiate
from nainjaune_env.core.spec import Chance, GameSpec, Setup
from nainjaune_env.engine.batch import Batch, loops_of

from .plies import NOTHING

LIMIT = 10_000_000
"""Nodes of the largest tree that is written out unless more are asked for; an end takes 28 bytes with two seats."""
CHUNK = 1 << 15
"""Tables stepped at once; the memory beside the tree depends on it."""
MOST_OPENINGS = 100_000
"""Openings that are listed, where a game lists them: each is made and kept."""
MOST_DRAWS = 1 << 20
"""Deals drawn, where it does not, before openings are held to be too many to collect."""
BLANK = np.array([0x243F6A8885A308D3, 0x13198A2E03707344], np.uint64)
"""What a seat recalls before it has seen anything: some bits of π, as good as any that are not 0."""


class Openings(NamedTuple):
    """Where a tree begins."""

    tables: NDArray[Any]
    """``(R,)`` records, their generators at 0."""
    weight: NDArray[np.float64]
    """``(R,)`` probability of each; sums to 1."""


class Leaves(NamedTuple):
    """The ends of all lines of play, for compiled code; L of them."""

    last: NDArray[np.int32]
    """``(L, n)`` the slot (see :class:`Infosets`) that each seat took last; -1 where it was never asked."""
    net: NDArray[np.float64]
    """``(L, n)`` payoffs of the seats less their mean (so that they sum to 0), in the game's unit."""
    opening: NDArray[np.int32]
    """``(L,)`` how it began."""


class Infosets(NamedTuple):
    """The information sets, for compiled code; I of them, a seat's earlier ones before its later ones.

    Every legal action at one has a *slot*; there are S, ascending by information set and action. A policy is an array over
    slots, ``(S,) float64``: it sums to 1 in each information set.
    """

    start: NDArray[np.int64]
    """``(I + 1,)`` slots ``start[i]`` to ``start[i + 1] - 1`` are those of information set i."""
    seat: NDArray[np.int64]
    """``(I,)`` whose it is."""
    previous: NDArray[np.int64]
    """``(I,)`` the slot that its seat took last before; -1 at its first decision."""
    action: NDArray[np.int64]
    """``(S,)`` the action of each slot."""
    of: NDArray[np.int64]
    """``(S,)`` the information set of each slot."""


@dataclass(frozen=True)
class Tree:
    """A game written out."""

    setup: Setup
    leaves: Leaves
    infosets: Infosets
    tables: NDArray[Any]
    """``(I,)`` a table of each information set, with all that is hidden at one of its nodes: for ``policy.tabular`` to show."""
    weight: NDArray[np.float64]
    """``(R,)`` probabilities of the openings."""
    first: NDArray[np.int64]
    """``(R,)`` the seat that is asked first after each; -1 where nobody is."""
    asked: int
    """Nodes where a seat is asked."""

    @property
    def size(self) -> int:
        """Nodes, M."""
        return self.asked + len(self.leaves.opening)

    @property
    def num_infosets(self) -> int:
        """Information sets, I."""
        return len(self.infosets.seat)

    @property
    def num_slots(self) -> int:
        """Actions over all information sets, S."""
        return len(self.infosets.action)

    @functools.cached_property
    def paid(self) -> NDArray[np.float64]:
        """``(L, n)`` what each end adds to the seats' values where all play to it: ``net`` by the weight of its opening."""
        return self.leaves.net * self.weight[self.leaves.opening, None]

    @functools.cached_property
    def depth(self) -> NDArray[np.int64]:
        """``(I,)`` how many decisions the seat of each information set has behind it."""
        sets = self.infosets
        depth = np.zeros(self.num_infosets, np.int64)
        before = np.where(sets.previous >= 0, sets.of[sets.previous], -1)
        up = before
        while (up >= 0).any():
            depth += up >= 0
            up = np.where(up >= 0, before[up], -1)
        return depth

    def uniform(self) -> NDArray[np.float64]:
        """The policy that takes every legal action alike, ``(S,)``."""
        choices: NDArray[np.int64] = np.diff(self.infosets.start)
        return 1.0 / choices[self.infosets.of]

    def rows(self, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """A policy as one row of probabilities an information set, ``(I, A)``."""
        out = np.zeros((self.num_infosets, len(self.setup.game.actions)))
        out[self.infosets.of, self.infosets.action] = policy
        return out

    def slots(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The other way: ``(I, A)`` as ``(S,)``."""
        return np.ascontiguousarray(rows[self.infosets.of, self.infosets.action], np.float64)


def collect_openings(setup: Setup, *, seed: int = 0) -> Openings:
    """Every table a round of a fresh match can begin with, and how likely each is.

    Where a game says what chance does (``GameSpec.chance``) they are listed, the ones that the rules cannot tell apart once for
    all. Else deals are drawn until a table not yet seen would be a wonder (less than one in 10^12), and held against their being
    equally likely. Raises :class:`TreeError` where there are too many, or drawn ones are not.
    """
    chance = setup.game.chance
    return _drawn_openings(setup, seed) if chance is None else _listed_openings(setup, chance)


def _listed_openings(setup: Setup, chance: Chance) -> Openings:
    listed = list(islice(chance.openings(setup), MOST_OPENINGS + 1))
    if len(listed) > MOST_OPENINGS:
        raise TreeError(f"There are more than {MOST_OPENINGS:,} openings, too many to list; give those to begin with.")
    tables = np.array([chance.opening(setup, drawn) for drawn, _ in listed], setup.game.table)
    deals = np.array([ways for _, ways in listed], np.float64)
    return Openings(tables, deals / deals.sum())


def _drawn_openings(setup: Setup, seed: int) -> Openings:
    draws = 1024
    while draws <= MOST_DRAWS:
        batch = Batch(setup, draws, seed=seed, autoreset=False, observe=False)
        tables = batch.tables
        tables["rng"] = 0
        found, first, times = np.unique(_as_bytes(tables), return_index=True, return_counts=True)
        # D equally likely tables: one of them stays unseen with a probability below D * exp(-draws / D)
        needed = len(found) * (math.log(len(found)) + 28)
        if draws >= needed:
            expected = draws / len(found)
            if np.abs(times - expected).max() > 8 * math.sqrt(expected):
                raise TreeError(f"The {len(found)} openings found are not equally likely; give them with their weights.")
            return Openings(tables[np.sort(first)].copy(), np.full(len(found), 1 / len(found)))
        draws = 2 ** math.ceil(math.log2(max(needed, 2 * draws)))
    raise TreeError(f"There are more openings than {MOST_DRAWS:,} deals could show; give those to begin with.")


def begun_by(setup: Setup, openings: Openings, seat: int) -> Openings:
    """Those of ``openings`` in which ``seat`` has the first ply, their weights as if there were no others.

    Where the seats are alike at the start, their round is the whole game: another seat in its place changes nothing but names,
    and so nothing in values, gains and equilibria. Raises :class:`TreeError` where they are not alike: where what the seats see,
    from the first to play on, is not as likely for every one that may be it.
    """
    first = openings.tables["seat"].astype(np.int64)
    seen: list[dict[bytes, float]] = [{} for _ in range(setup.players)]
    batch = Batch(setup, len(first), skip_forced=False, autoreset=False, observe=False)
    batch.set_tables(np.arange(len(first)), openings.tables)
    shown = [batch.observe((first + k) % setup.players) for k in range(setup.players)]
    for who, weight, key in zip(first.tolist(), openings.weight.tolist(), np.concatenate(shown, axis=1), strict=True):
        seen[who][key.tobytes()] = seen[who].get(key.tobytes(), 0.0) + weight
    chosen = seen[seat]
    if not all(other.keys() == chosen.keys() and all(abs(chosen[k] - other[k]) < 1e-12 for k in chosen) for other in seen):
        raise TreeError(f"The seats are not alike in these {len(first)} openings, so those that seat {seat} begins will not do.")
    weight = openings.weight[first == seat]
    return Openings(openings.tables[first == seat].copy(), weight / weight.sum())


def _as_bytes(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as single items that compare by their bytes."""
    flat = np.ascontiguousarray(rows)
    return flat.view(np.dtype((np.void, flat.nbytes // len(flat)))).reshape(len(flat))


def plies_of(game: GameSpec) -> ModuleType:
    """The compiled functions of ``plies`` for one game."""
    return instantiate(f"{__package__}.plies", game.name, game=game.kernel, loops=loops_of(game))


@dataclass
class _Ledger:
    """The information sets met so far."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    """Each one's number by what its seat knows: its observations by 128 bits of hash, equal by accident once in 10^24 trees."""
    tables: list[NDArray[Any]] = field(default_factory=list)
    seat: list[NDArray[np.int64]] = field(default_factory=list)
    legal: list[NDArray[np.int64]] = field(default_factory=list)
    previous: list[NDArray[np.int64]] = field(default_factory=list)
    start: list[int] = field(default_factory=lambda: [0])

    def enter(self, nodes: _Nodes) -> None:
        """Write into ``nodes`` where the slots of what their seats know begin."""
        seat, who = nodes.tables["seat"].astype(np.int64), np.arange(len(nodes.legal))
        previous = nodes.last[who, seat].astype(np.int64)
        words = np.stack([seat, previous, nodes.legal], axis=1).view(np.uint64)  # legal actions are shown beside observations
        known = _as_bytes(np.concatenate([words, nodes.recall[who, seat]], axis=1)).tolist() if who.size else []
        before = len(self.numbers)
        new: list[int] = []
        for k, key in enumerate(known):
            number = self.numbers.setdefault(key, len(self.numbers))
            if number == before + len(new):
                new.append(k)
                self.start.append(self.start[-1] + int(nodes.legal[k]).bit_count())
            nodes.start[k] = self.start[number]
        self.tables.append(nodes.tables[new])
        self.seat.append(seat[new])
        self.legal.append(nodes.legal[new])
        self.previous.append(previous[new])

    def close(self) -> tuple[Infosets, NDArray[Any]]:
        """All of them, and their tables."""
        start = np.array(self.start, np.int64)
        of = np.repeat(np.arange(len(start) - 1), np.diff(start))
        action = _actions(np.concatenate(self.legal))[1]
        sets = Infosets(start, np.concatenate(self.seat), np.concatenate(self.previous), action, of)
        return sets, np.concatenate(self.tables)


def _actions(legal: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each legal action of words ``(K,)``: the word's index and the action, both ascending."""
    octets = legal.astype("<i8").view(np.uint8).reshape(-1, 8)
    which, action = np.nonzero(np.unpackbits(octets, axis=1, bitorder="little"))
    return which, action


@dataclass
class _Nodes:
    """K tables on their way through the tree."""

    tables: NDArray[Any]
    """``(K,)``."""
    opening: NDArray[np.int32]
    """``(K,)``."""
    last: NDArray[np.int32]
    """``(K, n)`` as in :class:`Leaves`."""
    recall: NDArray[np.uint64]
    """``(K, n, 2)`` what each seat has observed, as in ``plies``."""
    legal: NDArray[np.int64]
    """``(K,)`` words; 0 where the round is over."""
    paid: NDArray[np.int32]
    """``(K, n)`` payoffs."""
    start: NDArray[np.int64]
    """``(K,)`` the first slot of the information set."""

    def __getitem__(self, which: NDArray[np.int64] | NDArray[np.bool_] | slice) -> _Nodes:
        """Copies of some."""
        return _Nodes(*(np.copy(getattr(self, name)[which]) for name in _Nodes.__dataclass_fields__))

    def __len__(self) -> int:
        return len(self.tables)

    def play(self, setup: Setup, actions: NDArray[np.int64]) -> None:
        """Take ``actions (K,)`` and go on to where somebody is asked; raises :class:`TreeError` where chance acts meanwhile."""
        seen = np.zeros(-(-setup.layout.size // 8) * 8, np.uint8)
        plies_of(setup.game).play_on(self.tables, setup.kernel_rules, actions, self.recall, seen, self.legal, self.paid)
        if self.tables["rng"].any():
            raise TreeError(f"In {setup.game.title} chance acts in the middle of a round: its tree would take nodes for that.")


def build_tree(
    setup: Setup,
    openings: Openings | None = None,
    *,
    limit: int = LIMIT,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Write out the round that begins with ``openings`` (None: all that a fresh match can begin with).

    ``progress`` is told how many nodes have been added. Raises :class:`TreeError` where there would be more than ``limit``
    nodes, or where chance acts in the middle of a round.
    """
    openings = collect_openings(setup) if openings is None else openings
    weight, n = openings.weight, setup.players
    if weight.shape != openings.tables.shape or not (weight >= 0).all() or not abs(weight.sum() - 1) < 1e-9:
        raise TreeError(f"Each of the {len(openings.tables)} openings has a probability, and they sum to 1; these are {weight}.")
    size = len(weight)
    tables = openings.tables.copy()
    tables["rng"] = 0
    nodes = _Nodes(
        tables=tables,
        opening=np.arange(size, dtype=np.int32),
        last=np.full((size, n), -1, np.int32),
        recall=np.broadcast_to(BLANK, (size, n, 2)).copy(),
        legal=np.zeros(size, np.int64),
        paid=np.zeros((size, n), np.int32),
        start=np.zeros(size, np.int64),
    )
    nodes.play(setup, np.full(size, NOTHING))
    first = np.where(nodes.legal != 0, nodes.tables["seat"].astype(np.int64), -1)
    ledger, ends, asked = _Ledger(), [], 0
    pending = [nodes]
    while pending:  # the last ones first: the pieces that wait are few
        nodes = pending.pop()
        over = nodes.legal == 0
        ends.append(_ends(nodes[over]))
        nodes = nodes[~over]
        asked += len(nodes)
        ledger.enter(nodes)
        which, actions = _actions(nodes.legal)
        if size + len(which) > limit:
            raise TreeError(f"The game has more than the {limit:,} nodes that were allowed.")
        size += len(which)
        # how many-eth child of its node each is: the place of its action among the legal ones
        nth = np.arange(len(which)) - np.searchsorted(which, np.arange(len(nodes)))[which]
        for at in range(0, len(which), CHUNK):
            piece = slice(at, at + CHUNK)
            children = nodes[which[piece]]
            seat = children.tables["seat"].astype(np.int64)
            children.last[np.arange(len(children)), seat] = children.start + nth[piece]
            children.play(setup, actions[piece])
            pending.append(children)
        if progress is not None:
            progress(len(which))
    leaves = Leaves(*(np.concatenate(parts) for parts in zip(*ends, strict=True)))
    return Tree(setup, leaves, *ledger.close(), weight, first, asked)


def _ends(nodes: _Nodes) -> Leaves:
    paid = nodes.paid.astype(np.float64)
    return Leaves(nodes.last, paid - paid.mean(axis=1, keepdims=True), nodes.opening)
