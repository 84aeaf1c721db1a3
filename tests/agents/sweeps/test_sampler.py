"""Proposals of a search: a function of the trials so far, within the space, and better than even draws."""

from __future__ import annotations

import math

import pytest

from nainjaune_agents.sweeps.space import Choice, Range, Value

pytest.importorskip("optuna")
sampler = pytest.importorskip("nainjaune_agents.sweeps.sampler")

SPACE = {"rate": Range(1e-4, 1e-2, True), "epochs": Range(1, 8, False), "hidden": Choice(("[8]", "[16,16]"))}


def edge(values: dict[str, Value]) -> float:
    """Highest at a rate of 0.002, 3 epochs and the wider network."""
    rate, epochs, hidden = values.values()
    return -((math.log10(float(rate) / 2e-3)) ** 2) - 0.05 * (int(epochs) - 3) ** 2 + 0.2 * (hidden == "[16,16]")


def trials(number: int, seed: int) -> list[tuple[dict[str, Value], float]]:
    known: list[tuple[dict[str, Value], float]] = []
    for k in range(number):
        values = sampler.propose(SPACE, known, seed, k)
        known.append((values, edge(values)))
    return known


def test_proposals_are_in_the_space_and_improve_on_even_draws() -> None:
    known = trials(30, 0)
    assert all(SPACE[key].holds(value) for values, _ in known for key, value in values.items())
    assert all(list(values) == list(SPACE) for values, _ in known)
    first, later = ([e for _, e in part] for part in (known[: sampler.RANDOM_TRIALS], known[sampler.RANDOM_TRIALS :]))
    assert sum(later) / len(later) > sum(first) / len(first)
    assert max(later) > max(first)


def test_a_proposal_depends_on_seed_number_and_trials_alone() -> None:
    known = trials(13, 0)
    again = sampler.propose(SPACE, known[:12], 0, 12)
    assert again == known[12][0]
    others = [sampler.propose(SPACE, known[:12], seed, number) for seed, number in ((1, 12), (0, 13))]
    assert again not in others
    reversed_edges = [(values, -value) for values, value in known[:12]]
    assert sampler.propose(SPACE, reversed_edges, 0, 12) != again


def test_trials_in_training_and_failed_ones_are_known_too() -> None:
    known = trials(12, 0)
    alone = sampler.propose(SPACE, known[:11], 0, 11)
    assert sampler.propose(SPACE, [*known[:11], (known[11][0], None)], 0, 11) != alone
    failed = [(values, math.nan if k % 2 else value) for k, (values, value) in enumerate(known)]
    assert set(sampler.propose(SPACE, failed, 0, 12)) == set(SPACE)
    assert set(sampler.propose(SPACE, [(values, math.nan) for values, _ in known], 0, 12)) == set(SPACE)
