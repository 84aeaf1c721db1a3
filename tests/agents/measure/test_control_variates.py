"""Control variates of duplicate play: no bias, and less variance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.base.task import DEFAULT_TASK, Start, Task
from nainjaune_agents.measure import control_variates
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.control_variates import same_play
from nainjaune_agents.measure.edges import Edge, FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.differences import Differences
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.agent import Agent, DecisionBatch, Rng
from nainjaune_env.agent_adapters import as_agent
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup
from tests.support.positions import small
from tests.test_agent import untrained


class Reader:
    """Plays the lowest or the highest action by the plies so far."""

    name, needs_history = "reader", True

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        plies = decisions.history
        weight = np.where(np.arange(plies.action.shape[1]) < plies.count[:, None], plies.action, 0).sum(axis=1)
        mask = decisions.mask
        highest = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        return np.where(weight % 2 == 0, mask.argmax(axis=1), highest).astype(np.int64)


def controlled_edge(setup: Setup, hero: Agent, rival: Agent, *, deals: int, seed: int, task: Task = DEFAULT_TASK) -> Edge:
    (edge,) = cross_table(
        setup, [hero, rival], deals=deals, seed=seed, task=task, one_way=True, controlled=True, chunk=20
    ).edges  # fmt: skip
    return edge


def controlled(edge: Edge) -> Differences:
    assert edge.controlled is not None
    return edge.controlled.moments


@pytest.mark.parametrize("start", ["fresh", {"pots": [0, 9]}], ids=str)
@pytest.mark.parametrize("name", ["lowest", "reader"])
def test_terms_on_the_true_deal_add_up_to_duplicate_play(name: str, start: Start) -> None:
    setup, task = small(4), Task(start=start)
    hero, rival = Reader() if name == "reader" else load_agent(name, setup), load_agent("tally", setup)
    edge = controlled_edge(setup, hero, rival, deals=30, seed=3, task=task)
    plain = FieldAlone(OwnGame(setup, 3, task), rival, 30).edge(hero)
    assert edge.moments == plain.moments
    assert edge.by_seat == plain.by_seat
    assert controlled(edge).count == 30
    assert controlled(edge).variance < plain.moments.variance
    assert edge.samples > edge.decisions > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lowest", "reader"])
def test_no_bias_and_intervals_that_cover(name: str) -> None:
    """600 deals: the means agree within three standard errors of their difference, and intervals of 30 deals cover."""
    setup = small(3)
    hero, rival = Reader() if name == "reader" else load_agent(name, setup), load_agent("tally", setup)
    plain, less, covered, groups = Differences(), Differences(), 0, []
    for seed in range(20):
        edge = controlled_edge(setup, hero, rival, deals=30, seed=seed)
        other = controlled(edge)
        plain.merge(edge.moments)
        less.merge(other)
        groups.append((edge.mean - other.mean, other.mean, other.half_width))
    differences = np.array([group[0] for group in groups])
    assert abs(differences.mean()) < 3 * differences.std(ddof=1) / np.sqrt(len(differences))
    assert less.variance < 0.8 * plain.variance
    truth = FieldAlone(OwnGame(setup, 1000), rival, 20_000).edge(hero)
    covered = sum(abs(mean - truth.mean) <= half + truth.ci95 / 3 for _, mean, half in groups)
    assert covered >= 16  # of 20: below it with a probability of 0.3 % where each covers in 95 %


def test_only_deals_on_which_the_field_plays_the_same_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    setup, masks = small(4), []
    hero, rival = load_agent("lowest", setup), load_agent("tally", setup)

    def spy(*arguments: Any) -> Any:
        masks.append(same_play(*arguments))
        return masks[-1]

    monkeypatch.setattr(control_variates, "PROPOSALS", 16)  # fewer than are kept, so that all that pass are used
    monkeypatch.setattr(control_variates, "same_play", spy)
    edge = controlled_edge(setup, hero, rival, deals=10, seed=3)
    passed = np.concatenate(masks)
    assert passed.size == 16 * edge.decisions
    assert edge.samples == passed.sum()
    assert 0 < passed.mean() < 0.9
    monkeypatch.setattr(control_variates, "same_play", lambda batch, field, opening, *rest: np.zeros(len(opening), np.bool_))
    alone = controlled_edge(setup, hero, rival, deals=10, seed=3)
    assert alone.samples == 0
    assert controlled(alone) == alone.moments


def test_agents_alike_have_no_edge() -> None:
    setup = small(3)
    edge = controlled_edge(setup, load_agent("tally", setup), as_agent(load_agent("tally", setup), setup, "x"), deals=4, seed=1)
    assert (edge.mean, controlled(edge).mean, edge.decisions) == (0.0, 0.0, 0)
    assert np.isnan(edge.deals_saved)


def test_who_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = small(3)
    tally, chance = load_agent("tally", setup), load_agent("random", setup)
    for rival in (chance, untrained(setup, "drawn", stochastic=True)):
        with pytest.raises(AgentError, match="always acts alike"):
            controlled_edge(setup, tally, rival, deals=2, seed=1)
    with pytest.raises(AgentError, match="need a field without history, and 'reader' reads the plies"):
        controlled_edge(setup, tally, Reader(), deals=2, seed=1)
    for task in (Task("centred"), Task(start="carried")):
        with pytest.raises(ConfigError, match=f"of rounds that are not carried, and not for {task}"):
            controlled_edge(setup, load_agent("lowest", setup), tally, deals=2, seed=1, task=task)
    cards = make_setup("batasaurus", None, 2)
    with pytest.raises(AgentError, match="cannot be rewound"):
        controlled_edge(cards, load_agent("random", cards), as_agent(load_agent("random", cards), cards, "x"), deals=2, seed=1)
    monkeypatch.setattr(control_variates, "MAX_TERM", 3)
    with pytest.raises(ConfigError, match=r"^Control variates are for payoffs of at most 3 in a round\.$"):
        controlled_edge(setup, load_agent("lowest", setup), tally, deals=20, seed=1)
