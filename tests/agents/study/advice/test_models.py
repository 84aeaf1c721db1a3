"""Who stands for the seats."""

from __future__ import annotations

import pytest

from nainjaune_agents.players.heuristics import yardstick
from nainjaune_agents.players.zoo import Player, PlayerRegistry
from nainjaune_agents.study.advice.models import STRONG, in_seats, is_advised, players, seated, strongest, usual_model
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup

SETUP = make_setup("nain_jaune", "djeco", 4)


@pytest.mark.parametrize(("plays", "model"), [(True, STRONG), (False, "closer")])
def test_the_strongest_player_in_the_box_or_the_best_heuristic(plays: bool, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Registry(PlayerRegistry):
        def find(self, name: str, setup: Setup, **asked: bool) -> Player:
            if not plays:
                raise AgentError(f"{name} does not play here.")
            return super().find(name, setup, **asked)

    monkeypatch.setattr("nainjaune_agents.study.advice.models.player_registry", Registry)
    assert usual_model(SETUP) == model


def test_seats() -> None:
    assert seated(SETUP, 1, "me", ["a", "b", "c"]) == ["a", "me", "b", "c"]
    assert seated(SETUP, 3, "me", ["a"]) == ["a", "a", "a", "me"]
    assert in_seats(SETUP, ["a"]) == ["a"] * 4
    assert in_seats(SETUP, ["a", "b", "c", "d"]) == ["a", "b", "c", "d"]
    with pytest.raises(AgentError, match="Expected 1 or 3 other agents at a table with 4 seats, not 2"):
        seated(SETUP, 1, "me", ["a", "b"])
    with pytest.raises(AgentError, match="Expected 1 or 4 agents at a table with 4 seats, not 3"):
        in_seats(SETUP, ["a", "b", "c"])


def test_each_thread_has_agents_of_its_own() -> None:
    """A search has scratch tables, which two threads must not share."""
    load = players(SETUP, ["tally@search=2", "tally", "tally@search=2", "lowest"])
    one, two = load(), load()
    assert one[0] is one[2]
    assert one[0] is not two[0]
    assert one[1] is two[1]
    assert [agent.name for agent in one] == ["tally@search=2", "tally", "tally@search=2", "lowest"]


def test_an_agent_that_remembers_plays_no_rounds_from_a_position() -> None:
    setup = make_setup("batasaurus", "batasaurus", 2)
    assert strongest(setup) == STRONG
    assert usual_model(setup) == yardstick("batasaurus")
    assert not is_advised(setup)
    assert is_advised(make_setup("batasaurus", "batasaurus", 2, memory="perfect"))
    assert is_advised(SETUP)
