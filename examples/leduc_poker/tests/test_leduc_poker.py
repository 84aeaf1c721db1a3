"""Leduc poker as any environment: the rules, article by article, and every door that is made for any game."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from leduc_poker import SPEC
from leduc_poker.kernel import CALL, FOLD, NONE, RAISE
from pettingzoo.test import api_test

import nainjaune_env
from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.exact.tree import build_tree
from nainjaune_agents.tables.server.settings import playable
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.errors import DealError, TreeError
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.determinize import determinize
from nainjaune_env.records.record import parse_record, setup_of, show_record, verify_record

SETUP = make_setup("leduc_poker")
J, Q, K = range(0, 6, 2)
"""A card of each rank; the next number is the other one."""


def played(actions: list[int], hands: tuple[int, int] = (K, Q), board: int = J, **knobs: Any) -> Batch:
    """A table that seat 0 begins with these hands; a public card, where one is drawn, is exchanged for ``board``."""
    batch = Batch(make_setup("leduc_poker", **knobs), 1, autoreset=False, skip_forced=False)
    table = batch.tables.copy()
    table["hand"], table["first"], table["seat"] = hands, 0, 0
    batch.set_tables(0, table)
    for action in actions:
        hidden = batch.tables["board"][0] == NONE
        batch.step([action])
        if hidden and batch.tables["board"][0] != NONE and not batch.done[0]:
            shown = batch.tables.copy()
            shown["board"] = board
            batch.set_tables(0, shown)
    return batch


def payoffs(batch: Batch) -> list[int]:
    out = np.zeros(2, np.int32)
    SPEC.kernel.payoffs(batch.tables[0], batch.setup.kernel_rules, out)
    return [int(chips) for chips in out]


def test_p1_1_every_deal_is_as_likely() -> None:
    tables = Batch(SETUP, 30_000, seed=1).tables
    deals = np.bincount(36 * tables["first"] + 6 * tables["hand"][:, 0] + tables["hand"][:, 1], minlength=72)
    pairs = [6 * one + other for one in range(6) for other in range(6) if one != other]
    assert np.array_equal(np.flatnonzero(deals), [36 * first + pair for first in range(2) for pair in pairs])
    assert np.abs(deals[deals > 0] - 500).max() < 5 * 500**0.5


def test_p1_2_seats_pay_1_chip_and_see_their_own_card_alone() -> None:
    batch = played([])
    assert batch.tables["paid"].tolist() == [[1, 1]]
    cards = [batch.layout.view(batch.observe(seat), "card")[0].tolist() for seat in range(2)]
    assert cards == [[0, 0, 1], [0, 1, 0]]


def test_p2_1_a_raise_is_2_chips_and_then_4() -> None:
    assert played([RAISE]).tables["paid"].tolist() == [[3, 1]]
    batch = played([RAISE, CALL, RAISE])
    assert batch.tables["paid"].tolist() == [[7, 3]]
    assert batch.seat[0] == 1  # the first seat began again


@pytest.mark.parametrize("raises", [0, 1, 2, 4])
def test_p2_2_what_is_legal(raises: int) -> None:
    assert (played([], raises=raises).mask[0] == [False, True, raises > 0]).all()
    for made in range(1, raises + 1):
        assert (played([RAISE] * made, raises=raises).mask[0] == [True, True, made < raises]).all()


@pytest.mark.parametrize("bets", [[CALL, CALL], [RAISE, CALL], [CALL, RAISE, CALL], [RAISE, RAISE, CALL]])
def test_p2_3_a_call_ends_the_bets_unless_it_is_the_first_ply(bets: list[int]) -> None:
    for before in range(1, len(bets)):
        assert played(bets[:before]).tables["board"][0] == NONE
    assert played(bets).tables["board"][0] == J
    assert played(bets).seat[0] == 0
    assert played([*bets, *bets]).done[0]


def test_p2_3_the_public_card_is_any_of_the_rest() -> None:
    batch = Batch(SETUP, 12_000, seed=2, autoreset=False)
    for _ in range(2):
        batch.step(np.full(12_000, CALL))
    tables = batch.tables
    assert (tables["board"][:, None] != tables["hand"]).all()
    places = [np.searchsorted(np.setdiff1d(range(6), row["hand"]), row["board"]) for row in tables]
    assert np.abs(np.bincount(places) - 3000).max() < 5 * 3000**0.5


def test_p3_1_who_folds_loses_what_they_have_paid() -> None:
    assert payoffs(played([RAISE, FOLD])) == [1, -1]
    assert payoffs(played([CALL, CALL, CALL, RAISE, FOLD])) == [-1, 1]


@pytest.mark.parametrize(
    ("hands", "board", "winner"),
    [((K, Q), J, 0), ((J, Q), K, 1), ((J, K), J + 1, 0), ((Q, Q + 1), J, None), ((K, Q), Q + 1, 1)],
)
def test_p3_2_a_pair_wins_else_the_higher_card(hands: tuple[int, int], board: int, winner: int | None) -> None:
    batch = played([RAISE, CALL, RAISE, CALL], hands, board)
    assert payoffs(batch) == [0 if winner is None else 7 if seat == winner else -7 for seat in range(2)]
    assert payoffs(played([RAISE, CALL, RAISE], hands, board)) == [0, 0]


def test_tables_from_outside_are_checked() -> None:
    table = played([]).tables.copy()
    table["first"] = 2
    with pytest.raises(DealError, match="expected 0 to 1; its field 'first' is 2"):
        Batch(SETUP, 1).set_tables(0, table)


@pytest.mark.filterwarnings("ignore")
def test_pettingzoo() -> None:
    api_test(nainjaune_env.env("leduc"), num_cycles=60)
    assert pettingzoo.make("aec", "nainjaune/leduc_poker-v0").unwrapped.setup == SETUP


def test_gymnasium() -> None:
    env = gymnasium.make("LeducPoker-v0")
    _, info = env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        total += float(reward)
    assert abs(total) in (0.0, 1.0, 3.0, 5.0, 9.0, 13.0)
    vector = gymnasium.make_vec("LeducPoker-v0", num_envs=3)
    assert vector.reset(seed=1)[0].shape == (3, 11)


def test_a_search_plays_in_determinizations_with_public_cards_drawn_anew() -> None:
    batch = Batch(SETUP, 1, seed=4, autoreset=False)
    owner = np.zeros(300, np.int64)
    tables = determinize(SETUP, batch.redacted(), owner, streams(5, 1))
    mine, other = (tables["hand"][:, seat] for seat in (batch.seat[0], 1 - batch.seat[0]))
    assert (mine == batch.tables["hand"][0, batch.seat[0]]).all()
    assert len(np.unique(other)) == 5
    many = Batch(SETUP, 300, autoreset=False)
    many.set_tables(None, tables, trusted=True)
    for _ in range(2):
        many.step(np.full(300, CALL))
    assert len(np.unique(many.tables["board"])) == 6 - 1


def test_evaluation_and_agents_at_work() -> None:
    edge = FieldAlone(OwnGame(SETUP, 1), load_agent("random", SETUP), 300).edge(load_agent("random@search=20", SETUP))
    assert edge.mean - edge.ci95 > 0.5


def test_the_command_line_and_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--preset",
        "leduc",
        "--agents",
        "random",
        "random@search=5",
        "--deals",
        "20",
        "--matches",
        "40",
        "--workers",
        "2",
    ]
    assert main(["evaluate", *arguments, "--records", str(tmp_path / "matches.jsonl")]) == 0
    assert "random@search=5" in capsys.readouterr().out
    records = [parse_record(line) for line in (tmp_path / "matches.jsonl").read_text(encoding="utf-8").splitlines()]
    for record in records:
        assert verify_record(record) == 1
        assert setup_of(record) == SETUP
        assert show_record(record).startswith("Leduc poker · leduc · random")
    drawn = ["rng" in record["rounds"][0]["opening"] for record in records]
    assert len(drawn) == 40
    assert set(drawn) == {True, False}  # a round has its generator written down just where it drew a public card


def test_what_needs_a_hook_says_so() -> None:
    with pytest.raises(TreeError, match="In Leduc poker chance acts in the middle of a round"):
        build_tree(SETUP)
    assert SPEC.chance is SPEC.pictures is SPEC.speaker is None
    assert "leduc_poker" not in playable()  # in a browser
