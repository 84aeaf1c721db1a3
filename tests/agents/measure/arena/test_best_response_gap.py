"""The largest gain among responders: who is chosen, and that it is measured on other deals."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.arena import duplicate
from nainjaune_agents.measure.arena.best_response_gap import best_response_gap
from nainjaune_agents.measure.arena.duplicate import Duplicate
from nainjaune_agents.measure.stats.differences import TOO_SHORT
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError
from tests.agents.measure.arena.scripted import First, Last
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.positions import small

KNOWN = heuristics("nain_jaune")


def test_the_best_is_chosen_and_measured_on_other_deals() -> None:
    setup, target, responders = small(), First("first"), [KNOWN["lowest"], KNOWN["tally"], Last("last")]
    reported: list[int] = []
    gap = best_response_gap(setup, target, responders, deals=50, choosing=150, seed=3, progress=reported.append)
    assert sum(reported) == 3 * 150 + 50
    assert [edge.hero for edge in gap.chosen_by] == ["lowest", "tally", "last"]
    assert [edge.moments.count for edge in gap.chosen_by] == [150] * 3
    best = max(gap.chosen_by, key=lambda edge: edge.mean)
    assert gap.gain.hero == best.hero == "tally"
    own = Duplicate(setup, [target, *responders], seed=3)
    assert gap.chosen_by[1].moments == own.edge(2, 0, 150).moments
    assert gap.gain.moments == own.edge(2, 0, 50, first_deal=150).moments
    payload = gap.to_dict()
    assert (payload["responder"], payload["deals"], len(payload["chosen_among"])) == ("tally", 50, 3)
    one = best_response_gap(setup, target, responders[:1], deals=30, choosing=20, seed=4, progress=reported.append)
    assert one.chosen_by == []  # it needs no choosing
    assert sum(reported) == 3 * 150 + 50 + 30


def test_the_best_is_measured_with_control_variates() -> None:
    setup, target = small(), KNOWN["tally"]
    gap = best_response_gap(setup, target, [KNOWN["lowest"], KNOWN["random"]], deals=40, choosing=20, seed=4)
    plain = Duplicate(setup, [target, KNOWN["lowest"]], seed=4).edge(1, 0, 40, first_deal=20)
    assert gap.duplicate is not None
    assert gap.gain.hero == "lowest"
    assert gap.duplicate.mean == pytest.approx(plain.mean)
    assert gap.gain.moments.variance < 0.9 * plain.moments.variance
    assert np.mean([stats.mean for stats in gap.gain.by_seat]) == pytest.approx(gap.gain.mean)
    for by_seat in zip(gap.gain.by_seat, plain.by_seat, strict=True):
        assert [each.differing > 0 for each in by_seat] == [True, True]
    payload = gap.to_dict()
    assert payload["gain"] == gap.gain.mean != plain.mean
    assert payload["duplicate"] == gap.duplicate.estimate.to_dict()


def test_with_given_pots_few_deals_give_no_interval_by_control_variates_either() -> None:
    heavy = Task(start={"pots": [20, 20]})
    gap = best_response_gap(small(), KNOWN["tally"], [KNOWN["lowest"]], deals=299, choosing=0, seed=4, task=heavy)
    assert gap.duplicate is not None
    assert np.isnan([each.half_width for each in (gap.gain.moments, gap.duplicate, *gap.gain.by_seat)]).all()
    assert TOO_SHORT in gap.notes


def test_where_control_variates_do_not_apply_a_sentence_says_so() -> None:
    gap = best_response_gap(small(), KNOWN["random"], [KNOWN["tally"]], deals=300, choosing=2, seed=4)
    assert gap.duplicate is None
    assert gap.gain.moments == Duplicate(small(), [KNOWN["random"], KNOWN["tally"]], seed=4).edge(1, 0, 300, first_deal=2).moments
    assert "duplicate" not in gap.to_dict()
    assert gap.to_dict()["notes"][-1].startswith("The gain is measured without control variates. Control variates need a field")


@pytest.mark.parametrize("names", ["a", "aa", "abb"])
def test_names_are_different(names: str) -> None:
    target, *responders = [First(name) for name in names]
    with pytest.raises(AgentError, match="all with different names, not"):
        best_response_gap(small(), target, responders, deals=2, choosing=2, seed=1)


def test_it_is_the_same_wherever_and_in_whatever_order_deals_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicate, "CHUNK_TABLES", 40)
    setup = make_setup(preset="djeco", players=3)
    names = ("lowest", "random", "tally")
    target, *responders = [KNOWN[name] for name in names]
    options = {"deals": 50, "choosing": 35, "seed": 3}
    whole = best_response_gap(setup, target, responders, **options)
    executor = Shuffled(1, 7)
    gap = best_response_gap(setup, target, responders, **options, executor=executor)
    assert executor.played != sorted(executor.played)
    assert gap.to_dict() == whole.to_dict()
    assert gap == whole
