"""Leaderboards: what rows say, how a run that was stopped goes on, what is refused, standings and the tables."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from nainjaune_agents.language.board import ROWS, Leaderboard, Row, markdown, standings, text
from nainjaune_agents.language.round import play_task
from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.measure.stats.differences import ROUGH
from nainjaune_agents.measure.stats.intervals import t_95
from nainjaune_agents.players.chat import endpoint
from nainjaune_agents.players.chat.settings import ChatSettings
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.settings import FORFEIT, BotSettings
from nainjaune_agents.study.advice.adviser import Adviser
from nainjaune_agents.study.advice.models import players
from nainjaune_agents.study.advice.review import pick, review
from nainjaune_env.core.errors import AgentError, ConfigError, NainJauneError, WorkError
from tests.agents.players.chat.conftest import Local, _local, local  # noqa: F401


def settings(**values: object) -> TextEnvSettings:
    return TextEnvSettings.from_dict({"adviser": "closer", "choosing": 10, "measuring": 20, **values})


BOARD = Leaderboard(("closer", "lowest"), "nain_jaune", count=5, settings=settings())
TASKS = 32
REGRETS = {"one": [2.0, 4.0, 1.0, 5.0] * 8, "other": [1.0] * TASKS}


def test_rows_are_the_rounds_as_analyse_values_them(tmp_path: Path) -> None:
    rows = BOARD.play(tmp_path)
    assert [row.edge for row in rows["closer"]] == [0] * 5  # closer is the field
    for name in BOARD.agents:
        rounds = [play_task(task, *(load_agent(one, task.setup()) for one in (name, "closer"))) for task in BOARD.tasks]
        picks = pick([one.record() for one in rounds])
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


def test_a_disk_that_is_full_is_said_and_the_folder_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda file, line: write(file, line[: len(line) // 2]))
        with pytest.raises(OSError, match="No space left on device"):
            BOARD.play(tmp_path / "out")
    assert BOARD.play(tmp_path / "out") == BOARD.play(tmp_path / "other")


def test_rounds_of_other_settings_and_a_damaged_file_are_refused(tmp_path: Path) -> None:
    one = replace(BOARD, count=1)
    one.play(tmp_path)
    with pytest.raises(ConfigError, match=r"has rounds of another settings: .*, not "):
        replace(one, settings=settings(measuring=21)).play(tmp_path)
    with pytest.raises(ConfigError, match=r"has rounds of another split: 'test', not 'train'\. Choose another --out"):
        replace(one, split="train").play(tmp_path)
    with (tmp_path / ROWS).open("a") as file:
        file.write('{"agent": "closer"}\n')
    with pytest.raises(WorkError, match=r"Line 4 of .* is no row of a leaderboard: "):
        one.play(tmp_path)
    (tmp_path / ROWS).write_text("[]\n")
    with pytest.raises(WorkError, match=r"Line 1 of .* is no row of a leaderboard"):
        one.play(tmp_path)


def test_a_player_that_has_changed_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a\u2028b\x85c|`d"  # what other programs take for ends of lines
    folder.mkdir()
    player = folder / "bot.py"
    player.write_text("def low(observation, mask):\n    return mask.argmax(axis=-1)\n")
    board = replace(BOARD, agents=(f"{player}:low",), count=2)
    assert board.play(tmp_path / "out") == board.play(tmp_path / "out")
    as_field = replace(board, agents=("lowest",), settings=settings(field=board.agents[0]))
    as_field.play(tmp_path / "field")
    player.write_text(player.read_text() + "\n")
    with pytest.raises(ConfigError, match="'lowest' has played with another field: "):
        as_field.play(tmp_path / "field")
    with pytest.raises(
        ConfigError, match=r"bot\.py:low' has played with another player_id: '.*', not '.*'\. Choose another --out"
    ):
        board.play(tmp_path / "out")


def test_agents_that_do_not_play_under_some_rules(tmp_path: Path) -> None:
    board = Leaderboard(("exact", "random"), "batasaurus", count=8, settings=settings(adviser="cheapest"))
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


@pytest.mark.parametrize("other", ["field", "adviser"])
def test_others_that_do_not_play_everywhere_are_refused_before_anything_is_played(other: str, tmp_path: Path) -> None:
    board = replace(BOARD, count=20, settings=settings(**{other: "zoo:strong-1"}))
    with pytest.raises(AgentError, match="zoo:strong-1 does not play"):
        board.play(tmp_path)
    assert not (tmp_path / ROWS).exists()


def test_a_language_model_is_the_player_behind_the_endpoint(local: Local, tmp_path: Path) -> None:  # noqa: F811
    chat = ChatSettings(base_url=local.url, cache=str(tmp_path / "cache"))
    before = BOARD.play(tmp_path / "out")
    board = replace(BOARD, agents=("lowest", "chat:lowest"), bots=BotSettings(decision_seconds=60, chat=chat))
    rows = board.play(tmp_path / "out")
    assert rows["lowest"] == before["lowest"]
    calls = len(local.asked())
    for one, its in zip(rows["lowest"], rows["chat:lowest"], strict=True):
        assert structs.replace(its, agent="lowest", identity=one.identity, calls=0, tokens=0) == one
        assert its.calls == its.decisions
        assert its.tokens > 100 * its.calls
    assert calls == sum(row.decisions for row in rows["lowest"])
    assert board.play(tmp_path / "out") == rows
    assert not local.asked()
    warmer = BotSettings(decision_seconds=60, chat=ChatSettings(base_url=local.url, cache=chat.cache, temperature=1.0))
    with pytest.raises(ConfigError, match=r"'chat:lowest' has played with another player_id: '.*', not '.*'"):
        replace(board, bots=warmer).play(tmp_path / "out")
    spent = ChatSettings(base_url=local.url, cache=str(tmp_path / "empty"), tokens=0)
    with pytest.raises(NainJauneError, match="budget"):
        replace(board, bots=BotSettings(decision_seconds=60, chat=spent)).play(tmp_path / "more" / "out")


def test_rounds_in_which_an_endpoint_failed_are_played_again(
    local: Local,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    chat = ChatSettings(base_url=local.url, cache=str(tmp_path / "cache"))
    bots = BotSettings(on_fault=FORFEIT, decision_seconds=60, chat=chat)
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


# ---- standings ---------------------------------------------------------------------------------------------------------


def rows_of(name: str) -> list[Row]:
    return [
        Row(name, k, decisions=k % 4 + 1, chips=10.0 * k, edge=lost / 2, regret=lost, advantage=-lost, calls=2, tokens=500)
        for k, lost in enumerate(REGRETS[name])
    ]


def test_means_and_differences_by_hand() -> None:
    other, one = standings({"one": rows_of("one"), "other": rows_of("other")})
    assert (other.agent, one.agent) == ("other", "one")  # the larger advantage first
    regret = one.measures["regret"]
    assert regret.round.mean == 3
    spread = math.sqrt((1 + 1 + 4 + 4) * 8 / (TASKS - 1) / TASKS)
    assert regret.round.ci95 == pytest.approx(t_95(25 - 1) * spread)  # Kish: (8 * 12)**2 / (8 * 46)
    assert regret.decision.mean == pytest.approx(12 / 10)
    assert regret.round_difference is None
    difference = other.measures["regret"]
    assert difference.round_difference is not None
    assert difference.decision_difference is not None
    assert difference.round_difference.mean == -2
    assert difference.round_difference.ci95 == pytest.approx(t_95(19 - 1) * spread)  # (8 * 8)**2 / (8 * 26)
    assert difference.decision_difference.mean == pytest.approx(4 / 10 - 12 / 10)
    assert other.totals == {"decisions": 80, "calls": 64, "tokens": 16000, "forfeits": 0}


def test_differences_are_at_the_tasks_that_both_have() -> None:
    some = [*rows_of("other")[:3], Row("other", 3, refused="It does not play.")]
    board = Leaderboard(("one", "other"), "nain_jaune", count=4)
    first = [*rows_of("one")[:1], Row("one", 1, refused="Nor does it."), *rows_of("one")[2:]]
    places = standings({"one": first, "other": some})
    other = next(one for one in places if one.agent == "other")
    difference = other.measures["regret"].round_difference
    assert difference is not None
    assert difference.mean == pytest.approx((-1 + 0) / 2)
    assert (len(other.rows), len(other.refusals), other.measures["regret"].tasks) == (3, 1, 3)
    assert "other played 3 tasks. The first of the others: It does not play." in text(board, places, "chips")


def test_without_advantages_the_largest_edge_is_first() -> None:
    bare = [Row("other", k, decisions=1, edge=9.0) for k in range(TASKS)]
    places = standings({"one": rows_of("one"), "other": bare})
    assert [one.agent for one in places] == ["other", "one"]
    assert "regret" not in places[0].measures
    page = markdown(Leaderboard(("one", "other"), "nain_jaune", count=TASKS), places, "chips")
    assert "| `other` | 0.00 | +9.00 ± 0.00 | — | — |" in page
    assert "`other` has a regret at 0 tasks" in page
    assert ROUGH in page
    assert page.startswith("# Leaderboard\n\nnain_jaune: 32 tasks of the split test, in chips a round.")
    assert places[0].to_dict()["edge"]["round"] == {"mean": 9.0, "ci95": 0.0}


def test_no_name_breaks_a_page() -> None:
    names = ("chat:a|b", "chat:`c`<script>[x](y)", "other")
    rows = {name: [Row(name, k, decisions=1, edge=float(k)) for k in range(2)] for name in names}
    page = markdown(Leaderboard(names, "nain_jaune", count=2), standings(rows), "chips")
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert [line.replace(r"\|", "").count("|") for line in table] == [12] * 5
    assert r"| `chat:a\|b` |" in page
    assert "| `` chat:`c`<script>[x](y) `` |" in page
    assert "Differences are from `chat:a|b`, at" in page
