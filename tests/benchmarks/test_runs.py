"""The small benchmarks run and say what they were asked for. How fast they find us is no test."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.stats.intervals import Moments
from nainjaune_agents.players.heuristics import yardstick
from nainjaune_agents.study.advice import loaded
from nainjaune_agents.tables.server import advising
from nainjaune_env.compiler.cache import cache_root
from tests.support.script import run_main

from .commands import command, module

SECONDS = r" (\d+\.\d\d, ){2}\d+\.\d\d \((\d+\.\d\d, ){2}\d+\.\d\d\) "
REVIEWED = r" \d+\.\d \(\d+ decisions\) "


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without processes of their own, whose code would have to be compiled or loaded anew, and without strong models."""

    def in_this_process(words: list[Any], **_: object) -> None:
        done = run_main(main, *words[3:])
        assert done.returncode == 0, done.stderr

    cache = SimpleNamespace(TemporaryDirectory=lambda: contextlib.nullcontext(str(cache_root())))
    monkeypatch.setattr(module("throughput"), "tempfile", cache)
    monkeypatch.setattr(module("advice"), "subprocess", SimpleNamespace(run=in_this_process))
    monkeypatch.setattr(module("serve"), "THINKS", (0.0, 0.01))
    monkeypatch.setattr(loaded, "usual_model", lambda setup: yardstick(setup.game.name))
    monkeypatch.setattr(advising, "ERROR", advising.ERROR)  # which a command sets


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        (
            "advice --models tally lowest --preset classic --positions 2 --error 20",
            [
                r"Nain Jaune, classic, 4 seats, ± 20;.*",
                r"\|.*`tally` \| `lowest` \|",
                *[rf"\|[^|]*\|{SECONDS}\|{SECONDS}\|"] * 6,
                rf"\| a match reviewed, loading included \|{REVIEWED}\|{REVIEWED}\|",
            ],
        ),
        (
            "interval_coverage --preset djeco --players 2 --population 60 --samples 5 --sizes 20 50",
            [
                r"\| \| pots \| hero, field \| skewness \| deals \| nominal \| Student's t \|.* rough \| of the others \|",
                *(rf"\|.*\|.*\|.*\|.*\| {size} \| (–|[\d.]+ %) \|.*\| (100\.0 %|–) \| .* \|" for size in (20, 50)),
            ],
        ),
        (
            "sequential_errors --preset djeco --start fresh pots=20 --agents closer tally --population 300 --tests 4 --cap 1024 "
            "--distances 0.01 3",
            [
                r"\| \| start \| A, B \| .* 0.01 apart: at LOW, at HIGH \| undecided \| deals \| 3 apart: .*\|",
                *(rf"\| `djeco` \| {start} \| .* 0.0, 0.0 % \| 100 % \| 1,024 \| .* \|" for start in ("fresh", "pots=20")),
                r"Largest shares: of any-time intervals \d+\.\d % \(.*\) miss, of tests \d+\.\d % \(.*\) err\.",
            ],
        ),
        ("learner_share --light", [rf"opponents {name} +(?!0\.0%)\d\d?\.\d% of the time .*" for name in ("tally", "self")]),
        pytest.param(
            "driver_memory --deals 4000 9000",
            [r"\| 4,000 \| 6 \| \d{2,3}(\.\d+)? .*", r"\| 9,000 \| 12 \| \d{2,3}(\.\d+)? .*"],
            marks=pytest.mark.long,
        ),
        (
            "search_speed --field tally --endings search=8 search=8 adaptive=8 --preset classic --players 3 --deals 6 --seed 2",
            [
                r"Nain Jaune, classic, 3 seats, 6 deals of seed 2",
                r"\| `tally@search=8` \|(?P<figures>[^|]*)\|.*",
                r"\| `tally@search=8` \|(?P=figures)\| +\+0\.000 ± 0\.000 \|.*",
                r"\| `tally@adaptive=8` \|[^|]*\|[^|]*\|[^|]*\| *\d+\.\d\d *\|.*",
            ],
        ),
        (
            "serve_advice --players 3 --positions 2 --error 5",
            [
                r"Nain Jaune, djeco, 3 seats, closer, .*",
                r"2 positions with .*",
                *(rf"\| {name} (\| \d+\.\d\d \(\d+\.\d\d\) ){{3}}\|" for name in ("first numbers", "± 5")),
            ],
        ),
        pytest.param(
            "serve --game batasaurus --players 2 --tables 2 --people 2 --pace 0.01 --seconds 2 --warm-up 0 --fuzz 60 --kills 1",
            [
                r".*action to view: [1-9]\d* actions, median \d+\.\d ms, 99 % \d+\.\d ms, most \d+\.\d ms",
                r".*memory: \d+ MB at the start, \d+ MB after a third, \d+ MB at the end",
                r".*\d+ answered, \d+ closed their connection, 0 tables changed, 0 made",
                r".*kills during play: 1, [1-9]\d* plies in the file, nothing lost",
            ],
            marks=pytest.mark.long,
        ),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)  # fmt: skip
