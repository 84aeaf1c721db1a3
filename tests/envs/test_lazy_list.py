"""Lists whose items are made when they are read: in every use the same as a plain list."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from nainjaune_env.envs.lazy_list import LazyList

PLAIN = [{"n": 0}, {"n": 1}, {"n": 2}]


def fresh() -> LazyList[dict[str, int]]:
    return LazyList(3, lambda i: {"n": i})


def test_an_item_is_made_once_and_alone() -> None:
    made: list[int] = []
    items = LazyList(3, lambda i: made.append(i) or [i])
    assert isinstance(items, list)
    assert len(items) == 3
    assert bool(items)
    assert not made
    items[-1].append("mine")
    assert items[2] == [2, "mine"]
    items[0] = ["another"]
    assert made == [2]
    assert [*items] == [["another"], [1], [2, "mine"]]
    assert items[1] is items[1]
    assert made == [2, 1]
    with pytest.raises(IndexError):
        items[3]


def kept(change: Callable[[list[Any]], object]) -> Callable[[list[Any]], object]:
    """What is left of the list after the change."""
    return lambda items: [change(items), [*items]]


@pytest.mark.parametrize(
    "use",
    [
        list,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        repr,
        lambda items: sorted(items, key=lambda item: -item["n"]),
        lambda items: pickle.loads(pickle.dumps(items)),
        lambda items: items[::-2],
        lambda items: operator.add(items, [1]),
        lambda items: operator.add([1], items),
        lambda items: items * 2,
        lambda items: items == PLAIN,
        lambda items: operator.eq(PLAIN, items),
        lambda items: items > [{"n": 0}],
        lambda items: {"n": 1} in items,
        lambda items: (items.index({"n": 2}), items.count({"n": 0}), items.copy()),
        lambda items: [*zip(items, map(str, items), strict=True), *enumerate(items)],
        kept(lambda items: items.insert(1, 5)),
        kept(lambda items: items.pop(0)),
        kept(lambda items: items.sort(key=lambda item: -item["n"])),
        kept(lambda items: items.__setitem__(slice(0, 1), [7, 8])),
        kept(lambda items: items.__delitem__(0)),
        kept(lambda items: items.clear()),
        kept(lambda items: items.__iadd__([4])),
    ],
)
def test_every_use_is_that_of_a_plain_list(use: Callable[[list[Any]], object]) -> None:
    assert use(fresh()) == use(copy.deepcopy(PLAIN))
