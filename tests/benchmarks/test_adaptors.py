"""The benchmark of the adaptors tells what it timed, in ratios within repeats. How fast they are is no test."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.commands import module

adaptors = module("adaptors")


def test_rates_stand_beside_the_batch_and_leduc() -> None:
    batch, leduc, *others = adaptors.cases()
    rates: dict[str, Any] = {"library": "adaptor_runs", "tables": 64, "opponents": "tally", "rates": [20.0, 20.0, 30.0]}
    payload = {
        "about": {**module("figures").where_and_when(), "date": "2026-11-22T12:00+00:00"},
        "seconds": 0.5,
        "repeats": 3,
        "cases": [
            {**batch, "rates": [40.0, 80.0, 40.0]},
            {**leduc, "missing": "no environment", "rates": []},
            {**rates, "name": others[0]["name"]},
        ],
    }
    lines = adaptors.report(payload).splitlines()
    assert lines[-2].endswith("not timed: no environment |  |  |")
    assert lines[-1] == "| `gymnasium.make_vec` | 64 | `tally` | 0.02 k (0.02 k – 0.03 k) | 0.5000 |  |"


def test_every_case_has_a_runner() -> None:
    runs = module("adaptor_runs")
    assert {case["name"] for case in adaptors.cases()} == {*runs.MAKERS, "leduc"}
    more = [case for case in adaptors.cases(pufferlib=True) if case not in adaptors.cases()]
    assert [(case["library"], case["tables"], case["opponents"]) for case in more] == [
        ("pufferlib_runs", 64, "tally"), ("pufferlib_runs", 1024, "tally"),
    ]  # fmt: skip
    case = next(case for case in adaptors.cases() if case["name"] == "`gymnasium.make`")
    assert runs.make(case)() == module("peers").STEPS
