"""Every agent in a field of every other: edges, advantages and the ranking of the same deals, and when a test stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.cross_table import CrossTable, fold
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Block, Cell, Measurement, make_plan
from nainjaune_agents.measure.rows import ROW
from nainjaune_agents.measure.stats.differences import ROUGH, TOO_SHORT, Differences
from nainjaune_agents.measure.stats.sequential import SequentialTest, anytime_half_width
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.errors import AgentError, WorkError
from nainjaune_env.registry import make_setup
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.agents.measure.distributed.runs import Shuffled
from tests.agents.measure.stores import SOURCE, Counting, kept, measurement, numbers
from tests.support.positions import small

KNOWN = heuristics("nain_jaune")
TRIO = ("random", "lowest", "longest")


@pytest.fixture(scope="module")
def table() -> CrossTable:
    return cross_table(small(4), [KNOWN[name] for name in TRIO], deals=200, seed=1)


def test_all_ordered_pairs_have_the_edges_of_duplicate_play(table: CrossTable) -> None:
    pairs = [(one, other) for one in TRIO for other in TRIO if one != other]
    assert [(edge.hero, edge.field_name) for edge in table.edges] == pairs
    for hero, field in pairs:
        edge = FieldAlone(OwnGame(small(4), 1), KNOWN[field], 200).edge(KNOWN[hero])
        assert (table.edge(hero, field).moments, table.edge(hero, field).by_seat) == (edge.moments, edge.by_seat)


def test_advantages_and_the_ranking_are_means_of_the_same_deals(table: CrossTable) -> None:
    agents = [KNOWN[name] for name in TRIO]
    blocks = [*Measurement(make_plan(OwnGame(small(4), 1), agents, 200), agents).blocks()]
    gain: dict[tuple[int, int], Any] = {}
    for one, other in ((one, other) for one in range(3) for other in range(3) if one != other):
        parts = [(block.rows[Cell(one, other)].values - block.rows[Cell(other, other)].values) for block in blocks]
        gain[one, other] = np.concatenate(parts).mean(axis=1) / 4
    advantage = {pair: (gain[pair] - gain[pair[::-1]]) / 2 for pair in gain}
    for (one, other), values in advantage.items():
        stats, expected = table.advantage(TRIO[one], TRIO[other]), Differences.of(values)
        assert (stats.mean, stats.half_width) == pytest.approx((expected.mean, expected.half_width))
        assert stats.differing == np.count_nonzero(gain[one, other] != gain[other, one])
        assert table.advantage(TRIO[other], TRIO[one]) == stats.negated()
    means = {TRIO[one]: Differences.of((advantage[one, (one + 1) % 3] + advantage[one, (one + 2) % 3]) / 2) for one in range(3)}
    assert [name for name, _ in table.ranking] == sorted(TRIO, key=lambda name: -means[name].mean)
    for name, stats in table.ranking:
        assert (stats.mean, stats.half_width) == pytest.approx((means[name].mean, means[name].half_width))


def test_results_are_as_others_will_read_them(table: CrossTable) -> None:
    payload = table.to_dict()
    parts = {key: payload.pop(key) for key in ("edges", "advantages", "ranking")}
    assert payload == {
        **table.setup.to_dict(), "deals": 200, "seed": 1, "unit": "chips", "objective": "own", "start": "fresh",
        "agents": [*TRIO], "notes": [ROUGH],
    }  # fmt: skip
    for row, edge in zip(parts["edges"], table.edges, strict=True):
        assert list(row) == ["hero", "field", "mean", "ci95", "blocks", "differ", "by_distance_from_lead"]
        assert (row["hero"], row["field"], row["mean"], row["ci95"]) == (edge.hero, edge.field_name, edge.mean, edge.ci95)
        assert (row["blocks"], len(row["by_distance_from_lead"])) == (200, 4)
    for row, ((one, other), stats) in zip(parts["advantages"], table.advantages.items(), strict=True):
        assert (row["agent"], row["over"], row["mean"], row["differ"]) == (TRIO[one], TRIO[other], stats.mean, stats.differing)
        assert row["stronger"] == {1: TRIO[one], -1: TRIO[other], 0: None}[stats.estimate.sign]
    assert [[*row] for row in parts["ranking"]] == [["agent", "mean", "ci95"]] * 3
    assert json.loads(json.dumps(parts, allow_nan=False)) == parts


def test_one_way_the_first_agent_is_the_only_hero_and_is_asked_less() -> None:
    slow, rivals = First(), [Last("last"), Chance()]
    both = cross_table(small(4), [slow, *rivals], deals=20, seed=1, measure=True)
    asked, slow.asked = slow.asked, 0
    way = cross_table(small(4), [slow, *rivals], deals=20, seed=1, measure=True, one_way=True)
    assert 3 * slow.asked < asked
    assert [(edge.hero, edge.field_name) for edge in way.edges] == [("first", "last"), ("first", "chance")]
    assert [edge.moments for edge in way.edges] == [edge.moments for edge in both.edges[:2]]
    assert (way.heroes, way.advantages, way.ranking) == (("first",), {}, [])
    payload = way.to_dict()
    assert (payload["one_way"], payload["advantages"], "one_way" in both.to_dict()) == (True, [], False)
    with pytest.raises(AgentError, match="played one way"):
        way.advantage("first", "last")
    for pair in (("last", "first"), ("first", "nobody")):
        with pytest.raises(AgentError, match=f"'{pair[0]}' was not played in a field of '{pair[1]}'"):
            way.edge(*pair)


@pytest.mark.parametrize("task", [Task(), Task(start={"pots": [0, 50]})], ids=str)
def test_matches_have_edges_a_match_and_a_round(task: Task) -> None:
    setup = make_setup("nain_jaune", "classic", 3, max_rounds=4)
    pair = [KNOWN["lowest"], KNOWN["tally"]]
    source = OwnGame(setup, 9, task, "match", 2)
    count = 300 if task.draws else 30
    for matches in (count - 1, count):
        result = fold(Measurement(make_plan(source, pair, matches), pair))
        edge = result.edges[0]
        assert edge.per_round is not None
        assert (edge.rounds, edge.per_round.mean) == (2, pytest.approx(edge.mean / 2))
        assert [bool(np.isnan(width)) for width in (edge.ci95, edge.per_round.ci95)] == [matches < count] * 2
        assert result.notes == [TOO_SHORT if matches < count else ROUGH]
        assert result.to_dict()["most_rounds"] == 2
    alone = FieldAlone(source, pair[1], count).edge(pair[0])
    assert alone.moments == edge.moments


# ---- tests -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_test_looks_after_each_row_from_the_first_deal_on_and_stops_when_it_decides(at_once: int) -> None:
    test, looks = SequentialTest(0, 0.5), list[tuple[int, str]]()

    def look(so_far: CrossTable) -> None:
        looks.append((so_far.deals, test.outcome(so_far.advantages[0, 1])))

    for names, outcome in ((("tally", "random"), "stronger"), (("random", "tally"), "not stronger")):
        looks.clear()
        executor = Shuffled(at_once, at_once)
        pair = [KNOWN[name] for name in names]
        result = cross_table(SOURCE.setup, pair, deals=4000, seed=1, test=test, progress=look, executor=executor)
        assert [deals for deals, _ in looks] == [*range(ROW, result.deals + 1, ROW)]
        assert [said for _, said in looks] == ["undecided"] * (len(looks) - 1) + [outcome]
        assert executor.closed
        assert len(executor.played) < 4000 / ROW
        whole = cross_table(SOURCE.setup, pair, deals=4000, seed=1, test=test, chunk=1000)
        assert (whole.deals, whole.advantages) == (result.deals, result.advantages)
    capped = cross_table(SOURCE.setup, pair, deals=20, seed=1, test=SequentialTest(0, 0.01))
    assert (result.decided, capped.decided, capped.to_dict()["test"]["outcome"]) == (True, False, "undecided")


def test_nothing_is_decided_before_enough_deals_differ() -> None:
    """Deals without a difference do not say how large one is where there is one."""
    table = cross_table(small(), [First("a"), First("b")], deals=600, seed=1, test=SequentialTest())
    payload = table.to_dict()
    assert (payload["deals"], payload["test"]["outcome"], payload["test"]["llr"]) == (600, "undecided", 0)
    (advantage,) = payload["advantages"]
    assert [advantage[key] for key in ("mean", "ci95", "anytime95", "differ", "stronger")] == [0, None, None, 0, None]


# ---- what was seen before ------------------------------------------------------------------------------------------------


def test_deals_that_were_reported_before_bring_the_anytime_interval_beside_the_plain_one(tmp_path: Path) -> None:
    for deals in (40, 40, 80):
        with Store(tmp_path) as store:
            player = measurement(deals=deals, store=store)
            table = fold(player)
            table.looks = store.looks(player.source_id, player.ids)
            store.add_look(player.source_id, player.ids, deals)
        looked = deals == 80
        assert table.looked == looked
        payload = table.to_dict()
        rows = [*payload["edges"], *payload["advantages"], *payload["ranking"]]
        assert ["anytime95" in row for row in rows] == [looked] * len(rows)
        assert [note.startswith("Results over 40 deals were reported before: ") for note in table.notes].count(True) == looked
    assert payload["edges"][0]["anytime95"] == anytime_half_width(table.edges[0].moments) > payload["edges"][0]["ci95"]


def test_deals_that_choose_never_rate(tmp_path: Path) -> None:
    choosing = OwnGame(SOURCE.setup, SOURCE.seed, purpose="choosing")
    first, second = Counting(), Counting()
    tables = [kept(tmp_path, executor=one, source=source) for one, source in ((first, choosing), (second, SOURCE))]
    assert first.cells == second.cells
    assert numbers(tables[0])["edges"] != numbers(tables[1])["edges"]
    with Store(tmp_path) as store:
        (rated,), (chosen,) = ([*measurement(store=store, source=source).blocks()] for source in (SOURCE, choosing))
        mixed = Block(0, 40, {**rated.rows, Cell(0, 1): chosen.rows[Cell(0, 1)]})
        with pytest.raises(WorkError, match="Expected deals of one source, and some chose among players"):
            CrossTable(measurement(store=store)).add(mixed)
