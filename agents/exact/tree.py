"""A game written out: every line of play from given tables, by the game's own compiled loops.

The tree is the game exactly as the environment shows it. A node is where a seat is asked (``GameSpec.kernel.asks``; forced plies
pass unseen) or where the round is over. What a seat knows at a node is its *information set*: what it observes now, and
everything that it has observed and done before, so that it forgets nothing (perfect recall), whatever the rules would have it
remember. Chance acts once, before the first node: it picks the opening.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.batch import Batch
from nainjaune_env.errors import TreeError
from nainjaune_env.spec import Setup

LIMIT = 10_000_000
"""Nodes of the largest tree that is built unless more are asked for; a node takes some 100 bytes."""
CHUNK = 1 << 15
"""Tables stepped at once; the memory beside the tree depends on it."""
MOST_DRAWS = 1 << 20
"""Deals drawn before openings are held to be too many to collect."""


class Openings(NamedTuple):
    """Where a tree begins."""

    tables: NDArray[Any]
    """``(R,)`` records, their generators at 0."""
    weight: NDArray[np.float64]
    """``(R,)`` probability of each; sums to 1."""


class Nodes(NamedTuple):
    """The nodes, for compiled code; M of them, by depth. The children of a node stand together, by ascending action."""

    parent: NDArray[np.int64]
    """``(M,)`` -1 at openings."""
    slot: NDArray[np.int64]
    """``(M,)`` which action at which information set leads here (see :class:`Infosets`); -1 at openings."""
    seat: NDArray[np.int64]
    """``(M,)`` who is to act; -1 at the end of a round."""
    infoset: NDArray[np.int64]
    """``(M,)`` what that seat knows; -1 at the end."""
    net: NDArray[np.float64]
    """``(M, n)`` at the end, payoffs of the seats less their mean (so that they sum to 0), in the game's unit; 0 elsewhere."""


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
    nodes: Nodes
    infosets: Infosets
    tables: NDArray[Any]
    """``(I,)`` a table of each information set, with all that is hidden at one of its nodes: for ``policy.tabular`` to show."""
    weight: NDArray[np.float64]
    """``(R,)`` probabilities of the openings, which are nodes 0 to R-1."""

    @property
    def size(self) -> int:
        """Nodes, M."""
        return len(self.nodes.parent)

    @property
    def num_infosets(self) -> int:
        """Information sets, I."""
        return len(self.infosets.seat)

    @property
    def num_slots(self) -> int:
        """Actions over all information sets, S."""
        return len(self.infosets.action)

    @functools.cached_property
    def depth(self) -> NDArray[np.int64]:
        """``(I,)`` how many decisions the seat of each information set has behind it."""
        sets = self.infosets
        depth = np.zeros(self.num_infosets, np.int64)
        reached, level = np.flatnonzero(sets.previous < 0), 0
        behind = np.where(sets.previous >= 0, sets.of[sets.previous], -1)
        while reached.size:
            depth[reached] = level
            level += 1
            reached = np.flatnonzero(np.isin(behind, reached))
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
    """Every table a round of a fresh match can begin with, all equally likely.

    Deals are drawn until a table not yet seen would be a wonder (less than one in 10^12), and held against their being equally
    likely. Raises :class:`TreeError` where there are too many to collect, or they are not.
    """
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


