"""Games written out: their shape, what the seats know at their nodes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.exact import tree as module
from nainjaune_agents.exact.tree import Openings, Tree, build_tree, collect_openings
from nainjaune_env.batch import Batch
from nainjaune_env.errors import NainJauneError, TreeError
from nainjaune_env.prng import streams
from nainjaune_env.registry import make_setup
from nainjaune_env.spec import Setup
from tests.agents.positions import small


def perfect(dinosaurs: int, players: int = 2) -> Setup:
    return make_setup("batasaurus", players=players, memory="perfect", dinosaurs=dinosaurs)


def leaves(tree: Tree) -> int:
    return int((tree.nodes.seat < 0).sum())


@pytest.mark.parametrize(("dinosaurs", "ends"), [(2, 2 * 4), (3, 2 * 36), (4, 2 * 576)])
def test_two_seats_play_their_cards_in_any_order(dinosaurs: int, ends: int) -> None:
    """Two leaders; each seat has n! orders, of which the last card is forced."""
    tree = build_tree(perfect(dinosaurs))
    assert leaves(tree) == ends
    assert tree.weight.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("setup", [perfect(3), perfect(3, 3), make_setup("batasaurus", players=2, dinosaurs=2)], ids=str)
def test_the_arrays_fit_together(setup: Setup) -> None:
    tree = build_tree(setup)
    nodes, sets = tree.nodes, tree.infosets
    inner = nodes.seat >= 0
    assert (nodes.parent[: len(tree.weight)] == -1).all()
    below = np.arange(len(tree.weight), tree.size)
    assert (nodes.parent[below] < below).all()
    assert (np.diff(nodes.parent) >= 0).all()
    assert ((nodes.infoset >= 0) == inner).all()
    assert (nodes.net[inner] == 0).all()
    assert nodes.net.sum(axis=1) == pytest.approx(np.zeros(tree.size))
    # a node has one child for each slot of its information set, in order
    for node in np.flatnonzero(inner):
        slots = np.arange(sets.start[nodes.infoset[node]], sets.start[nodes.infoset[node] + 1])
        assert nodes.slot[nodes.parent == node].tolist() == slots.tolist()
    assert (sets.seat[nodes.infoset[inner]] == nodes.seat[inner]).all()
    assert (np.diff(sets.of) >= 0).all()
    earlier = sets.previous >= 0
    assert (sets.of[sets.previous[earlier]] < np.flatnonzero(earlier)).all()
    assert (sets.seat[sets.of[sets.previous[earlier]]] == sets.seat[earlier]).all()
    assert tree.depth[~earlier].max() == 0
    assert (tree.depth[earlier] == tree.depth[sets.of[sets.previous[earlier]]] + 1).all()
    policy = tree.uniform()
    assert (tree.slots(tree.rows(policy)) == policy).all()
    assert tree.rows(policy).sum(axis=1) == pytest.approx(np.ones(tree.num_infosets))


def test_every_node_is_where_its_actions_lead() -> None:
    """Each line replayed on one table: who is to act, what may be played, and what was paid."""
    setup = perfect(3)
    openings = collect_openings(setup)
    tree = build_tree(setup, openings)
    nodes, sets = tree.nodes, tree.infosets
    shown: dict[int, bytes] = {}
    for node in range(tree.size):
        line, at = [], node
        while nodes.parent[at] >= 0:
            line.append(int(sets.action[nodes.slot[at]]))
            at = int(nodes.parent[at])
        batch = Batch(setup, 1, autoreset=False)
        batch.set_tables(0, openings.tables[at])
        paid = batch.reward[0].astype(float)
        for action in reversed(line):
            batch.step([action])
            paid += batch.reward[0]
        if nodes.seat[node] < 0:
            assert batch.done[0]
            assert nodes.net[node].tolist() == (paid - paid.mean()).tolist()
        else:
            infoset = int(nodes.infoset[node])
            actions = sets.action[sets.start[infoset] : sets.start[infoset + 1]]
            assert int(batch.legal[0]) == sum(1 << int(action) for action in actions)
            assert batch.seat[0] == nodes.seat[node]
            # whatever agents are shown is the same at all nodes of an information set
            seen = batch.observation[0].tobytes() + batch.redacted(0).tobytes()
            assert shown.setdefault(infoset, seen) == seen


def test_a_hidden_commit_is_not_known() -> None:
    """After a tie with three dinosaurs, the second seat commits at one information set, whatever the first has committed."""
    tree = build_tree(perfect(3))
    counts = np.bincount(tree.nodes.infoset[tree.nodes.infoset >= 0])
    assert set(counts.tolist()) == {1, 2}  # the two cards that the first may have committed
    assert (counts == 2).sum() == 2 * 3  # for each leader, for each value tied


def test_forced_plies_pass_unseen() -> None:
    tree = build_tree(perfect(4))
    assert np.diff(tree.infosets.start).min() == 2


def test_openings_are_all_there_and_alike() -> None:
    openings = collect_openings(make_setup("batasaurus", players=2, dinosaurs=3))
    assert len(openings.tables) == 2 * 6 * 6  # the leader, and both layouts
    assert openings.weight.tolist() == [1 / 72] * 72
    assert not openings.tables["rng"].any()
    assert len({row.tobytes() for row in openings.tables}) == 72


def test_openings_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_DRAWS", 4096)
    for name in ("batasaurus", "nain_jaune"):
        with pytest.raises(TreeError, match=r"There are more openings than 4,096 deals could show; give those to begin with\."):
            collect_openings(make_setup(name))


@pytest.mark.parametrize("weight", [[1.0], [0.5, 0.6], [-0.5, 1.5], [np.nan, 1]])
def test_openings_have_probabilities(weight: list[float]) -> None:
    openings = collect_openings(perfect(2))
    with pytest.raises(TreeError, match="Each of the 2 openings has a probability, and they sum to 1; these are"):
        build_tree(perfect(2), openings._replace(weight=np.array(weight)))


def test_openings_that_are_not_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loaded(Batch):
        def __init__(self, setup: Setup, num_tables: int, **settings: object) -> None:
            super().__init__(setup, num_tables, **settings)  # type: ignore[arg-type]
            self.tables[: num_tables // 2] = self.tables[0]

    monkeypatch.setattr(module, "Batch", Loaded)
    with pytest.raises(TreeError, match="The 2 openings found are not equally likely; give them with their weights"):
        collect_openings(perfect(3))


def test_a_game_that_is_too_large() -> None:
    with pytest.raises(TreeError, match=r"more than the 1,000 nodes that were allowed: [0-9,]+ down to depth [0-9]\."):
        build_tree(perfect(4), limit=1000)
    assert issubclass(TreeError, NainJauneError)
    assert build_tree(perfect(4), limit=2154).size == 2154


def test_pieces_make_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = build_tree(perfect(4))
    monkeypatch.setattr(module, "CHUNK", 7)
    pieces = build_tree(perfect(4))
    for a, b in zip((*whole.nodes, *whole.infosets), (*pieces.nodes, *pieces.infosets), strict=True):
        assert (a == b).all()
    assert whole.tables.tobytes() == pieces.tables.tobytes()


def test_chance_in_the_middle_of_a_round_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rolling(Batch):
        def step(self, actions: object) -> None:
            super().step(actions)  # type: ignore[arg-type]
            self.tables["rng"] += np.uint64(1)

    monkeypatch.setattr(module, "Batch", Rolling)
    with pytest.raises(TreeError, match="chance acts in the middle of a round"):
        build_tree(perfect(2))


def test_any_game_from_given_openings() -> None:
    """Another game, from where few cards are left, in two positions of unequal weight."""
    setup = small(3)
    batch, draws = Batch(setup, 400, seed=3, autoreset=False), streams(3, 400)
    late = np.zeros(0, np.int64)
    while late.size < 2:
        batch.step(batch.sample(draws))
        left = np.bitwise_count(batch.tables["hand"].astype(np.uint64)).sum(axis=1)
        late = np.flatnonzero((left <= 10) & ~batch.done)
    tree = build_tree(setup, Openings(batch.tables[late[:2]].copy(), np.array([0.25, 0.75])))
    assert tree.size > 4
    assert tree.weight.tolist() == [0.25, 0.75]
    assert tree.nodes.net.any()


def test_progress_is_told_all_nodes() -> None:
    told: list[int] = []
    tree = build_tree(perfect(3), progress=told.append)
    assert sum(told) + len(tree.weight) == tree.size


def test_a_tree_without_a_choice() -> None:
    setup = perfect(2)
    batch = Batch(setup, 2, autoreset=False)
    for slot in (0, 1):
        batch.step([slot, slot])
    tree = build_tree(setup, Openings(batch.tables.copy(), np.array([0.5, 0.5])))
    assert (tree.size, tree.num_infosets, tree.num_slots) == (2, 0, 0)
    assert tree.uniform().shape == (0,)
