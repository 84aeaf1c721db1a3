"""Which file a player in the box plays by, and that the box in the package is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from nainjaune_agents import loading
from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.heuristics import RandomAgent
from nainjaune_agents.loading import checkpoint_path, load_agent, setup_of_runs
from nainjaune_agents.nets.checkpoint import load_checkpoint
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.search import SearchAgent
from nainjaune_agents.zoo import Player, PlayerRegistry, player_registry
from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError, CheckpointError
from nainjaune_env.registry import get_game
from tests.agents.zoo.boxes import put
from tests.support.positions import small

OTHER = small(3, stake=2)


@pytest.fixture
def box(tmp_path: Path) -> Path:
    put(tmp_path, "strong", small(), "classic-3")
    put(tmp_path, "strong", OTHER, "classic-3-stake-2")
    put(tmp_path, "strong", small(), "nain_jaune", anywhere=True)
    put(tmp_path, "narrow", small(), "classic-3")
    return tmp_path


@pytest.mark.parametrize(
    ("setup", "file"),
    [
        (small(), "classic-3"),
        (OTHER, "classic-3-stake-2"),
        (small(3, stake=3), "classic-3"),
        (small(4), "nain_jaune"),
        (make_setup("nain_jaune", "djeco", 3), "nain_jaune"),
    ],
    ids=["its own rules", "its own knobs", "its sheet under other knobs", "other seats", "another sheet"],
)
def test_the_one_that_fits_best_is_taken(box: Path, setup: object, file: str) -> None:
    assert PlayerRegistry(box).find("zoo:strong", setup).path.stem == file  # type: ignore[arg-type]


def test_the_network_for_all_tables_can_be_asked_for(box: Path) -> None:
    assert PlayerRegistry(box).find("zoo:strong", small(), anywhere=True).path.stem == "nain_jaune"
    with pytest.raises(AgentError, match=r"zoo:narrow does not play Nain Jaune at any table\. It plays: Nain Jaune \(classic"):
        PlayerRegistry(box).find("zoo:narrow", small(), anywhere=True)


def test_what_it_does_not_play_is_said(box: Path) -> None:
    with pytest.raises(AgentError, match=r"zoo:narrow does not play .* \(classic\) with 4 seats\. It plays: .* with 3 seats\."):
        PlayerRegistry(box).find("zoo:narrow", small(4))
    with pytest.raises(AgentError, match=r"zoo:strong does not play Batasaurus .*It plays: .*; Nain Jaune at any table\."):
        PlayerRegistry(box).find("zoo:strong", make_setup("batasaurus"))
    with pytest.raises(AgentError, match=r"Unknown zoo player 'zoo:strng'\. Did you mean 'zoo:strong'\?"):
        PlayerRegistry(box).find("zoo:strng", small())


def test_a_file_that_is_not_the_cards_is_refused(box: Path) -> None:
    path = box / "narrow" / "classic-3.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(CheckpointError, match="does not match the hash on its card"):
        PlayerRegistry(box).find("zoo:narrow", small())
    path.unlink()
    with pytest.raises(CheckpointError, match="does not match the hash on its card"):
        PlayerRegistry(box).find("zoo:narrow", small())


def test_they_are_agents_by_name(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "player_registry", lambda: PlayerRegistry(box))
    agent, drawing, searching = (load_agent(f"zoo:strong{ending}", small()) for ending in ("", "@sample", "@search=2"))
    assert isinstance(agent, NetAgent)
    assert isinstance(drawing, NetAgent)
    assert (agent.name, agent.stochastic) == ("zoo:strong", False)
    assert (drawing.name, drawing.stochastic) == ("zoo:strong@sample", True)
    assert isinstance(searching, SearchAgent)
    assert checkpoint_path("zoo:strong@search=2", small(4)) == box / "strong" / "nain_jaune.safetensors"
    assert checkpoint_path("lowest", small()) is None
    assert setup_of_runs(["zoo:strong", "lowest"], "nain_jaune") is None
    with pytest.raises(AgentError, match=r"Unknown agent 'lowset'.* zoo:narrow, zoo:strong\."):
        load_agent("lowset", small())


PLAYERS = list(player_registry().players())


@pytest.mark.parametrize("player", PLAYERS, ids=lambda player: f"{player.name}-{player.path.stem}")
def test_those_that_come_with_the_package_play(player: Player) -> None:
    """Each by its own name, at the tables it is for, and better than chance; its card is about the file."""
    rated = (get_game(player.card.game).setup(r.preset, r.players, **r.knobs) for r in player.card.ratings)
    setup = next(setup for setup in rated if player_registry().find(player.name, setup) == player)
    edge = Duplicate(setup, [load_agent(player.name, setup), RandomAgent()], seed=5).edge(0, 1, 300)
    assert edge.mean > edge.ci95
    assert player.card.note
    assert player.card.made_by
    assert player.card.ratings
    assert {key.split(".")[0] for key in load_checkpoint(player.path).tensors} == {"model"}
