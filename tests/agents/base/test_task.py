"""The task: what the objective counts, the start values drawn, what is refused, and what old checkpoints were trained at."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.base.task import CENTRED, OWN, Task, match_rounds, parse_start, payoff_by, stored_task
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.registry import make_setup

CLASSIC = make_setup("nain_jaune", "classic", 4)


def test_payoffs_are_centred_table_by_table() -> None:
    payoff = np.array([[3.0, 0.0, 0.0], [-1.0, -1.0, 2.0]], np.float32)
    centred = np.array([[2.0, -1.0, -1.0], [-1.0, -1.0, 2.0]], np.float32)
    assert np.array_equal(payoff_by(CENTRED, payoff), centred)
    assert torch.equal(payoff_by(CENTRED, torch.from_numpy(payoff)), torch.from_numpy(centred))
    assert Task(OWN).payoff(payoff) is payoff


def test_start_values_are_those_of_the_deal_and_cover_fresh_single_and_heavy_pots() -> None:
    seeds = streams(3, 60_000)
    pots = Task(start={"pots": [0, 60]}).start_values(CLASSIC, seeds)["pots"]
    assert (pots.shape, pots.min(), pots.max()) == ((60_000, 5), 0, 60)
    some = np.array([7, 59_999, 100])
    assert Task(start={"pots": [0, 60]}).start_values(CLASSIC, seeds[some])["pots"].tolist() == pots[some].tolist()
    filled = (pots > 0).sum(axis=1)
    total = pots.sum(axis=1)
    assert 1 / 6 < (filled == 0).mean() < 0.25  # a sixth has none, and at a low level more have none
    assert (np.bincount(filled, minlength=6) / 60_000 > 0.1).all()
    assert (total > 150).mean() > 0.07  # heavy: more than 30 in each, on average
    assert ((filled == 1) & (total > 30)).mean() > 0.02  # one full pot
    assert np.abs(pots.mean(axis=0) - pots.mean()).max() < 0.3  # no pot is preferred
    raised = Task(start={"pots": [20, 60]}).start_values(CLASSIC, seeds)["pots"]
    assert (raised.min(), raised.max()) == (20, 60)
    assert (Task(start=parse_start("pots=20")).start_values(CLASSIC, seeds[:9])["pots"] == 20).all()


@pytest.mark.parametrize(
    ("text", "start"),
    [("fresh", "fresh"), ("carried", "carried"), ("pots=0..60", {"pots": [0, 60]}), ("pots=20", {"pots": [20, 20]})],
)
def test_starts_are_named_in_one_word(text: str, start: Any) -> None:
    assert parse_start(text) == start
    Task(start=start).check(CLASSIC)


@pytest.mark.parametrize("text", ["", "frsh", "pots", "pots=", "pots=9..3", "pots=-1..3", "pots=1.5", "pots=0..9999999999"])
def test_other_starts_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_start(text)


@pytest.mark.parametrize("text", ["pots=60,0,0,0,0", "{pots: [1, 2]}", "frsh"])
def test_an_unknown_start_is_refused_in_the_words_of_a_command(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^Unknown start .* Valid: fresh, carried, pots=LOW\.\.HIGH, pots=CHIPS\.$") as caught:
        parse_start(text)
    assert "[low, high]" not in str(caught.value)


@pytest.mark.parametrize("start", [{}, {"pots": 3}, {"pots": [1, 2, 3]}, {"pots": [0, True]}, {"pots": [3, 2]}, 7, None])
def test_other_bounds_are_refused(start: Any) -> None:
    with pytest.raises(ConfigError):
        Task(start=start)


def test_a_task_is_refused_where_the_game_does_not_have_it() -> None:
    with pytest.raises(ConfigError, match="objective"):
        Task("mine")
    with pytest.raises(ConfigError, match="pots"):
        Task(start={"pot": [0, 1]}).check(CLASSIC)
    batasaurus = make_setup("batasaurus")
    Task(CENTRED).check(batasaurus)
    for start in ("carried", {"pots": [0, 1]}):
        with pytest.raises(ConfigError, match="nothing is carried"):
            Task(start=start).check(batasaurus)


def test_checkpoints_from_before_the_keys_have_the_task_of_their_algorithm() -> None:
    for algorithm, objective in {"ppo": CENTRED, "deep_monte_carlo": CENTRED, "expert": OWN, "maskable_ppo": OWN}.items():
        assert stored_task(algorithm, {}) == Task(objective)
    assert stored_task("ppo", {"centre": False}) == Task(OWN)
    assert stored_task("ppo", {"centre": True}) == Task(CENTRED)
    assert stored_task("expert", {"objective": CENTRED, "start": "carried"}) == Task(CENTRED, "carried")


def test_matches_end_by_the_rules_or_after_twelve_rounds() -> None:
    assert match_rounds(CLASSIC) is None
    assert match_rounds(dataclasses.replace(CLASSIC, rules=CLASSIC.rules.replace(max_rounds=None))) == 12
