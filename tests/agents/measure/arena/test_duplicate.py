"""Duplicate play: the same deals for everyone, and edges worked out by hand."""

from __future__ import annotations

import importlib.util
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.arena import duplicate
from nainjaune_agents.measure.arena.duplicate import Duplicate, chunks
from nainjaune_agents.measure.arena.match_duplicate import MatchDuplicate
from nainjaune_agents.measure.arena.matches import record_matches
from nainjaune_agents.measure.arena.tournament import tournament
from nainjaune_agents.measure.arena.versus import versus
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.core.errors import ConfigError, DealError, DeviceError, MissingLibraryError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, make_batch
from nainjaune_env.engine.cuda import compiler
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.support.contract import all_setups
from tests.support.positions import small


def play_by_hand(setup: Setup, state: int, seats: list[Any]) -> tuple[list[int], int]:
    """The payoffs of one deal with these agents, and who acted first; the slow and obvious way."""
    batch = Batch(setup, 1, autoreset=False)
    batch.reset(seeds=np.array([state], np.uint64))
    leader = int(batch.seat[0])
    total = batch.reward[0].astype(int)
    while not batch.done[0]:
        word = int(batch.legal[0])
        lowest = (word & -word).bit_length() - 1
        batch.step([lowest if isinstance(seats[int(batch.seat[0])], First) else word.bit_length() - 1])
        total += batch.reward[0]
    return total.tolist(), leader


class Top:
    """Not a First: plays the highest action in `play_by_hand`."""


def test_three_deals_by_hand() -> None:
    setup, seed = small(3), 11
    hero, rival = First(), Top()
    blocks, by_distance = [], [[], [], []]  # type: ignore[var-annotated]
    for state in streams(seed, 3):
        base, leader = play_by_hand(setup, int(state), [rival] * 3)
        gains = []
        for seat in range(3):
            seats: list[Any] = [rival] * 3
            seats[seat] = hero
            gains.append(play_by_hand(setup, int(state), seats)[0][seat] - base[seat])
            by_distance[(seat - leader) % 3].append(gains[-1])
        blocks.append(sum(gains) / 3)
    edge = Duplicate(setup, [First(), Last("last")], seed=seed).edge(0, 1, 3)
    assert (edge.hero, edge.field_name) == ("first", "last")
    assert edge.moments.count == 3
    assert edge.mean == pytest.approx(np.mean(blocks))
    assert edge.moments.variance == pytest.approx(np.var(blocks, ddof=1))
    assert math.isnan(edge.ci95)  # too few deals
    assert edge.moments.nominal_half_width == pytest.approx(4.30265 * math.sqrt(np.var(blocks, ddof=1) / 3))
    assert [m.mean for m in edge.by_seat] == pytest.approx([np.mean(gains) for gains in by_distance])
    assert edge.mean != 0


@pytest.mark.parametrize("setup", all_setups())
def test_in_a_field_of_itself_nobody_has_an_edge(setup: Any) -> None:
    """Exactly none, deal by deal, for those without chance; how large one may be that these deals do not show is not known."""
    field = [agent for name, agent in heuristics(setup.game.name).items() if name != "random"] or [First()]
    tournament = Duplicate(setup, [*field, *field], seed=1)
    for k in range(len(field)):
        edge = tournament.edge(k, k + len(field), 6)
        assert edge.mean == 0.0
        assert edge.moments.differing == 0
        assert math.isnan(edge.ci95)
        assert all(m.mean == 0.0 for m in edge.by_seat)


def test_an_edge_does_not_depend_on_who_else_is_listed() -> None:
    """Not even that of agents that draw; in deals, and in matches."""
    setup = small()
    draws, others = [Chance("a"), Chance("b")], [Last("l"), First()]
    lists = [draws, [*others, *draws], [draws[1], others[0], draws[0]]]
    edges, matches = [], []
    for agents in lists:
        hero, rival = (agents.index(agent) for agent in draws)
        edges.append(Duplicate(setup, agents, seed=4).edge(hero, rival, 20).moments)
        matches.append(MatchDuplicate(setup, agents, seed=4, rounds=2).edge(hero, rival, 5).matches)
    assert edges[0] == edges[1] == edges[2]
    assert matches[0] == matches[1] == matches[2]
    assert edges[0].squares > 0


def test_deals_depend_on_seed_and_number_alone() -> None:
    tournament = Duplicate(small(), [First(), Last("l")], seed=5)
    assert tournament.deal_seeds(0, 10)[6:].tolist() == tournament.deal_seeds(6, 4).tolist()
    assert len(set(tournament.deal_seeds(0, 1000).tolist())) == 1000
    other = Duplicate(small(), [First(), Last("l")], seed=6)
    assert not set(other.deal_seeds(0, 1000).tolist()) & set(tournament.deal_seeds(0, 1000).tolist())


def test_how_deals_are_chunked_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = Duplicate(small(), [First(), Last("l")], seed=9)
    whole = tournament.edge(0, 1, 50)
    monkeypatch.setattr(duplicate, "CHUNK_TABLES", 28)
    reported: list[int] = []
    parts = tournament.edge(0, 1, 50, progress=reported.append)
    assert reported == [7] * 7 + [1]
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.moments.variance == pytest.approx(whole.moments.variance)
    assert [m.mean for m in parts.by_seat] == pytest.approx([m.mean for m in whole.by_seat])
    later = tournament.edge(0, 1, 20, first_deal=30)
    earlier = tournament.edge(0, 1, 30)
    earlier.moments.merge(later.moments)
    assert earlier.mean == pytest.approx(whole.mean)


