"""Mixed fields: who sits where, and that hero and field meet the same players."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.own_game import MIXED_SEATS, OwnGame
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.mixed import MixedAgent, explicit_name, member_names, seated_members
from nainjaune_env import make_setup
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.engine.batch import Batch
from tests.agents.measure.arena.scripted import Last
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.positions import small
from tests.test_agent import untrained

SETUP = make_setup(preset="djeco", players=3)
SOURCE = OwnGame(SETUP, 5)
POOL = ["lowest", "tally", "closer"]
NAME = "mixed:lowest+tally+closer"


def test_a_gain_is_that_over_the_players_drawn_for_the_seats() -> None:
    """Each deal is played again by hand, with the players that deal and seat draw."""
    deals, n, seed = 12, 3, 5
    agents = [load_agent("patient", SETUP), load_agent(NAME, SETUP), *(load_agent(name, SETUP) for name in POOL)]
    draws = RowStreams(streams(seed, deals, MIXED_SEATS), np.arange(deals)).random((deals, n))
    drawn = 2 + (draws * 3).astype(int)
    assert len(np.unique(drawn)) == 3
    seating = np.repeat(drawn[:, None], n + 1, axis=1)
    for seat in range(n):
        seating[:, seat, seat] = 0
    for deal in range(deals):
        by_hand = SOURCE.play(agents, seating[deal], deal, 1, field=1).payoff
        tables = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
        payoff = SOURCE.play(agents[:2], tables, deal, 1, field=1).payoff
        assert (payoff == by_hand[:, [n, *range(n)]]).all()


def test_the_seats_of_a_deal_do_not_depend_on_how_many_are_played_at_once() -> None:
    agents = [load_agent("patient", SETUP), load_agent(NAME, SETUP)]
    whole = cross_table(SETUP, agents, deals=40, seed=3)
    executor = Shuffled(1, 7)
    assert cross_table(SETUP, agents, deals=40, seed=3, executor=executor, chunk=7).to_dict() == whole.to_dict()
    assert executor.played != sorted(executor.played)
    assert whole.notes[0] == f"In {NAME} each seat of each deal is drawn from lowest, tally, closer."
    other = cross_table(SETUP, agents, deals=40, seed=4)
    assert other.edges[0].mean != whole.edges[0].mean


@pytest.mark.parametrize("kind", ["plain", "measured"])
def test_two_that_are_alike_have_no_edge_among_equals(kind: str) -> None:
    """A pool of one player under two names is that player, in every kind of duplicate play."""
    rule = load_agent("tally", SETUP)
    field = MixedAgent("mixed", [rule, rule], SETUP)
    agents = [rule, field, load_agent("lowest", SETUP)]
    result = cross_table(SETUP, agents, deals=10, seed=1, measure=kind == "measured")
    assert result.edge("tally", "mixed").moments.differing == 0
    assert result.edge("lowest", "mixed").mean == result.edge("lowest", "tally").mean
    assert [clock.decisions > 0 for clock in result.clocks] == [True] * (3 if kind == "measured" else 0)


class Seen(Last):
    """Notes the tables and seats for which it is asked."""

    def act(self, decisions: DecisionBatch, rng: Any) -> NDArray[np.int64]:
        seen = zip(decisions.index.tolist(), decisions.seat.tolist(), strict=True)
        self.seen = [*getattr(self, "seen", []), *seen]
        rng.random(len(decisions.index))
        return super().act(decisions, rng)


def test_elsewhere_a_seat_keeps_its_player_for_a_round() -> None:
    one, other = Seen("one"), Seen("other")
    batch = Batch(SETUP, 40, autoreset=False)
    batch.reset(seeds=streams(1, 40))
    states = streams(2, 40)
    play_out(
        batch, [MixedAgent("mixed", [one, other], SETUP)], np.zeros((40, 3), int), lambda _, index: RowStreams(states, index)
    )
    assert not set(one.seen) & set(other.seen)
    assert 40 < len(set(one.seen)) < 80
    assert len(one.seen) > 2 * len(set(one.seen))


def test_members_are_seated_by_deal_and_seat() -> None:
    agents = [load_agent("mixed:random+lowest", SETUP), load_agent("tally", SETUP)]
    draws = np.array([[0.0, 0.4, 0.6]])
    seating = np.array([[[0, 0, 0], [1, 0, 0]]])
    players, seated = seated_members(agents, seating, draws)
    assert [player.name for player in players[2:]] == ["random", "lowest"]
    assert (seated == [[[2, 2, 3], [1, 2, 3]]]).all()


def test_the_pool_of_a_game_has_those_that_play_there() -> None:
    assert member_names("mixed", SETUP)[-1] == "zoo:strong-1"
    assert member_names("mixed", make_setup("batasaurus", None, 3)) == ["random", "mirror", "cheapest"]
    assert explicit_name("mixed", make_setup("batasaurus", None, 3)) == "mixed:random+mirror+cheapest"
    assert explicit_name("closer", SETUP) == "closer"
    assert member_names("mixed", make_setup("signal_lamps")) == ["random"]
    assert load_agent("mixed", SETUP).name == "mixed"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mixed:", "2 to 100 different agents as mixed:closer"),
        ("mixed:closer+closer", "2 to 100 different agents"),
        ("mixed:closer+mixed", "heuristics, zoo agents and runs, not 'mixed'"),
        ("mixed:closer+closr", "closr"),
        ("mixed:closer+bot.py:f@search=2", "heuristics, zoo agents and runs, not 'bot.py:f@search=2'"),
    ],
)
def test_pools_that_are_refused(name: str, says: str) -> None:
    with pytest.raises(AgentError, match=says):
        load_agent(name, SETUP)


def test_agents_with_memory_are_refused() -> None:
    memory = untrained(small(3), "remembers", recurrent=4)
    with pytest.raises(AgentError, match="no agents with memory, and 'remembers' remembers"):
        MixedAgent("mixed", [memory, load_agent("tally", small(3))], small(3))
