"""A game tree in sequence form: every line of play from given tables, by the game's own compiled functions.

The tree is the game exactly as the environment shows it. A node is a decision (``needs_decision`` of the kernel; forced plies
are made between nodes) or the end of the round. The *information set* of a seat at a node is all that it has observed, ply by
ply, and done since the round began (perfect recall), whatever the rules let it remember. Chance acts once, before the first
node: it draws the opening.

Of the nodes only the leaves are stored, each with the last sequence of every seat on the way to it. With the information sets
they determine the game (von Stengel 1996, *Efficient Computation of Behavior Strategies*).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import TreeError
from nainjaune_env.core.spec import Chance, Setup, list_openings
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.compiled import instance_of, loops_of

from ...base.task import CENTRED, payoff_by
from .plies import NOTHING

NO_VALUES: Mapping[str, Sequence[int]] = MappingProxyType({})
"""The start values of a fresh match."""
LIMIT = 10_000_000
"""Default for the most nodes of a tree; a leaf takes 28 bytes with two seats."""
CHUNK = 1 << 15
"""Tables stepped at once; determines the memory needed beyond the tree's own."""
MAX_OPENINGS = 100_000
"""The most openings of a game that lists them."""
MAX_DRAWS = 1 << 20
"""The most deals drawn to collect the openings of a game that does not list them."""
NO_OBSERVATIONS = np.array([0x243F6A8885A308D3, 0x13198A2E03707344], np.uint64)
"""The hash of an empty history: bits of π, an arbitrary value other than 0."""


class Openings(NamedTuple):
    """The openings of a tree."""

    tables: NDArray[Any]
    """``(R,)`` records with their generators at 0."""
    weight: NDArray[np.float64]
    """``(R,)`` probability of each; sums to 1."""


class Leaves(NamedTuple):
    """The L leaves, the ends of all lines of play, for compiled code."""

    last: NDArray[np.int32]
    """``(L, n)`` the last sequence (see :class:`Infosets`) of each seat; -1 where it had no decision."""
    payoff: NDArray[np.float64]
    """``(L, n)`` the seats' payoffs as the tree's objective counts them, by default centred, in the game's unit."""
    opening: NDArray[np.int32]
    """``(L,)`` the index of the opening."""


class Infosets(NamedTuple):
    """The I information sets, for compiled code, a seat's earlier ones before its later ones.

    Each legal action at one ends a *sequence*, the list of a seat's own choices up to it (perfect recall makes it unique). There
    are S, ascending by information set and action. A policy is ``(S,) float64`` and sums to 1 in each information set.
    """

    start: NDArray[np.int64]
    """``(I + 1,)`` information set i has the sequences ``start[i]`` to ``start[i + 1] - 1``."""
    seat: NDArray[np.int64]
    """``(I,)`` the seat that decides."""
    previous: NDArray[np.int64]
    """``(I,)`` the sequence that leads to it; -1 at the seat's first decision."""
    action: NDArray[np.int64]
    """``(S,)`` the last action of each sequence."""
    of: NDArray[np.int64]
    """``(S,)`` the information set of each sequence."""


@dataclass(frozen=True)
class Tree:
    """A game in sequence form."""

    setup: Setup
    leaves: Leaves
    infosets: Infosets
    tables: NDArray[Any]
    """``(I,)`` the table at one node of each information set, hidden cards included; for ``policy.tabular``."""
    weight: NDArray[np.float64]
    """``(R,)`` probabilities of the openings."""
    first: NDArray[np.int64]
    """``(R,)`` the seat that begins after each opening: it has the first ply, whether that is a decision or forced."""
    decision_nodes: int
    """Number of nodes that are decisions."""

    @property
    def size(self) -> int:
        """Number of nodes, M."""
        return self.decision_nodes + len(self.leaves.opening)

    @property
    def num_infosets(self) -> int:
        """Number of information sets, I."""
        return len(self.infosets.seat)

    @property
    def num_sequences(self) -> int:
        """Number of sequences, S."""
        return len(self.infosets.action)

    @functools.cached_property
    def weighted_payoff(self) -> NDArray[np.float64]:
        """``(L, n)`` the payoffs of each leaf times the probability of its opening."""
        return self.leaves.payoff * self.weight[self.leaves.opening, None]

    @functools.cached_property
    def constant_sum(self) -> bool:
        """Whether the payoffs of all seats add up to the same number in every leaf."""
        total = self.leaves.payoff.sum(axis=1)
        return bool(np.ptp(total) < 1e-9) if total.size else True

    @functools.cached_property
    def depth(self) -> NDArray[np.int64]:
        """``(I,)`` the number of decisions of its seat before each information set."""
        sets = self.infosets
        depth = np.zeros(self.num_infosets, np.int64)
        before = np.where(sets.previous >= 0, sets.of[sets.previous], -1)
        up = before
        while (up >= 0).any():
            depth += up >= 0
            up = np.where(up >= 0, before[up], -1)
        return depth

    def uniform(self) -> NDArray[np.float64]:
        """Returns the uniform policy, ``(S,)``."""
        choices: NDArray[np.int64] = np.diff(self.infosets.start)
        return 1.0 / choices[self.infosets.of]


