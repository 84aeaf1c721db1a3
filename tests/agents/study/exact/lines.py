"""A small game, and the lines of play of a tree, reconstructed from its leaves."""

from __future__ import annotations

from collections.abc import Iterator

from nainjaune_agents.study.exact.tree import Openings, Tree
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup


def perfect(dinosaurs: int, players: int = 2) -> Setup:
    """Returns Batasaurus whose seats always know their cards."""
    return make_setup("batasaurus", players=players, memory="perfect", dinosaurs=dinosaurs)


def taken(tree: Tree, leaf: int) -> list[list[int]]:
    """Returns the sequences of each seat on the way to a leaf, in order."""
    ways: list[list[int]] = []
    for sequence in tree.leaves.last[leaf].tolist():
        way: list[int] = []
        while sequence >= 0:
            way.insert(0, sequence)
            sequence = int(tree.infosets.previous[tree.infosets.of[sequence]])
        ways.append(way)
    return ways


def replayed(tree: Tree, openings: Openings) -> Iterator[tuple[int, tuple[int, ...], Batch]]:
    """Yields (information set, the opening and the sequences so far, the batch of one table) at each decision of every line.

    Asserts that each line ends at its leaf, with the leaf's payoffs.
    """
    for leaf, opening in enumerate(tree.leaves.opening.tolist()):
        ways = taken(tree, leaf)
        batch = Batch(tree.setup, 1, autoreset=False)
        batch.set_tables(0, openings.tables[opening])
        paid = batch.reward[0].astype(float)
        line: tuple[int, ...] = (opening,)
        while any(ways):
            sequence = ways[int(batch.seat[0])].pop(0)
            yield int(tree.infosets.of[sequence]), line, batch
            batch.step([int(tree.infosets.action[sequence])])
            paid += batch.reward[0]
            line = (*line, sequence)
        assert batch.done[0]
        assert tree.leaves.payoff[leaf].tolist() == (paid - paid.mean()).tolist()
