"""Language models in commands: workers, what is kept when a run is stopped or killed, and the arguments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.bots.settings import bot_settings
from nainjaune_agents.chat.settings import ChatSettings
from nainjaune_agents.cli.main import main
from tests.agents.chat.conftest import Local

TABLE = "--preset djeco --players 3 --deals 12 --seed 4"


def run(words: str) -> int:
    return main(words.split())


def result_of(out: Path, name: str) -> Any:
    text = (out / "results.json").read_text().replace(name, "the player")
    values = json.loads(text)
    for key in ("milliseconds_a_decision", "bots", "made", "seconds"):
        values.pop(key, None)
    return values


def test_evaluate_has_the_results_of_the_player_behind_the_endpoint(local: Local, tmp_path: Path) -> None:
    chat = f"--agents chat:closer lowest {TABLE} --base-url {local.url} --chat-cache {tmp_path / 'cache'}"
    assert run(f"evaluate --agents closer lowest {TABLE} --out {tmp_path / 'own'}") == 0
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
    assert local.url in (tmp_path / "one" / "results.html").read_text()
    assert bot_settings().decision_seconds == 60
    kept = {path.name for path in (tmp_path / "one").iterdir()}
    assert kept == {path.name for path in (tmp_path / "own").iterdir()}


@pytest.mark.parametrize(
    ("number", "workers"),
    [
        pytest.param(signal.SIGINT, 1, marks=pytest.mark.long),
        pytest.param(signal.SIGKILL, 1, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, 2, marks=pytest.mark.long),
    ],
)
def test_a_run_that_was_stopped_pays_nothing_twice(number: int, workers: int, local: Local, tmp_path: Path) -> None:
    words = [
        "evaluate", "--agents", "chat:lowest-slow", "closer", *TABLE.split(), "--chunk", "2", "--out", str(tmp_path / "out"),
        "--base-url", local.url, "--chat-cache", str(tmp_path / "cache"), "--chat-at-once", "4",
        "--workers", str(workers),
    ]  # fmt: skip
    command = [sys.executable, "-m", "nainjaune_agents.cli.main", *words]
    digests: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "NAINJAUNE_QUIET": "1"}
    ) as process:
        while len(digests) < 60:
            assert process.poll() is None
            digests += [row["digest"] for row in local.asked()]
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait() != 0
    time.sleep(0.2 if workers == 1 else 2)  # workers end soon after the process that started them
    digests += [row["digest"] for row in local.asked()]
    first = len(digests)
    assert main(words) == 0
    digests += [row["digest"] for row in local.asked()]
    assert len(digests) > 2 * first
    twice = sum(count - 1 for count in Counter(digests).values())
    assert twice <= (4 * workers if number == signal.SIGKILL else 0)  # the calls under way, whose answers nobody has read
    assert run(f"evaluate --agents lowest closer {TABLE} --chunk 2 --out {tmp_path / 'own'}") == 0
    assert result_of(tmp_path / "out", "chat:lowest-slow") == result_of(tmp_path / "own", "lowest")


def test_a_budget_stops_a_run_that_goes_on_with_a_larger_one(
    local: Local, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = f"evaluate --agents chat:lowest closer {TABLE} --chunk 2 --out {tmp_path / 'out'} --base-url {local.url} "
    words += f"--chat-cache {tmp_path / 'cache'} --chat-at-once 1"
    assert run(f"{words} --chat-tokens 10700") == 2
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
        ("evaluate --agents chat:none lowest --base-url URL", "The model none does not exist."),
        ("evaluate --agents closer lowest --base-url URL", "--base-url is for language models, whose names begin with chat:"),
        ("evaluate --agents chat:a lowest --base-url URL --chat-money 3", "A budget of money needs prices"),
        ("evaluate --agents chat:a lowest --base-url URL --chat-language xx", "Unknown language 'xx'"),
        ("evaluate --agents chat:a@search=5 lowest --base-url nowhere", "The base URL of an endpoint is like"),
    ],
)
def test_bad_arguments_are_sentences(
    words: str, says: str, local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(f"{words.replace('URL', local.url)} {TABLE}" + (f" --chat-cache {tmp_path}" if "chat:" in words else "")) == 2
    assert says in capfd.readouterr().err


def test_the_settings_in_words_make_them_again() -> None:
    from nainjaune_agents.chat.settings import OPTIONS
    from nainjaune_agents.cli.bot_options import CHAT_OPTIONS

    settings = ChatSettings("http://h/v1", "long", "fr", 0.7, 99, 0)
    words = settings.to_words()
    assert " ".join(words) == (
        "--base-url http://h/v1 --chat-form long --chat-language fr --chat-temperature 0.7 --chat-answer 99 --chat-retries 0"
    )
    assert {option[2:].replace("-", "_"): name for option, name in OPTIONS.items()}.items() <= CHAT_OPTIONS.items()
    assert ChatSettings(**settings.to_dict()) == settings


@pytest.mark.slow
def test_a_ladder_seats_a_language_model(local: Local, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "ladder"
    (folder / "entries").mkdir(parents=True)
    settings = f'[bots]\ndecision_seconds = 60\n[bots.chat]\nbase_url = "{local.url}"\ncache = "{tmp_path / "cache"}"\n'
    head = 'title = "T"\ngame = "nain_jaune"\nbatch = 256\nseed = 1\n'
    (folder / "ladder.toml").write_text(f'{head}[[tables]]\npreset = "djeco"\nseats = [2]\n{settings}')
    for name, agent in (("model", "chat:closer"), ("same", "closer"), ("other", "lowest")):
        (folder / "entries" / f"{name}.toml").write_text(f'name = "{name}"\nauthor = "A"\nagent = "{agent}"\n')
    assert run(f"ladder {folder} --deals 256") == 0
    pairs = {path.stem: json.loads(path.read_text()) for path in (folder / "results").rglob("*.json") if "model" in path.name}
    assert pairs
    assert len(local.asked()) > 200
    assert run(f"ladder {folder} --deals 256") == 0
    assert local.asked() == []
    capfd.readouterr()
    (folder / "ladder.toml").write_text(f'{head}[[tables]]\npreset = "djeco"\nseats = [2]\n{settings}form = "sonnet"\n')
    assert run(f"ladder {folder} --deals 256") == 2
    assert "Unknown form of a text 'sonnet'" in capfd.readouterr().err
    (folder / "ladder.toml").write_text(f'{head}[[tables]]\npreset = "djeco"\nseats = [2]\n{settings}key = "sk-1"\n')
    assert run(f"ladder {folder} --deals 256") == 2
    assert "bots.chat: Unknown key 'key'" in capfd.readouterr().err
