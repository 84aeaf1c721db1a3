"""Which file a player in the box plays by, and that the box in the package is whole."""

from __future__ import annotations

import dataclasses
import itertools
import re
import shlex
from pathlib import Path

import pytest

from examples import ppo_teachers
from nainjaune_agents import train as trainers
from nainjaune_agents.players import loading, mixed
from nainjaune_agents.players.heuristics import RandomAgent
from nainjaune_agents.players.loading import checkpoint_path, load_agent, setup_of_runs
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.search import SearchAgent
from nainjaune_agents.players.zoo import HouseRules, Player, PlayerRegistry, load_card, player_registry, save_card
from nainjaune_agents.study.advice import models
from nainjaune_agents.train.config import apply_settings, build, read_yaml
from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError, CheckpointError, FallbackWarning
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game
from tests.agents.players.zoo.boxes import put
from tests.support.edges import edge_of
from tests.support.positions import small
from tests.support.source import ROOT

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
        (small(3, max_rounds=7, direction="counterclockwise"), "classic-3"),
        (small(3, stake=3), "nain_jaune"),
        (small(4), "nain_jaune"),
        (make_setup("nain_jaune", "djeco", 3), "nain_jaune"),
        (small(3, hand=15), "classic-3"),
    ],
    ids=["its rules", "its knobs", "its rules of a round", "other knobs", "other seats", "another sheet", "its hand by number"],
)
def test_the_one_that_fits_best_is_taken(box: Path, setup: object, file: str) -> None:
    assert PlayerRegistry(box).find("zoo:strong", setup).path.stem == file  # type: ignore[arg-type]


def test_the_network_for_all_tables_can_be_asked_for(box: Path) -> None:
    assert PlayerRegistry(box).find("zoo:strong", small(), anywhere=True).path.stem == "nain_jaune"
    with pytest.raises(AgentError, match=r"zoo:narrow does not play Nain Jaune at any table\. It plays: Nain Jaune \(classic"):
        PlayerRegistry(box).find("zoo:narrow", small(), anywhere=True)


def test_a_player_for_one_table_plays_under_the_house_rules_on_its_card(box: Path) -> None:
    path, stake = box / "strong" / "classic-3.json", small(3, stake=3)
    assert PlayerRegistry(box).find("zoo:strong", stake).path.stem == "nain_jaune"
    save_card(path, dataclasses.replace(load_card(path), house_rules=[HouseRules("classic", [3], {"stake": [2, 4]})]))
    assert PlayerRegistry(box).find("zoo:strong", stake).path.stem == "classic-3"
    assert PlayerRegistry(box).find("zoo:strong", small(3, stake=2)).path.stem == "classic-3-stake-2", "its own rules come first"
    for other in (small(3, stake=5), small(3, stake=3, decline="entry"), small(4, stake=3)):
        assert PlayerRegistry(box).find("zoo:strong", other).path.stem == "nain_jaune"


def test_a_card_covers_two_of_its_knobs_at_once(box: Path) -> None:
    path = box / "narrow" / "classic-3.json"
    knobs = {"stake": [1, 2], "decline": ["never", "entry"], "payment": ["points", "cards"]}
    save_card(path, dataclasses.replace(load_card(path), house_rules=[HouseRules("classic", [3], knobs)]))
    assert file_at(box, small(3, stake=2, decline="entry", max_rounds=7)) == path.stem
    with pytest.raises(AgentError, match=r"zoo:narrow does not play .*decline entry, payment cards, stake 2"):
        file_at(box, small(3, stake=2, decline="entry", payment="cards"))


def file_at(box: Path, setup: Setup) -> str:
    return PlayerRegistry(box).find("zoo:narrow", setup).path.stem


def test_rules_that_no_file_is_known_to_play_are_refused(box: Path) -> None:
    other = r"does not play .*stake 6.*; Nain Jaune at any table, under the house rules that `nainjaune zoo strong` lists\."
    with pytest.raises(AgentError, match=other):
        PlayerRegistry(box).find("zoo:strong", small(3, stake=6))
    with pytest.raises(AgentError, match=r"zoo:strong does not play .*stake 5, starting_stack 45"):
        PlayerRegistry(box).find("zoo:strong", small(3, stake=5, starting_stack=45, hand=4, ranks=11))