def collect_openings(setup: Setup, *, seed: int = 0, start: Mapping[str, Sequence[int]] = NO_VALUES) -> Openings:
    """Returns every table that the first round of a match can begin with, and its probability; ``start`` are its start values.

    A game with ``GameSpec.chance`` lists them, openings that the rules cannot distinguish merged. For other games, deals are
    drawn until an unseen table has a probability below 10^-12, and tested for being equally likely. Raises :class:`TreeError`
    where there are too many openings, or the drawn ones are not equally likely.
    """
    chance = setup.game.chance
    return _drawn_openings(setup, seed, start) if chance is None else _listed_openings(setup, chance, start)


def _listed_openings(setup: Setup, chance: Chance, start: Mapping[str, Sequence[int]]) -> Openings:
    listed = list_openings(chance, setup, MAX_OPENINGS)
    if listed is None:
        raise TreeError(f"There are more than {MAX_OPENINGS:,} openings, too many to list: docs/exact.md has rules with fewer.")
    opening: Callable[..., Any] = chance.opening  # takes start values where the game has them
    tables = np.array([opening(setup, outcomes, **start) for outcomes, _ in listed], setup.game.table)
    deals = np.array([ways for _, ways in listed], np.float64)
    return Openings(tables, deals / deals.sum())


def _drawn_openings(setup: Setup, seed: int, start: Mapping[str, Sequence[int]]) -> Openings:
    draws = 1024
    while draws <= MAX_DRAWS:
        # forced plies are left to the tree: they are observed, and the first one says which seat begins
        batch = Batch(setup, draws, seed=seed, start=start, skip_forced=False, autoreset=False, observe=False)
        tables = batch.tables
        tables["rng"] = 0
        distinct, first, times = np.unique(_as_bytes(tables), return_index=True, return_counts=True)
        # of D equally likely tables, one stays unseen with a probability below D * exp(-draws / D)
        needed = len(distinct) * (math.log(len(distinct)) + 28)
        if draws >= needed:
            expected = draws / len(distinct)
            if np.abs(times - expected).max() > 8 * math.sqrt(expected):
                raise TreeError(f"The {len(distinct)} openings found are not equally likely; give them with their weights.")
            return Openings(tables[np.sort(first)].copy(), np.full(len(distinct), 1 / len(distinct)))
        draws = 2 ** math.ceil(math.log2(max(needed, 2 * draws)))
    raise TreeError(f"There are more openings than {MAX_DRAWS:,} deals could show: docs/exact.md has rules with fewer.")


def begun_by(setup: Setup, openings: Openings, seat: int) -> Openings:
    """Returns the ``openings`` where ``seat`` has the first ply, with renormalised probabilities.

    Where the seats are symmetric at the start, these represent the whole game: another first seat changes only the seats'
    numbers, and neither values nor gains nor equilibria. Raises :class:`TreeError` where they are not symmetric: where the
    observations, in order from the first seat, are not equally likely for every first seat.
    """
    first = openings.tables["seat"].astype(np.int64)
    seen: list[dict[bytes, float]] = [{} for _ in range(setup.players)]
    batch = Batch(setup, len(first), skip_forced=False, autoreset=False, observe=False)
    batch.set_tables(np.arange(len(first)), openings.tables, trusted=True)
    shown = [batch.observe((first + k) % setup.players) for k in range(setup.players)]
    for who, weight, key in zip(first.tolist(), openings.weight.tolist(), np.concatenate(shown, axis=1), strict=True):
        seen[who][key.tobytes()] = seen[who].get(key.tobytes(), 0.0) + weight
    chosen = seen[seat]
    if not all(other.keys() == chosen.keys() and all(abs(chosen[k] - other[k]) < 1e-12 for k in chosen) for other in seen):
        raise TreeError(
            f"The seats are not symmetric in these {len(first)} openings, so those that seat {seat} begins do not represent all."
        )
    weight = openings.weight[first == seat]
    return Openings(openings.tables[first == seat].copy(), weight / weight.sum())