def _as_bytes(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as single items that compare by their bytes."""
    flat = np.ascontiguousarray(rows)
    return flat.view(np.dtype((np.void, flat.nbytes // len(flat)))).reshape(len(flat))


@dataclass
class _Ledger:
    """The information sets met so far."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    """Each one's number by what its seat knows: 16 bytes of a cryptographic hash, equal by accident once in 10^24 trees."""
    tables: list[NDArray[Any]] = field(default_factory=list)
    seat: list[NDArray[np.int64]] = field(default_factory=list)
    legal: list[NDArray[np.int64]] = field(default_factory=list)
    previous: list[NDArray[np.int64]] = field(default_factory=list)
    start: list[int] = field(default_factory=lambda: [0])

    def enter(self, batch: Batch, at: NDArray[np.int64], previous: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of what the seats to act at the tables ``at (K,)`` know, whose last slots were ``previous (K,)``."""
        seat, legal = batch.seat[at], batch.legal[at]
        words = np.stack([seat, previous, legal], axis=1).view(np.uint8)  # the legal actions are shown beside the observation
        known = np.concatenate([words, batch.observation[at]], axis=1)
        before = len(self.numbers)
        infoset = np.zeros(len(at), np.int64)
        new: list[int] = []
        for k, key in enumerate(known):
            infoset[k] = number = self.numbers.setdefault(blake2b(key, digest_size=16).digest(), len(self.numbers))
            if number == before + len(new):
                new.append(k)
                self.start.append(self.start[-1] + int(legal[k]).bit_count())
        self.tables.append(batch.tables[at[new]])
        self.seat.append(seat[new])
        self.legal.append(legal[new])
        self.previous.append(previous[new])
        return infoset

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
class _Level:
    """The nodes of one depth, and what it takes to go on from the K of them where a seat is asked."""

    nodes: Nodes
    tables: NDArray[Any]
    """``(K,)``."""
    legal: NDArray[np.int64]
    """``(K,)`` words."""
    last: NDArray[np.int64]
    """``(K, n)`` the slot that each seat took last, -1 none."""


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
    weight = openings.weight
    if weight.shape != openings.tables.shape or not (weight >= 0).all() or not abs(weight.sum() - 1) < 1e-9:
        raise TreeError(f"Each of the {len(openings.tables)} openings has a probability, and they sum to 1; these are {weight}.")
    ledger = _Ledger()
    roots = np.full(len(openings.tables), -1, np.int64)
    last = np.full((len(roots), setup.players), -1, np.int64)
    tables = openings.tables.copy()
    tables["rng"] = 0
    level = _level(setup, ledger, tables, None, roots, roots, last)
    pieces, size, depth = [level.nodes], len(roots), 0
    while level.tables.size:
        children = int(np.bitwise_count(level.legal).sum())
        if size + children > limit:
            raise TreeError(
                f"The game has more than the {limit:,} nodes that were allowed: {size + children:,} down to depth {depth + 1}."
            )
        which, actions = _actions(level.legal)
        asked = np.flatnonzero(level.nodes.seat >= 0)
        start = np.array(ledger.start, np.int64)[level.nodes.infoset[asked]]
        # how many-eth child of its node each is: the place of its action among the legal ones
        first = np.searchsorted(which, np.arange(len(asked)))
        slot = start[which] + np.arange(len(which)) - first[which]
        last = level.last[which]
        last[np.arange(len(which)), level.nodes.seat[asked][which]] = slot
        parent = size - len(level.nodes.parent) + asked[which]
        level = _level(setup, ledger, level.tables, (which, actions), parent, slot, last)
        pieces.append(level.nodes)
        size, depth = size + children, depth + 1
        if progress is not None:
            progress(children)
    nodes = Nodes(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))
    return Tree(setup, nodes, *ledger.close(), weight)


def _level(
    setup: Setup,
    ledger: _Ledger,
    tables: NDArray[Any],
    moves: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    parent: NDArray[np.int64],
    slot: NDArray[np.int64],
    last: NDArray[np.int64],
) -> _Level:
    """The nodes that ``moves``, (indices of tables, actions), lead to; without moves the ``tables`` themselves, played on."""
    size = len(parent)
    nodes = Nodes(parent, slot, np.full(size, -1), np.full(size, -1), np.zeros((size, setup.players)))
    kept: list[tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]] = []
    batch: Batch | None = None
    for at in range(0, size, CHUNK):
        piece = np.arange(at, min(at + CHUNK, size))
        if batch is None or batch.num_tables != len(piece):
            batch = Batch(setup, len(piece), autoreset=False)
        batch.set_tables(np.arange(len(piece)), tables[piece if moves is None else moves[0][piece]])
        if moves is not None:
            batch.step(moves[1][piece])
        if batch.tables["rng"].any():
            raise TreeError(f"In {setup.game.title} chance acts in the middle of a round: its tree would take nodes for that.")
        # the tables were entered anew before this step, so the reward is all that the round has paid
        over, asked = np.flatnonzero(batch.done), np.flatnonzero(~batch.done)
        payoff = batch.reward[over].astype(np.float64)
        nodes.net[piece[over]] = payoff - payoff.mean(axis=1, keepdims=True)
        nodes.seat[piece[asked]] = batch.seat[asked]
        latest = last[piece[asked], batch.seat[asked]]
        nodes.infoset[piece[asked]] = ledger.enter(batch, asked, latest)
        kept.append((batch.tables[asked], batch.legal[asked], last[piece[asked]]))
    return _Level(nodes, *(np.concatenate(parts) for parts in zip(*kept, strict=True)))
