"""The roofline of PPO's loop: that it is printed, and that the bare passes are of every decision."""

from __future__ import annotations

import pytest
import torch

from .commands import command, module

SMALL = ["--hidden", "16", "--iterations", "1", "--repeats", "1", "--set", "tables=32"]


@pytest.mark.slow
def test_each_part_is_timed_and_the_share_is_theirs() -> None:
    done = command("roofline", "--bf16", "--epochs", "2", "--clock", "cpu", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "bfloat16, 2 epochs, minibatches of 1024, 32 tables" in done.stdout
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [row[0].strip() for row in rows[1:]] == [
        "forward", "forward and back, 2×", "both: the roofline", "the loop", "loop over roofline"
    ]  # fmt: skip
    assert all(float(cell.strip(" k%")) >= 0 for row in rows[1:] for cell in row[1:])
    assert "bare passes are those of one network" in command("roofline", *SMALL, "--set", "recurrent=4").stderr


@pytest.mark.parametrize("rounded", [False, True])
def test_batches_hold_every_decision(rounded: bool) -> None:
    playing = [5000, 2048, 1500, 40, 3]
    sizes = list(module("roofline").batches_of(playing, rounded=rounded))
    assert max(sizes) <= 2048
    assert (sum(sizes) == sum(playing)) == (not rounded)
    assert sum(playing) <= sum(sizes) < 1.4 * sum(playing)
    assert len(sizes) == 7


def test_passes_give_every_layer_its_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = [(torch.randn(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)),
              (torch.randn(2, 4, requires_grad=True), torch.zeros(2, requires_grad=True))]  # fmt: skip
    seen: list[tuple[int, int]] = []
    grad = torch.autograd.grad
    monkeypatch.setattr(
        torch.autograd, "grad", lambda sums, leaves, ones: seen.append((len(sums), len(leaves))) or grad(sums, leaves, ones)
    )
    module("roofline").forward_and_back(layers, torch.ones((10, 3), dtype=torch.uint8), 4, 2)
    assert seen == [(rows, 4) for rows in (4, 4, 2, 4, 4, 2)]
