"""Language models in commands: they do as the player behind the endpoint, or get one sentence; a run that is stopped goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.cli.main import main
from tests.agents.players.chat.conftest import Local

TABLE = "--preset djeco --players 3 --seed 4"


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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("evaluate --agents chat:gpt-5 lowest", "'chat:gpt-5' asks https://api.openai.com/v1, which needs a key"),
        ("evaluate --agents chat:none lowest --chat base_url=URL", "The model none does not exist."),
        ("evaluate --agents chat:echo-401 lowest --chat base_url=URL", "HTTP status 401: 'Bad: Bearer [key] or Bearer [key]'."),
        ("evaluate --agents closer lowest --chat base_url=URL", "--chat is for language models, whose names begin with chat:"),
        ("evaluate --agents chat:a lowest --chat base_url=URL language=xx", "Unknown language 'xx'"),
        (
            "evaluate --agents chat:a lowest --chat base_url=URL retries=-1",
            "expected 'retries' to be a whole number from 0 to 1000, not -1.",
        ),
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
