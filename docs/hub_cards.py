"""Write the cards of the model registry and of a study of its play, as the Hugging Face Hub reads them: a README with YAML front
matter. All numbers come from the model cards of the registry and the declared columns of studies.

python docs/hub_cards.py FOLDER    write FOLDER/model/README.md and FOLDER/dataset/README.md, as `make hub` does
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from generate import study_table
from nainjaune_agents.players.zoo import PREFIX, Player, player_registry
from nainjaune_agents.study import columns as study
from nainjaune_env import game_names, get_game
from nainjaune_env.core.rules_docs import markdown_table
from nainjaune_env.core.spec import GameSpec

PLAYER = "strong"
TASK = "reinforcement-learning"
TAGS = [TASK, "multi-agent", "card-games", "self-play", "pettingzoo", "gymnasium"]
FILES = ("decisions", "rounds")
"""The files of a study without a search, one configuration of the dataset each."""
ROUNDS = 20_000


def front_matter(fields: dict[str, Any]) -> str:
    """Returns the YAML front matter of a card."""
    return f"---\n{yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120)}---\n"


def players() -> list[Player]:
    """Returns the files of the player that the cards are about."""
    return list(player_registry().players(PLAYER))


def results(player: Player) -> dict[str, Any]:
    """Returns the entry of one file in the model index: its edge in each field that it was rated in."""
    game = get_game(player.card.game)
    entries = []
    for rating in player.card.ratings:
        where = f"{game.title} ({rating.table})"
        metric = {
            "type": "edge",
            "name": f"edge over {rating.field}, {game.unit} a round ± {rating.ci95} "
            f"(95 %, {rating.deals} deals, seed {rating.seed})",
            "value": rating.mean,
        }
        entries.append({"task": {"type": TASK}, "dataset": {"type": game.name, "name": where}, "metrics": [metric]})
    return {"name": f"{PLAYER}/{player.path.stem}", "results": entries}


def model_card() -> str:
    """Returns the model card: the files of the player, how each was made, and its edges."""
    fields = {
        "license": "mit",
        "library_name": "nainjaune-env",
        "pipeline_tag": TASK,
        "tags": TAGS,
        "model-index": [results(player) for player in players()],
    }
    parts = [
        front_matter(fields),
        f"# {PREFIX}{PLAYER}\n",
        "Policy and value networks for French card games of nainjaune-env: one file for a preset and a number of seats, or for "
        "all tables of a game. Each `.safetensors` file has a model card in JSON beside it, with its SHA-256.\n",
        "## Use\n",
        "The files also come with the package. Copies elsewhere are named by their path:\n",
        f"```\npip install 'nainjaune-env[players]'\nnainjaune evaluate --agents {PREFIX}{PLAYER} tally lowest --deals 1000\n"
        f"nainjaune evaluate --agents ./{players()[-1].path.name} tally lowest --deals 1000\n```\n",
        "A network sees what its seat may know at the table, and returns a probability for every legal action. It is made for "
        "play and research on these games. It was trained against copies of itself, so other players may reach positions that it "
        "does not know, and a best response wins against it.\n",
        "## Files\n",
        "An edge is the payoff of the hero minus that of the field in the same seat on the same deal, averaged over seats, with "
        "its 95 % interval over deals that no training or selection used.\n",
    ]
    for player in players():
        card = player.card
        unit = get_game(card.game).unit
        rows = [[r.table, r.field, f"{r.mean:+.3f} ± {r.ci95:.3f}", f"{r.deals:,}", str(r.seed)] for r in card.ratings]
        commands = "\n".join(card.made_by)
        parts += [
            f"### {player.path.name}\n",
            f"{player.plays_at}. {card.note} Trained by `{card.algorithm}`: {card.decisions / 1e6:.3g} million decisions, "
            f"{card.seconds / 60:.1f} minutes on {card.machine}, {card.made_at}. SHA-256 `{card.sha256}`.\n",
            f"```\n{commands}\n```\n",
            markdown_table(["table", "over a field of", f"edge, {unit} a round", "deals", "seed"], rows),
        ]
    return "\n".join(parts)


def studied_games() -> list[GameSpec]:
    """Returns the games whose play by the player the dataset has: those with features for studies, that the player plays."""
    played = {player.card.game for player in players()}
    return [game for game in map(get_game, game_names()) if game.features is not None and game.name in played]


def study_command(game: GameSpec) -> str:
    """Returns the command that makes a game's part of the dataset."""
    return f"nainjaune study --game {game.name} --agents {PREFIX}{PLAYER} --rounds {ROUNDS} --seed 1 --out {game.name}"


def dataset_card() -> str:
    """Returns the dataset card: the commands that make the files, and their columns."""
    games = studied_games()
    fields = {
        "license": "mit",
        "pretty_name": f"Play of {PREFIX}{PLAYER}",
        "task_categories": [TASK],
        "annotations_creators": ["machine-generated"],
        "source_datasets": ["original"],
        "tags": TAGS,
        "configs": [
            {"config_name": f"{game.name}_{file}", "data_files": f"{game.name}/{file}.parquet"}
            for game in games
            for file in FILES
        ],
    }
    commands = "\n".join(map(study_command, games))
    parts = [
        front_matter(fields),
        f"# Play of {PREFIX}{PLAYER}\n",
        f"{ROUNDS:,} rounds of each game, with {PREFIX}{PLAYER} in every seat: one row per decision in `decisions.parquet`, one "
        "per seat of a round in `rounds.parquet`. No person played, and no data of persons is in it. It is made by these "
        "commands of nainjaune-env, with the same rows each time:\n",
        f"```\npip install 'nainjaune-env[train,study]'\n{commands}\n```\n",
        "Each file's metadata has the rules, agents, seed, versions, and the unit and meaning of every column. Rows are not "
        "independent: the decisions of a deal share its luck, so intervals take the deal as the block. A model of what a player "
        "should do may use only columns that are not hidden.\n",
    ]
    for game in games:
        setup = game.setup()
        parts += [
            f"## {game.title}: {setup.preset}, {setup.players} seats\n",
            "### Decisions\n",
            study_table(study.decision_columns(setup)),
            "### Rounds\n",
            study_table(study.round_columns(setup)),
        ]
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    for name, text in {"model": model_card(), "dataset": dataset_card()}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "README.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
