"""The benchmark of first uses: its programs run, and it says what it measured. How long they take is no test."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.commands import command, module


@pytest.mark.parametrize("case", module("cold_start").CASES)
def test_the_programs_run(case: str) -> None:
    exec(compile(module("cold_start").CASES[case], case, "exec"), {})


def test_a_line_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module("cold_start"), "CASES", {"batch": "pass", "make": "sum(range(10))"})
    lines = command("cold_start").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["batch", "make"]
    assert all(re.search(r" \d+\.\d s with an empty cache, +\d+\.\d s with a filled one$", line) for line in lines)
    assert command("cold_start", "--only", "make").stdout.startswith("make ")
