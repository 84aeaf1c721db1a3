"""Game trees: their shape, the information sets, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.study.exact import tree as module
from nainjaune_agents.study.exact.response import best_response_gains
from nainjaune_agents.study.exact.tree import Openings, begun_by, build_tree, collect_openings, plies_of
from nainjaune_env.core.errors import NainJauneError, TreeError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.games import without

from .lines import perfect, replayed


def micro(preset: str = "djeco", ranks: int = 4, suits: int = 2, hand: int = 3, players: int = 2) -> Setup:
    return make_setup("nain_jaune", preset, players, ranks=ranks, suits=suits, hand=hand)


@pytest.mark.parametrize(
    ("setup", "like_cards"),
    [
        (perfect(3), False), (perfect(2, 3), False), (make_setup("batasaurus", players=2, dinosaurs=2), False),
        (micro("skip", 4, 1, 2), False), (micro("djeco", 3, 2, 2), True),
    ],
    ids=["perfect", "three_seats", "glimpse", "one_suit", "two_suits"],
)  # fmt: skip
def test_every_line_is_where_its_actions_lead(setup: Setup, like_cards: bool) -> None:
    """Who is to act and what is legal, and that agents observe the same throughout an information set.

    With several suits, openings that stand for others too are dealt the lowest of like cards, and which these are differs.
    """
    openings = collect_openings(setup)
    tree = build_tree(setup, openings)
    sets, nodes = tree.infosets, set()
    shown: dict[int, bytes] = {}
    for infoset, line, batch in replayed(tree, openings):
        nodes.add(line)
        actions = sets.action[sets.start[infoset] : sets.start[infoset + 1]]
        assert int(batch.legal[0]) == sum(1 << int(action) for action in actions)
        assert batch.seat[0] == sets.seat[infoset]
        seen = batch.observation[0].tobytes() + (b"" if like_cards else batch.redacted(0).tobytes())
        assert shown.setdefault(infoset, seen) == seen
    assert len(nodes) == tree.decision_nodes == tree.size - len(tree.leaves.opening)
    assert sorted(shown) == list(range(tree.num_infosets))


@pytest.mark.slow
def test_what_a_seat_knows_is_all_that_it_has_seen_ply_by_ply() -> None:
    """Information sets against sequences of observations, own choices and nothing else, kept whole."""
    setup = micro("djeco", 5, 2, 4)
    listed = collect_openings(setup)
    some = np.random.default_rng(2).choice(len(listed.weight), 6, replace=False)
    openings = Openings(listed.tables[some], np.full(6, 1 / 6))
    tree = build_tree(setup, openings)
    known: dict[int, Any] = {}
    by_what_stands_there = set()
    for infoset, line, asked in replayed(tree, openings):
        seat = int(asked.seat[0])
        batch = Batch(setup, 1, skip_forced=False, autoreset=False)
        batch.set_tables(0, openings.tables[line[0]])
        seen: list[Any] = [batch.observe(seat).tobytes()]
        todo = list(line[1:])
        while todo or not int(batch.legal[0]).bit_count() > 1:
            sequence = todo.pop(0) if int(batch.legal[0]).bit_count() > 1 else None
            action = int(batch.legal[0]).bit_length() - 1 if sequence is None else int(tree.infosets.action[sequence])
            if batch.seat[0] == seat and sequence is not None:
                seen.append(action)
            batch.step([action])
            seen.append(batch.observe(seat).tobytes())
        assert known.setdefault(infoset, (seat, seen)) == (seat, seen)
        by_what_stands_there.add((seat, seen[-1], int(tree.infosets.previous[infoset])))
    assert len({(seat, tuple(seen)) for seat, seen in known.values()}) == tree.num_infosets
    assert len(by_what_stands_there) < tree.num_infosets  # in what order the other has played is in no observation


def test_openings_are_all_there_and_alike() -> None:
    setup = make_setup("batasaurus", players=2, dinosaurs=3)
    for openings in (collect_openings(setup), collect_openings(without(setup, "chance"))):
        assert len(openings.tables) == 2 * 6 * 6  # the leader, and both layouts
        assert openings.weight == pytest.approx(np.full(72, 1 / 72))
        assert not openings.tables["rng"].any()
        assert len({row.tobytes() for row in openings.tables}) == 72


def test_openings_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_DRAWS", 4096)
    monkeypatch.setattr(module, "MAX_OPENINGS", 1000)
    fewer = r": docs/exact\.md has rules with fewer\."
    for name in ("batasaurus", "nain_jaune"):
        with pytest.raises(TreeError, match=r"There are more than 1,000 openings, too many to list" + fewer):
            collect_openings(make_setup(name))
        with pytest.raises(TreeError, match=r"There are more openings than 4,096 deals could show" + fewer):
            collect_openings(without(make_setup(name), "chance"))


@pytest.mark.parametrize("setup", [micro(), micro("skip", 3, 3, 2), micro("djeco", 4, 2, 2, 3), perfect(3, 3)])
def test_one_seat_begins_for_all(setup: Setup) -> None:
    openings = collect_openings(setup)
    some = begun_by(setup, openings, 0)
    assert len(some.weight) * setup.players == len(openings.weight)
    assert (some.tables["seat"] == 0).all()
    whole, part = build_tree(setup, openings), build_tree(setup, some)
    assert part.size * setup.players == whole.size
    assert part.num_infosets * setup.players == whole.num_infosets
    gains = best_response_gains(part, part.uniform())
    assert gains.nash_conv > 0.02
    assert gains.nash_conv == pytest.approx(best_response_gains(whole, whole.uniform()).nash_conv, abs=1e-12)


def test_seats_that_are_not_alike() -> None:
    openings = collect_openings(micro())
    weight = openings.weight * np.where(openings.tables["seat"] == 0, 1.5, 0.5)
    for wrong in (Openings(openings.tables, weight), Openings(openings.tables[:-1], openings.weight[:-1])):
        with pytest.raises(
            TreeError, match=r"The seats are not symmetric in these 4[34]\d openings, so those that seat 1 begins do"
        ):
            begun_by(micro(), wrong, 1)


@pytest.mark.parametrize("weight", [[1.0], [0.5, 0.6], [-0.5, 1.5], [np.nan, 1]])
def test_openings_have_probabilities(weight: list[float]) -> None:
    openings = collect_openings(perfect(2))
    with pytest.raises(TreeError, match="The weights of the 2 openings are probabilities that sum to 1, not"):
        build_tree(perfect(2), openings._replace(weight=np.array(weight)))


def test_openings_that_are_not_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loaded(Batch):
        def __init__(self, setup: Setup, num_tables: int, **settings: object) -> None:
            super().__init__(setup, num_tables, **settings)  # type: ignore[arg-type]
            self.tables[: num_tables // 2] = self.tables[0]

    monkeypatch.setattr(module, "Batch", Loaded)
    with pytest.raises(TreeError, match="The 2 openings found are not equally likely; give them with their weights"):
        collect_openings(without(perfect(3), "chance"))


def test_a_game_that_is_too_large() -> None:
    with pytest.raises(TreeError, match=r"more than the 1,000 nodes that are allowed\."):
        build_tree(perfect(4), limit=1000)
    assert issubclass(TreeError, NainJauneError)
    assert build_tree(perfect(4), limit=2154).size == 2154


def test_pieces_make_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = build_tree(perfect(4))
    monkeypatch.setattr(module, "CHUNK", 7)
    pieces = build_tree(perfect(4))
    # in another order; but the ends are as many, and as much is paid to as good answers
    assert (whole.size, whole.num_infosets, whole.num_sequences) == (pieces.size, pieces.num_infosets, pieces.num_sequences)
    ends = [sorted(zip(tree.leaves.opening.tolist(), tree.leaves.payoff.tolist(), strict=True)) for tree in (whole, pieces)]
    assert ends[0] == ends[1]
    gains = [best_response_gains(tree, tree.uniform()) for tree in (whole, pieces)]
    assert gains[0].responses == pytest.approx(gains[1].responses, abs=1e-12)


def test_chance_in_the_middle_of_a_round_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def rolling(tables: Any, *rest: Any) -> None:
        plies_of(perfect(2)).play_on(tables, *rest)
        tables["rng"] += np.uint64(1)

    monkeypatch.setattr(module, "plies_of", lambda setup: SimpleNamespace(play_on=rolling))
    with pytest.raises(TreeError, match="chance acts in the middle of a round"):
        build_tree(perfect(2))


def test_a_tree_without_a_choice() -> None:
    setup = perfect(2)
    batch = Batch(setup, 2, autoreset=False)
    for slot in (0, 1):
        batch.step([slot, slot])
    tree = build_tree(setup, Openings(batch.tables.copy(), np.array([0.5, 0.5])))
    assert (tree.size, tree.num_infosets, tree.num_sequences) == (2, 0, 0)
    assert tree.uniform().shape == (0,)
