"""Players in modules against those of this machine: the same choices, and the same sums of playouts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.base.sampling import greedy
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.wasm import interface
from nainjaune_agents.players.wasm.network import write_network
from nainjaune_agents.study.advice.adviser import FIRST, Adviser
from nainjaune_agents.study.advice.models import players
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import RecurrentStates
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.engine.determinize import generator_states
from tests.wasm.conftest import REFUSED, begin, setups, signed

HERE = np.zeros(1, np.int64)


def test_heuristics_decide_as_natively(module: Any) -> None:
    """Every heuristic, those that remember too, in matches that it plays in all seats; the generator ends in the same state."""
    rng = np.random.default_rng(3)
    for setup, _ in setups(module.game):
        for number, agent in enumerate(heuristics(module.game).values(), -1):
            batch = begin(module, setup, 1, int(rng.integers(2**63)))
            states = RecurrentStates(batch, [agent])
            for _ in range(200):
                if batch.done[0]:
                    break
                decisions, state = states.decision_batch(0, HERE), rng.integers(2**64, size=1, dtype=np.uint64)
                decided = module("decide", number, signed(int(state[0])))
                assert decided == agent.act(decisions, RowStreams(state, HERE))[0]
                assert module.session["rng"][0] == state[0] or number >= 0
                states.keep(0, decisions)
                batch.step([decided])
                states.stepped()
                assert module("step", decided) == 0
    count = len(heuristics(module.game)) - 1
    assert module("decide", count, 0) == module("decide", -2, 0) == REFUSED


def sharpened(module: Any, number: int, state: int, tried: int, count: int) -> None:
    for name in ("count", "sum", "squares", "difference", "difference_squares"):
        module.session[name] = 0
    assert module("playouts", number, signed(state), tried, count) == 0


def in_the_middle(module: Any, setup: Any, rng: np.random.Generator) -> Batch:
    """Returns a table that is some decisions into its first round, the same as the module's."""
    while True:
        batch = begin(module, setup, 0, int(rng.integers(2**63)))
        for _ in range(int(rng.integers(12))):
            if not batch.done[0]:
                action = int(rng.choice(np.flatnonzero(batch.mask[0])))
                batch.step([action])
                assert module("step", action) == 0
        if not batch.done[0]:
            return batch


def test_playouts_are_those_of_the_native_estimator(module: Any) -> None:
    rng = np.random.default_rng(4)
    compared = 0
    for setup, _ in setups(module.game):
        for number, agent in enumerate(heuristics(module.game).values(), -1):
            batch = in_the_middle(module, setup, rng)
            legal = int(batch.legal[0])
            if setup.game.advice is None:
                continue
            try:
                adviser = Adviser(setup, players(setup, [agent.name] * setup.players))
            except AgentError:  # it remembers
                assert module("playouts", number, 0, legal, 1) == REFUSED
                continue
            seed = int(rng.integers(2**32))
            advice = adviser.advise(batch.tables, np.random.default_rng(seed), deals=FIRST)
            states = generator_states(np.random.default_rng(seed).random(1))
            sharpened(module, number, int(generator_states(RowStreams(states, HERE).random(1))[0]), legal, FIRST)
            session, best = module.session, advice.best[0]
            tried = np.flatnonzero(batch.mask[0])
            assert session["count"].tolist() == advice.deals[0].tolist()
            assert np.array_equal(session["sum"][tried] / FIRST, advice.mean[0, tried, 0])
            assert np.array_equal(session["difference"][best][tried] / FIRST, advice.behind[0, tried, 0])
            for squares, total, errors in (
                (session["squares"], session["sum"], advice.error),
                (session["difference_squares"][best], session["difference"][best], advice.behind_error),
            ):
                variances = (squares - total**2 / FIRST)[tried] / (FIRST * (FIRST - 1))
                assert np.allclose(np.sqrt(np.maximum(variances, 0)), errors[0, tried, 0])
            compared += 1
        for refused in ((0, 0, 0, 1), (-1, 0, int(~batch.legal[0] & 2**62 - 1), 1), (-1, 0, legal, 0), (99, 0, legal, 1)):
            assert module("playouts", *refused) == REFUSED
    assert compared or module.game == "signal_lamps"


def test_a_part_of_the_playouts_goes_on_from_the_generator(module: Any) -> None:
    rng = np.random.default_rng(5)
    setup = next(setups(module.game))[0]
    legal = int(in_the_middle(module, setup, rng).legal[0])
    sharpened(module, -1, 77, legal, 200)
    whole = module.session.copy()
    sharpened(module, -1, 77, legal, 150)
    assert module("playouts", -1, signed(int(module.session["rng"][0])), legal, 50) == 0
    for name in ("count", "sum", "squares", "difference", "difference_squares", "rng"):
        assert np.array_equal(module.session[name], whole[name])


@pytest.fixture
def network(module: Any, tmp_path: Path) -> Any:
    """Returns the setup, the agent and the address of the network of ``zoo:strong`` in the module."""
    if module.game == "signal_lamps":
        pytest.skip("nobody has trained a player of this game")
    setup = make_setup(module.game, **({"memory": "perfect"} if module.game == "batasaurus" else {}))
    agent = load_agent("zoo:strong", setup)
    write_network(tmp_path / "strong.bin", agent, setup)
    line, _, weights = (tmp_path / "strong.bin").read_bytes().partition(b"\n")
    sizes = json.loads(line)["sizes"]
    header = np.zeros(interface.HEADER, np.int32)
    header[: len(sizes) + 1] = [len(sizes) - 1, *sizes]
    address, memory = module.allocate(np.dtype(np.uint8), header.nbytes + len(weights) + 12 * max(sizes))
    memory[: header.nbytes + len(weights)] = np.frombuffer(header.tobytes() + weights, np.uint8)
    return setup, agent, address, memory


@pytest.mark.long
def test_a_network_decides_as_natively(module: Any, network: Any) -> None:
    """All choices in 3,000 decisions, unless two logits are as good as equal."""
    setup, agent, address, memory = network
    rng = np.random.default_rng(6)
    decided = 0
    while decided < 3000:
        batch = begin(module, setup, 0, int(rng.integers(2**63)))
        while not batch.done[0]:
            action = module("forward", address)
            logits, value = agent.net.evaluate(batch.observation)
            outputs = module.session["outputs"]
            assert np.allclose(outputs[:-1], logits[0], rtol=1e-3, atol=1e-3)
            assert np.isclose(outputs[-1], value[0], rtol=1e-3, atol=1e-3)
            usual = int(greedy(logits, batch.legal)[0])
            assert action == usual or abs(logits[0, action] - logits[0, usual]) < 1e-4
            decided += 1
            batch.step([usual])
            assert module("step", usual) == 0
        assert module("forward", address) == REFUSED
    memory[:4] = 0  # no layers
    assert module("forward", address) == REFUSED


def test_other_players_are_no_networks(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"^Expected a player that is a plain MLP without memory, not 'lowest'\.$"):
        write_network(tmp_path / "x.bin", load_agent("lowest", make_setup()), make_setup())