@pytest.fixture
def with_fallback(box: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    put(box, "strong-any", small(), "nain_jaune", anywhere=True, fallback=True)
    for module in (loading, mixed, models):
        monkeypatch.setattr(module, "player_registry", lambda: PlayerRegistry(box))
    return box


NOTE = "zoo:strong plays as zoo:strong-any under rules that no card of zoo:strong lists."
UNLISTED = small(3, stake=6)


def test_the_fallback_plays_under_rules_that_no_card_lists(with_fallback: Path) -> None:
    for ending in ("", "@sample", "@search=2"):
        with pytest.warns(FallbackWarning, match=f"^{re.escape(NOTE)}$"):
            agent = load_agent(f"zoo:strong{ending}", UNLISTED)
        assert agent.name == f"zoo:strong-any{ending}" == load_agent(agent.name, UNLISTED).name
    assert checkpoint_path("zoo:strong", UNLISTED) == with_fallback / "strong-any" / "nain_jaune.safetensors"
    assert load_agent("zoo:strong", small()).name == "zoo:strong"
    assert models.usual_model(UNLISTED) == "zoo:strong-any"
    with pytest.raises(AgentError, match=r"zoo:narrow does not play .*stake 6"):
        load_agent("zoo:narrow", UNLISTED)


def test_further_training_begins_from_a_file_that_is_not_known_to_play_there(box: Path) -> None:
    registry = PlayerRegistry(box)
    assert registry.find("zoo:strong", small(3, stake=6), any_rules=True).path.stem == "classic-3"
    assert registry.find("zoo:strong", small(3, stake=6), anywhere=True, any_rules=True).path.stem == "nain_jaune"
    with pytest.raises(AgentError, match=r"zoo:narrow does not play .*\) with 4 seats\."):
        registry.find("zoo:narrow", small(4), any_rules=True)


def test_what_it_does_not_play_is_said(box: Path) -> None:
    with pytest.raises(AgentError, match=r"zoo:narrow does not play .*\) with 4 seats\. It plays: .* with 3 seats\."):
        PlayerRegistry(box).find("zoo:narrow", small(4))
    with pytest.raises(AgentError, match=r"zoo:strong does not play Batasaurus .*It plays: .*; Nain Jaune at any table, under"):
        PlayerRegistry(box).find("zoo:strong", make_setup("batasaurus"))
    with pytest.raises(AgentError, match=r"Unknown zoo player 'zoo:strng'\. Did you mean 'zoo:strong'\?"):
        PlayerRegistry(box).find("zoo:strng", small())


def test_a_file_that_is_not_the_cards_is_refused(box: Path) -> None:
    path = box / "narrow" / "classic-3.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(CheckpointError, match="does not match the hash on its card"):
        PlayerRegistry(box).find("zoo:narrow", small())
    path.unlink()
    with pytest.raises(CheckpointError, match=r"of zoo:narrow is not there: .*Source distributions have no networks"):
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
    with pytest.raises(AgentError, match=r"a zoo agent chooses its file by the rules; @transfer is for a run or a file\."):
        load_agent("zoo:strong@transfer", small())
    with pytest.raises(AgentError, match=r"Unknown agent 'lowset'.* zoo:narrow, zoo:strong\."):
        load_agent("lowset", small())


PLAYERS = list(player_registry().players())


@pytest.mark.parametrize("player", PLAYERS, ids=lambda player: f"{player.name}-{player.path.stem}")
def test_those_that_come_with_the_package_play(player: Player) -> None:
    """Each by its own name, at the tables it is for, and better than chance; its card is about the file."""
    rated = (get_game(player.card.game).setup(r.preset, r.players, **r.knobs) for r in player.card.ratings)
    setup = next(setup for setup in rated if player_registry().find(player.name, setup) == player)
    edge = edge_of(setup, [load_agent(player.name, setup), RandomAgent()], 300, seed=5)
    assert edge.mean > edge.ci95
    assert player.card.note
    assert player.card.made_by
    assert player.card.ratings
    assert {key.split(".")[0] for key in load_checkpoint(player.path).tensors} == {"model"}


@pytest.mark.parametrize("player", PLAYERS, ids=lambda player: f"{player.name}-{player.path.stem}")
def test_commands_on_cards_are_taken_today_or_name_their_commit(player: Player) -> None:
    trainers.register("ppo_teachers", ppo_teachers)
    for made_by in player.card.made_by:
        words = shlex.split(made_by.replace("device=cuda", "device=cpu"), comments=True)
        if "# commit " in made_by or not words:
            continue
        assert words[:2] in (["python", "train.py"], ["python", "examples/ppo_teachers.py"]), made_by
        settings = [value for option, value in itertools.pairwise(words) if option == "--set"]
        values = apply_settings(read_yaml(ROOT / words[2]), settings)
        build(trainers.get_trainer(values["algorithm"]).Config, values)  # refuses an unknown or removed key


@pytest.mark.parametrize("ending", ["", "@sample", "@search=2", "@sample@search=2"])
def test_the_file_of_another_table_plays_only_if_asked(ending: str) -> None:
    path = player_registry().find("zoo:strong-1", make_setup("nain_jaune", "djeco", 4)).path
    setup = make_setup("nain_jaune", "djeco", 4, payment="points")
    with pytest.raises(CheckpointError, match="payment=cards, and this table has payment=points"):
        load_agent(f"{path}{ending}", setup)
    suffixes, _, search = ending.partition("@search")
    transferred = [f"{path}@transfer{ending}", f"{path}{suffixes}@transfer{'@search' if search else ''}{search}"]
    assert [load_agent(name, setup).name for name in transferred] == transferred
