"""Rows as JSON, and how pieces of a cell are put together."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nainjaune_agents.measure.rows import Key, Row, chain, joined
from nainjaune_agents.measure.stats.exact_sums import ProductSums
from nainjaune_env.core.errors import WorkError

KEY = Key("s" * 32, "h" * 32, "f" * 32, "payoff")
BOTS = {"bots": {"bot": {"games": 1, "decisions": 2, "faults": 0, "forfeited": 0}}}


def row(first: int, deals: int, key: Key = KEY, columns: int = 2) -> Row:
    """Values that depend on the cell and the number of the deal alone."""
    numbers = np.arange(first, first + deals)
    values = numbers[:, None] * 10 - np.arange(columns) + sum(map(ord, key.hero + key.field))
    return Row(key, first, deals, values, numbers % 3, made={"package": "1.0"})


def summed(first: int, deals: int) -> Row:
    """A row of the kind ``behaviour``, whose sums are over its deals alone."""
    sums = ProductSums(1, 4)
    sums.add(np.broadcast_to(np.arange(first, first + deals), (1, 4, deals)))
    return Row(KEY._replace(kind="behaviour"), first, deals, np.zeros((0, 0), np.int64), np.zeros(0, np.int64), sums.to_json())


def content(one: Row) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(one.to_json()))
    return {key: value for key, value in made.items() if key not in ("made", "bots")}


@pytest.mark.parametrize("one", [row(5, 4), row(0, 256, columns=8), summed(3, 9), replace(row(1, 1), bots=BOTS)])
def test_a_row_comes_back_as_it_was(one: Row) -> None:
    written = json.loads(json.dumps(one.to_json()))
    again = Row.from_json(written)
    assert again.to_json() == one.to_json()
    assert (again.key, again.end, again.repeatable) == (one.key, one.end, True)
    changes: list[dict[str, Any]] = [
        {"kind": "payof"}, {"first": -1}, {"first": 1.5}, {"deals": True}, {"columns": 3}, {"hero": 3},
        *([] if one.only_sums else [{"deals": 10**9}, {"values": "x"}, {"leader": None}]),
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(WorkError, match="Expected a row of payoffs, and it is none"):
            Row.from_json({**written, **change})
    for key in written:
        with pytest.raises(WorkError, match=f"it is none: KeyError\\('{key}'\\)"):
            Row.from_json({name: value for name, value in written.items() if name != key})


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=9)


@given(SPANS, st.integers(0, 25), st.integers(1, 15))
def test_pieces_are_joined_where_they_cover_the_deals(spans: list[tuple[int, int]], first: int, deals: int) -> None:
    pieces = [row(*span) for span in spans]
    there = {deal for at, count in spans for deal in range(at, at + count)}
    whole = joined(pieces, first, deals)
    gap = next((deal for deal in range(first, first + deals) if deal not in there), first + deals)
    rows = chain(pieces, first, first + deals)
    assert min(max([one.end for one in rows], default=first), first + deals) == gap
    assert (whole is None) == (gap < first + deals)
    if whole is not None:
        assert content(whole) == content(row(first, deals))
        assert whole.made["packages"] == ["1.0"]


@given(SPANS)
def test_sums_over_deals_are_joined_where_they_fit_without_a_rest(spans: list[tuple[int, int]]) -> None:
    whole = joined([summed(*span) for span in spans], 0, 12)
    reached = {0}
    for at in range(12):
        reached |= {first + count for first, count in spans if first == at and at in reached}
    if whole is None:  # of several ways the farthest steps are tried
        assert 12 not in reached or len(spans) > 1
    else:
        assert whole.sums == summed(0, 12).sums


def test_sums_that_nobody_can_add_are_an_error() -> None:
    halves = [replace(summed(at, 2), key=KEY._replace(kind="summary")) for at in (0, 2)]
    with pytest.raises(WorkError, match="Rows of the kind 'summary' are not put together"):
        joined(halves, 0, 4)


def test_what_clocks_decide_need_not_come_out_again() -> None:
    for fault, repeatable in (({"faults": 1}, False), ({"forfeited": 1}, False), ({}, True)):
        bots = {"bots": {"bot": {**BOTS["bots"]["bot"], **fault}}}
        assert replace(row(0, 1), bots=bots).repeatable == repeatable
