"""``nainjaune agents``: every agent in a line, with the edges that the docs have."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.players.exact import exact_agents
from nainjaune_agents.players.heuristics import about, heuristics
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.players.zoo import player_registry
from nainjaune_env.registry import game_names, get_game
from tests.agents.cli.command import Capture, refused, status_of
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small
from tests.support.source import ROOT


def test_every_agent_of_every_game_and_zoo_players_with_the_edges_of_their_cards(capfd: Capture) -> None:
    assert status_of(["agents"]) == 0
    parts = capfd.readouterr().out.split("\n\n")
    assert len(parts) == len(game_names())
    for game, part in zip(game_names(), parts, strict=True):
        head, *lines = part.strip().splitlines()
        assert head.startswith(f"{get_game(game).title}: edges in {get_game(game).unit} a round")
        players = [player for player in player_registry().players() if player.card.game == game]
        heuristic = [*heuristics(game), *exact_agents(game)]
        assert [line.split()[0] for line in lines] == [*heuristic, *(player.name for player in players)]
        assert all(len(line.split()) > 1 for line in lines)
        for line, player in zip(lines[len(heuristic) :], players, strict=True):
            first = player.card.ratings[0]
            if not player.card.anywhere:
                assert f" {player.plays_at}  " in line
                assert line.endswith(f"{mean_ci(first.mean, first.ci95)} over {first.field}")


def test_one_game(capfd: Capture) -> None:
    assert status_of(["agents", "--game", "batasaurus"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("Batasaurus: ")
    assert "Nain Jaune" not in out
    assert re.search(r"^  exact +an exact solution: 2 players, memory = perfect$", out, re.MULTILINE)
    refused(capfd, "agents --game batasaurs", r"Unknown game 'batasaurs'\. Did you mean 'batasaurus'\?")


def test_the_checkpoints_of_a_run(tmp_path: Path, capfd: Capture) -> None:
    latest = make(small())
    for name, progress in ((FILE_NAME, {}), ("iteration-000005.safetensors", {}), ("best.safetensors", {"edge": 0.256})):
        save_checkpoint(tmp_path / name, replace(latest, progress=progress))
    assert status_of(["agents", "--run", str(tmp_path)]) == 0
    lines = [line.split("  ") for line in capfd.readouterr().out.splitlines()]
    assert [[cell.strip() for cell in line if cell.strip()] for line in lines] == [
        [str(tmp_path), f"iteration {latest.iteration}"],
        [f"{tmp_path}@5", f"iteration {latest.iteration}"],
        [f"{tmp_path}@best", f"iteration {latest.iteration}", "edge +0.26, the highest of its evaluations"],
    ]


@pytest.mark.parametrize("game", [name for name in game_names() if about(name).field])
def test_edges_of_rules_of_thumb_are_those_of_the_docs(game: str) -> None:
    known = about(game)
    assert list(known.lines) == list(heuristics(game))
    names = ("strategy.md", "lab/heuristics.md", "lab/memory.md")
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in names)
    for name, (plays, edge) in known.lines.items():
        assert plays
        assert (edge is None) == (name == known.field)
        if edge is not None:
            shown = re.escape(mean_ci(*edge)).replace("−", "[−-]")
            assert re.search(rf"^(\| `)?\s*{name}\b.*{shown}", pages, re.MULTILINE), (name, shown)
