"""The command line, end to end: what it prints and leaves, and that every error is a sentence."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from nainjaune_agents.cli.main import COMMANDS, main
from nainjaune_agents.heuristics import heuristics
from nainjaune_agents.nets.checkpoint import FILE_NAME, load_checkpoint, save_checkpoint
from nainjaune_agents.report.format_ci import mean_ci
from nainjaune_agents.trainers import get_trainer
from nainjaune_agents.zoo import player_registry
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.records.record import read_records
from nainjaune_env.registry import make_setup
from tests.agents.cli.command import status_of
from tests.agents.nets.test_checkpoint import make
from tests.support.positions import small

ROOT = Path(__file__).parents[3]
TINY = ["--set=tables=32", "--set=arch.hidden=[8]", "--set=critic_hidden=[8]", "--set=eval_every=0", "--set=threads=1"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has an empty folder to itself."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nainjaune(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit status, what was printed, and what went to stderr, without the progress bar."""
    status = status_of(words)
    out, err = capfd.readouterr()
    return status, out, re.sub(r"[^\n]*\r", "", err).strip()


# ---------------------------------------------------------------- help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command: object, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main([command.NAME, "--help"])  # type: ignore[attr-defined]
    out = capfd.readouterr().out
    assert stopped.value.code == 0
    assert f"usage: nainjaune {command.NAME}" in out  # type: ignore[attr-defined]
    assert command.__doc__ is not None
    assert " ".join(command.__doc__.split("\n\n")[0].split()) in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_help_names_the_commands(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capfd.readouterr().out
    for command in COMMANDS:
        assert command.NAME in out
        assert command.HELP in out


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capfd.readouterr().out.strip() == version("nainjaune-env")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", r"nainjaune: The following arguments are required: COMMAND\. See nainjaune --help\."),
        ("fly", r"nainjaune: Argument COMMAND: invalid choice: 'fly' .*\. See nainjaune --help\."),
        ("evaluate --deals many", r"nainjaune evaluate: Argument --deals: .*, not 'many'\. See nainjaune evaluate --help\."),
        ("train a b", r"nainjaune train: Unrecognized arguments: b\. See nainjaune train --help\."),
        (
            "record show",
            r"nainjaune record show: The following arguments are required: FILE\. See nainjaune record show .*\.",
        ),
        ("record show NOFILE", r"nainjaune record show: No such file or directory: 'NOFILE'\."),
        ("record verify NOFILE", r"nainjaune record verify: No such file or directory: 'NOFILE'\."),
        ("train no\x1b[31m.yaml --out a", r"nainjaune train: There is no configuration at 'no\\x1b\[31m\.yaml'\."),
        ("train --out a\x1b b\x1b c", r"nainjaune train: Unrecognized arguments: c\. See nainjaune train --help\."),
    ],
)
def test_every_error_is_the_program_and_a_sentence(words: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = nainjaune(capfd, *words.split())
    assert (status, out) == (2, "")
    assert re.fullmatch(says, err)


# ---------------------------------------------------------------- evaluate


def test_list(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = nainjaune(capfd, "evaluate", "--list")
    assert status == 0
    names = [line.split()[0] for line in out.splitlines()[1:]]
    players = [player.name for player in player_registry().players() if player.card.game == DEFAULT_GAME]
    assert names == [*heuristics(DEFAULT_GAME), *players]
    assert out == nainjaune(capfd, "agents", "--game", DEFAULT_GAME)[1]


@pytest.mark.slow
def test_evaluate_end_to_end(elsewhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save_checkpoint(elsewhere / "runs" / "a" / FILE_NAME, make(small()))
    words = ["evaluate", "--agents", "random", "lowest", "runs/a", "--preset", "classic", "--players", "3", "--deals", "40"]
    status, out, err = nainjaune(capfd, *words, "--seed", "5", "--set", "max_rounds=2", "--out", "results/x")
    assert (status, err) == (0, "")
    assert "classic, 3 players, 40 deals, seed 5" in out
    assert [line.split()[0] for line in out.splitlines() if " ± " in line] == ["random", "lowest", "a"] * 2  # edges, and ratings
    assert out.rstrip().endswith("Report: results/x/results.html")
    assert sorted(os.listdir("results/x")) == ["results.csv", "results.html", "results.json", "results.png", "results.txt"]
    held = json.loads(Path("results/x/results.json").read_text(encoding="utf-8"))
    assert (held["agents"], held["deals"], held["seed"]) == (["random", "lowest", "runs/a"], 40, 5)
    assert held["rules"]["max_rounds"] == 2
    assert [edge["blocks"] for edge in held["edges"]] == [40] * 6
    assert {entry["measure"] for entry in held["edges"][0]["measures"]} > {"payoff", "captures_dealt"}
    shown = mean_ci(held["edges"][0]["mean"], held["edges"][0]["ci95"])
    assert shown in out
    assert [row["agent"] for row in held["ratings"]["agents"]] == held["agents"]
    assert nainjaune(capfd, *words, "--seed", "5", "--set", "max_rounds=2", "--no-ratings", "--out", "results/y")[0] == 0
    plain = json.loads(Path("results/y/results.json").read_text(encoding="utf-8"))
    assert "ratings" not in plain
    assert [edge["mean"] for edge in plain["edges"]] == [edge["mean"] for edge in held["edges"]]

    before = Path("results/x/results.json").read_bytes()
    status, out, err = nainjaune(capfd, *words, "--seed", "6", "--out", "results/x")
    assert (status, out) == (2, "")
    said = "'results/x' already holds results, and is not overwritten: choose another --out."
    assert err.splitlines()[-1] == f"nainjaune evaluate: {said}"
    assert Path("results/x/results.json").read_bytes() == before


def test_runs_are_rated_under_their_own_rules(elsewhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    own = small()
    save_checkpoint(elsewhere / "runs" / "a" / FILE_NAME, make(own))
    status, out, err = nainjaune(capfd, "evaluate", "--agents", "lowest", "runs/a", "--deals", "5", "--out", "own")
    assert (status, err) == (0, "")
    assert f"preset {own.preset}, {own.players} players" in out
    held = json.loads(Path("own/results.json").read_text(encoding="utf-8"))
    assert (held["rules"], held["players"]) == (own.rules.to_dict(), own.players)
    options = ["--preset", "tableau", "--players", str(own.players)]
    status, out, err = nainjaune(capfd, "evaluate", "--agents", "lowest", "runs/a", "--deals", "5", *options)
    assert (status, out) == (2, "")
    assert re.search(r"'runs/a' was trained under .*payment=points.*, and this table has .*payment=cards", err)
    status, out, err = nainjaune(capfd, "evaluate", "--agents", "lowest", "runs/a@transfer", "--deals", "5", *options)
    assert (status, "preset tableau" in out, err) == (0, True, "")
    for_all_tables = str(player_registry().find("zoo:strong", make_setup(preset="djeco", players=2)).path)
    status, _, err = nainjaune(capfd, "evaluate", "--agents", "lowest", for_all_tables, "--deals", "5", *options)
    assert (status, err) == (0, "")  # it was trained under these rules too


def test_evaluate_says_the_same_for_the_same_seed(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["evaluate", "--agents", "random", "longest", "--deals", "30"]
    one, two, other = (nainjaune(capfd, *words, "--seed", seed)[1] for seed in ("1", "1", "2"))
    assert one == two
    assert one.splitlines()[3:] != other.splitlines()[3:]


def test_records_of_an_evaluation_verify(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--preset=classic", "--players=3", "--set=max_rounds=2", "--deals=2", "--seed=4", "--matches=5"]
    status, out, _ = nainjaune(capfd, "evaluate", "--agents", "lowest", "random", *words, "--records=deep/m.jsonl")
    assert status == 0
    assert out.startswith("Records of 5 matches: deep/m.jsonl\n")
    records = list(read_records("deep/m.jsonl"))
    assert [record["agents"] for record in records[:2]] == [["lowest", "random", "lowest"], ["random", "lowest", "random"]]
    status, out, _ = nainjaune(capfd, "record", "verify", "deep/m.jsonl")
    assert (status, out) == (0, "deep/m.jsonl: 5 matches, 10 rounds, all verified\n")
    status, _, err = nainjaune(capfd, "evaluate", "--agents", "lowest", "random", *words, "--records=deep/m.jsonl")
    assert status == 2
    assert "'deep/m.jsonl' exists, and is not overwritten" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", r"Expected agents to rate, as in --agents lowest runs/first"),
        ("--agents lowest", r"takes two or more agents"),
        ("--agents lowest --out new/out --records new/records.jsonl", r"takes two or more agents"),
        ("--agents lowest lowest", r"agents of different names, not \['lowest', 'lowest'\]"),
        ("--agents lowest lowset", r"Unknown agent 'lowset'\. Did you mean 'lowest'\?"),
        ("--agents lowest runs/none", r"There is no run or checkpoint at 'runs/none'"),
        ("--agents lowest random --preset clasic", r"Unknown preset 'clasic'\. Did you mean 'classic'\?"),
        ("--agents lowest random --game nain", r"Unknown game 'nain'\."),
        ("--list --game nain", r"Unknown game 'nain'\."),
        ("--agents lowest random --players 9", r"for 2 to 4 players, not 9"),
        ("--agents lowest random --set stak=2", r"Unknown knob 'stak'\. Did you mean 'stake'\?"),
        ("--agents lowest random --set preset=skip", r"Unknown knob 'preset'"),
        ("--agents lowest random --set stake=x", r"The knob 'stake' is a whole number from 1"),
        ("--agents lowest random --set stake", r"A setting is key=value, not 'stake'"),
        ("--agents lowest random --deals 1", r"Argument --deals: expected a whole number from 2 to 1000000000, not '1'\."),
        (
            "--agents lowest random --seed -1",
            r"Argument --seed: expected a whole number from 0 to \d{20}, not '-1'\.",
        ),
        ("--agents lowest random --pots 1 2", r"start\['pots'\] has shape \(5,\)"),
        ("--agents lowest random --pots 1 2 3 4 -5", r"Argument --pots: expected a whole number from 0 to 1000000000, not '-5'"),
        (
            "--agents lowest random --records m.jsonl --matches 0",
            r"Argument --matches: expected a whole number from 1 to 1000000000, not '0'",
        ),
        ("--agents lowest random --preset classic --set max_rounds=null --records m.jsonl", r"has no end"),
        ("--agents lowest random --deals 2 --out file", r"File exists|Not a directory"),
        ("--agents lowest random --deals 2 --out file/deep", r"File exists|Not a directory"),
        ("--agents lowest random --deals 2 --records file/m.jsonl", r"File exists|Not a directory"),
    ],
)
def test_evaluates_errors_are_a_sentence(words: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("", encoding="utf-8")
    status, out, err = nainjaune(capfd, "evaluate", *words.split())
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"nainjaune evaluate: [^\n]*(?:{says})[^\n]*", err)
    assert os.listdir() == ["file"]


# ---------------------------------------------------------------- train


@pytest.mark.slow
def test_train_end_to_end(capfd: pytest.CaptureFixture[str]) -> None:
    Path("c.yaml").write_text("preset: classic\nplayers: 3\n", encoding="utf-8")
    status, out, _ = nainjaune(capfd, "train", "c.yaml", "--out", "runs/a", *TINY, "--set=iterations=2", "--set=rules.stake=2")
    assert (status, out) == (0, "Trained: runs/a. Rate it with: nainjaune evaluate --agents random runs/a --out results\n")
    names = os.listdir("runs/a")
    assert {"config.yaml", "run.json", FILE_NAME} <= set(names)
    assert [name for name in names if name.startswith("events.out.tfevents.")]
    checkpoint = load_checkpoint(Path("runs/a"))
    assert (checkpoint.iteration, checkpoint.preset, checkpoint.players, checkpoint.rules["stake"]) == (2, "classic", 3, 2)

    status, out, err = nainjaune(capfd, "train", "c.yaml", "--out", "runs/a", *TINY)
    assert (status, out) == (2, "")
    assert err.startswith("nainjaune train: 'runs/a' already exists, and is not overwritten")

    assert nainjaune(capfd, "train", "--out", "runs/a", "--resume")[0] == 0
    status, _, err = nainjaune(capfd, "train", "--out", "runs/a", "--resume", "--set=tables=3")
    assert status == 2
    assert "this differs (tables: 32 then, 3 now)" in err

    words = ["--agents", "random", "runs/a", "ppo:runs/a@sample", "--preset=classic", "--players=3", "--set=stake=2", "--deals=5"]
    status, out, _ = nainjaune(capfd, "evaluate", *words)
    assert status == 0
    assert "a@sample" in out


def test_keys_lists_the_configuration(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = nainjaune(capfd, "train", "--keys")
    assert status == 0
    head, *rows = out.splitlines()
    assert head.startswith("Keys of algorithm 'ppo'")
    keys = [row.split()[0] for row in rows]
    assert keys == [field.name for field in dataclasses.fields(get_trainer("ppo").Config)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", r"Training takes --out, the folder for the run"),
        ("c.yaml", r"Training takes --out, the folder for the run"),
        ("none.yaml --out a", r"There is no configuration at 'none\.yaml'\."),
        ("c.yaml --out a --set iteratons=2", r"Unknown configuration key 'iteratons'\. Did you mean 'iterations'\?"),
        ("c.yaml --out a --set iterations=many", r"'iterations' takes int, not 'many'"),
        ("c.yaml --out a --set algorithm=pop", r"Unknown algorithm 'pop'\. Did you mean 'ppo'\?"),
        ("c.yaml --out a --set preset=clasic", r"Unknown preset 'clasic'"),
        ("c.yaml --out a --set rules.stak=2", r"Unknown knob 'stak'"),
        ("c.yaml --out a --set eval_against=lowset", r"Unknown agent 'lowset'"),
        ("c.yaml --out a --resume", r"There is no run to resume at 'a'"),
        ("--out a --resume", r"There is no configuration at 'a/config\.yaml'"),
        ("c.yaml --out a --set rules.stake=[1,2]", r"The knob 'stake' is a whole number"),
        ("c.yaml --out c.yaml", r"'c\.yaml' already exists"),
        ("c.yaml --out c.yaml/a", r"Not a directory|File exists"),
    ],
)
def test_trainings_errors_are_a_sentence_and_leave_nothing(words: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    """So that the same command, put right, can be given again."""
    Path("c.yaml").write_text("players: 3\n", encoding="utf-8")
    status, out, err = nainjaune(capfd, "train", *words.split())
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"nainjaune train: [^\n]*(?:{says})[^\n]*", err)
    assert os.listdir() == ["c.yaml"]


def test_a_start_from_a_run_that_there_is_not_can_be_corrected(capfd: pytest.CaptureFixture[str]) -> None:
    Path("c.yaml").write_text("players: 3\n", encoding="utf-8")
    status, out, err = nainjaune(capfd, "train", "c.yaml", "--out", "a", *TINY, "--set=init=nope")
    assert (status, out) == (2, "")
    assert err.endswith("nainjaune train: There is no checkpoint at 'nope'.")
    assert os.listdir() == ["c.yaml"]


def test_ctrl_c_is_no_traceback(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nainjaune_agents.arena.tournament.play_tournament", stop)
    status, _, err = nainjaune(capfd, "evaluate", "--agents", "lowest", "random", "--deals", "5")
    assert (status, err) == (130, "nainjaune evaluate: Stopped.")


# ---------------------------------------------------------------- the scripts


def test_train_py_and_evaluate_py_are_the_same_commands() -> None:
    """The tests of resumed runs train by ``train.py``, and the next one lists by ``evaluate.py``."""

    def script(name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, ROOT / name, *words], check=False, capture_output=True, text=True)

    done = script("train.py", "c.yaml", "--out", "a", *TINY)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nainjaune train: There is no configuration at 'c.yaml'")
    done = script("evaluate.py", "--agents", "lowset", "a")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nainjaune evaluate: Unknown agent 'lowset'. Did you mean 'lowest'?")


def test_a_reader_that_goes_away_is_no_error() -> None:
    """As in `nainjaune evaluate --list | head -0`."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, ROOT / "evaluate.py", "--list"]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, check=False, stdout=write, stderr=subprocess.PIPE, text=True, env=buffered)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_help_is_quick() -> None:
    """No torch, no compiler, no plots before they are needed."""
    code = "import sys; from nainjaune_agents.cli.main import main\ntry: main(['train', '--help'])\nexcept SystemExit: pass\n"
    code += "print(*({'torch', 'matplotlib', 'numba', 'tensorboard'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == ""
