"""Language models in commands: they do as the player behind the endpoint, or get one sentence; a run that is stopped goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

from nainjaune_agents.cli.main import main
from tests.agents.players.chat.conftest import Local

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


def result_of(out: Path, name: str) -> Any:
    text = (out / "results.json").read_text().replace(name, "the player")
    values = json.loads(text)
    for key in ("milliseconds_a_decision", "bots", "made", "seconds"):
        values.pop(key, None)
    return values


def at(local: Local, folder: Path) -> str:
    return f"--chat base_url={local.url} cache={folder / 'cache'}"


def test_evaluate_has_the_results_of_the_player_behind_the_endpoint(local: Local, tmp_path: Path) -> None:
    chat = f"--agents chat:closer lowest {TABLE} --deals 12 {at(local, tmp_path)}"
    assert run(f"evaluate --agents closer lowest {TABLE} --deals 12 --out {tmp_path / 'own'}") == 0
    assert run(f"evaluate {chat} --chunk 4 --workers 2 --out {tmp_path / 'workers'}") == 0
    assert len(local.asked()) > 200
    assert run(f"evaluate {chat} --out {tmp_path / 'one'}") == 0
    assert len(local.asked()) == 0
    own = result_of(tmp_path / "own", "closer")
    assert result_of(tmp_path / "one", "chat:closer") == own
    one, workers = (json.loads((tmp_path / name / "results.json").read_text()) for name in ("one", "workers"))
    assert one["bots"] == workers["bots"]
    assert one["edges"] == workers["edges"]
    lines = [json.loads(line) for line in (tmp_path / "one.chat.jsonl").read_text().splitlines()]
    assert len(lines) > 200
    assert f"--chat base_url={local.url}" in (tmp_path / "one" / "results.html").read_text()
    kept = {path.name for path in (tmp_path / "one").iterdir()}
    assert kept == {path.name for path in (tmp_path / "own").iterdir()}


@pytest.mark.slow
def test_a_run_that_was_killed_pays_no_kept_answer_twice(local: Local, tmp_path: Path) -> None:
    words = f"evaluate --agents chat:lowest-slow closer {TABLE} --deals 12 --chunk 2 {at(local, tmp_path)} at_once=4".split()
    words += ["--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", *words]
    digests: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "NAINJAUNE_QUIET": "1"}) as process:
        while len(digests) < 60:
            assert process.poll() is None
            digests += [row["digest"] for row in local.asked()]
            time.sleep(0.05)
        process.kill()
    time.sleep(0.2)
    digests += [row["digest"] for row in local.asked()]
    first = len(digests)
    assert main(words) == 0
    digests += [row["digest"] for row in local.asked()]
    assert len(digests) > 2 * first
    assert len(digests) - len({*digests}) <= 4  # the calls under way, whose answers nobody has read
    assert run(f"evaluate --agents lowest closer {TABLE} --deals 12 --chunk 2 --out {tmp_path / 'own'}") == 0
    assert result_of(tmp_path / "out", "chat:lowest-slow") == result_of(tmp_path / "own", "lowest")


def test_a_budget_stops_a_run_that_goes_on_with_a_larger_one(
    local: Local, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = f"evaluate --agents chat:lowest closer {TABLE} --deals 12 --chunk 2 --out {tmp_path / 'out'} {at(local, tmp_path)}"
    assert run(f"{words} at_once=1 tokens=10700") == 2
    said = capfd.readouterr().err
    assert "The budget of 10,700 tokens is spent: 100 calls have cost 10,700 tokens." in said
    assert "What was played before is kept in" in said
    assert run(words) == 0
    assert "0 faults, 0 of" in capfd.readouterr().out
    digests = [row["digest"] for row in local.asked()]
    assert len(digests) == len(set(digests)) > 200


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("evaluate --agents chat:gpt-5 lowest", "'chat:gpt-5' asks https://api.openai.com/v1, which needs a key"),
        ("evaluate --agents chat:none lowest --chat base_url=URL", "The model none does not exist."),
        ("evaluate --agents chat:echo-401 lowest --chat base_url=URL", "HTTP status 401: 'Bad: Bearer [key] or Bearer [key]'."),
        ("evaluate --agents closer lowest --chat base_url=URL", "--chat is for language models, whose names begin with chat:"),
        ("evaluate --agents chat:a lowest --chat base_url=URL language=xx", "Unknown language 'xx'"),
        ("evaluate --agents chat:a lowest --chat base_url=URL retries=-1", "retries is a number from 0 to 1000, not -1."),
        ("evaluate --agents chat:a@search=5 lowest --chat base_url=nowhere", "A base URL is like https://host/v1, with no user,"),
    ],
)
def test_bad_arguments_are_sentences(
    words: str, says: str, local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if "401" in words:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("NAINJAUNE_CACHE", str(tmp_path))
    assert run(f"{words.replace('URL', local.url)} {TABLE} --deals 12") == 2
    said = capfd.readouterr().err
    assert says in said
    assert "sk-0123456789" not in said


@pytest.mark.slow
def test_a_ladder_seats_a_language_model(local: Local, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "ladder"
    (folder / "entries").mkdir(parents=True)
    settings = f'[bots]\ndecision_seconds = 60\n[bots.chat]\nbase_url = "{local.url}"\ncache = "answers"\n'
    head = 'title = "T"\ngame = "nain_jaune"\nbatch = 256\nseed = 1\n[[tables]]\npreset = "djeco"\nseats = [2]\n'
    (folder / "ladder.toml").write_text(f"{head}{settings}")
    for name, agent in (("model", "chat:closer"), ("same", "closer"), ("other", "lowest")):
        (folder / "entries" / f"{name}.toml").write_text(f'name = "{name}"\nauthor = "A"\nagent = "{agent}"\n')
    assert run(f"ladder {folder} --deals 256") == 0
    pairs = {path.stem: json.loads(path.read_text()) for path in (folder / "results").rglob("*.json") if "model" in path.name}
    assert pairs
    assert len(local.asked()) > 200
    assert run(f"ladder {folder} --deals 256") == 0
    assert local.asked() == []
    capfd.readouterr()
    for line, says in (('form = "sonnet"', "Unknown form of a text 'sonnet'"), ('key = "sk-1"', "'bots.chat.key'")):
        (folder / "ladder.toml").write_text(f"{head}{settings}{line}\n")
        assert run(f"ladder {folder} --deals 256") == 2
        assert says in capfd.readouterr().err


def configuration(folder: Path, player: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(CONFIG.replace("PLAYER", player), encoding="utf-8")
    return path


def tensors(folder: Path) -> dict[str, Any]:
    return {name: array.tobytes() for name, array in load_file(folder / "checkpoint.safetensors").items()}


def test_train_meets_a_language_model(local: Local, tmp_path: Path) -> None:
    for player, words in (("closer", ""), ("chat:closer", at(local, tmp_path))):
        assert run(f"train {configuration(tmp_path, player)} --out {tmp_path / player} {words}") == 0
    assert tensors(tmp_path / "chat:closer") == tensors(tmp_path / "closer")
    asked = local.asked()
    assert len({row["digest"] for row in asked}) == len(asked) > 50
    assert (tmp_path / "chat:closer.chat.jsonl").is_file()


def test_one_plays_rollouts_where_its_texts_are_complete_and_else_is_refused(
    local: Local, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
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
    assert run(f"analyse {tmp_path / 'nain_jaune'} {analyse} --model chat:closer {at(local, tmp_path)}") == 2
    assert "cannot be played by 'chat:closer', which reads the plies of the round" in capfd.readouterr().err
    assert run(f"analyse {tmp_path / 'glimpse'} {analyse} --model chat:cheapest {at(local, tmp_path)}") == 2
    assert "cannot be played by 'chat:cheapest', which remembers" in capfd.readouterr().err
    assert local.asked() == []
    for player, words in (("cheapest", ""), ("chat:cheapest", at(local, tmp_path))):
        assert run(f"analyse {tmp_path / 'perfect'} {analyse} --model {player} --out {tmp_path / player} {words}") == 0
    assert (tmp_path / "chat:cheapest").read_text() == (tmp_path / "cheapest").read_text()
    assert local.asked()
