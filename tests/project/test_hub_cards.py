"""The cards for a model hub, as ``make hub`` writes them: front matter that says what the registry's own model cards say."""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from nainjaune_agents.players.zoo import player_registry
from nainjaune_agents.study.columns import decision_columns, round_columns
from nainjaune_env import get_game
from tests.support.source import ROOT

Card = Callable[[str], tuple[dict[str, Any], str]]


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Card:
    """Returns the front matter and the text of a card by its name; both cards are written once."""
    folder: Path = tmp_path_factory.mktemp("hub")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        patch.setattr("sys.argv", ["hub_cards.py", str(folder)])
        assert importlib.import_module("hub_cards").main() == 0

    def read(name: str) -> tuple[dict[str, Any], str]:
        nothing, front, text = (folder / name / "README.md").read_text(encoding="utf-8").split("---\n", 2)
        assert nothing == ""
        fields: dict[str, Any] = yaml.safe_load(front)
        return fields, text

    return read


@pytest.mark.parametrize("name", ["model", "dataset"])
def test_the_fields_are_those_of_hubs(name: str, card: Card) -> None:
    """As huggingface_hub's ``ModelCardData`` and ``DatasetCardData`` name them; a hub's licences are in lower case."""
    fields, text = card(name)
    own = {
        "model": {"library_name", "pipeline_tag", "model-index"},
        "dataset": {"pretty_name", "task_categories", "annotations_creators", "source_datasets", "configs"},
    }
    assert fields.keys() == {"license", "tags", *own[name]}
    assert fields["license"] == "mit"
    assert all(tag == tag.lower() and " " not in tag for tag in fields["tags"])
    assert text.lstrip().startswith("# ")
    assert "](" not in text, "a relative link leads nowhere on a hub"


def test_the_model_index_has_every_rating_of_every_file(card: Card) -> None:
    index = {entry["name"]: entry["results"] for entry in card("model")[0]["model-index"]}
    players = list(player_registry().players("strong"))
    assert index.keys() == {f"{player.path.parent.name}/{player.path.stem}" for player in players}
    for player in players:
        matches = index[f"{player.path.parent.name}/{player.path.stem}"]
        assert [result["metrics"][0]["value"] for result in matches] == [rating.mean for rating in player.card.ratings]
        for result, rating in zip(matches, player.card.ratings, strict=True):
            assert result.keys() == {"task", "dataset", "metrics"}
            assert result["dataset"]["type"] == player.card.game
            assert rating.preset in result["dataset"]["name"]
            assert f"± {rating.ci95} " in result["metrics"][0]["name"]


def test_the_model_card_names_every_file_with_its_hash_and_commands(card: Card) -> None:
    text = card("model")[1]
    for player in player_registry().players("strong"):
        assert f"### {player.path.name}\n" in text
        assert f"`{player.card.sha256}`" in text
        assert all(command in text for command in player.card.made_by)


def test_the_dataset_card_has_the_files_and_columns_that_its_commands_write(card: Card) -> None:
    fields, text = card("dataset")
    games = list(dict.fromkeys(config["data_files"].split("/")[0] for config in fields["configs"]))
    assert games
    assert [config["data_files"] for config in fields["configs"]] == [
        f"{game}/{file}.parquet" for game in games for file in ("decisions", "rounds")
    ]
    for game in games:
        assert f"--out {game}\n" in text
        for column in (*decision_columns(get_game(game).setup()), *round_columns(get_game(game).setup())):
            assert f"`{column.name}`" in text or column.part is not None


def test_make_hub_runs_the_commands_of_the_dataset_card(card: Card) -> None:
    done = subprocess.run(["make", "--dry-run", "hub"], cwd=ROOT, check=True, capture_output=True, text=True)
    commands = [line for line in card("dataset")[1].splitlines() if line.startswith("nainjaune study")]
    assert commands
    for command in commands:
        assert f"/{command}\n" in done.stdout
    assert "python docs/hub_cards.py build/hub\n" in done.stdout
