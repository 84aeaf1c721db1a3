"""Predicted hands: what is learned from, and that cards that are observed are predicted."""

from __future__ import annotations

import argparse

import numpy as np
import torch

from tests.benchmarks.commands import command, module

hidden_hands = module("hidden_hands")


def test_counts_are_those_of_the_sets() -> None:
    cards = np.array([[1 | 1 << 13 | 1 << 12, 0], [1 << 51, (1 << 52) - 1]])
    counts = hidden_hands.counts_of(cards)
    assert counts.shape == (2, 2, 13)
    assert (counts[0, 0, 0], counts[0, 0, 12], counts[0, 0].sum()) == (2, 1, 3)
    assert (counts[1, 0, 12], counts[1, 0].sum(), counts[1, 1].min()) == (1, 1, 4)


def test_decisions_have_what_each_other_seat_has_played_and_holds() -> None:
    args = argparse.Namespace(agent="closer", preset="djeco", players=3)
    seen, played, hands = hidden_hands.decisions_of(args, 200, seed=1)
    assert played.shape == hands.shape == (len(seen), 2, 13)
    assert {int(total) for total in (played + hands).sum((1, 2))} == {2 * 15}
    assert played.sum() > 0


def test_a_network_learns_what_its_inputs_say() -> None:
    hands = torch.nn.functional.one_hot(torch.arange(13).repeat(400), 13).to(torch.uint8)[:, None]
    inputs, blank = hands[:, 0], torch.zeros(5200, 13, dtype=torch.uint8)
    loss, blank_loss = (hidden_hands.learned(each, hands, (each, hands), 1, epochs=15) for each in (inputs, blank))
    assert loss < 1.5 < 2.4 < blank_loss < 2.7


def test_it_prints_both_losses() -> None:
    out = command("hidden_hands", "--agent", "closer", "--rounds", "600", "--epochs", "1", "--seeds", "4").stdout
    assert out.startswith("seed 4: ")
    assert "nats a card without" in out
