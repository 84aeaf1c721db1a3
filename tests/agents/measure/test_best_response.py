"""The largest gain among responders: who is chosen, and that it is measured on other deals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.best_response import best_response_gap
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.differences import TOO_SHORT
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError
from tests.agents.measure.arena.scripted import First, Last
from tests.agents.measure.distributed.runs import Shuffled
from tests.support.positions import small

KNOWN = heuristics("nain_jaune")


def test_the_best_is_chosen_and_measured_on_other_deals() -> None:
    source, target, responders = OwnGame(small(), 3), First("first"), [KNOWN["lowest"], KNOWN["tally"], Last("last")]
    reported: list[int] = []
    gap = best_response_gap(source, target, responders, deals=50, choosing=150, progress=reported.append)
    assert sum(reported) == (3 + 1) * 150 + (1 + 1) * 50  # of the field alone, too
    assert [edge.hero for edge in gap.chosen_by] == ["lowest", "tally", "last"]
    assert [edge.moments.count for edge in gap.chosen_by] == [150] * 3
    best = max(gap.chosen_by, key=lambda edge: edge.mean)
    assert gap.gain.hero == best.hero == "tally"
    chosen, rated = (FieldAlone(one, target, deals) for one, deals in ((replace(source, purpose="choosing"), 150), (source, 50)))
    assert gap.chosen_by[1].moments == chosen.edge(responders[1]).moments
    assert gap.gain.moments == rated.edge(responders[1]).moments
    payload = gap.to_dict()
    assert (payload["responder"], payload["deals"], len(payload["chosen_among"])) == ("tally", 50, 3)
    one = best_response_gap(source, target, responders[:1], deals=30, choosing=20, progress=reported.append)
    assert one.chosen_by == []  # it needs no choosing
    assert sum(reported) == 4 * 150 + 2 * 50 + 2 * 30


def test_the_best_is_measured_with_control_variates() -> None:
    source, target = OwnGame(small(), 4), KNOWN["tally"]
    gap = best_response_gap(source, target, [KNOWN["lowest"], KNOWN["random"]], deals=40, choosing=20)
    plain = FieldAlone(source, target, 40).edge(KNOWN["lowest"])
    assert gap.duplicate is not None
    assert gap.gain.hero == "lowest"
    assert gap.duplicate == plain.moments
    assert gap.gain.moments.variance < 0.9 * plain.moments.variance
    assert np.mean([stats.mean for stats in gap.gain.by_seat]) == pytest.approx(gap.gain.mean)
    for by_seat in zip(gap.gain.by_seat, plain.by_seat, strict=True):
        assert [each.differing > 0 for each in by_seat] == [True, True]
    payload = gap.to_dict()
    assert payload["gain"] == gap.gain.mean != plain.mean
    assert payload["duplicate"] == gap.duplicate.estimate.to_dict()


def test_with_given_pots_few_deals_give_no_interval_by_control_variates_either() -> None:
    heavy = Task(start={"pots": [20, 20]})
    gap = best_response_gap(OwnGame(small(), 4, heavy), KNOWN["tally"], [KNOWN["lowest"]], deals=299, choosing=0)
    assert gap.duplicate is not None
    assert np.isnan([each.half_width for each in (gap.gain.moments, gap.duplicate, *gap.gain.by_seat)]).all()
    assert TOO_SHORT in gap.notes


def test_where_control_variates_do_not_apply_a_sentence_says_so() -> None:
    gap = best_response_gap(OwnGame(small(), 4), KNOWN["random"], [KNOWN["tally"]], deals=300, choosing=2)
    assert gap.duplicate is None
    assert gap.gain.moments == FieldAlone(OwnGame(small(), 4), KNOWN["random"], 300).edge(KNOWN["tally"]).moments
    assert "duplicate" not in gap.to_dict()
    assert gap.to_dict()["notes"][-1].startswith("The gain is measured without control variates. Control variates need a field")


@pytest.mark.parametrize("names", ["a", "aa", "abb"])
def test_names_are_different(names: str) -> None:
    target, *responders = [First(name) for name in names]
    with pytest.raises(AgentError, match="all with different names, not"):
        best_response_gap(OwnGame(small(), 1), target, responders, deals=2, choosing=2)


def test_it_is_the_same_wherever_and_in_whatever_order_deals_are_played_and_goes_on_from_a_store(tmp_path: Path) -> None:
    source = OwnGame(make_setup(preset="djeco", players=3), 3)
    names = ("lowest", "random", "tally")
    target, *responders = [KNOWN[name] for name in names]
    whole = best_response_gap(source, target, responders, deals=50, choosing=35)
    executor = Shuffled(1, 7)
    for played in (4 + 5, 4 + 5, 4 + 5 + 3):  # units of the choice, and of the best; then of 20 more deals
        deals = 50 if played == 9 else 80
        with Store(tmp_path) as store:
            gap = best_response_gap(
                source, target, responders, deals=deals, choosing=35, store=store, executor=executor, chunk=10
            )  # fmt: skip
        assert len(executor.played) == played
        assert deals == 80 or gap.to_dict() == whole.to_dict()
    assert executor.played != sorted(executor.played)
