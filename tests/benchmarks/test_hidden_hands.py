"""Predicted hands: what is learned from, and that cards that are observed are predicted."""

from __future__ import annotations

import numpy as np
import torch

from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.benchmarks.commands import command, module

hidden_hands = module("hidden_hands")


def test_counts_are_those_of_the_sets() -> None:
    cards = np.array([[1 | 1 << 13 | 1 << 12, 0], [1 << 51, (1 << 52) - 1]])
    counts = hidden_hands.counts_of(cards)
    assert counts.shape == (2, 2, 13)
    assert (counts[0, 0, 0], counts[0, 0, 12], counts[0, 0].sum()) == (2, 1, 3)
    assert (counts[1, 0, 12], counts[1, 0].sum(), counts[1, 1].min()) == (1, 1, 4)


def test_decisions_have_what_each_other_seat_has_played_and_holds() -> None:
    seen = hidden_hands.decisions_of(make_setup(preset="djeco", players=3), "closer", 200, seed=1)
    assert seen.played.shape == seen.hands.shape == (len(seen.observation), 2, 13)
    assert {int(total) for total in (seen.played + seen.hands).sum((1, 2))} == {2 * 15}
    assert seen.played.sum() > 0
    assert not seen.losses.size


def test_leads_are_those_of_the_round_in_order_and_what_was_known_then() -> None:
    setup = make_setup(preset="skip", players=2)
    batch, leads = Batch(setup, 1, seed=3, autoreset=False, skip_forced=False), np.zeros((1, 2, 6, 40), np.uint8)
    made: list[list[tuple[int, int, int]]] = [[], []]
    while not batch.done[0]:
        table, action = batch.tables[0], np.flatnonzero(batch.mask[0])[-1:]
        if table.required_rank == 0:
            row = (
                "A23456789TJQK".index(setup.game.actions[action[0]][0]),
                int(table.played[:2].sum() != 0),
                int(table.cards[table.seat]),
            )
            made[int(table.seat)].append(row)
        hidden_hands.record_leads(leads, batch.tables, np.zeros(1, np.int64), action)
        batch.step(action)
    assert max(map(len, made)) > 2
    for seat in range(2):
        latest = [lead for lead in leads[0, seat] if lead[-1]]
        assert [(int(lead[:13].argmax()), int(lead[13:26].any()), int(lead[-1])) for lead in latest] == made[seat][-6:]


def test_policy_inference_predicts_better_than_samples_all_alike() -> None:
    seen = hidden_hands.decisions_of(make_setup(preset="skip", players=2), "zoo:strong", 300, seed=1, samples=200)
    alike, by_policy = seen.losses
    assert 1.5 < by_policy < alike - 0.005 < 3


def test_a_network_learns_what_its_inputs_say() -> None:
    hands = torch.nn.functional.one_hot(torch.arange(13).repeat(400), 13).to(torch.uint8)[:, None]
    inputs, blank = hands[:, 0], torch.zeros(5200, 13, dtype=torch.uint8)
    loss, blank_loss = (hidden_hands.learned(each, hands, (each, hands), 1, epochs=15) for each in (inputs, blank))
    assert loss < 1.5 < 2.4 < blank_loss < 2.7


def test_it_prints_a_row_for_each_way_to_predict() -> None:
    words = ("--preset", "skip", "--players", "2", "--rounds", "1500", "--tests", "40", "--epochs", "1", "--seeds", "4", "5")
    title, _, *rows = command("hidden_hands", *words).stdout.splitlines()
    assert title == "Nats a hidden card, skip, 2 seats, seeds 4, 5"
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in hidden_hands.ROWS]
    assert all(1 < float(number) < 3 for row in rows for number in row.split("|")[2:4])
    assert "needs the probabilities of actions" in command("hidden_hands", "--agent", "closer").stderr
