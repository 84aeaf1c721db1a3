"""The deals of our games: payoffs depend on the deal, the players of the seats and the seed, and on nothing played beside."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.base.task import CENTRED, MATCH_ROUNDS, Task
from nainjaune_agents.measure.own_game import MATCH_DEALS, OwnGame
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.errors import ConfigError, DeviceError, MissingLibraryError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.cuda import compiler
from nainjaune_env.registry import make_setup
from tests.agents.measure.arena.scripted import Chance
from tests.agents.measure.distributed.runs import save_run
from tests.support.positions import small

SETUP = make_setup(preset="djeco", players=3)
CLASSIC = make_setup("nain_jaune", "classic", 3, max_rounds=4)
POTS = Task(start={"pots": [0, 9]})
SOURCES = {
    "fresh": OwnGame(SETUP, 5),
    "carried": OwnGame(SETUP, 5, Task(start="carried")),
    "pots": OwnGame(SETUP, 5, POTS),
    "matches": OwnGame(SETUP, 5, POTS, "match", 3),
}
PLAYERS = ("random", "tally@search=2", "mixed:random+closer", "network@sample")
KNOWN = heuristics("nain_jaune")
PAIR = [KNOWN["lowest"], KNOWN["tally"]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_run(tmp_path_factory.mktemp("run"))


def players(name: str, run: str) -> list[Agent]:
    return [load_agent(one.replace("network", run), SETUP) for one in (name, "tally", "random")]


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", PLAYERS)
def test_a_payoff_depends_on_its_deal_and_seats_alone(name: str, kind: str, run: str) -> None:
    """Not on the batch, in which agents that draw are asked, nor on tables beside, nor on the order of players."""
    source, agents = SOURCES[kind], players(name, run)
    size = 600 if kind == "fresh" and "search" not in name else 30
    seating = np.array([[0, 1, 1], [1, 1, 0], [2, 1, 0]])
    whole = source.play(agents, seating, 0, size, field=0)
    part = size // 6
    for first in range(0, size, part):
        piece = source.play(agents, seating, first, part, field=0)
        for one, other in zip(piece, whole, strict=True):
            assert one is other is None or (one == other[first : first + part]).all()  # type: ignore[index]
    more = np.array([[2, 2, 0], [2, 1, 0], [0, 0, 0], [1, 2, 1], [0, 1, 1]])
    beside = source.play(agents, more, part - 1, 3, field=0)
    assert (beside.payoff[:, [1, 4]] == whole.payoff[part - 1 : part + 2, [2, 0]]).all()
    turned = source.play(agents[::-1], 2 - seating, 0, part, field=2)
    assert (turned.payoff == whole.payoff[:part]).all()
    assert len({row.tobytes() for row in whole.payoff[:, 2]}) > 3


def test_draws_belong_to_the_seat_of_the_deal_whoever_sits_there() -> None:
    """So that agents of one policy play alike, and others have as much luck as they can have in common."""
    source, agents = OwnGame(small(), 4), [Chance("a"), Chance("b")]
    played = source.play(agents, np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]]), 0, 40, field=0).payoff
    assert (played == played[:, :1]).all()
    assert len(np.unique(played, axis=0)) > 10


def test_deals_depend_on_seed_and_purpose() -> None:
    sources = [OwnGame(SETUP, 5), OwnGame(SETUP, 6), OwnGame(SETUP, 5, purpose="choosing"), OwnGame(SETUP, 6, purpose="choosing")]
    deals = [set(streams(source.deal_seed, 1000).tolist()) for source in sources]
    assert len(set.union(*deals)) == 4000
    seating = np.zeros((1, 3), np.int64)
    played = {source.play(PAIR, seating, 0, 50, field=0).payoff.tobytes() for source in sources}
    assert len(played) == 4
    assert len({str(source.content()) for source in (*sources, *SOURCES.values())}) == 4 + 3  # one is there twice


def test_the_payoff_that_counts() -> None:
    seating = np.array([[0, 1, 1], [1, 1, 1]])
    own, centred = (OwnGame(CLASSIC, 5, Task(name)).play(PAIR, seating, 0, 60, field=1).payoff for name in ("own", CENTRED))
    assert (3 * centred == 3 * own - own.sum(axis=2, keepdims=True)).all()  # both are thirds of chips
    assert (own % 3 == 0).all()
    heavy = OwnGame(CLASSIC, 5, Task(start={"pots": [50, 50]}), "match")
    assert heavy.heavy
    assert (heavy.play(PAIR, seating, 0, 5, field=1).payoff.sum(axis=2) > 3 * 100).all()  # 250 chips lie there, and most are won


def by_hand(setup: Setup, agents: list[Agent], match: int, rounds: int) -> tuple[NDArray[np.int64], int]:
    """The payoffs of a match with ``agents`` by seat, played at one table; and its length."""
    batch = Batch(setup, 1, start="carried", autoreset=False)
    total = np.zeros(setup.players, np.int64)
    for number in range(rounds):
        batch.reset(seeds=streams(9, 1, MATCH_DEALS + number, first=match), carry=number > 0)
        total += batch.reward[0]
        while not batch.done[0]:
            decisions = DecisionBatch(batch, np.zeros(1, np.int64))
            batch.step(agents[int(batch.seat[0])].act(decisions, np.random.default_rng(0)))
            total += batch.reward[0]
        if batch.tables["stage"][0] == Stage.MATCH_OVER:
            break
    return total, number + 1


@pytest.mark.parametrize("setup", [CLASSIC, make_setup("nain_jaune", "djeco", 2, starting_stack=40)], ids=["classic", "djeco"])
def test_matches_are_those_played_one_at_a_time(setup: Setup) -> None:
    n = setup.players
    seating = np.concatenate([1 - np.eye(n, dtype=np.int64), np.ones((1, n), np.int64)])
    played = OwnGame(setup, 9, episode="match").play(PAIR, seating, 0, 6, field=1)
    assert played.rounds is not None
    for match in range(6):
        for table, seats in enumerate(seating):
            total, length = by_hand(setup, [PAIR[who] for who in seats], match, 60)
            assert (played.payoff[match, table] == n * total).all()
            assert played.rounds[match, table] == length
    if setup.preset == "djeco":
        assert len(np.unique(played.rounds)) > 1  # tables of one match end in different rounds


def test_matches_have_a_length() -> None:
    endless = make_setup("nain_jaune", "classic", 3, max_rounds=None)
    for rounds, expected in ((2, 2), (None, MATCH_ROUNDS)):
        played = OwnGame(endless, 9, episode="match", rounds=rounds).play(PAIR, np.zeros((1, 3), np.int64), 0, 2, field=0)
        assert played.rounds is not None
        assert played.rounds.tolist() == [[expected]] * 2


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"rounds": 3}, ConfigError, "'rounds' is the length of matches, and a deal is one round here"),
        ({"episode": "match", "task": Task(start="carried")}, ConfigError, "its start is 'fresh' or drawn, not 'carried'"),
        ({"episode": "match", "device": "cuda"}, ConfigError, r"^Matches are played on the CPU\.$"),
        ({"setup": make_setup("batasaurus"), "task": Task(start="carried")}, ConfigError, "nothing is carried"),
        ({"setup": "djeco"}, RulesError, r"Expected the rules of a table as make_setup\(\) returns them, not 'djeco'"),
    ],
)
def test_what_is_no_source_is_one_sentence(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        OwnGame(**{"setup": SETUP, "seed": 1, **options})


def test_a_device_that_is_not_there_is_named_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match=r"Unknown device 'tpu'.* Valid: cpu, cuda"):
        OwnGame(SETUP, 0, device="tpu").check(PAIR)  # type: ignore[arg-type]
    real = importlib.util.find_spec
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None if name == "numba_cuda" else real(name))
    with pytest.raises(MissingLibraryError, match="needs the package 'numba-cuda'"):
        OwnGame(SETUP, 0, device="cuda").check(PAIR)