def _as_bytes(rows: NDArray[Any]) -> NDArray[Any]:
    """Returns rows as single items that compare by their bytes."""
    flat = np.ascontiguousarray(rows)
    return flat.view(np.dtype((np.void, flat.nbytes // len(flat)))).reshape(len(flat))


def plies_of(setup: Setup) -> ModuleType:
    """Returns the compiled functions of ``plies`` for a game."""
    return instance_of(setup, f"{__package__}.plies", loops=loops_of(setup))


@dataclass
class _InfosetTable:
    """The information sets found so far."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    """Number of each by the seat's history, with a hash of 128 bits for its observations (a collision in one of 10^24 trees)."""
    tables: list[NDArray[Any]] = field(default_factory=list)
    seat: list[NDArray[np.int64]] = field(default_factory=list)
    legal: list[NDArray[np.int64]] = field(default_factory=list)
    previous: list[NDArray[np.int64]] = field(default_factory=list)
    start: list[int] = field(default_factory=lambda: [0])

    def enter(self, nodes: _Nodes) -> None:
        """Writes the first sequence of each node's information set into ``nodes``, and adds the new information sets."""
        seat, who = nodes.tables["seat"].astype(np.int64), np.arange(len(nodes.legal))
        previous = nodes.last[who, seat].astype(np.int64)
        visible = np.stack([seat, previous, nodes.legal], axis=1).view(np.uint64)  # legal actions are observed, too
        known = _as_bytes(np.concatenate([visible, nodes.recall[who, seat]], axis=1)).tolist() if who.size else []
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
        """Returns all information sets, and their tables."""
        start = np.array(self.start, np.int64)
        of = np.repeat(np.arange(len(start) - 1), np.diff(start))
        action = _actions(np.concatenate(self.legal))[1]
        sets = Infosets(start, np.concatenate(self.seat), np.concatenate(self.previous), action, of)
        return sets, np.concatenate(self.tables)


def _actions(legal_bits: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns each legal action of ``legal_bits (K,)``: the row and the action, both ascending."""
    octets = legal_bits.astype("<i8").view(np.uint8).reshape(-1, 8)
    which, action = np.nonzero(np.unpackbits(octets, axis=1, bitorder="little"))
    return which, action


@dataclass
class _Nodes:
    """K nodes."""

    tables: NDArray[Any]
    """``(K,)``."""
    opening: NDArray[np.int32]
    """``(K,)``."""
    last: NDArray[np.int32]
    """``(K, n)`` as in :class:`Leaves`."""
    recall: NDArray[np.uint64]
    """``(K, n, 2)`` the hash of each seat's observations, as in ``plies``."""
    legal: NDArray[np.int64]
    """``(K,)`` the legal actions as bits; 0 where the round is over."""
    paid: NDArray[np.int32]
    """``(K, n)`` payoffs."""
    start: NDArray[np.int64]
    """``(K,)`` the first sequence of the information set."""

    def __getitem__(self, which: NDArray[np.int64] | NDArray[np.bool_] | slice) -> _Nodes:
        """Returns copies of some nodes."""
        return _Nodes(*(np.copy(getattr(self, name)[which]) for name in _Nodes.__dataclass_fields__))

    def __len__(self) -> int:
        return len(self.tables)

    def play(self, setup: Setup, actions: NDArray[np.int64]) -> None:
        """Takes ``actions (K,)`` and goes on to the next nodes; raises :class:`TreeError` where chance acts in between."""
        seen = np.zeros(-(-setup.layout.size // 8) * 8, np.uint8)
        plies_of(setup).play_on(self.tables, setup.kernel_rules, actions, self.recall, seen, self.legal, self.paid)
        if self.tables["rng"].any():
            raise TreeError(f"In {setup.game.title} chance acts in the middle of a round, and a tree has no nodes for that.")


def build_tree(
    setup: Setup,
    openings: Openings | None = None,
    *,
    objective: str = CENTRED,
    limit: int = LIMIT,
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Returns the tree of the round that begins with ``openings`` (None: all openings of a match).

    Seats play for the payoff that ``objective`` (``task.OBJECTIVES``) counts: values, best responses and equilibria belong to
    that game. ``progress`` is called with the number of nodes added. Raises :class:`TreeError` where there would be more than
    ``limit`` nodes, or where chance acts in the middle of a round.
    """
    openings = collect_openings(setup) if openings is None else openings
    weight, n = openings.weight, setup.players
    if weight.shape != openings.tables.shape or not (weight >= 0).all() or not abs(weight.sum() - 1) < 1e-9:
        raise TreeError(f"The weights of the {len(openings.tables)} openings are probabilities that sum to 1, not {weight}.")
    size = len(weight)
    tables = openings.tables.copy()
    tables["rng"] = 0
    first = tables["seat"].astype(np.int64)
    nodes = _Nodes(
        tables=tables,
        opening=np.arange(size, dtype=np.int32),
        last=np.full((size, n), -1, np.int32),
        recall=np.broadcast_to(NO_OBSERVATIONS, (size, n, 2)).copy(),
        legal=np.zeros(size, np.int64),
        paid=np.zeros((size, n), np.int32),
        start=np.zeros(size, np.int64),
    )
    nodes.play(setup, np.full(size, NOTHING))
    infosets, ends, decision_nodes = _InfosetTable(), [], 0
    pending = [nodes]
    while pending:  # depth first, so that few pieces wait
        nodes = pending.pop()
        over = nodes.legal == 0
        end = nodes[over]
        ends.append(Leaves(end.last, payoff_by(objective, end.paid.astype(np.float64)), end.opening))
        nodes = nodes[~over]
        decision_nodes += len(nodes)
        infosets.enter(nodes)
        which, actions = _actions(nodes.legal)
        if size + len(which) > limit:
            raise TreeError(f"The game has more than the {limit:,} nodes that are allowed.")
        size += len(which)
        # the index of each child among those of its node
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
    return Tree(setup, leaves, *infosets.close(), weight, first, decision_nodes)
