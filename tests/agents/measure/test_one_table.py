"""All agents at one table: against payoffs and first places that are added up by hand."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Measurement, make_plan
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.registry import make_setup
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.agents.measure.stores import SOURCE, measurement
from tests.support.positions import small


@pytest.mark.parametrize("agents", [[First(), Last("last")], [First(), Last("last"), Chance()]], ids=len)
def test_payoffs_and_first_places_are_those_of_all_rotations(agents: list[First]) -> None:
    source = OwnGame(small(3), 7)
    table = fold(Measurement(make_plan(source, agents, 40, together=True, chunk=16), agents)).table
    assert table is not None
    payoffs, places = defaultdict(list), defaultdict(list)
    for deal in range(40):
        of_deal, first_of_deal = defaultdict(list), defaultdict(list)
        for turn in range(3):
            seats = [(seat + turn) % 3 % len(agents) for seat in range(3)]
            chips = source.play(agents, np.array([seats]), deal, 1, field=0).payoff[0, 0] / 3
            for who, payoff in zip(seats, chips, strict=True):
                of_deal[who].append(payoff)
                first_of_deal[who].append((payoff == chips.max()) / np.count_nonzero(chips == chips.max()))
        for who in of_deal:
            payoffs[who].append(np.mean(of_deal[who]))
            places[who].append(np.mean(first_of_deal[who]))
    for who, (name, payoff, first) in enumerate(table.rows()):
        assert name == agents[who].name
        assert (payoff.mean, first.mean) == pytest.approx((np.mean(payoffs[who]), np.mean(places[who])))
        assert payoff.ci95 > 0
        assert 0 < first.ci95 < 1
    assert [row["agent"] for row in table.to_dict()] == [agent.name for agent in agents]


def test_what_does_not_fit_at_one_table_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"At one table there are 2 to 2 agents, as it has 2 seats, not 3\."):
        measurement(together=True, source=OwnGame(make_setup(preset="djeco", players=2), 1))
    with pytest.raises(ConfigError, match="At one table rounds start fresh or drawn"):
        measurement(together=True, source=OwnGame(SOURCE.setup, 1, Task(start="carried")))