@pytest.mark.parametrize(("first", "count", "size"), [(0, 0, 3), (0, 7, 3), (5, 6, 3), (2, 1, 10)])
def test_chunks_cover_each_number_once(first: int, count: int, size: int) -> None:
    covered = [at + k for at, length in chunks(first, count, size) for k in range(length)]
    assert covered == list(range(first, first + count))
    assert all(1 <= length <= size for _, length in chunks(first, count, size))


@pytest.mark.parametrize("deals", [0, -1, 1.5, True, None])
def test_a_number_of_deals_that_cannot_be_played_is_refused(deals: Any) -> None:
    agents = [First("a"), Last("b")]
    calls: list[Callable[[], Any]] = [
        lambda: Duplicate(small(), agents, seed=1).edge(0, 1, deals),
        lambda: MatchDuplicate(small(), agents, seed=1).edge(0, 1, deals),
        lambda: tournament(small(), agents, deals=deals, seed=1),
        lambda: versus(small(), agents, deals=deals, seed=1),
        lambda: list(record_matches(small(), agents, deals, seed=1)),
    ]
    for call in calls:
        with pytest.raises((DealError, ConfigError), match=r"a whole number, not|at least 1, not|from 1 to 1000000000, not"):
            call()


def test_the_same_seed_gives_the_same_edge_also_with_chance() -> None:
    def edge(seed: int, hero: int = 0) -> Any:
        return Duplicate(small(), [Chance("a"), Chance("b")], seed=seed).edge(hero, 1 - hero, 30).moments

    assert edge(1) == edge(1)
    assert edge(1) != edge(2)
    assert edge(1) == edge(1, hero=1)  # every pair has the same numbers, and the two play alike


def test_pots_that_the_deals_begin_with() -> None:
    setup = small()
    seen: list[Any] = []

    class Spy(First):
        def act(self, decisions: Any, rng: Any) -> Any:
            seen.append(decisions.tables["pot"].copy())
            return super().act(decisions, rng)

    Duplicate(setup, [Spy(), First("b")], seed=1, task=Task(start={"pots": [10, 10]})).edge(0, 1, 2)
    assert seen[0][0].tolist() == [10 + 3, 10 + 6, 10 + 9, 10 + 12, 10 + 15]


def test_memory_does_not_grow_with_the_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more tables than a chunk's at once, and nothing is kept of a deal but its part in the moments."""
    sizes: list[int] = []

    def spy(setup: Setup, num_tables: int, **options: Any) -> Batch:
        sizes.append(num_tables)
        return make_batch(setup, num_tables, **options)

    monkeypatch.setattr(duplicate, "CHUNK_TABLES", 100)
    monkeypatch.setattr(duplicate, "make_batch", spy)
    setup = small()
    tournament = Duplicate(setup, list(heuristics(setup.game.name).values()), seed=2)
    before = dict(vars(tournament))
    results = [len(pickle.dumps(tournament.edge(0, 1, deals))) for deals in (300, 900)]
    assert max(sizes) == 100
    assert sum(sizes) == 1200 * 4
    assert abs(results[0] - results[1]) < 10
    assert vars(tournament) == before


def test_a_device_that_is_not_there_is_told_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = list(heuristics("nain_jaune").values())[:2]
    with pytest.raises(DeviceError, match=r"Unknown device 'tpu'.* Valid: cpu, cuda"):
        Duplicate(small(3), agents, seed=0, device="tpu")
    real = importlib.util.find_spec
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None if name == "numba_cuda" else real(name))
    with pytest.raises(MissingLibraryError, match="needs the package 'numba-cuda'"):
        Duplicate(small(3), agents, seed=0, device="cuda")


def test_chunks_played_at_once_are_summed_up_as_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a GPU, which takes more of them, comes to the same figure to the last bit."""
    setup, agents = small(3), [First(), Last("last")]
    monkeypatch.setattr(duplicate, "CHUNK_TABLES", 4 * 3)
    alone = Duplicate(setup, agents, seed=3, measure=True).edge(0, 1, 50)
    monkeypatch.setitem(duplicate.CHUNKS_AT_ONCE, "cpu", 4)
    reported: list[int] = []
    together = Duplicate(setup, agents, seed=3, measure=True).edge(0, 1, 50, progress=reported.append)
    assert sum(reported) == 50
    assert len(reported) == 5
    assert pickle.dumps(together.moments) == pickle.dumps(alone.moments)
    assert pickle.dumps(together.by_seat) == pickle.dumps(alone.by_seat)
    assert together.behaviour is not None
    assert alone.behaviour is not None
    assert str(list(together.behaviour.estimates())) == str(list(alone.behaviour.estimates()))


@pytest.mark.parametrize("function", [Duplicate, MatchDuplicate])
def test_what_is_no_setup_is_a_sentence(function: Callable[..., object]) -> None:
    for given in (None, "djeco"):
        with pytest.raises(RulesError, match=r"Expected the rules of a table as make_setup\(\) returns them, not"):
            function(given, [], seed=1)