def test_it_prints_these_lines_in_order(line: str, lines: list[str]) -> None:
    done = command(*line.split())
    assert done.returncode == 0, done.stderr
    assert re.search("^" + r"$(?s:.*)^".join(lines) + "$", done.stdout, re.MULTILINE), done.stdout
    for answered, closed in re.findall(r"(\d+) answered, (\d+) closed their connection", done.stdout):
        assert int(answered) + int(closed) == 60


def test_decisions_times_every_agent_one_by_one_and_together() -> None:
    done = command("decisions", "--agents", "lowest", "lowest@search=2", "--players", "3", "--decisions", "9", "--repeats", "1")
    assert done.returncode == 0, done.stderr
    assert re.search(r"3 seats(?s:.*)\| 9 at once \|", done.stdout)
    rows = re.findall(r"^\| `lowest(?:@search=2)?` \|(.*)\|$", done.stdout, re.MULTILINE)
    assert len(rows) == 2
    for mean, median, most, together in ([float(cell) for cell in row.split("|")] for row in rows):
        assert 0 <= median <= most
        assert mean > 0
        assert together >= 0


def test_a_hero_like_the_field_has_no_edge_and_a_seed_repeats_the_figures_of_ismcts() -> None:
    line = "ismcts --preset djeco --players 2 --deals 2 --simulations 2 --agents tally random --field tally"
    first, second = command(*line.split()).stdout.splitlines()
    assert first.startswith("deal 1: ismcts(2) ")
    assert second.startswith("deal 2: ismcts(2) ")
    assert "tally +0.000 ± 0.000" in second
    assert command(*line.split()).stdout.splitlines() == [first, second]


def test_inference_gains_in_probability_of_the_true_deal(capsys: pytest.CaptureFixture[str]) -> None:
    module("inference").main(["--preset", "djeco", "--rounds", "30", "--determinizations", "10", "--seed", "3"])
    out = capsys.readouterr().out
    assert re.match(r"Nain Jaune, djeco, 4 seats, 30 rounds of seed 3: \d+ decisions searched, 10 .* of 40 candidates\n", out)
    result = {name: float(mean) for name, mean in re.findall(r"^\| (.+) \| (-?\d+\.\d+) ±", out, re.MULTILINE)}
    assert len(result) == 7
    share, tempered = result["effective sample size, share of the candidates"], result["effective sample size after tempering"]
    assert 0 < share < tempered < 1
    assert min(result["gain in log-probability of the true deal"], result["gain after tempering"]) > 1
    assert 0 < result["power of the weights"] < 1


def test_throughput_times_every_case(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    rules = ["--preset", "batasaurus", "--players", "3", "--set", "memory=perfect"]
    done = command("throughput", *rules, "--tables", "4", "--seconds", "0.001", "--repeats", "1", "--json", file)
    assert done.returncode == 0, done.stderr
    said = json.loads(file.read_text())
    assert (said["game"], said["players"], said["rules"]["memory"]) == ("batasaurus", 3, "perfect")
    assert [f["name"] for f in said["figures"]] == ["plies + observation", "plies", "decisions + observation", "decisions"]
    for figure in said["figures"]:
        assert figure["tables"] == 4
        assert 0 < figure["least"] <= figure["median"] <= figure["most"]
        assert f"| {figure['name']} " in done.stdout
    assert all(seconds for seconds in said["start"].values())


@pytest.mark.parametrize("case", module("cold_start").CASES)
def test_the_programs_of_a_cold_start_run(case: str) -> None:
    exec(compile(module("cold_start").CASES[case], case, "exec"), {})


def test_a_cold_start_is_a_line_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module("cold_start"), "CASES", {"batch": "pass", "make": "sum(range(10))"})
    line = r"{} .* \d+\.\d s with an empty cache, +\d+\.\d s with a filled one\n"
    assert re.fullmatch(line.format("batch") + line.format("make"), command("cold_start").stdout)
    assert re.fullmatch(line.format("make"), command("cold_start", "--only", "make").stdout)


def test_halls_interval_is_students_without_skewness_and_wider_with_it() -> None:
    halls, rng = module("interval_coverage").halls, np.random.default_rng(3)
    values = rng.normal(0, 1, 200)
    even = np.concatenate([values, -values])
    assert np.isclose(halls(even), Moments.of(even).half_width, rtol=1e-3)
    skewed = np.append(values, 20.0)
    assert halls(skewed) > 1.2 * Moments.of(skewed).half_width
    assert halls(np.ones(5)) == 0
