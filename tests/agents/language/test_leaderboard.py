"""Leaderboards: what rows say, how a run that was stopped goes on, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.language.agent_round import play_task
from nainjaune_agents.language.leaderboard import ROWS, Leaderboard
from nainjaune_agents.language.leaderboard_rows import Row, Rows
from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.language.standings import standings, text
from nainjaune_agents.players.chat import endpoint
from nainjaune_agents.players.chat.settings import ChatSettings
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.settings import FORFEIT, BotSettings
from nainjaune_agents.study.advice.adviser import Adviser
from nainjaune_agents.study.advice.models import players
from nainjaune_agents.study.advice.review import pick, review
from nainjaune_env.core.errors import AgentError, ConfigError, NainJauneError, WorkError
from tests.agents.players.chat.conftest import Local, _local, local  # noqa: F401

SETTINGS = TextEnvSettings(adviser="closer", choosing=10, measuring=20)
BOARD = Leaderboard(("closer", "lowest"), "nain_jaune", count=5, settings=SETTINGS)


def test_rows_are_the_rounds_as_analyse_values_them(tmp_path: Path) -> None:
    rows = BOARD.play(tmp_path)
    assert [row.edge for row in rows["closer"]] == [0] * 5  # closer is the field
    for name in BOARD.agents:
        rounds = [play_task(task, *(load_agent(one, task.setup()) for one in (name, "closer"))) for task in BOARD.tasks]
        picks = pick([one.record for one in rounds])
        picks = [one for one in picks if one.ply.table.seat == BOARD.tasks[one.match - 1].seat]
        reviewed = review(
            picks, lambda setup: Adviser(setup, players(setup, ["closer"] * setup.players)), choosing=10, measuring=20, seed=0
        )
        for number, (row, one) in enumerate(zip(rows[name], rounds, strict=True), 1):
            of_round = [decision for decision in reviewed if decision.pick.match == number]
            assert (row.chips, row.decisions) == (one.payoff, len(of_round))
            assert row.regret == pytest.approx(sum(decision.regret for decision in of_round))
            assert row.error == pytest.approx(sum(decision.error**2 for decision in of_round) ** 0.5)
    assert sum(row.decisions for row in rows["closer"]) > 5


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    whole = BOARD.play(tmp_path / "whole")
    lines = (tmp_path / "whole" / ROWS).read_bytes().splitlines(keepends=True)
    part = tmp_path / "part" / ROWS
    part.parent.mkdir()
    part.write_bytes(b"".join(lines[:4]) + lines[4][:30])
    steps: list[int] = []
    assert BOARD.play(part.parent, steps.append) == whole
    assert steps == [3, 1, 1, 0, 1, 1, 1, 1, 1]
    assert part.read_bytes() == b"".join(lines)
    more = replace(BOARD, agents=("lowest", "closer", "tally"), count=6).play(part.parent)
    assert [row.index for row in more["tally"]] == [*range(6)]
    assert more["closer"][:5] == whole["closer"]
    assert len(part.read_bytes().splitlines()) == 1 + 3 * 6


@pytest.mark.parametrize(
    ("board", "says"),
    [
        (replace(BOARD, settings=replace(SETTINGS, measuring=21)), "has rounds of another settings: .*, not "),
        (replace(BOARD, split="train"), "has rounds of another split: 'test', not 'train'. Choose another --out"),
    ],
)
def test_rounds_of_other_settings_are_refused(board: Leaderboard, says: str, tmp_path: Path) -> None:
    replace(BOARD, count=1).play(tmp_path)
    with pytest.raises(ConfigError, match=says):
        board.play(tmp_path)


def test_a_player_that_has_changed_is_refused(tmp_path: Path) -> None:
    player = tmp_path / "bot.py"
    player.write_text("def low(observation, mask):\n    return mask.argmax(axis=-1)\n")
    board = Leaderboard((f"{player}:low",), "nain_jaune", count=2, settings=SETTINGS)
    board.play(tmp_path / "out")
    board.play(tmp_path / "out")
    as_field = replace(board, agents=("lowest",), settings=replace(SETTINGS, field=board.agents[0]))
    as_field.play(tmp_path / "field")
    player.write_text(player.read_text() + "\n")
    with pytest.raises(ConfigError, match="'lowest' has played with another files"):
        as_field.play(tmp_path / "field")
    with pytest.raises(ConfigError, match=r"bot\.py:low' has played with another files: '.*', not '.*'\. Choose another --out"):
        board.play(tmp_path / "out")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    replace(BOARD, count=1).play(tmp_path)
    with (tmp_path / ROWS).open("a") as file:
        file.write('{"agent": "closer"}\n')
    with pytest.raises(WorkError, match=r"Line 4 of .* is no row of a leaderboard: "):
        BOARD.play(tmp_path)
    (tmp_path / ROWS).write_text("[]\n")
    with pytest.raises(WorkError, match=r"Line 1 of .* is no row of a leaderboard"):
        BOARD.play(tmp_path)


def test_agents_that_do_not_play_under_some_rules(tmp_path: Path) -> None:
    board = Leaderboard(("exact", "random"), "batasaurus", count=8, settings=replace(SETTINGS, adviser="cheapest"))
    rows = board.play(tmp_path)
    refused = [row for row in rows["exact"] if row.refused is not None]
    assert 0 < len(refused) < 8
    assert all("memory = perfect" in str(row.refused) for row in refused)
    played = [row for row in rows["exact"] if row.refused is None]
    assert all(row.regret == pytest.approx(0, abs=1e-6) and row.error == 0 for row in played)
    without = {row.index for row in rows["random"] if row.regret is None}
    remembered = {task.index for task in board.tasks if vars(task.setup().rules)["memory"] == "glimpse"}
    assert without == remembered  # no advice where players remember
    assert 0 < len(without) < len(refused)
    assert "plays with 2 players" not in (tmp_path / ROWS).read_text()  # it is asked the next time


def test_an_agent_that_plays_nowhere_is_refused_at_once_and_may_play_later(tmp_path: Path) -> None:
    player = tmp_path / "late.py"
    board = replace(BOARD, agents=("closer", f"{player}:low"))
    with pytest.raises(AgentError, match=r"late\.py:low' plays at none of the tasks\. "):
        board.play(tmp_path / "out")
    assert not (tmp_path / "out" / ROWS).exists()
    player.write_text("def low(observation, mask):\n    return mask.argmax(axis=-1)\n")
    rows = board.play(tmp_path / "out")
    assert all(row.refused is None for row in rows[f"{player}:low"])


def test_odd_names_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "a\u2028b\x85c|`d"
    folder.mkdir()
    (folder / "bot.py").write_text("def low(observation, mask):\n    return mask.argmax(axis=-1)\n")
    board = replace(BOARD, agents=(f"{folder}/bot.py:low",), count=2)
    assert board.play(tmp_path / "out") == board.play(tmp_path / "out")


FULL_DISK = """
import resource, sys
from pathlib import Path
from nainjaune_agents.language.leaderboard_rows import Row, Rows
with Rows.opened(Path(sys.argv[1]), {}) as rows:
    rows.add(Row("closer", 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (rows._lines._path.stat().st_size + 20,) * 2)
    for index in (1, 2):
        try:
            rows.add(Row("closer", index))
        except OSError as error:
            print(error)
            break
"""


def test_a_disk_that_is_full_is_said_and_the_folder_goes_on(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path / ROWS)], capture_output=True, text=True, check=True)
    assert "No space left on device" in done.stdout
    with Rows.opened(tmp_path / ROWS, {}) as rows:
        assert ("closer", 0) in rows
        assert ("closer", 1) not in rows


@pytest.mark.parametrize("other", ["field", "adviser"])
def test_others_that_do_not_play_everywhere_are_refused_before_anything_is_played(other: str, tmp_path: Path) -> None:
    board = replace(BOARD, count=20, settings=replace(SETTINGS, **{other: "zoo:strong-1"}))  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="zoo:strong-1 does not play"):
        board.play(tmp_path)
    assert not (tmp_path / ROWS).exists()


@pytest.mark.parametrize("agents", [(), ("closer", "closer")])
def test_agents_are_named_once(agents: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="one agent or more, each once"):
        replace(BOARD, agents=agents)


def test_a_language_model_joins_a_leaderboard(local: Local, tmp_path: Path) -> None:  # noqa: F811
    before = BOARD.play(tmp_path / "out")
    bots = BotSettings(decision_seconds=60, chat=ChatSettings(base_url=local.url, cache=str(tmp_path / "cache")))
    rows = replace(BOARD, agents=(*BOARD.agents, "chat:lowest"), bots=bots).play(tmp_path / "out")
    assert {name: rows[name] for name in BOARD.agents} == before
    assert rows["chat:lowest"][0].identity["chat"]["base_url"] == local.url
    assert "chat" in standings(rows)[-1].to_dict()


def test_a_language_model_is_the_player_behind_the_endpoint(local: Local, tmp_path: Path) -> None:  # noqa: F811
    chat = ChatSettings(base_url=local.url, cache=str(tmp_path / "cache"))
    board = replace(BOARD, agents=("lowest", "chat:lowest"), bots=BotSettings(decision_seconds=60, chat=chat))
    rows = board.play(tmp_path / "out")
    calls = len(local.asked())
    for own, its in zip(rows["lowest"], rows["chat:lowest"], strict=True):
        assert replace(its, agent="lowest", identity={}, calls=0, tokens=0) == own
        assert its.calls == its.decisions
        assert its.tokens > 100 * its.calls
    assert calls == sum(row.decisions for row in rows["lowest"])
    assert board.play(tmp_path / "out") == rows
    assert not local.asked()
    warmer = BotSettings(decision_seconds=60, chat=replace(chat, temperature=1.0))
    with pytest.raises(ConfigError, match=r"'chat:lowest' has played with another chat: \{.*\}, not \{.*\}"):
        replace(board, bots=warmer).play(tmp_path / "out")
    spent = BotSettings(decision_seconds=60, chat=replace(chat, tokens=0, cache=str(tmp_path / "empty")))
    with pytest.raises(NainJauneError, match="budget"):
        replace(board, bots=spent).play(tmp_path / "more" / "out")


def test_rounds_in_which_an_endpoint_failed_are_played_again(
    local: Local,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    bots = BotSettings(FORFEIT, decision_seconds=60, chat=ChatSettings(base_url=local.url, cache=str(tmp_path / "cache")))
    board = replace(BOARD, agents=("lowest", "chat:failing"), bots=bots)
    first = board.play(tmp_path / "out")["chat:failing"]
    assert 0 < sum(row.refused is not None for row in first) < 5
    assert "The first of the others: Its endpoint did not answer" in text(board, standings({"chat:failing": first}), "chips")
    for _ in range(9):  # a round may fail at a later decision again
        rows = board.play(tmp_path / "out")
    assert [row.regret for row in rows["chat:failing"]] == [row.regret for row in rows["lowest"]]
    assert all(row.forfeits == 0 for row in rows["chat:failing"])
    with pytest.raises(AgentError, match=r"'chat:down' plays at none of the tasks\. Its endpoint did not answer"):
        replace(board, agents=("chat:down",), count=2).play(tmp_path / "out")


@pytest.mark.long
def test_a_killed_command_goes_on_without_a_call_or_a_task_twice(local: Local, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "out"
    words = [
        "leaderboard", "--agents", "lowest", "chat:lowest-slow", "--tasks", "12", "--adviser", "closer", "--choosing", "10",
        "--measuring", "20", "--out", str(out), "--chat", f"base_url={local.url}", f"cache={tmp_path / 'cache'}", "at_once=2",
    ]  # fmt: skip
    digests: list[str] = []
    with subprocess.Popen([sys.executable, "-m", "nainjaune_agents.cli.main", *words], stdout=subprocess.DEVNULL) as process:
        while len(digests) < 12:
            assert process.poll() is None
            digests += [row["digest"] for row in local.asked()]
            time.sleep(0.02)
        process.kill()
    time.sleep(0.2)
    before = (out / ROWS).read_bytes()
    assert main(words) == 0
    digests += [row["digest"] for row in local.asked()]
    assert sum(count - 1 for count in Counter(digests).values()) <= 2  # the calls under way, whose answers nobody has read
    lines = (out / ROWS).read_bytes().splitlines()
    assert lines[: before.count(b"\n")] == before.splitlines()[: before.count(b"\n")]
    rows = [json.loads(line) for line in lines[1:]]
    assert Counter((row["agent"], row["index"]) for row in rows) == Counter(
        (name, index) for name in ("lowest", "chat:lowest-slow") for index in range(12)
    )
    by_name = {name: {row["index"]: row["regret"] for row in rows if row["agent"] == name} for name in ("lowest", words[3])}
    assert by_name["lowest"] == by_name["chat:lowest-slow"]


def test_a_row_is_what_it_was(tmp_path: Path) -> None:
    (row,) = replace(BOARD, agents=("closer",), count=1).play(tmp_path)["closer"]
    assert Row(**json.loads((tmp_path / ROWS).read_text().splitlines()[1])) == row
