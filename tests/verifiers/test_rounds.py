"""Rounds through verifiers' own command, client and records, with a model behind a real endpoint in another process."""

from __future__ import annotations

import collections
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.language.regret import is_solved
from nainjaune_agents.language.round import MODEL
from nainjaune_agents.language.settings import TextEnvSettings
from nainjaune_agents.language.tasks import TextTask
from nainjaune_agents.measure.stats.intervals import Z_95
from nainjaune_env.records.record import parse_record, verify_record
from nainjaune_env.records.recorder import record_of_episode
from tests.agents.language.players import played_by
from tests.verifiers.conftest import QUICK, ROUNDS, VF_EVAL, Evaluation, Evaluator, environment

QUICK_REGRET = ("--env.taskset.task.choosing", "40", "--env.taskset.task.measuring", "60", "--env.taskset.task.seed", "7")


def task_of(trace: dict[str, Any]) -> TextTask:
    return TextTask.from_dict(trace["task"]["data"]["round"])


def played_by_closer(task: TextTask) -> dict[str, Any]:
    """The record of a task with ``closer`` in all seats, which never reads a word."""
    batch = played_by("closer", task, TextEnvSettings())
    return record_of_episode(batch, 0, agents=["closer"] * task.players, seed=task.seed)


def test_a_thousand_decisions_of_closer_are_its_own(of_closer: Evaluation) -> None:
    assert len(of_closer.traces) == ROUNDS
    assert sum(trace["metrics"]["decisions"] for trace in of_closer.traces) > 1000
    for trace in of_closer.traces:
        record, task = parse_record(trace["info"]["record"]), task_of(trace)
        verify_record(record)
        assert record["agents"][task.seat] == MODEL
        assert {**record, "agents": None} == {**played_by_closer(task), "agents": None}
        assert trace["metrics"]["edge"] == 0
        assert trace["metrics"]["calls"] == trace["metrics"]["decisions"] == len(trace["calls"])
        assert trace["metrics"]["refused"] == trace["metrics"]["forfeits"] == 0


def test_a_round_is_one_conversation(of_closer: Evaluation) -> None:
    trace = max(of_closer.traces, key=lambda trace: len(trace["nodes"]))
    assert [node["parent"] for node in trace["nodes"][1:]] == [*range(len(trace["nodes"]) - 1)]
    roles = [node["message"]["role"] for node in trace["nodes"]]
    assert roles == ["system", *["user", "assistant"] * int(trace["metrics"]["calls"])]


def test_names_and_answers_of_others_are_in_no_question(of_closer: Evaluation) -> None:
    """The model sees what the text seat says, and nothing of the trace, the seed, or who plays the other seats."""
    for trace in of_closer.traces[:50]:
        said = " ".join(node["message"]["content"] for node in trace["nodes"] if not node["sampled"])
        assert "closer" not in said
        assert str(task_of(trace).seed) not in said


def test_regret_is_that_of_analyse(evaluate: Evaluator, tmp_path: Path) -> None:
    options = ("--env.taskset.split", "test", "--env.taskset.task.reward", "regret", *QUICK_REGRET)
    evaluation = evaluate(tmp_path, "lowest", 12, *options)
    assert evaluation.done.returncode == 0, evaluation.done.stderr
    regrets = []
    for number, trace in enumerate(evaluation.traces):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(trace["info"]["record"] + "\n", encoding="utf-8")
        command = [VF_EVAL.with_name("nainjaune"), "analyse", file, "--player", MODEL, "--choosing", "40", "--measuring", "60"]
        done = subprocess.run([*command, "--seed", "7", "--json"], check=True, capture_output=True, text=True)
        total = json.loads(done.stdout)["players"][MODEL]
        regrets.append(trace["rewards"]["regret"]["score"])
        assert regrets[-1] == pytest.approx(-total["regret"], abs=1e-4)
        assert Z_95 * trace["metrics"]["regret_error"] == pytest.approx(total["ci95"], abs=1e-4)
    assert min(regrets) < -1


def test_where_a_game_is_solved_regret_is_exact(evaluate: Evaluator, tmp_path: Path) -> None:
    game = ("--env.taskset.game", "batasaurus", "--env.taskset.knobs", '{"memory": "perfect"}')
    evaluation = evaluate(tmp_path, "mirror", 6, *game, *QUICK_REGRET)
    assert evaluation.done.returncode == 0, evaluation.done.stderr
    solved = [trace["metrics"] for trace in evaluation.traces if is_solved(task_of(trace).setup())]
    assert solved
    assert all(metrics["regret"] <= 0 == metrics["regret_error"] for metrics in solved)


