"""Policy inference: determinizations weighted by what the others have played."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search import AdaptiveSearchAgent, PolicyInference, SearchAgent, rollouts_by
from nainjaune_agents.players.search.inference import SeenRounds, effective_size, resample, tempered
from nainjaune_env.agent import DecisionBatch, RecurrentStates
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.history import history_of
from nainjaune_env.registry import make_setup
from tests.support.contract import helper
from tests.support.positions import small


class Cautious:
    """Logits of a policy that plays its lowest plain cards, nearly always; computed alike however many rows there are."""

    def __init__(self, nats: float = 4.0) -> None:
        self.nats = nats

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.tile(-self.nats * np.arange(24, dtype=np.float32), (len(observation), 1))


def inferring(setup: Setup, deals: int = 6, *, search: type[SearchAgent] = SearchAgent) -> SearchAgent:
    tally = heuristics("nain_jaune")["tally"]
    return search("inferring", rollouts_by(tally, setup), deals, inference=PolicyInference(Cautious()))


def begun(
    setup: Setup, agent: Any, *, tables: int = 4, steps: int = 6, seed: int = 1
) -> tuple[Batch, RecurrentStates, NDArray[Any]]:
    """A batch after some steps of random play, what it remembers for ``agent``, and its tables as they were dealt."""
    batch, draws = Batch(setup, tables, seed=seed, autoreset=False, log=True), streams(seed, tables, stream=5)
    states, opening = RecurrentStates(batch, [agent]), batch.tables.copy()
    for _ in range(steps):
        batch.step(batch.sample(draws))
        states.stepped()
    assert not batch.done.any()
    return batch, states, opening


def test_a_likelihood_is_the_product_of_the_probabilities_of_what_others_did() -> None:
    setup = small(3)
    inference = PolicyInference(Cautious(0.3), uniform_share=0.1)
    batch, _, _ = begun(setup, inferring(setup), tables=1, steps=0)
    draws = streams(2, 1)
    past: list[tuple[int, float]] = []
    for _ in range(9):
        legal = np.flatnonzero(batch.mask[0])
        action = int(batch.sample(draws)[0])
        shares = np.exp(-0.3 * legal) / np.exp(-0.3 * legal).sum()
        past.append((int(batch.seat[0]), 0.9 * float(shares[legal == action][0]) + 0.1 / len(legal)))
        batch.step([action])
        seat, index = int(batch.seat[0]), np.zeros(1, np.int64)
        log_likelihood = inference.log_likelihood(setup, history_of(batch, index), batch.tables.copy(), index)
        assert log_likelihood.tolist() == pytest.approx([sum(np.log(share) for who, share in past if who != seat)])
    assert log_likelihood[0] < -2


@pytest.mark.parametrize("search", [SearchAgent, AdaptiveSearchAgent])
def test_what_is_hidden_moves_no_inference(search: type[SearchAgent]) -> None:
    """The same plies from a deal with other hidden cards, the same generator: the same values to the last bit."""
    setup, mixer = small(4), random.Random(1)
    agent = inferring(setup, 8, search=search)
    assert setup.game.rewind is not None
    moved = 0
    for seed in range(4):
        batch, states, opening = begun(setup, agent, seed=seed)
        mixed = np.array([helper(setup).reshuffle(setup, row, int(row.seat), mixer) for row in batch.tables])
        moved += int((mixed["hand"] != batch.tables["hand"]).sum())
        other = Batch(setup, 4, skip_forced=False, autoreset=False, log=True)
        other.set_tables(None, setup.game.rewind(opening, mixed), trusted=True)
        again = RecurrentStates(other, [agent])
        decisions = states.decision_batch(0, np.arange(4))
        for ply in range(int(decisions.history.count.max())):
            playing = np.flatnonzero(decisions.history.count > ply)
            other.step(decisions.history.action[playing, ply].astype(np.int64), playing)
            again.stepped()
        one, two = (
            agent.evaluate_actions(each, np.random.default_rng(seed))
            for each in (decisions, again.decision_batch(0, np.arange(4)))
        )
        for field in ("mean", "error", "count", "action"):
            assert getattr(one, field).tobytes() == getattr(two, field).tobytes()
    assert moved > 20


def test_worlds_depend_on_their_generator_alone() -> None:
    """Not on other decisions, nor on how many there are."""
    setup = small(4)
    agent = inferring(setup)
    batch, states, _ = begun(setup, agent)
    decisions = states.decision_batch(0, np.arange(4))
    together = agent.evaluate_actions(decisions, RowStreams(streams(3, 4), np.arange(4)))
    again = agent.evaluate_actions(decisions, RowStreams(streams(3, 4), np.arange(4)))
    other = agent.evaluate_actions(decisions, RowStreams(streams(4, 4), np.arange(4)))
    assert together.mean.tobytes() == again.mean.tobytes() != other.mean.tobytes()
    for i in range(4):
        alone = agent.evaluate_actions(
            states.decision_batch(0, np.array([i])), RowStreams(streams(3, 4)[i : i + 1], np.arange(1))
        )
        assert alone.mean.tobytes() == together.mean[i : i + 1].tobytes()
    assert batch.tables.tobytes() == decisions._batch.tables.tobytes()


def test_worlds_are_consistent_and_likelier_than_uniform_ones() -> None:
    """Each is what the seat knows with the rest drawn, has a generator of its own, and explains better what others did."""
    setup = small(4)
    agent, inference = inferring(setup), PolicyInference(Cautious(1.0))
    _, states, _ = begun(setup, agent)
    decisions = states.decision_batch(0, np.arange(4))
    rounds, owner = SeenRounds(decisions.tables, decisions.history), np.repeat(np.arange(4), 40)
    determinizations = inference(setup, rounds, owner, streams(5, 4))
    assert len(np.unique(determinizations["rng"])) == len(determinizations) == 160
    for determinization, i in zip(determinizations, owner, strict=True):
        rows = np.array([determinization])
        setup.game.kernel.redact(rows[0], setup.kernel_rules, int(determinization.seat))
        assert rows[0].tobytes() == decisions.tables[i].tobytes()
    uniform = decisions.determinizations(40, RowStreams(streams(5, 4), np.arange(4))).reshape(-1)
    likelihood = [
        inference.log_likelihood(setup, rounds.history, each, owner).reshape(4, 40).mean(axis=1)
        for each in (determinizations, uniform)
    ]
    assert (likelihood[0] > likelihood[1]).all()


def test_a_policy_that_tells_nothing_leaves_worlds_uniform() -> None:
    """Equal weights, so that each candidate is as likely to be drawn, whatever the legal actions were."""
    setup = small(4)
    agent = inferring(setup)
    _, states, _ = begun(setup, agent, tables=2, steps=0)
    decisions = states.decision_batch(0, np.arange(2))
    rounds = SeenRounds(decisions.tables, decisions.history)
    weighted = PolicyInference(Cautious()).weighted(setup, rounds, np.repeat(np.arange(2), 5), streams(1, 2))
    assert weighted.weight.tolist() == pytest.approx([1 / 20] * 40)
    assert weighted.power.tolist() == [1, 1]
    assert not weighted.log_likelihood.any()


def test_weights_are_the_likelihoods_where_enough_candidates_count() -> None:
    sizes = np.array([3, 2])
    weight, power = tempered(np.log([1.0, 2, 5, 3, 1]) - 900, sizes, np.array([2, 1]))
    assert weight.tolist() == pytest.approx([1 / 8, 2 / 8, 5 / 8, 3 / 4, 1 / 4])
    assert power.tolist() == [1, 1]
    assert effective_size(weight, sizes).tolist() == pytest.approx([64 / 30, 16 / 10])


def test_weights_are_tempered_where_few_candidates_count() -> None:
    sizes, least = np.array([8, 8]), np.array([4, 8])
    logs = np.tile(-10.0 * np.arange(8), 2)
    weight, power = tempered(logs, sizes, least)
    assert 0 < power[0] < 1
    assert power[1] < 1e-3
    assert effective_size(weight, sizes).tolist() == pytest.approx([4, 8], rel=1e-3)
    assert weight[:8].tolist() == pytest.approx((np.exp(power[0] * logs[:8]) / np.exp(power[0] * logs[:8]).sum()).tolist())
    assert (np.diff(weight[:8]) < 0).all()


@pytest.mark.parametrize("offset", [0.0, 0.37, 1 - 2.0**-53])
def test_resampling_is_systematic(offset: float) -> None:
    """An index comes as often as its weight says, rounded up or down; groups do not mix."""
    weight = np.array([0.5, 0.0, 0.3, 0.2, 0.25, 0.75])
    chosen = resample(weight, np.array([4, 2]), np.array([10, 3]), np.full(2, offset))
    assert (np.diff(chosen[:10]) >= 0).all()
    times = np.bincount(chosen, minlength=6)
    assert times[:4].sum() == 10
    assert times[1] == 0
    assert (np.abs(times - weight * np.array([10] * 4 + [3] * 2)) <= 1).all()


def test_searches_with_inference_by_name() -> None:
    setup = make_setup("nain_jaune", "djeco", 4)
    agent = load_agent("zoo:strong@search=5,inference=policy", setup)
    assert agent.name == "zoo:strong@search=5,inference=policy"
    assert agent.needs_history
    both = load_agent("zoo:strong@adaptive=8,inference=policy,objective=centred", setup)
    assert both.name == "zoo:strong@adaptive=8,objective=centred,inference=policy"
    plain = load_agent("zoo:strong@search=5,inference=none", setup)
    assert (plain.name, plain.needs_history) == ("zoo:strong@search=5", False)


def test_a_search_with_inference_needs_the_plies() -> None:
    setup = small(4)
    with pytest.raises(AgentError, match="come without the plies before them"):
        inferring(setup).act(DecisionBatch(Batch(setup, 1, seed=1), np.arange(1)), np.random.default_rng(0))
