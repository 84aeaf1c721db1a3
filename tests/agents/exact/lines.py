"""The lines of play of a tree, put together again from its ends."""

from __future__ import annotations

from collections.abc import Iterator

from nainjaune_agents.exact.tree import Openings, Tree
from nainjaune_env.engine.batch import Batch


def taken(tree: Tree, leaf: int) -> list[list[int]]:
    """The slots that each seat has taken on the way to an end, in order."""
    ways: list[list[int]] = []
    for slot in tree.leaves.last[leaf].tolist():
        way: list[int] = []
        while slot >= 0:
            way.insert(0, slot)
            slot = int(tree.infosets.previous[tree.infosets.of[slot]])
        ways.append(way)
    return ways


def replayed(tree: Tree, openings: Openings) -> Iterator[tuple[int, tuple[int, ...], Batch]]:
    """Every line of play on one table: (information set, the opening and the slots so far, the batch) where a seat is asked.

    Here too each line is held to end where the tree says, and to pay what it says.
    """
    for leaf, opening in enumerate(tree.leaves.opening.tolist()):
        ways = taken(tree, leaf)
        batch = Batch(tree.setup, 1, autoreset=False)
        batch.set_tables(0, openings.tables[opening])
        paid = batch.reward[0].astype(float)
        line: tuple[int, ...] = (opening,)
        while any(ways):
            slot = ways[int(batch.seat[0])].pop(0)
            yield int(tree.infosets.of[slot]), line, batch
            batch.step([int(tree.infosets.action[slot])])
            paid += batch.reward[0]
            line = (*line, slot)
        assert batch.done[0]
        assert tree.leaves.net[leaf].tolist() == (paid - paid.mean()).tolist()
