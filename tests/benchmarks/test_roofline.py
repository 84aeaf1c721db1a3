"""The roofline of PPO's loop: that it is printed, that the bare passes are of every decision, and the profile by part."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from .commands import command, module

PPO = Path(__file__).resolve().parents[2] / "configs" / "nain_jaune" / "ppo.yaml"
SMALL = ["--set", "arch.hidden=[16]", "--set", "tables=32", "--set", "bf16=true", "--iterations", "1", "--repeats", "1"]


def rows_of(printed: str) -> list[list[str]]:
    """The cells of all rows of the tables but the heads, without blanks."""
    lines = [line for line in printed.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


@pytest.mark.slow
def test_each_part_is_timed_and_the_share_is_theirs() -> None:
    done = command("roofline", PPO, "--set", "epochs=2", "--clock", "cpu", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "ppo.yaml: bfloat16, muon, layers of [16], 2 epochs, minibatches of 4096, 32 tables" in done.stdout
    rows = rows_of(done.stdout)[1:]
    assert [row[0] for row in rows] == [
        "forward", "forward and back", "both: the roofline", "both by torch's autograd",
        "the loop", "the loop over roofline", "the loop over autograd",
    ]  # fmt: skip
    assert all(float(cell.strip(" k%")) >= 0 for row in rows for cell in row[1:])
    assert "bare passes are those of one network" in command("roofline", PPO, *SMALL, "--set", "arch.recurrent=4").stderr


@pytest.mark.slow
def test_with_two_threads_both_loops_are_timed_and_profiled() -> None:
    done = command("roofline", PPO, "--threads", "2", "--profile", "--set", "optimizer={name: adam}", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "bfloat16, adam, " in done.stdout
    names = [row[0] for row in rows_of(done.stdout)]
    assert {"the loop", "the loop, overlap", "the loop, overlap over roofline"} < {*names}
    profiled = rows_of(done.stdout)[names.index("ms an iteration") :]
    assert profiled[0][1:] == ["the loop", "the loop, overlap"]
    parts = {row[0]: row[1:] for row in profiled[1:]}
    assert {"collect: rules", "collect: forward", "learn: forward", "learn: loss", "learn: backward", "learn: Adam"} < {*parts}
    assert "learn: Muon" not in parts
    assert parts["waiting for rounds"][0] == ""
    assert float(parts["waiting for rounds"][1]) >= 0.0


def test_a_part_is_without_those_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds of a clock that each function moves: 3 outside and 5 within, twice."""
    roofline, now = module("roofline"), [0.0]

    class Work:
        def outer(self) -> str:
            now[0] += 1
            self.inner()
            now[0] += 2
            return "done"

        def inner(self) -> None:
            now[0] += 5

    monkeypatch.setattr(roofline, "PARTS", {"outside": [(Work, "outer")], "within": [(Work, "inner")]})
    monkeypatch.setattr(roofline.time, "perf_counter", lambda: now[0])
    before, spent = Work.inner, defaultdict[str, float](float)
    with roofline.timed(spent):
        assert [Work().outer() for _ in range(2)] == ["done", "done"]
    assert spent == {"outside": 6.0, "within": 10.0}
    assert Work.inner is before


@pytest.mark.parametrize("rounded", [False, True])
def test_batches_hold_every_decision(rounded: bool) -> None:
    playing = [5000, 2048, 1500, 40, 3]
    sizes = list(module("roofline").batches_of(playing, rounded=rounded))
    assert max(sizes) <= 2048
    assert (sum(sizes) == sum(playing)) == (not rounded)
    assert sum(playing) <= sum(sizes) < 1.4 * sum(playing)
    assert len(sizes) == 7