def test_a_reward_has_the_weight_of_the_configuration(evaluate: Evaluator, tmp_path: Path) -> None:
    toml = tmp_path / "weights.toml"
    toml.write_text('[env.taskset.task]\nreward = "chips"\n[env.taskset.task.rewards.worth]\nweight = 0.1\n')
    command = [*evaluate.command(tmp_path, "closer", 3), "@", str(toml)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    for trace in Evaluation(tmp_path, done).traces:
        assert trace["rewards"]["chips"] == {"score": trace["metrics"]["chips"], "weight": 0.1}


def test_answers_of_any_kind_are_forfeited_by_the_rule_and_the_run_goes_on(evaluate: Evaluator, tmp_path: Path) -> None:
    evaluation = evaluate(tmp_path, "babble", 150, *QUICK)
    assert evaluation.done.returncode == 0, evaluation.done.stderr
    totals = collections.Counter[str]()
    for trace in evaluation.traces:
        assert trace["ok"], trace["errors"]
        verify_record(parse_record(trace["info"]["record"]))
        metrics = trace["metrics"]
        totals.update({name: int(metrics[name]) for name in ("decisions", "calls", "refused", "forfeits")})
        assert metrics["calls"] == len(trace["calls"])
        assert metrics["calls"] == metrics["decisions"] - metrics["forfeits"] + metrics["refused"]
    assert len(evaluation.traces) == 150
    assert totals["calls"] > 1000
    assert totals["refused"] > totals["forfeits"] > 10


def test_an_endless_answer_ends_at_the_time_limit_and_forfeits(evaluate: Evaluator, tmp_path: Path) -> None:
    evaluation = evaluate(tmp_path, "drips", 2, "--env.agent.timeout.rollout", "1", *QUICK)
    assert evaluation.done.returncode == 0, evaluation.done.stderr
    for trace in evaluation.traces:
        assert (trace["ok"], trace["is_timeout"]) == (True, True)
        assert trace["metrics"]["forfeits"] == trace["metrics"]["decisions"] > 0
        verify_record(parse_record(trace["info"]["record"]))


def test_a_limit_of_turns_forfeits_the_moves_that_are_left(evaluate: Evaluator, tmp_path: Path) -> None:
    evaluation = evaluate(tmp_path, "closer", 6, "--env.agent.max-turns", "2", *QUICK)
    assert evaluation.done.returncode == 0, evaluation.done.stderr
    for trace in evaluation.traces:
        metrics = trace["metrics"]
        assert metrics["forfeits"] == max(metrics["decisions"] - 2, 0)
    assert any(trace["metrics"]["forfeits"] for trace in evaluation.traces)


def test_a_busy_endpoint_is_asked_again_and_one_that_fails_leaves_no_reward(evaluate: Evaluator, tmp_path: Path) -> None:
    for model, is_ok in (("busy", True), ("down", False)):
        folder = tmp_path / model
        folder.mkdir()
        evaluation = evaluate(folder, model, 1, *QUICK)
        assert evaluation.done.returncode == 0, evaluation.done.stderr
        (trace,) = evaluation.traces
        assert (trace["ok"], "record" in trace["info"], bool(trace["rewards"])) == (is_ok, is_ok, is_ok)


def test_a_killed_run_resumes_and_pays_no_finished_round_again(evaluate: Evaluator, tmp_path: Path) -> None:
    """verifiers resumes by rounds: one that was under way is played from its deal again."""
    evaluate.local.asked()
    command = evaluate.command(tmp_path, "lowest-slow", 12, "--max-concurrent", "2", *QUICK)
    file = tmp_path / "run" / "traces.jsonl"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path, env=environment())
    deadline = time.monotonic() + 120
    while (not file.exists() or file.read_bytes().count(b"\n") < 3) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = [json.loads(line) for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    assert 3 <= len(kept) < 12
    before = evaluate.local.asked()
    resume = [str(VF_EVAL), "@", str(tmp_path / "run" / "configs" / "resolved" / "eval.json"), "--resume"]
    done = subprocess.run(resume, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    episodes = Evaluation(tmp_path, done).episodes
    assert len(episodes) == 12
    assert all(episode["ok"] for episode in episodes)
    assert {episode["id"] for episode in kept} <= {episode["id"] for episode in episodes}
    finished = sum(len(trace["calls"]) for episode in kept for trace in episode["traces"])
    calls = sum(len(trace["calls"]) for episode in episodes for trace in episode["traces"])
    after = evaluate.local.asked()
    assert len(after) == calls - finished
    assert finished <= len(before)


def test_saved_rounds_are_valued_again_by_another_reward_without_a_call(evaluate: Evaluator, of_closer: Evaluation) -> None:
    evaluate.local.asked()
    out = of_closer.folder / "again"
    command = [VF_EVAL.with_name("vf-replay"), of_closer.folder / "run", "--output-dir", out, "--num-traces", "20", "--no-rich"]
    options = [
        "--taskset.id",
        "nainjaune",
        "--taskset.task.reward",
        "regret",
        *(option.replace("env.", "") for option in QUICK_REGRET),
    ]
    done = subprocess.run([*command, *options], check=False, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    traces = [trace for line in (out / "traces.jsonl").read_text().splitlines() for trace in json.loads(line)["traces"]]
    assert len(traces) == 20
    assert all("regret" in trace["rewards"] and trace["metrics"]["edge"] == 0 for trace in traces)
    assert evaluate.local.asked() == []
