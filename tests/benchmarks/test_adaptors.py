"""The benchmark of the adaptors tells what it timed, in ratios within repeats. How fast they are is no test."""

from __future__ import annotations

from tests.benchmarks.commands import module

adaptors = module("adaptors")


def test_every_case_has_a_runner() -> None:
    runs = module("adaptor_runs")
    assert {case["name"] for case in adaptors.cases()} == {*runs.MAKERS, "leduc"}
    more = [case for case in adaptors.cases(pufferlib=True) if case not in adaptors.cases()]
    assert [(case["library"], case["tables"], case["opponents"]) for case in more] == [
        ("pufferlib_runs", 64, "tally"), ("pufferlib_runs", 1024, "tally"),
    ]  # fmt: skip
    case = next(case for case in adaptors.cases() if case["name"] == "`gymnasium.make`")
    assert runs.make(case)() == module("peers").STEPS
