"""The worked example of language models: its commands as docs/chat.md shows them, against its server in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from examples.language_models.endpoint import setup_of
from nainjaune_agents.language.tasks import SPLITS, tasks
from nainjaune_env import Batch, TextSeat, make_setup
from tests.support.source import ROOT

SERVER = "examples/language_models/endpoint.py"


def test_the_commands_of_the_page_have_the_results_of_the_players_behind_the_server(tmp_path: Path) -> None:
    section = (ROOT / "docs" / "chat.md").read_text(encoding="utf-8").partition("## Worked example")[2]
    (commands,) = re.findall(r"```\n(.*?)```", section, re.DOTALL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for shown, here in (
        ("8000", str(port)),
        (SERVER, str(ROOT / SERVER)),
        ("python ", f"{sys.executable} "),
        ("nainjaune ", f"{sys.executable} -m nainjaune_agents.cli.main "),
    ):
        assert shown in commands
        commands = commands.replace(shown, here)
    commands, count = re.subn(r"(--agents chat:closer chat:lowest( closer)?)", r"\1 --chat cache=cache", commands)
    assert count == 2
    (tmp_path / "run.sh").write_text(f"set -e\n{commands}", encoding="utf-8")
    with (tmp_path / "output").open("wb") as output:
        script = subprocess.Popen(["bash", "run.sh"], cwd=tmp_path, stdout=output, stderr=output, start_new_session=True)
        try:
            assert script.wait() == 0, (tmp_path / "output").read_text()
        finally:
            os.killpg(script.pid, signal.SIGKILL)
    said = (tmp_path / "output").read_text()
    assert "chat:lowest  in all" in said
    (transcript,) = (line for line in said.splitlines() if line.startswith('{"model"'))
    messages = json.loads(transcript)["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant"]
    edges = [
        json.loads((tmp_path / name / "results.json").read_text(encoding="utf-8").replace("chat:", ""))["edges"]
        for name in ("own", "chat")
    ]
    assert edges[0] == edges[1] != []
    standings = json.loads((tmp_path / "board" / "leaderboard.json").read_text(encoding="utf-8"))["standings"]
    model, same = (one for name in ("chat:closer", "closer") for one in standings if one["agent"] == name)
    assert (model["calls"] > 10, same["calls"]) == (True, 0)
    assert model["regret"]["round"] == same["regret"]["round"]


@contextmanager
def address() -> Iterator[str]:
    with subprocess.Popen([sys.executable, ROOT / SERVER, "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0


def post(url: str, body: Any) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", data)) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_it_answers_a_question_and_refuses_what_is_none() -> None:
    setup = make_setup("nain_jaune", "djeco", players=3)
    batch = Batch(setup, 1, seed=1, log=True)
    prompt = TextSeat(setup, language="fr").prompt(batch.tables[0], batch.log.round(0))
    messages = [{"role": "system", "content": prompt.rules}, {"role": "user", "content": prompt.situation}]
    with address() as url:
        status, answer = post(url, {"model": "lowest", "messages": messages})
        content = answer["choices"][0]["message"]["content"]
        assert (status, prompt.parse(content)) == (200, prompt.legal[0])
        assert content.startswith("Coup")
        assert answer["usage"]["total_tokens"] > 100
        assert post(url, {"model": "gpt", "messages": messages})[0] == 404
        assert post(url, {"model": "cheapest", "messages": messages})[0] == 404
        for bad in (b"{", b"[]", {"model": "lowest"}, {"model": "lowest", "messages": [{"role": "user", "content": "Hello"}]}):
            assert post(url, bad) == (400, {"error": {"message": "Expected the messages of one of our games."}})


@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus"])
def test_it_reads_the_rules(game: str) -> None:
    for split in SPLITS:
        for task in tasks(game, split, 10):
            seat = TextSeat(task.setup())
            setup, language = setup_of(f"{seat.rules}\nAnother sentence.")
            assert (setup.preset, setup.players, language) == (task.preset, task.players, "en")
            assert TextSeat(setup).rules == seat.rules
