"""Language models in other commands than ``evaluate``: they do as the player behind the endpoint, or get one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

from nainjaune_agents.cli.main import main
from tests.agents.chat.conftest import Local

TABLE = "--preset djeco --players 3 --seed 4"
CONFIG = """
algorithm: ppo
preset: djeco
players: 3
tables: 8
minibatch: 32
iterations: 2
arch: {hidden: [8]}
overlap: false
eval_every: 2
eval_deals: 4
eval_against: "PLAYER"
opponents: {self: 0.5, "PLAYER": 0.5}
"""


def run(words: str) -> int:
    return main(words.split())


def text_of(path: Path, name: str) -> str:
    """A file that a command has written, with the player called neutrally."""
    return path.read_text(encoding="utf-8").replace(name, "the player")


def tensors(folder: Path) -> dict[str, Any]:
    return {name: array.tobytes() for name, array in load_file(folder / "checkpoint.safetensors").items()}


def configuration(folder: Path, player: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(CONFIG.replace("PLAYER", player), encoding="utf-8")
    return path


def test_train_meets_a_language_model(local: Local, tmp_path: Path) -> None:
    chat = f"--base-url {local.url} --chat-cache {tmp_path / 'cache'}"
    for player, words in (("closer", ""), ("chat:closer", chat)):
        assert run(f"train {configuration(tmp_path, player)} --out {tmp_path / player} {words}") == 0
    assert tensors(tmp_path / "chat:closer") == tensors(tmp_path / "closer")
    asked = local.asked()
    assert len({row["digest"] for row in asked}) == len(asked) > 50
    assert (tmp_path / "chat:closer.chat.jsonl").is_file()


@pytest.mark.long
def test_sweep_meets_one_in_several_processes(local: Local, tmp_path: Path) -> None:
    chat = f"--base-url {local.url} --chat-cache {tmp_path / 'cache'}"
    for player, words in (("closer", ""), ("chat:closer", chat)):
        sweep = f"sweep {configuration(tmp_path, player)} --seeds 2 --workers 2 --out {tmp_path / player}"
        assert run(f"{sweep} {words}") == 0
    runs = sorted(path.relative_to(tmp_path / "closer") for path in (tmp_path / "closer" / "runs").glob("*/seed-*"))
    assert len(runs) == 2
    for path in runs:
        assert tensors(tmp_path / "chat:closer" / path) == tensors(tmp_path / "closer" / path)
    asked = local.asked()
    assert len({row["digest"] for row in asked}) == len(asked) > 50


@pytest.mark.slow
def test_versus_compares_one_in_several_processes(local: Local, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chat = f"--base-url {local.url} --chat-cache {tmp_path / 'cache'} --workers 2"
    lines = []
    for player, words in (("closer", ""), ("chat:closer", chat)):
        assert run(f"versus {player} lowest {TABLE} --deals 4 {words}") == 0
        lines.append([line for line in capfd.readouterr().out.splitlines() if "±" in line])
    assert lines[0] == lines[1]
    assert len(local.asked()) > 50


def test_analyse_reviews_the_records_of_one_as_those_of_the_player_behind_it(local: Local, tmp_path: Path) -> None:
    chat = f"--base-url {local.url} --chat-cache {tmp_path / 'cache'}"
    reviews = []
    for player, words in (("lowest", ""), ("chat:lowest", chat)):
        records, out = tmp_path / f"{player}.jsonl", tmp_path / f"{player}.csv"
        assert run(f"evaluate --agents {player} closer {TABLE} --deals 2 --records {records} --matches 1 {words}") == 0
        analyse = f"analyse {records} --match 1 --model lowest --choosing 4 --measuring 4 --seed 1"
        assert run(f"{analyse} --out {out}") == 0
        reviews.append(text_of(out, player))
    assert reviews[0] == reviews[1]
    assert reviews[0].count("the player") > 20


def test_one_plays_rollouts_where_its_texts_are_complete_and_else_is_refused(
    local: Local, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chat = f"--base-url {local.url} --chat-cache {tmp_path / 'cache'}"
    where = {
        "nain_jaune": TABLE,
        "glimpse": "--preset batasaurus --players 2 --set dinosaurs=3",
        "perfect": "--preset batasaurus --players 2 --set memory=perfect --set dinosaurs=4",
    }
    for name, table in where.items():
        agents = "closer lowest" if name == "nain_jaune" else "cheapest highest"
        assert run(f"evaluate --agents {agents} {table} --deals 2 --records {tmp_path / name} --matches 1") == 0
    analyse = "--match 1 --choosing 2 --measuring 2 --seed 1"
    capfd.readouterr()
    assert run(f"analyse {tmp_path / 'nain_jaune'} {analyse} --model chat:closer {chat}") == 2
    assert "cannot be played by 'chat:closer', which reads the plies of the round" in capfd.readouterr().err
    assert run(f"analyse {tmp_path / 'glimpse'} {analyse} --model chat:cheapest {chat}") == 2
    assert "cannot be played by 'chat:cheapest', which remembers" in capfd.readouterr().err
    assert local.asked() == []
    for player, words in (("cheapest", ""), ("chat:cheapest", chat)):
        assert run(f"analyse {tmp_path / 'perfect'} {analyse} --model {player} --out {tmp_path / player} {words}") == 0
    assert (tmp_path / "chat:cheapest").read_text() == (tmp_path / "cheapest").read_text()
    assert local.asked()
